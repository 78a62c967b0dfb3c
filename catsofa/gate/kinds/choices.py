"""Choices of chat models: what each request was answered with."""

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
    """The choices of a run, its requests in order."""
    found = side_of(run, data)
    return found.take(sorted(found.replies, key=repr))


def of_run(of: Side) -> kinds.Outcomes:
    """The outcome of each request, and the hash of the requests."""
    rows = [[reply.outcome, reply.chosen, _rounded(reply.probabilities)] for reply in of.replies.values()]
    return kinds.coded([json.dumps(row, separators=(",", ":")) for row in rows])


def _rounded(probabilities: Mapping[str, float] | None) -> dict[str, float] | None:
    """Probabilities to six digits."""
    if probabilities is None:
        return None
    return {option: float(f"{share:.6g}") for option, share in sorted(probabilities.items())}


def tests(of: Side, before: kinds.Outcomes, after: kinds.Outcomes, seed: int) -> Iterator[Paired]:
    """Preference, position effect, bias and accuracy of all requests and of each domain, as `compare` has them."""
    one, other = (_with(of, held) for held in (before, after))
    kind = next(iter(of.items.values())).kind
    replies = list(of.replies.values())
    domains = np.array([of.items[reply.item].domain for reply in replies])
    sets = kinds.sets_of(domains) if kind not in (WORDS, DECISIONS) else [(kinds.OVERALL, domains == domains)]
    for name, rows in sets:
        keys = [key for key, taken in zip(of.replies, rows, strict=True) if taken]
        sides = one.take(keys), other.take(keys)
        shares = [_shares(part) for part in sides]
        both = [item for item in shares[0] if item in shares[1]]
        each = partial(kinds.moved, both, *(np.array([share[item] for item in both]) for share in shares))
        how = {"resamples": RESAMPLES, "seed": seed}
        compared = list(compared_by(*sides, how))
        alone = compared_by(sides[0], sides[0], how) if any(found.undefined for found in compared) else ()
        without = {found.name for found in alone if found.undefined}
        for found in compared:
            bias, _, test = found.name.partition(" of ")
            clusters, items = len(found.sides[0]), round(found.decided * len(keys))
            yield Paired(
                name=bias, set=test or name, measure=found.measure, before=found.sides[0], after=found.sides[1],
                items=items, decided=found.decided, known=found.name not in without, undefined=found.undefined,
                step=(found.measure.most - found.measure.least) / max(1, items) if clusters else 0.0,
                terms=_terms(sides) if bias in ("preference", "position") else (),
                each=each if bias in ("preference", "bias") else list,
            )  # fmt: skip


def _with(of: Side, held: kinds.Outcomes) -> Side:
    """The same requests with the outcomes of a baseline."""
    rows = [json.loads(text) for text in kinds.decoded(held)]
    replies: dict[Any, Reply] = {
        key: replace(reply, outcome=outcome, chosen=chosen, probabilities=probabilities)
        for (key, reply), (outcome, chosen, probabilities) in zip(of.replies.items(), rows, strict=True)
    }
    return replace(of, replies=replies)


def _shares(of: Side) -> dict[str, float]:
    """The share of the stereotype among the choices on each item."""
    rows = of.rows
    names, group = np.unique(rows.items, return_inverse=True)
    won, lost = (np.bincount(group, weights=rows.weights[:, side]) for side in (S, A))
    return {str(name): float(w / (w + n)) for name, w, n in zip(names, won, lost, strict=True) if w + n}


def _terms(sides: Sequence[Side]) -> list[Moved]:
    """The share of the stereotype of each target term, where requests have clusters of several items."""
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
