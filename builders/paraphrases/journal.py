"""The journal of a run: a ledger of its requests with the time of each line. Also reads journals of version 0.2."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from catsofa.data.files import BadInput
from catsofa.data.servers.ledger import DOUBTFUL, SENT, UNPAID, Ledger
from catsofa.data.servers.prices import most_prompt_tokens
from catsofa.data.servers.reply_store import BATCH, PARAMETERS


class Journal(Ledger):
    """An open journal. Only one process at a time can hold it."""

    expected = "a journal of requests and replies"
    needed = ("at",)

    def _note(self, *lines: dict[str, Any], sync: bool = True) -> None:
        """Writes lines with their time."""
        super()._note(*(line | {"at": datetime.now(UTC).isoformat(timespec="seconds")} for line in lines), sync=sync)

    def _remember(self, line: Mapping[str, Any]) -> None:
        """Keeps the reply and the cost of a line in memory."""
        try:
            super()._remember(_of_today(line) if "event" in line else line)
        except KeyError as error:
            problem = f"a line without {error}"
            raise BadInput(self._log.path if self._log else "journal", problem, self.expected) from None


def _of_today(event: Mapping[str, Any]) -> dict[str, Any]:
    """Converts a line of version 0.2 into the terms of the ledger."""
    match event["event"]:
        case "asked":
            most = [most_prompt_tokens(event["messages"][0]["content"]), event.get("max_completion_tokens") or 0]
            sent = {"request": event["key"], "model": event["model"], "batch": event["batch"], "at_most": most}
            return {"key": SENT, "reply": sent}
        case "answered":
            return {"key": event["key"], "reply": _completion(event)}
        case "failed":
            return {"key": DOUBTFUL if event["paid"] else UNPAID, "reply": {"request": event["key"]}}
        case "parameters":
            return {"key": PARAMETERS, "reply": event}
    return {"key": BATCH, "reply": event}


def _completion(event: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the reply of an event as a chat completion."""
    finish = {"truncated": "length", "content_filter": "content_filter"}.get(event["ending"], "stop")
    field = "refusal" if event["ending"] == "refusal" else "content"
    usage = {name: event[name] for name in ("prompt_tokens", "completion_tokens")}
    choice = {"finish_reason": finish, "message": {field: event["text"]}}
    return {
        "choices": [choice],
        "usage": usage,
        "model": event["model"],
        "system_fingerprint": event["fingerprint"],
    }
