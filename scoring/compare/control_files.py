"""Controls and the power of a set, from files to files."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from catsofa.data.files import jsonl
from catsofa.data.language.word_numbers import read_counts
from catsofa.data.records import KINDS, Cat
from catsofa.scoring.compare.baselines import smoothed
from catsofa.scoring.compare.controls import attribute_only, frequency_gap, target_swapped
from catsofa.scoring.compare.power import found, found_change, planned_for
from catsofa.scoring.measures.cat_outcomes import Outcomes, Scores, outcomes

Row = dict[str, Any]
Part = tuple[str | None, str | None]
"""A task and a domain; None stands for all of them."""


def write_controls(
    cats: Sequence[Cat], folder: Path, *, word_counts: Path | None = None, seed: int = 0
) -> dict[str, Row]:
    """Write each control, and beside it the CATs it cannot be made of with the reason; count both.

    The frequency gap is added where word counts are given.
    """
    made: dict[str, Row] = {}
    for name, (kept, refused) in {
        "attribute_only": attribute_only(cats),
        "target_swapped": target_swapped(cats, seed=seed),
    }.items():
        file = folder / f"{name}.jsonl"
        made[name] = {
            "kept": jsonl.write(kept, file),
            "coverage": len(kept) / len(cats),
            "refused": dict(Counter(one.reason for one in refused)),
            "file": str(file),
        }
        jsonl.write(refused, folder / f"{name}.refused.jsonl")
    if word_counts is not None:
        made["frequency_gap"] = frequency_gap(cats, smoothed(read_counts(word_counts)), seed=seed).to_dict()
    return made


def power_rows(
    cats: Sequence[Cat],
    scores: Scores | None = None,
    others: Scores | None = None,
    watch: Callable[[Sequence[Part]], Iterable[Part]] = iter,
) -> list[Row]:
    """For each task and domain the smallest ss effect that is found: as planned, by these scores, between these two."""
    before = outcomes(cats, scores) if scores is not None else None
    after = outcomes(cats, others) if others is not None else None
    rows = []
    for kind, domain in watch(_parts(cats)):
        part = [cat for cat in cats if kind in (None, cat.kind) and domain in (None, cat.bias_type)]
        about = {"task": kind or "both", "domain": domain or "overall"}
        rows.append(about | _row(part, _part(before, kind, domain), _part(after, kind, domain)))
    return rows


def _parts(cats: Sequence[Cat]) -> list[Part]:
    """Each task with each of its domains and with all of them, then all tasks together."""
    found: list[Part] = []
    for kind in KINDS:
        domains = sorted({cat.bias_type for cat in cats if cat.kind == kind})
        found += [(kind, domain) for domain in [*domains, None]] if domains else []
    return [*found, (None, None)]


def _part(of: Outcomes | None, kind: str | None, domain: str | None) -> Outcomes | None:
    """The outcomes of a task and domain, where there are any."""
    return of.of(kind=kind, domain=domain) if of is not None else None


def _row(cats: Sequence[Cat], before: Outcomes | None, after: Outcomes | None) -> Row:
    """Terms, items and effects of one set."""
    plan = planned_for(cats)
    row: Row = {"items": plan.items, "terms": plan.terms, "planned": plan.effect}
    if before is not None:
        row["found"] = found(before).effect
    if before is not None and after is not None:
        row["change"] = found_change(before, after).effect
    return row
