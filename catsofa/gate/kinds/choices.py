"""Choices of chat models: the outcome of each request."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from catsofa.gate import kinds
from catsofa.gate.kinds import Moved, Paired
from catsofa.scoring.choosing.estimates import A, S, units_of
from catsofa.scoring.choosing.items import DECISIONS, WORDS
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.compare.choosing import Side, compared_by, side_of
from catsofa.scoring.dataset import Data
from catsofa.scoring.statistics.intervals import RESAMPLES


def side(run: Path, data: Data) -> Side:
    """Returns the choices of a run with its requests in order."""
    unsorted = side_of(run, data)
    return unsorted.take(sorted(unsorted.replies, key=repr))


def of_run(answers: Side) -> kinds.Outcomes:
    """Returns the outcome, the chosen option and the probabilities of each request."""
    rows = [[reply.outcome, reply.chosen, _rounded(reply.probabilities)] for reply in answers.replies.values()]
    return kinds.coded([json.dumps(row, separators=(",", ":")) for row in rows])


def _rounded(probabilities: Mapping[str, float] | None) -> dict[str, float] | None:
    """Returns probabilities with six digits."""
    if probabilities is None:
        return None
    return {option: float(f"{share:.6g}") for option, share in sorted(probabilities.items())}


def tests(answers: Side, before: kinds.Outcomes, after: kinds.Outcomes, seed: int) -> Iterator[Paired]:
    """Yields preference, position effect, bias and accuracy of all requests and of each domain, as in `compare`."""
    one, other = (_with(answers, held) for held in (before, after))
    kind = next(iter(answers.items.values())).kind
    replies = list(answers.replies.values())
    domains = np.array([answers.items[reply.item].domain for reply in replies])
    sets = kinds.sets_of(domains) if kind not in (WORDS, DECISIONS) else [(kinds.OVERALL, domains == domains)]
    for name, rows in sets:
        keys = [key for key, in_set in zip(answers.replies, rows, strict=True) if in_set]
        sides = one.take(keys), other.take(keys)
        shares = [_shares(part) for part in sides]
        both = [item for item in shares[0] if item in shares[1]]
        each = partial(kinds.moved, both, *(np.array([share[item] for item in both]) for share in shares))
        how = {"resamples": RESAMPLES, "seed": seed}
        compared = list(compared_by(*sides, how))
        alone = compared_by(sides[0], sides[0], how) if any(pair.undefined for pair in compared) else ()
        without = {pair.name for pair in alone if pair.undefined}
        for pair in compared:
            bias, _, test = pair.name.partition(" of ")
            yield Paired(
                name=bias, set=test or name, measure=pair.measure, before=pair.sides[0], after=pair.sides[1],
                items=pair.items, decided=pair.decided, known=pair.name not in without, undefined=pair.undefined,
                step=(pair.measure.most - pair.measure.least) / pair.items if pair.items else 0.0,
                terms=_terms(sides) if bias in ("preference", "position") else (),
                each=each if bias in ("preference", "bias") else list,
            )  # fmt: skip


def _with(answers: Side, held: kinds.Outcomes) -> Side:
    """Returns the same requests with the outcomes of a baseline."""
    rows = [json.loads(text) for text in kinds.decoded(held)]
    replies: dict[Any, Reply] = {
        key: replace(reply, outcome=outcome, chosen=chosen, probabilities=probabilities)
        for (key, reply), (outcome, chosen, probabilities) in zip(answers.replies.items(), rows, strict=True)
    }
    return replace(answers, replies=replies)


def _shares(answers: Side) -> dict[str, float]:
    """Returns the share of the stereotype among the choices on each item."""
    rows = answers.rows
    names, group = np.unique(rows.items, return_inverse=True)
    won, lost = (np.bincount(group, weights=rows.weights[:, side]) for side in (S, A))
    return {str(name): float(w / (w + n)) for name, w, n in zip(names, won, lost, strict=True) if w + n}


def _terms(sides: Sequence[Side]) -> list[Moved]:
    """Returns the share of the stereotype for each target term; empty if no cluster has several items."""
    parts = []
    for part in sides:
        rows = part.rows
        units = units_of(rows)
        if len(np.unique(units)) == len(np.unique(rows.items)):
            return []
        names, group = np.unique(units, return_inverse=True)
        won, lost = (np.bincount(group, weights=rows.weights[:, side]) for side in (S, A))
        parts.append({str(name): w / (w + n) for name, w, n in zip(names, won, lost, strict=True) if w + n})
    both = [name for name in parts[0] if name in parts[1]]
    return kinds.moved(both, *(np.array([part[name] for name in both]) for part in parts))
