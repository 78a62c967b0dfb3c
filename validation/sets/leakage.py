"""Finds leakage between two sets: shared items, near-duplicates, target terms, sibling terms."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from catsofa.data.language.near_duplicates import NEAR, content, near_duplicates_between
from catsofa.data.languages.texts import language_of
from catsofa.data.percentages import in_percent
from catsofa.data.progress import SILENT, Progress
from catsofa.validation.siblings import groups_of, term_of

Shared = Literal["id", "near-duplicate", "term", "sibling"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """One leak between two sets: an item (by its id in each set), or a term with an item of each set."""

    shared: Shared
    item: str
    other: str
    message: str


def leaks(
    first: Sequence[Any], second: Sequence[Any], siblings: Mapping[str, str] | None = None, progress: Progress = SILENT
) -> list[Leak]:
    """Every id, near-duplicate, target term and pair of sibling terms that both sets share."""
    second_ids = {record.id for record in second}
    same = [record.id for record in first if record.id in second_ids]
    ids = [Leak(shared="id", item=item, other=item, message="is in both sets") for item in same]
    texts, other_texts = ([content(record) for record in side] for side in (first, second))
    languages = [language_of(record) for record in (*first, *second)]
    copies = near_duplicates_between(texts, other_texts, NEAR, progress, languages)
    pairs = [(first[pair.first].id, second[pair.second].id, pair.similarity) for pair in copies]
    return [
        *ids,
        *[
            Leak(
                shared="near-duplicate",
                item=item,
                other=other,
                message=f"{in_percent(similarity, 0)} the same as {other} in the other set",
            )
            for item, other, similarity in sorted(pairs)
            if item != other
        ],
        *_terms(first, second, siblings),
    ]


def _terms(first: Sequence[Any], second: Sequence[Any], siblings: Mapping[str, str] | None) -> list[Leak]:
    """Target terms, or terms of one sibling group, with items in both sets; a leak names the first item of a term."""
    first_groups, second_groups = _by_group(first, siblings), _by_group(second, siblings)
    result = []
    for group in sorted(first_groups.keys() & second_groups.keys()):
        for term in sorted(first_groups[group]):
            same, sibling_terms = (
                sorted({term} & second_groups[group].keys()),
                sorted(second_groups[group].keys() - {term}),
            )
            item = first_groups[group][term]
            if same:
                message = f"the target {term!r} has items in both sets"
                result.append(Leak(shared="term", item=item, other=second_groups[group][term], message=message))
            elif sibling_terms:
                message = f"the target {term!r} is a sibling of {', '.join(map(repr, sibling_terms))} in the other set"
                result.append(
                    Leak(shared="sibling", item=item, other=second_groups[group][sibling_terms[0]], message=message)
                )
    return result


def _by_group(records: Sequence[Any], siblings: Mapping[str, str] | None) -> dict[str, dict[str, str]]:
    """Maps each sibling group to its terms, and each term to its first item."""
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for record, group in zip(records, groups_of(records, siblings), strict=True):
        if group:
            groups[group].setdefault(term_of(record), record.id)
    return groups
