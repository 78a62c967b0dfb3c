"""Findings in sentences; each claims only what a test shows after Holm's correction."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import comb

from catsofa.data.percentages import in_percent, quantity
from catsofa.report.elements import Finding
from catsofa.report.summary import Standing
from catsofa.report.summary.pairs import FEW, listed, of_groups

NAMES = {
    "stereoset": "StereoSet", "crows_pairs": "CrowS-Pairs", "sofa": "SoFa", "seat": "SEAT", "bbq": "BBQ",
    "choices": "Choices",
}  # fmt: skip
THIN = 0.9
"""The coverage below which a finding mentions the coverage."""


def findings(measured: Sequence[Standing]) -> list[Finding]:
    """Returns the findings on each group that has any, in the order of the groups."""
    collected = list[Finding]()
    for (kind, about), some in groupby(measured, key=lambda one: (one.kind, one.about)):
        standings = [one for one in some if one.of.told]
        sentences = [sentence for one in standings for sentence in (*_beyond(one), *_apart(one), *one.otherwise())]
        if kind == "seat":
            sentences = [sentence for one in standings for sentence in _associated(one)]
        if sentences := [*sentences, *_thin(standings)]:
            sentences += _warned(standings)
            collected.append(
                Finding(about=f"{NAMES[kind]} ({about})" if about else NAMES[kind], sentences=tuple(sentences))
            )
    return collected


def _warned(standings: Sequence[Standing]) -> list[str]:
    """Returns a sentence about the models of a group with a warning; empty if there are none."""
    models = [model for model in standings[0].values if model in standings[0].warned] if standings else []
    if not models:
        return []
    return [f"Warnings are about {listed(models) if len(models) <= FEW else f'{len(models)} models'}: read them first."]


def _in_brackets(names: Sequence[str]) -> str:
    """Returns the names in brackets if they are at most `FEW`, else an empty text."""
    return f" ({listed(names)})" if len(names) <= FEW else ""


def _beyond(one: Standing) -> Iterator[str]:
    """Yields a sentence about the models that are significantly above or below the ideal value."""
    if one.sides is None or not one.values:
        return
    count, name = len(one.values), one.of.name
    ways = {one.of.above: 1, one.of.below: -1}
    claims = [
        (way, models) for way, side in ways.items() if (models := [m for m in one.values if one.sides.get(m) == side])
    ]
    if count == 1:
        ((model, number),) = one.values.items()
        if claims:
            yield f"{model} {_does(claims[0][0], 1)} beyond chance: {name} {number}."
        else:
            without = "" if number.limits else " has no interval"
            yield f"{model}: no preference beyond chance is shown, {name} {number}{without}."
    elif not claims:
        yield f"No preference beyond chance is shown for any of {count} models on {name}."
    elif len(claims[0][1]) == count:
        yield f"{'Both' if count == 2 else f'All {count}'} models {_does(claims[0][0], 2)} beyond chance on {name}."
    else:
        parts = [f"{len(models)} {_does(way, len(models))}{_in_brackets(models)}" for way, models in claims]
        rest = [model for model in one.values if model not in one.sides]
        neither = f"; for {len(rest)} neither is shown{_in_brackets(rest)}" if rest else ""
        yield f"Of {count} models, {listed(parts)} beyond chance on {name}{neither}."


def _does(way: str, models: int) -> str:
    """Returns the phrase with the verb in singular or plural."""
    return way.format(s="s" if models == 1 else "")


def _apart(one: Standing) -> Iterator[str]:
    """Yields sentences about the pairs of models that differ significantly, and about the best model."""
    tested = {key: pair for key, pair in one.pairs.items() if pair.apart == pair.apart}
    if not tested:
        return
    name, count = one.of.name, len(one.values)
    lacking = comb(count, 2) - len(tested)
    apart = [key for key, pair in tested.items() if pair.told_apart]
    together = [key for key in tested if key not in apart]
    if count == 2 and apart:
        ((key, pair),) = tested.items()
        first, second = key if pair.difference > 0 else key[::-1]
        yield f"{first} has a higher {name} than {second}, by {abs(pair.difference):.{one.digits(key)}f}."
    elif count == 2:
        yield f"{listed(together[0])} cannot be told apart on {name}."
    elif lacking:  # some pairs have no test, so no sentence about every pair is possible
        yield f"On {name}, {len(apart)} of {len(tested)} tested pairs of models are told apart."
    elif not together:
        yield f"Every two of {count} models are told apart on {name}."
    elif not apart:
        yield f"No two of {count} models can be told apart on {name}."
    elif len(alike := groups_of(together)) <= FEW and sum(map(len, alike)) <= 2 * FEW:
        if len(alike) == 1:
            yield f"On {name}, {of_groups(alike)} cannot be told apart; every other two can."
        else:
            yield f"On {name}, every two models are told apart, except within the groups {of_groups(alike)}."
    elif len(apart) <= FEW:
        yield f"On {name}, {of_groups(apart)} are told apart; no other two are."
    else:
        yield f"On {name}, {len(apart)} of {len(tested)} pairs of models are told apart."
    if lacking:
        yield f"{lacking} of {comb(count, 2)} pairs cannot be tested on {name}."
    if one.best:
        rest = "the other model" if count == 2 else "every other model"
        yield f"{one.best} is nearer than {rest} to the ideal {name} of {one.of.ideal:g}."


def groups_of(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Returns maximal groups in which every two members are one of these pairs; each pair is in at least one group."""
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    linked = {frozenset(pair) for pair in pairs}
    cliques = list[tuple[str, ...]]()
    for pair in pairs:
        if any({*pair} <= {*group} for group in cliques):
            continue
        group = list(pair)
        for name in names:
            if all(frozenset((name, member)) in linked for member in group):
                group.append(name)
        cliques.append(tuple(sorted(group, key=names.index)))
    return cliques


def _associated(one: Standing) -> Iterator[str]:
    """Yields a sentence about the number of association tests with a positive association for each model."""
    shown = [f"{model} {number.point}" for model, number in one.values.items() if number.value]
    if len(one.values) == 1:
        ((model, number),) = one.values.items()
        yield f"{model} shows a positive association in {number.point} tests."
    elif one.values and not shown:
        yield f"No positive association is shown for any of {len(one.values)} models."
    elif one.values:
        verb = "shows" if len(shown) == 1 else "show"
        yield f"Of {len(one.values)} models, {len(shown)} {verb} a positive association{_in_brackets(shown)}."


def _thin(standings: Sequence[Standing]) -> Iterator[str]:
    """Yields sentences about models without a value, and about values with low coverage."""
    least: dict[str, float] = {}
    for one in standings:
        if one.missing:
            several = listed(one.missing) if len(one.missing) <= FEW else quantity(len(one.missing), "model")
            yield f"{several} {'has' if len(one.missing) == 1 else 'have'} no {one.of.name}."
        for model, share in one.coverage.items():
            if model in one.values:
                least[model] = min(share, least.get(model, 1.0))
    thin = [f"{model} {in_percent(share, 0)}" for model, share in least.items() if share < THIN]
    if thin:
        total = quantity(len(least), "model")
        yield f"Coverage is below {in_percent(THIN, 0)} for {len(thin)} of {total}{_in_brackets(thin)}."
