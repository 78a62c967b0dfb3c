"""The adaptive stop: two more judgements for each item that the judgements so far leave uncertain, up to a maximum."""

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
"""Further judgements at a time."""
KNOWN = 20
"""Items, at least, whose share of uncertain ones is believed."""
UNSURE, STEPS = 0.18, 1.5
"""Of simulated people who are right in 65 to 90 %: the share of questions that five leave below 0.9, and the steps
that each then takes (docs/annotation.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Judgements that an adaptive stop asks for beside those that are missing."""

    expected: float
    worst: int
    by: str
    """What the expectation rests on: items so far, the pilot, or simulated people."""


def outlook(held: Rows, study: Study, adaptive: Adaptive) -> Outlook:
    """What further judgements are expected, and the most there can be."""
    most, overlap = adaptive.most or study.settings.overlap, study.settings.overlap
    tasks = held.all("SELECT token, need, valid FROM task WHERE kind = 'item'")
    settled = [task for task in tasks if task["need"] > overlap or task["valid"] >= overlap]
    share, by = 1 - (1 - UNSURE) ** len(_asked(study, tasks[0]["token"])), "simulated people"
    if len(settled) >= KNOWN or len(settled) == len(tasks):
        share, by = sum(task["need"] > overlap for task in settled) / len(settled), "the items so far"
    elif study.settings.after_pilot:
        pilot = open_study(study.folder / study.settings.after_pilot)
        with reading(pilot.folder, identity(pilot.settings.secret)) as its:
            known = certainty(its, pilot, adaptive.model)
        if len(known) >= KNOWN:
            share, by = sum(sure < adaptive.posterior for sure in known.values()) / len(known), "the pilot"
    extra = min(STEP * STEPS, most - overlap) * share
    return Outlook(
        expected=extra * (len(tasks) - len(settled)),
        worst=sum(max(0, most - task["need"]) for task in tasks),
        by=by,
    )


def certainty(held: Rows, study: Study, model: Model) -> dict[str, float]:
    """For each item with judgements that count, the posterior of its most probable labels.

    An item with several questions is as certain as the least certain of them that decides something.
    """
    from catsofa.data.judging.dawid_skene import dawid_skene
    from catsofa.data.judging.glad import glad

    models: Mapping[Model, Callable[[list[Annotation]], Estimate]] = {"dawid-skene": dawid_skene, "glad": glad}
    said, found = defaultdict[tuple[str, ...], list[Annotation]](list), dict[str, float]()
    query = (
        "SELECT s.task, s.person, a.said FROM seat s JOIN answer a ON a.nonce = s.nonce "
        "JOIN task t ON t.token = s.task WHERE s.state = 'valid' AND t.kind = 'item' ORDER BY a.at, s.nonce"
    )
    for row in held.all(query):
        given = json.loads(row["said"])
        for question in _asked(study, row["task"]):
            choices = study.kind.interface.questions[question].choices
            item = f"{row['task']}/{question}"
            said[choices].append(Annotation(item=item, annotator=row["person"], label=given[question]))
    for annotations in said.values():
        estimate = models[model](annotations)
        for item, posterior in zip(estimate.ratings.items, estimate.posterior.max(axis=1), strict=True):
            token = item.partition("/")[0]
            found[token] = min(float(posterior), found.get(token, 1.0))
    return found


def _asked(study: Study, token: str) -> list[str]:
    """The questions about an item that decide something."""
    assert study.kind.asks is not None, "settings refuse an adaptive stop where people write"
    key = study.keys[token]
    return study.kind.deciding(study.kind.asks(study.items[key.item], key.order))


def widen(study: Study, most: int, sure: float, model: Model = "dawid-skene") -> Mapping[str, int]:
    """Note that more people are wanted for items that all who were asked have judged, and that are less than `sure`.

    How many judgements each reopened task now needs; `apply` gives the seats out.
    """
    with study.locked():
        study = open_study(study.folder)
        if study.settings.closed:
            return {}
        with reading(study.folder, identity(study.settings.secret)) as held:
            full = held.all("SELECT * FROM task WHERE kind = 'item' AND valid >= need AND need < ?", most)
            known = certainty(held, study, model) if full else {}
        wanted = [
            Wanted(
                token=task["token"],
                overlap=min(task["need"] + STEP, most),
                why=f"posterior below {sure:g} after {task['valid']} judgements",
            )
            for task in full
            if known.get(task["token"], 0.0) < sure
        ]
        if wanted:
            rows.append(wanted, study.folder / REOPENED)
        return reopened(study)


def apply(held: Rows, wanted: Mapping[str, int]) -> None:
    """Give out the seats that are wanted; those that were given out already stay."""
    for token, need in wanted.items():
        seats.reopen(held, [token], need)
