"""What the replies of a run cost, over all its sessions, and the limit that no request goes over."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from catsofa.data.servers.endpoints import Fault
from catsofa.data.servers.prices import FREE, Price, Tokens, most_prompt_tokens, tokens_of
from catsofa.data.servers.reply_store import ReplyStore

DOUBTFUL = "doubtful"
"""The key of the lines about attempts that the server may charge for although no reply came."""


class Ledger(ReplyStore):
    """The store of a run's replies, which knows what they cost, and lets no request go over a limit."""

    def __init__(
        self,
        path: Path | None,
        hide: Callable[[str], str] = str,
        *,
        server: str = "",
        price: Price | None = None,
        most_written: int = 0,
        limit: float | None = None,
    ) -> None:
        """Open the store at `path`, or begin it; a reply has `most_written` tokens, all together cost `limit` dollars.

        What the server did not count is taken at its most, so that the sum is never too low.
        """
        self.spent, self.tokens, self.uncounted = 0.0, Tokens(0, 0), 0
        """Dollars and tokens so far, and the number of replies and attempts that the server did not count."""
        self._price, self._most_written, self._limit = price or FREE, most_written, limit
        self._reserved: dict[str, Tokens] = {}
        """The most tokens of each request under way."""
        self._dearest = 0.0
        """Dollars of the dearest reply so far: a server that ignores its limits is expected to do so again."""
        super().__init__(path, hide, server=server)

    def most(self, prompt: str) -> float:
        """The most dollars that a request with this prompt can cost."""
        return max(self._price.most(self._most_tokens(prompt)), self._dearest)

    def reserve(self, request: Any, attempt: int) -> bool:
        """Set aside the most that an attempt can cost; False if that goes over the limit."""
        prompt = "".join(str(message["content"]) for message in request.body["messages"])
        reserved = sum(max(self._price.most(tokens), self._dearest) for tokens in self._reserved.values())
        if self._limit is not None and self.spent + reserved + self.most(prompt) > self._limit:
            return False
        self._reserved[request.key] = self._most_tokens(prompt)
        return True

    def failed(self, key: str, attempt: int, fault: Fault) -> None:
        """Free what was set aside; where the server may charge for the attempt, store that."""
        most = self._reserved.pop(key)
        if fault.paid:
            self._note({"key": DOUBTFUL, "reply": {"request": key, "reason": fault.reason}, **_at_most(most)})

    def answered(self, key: str, reply: Any) -> Any:
        """Store a reply, whose cost replaces what was set aside, with its most tokens if the server did not count."""
        most = self._reserved.pop(key, None)
        uncounted = most is not None and tokens_of(reply.get("usage")) is None
        self._note({"key": key, "reply": reply, **(_at_most(most) if most and uncounted else {})})
        return self.replies[key]

    def _remember(self, line: Mapping[str, Any]) -> None:
        """Keep a line's reply in memory, and its cost."""
        if line["key"] != DOUBTFUL:
            super()._remember(line)
        counted = tokens_of(line["reply"].get("usage"))
        if counted is not None:
            cost = self._price.cost_of(counted)
            self._dearest = max(self._dearest, cost)
        elif "at_most" in line:
            counted = Tokens(*line["at_most"])
            cost = self._price.most(counted)
            self.uncounted += 1
        else:
            return
        self.spent += cost
        self.tokens = Tokens(self.tokens.prompt + counted.prompt, self.tokens.completion + counted.completion)

    def _most_tokens(self, prompt: str) -> Tokens:
        """The most tokens that a request with this prompt has."""
        return Tokens(most_prompt_tokens(prompt), self._most_written)


def _at_most(tokens: Tokens) -> dict[str, list[int]]:
    """The most tokens of a request, as a field of a line."""
    return {"at_most": [tokens.prompt, tokens.completion]}
