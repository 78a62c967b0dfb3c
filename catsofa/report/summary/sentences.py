"""Findings in sentences: each claims only what a test shows after Holm's correction."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import comb

from catsofa.data.percentages import in_percent, quantity
from catsofa.report.elements import Finding
from catsofa.report.summary import Standing

NAMES = {
    "stereoset": "StereoSet", "crows_pairs": "CrowS-Pairs", "sofa": "SoFa", "seat": "SEAT", "bbq": "BBQ",
    "choices": "Choices",
}  # fmt: skip
FEW = 4
"""Names, and pairs of names, that a sentence lists."""
THIN = 0.9
"""Below this coverage a finding says how little a number rests on."""


def findings(of: Sequence[Standing]) -> list[Finding]:
    """A finding for each group that has something to say, in the order of the groups."""
    found = list[Finding]()
    for (kind, about), some in groupby(of, key=lambda one: (one.kind, one.about)):
        standings = [one for one in some if one.of.told]
        told = [sentence for one in standings for sentence in (*_beyond(one), *_apart(one))]
        if kind == "seat":
            told = [*_associated(standings[0])]
        if told := [*told, *_thin(standings)]:
            found.append(Finding(about=f"{NAMES[kind]} ({about})" if about else NAMES[kind], sentences=tuple(told)))
    return found


def listed(names: Sequence[str]) -> str:
    """A few names: `A, B and C`; of many only how many there are is said elsewhere."""
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def _in_brackets(names: Sequence[str]) -> str:
    """The names, where they are few."""
    return f" ({listed(names)})" if len(names) <= FEW else ""


def _beyond(one: Standing) -> Iterator[str]:
    """Which models are shown to be above or below the ideal value of chance."""
    if one.sides is None or not one.values:
        return
    count, name = len(one.values), one.of.name
    ways = {one.of.above: 1, one.of.below: -1}
    told = [(way, models) for way, at in ways.items() if (models := [m for m in one.values if one.sides.get(m) == at])]
    if count == 1:
        ((model, number),) = one.values.items()
        if told:
            yield f"{model} {_does(told[0][0], 1)} beyond chance: {name} {number}."
        else:
            without = "" if number.limits else " has no interval"
            yield f"{model}: no preference beyond chance is shown, {name} {number}{without}."
    elif not told:
        yield f"No preference beyond chance is shown for any of {count} models on {name}."
    elif len(told[0][1]) == count:
        yield f"{'Both' if count == 2 else f'All {count}'} models {_does(told[0][0], 2)} beyond chance on {name}."
    else:
        parts = [f"{len(models)} {_does(way, len(models))}{_in_brackets(models)}" for way, models in told]
        rest = [model for model in one.values if model not in one.sides]
        neither = f"; for {len(rest)} neither is shown{_in_brackets(rest)}" if rest else ""
        yield f"Of {count} models, {listed(parts)} beyond chance on {name}{neither}."


def _does(way: str, models: int) -> str:
    """The verb in the form for so many models."""
    return way.format(s="s" if models == 1 else "")


def _apart(one: Standing) -> Iterator[str]:
    """Which models are told apart, and which one is best."""
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
        digits = max(number.digits for number in one.values.values())
        yield f"{first} has a higher {name} than {second}, by {abs(pair.difference):.{digits}f}."
    elif count == 2:
        yield f"{listed(together[0])} cannot be told apart on {name}."
    elif lacking:  # no sentence about every pair, since some have no test
        yield f"On {name}, {len(apart)} of {len(tested)} tested pairs of models are told apart."
    elif not together:
        yield f"Every two of {count} models are told apart on {name}."
    elif not apart:
        yield f"No two of {count} models can be told apart on {name}."
    elif len(alike := groups_of(together)) <= FEW and sum(map(len, alike)) <= 2 * FEW:
        yield f"On {name}, {_listed(alike)} cannot be told apart; every other two can."
    elif len(apart) <= FEW:
        yield f"On {name}, {_listed(apart)} are told apart; no other two are."
    else:
        yield f"On {name}, {len(apart)} of {len(tested)} pairs of models are told apart."
    if lacking:
        yield f"{lacking} of {comb(count, 2)} pairs cannot be tested on {name}."
    if one.best:
        rest = "the other model" if count == 2 else "every other model"
        yield f"{one.best} is nearer than {rest} to the ideal {name} of {one.of.ideal:g}."


def groups_of(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Groups whose every two members are one of these pairs, as large as they can be; each pair is in one or more."""
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    linked = {frozenset(pair) for pair in pairs}
    found = list[tuple[str, ...]]()
    for pair in pairs:
        if any({*pair} <= {*group} for group in found):
            continue
        group = list(pair)
        for name in names:
            if all(frozenset((name, member)) in linked for member in group):
                group.append(name)
        found.append(tuple(sorted(group, key=names.index)))
    return found


def _listed(groups: Sequence[Sequence[str]]) -> str:
    """Groups of models: `A and B; C, D and E`."""
    return "; ".join(listed(group) for group in groups)


def _associated(one: Standing) -> Iterator[str]:
    """In how many association tests each model shows a positive association."""
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
    """Which models have no value, and which values rest on few of the items."""
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
        of = quantity(len(least), "model")
        yield f"Coverage is below {in_percent(THIN, 0)} for {len(thin)} of {of}{_in_brackets(thin)}."
