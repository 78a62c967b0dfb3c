"""The log of requests to Prolific that must not be repeated: the created study, and each payment of bonuses.

A payment is noted before it is sent, and again when its outcome is known. The outcome of a payment that was noted only
once is unknown; the owner looks at Prolific and reports the outcome.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from catsofa.annotation.study import Study, now, rows

FILE = "prolific.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One step: a created study, or a payment that is sent, paid or unpaid."""

    step: Literal["study", "pay", "paid", "unpaid"]
    id: str
    """Prolific's id of the study or the payment."""
    owed: Mapping[str, int] = field(default_factory=dict)
    """Cents of each person of a payment, by pseudonym."""
    at: str = ""


class Journal:
    """The journal of one study."""

    def __init__(self, study: Study) -> None:
        """Reads the earlier steps."""
        self._path = study.folder / FILE
        self._entries: list[Entry] = list(rows.read(self._path, Entry))

    def note(self, entry: Entry) -> None:
        """Notes a step, and syncs it to disk before returning."""
        self._path.touch(0o600)
        entry = replace(entry, at=now())
        rows.append([entry], self._path)
        self._entries.append(entry)

    def study(self) -> str:
        """Returns the id of the study on Prolific; raises ValueError if there is none yet."""
        for entry in self._entries:
            if entry.step == "study":
                return entry.id
        raise ValueError(
            f"{self._path.parent} has no study on Prolific yet: catsofa annotate prolific create {self._path.parent} "
            "--address https://…"
        )

    def has_study(self) -> bool:
        """Returns True if a study was created on Prolific."""
        return any(entry.step == "study" for entry in self._entries)

    def lost(self) -> Sequence[Entry]:
        """Returns the payments that were sent and whose outcome is unknown."""
        settled = {entry.id for entry in self._entries if entry.step in ("paid", "unpaid")}
        return [entry for entry in self._entries if entry.step == "pay" and entry.id not in settled]

    def paid(self) -> Counter[str]:
        """Returns the cents that each person has received as bonuses, by pseudonym; a lost payment counts as paid."""
        unpaid = {entry.id for entry in self._entries if entry.step == "unpaid"}
        total = Counter[str]()
        for entry in self._entries:
            if entry.step == "pay" and entry.id not in unpaid:
                total.update(entry.owed)
        return total
