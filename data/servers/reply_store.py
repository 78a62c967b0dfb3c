"""Stores the replies of model servers before use, so that no request is sent or paid for twice."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from catsofa.data.closing import Closing
from catsofa.data.files.append_log import AppendLog
from catsofa.data.servers.endpoints import Fault
from catsofa.data.servers.parameters import Parameters

EXPECTED = "the replies of a model server"
PARAMETERS = "parameters"
"""The key of log lines about the parameters that the server accepts."""
BATCH, COLLECTED = "batch", "collected"
"""The key of log lines about batches, and the last state of a batch."""


class ReplyStore(Closing):
    """The replies by request key, in memory and, with a path, in a log that the next run reads."""

    expected = EXPECTED
    needed: tuple[str, ...] = ("key", "reply")
    """The fields of each line of the log."""

    def __init__(self, path: Path | str | None = None, hide: Callable[[str], str] = str, *, server: str = "") -> None:
        """Open or create the log; `hide` removes secrets from replies, `server` is the address bound to checksums."""
        self.replies: dict[str, Any] = {}
        self.parameters = Parameters()
        """The parameters that the server accepts."""
        self.batches: dict[str, dict[str, Any]] = {}
        """The state of each batch by its tag."""
        self._log = AppendLog(path, self.expected, hide, bound_to=server) if path else None
        for line in self._log.read(*self.needed) if self._log else ():
            self._remember(line)
        self.unchecked = self._log.unchecked if self._log else 0
        """The number of lines of earlier versions without a checksum."""

    @property
    def pending(self) -> set[str]:
        """The requests in batches that are not collected."""
        return {key for batch in self.batches.values() if batch["state"] != COLLECTED for key in batch["keys"]}

    def at_once(self, width: int) -> int:
        """The number of concurrent requests allowed, at most `width`."""
        return width

    def refuse_over_limit(self, alone: Sequence[Any], batch: Sequence[Any]) -> None:
        """Does nothing: this store has no cost limit."""

    def reserve(self, *requests: Any, batch: bool = False) -> bool:
        """Always True: this store has no cost limit."""
        return True

    def answered(self, key: str, reply: Any) -> Any:
        """Store a reply on disk, and return it as stored, without secrets."""
        (stored,) = self.keep({key: reply})
        self.sync()
        return stored

    def keep(self, replies: Mapping[str, Any]) -> list[Any]:
        """Store replies by their keys, to be synced with later ones; returns the replies as stored."""
        self._note(*({"key": key, "reply": reply} for key, reply in replies.items()), sync=False)
        return [self.replies[key] for key in replies]

    def sync(self) -> None:
        """Sync all replies to disk."""
        if self._log:
            self._log.sync()

    def failed(self, fault: Fault, *keys: str) -> None:
        """Does nothing: failures are not stored, so the next run retries."""

    def learnt(self) -> None:
        """Store the parameters that the server accepts, for the next run."""
        self._note({"key": PARAMETERS, "reply": self.parameters.known})

    def batch(self, tag: str, **state: Any) -> None:
        """Store a new state of a batch."""
        self._note({"key": BATCH, "reply": {"tag": tag, **state}})

    def _note(self, *lines: dict[str, Any], sync: bool = True) -> None:
        """Write lines, synced now or with later ones, and remember them as written."""
        for line in self._log.append(*lines, sync=sync) if self._log else lines:
            self._remember(line)

    def _remember(self, line: Mapping[str, Any]) -> None:
        """Keep the content of a line in memory."""
        match line["key"]:
            case "parameters":
                self.parameters.remember(line["reply"])
            case "batch":
                self.batches.setdefault(line["reply"]["tag"], {}).update(line["reply"])
            case key:
                self.replies[key] = line["reply"]

    def close(self) -> None:
        """Close the log, which releases its lock."""
        if self._log:
            self._log.close()
