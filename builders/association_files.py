"""Files of associations: detects records or a user's table, and returns what an item records of its association."""

import re
from pathlib import Path

from catsofa.data import formats
from catsofa.data.files import csv_files, existing_file, open_to_read
from catsofa.data.records import Association, Extra
from catsofa.data.visible import UNSAFE


def are_records(path: Path | str, expected: str) -> bool:
    """Returns True if a file holds associations as records (JSONL or SeeGULL's CSV), not the user's own table."""
    with open_to_read(existing_file(Path(path), expected), expected) as file:
        head = file.read(formats.HEAD)
    return head.lstrip().startswith(b"{") or "region_stereo" in csv_files.columns_of(head)


def domain(one: Association, otherwise: str) -> str:
    """Returns the bias type of an association if it is a text, else `otherwise`."""
    named = one.extra.get("bias_type")
    return named if isinstance(named, str) and named.strip() else otherwise


def names_somebody(identity: str) -> bool:
    """Returns True if a group name has letters and no braces, markup or invisible characters."""
    odd = re.search(r"[{}<>\[\]]|\bBLANK\b", identity) or UNSAFE.search(identity)
    return any(map(str.isalpha, identity)) and not odd


def origin(one: Association) -> Extra:
    """Returns the facts that an item records of its association: id, region, votes, offensiveness and proposers."""
    votes = {each.raters: {"yes": each.yes, "no": each.no, "unsure": each.unsure} for each in one.votes}
    fields = {"association": one.id, "region": one.region, "votes": votes, "offensiveness": list(one.offensiveness)}
    fields["identity_as_written"] = one.extra.get("identity_as_written", "")
    proposers = one.extra.get("said_by", [])
    proposed = {"proposed": {**one.source, "by": proposers}} if one.source or proposers else {}
    return {name: value for name, value in fields.items() if value} | proposed
