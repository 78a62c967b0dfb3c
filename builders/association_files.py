"""Files of associations: records or a table of one's own, and what an item keeps of the association it is made of."""

import re
from pathlib import Path

from catsofa.data import formats
from catsofa.data.files import csv_files, existing_file, open_to_read
from catsofa.data.records import Association, Extra
from catsofa.data.visible import UNSAFE


def are_records(path: Path | str, expected: str) -> bool:
    """Whether a file holds associations as records, JSONL or SeeGULL's CSV, and not a table of one's own."""
    with open_to_read(existing_file(Path(path), expected), expected) as file:
        head = file.read(formats.HEAD)
    return head.lstrip().startswith(b"{") or "region_stereo" in csv_files.columns_of(head)


def domain(one: Association, otherwise: str) -> str:
    """The bias type that an association names as text, else the other one."""
    named = one.extra.get("bias_type")
    return named if isinstance(named, str) and named.strip() else otherwise


def names_somebody(identity: str) -> bool:
    """Whether a name of a group has letters, and no braces, markup or characters that nobody sees."""
    odd = re.search(r"[{}<>\[\]]|\bBLANK\b", identity) or UNSAFE.search(identity)
    return any(map(str.isalpha, identity)) and not odd


def origin(one: Association) -> Extra:
    """What an item keeps of its association: the id, the region, the votes, and how hurtful people found it."""
    votes = {each.raters: {"yes": each.yes, "no": each.no, "unsure": each.unsure} for each in one.votes}
    known = {"association": one.id, "region": one.region, "votes": votes, "offensiveness": list(one.offensiveness)}
    known["identity_as_written"] = one.extra.get("identity_as_written", "")
    by = one.extra.get("said_by", [])
    proposed = {"proposed": {**one.source, "by": by}} if one.source or by else {}
    return {name: value for name, value in known.items() if value} | proposed
