"""The numbers of items behind the values of the summary."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from catsofa.data.percentages import quantity

Counted = tuple[int, str, int, str]
"""A number of items and its unit; then a number of clusters and its unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The items that a model was asked about, and how many of them count."""

    items: str
    """The number of items and of their clusters, such as `72 CATs of 12 target terms`."""
    total: int
    counted: int


def of_models(kind: str, results: Mapping[str, Any]) -> dict[str, Basis]:
    """Returns the basis of each model from its results; models whose results lack the counts are left out."""
    bases = {model: _basis(kind, numbers) for model, numbers in results.items()}
    return {model: basis for model, basis in bases.items() if basis is not None}


def _basis(kind: str, results: Any) -> Basis | None:
    """Returns the basis of one run; None if its results lack the counts, or if its cells contain them."""
    try:
        total, unit, clusters, within = COUNTS[kind](results)
        whole = results.get("overall", results)
        counted = whole.get("scored", round((whole["coverage"] or 0) * total))
    except KeyError:  # results of an earlier version, and measures whose values are counts
        return None
    of_clusters = f" of {quantity(clusters, within)}" if within else ""
    return Basis(items=f"{quantity(total, unit)}{of_clusters}", total=total, counted=counted)


def _of_cats(results: Any) -> Counted:
    """Returns the numbers of CATs and of their target terms."""
    return results["overall"]["items"], "CAT", results["overall"]["terms"], "target term"


def _of_pairs(results: Any) -> Counted:
    """Returns the number of pairs, which are clusters themselves."""
    return results["overall"]["pairs"], "pair", 0, ""


def _of_probes(results: Any) -> Counted:
    """Returns the numbers of probes and of their stereotypes, over all categories."""
    parts = results["categories"].values()
    return sum(part["probes"] for part in parts), "probe", sum(part["stereotypes"] for part in parts), "stereotype"


def _of_questions(results: Any) -> Counted:
    """Returns the numbers of questions and of their templates."""
    whole = results["overall"]
    return sum(whole[kind]["questions"] for kind in ("ambig", "disambig")), "question", whole["templates"], "template"


def _of_choices(results: Any) -> Counted:
    """Returns the numbers of requests and of the items that they ask about."""
    return results["overall"]["requests"], "request", results["overall"]["items"], "item"


COUNTS: dict[str, Callable[[Any], Counted]] = {
    "stereoset": _of_cats, "crows_pairs": _of_pairs, "sofa": _of_probes, "bbq": _of_questions, "choices": _of_choices,
}  # fmt: skip


def texts(bases: Mapping[str, Basis], few: int) -> Iterator[str]:
    """Yields the items of models with equal ones, and in brackets how many count; names at most `few` models."""
    for items in dict.fromkeys(basis.items for basis in bases.values()):
        same = {model: basis for model, basis in bases.items() if basis.items == items}
        partial = {model: basis.counted for model, basis in same.items() if basis.counted < basis.total}
        if not partial:
            yield items
        elif len(partial) <= few:
            (model, count), *others = partial.items()
            whose = f" for {model}" if len(bases) > 1 else ""
            rest = [f", {other:,} for {name}" for name, other in others]
            yield f"{items} ({count:,} count{whose}{''.join(rest)})"
        else:
            least, most = min(partial.values()), max(basis.counted for basis in same.values())
            yield f"{items} ({least:,} to {most:,} count, depending on the model)"
