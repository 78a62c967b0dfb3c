"""The report section on rank agreement: whether benchmarks order the models alike."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan
from statistics import fmean
from typing import Any

from catsofa.report.cells import Words, between, chance
from catsofa.report.elements import Cell, Section, Table
from catsofa.report.inputs import Finished
from catsofa.scoring.signature import Signature, distinctions, without_hashes
from catsofa.scoring.statistics.rank_correlation import LEAST, kendall

WORDS = Words(
    "Do the benchmarks agree on the order of models?",
    "Each benchmark orders the models by how far they are from its ideal; Kendall's τ says whether two orders agree "
    "(1: the same, −1: reversed, 0: unrelated).",
    "Agreement of two benchmarks is no proof that either measures what people suffer from; disagreement does not say "
    "which one errs. Limits are over models as if drawn at random, which models of a few families are not.",
)
SIZES: dict[str, str] = {
    "stereoset": "|ss − 50|",
    "crows_pairs": "|score − 50|",
    "sofa": "score",
    "seat": "mean |d|",
}


@dataclass(frozen=True, slots=True)
class Ordered:
    """The distance of each model from the ideal value of a benchmark."""

    benchmark: str
    models: Mapping[str, float]
    signatures: tuple[Signature, ...]


def agreement(name: str, groups: Sequence[tuple[str, Sequence[Finished]]]) -> Iterator[Section]:
    """Yields a section with Kendall's tau between every two benchmarks that share at least `LEAST` models."""
    orders = _told_apart([_ordered(kind, runs) for kind, runs in groups if kind in SIZES and len(runs) >= LEAST])
    body: list[tuple[Cell, ...]] = []
    used: dict[str, None] = {}
    for one, other in combinations(orders, 2):
        correlation = kendall(one.models, other.models)
        if correlation.models >= LEAST:
            total = len({*one.models, *other.models})
            p = chance(correlation.p)
            body.append(
                (one.benchmark, other.benchmark, between(correlation.value), p, f"{correlation.models} of {total}")
            )
            used |= dict.fromkeys(map(str, [*one.signatures, *other.signatures]))
    if body:
        table = Table(
            name=f"{name}-kendall",
            caption="Kendall's τ of the orders of models, with 95 % intervals",
            columns=("benchmark", "and", "τ", "p", "models in both"),
            rows=tuple(body),
            signatures=tuple(used),
            notes=(
                "Models are joined by name. Limits are Fieller's; of four models or fewer, or where both orders are "
                "wholly alike, there are none. Signatures differ between the benchmarks: orders are compared here, "
                "never numbers.",
            ),
        )
        yield WORDS.section(name, "", [table])


def _ordered(kind: str, runs: Sequence[Finished]) -> Ordered:
    """Returns a benchmark's distances by model; drops a model that lacks a test, since its mean would be of others."""
    sizes: dict[str, dict[str, float]] = {}
    for run in runs:
        sizes.setdefault(run.model, {}).update(_sizes(kind, run.report["results"]))
    every = set().union(*sizes.values())
    models = {model: fmean(by_test.values()) for model, by_test in sizes.items() if by_test.keys() == every}
    signature = runs[0].signature
    subject = (
        f"protocol {signature.protocol}"
        if kind == "seat"
        else f"{without_hashes(signature.data)}, protocol {signature.protocol}"
    )
    return Ordered(f"{NAMES[kind]} by {SIZES[kind]} ({subject})", models, tuple(run.signature for run in runs))


def _told_apart(orders: Sequence[Ordered]) -> list[Ordered]:
    """Returns the orders; where benchmarks would have equal names, each name gets the parts that differ."""
    differ = distinctions([one.benchmark for one in orders], [one.signatures[0] for one in orders])
    return [
        replace(one, benchmark=f"{one.benchmark[:-1]}, {parts})") if parts else one
        for one, parts in zip(orders, differ, strict=True)
    ]


NAMES = {"stereoset": "StereoSet", "crows_pairs": "CrowS-Pairs", "sofa": "SoFa", "seat": "SEAT"}


def _sizes(kind: str, results: Any) -> dict[str, float]:
    """Returns the distances of a model from the ideal values, by test or measure."""
    if kind == "seat":
        return {row["test"]: _apart(row["effect_size"], 0) for row in results}
    if kind == "stereoset":
        return {"ss": _apart(results["overall"]["ss"], 50)}
    return {"score": _apart(results["overall"]["score"], 50) if kind == "crows_pairs" else _apart(results["score"], 0)}


def _apart(value: float | None, ideal: float) -> float:
    """Returns the distance from the ideal value; NaN if unscored."""
    return nan if value is None else abs(value - ideal)
