"""Facts that a study takes over from its pilot: who took part, and the time per task."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from catsofa.annotation.crowd.databases import has_store
from catsofa.annotation.crowd.store import identity, reading
from catsofa.annotation.study import Study, open_study
from catsofa.data.files import BadInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Time that people took for an answer in a pilot."""

    seconds: float
    """Median over all answers of people whose work did not end by failed checks or haste."""
    answers: int


def pace(pilot: Path) -> Pace:
    """Returns the pace in a pilot; refuses a pilot without answers."""
    study = open_study(pilot)
    if not has_store(pilot):
        raise BadInput(pilot, "no store", "a pilot that was opened before (catsofa annotate open)")
    query = "SELECT a.seconds FROM answer a JOIN seat s ON s.nonce = a.nonce JOIN person p ON p.name = s.person "
    query += "JOIN task t ON t.token = s.task AND t.kind <> 'practice' "
    with reading(pilot, identity(study.settings.secret)) as held:
        took = [row["seconds"] for row in held.all(f"{query} WHERE p.state NOT IN ('failed', 'paused')")]
    if not took or not (middle := round(median(took), 1)):
        raise BadInput(pilot, "no answer that took time", "a pilot in which people answered, or --seconds")
    return Pace(seconds=middle, answers=len(took))


def earlier(study: Study) -> Iterator[Study]:
    """Yields the pilot of a study, the pilot of that pilot, and so on."""
    while study.settings.after_pilot:
        study = open_study(study.folder / study.settings.after_pilot)
        yield study


def took_part(pilots: Iterable[Study], name: str) -> bool:
    """True if the person with this pseudonym has consented in one of these pilots so far, whatever the outcome."""
    for pilot in (each for each in pilots if has_store(each.folder)):
        with reading(pilot.folder, identity(pilot.settings.secret)) as held:
            if held.first("SELECT name FROM person WHERE name = ? AND state <> 'declined'", name):
                return True
    return False
