"""Compares chat models on the same requests: paired changes of preference, position effect and bias."""

__all__ = ["compare_choices"]

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.data.digests import DIGITS, json_digest
from catsofa.data.files import BadInput
from catsofa.data.percentages import quantity
from catsofa.data.questions import PLACES
from catsofa.scoring.choosing import position
from catsofa.scoring.choosing.estimates import (
    NO_CHOICE,
    A,
    Rows,
    S,
    choice_columns,
    rows_of,
    sums_of,
    undefined_in,
    units_of,
)
from catsofa.scoring.choosing.items import DECISIONS, QUESTIONS, WHICH, WORDS, Item
from catsofa.scoring.choosing.measured import asked_of_each, kept_in
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.choosing.requests import Key
from catsofa.scoring.choosing.results import (
    ASSOCIATION,
    BIAS,
    DECISION,
    association_columns,
    halves_of,
    position_decides,
)
from catsofa.scoring.compare import OVERALL, Difference, ModelComparison, sides_of
from catsofa.scoring.dataset import Data, open_data
from catsofa.scoring.measures import bbq
from catsofa.scoring.measures.robustness import FLIPS
from catsofa.scoring.signature import Signature, joint_subset
from catsofa.scoring.statistics.changes import NO_CHANGE, paired_changes
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import RESAMPLES, UNDEFINED, Array, Interval, Measure, intervals

ACCURACY = Measure(name="accuracy", pieces=lambda sums: bbq.ACCURACY.pieces(sums) / 100, ideal=1, least=0, most=1)
ANSWERS = {
    "ambig": {"acc_amb": ACCURACY, "s_amb": bbq.S_AMB},
    "disambig": {"acc_dis": ACCURACY, "s_dis": bbq.S_DIS},
}
"""Context condition to the measures of answers to questions."""


TEMPLATES, SAMPLES = "templates", "samples"
"""Fields of `Side.asked`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One measure of two models: the columns of both, and the share of shared requests that both decide."""

    name: str
    measure: Measure
    sides: tuple[Array, Array]
    decided: float
    items: int
    """The number of items with a request that both decide, however many orders, templates and samples it has."""
    undefined: str = ""
    """The reason why the measure has no value for one of the models; empty if both have one."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """The choices of one model."""

    model: str
    asked: Mapping[str, Any]
    """The data, the protocol, and the way in which each item was asked."""
    subset: str
    replies: Mapping[Key, Reply]
    items: Mapping[str, Item]

    def take(self, keys: Sequence[Key]) -> "Side":
        """The choices for these requests, in this order."""
        return self if [*keys] == [*self.replies] else replace(self, replies={key: self.replies[key] for key in keys})

    @cached_property
    def rows(self) -> Rows:
        """The replies as numeric rows."""
        return rows_of(list(self.replies.values()), self.items)


def compare_choices(
    runs: Sequence[Path | str], on: str | Path, *, resamples: int = RESAMPLES, seed: int = 0, domains: bool = False
) -> ModelComparison:
    """Compare the first run of choices with each other run, over the requests to which all have a reply.

    With `domains`, also compare within each domain if there are several; association tests are always compared singly.

    A measure of two models uses the requests that both decide. Its change is undefined if the position may decide
    every choice of one model.
    """
    how: dict[str, Any] = {"resamples": resamples, "seed": seed}
    data, sides = sides_on(runs, on)
    sides_of({side.model: side for side in sides})
    asked_for = [set(side.replies) for side in sides]
    shared, whole = set.intersection(*asked_for), set.union(*asked_for)
    if not shared:
        raise ValueError("no request has a reply of every model; do the runs ask about other samples of the data?")
    first, *rest = (side.take(sorted(shared, key=repr)) for side in sides)
    sets = {OVERALL: list(first.replies), **(_domains(first) if domains else {})}
    family = [
        (other, test, name)
        for other in rest
        for name, keys in sets.items()
        for test in compared_by(first.take(keys), other.take(keys), how)
    ]
    changes = [
        NO_CHANGE if test.undefined else paired_changes(*test.sides, {test.name: test.measure}, **how)[test.name]
        for _, test, _ in family
    ]
    differences = (
        Difference(
            model=other.model,
            measure=test.name,
            first=nan if test.undefined else float(test.measure(test.sides[0].sum(axis=0))),
            other=nan if test.undefined else float(test.measure(test.sides[1].sum(axis=0))),
            decided=test.decided,
            change=change,
            holm=p,
            set=name,
        )
        for (other, test, name), change, p in zip(family, changes, holm([change.p for change in changes]), strict=True)
    )
    return ModelComparison(
        first=first.model,
        differences=tuple(differences),
        disagreement={other.model: _disagreement(first, other, how) for other in rest},
        decided={other.model: float(_both(first.rows, other.rows).mean()) for other in rest},
        items=len(shared),
        coverage=len(shared) / len(whole),
        whole=len(whole),
        kind="requests",
        signature=signature_of(data.name, sides, len(shared), how),
        warnings=tuple(
            f"{first.model} and {other.model}: the change of {test.name}{'' if name == OVERALL else f' in {name}'} is "
            f"undefined, {test.undefined}"
            for other, test, name in family
            if test.undefined
        ),
    )


def _domains(side: Side) -> dict[str, list[Key]]:
    """Domain to its requests, if there are several; empty for association tests, which are compared singly anyway."""
    if next(iter(side.items.values())).kind in (WORDS, DECISIONS):
        return {}
    domains: dict[str, list[Key]] = {}
    for key in side.replies:
        domains.setdefault(side.items[key[0]].domain, []).append(key)
    return dict(sorted(domains.items())) if len(domains) > 1 else {}


def sides_on(runs: Sequence[Path | str], data_path: str | Path, free: Collection[str] = ()) -> tuple[Data, list[Side]]:
    """The choices of runs on this data; the way of asking may differ only in the `free` fields."""
    data = open_data(data_path)
    sides = [side_of(Path(run), data) for run in runs]
    for run, side in zip(runs, sides, strict=True):
        for name, value in sides[0].asked.items():
            if side.asked[name] != value and name not in free:
                problem = f"choices of other {name} ({side.asked[name]}) than those of {runs[0]} ({value})"
                raise BadInput(run, problem, "runs that ask the same question in the same way")
    return data, sides


def side_of(run: Path, data: Data, *, again: bool = True) -> Side:
    """The choices of a run, which must be on this data; replies are parsed `again`, or taken as the run stored them."""
    stored = kept_in(run, data, again=again)
    return Side(
        model=str(stored.asked["model"]),
        asked={"protocol": stored.report["protocol"], **asked_of_each(stored.replies, stored.asked.get("how", {}))},
        subset=str(stored.asked.get("subset", "")),
        replies={reply.key: reply for reply in stored.replies},
        items=stored.items,
    )


def joined(runs: Sequence[Path | str], sides: Sequence[Side]) -> list[Side]:
    """Merge the runs of each model into one side; replies get the labels of their templates.

    Runs of one model add prompts or samples. Every model must have the same prompts and numbers of samples.
    """
    by_model: dict[str, Side] = {}
    places: dict[tuple[Any, ...], Path | str] = {}
    for run, side in zip(runs, sides, strict=True):
        labels = dict(
            zip(sorted({reply.template for reply in side.replies.values()}), side.asked[TEMPLATES], strict=True)
        )
        replies = [replace(reply, template=labels[reply.template]) for reply in side.replies.values()]
        content = side.model, tuple(sorted((reply.key, reply.reply, str(reply.probabilities)) for reply in replies))
        if (first := places.setdefault(content, run)) != run:
            raise ValueError(
                f"{first} and {run} hold the same replies of {side.model}; expected others. Name one of them"
            )
        before = by_model.setdefault(side.model, replace(side, replies={}))
        if before.subset != side.subset:
            problem = f"choices about other items ({side.subset or 'all'}) than other runs of {side.model}"
            raise BadInput(run, problem, "runs of one model about the same items")
        next_one = Counter({name: 1 + sample for name, sample in sorted(_prompts(before))})
        replies = [replace(reply, sample=reply.sample + next_one[reply.template]) for reply in replies]
        every = {**before.replies, **{reply.key: reply for reply in replies}}
        merged = {TEMPLATES: sorted({*before.asked[TEMPLATES], *side.asked[TEMPLATES]}),
                 SAMPLES: 1 + max(reply.sample for reply in every.values())}  # fmt: skip
        by_model[side.model] = replace(
            before, replies=every, asked={**before.asked, **(merged if before.replies else {})}
        )
    prompts = {model: _prompts(side) for model, side in by_model.items()}
    samples = {count for pairs in prompts.values() for count in Counter(name for name, _ in pairs).values()}
    if len(set(map(frozenset, prompts.values()))) > 1 or len(samples) > 1:
        asked_of = "; ".join(f"{model}: {_told(pairs)}" for model, pairs in prompts.items())
        raise ValueError(
            f"found {asked_of}; expected every model under every prompt, with as many samples each. Ask what is "
            "missing, or leave out the runs that others lack"
        )
    return list(by_model.values())


def _prompts(side: Side) -> set[tuple[str, int]]:
    """The pairs of template and sample number among the replies of a side."""
    return {(reply.template, reply.sample) for reply in side.replies.values()}


def _told(prompts: Iterable[tuple[str, int]]) -> str:
    """A phrase with each template and its number of samples."""
    counts = Counter(name for name, _ in prompts)
    return ", ".join(f"{name} ({quantity(count, 'sample')})" for name, count in sorted(counts.items()))


def _both(one: Rows, other: Rows) -> NDArray[np.bool_]:
    """A mask of the rows on which both models choose one of the two sides."""
    decided = [rows.weights[:, [S, A]].sum(axis=1) > 0 for rows in (one, other)]
    return np.asarray(decided[0] & decided[1])


def _reason(parts: Iterable[Rows], how: Mapping[str, Any]) -> str:
    """The reason why one of the preferences is undefined; empty if all are defined."""
    return next((why for rows in parts if (why := undefined_in(rows, **how)[0] if len(rows.items) else NO_CHOICE)), "")


def compared_by(first: Side, other: Side, how: Mapping[str, Any]) -> Iterator[Compared]:
    """The measures that compare two models: preference and position, or the bias of each test; and BBQ's measures."""
    kind = next(iter(first.items.values())).kind
    every = first.rows, other.rows
    mask = _both(*every) & every[0].open
    one, two = (rows.take(mask) for rows in every)
    share = float(_both(*every)[every[0].open].mean()) if every[0].open.any() else 0.0
    if kind not in (WORDS, DECISIONS):
        units = units_of(one)
        columns = choice_columns(one, units), choice_columns(two, units)
        undefined = _reason((one, two), how)
        shared: dict[str, Any] = {"sides": columns, "decided": share, "items": len(np.unique(one.items))}
        if kind != WHICH:
            yield Compared(name="preference", measure=position.SHARE, undefined=undefined, **shared)
        yield Compared(name="position", measure=position.POSITION, **shared)
    else:
        for test in np.unique(every[0].domains):
            parts = [rows.take(rows.domains == test) for rows in (one, two)]
            halves = [half for part in parts for half in halves_of(part)]
            yield Compared(
                name=f"bias of {test}",
                measure=ASSOCIATION if kind == WORDS else DECISION,
                sides=(association_columns(parts[0]), association_columns(parts[1])),
                decided=float(_both(*every)[every[0].domains == test].mean()),
                items=len(np.unique(parts[0].items)),
                undefined=_reason(halves, how),
            )
    if kind == QUESTIONS:
        yield from _answers(first, other, how)


def _answers(first: Side, other: Side, how: Mapping[str, Any]) -> Iterator[Compared]:
    """BBQ's measures over the requests to which both models name an answer."""
    answered = [
        (first.items[one.item].record, one.chosen, two.chosen)
        for one, two in zip(first.replies.values(), other.replies.values(), strict=True)
    ]
    for condition, measures in ANSWERS.items():
        rows = [row for row in answered if row[0].condition == condition]
        both = [row for row in rows if row[1] and row[2]]
        columns = [bbq.by_template([(row[0], PLACES.index(row[side])) for row in both], condition) for side in (1, 2)]
        decided = any(
            position_decides(side.rows.take(side.rows.open == (condition == "ambig")), **how) for side in (first, other)
        )
        biases = BIAS[condition == "ambig"]
        for name, measure in measures.items():
            if rows:
                yield Compared(
                    name=name,
                    measure=measure,
                    sides=(columns[0], columns[1]),
                    decided=len(both) / len(rows),
                    items=len({record.id for record, _, _ in both}),
                    undefined=NO_CHOICE if not both else position.DECIDED if decided and name in biases else "",
                )


def _disagreement(first: Side, other: Side, how: Mapping[str, Any]) -> Interval:
    """The percent of requests with different choices, among those that both models decide."""
    mask = _both(first.rows, other.rows)
    one, two = (rows.take(mask) for rows in (first.rows, other.rows))
    if not mask.any():
        return UNDEFINED
    differ = (one.weights[:, S] > one.weights[:, A]) != (two.weights[:, S] > two.weights[:, A])
    return intervals(sums_of(np.column_stack([differ, np.ones(len(differ))]), units_of(one)), {"f": FLIPS}, **how)["f"]


def signature_of(data: str, sides: Sequence[Side], shared: int, how: Mapping[str, Any]) -> Signature:
    """The signature of the comparison."""
    return Signature(
        data=data,
        model=" ".join(side.model for side in sides),
        protocol=sides[0].asked["protocol"],
        options=json_digest(sides[0].asked, DIGITS),
        subset=joint_subset([side.subset for side in sides], [shared]),
        version=version("catsofa"),
        **how,
    )
