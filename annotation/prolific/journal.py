"""What was asked of Prolific and must not be asked twice: the study that was made, and each payment of bonuses.

A payment is noted before it is sent, and again when Prolific has confirmed it. One that was noted only once may have
been made or not; the owner looks at Prolific and says which.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from catsofa.annotation.study import Study, now, rows

FILE = "prolific.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One step."""

    step: Literal["study", "pay", "paid", "unpaid"]
    id: str
    """Prolific's id of the study or the payment."""
    owed: Mapping[str, int] = field(default_factory=dict)
    """Cents of each person of a payment, by pseudonym."""
    at: str = ""


class Journal:
    """The journal of one study."""

    def __init__(self, study: Study) -> None:
        """Read what was done before."""
        self._path = study.folder / FILE
        self._entries: list[Entry] = list(rows.read(self._path, Entry))

    def note(self, entry: Entry) -> None:
        """Note a step; it is on disk before this returns."""
        self._path.touch(0o600)
        entry = replace(entry, at=now())
        rows.append([entry], self._path)
        self._entries.append(entry)

    def study(self) -> str:
        """The id of the study on Prolific."""
        for entry in self._entries:
            if entry.step == "study":
                return entry.id
        raise ValueError(
            f"{self._path.parent} has no study on Prolific yet: catsofa annotate prolific create {self._path.parent} "
            "--address https://…"
        )

    def has_study(self) -> bool:
        """Whether a study was made on Prolific."""
        return any(entry.step == "study" for entry in self._entries)

    def lost(self) -> Sequence[Entry]:
        """Payments that were sent and of which nobody knows whether they were made."""
        known = {entry.id for entry in self._entries if entry.step in ("paid", "unpaid")}
        return [entry for entry in self._entries if entry.step == "pay" and entry.id not in known]

    def paid(self) -> Counter[str]:
        """Cents that each person has got as bonuses, by pseudonym; a lost payment counts as made."""
        unpaid = {entry.id for entry in self._entries if entry.step == "unpaid"}
        total = Counter[str]()
        for entry in self._entries:
            if entry.step == "pay" and entry.id not in unpaid:
                total.update(entry.owed)
        return total
