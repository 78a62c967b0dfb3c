"""Associations for CATs from a table, or from records in which a model proposed the other options too."""

from collections.abc import Iterator
from pathlib import Path

from catsofa.builders.cats import EXPECTED, Association, read_associations, refused
from catsofa.data import formats
from catsofa.data.associations import Association as Proposed
from catsofa.data.files import existing_file, open_to_read
from catsofa.data.language.blanks import check
from catsofa.data.records import LABELS, Refused


def read(path: Path | str, *, with_context: bool = False, language: str = "en") -> Iterator[Association | Refused]:
    """The associations of a CSV or TSV, or those that `build candidates` wrote; what is none for CATs is refused."""
    path = Path(path)
    with open_to_read(existing_file(path, EXPECTED), EXPECTED) as file:
        head = file.read(formats.HEAD)
    if not head.lstrip().startswith(b"{"):
        yield from read_associations(path, with_context=with_context)
        return
    for row, one in enumerate(formats.read_as(path, Proposed), 1):
        given = {name: str(one.extra.get(name) or "") for name in ("bias_type", "context", *LABELS)}
        association = Association(
            target=one.identity,
            bias_type=given["bias_type"],
            words={label: given[label] for label in LABELS} | {"stereotype": one.attribute},
            context=given["context"],
            source={"row": row, "association": one.id, "proposed": {**one.source, "by": one.extra.get("said_by", [])}},
        )
        if one.language != language:
            yield refused(association, "other_language")
        elif not association.bias_type:
            yield refused(association, "no_bias_type")
        elif association.context and not with_context and check(association.context) == "no_blank":
            yield refused(association, "no_blank_in_context")
        else:
            yield association
