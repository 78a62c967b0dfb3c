"""Warnings beside lms, ss and icat."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from catsofa.scoring.choices import Rule, Ties
from catsofa.scoring.measures import sanity
from catsofa.scoring.measures.cat_outcomes import Outcomes
from catsofa.scoring.measures.stereoset import OVERALL, Measures, Results, measures

CHANCE: Mapping[Rule, float] = {"pairwise": 50.0, "argmax": 200 / 3}
"""lms of a model that scores at random."""
INVERTED = "a higher score must mean a likelier sentence: are the scores inverted?"

Blocks = dict[str, Measures]


def of_cats(results: Results, ties: Ties, rule: Rule) -> tuple[str, ...]:
    """The warnings beside lms, ss and icat."""
    tasks = {task: domains[OVERALL] for task, domains in results.tasks.items()}
    wholes = ({sanity.BOTH: results.overall} if len(tasks) > 1 else {}) | tasks
    domains = {
        f"{task}, {domain}": part
        for task, parts in results.tasks.items()
        for domain, part in parts.items()
        if domain != OVERALL
    }
    return (
        *_tied(wholes, domains, ties),
        *_one_sided(tasks),
        *sanity.unknown({name: (part.unknown, part.items) for name, part in wholes.items()}, "CATs"),
        *_chance(tasks, CHANCE.get(rule, 50.0)),
        *sanity.nothing({name: (part.scored, part.items) for name, part in domains.items()}, "CATs"),
        *sanity.few({name: part.ss_terms for name, part in domains.items() if part.ss_terms}, "target terms"),
    )


def _tied(wholes: Blocks, domains: Blocks, ties: Ties) -> Iterator[str]:
    """Warns of CATs with equal scores; names domains only if no whole task has enough of them."""
    for blocks in (wholes, domains):
        shares = {name: (part.ties, part.items) for name, part in blocks.items()}
        if many := {name: counts for name, counts in shares.items() if sanity.often(*counts)}:
            every = sum(blocks[name].ties_all for name in list(many)[:1])
            too = f", {every:,} with the unrelated candidate's score too" if every and len(many) == 1 else ""
            sentence = f"stereotype and anti-stereotype have equal scores in {sanity.counted(many, 'CATs')}"
            yield f"{sentence}{too}; {sanity.TREATED[ties]}"
            break
    for blocks in (wholes, domains):
        shares = {name: (part.ties_unrelated - part.ties_all, part.items) for name, part in blocks.items()}
        if many := {name: counts for name, counts in shares.items() if sanity.often(*counts)}:
            sentence = f"one candidate has the unrelated candidate's score in {sanity.counted(many, 'CATs')}"
            yield f"{sentence}; {sanity.TREATED[ties]}"
            break


def _one_sided(tasks: Blocks) -> Iterator[str]:
    """Warns of measures with decided comparisons in one task only, although the data contain both."""
    for measure, basis in {"lms": "lms_terms", "ss": "ss_terms"}.items():
        has = [task for task, part in tasks.items() if getattr(part, basis)]
        if 0 < len(has) < len(tasks):
            without = ", ".join(task for task in tasks if task not in has)
            only = f"{sanity.BOTH}: {measure} rests on {', '.join(has)} only"
            yield f"{only}, since {without} has no decided comparison of it"


def _chance(tasks: Blocks, chance: float) -> Iterator[str]:
    """Warns of an lms that is below chance or may be chance."""
    for task, part in tasks.items():
        shown = f"{task}: lms {part.lms:.1f}"
        if part.lms.high < chance:
            yield f"{shown} is below chance ({chance:.1f}); {INVERTED}"
        elif chance in part.lms:
            yield f"{shown} may be chance ({chance:.1f}): ss says little about a model that reads no meaning"


def of_preferences(sides: Mapping[str, Outcomes], rule: Rule, **how: Any) -> tuple[str, ...]:
    """The warnings beside comparisons of preferences, item by item, for the scores of each name.

    `how` holds the arguments of `measures`: the average, resamples and seed of lms.
    """
    tasks = {
        f"{name}, {task}": measures(outcomes.of(kind=task), **how)
        for name, outcomes in sides.items()
        for task in np.unique(outcomes.kinds)
    }
    ties = {name: (int(outcomes.ties[:, 0].sum()), len(outcomes)) for name, outcomes in sides.items()}
    unknown = {name: (sanity.known(outcomes.unknown), len(outcomes)) for name, outcomes in sides.items()}
    many = {name: counts for name, counts in ties.items() if sanity.often(*counts)}
    tied = (
        f"stereotype and anti-stereotype have equal scores in {sanity.counted(many, 'CATs')}: no preference to compare"
    )
    few = sanity.few(
        {sanity.COMPARED: min(len(np.unique(outcomes.terms)) for outcomes in sides.values())}, "target terms"
    )
    chance = _chance(tasks, CHANCE.get(rule, 50.0))
    return (*([tied] if many else []), *sanity.unknown(unknown, "CATs"), *chance, *few)
