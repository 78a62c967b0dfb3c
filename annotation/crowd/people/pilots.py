"""What a study takes over from its pilot: who took part, and how long a task takes."""

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
    """How long people took in a pilot."""

    seconds: float
    """The median of all answers of people whose work was not ended by failed checks or haste."""
    answers: int


def pace(pilot: Path) -> Pace:
    """The pace in a pilot; one without answers is refused."""
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
    """The pilot of a study, the pilot of that one, and so on."""
    while study.settings.after_pilot:
        study = open_study(study.folder / study.settings.after_pilot)
        yield study


def took_part(pilots: Iterable[Study], name: str) -> bool:
    """Whether the person with this pseudonym has consented in one of these pilots until now, however it ended."""
    for pilot in (each for each in pilots if has_store(each.folder)):
        with reading(pilot.folder, identity(pilot.settings.secret)) as held:
            if held.first("SELECT name FROM person WHERE name = ? AND state <> 'declined'", name):
                return True
    return False
