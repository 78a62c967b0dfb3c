"""Sentences beside lms, ss and icat."""

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
        f"{task}, {domain}": of
        for task, found in results.tasks.items()
        for domain, of in found.items()
        if domain != OVERALL
    }
    return (
        *_tied(wholes, domains, ties),
        *_one_sided(tasks),
        *sanity.unknown({name: (of.unknown, of.items) for name, of in wholes.items()}, "CATs"),
        *_chance(tasks, CHANCE.get(rule, 50.0)),
        *sanity.nothing({name: (of.scored, of.items) for name, of in domains.items()}, "CATs"),
        *sanity.few({name: of.ss_terms for name, of in domains.items() if of.ss_terms}, "target terms"),
    )


def _tied(wholes: Blocks, domains: Blocks, ties: Ties) -> Iterator[str]:
    """CATs whose scores are equal; domains are named where no whole task has as many."""
    for blocks in (wholes, domains):
        shares = {name: (of.ties, of.items) for name, of in blocks.items()}
        if many := {name: of for name, of in shares.items() if sanity.often(*of)}:
            every = sum(blocks[name].ties_all for name in list(many)[:1])
            too = f", {every:,} with the unrelated candidate's score too" if every and len(many) == 1 else ""
            said = f"stereotype and anti-stereotype have equal scores in {sanity.counted(many, 'CATs')}"
            yield f"{said}{too}; {sanity.TREATED[ties]}"
            break
    for blocks in (wholes, domains):
        shares = {name: (of.ties_unrelated - of.ties_all, of.items) for name, of in blocks.items()}
        if many := {name: of for name, of in shares.items() if sanity.often(*of)}:
            said = f"one candidate has the unrelated candidate's score in {sanity.counted(many, 'CATs')}"
            yield f"{said}; {sanity.TREATED[ties]}"
            break


def _one_sided(tasks: Blocks) -> Iterator[str]:
    """The measures that rest on one task only although the data hold both."""
    for measure, basis in {"lms": "lms_terms", "ss": "ss_terms"}.items():
        has = [task for task, of in tasks.items() if getattr(of, basis)]
        if 0 < len(has) < len(tasks):
            without = ", ".join(task for task in tasks if task not in has)
            only = f"{sanity.BOTH}: {measure} rests on {', '.join(has)} only"
            yield f"{only}, since {without} has no decided comparison of it"


def _chance(tasks: Blocks, chance: float) -> Iterator[str]:
    """An lms below chance, or that may be chance."""
    for task, of in tasks.items():
        shown = f"{task}: lms {of.lms:.1f}"
        if of.lms.high < chance:
            yield f"{shown} lies below chance ({chance:.1f}); {INVERTED}"
        elif chance in of.lms:
            yield f"{shown} may be chance ({chance:.1f}): ss says little about a model that reads no meaning"


def of_preferences(sides: Mapping[str, Outcomes], rule: Rule, **how: Any) -> tuple[str, ...]:
    """The warnings beside comparisons of preferences, item by item, for the scores of each name.

    `how` holds the arguments of `measures`: the average, resamples and seed of lms.
    """
    tasks = {
        f"{name}, {task}": measures(of.of(kind=task), **how)
        for name, of in sides.items()
        for task in np.unique(of.kinds)
    }
    ties = {name: (int(of.ties[:, 0].sum()), len(of)) for name, of in sides.items()}
    unknown = {name: (sanity.known(of.unknown), len(of)) for name, of in sides.items()}
    many = {name: of for name, of in ties.items() if sanity.often(*of)}
    tied = (
        f"stereotype and anti-stereotype have equal scores in {sanity.counted(many, 'CATs')}: no preference to compare"
    )
    few = sanity.few({sanity.COMPARED: min(len(np.unique(of.terms)) for of in sides.values())}, "target terms")
    chance = _chance(tasks, CHANCE.get(rule, 50.0))
    return (*([tied] if many else []), *sanity.unknown(unknown, "CATs"), *chance, *few)
