"""Adaptive stop: requests two more judgements of each item that is still uncertain, up to a maximum."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from catsofa.annotation.crowd import seats
from catsofa.annotation.crowd.settings import Adaptive, Model
from catsofa.annotation.crowd.store import Rows, identity, reading
from catsofa.annotation.results.answers import REOPENED, Wanted, reopened
from catsofa.annotation.study import Study, open_study, rows
from catsofa.data.judging.estimate import Estimate
from catsofa.data.records import Annotation

STEP = 2
"""Number of further judgements per step."""
KNOWN = 20
"""Minimum number of settled items before their share of uncertain items is used as an estimate."""
UNSURE, STEPS = 0.18, 1.5
"""Results of a simulation with people who are right in 65 to 90 % of cases: the share of questions with a posterior
below 0.9 after five judgements, and the number of steps that each of those then takes (docs/annotation.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Number of judgements that an adaptive stop adds to the missing ones."""

    expected: float
    worst: int
    by: str
    """Basis of the expectation: the items so far, the pilot, or simulated people."""


def outlook(held: Rows, study: Study, adaptive: Adaptive) -> Outlook:
    """Returns the expected number of further judgements, and the maximum."""
    most, overlap = adaptive.most or study.settings.overlap, study.settings.overlap
    tasks = held.all("SELECT token, need, valid FROM task WHERE kind = 'item'")
    settled = [task for task in tasks if task["need"] > overlap or task["valid"] >= overlap]
    share, basis = 1 - (1 - UNSURE) ** len(_asked(study, tasks[0]["token"])), "simulated people"
    if len(settled) >= KNOWN or len(settled) == len(tasks):
        share, basis = sum(task["need"] > overlap for task in settled) / len(settled), "the items so far"
    elif study.settings.after_pilot:
        pilot = open_study(study.folder / study.settings.after_pilot)
        with reading(pilot.folder, identity(pilot.settings.secret)) as its:
            posteriors = certainty(its, pilot, adaptive.model)
        if len(posteriors) >= KNOWN:
            share, basis = sum(sure < adaptive.posterior for sure in posteriors.values()) / len(posteriors), "the pilot"
    extra = min(STEP * STEPS, most - overlap) * share
    return Outlook(
        expected=extra * (len(tasks) - len(settled)),
        worst=sum(max(0, most - task["need"]) for task in tasks),
        by=basis,
    )


def certainty(held: Rows, study: Study, model: Model) -> dict[str, float]:
    """Returns the posterior of the most probable label, for each item with judgements that count.

    An item with several deciding questions gets the lowest of their posteriors.
    """
    from catsofa.data.judging.dawid_skene import dawid_skene
    from catsofa.data.judging.glad import glad

    models: Mapping[Model, Callable[[list[Annotation]], Estimate]] = {"dawid-skene": dawid_skene, "glad": glad}
    by_choices, certainties = defaultdict[tuple[str, ...], list[Annotation]](list), dict[str, float]()
    query = (
        "SELECT s.task, s.person, a.said FROM seat s JOIN answer a ON a.nonce = s.nonce "
        "JOIN task t ON t.token = s.task WHERE s.state = 'valid' AND t.kind = 'item' ORDER BY a.at, s.nonce"
    )
    for row in held.all(query):
        labels = json.loads(row["said"])
        for question in _asked(study, row["task"]):
            choices = study.kind.interface.questions[question].choices
            item = f"{row['task']}/{question}"
            by_choices[choices].append(Annotation(item=item, annotator=row["person"], label=labels[question]))
    for annotations in by_choices.values():
        estimate = models[model](annotations)
        for item, posterior in zip(estimate.ratings.items, estimate.posterior.max(axis=1), strict=True):
            token = item.partition("/")[0]
            certainties[token] = min(float(posterior), certainties.get(token, 1.0))
    return certainties


def _asked(study: Study, token: str) -> list[str]:
    """Returns the deciding questions about an item."""
    assert study.kind.asks is not None, "settings refuse an adaptive stop where people write"
    key = study.keys[token]
    return study.kind.deciding(study.kind.asks(study.items[key.item], key.order))


def widen(study: Study, most: int, sure: float, model: Model = "dawid-skene") -> Mapping[str, int]:
    """Requests more judgements of fully judged items whose posterior is below `sure`.

    Returns the number of judgements that each reopened task now needs. `apply` opens the seats in the store.
    """
    with study.locked():
        study = open_study(study.folder)
        if study.settings.closed:
            return {}
        with reading(study.folder, identity(study.settings.secret)) as held:
            full = held.all("SELECT * FROM task WHERE kind = 'item' AND valid >= need AND need < ?", most)
            posteriors = certainty(held, study, model) if full else {}
        wanted = [
            Wanted(
                token=task["token"],
                overlap=min(task["need"] + STEP, most),
                why=f"posterior below {sure:g} after {task['valid']} judgements",
            )
            for task in full
            if posteriors.get(task["token"], 0.0) < sure
        ]
        if wanted:
            rows.append(wanted, study.folder / REOPENED)
        return reopened(study)


def apply(held: Rows, wanted: Mapping[str, int]) -> None:
    """Raises the number of judgements that each task needs in the store; never lowers it."""
    for token, need in wanted.items():
        seats.reopen(held, [token], need)
