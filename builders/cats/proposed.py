"""Associations for CATs from a table, or from records: proposals of models, or judgements of SeeGULL's raters."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast, get_args

from catsofa.builders.association_files import are_records, domain, names_somebody, origin
from catsofa.builders.attributes import forms
from catsofa.builders.cats import EXPECTED, Association, read_associations, refused
from catsofa.builders.cats.templates import TermKind, kind_of_group
from catsofa.data import formats
from catsofa.data.associations import Association as Proposed
from catsofa.data.language.blanks import check
from catsofa.data.records import LABELS, Refused


def read(
    path: Path | str, *, with_context: bool = False, language: str = "en", bias_type: str = ""
) -> Iterator[Association | Refused]:
    """Yields the associations of a CSV or TSV, or those of records; records unfit for CATs are refused.

    `bias_type` is the default for records without one.
    """
    path = Path(path)
    if not are_records(path, EXPECTED):
        yield from read_associations(path, with_context=with_context)
        return
    for row, one in enumerate(formats.read_as(path, Proposed), 1):
        cells = {name: str(one.extra.get(name) or "") for name in ("context", "target_kind", *LABELS)}
        kind = cells["target_kind"] or kind_of_group(one.identity, domain(one, bias_type), language)
        association = Association(
            target=one.identity,
            bias_type=domain(one, bias_type),
            words={label: cells[label] for label in LABELS} | {"stereotype": one.attribute},
            context=cells["context"],
            source={"row": row, **origin(one)},
            target_kind=cast(TermKind | None, kind),
        )
        if one.language != language:
            yield refused(association, "other_language")
        elif not names_somebody(one.identity):
            yield refused(association, "odd_characters", failed={"target": one.identity})
        elif not association.bias_type:
            yield refused(association, "no_bias_type")
        elif kind not in get_args(TermKind):
            failed = {"target_kind": kind} if kind else {"target": one.identity}
            yield refused(association, "unknown_target_kind", failed=failed)
        elif (
            language == "en"
            and not (with_context or cells["context"])
            and isinstance(form := forms(one.attribute), str)
        ):
            yield refused(association, form)
        elif association.context and not with_context and check(association.context) == "no_blank":
            yield refused(association, "no_blank_in_context")
        else:
            yield association
