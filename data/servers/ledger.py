"""The cost of a run's replies over all its sessions, and the cost limit that no request may exceed."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from catsofa.data.servers.endpoints import Fault
from catsofa.data.servers.prices import FREE, Price, Tokens, in_dollars, most_prompt_tokens, tokens_of
from catsofa.data.servers.reply_store import ReplyStore

SENT, UNPAID, DOUBTFUL = "sent", "unpaid", "doubtful"
"""The keys of log lines about attempts: before sending; failed without cost; failed, and perhaps charged."""


class Sent(NamedTuple):
    """A sent attempt: its model, whether in a batch, and its maximum number of tokens."""

    model: str
    batch: bool
    most: Tokens


class Ledger(ReplyStore):
    """The store of a run's replies, which also tracks their cost and enforces a cost limit."""

    def __init__(
        self,
        path: Path | None,
        hide: Callable[[str], str] = str,
        *,
        server: str = "",
        price: Callable[[str], Price | None] = lambda model: None,
        most_written: int = 0,
        limit: float | None = None,
    ) -> None:
        """Open or create the store; a reply has at most `most_written` tokens, all cost at most `limit` dollars.

        Replies without token counts are charged at their maximum, so that the sum is never too low. So are attempts
        that a kill left unfinished, except those in a batch that is not collected.
        """
        self.spent, self.tokens, self.uncounted = 0.0, Tokens(0, 0), 0
        """Dollars and tokens so far, and the number of replies and attempts without token counts."""
        self._price, self._most_written, self._limit = price, most_written, limit
        self._under_way: dict[str, list[Sent]] = {}
        """The unfinished attempts, by request."""
        self._dearest: dict[str, float] = {}
        """Dollars of the most expensive reply of a model: a server that ignored its limits may do so again."""
        super().__init__(path, hide, server=server)
        for key in self._under_way.keys() - self.pending:
            for sent in self._under_way.pop(key):
                self._pay(sent, None)

    @property
    def spent_in_dollars(self) -> str:
        """The dollars so far, as text."""
        return f"{'at most ' if self.uncounted else ''}{in_dollars(self.spent)}"

    def costs(self, *, priced: bool) -> dict[str, Any] | None:
        """The cost of all replies, with a sentence; None without token counts. Includes dollars only if `priced`."""
        if not self.tokens.prompt:
            return None
        most, dollars = "at most " if self.uncounted else "", self.spent if priced else None
        sentence = f"{most}{self.tokens.prompt:,} tokens read and {self.tokens.completion:,} written"
        sentence += f", {self.spent_in_dollars}" if dollars else ""
        counts = {"prompt_tokens": self.tokens.prompt, "completion_tokens": self.tokens.completion, "dollars": dollars}
        return {**counts, "uncounted": self.uncounted, "sentence": sentence}

    def most(self, prompt: str, model: str, *, batch: bool = False) -> float:
        """The maximum cost in dollars of a request with this prompt."""
        return self._most(Sent(model, batch, Tokens(most_prompt_tokens(prompt), self._most_written)))

    def at_once(self, width: int) -> int:
        """Concurrent requests: with a cost limit, one until a reply shows how the server treats its token limit."""
        return width if self._limit is None or self.replies else 1

    def refuse_over_limit(self, alone: Sequence[Any], batch: Sequence[Any]) -> None:
        """Raise a ValueError if requests (some alone, others in a batch) can exceed the cost limit."""
        attempts = self._attempts(alone, batch=False) | self._attempts(batch, batch=True)
        needed = self._with(attempts)
        if self._is_over(needed):
            most, limit = in_dollars(needed, up=True), in_dollars(self._limit or 0.0)
            raise ValueError(
                f"found a batch of {len(attempts):,} requests that can bring the cost to {most} "
                f"({in_dollars(self.spent)} is spent), expected at most --max-cost {limit}; a batch cannot be stopped, "
                f"so it was not sent: give --max-cost {most[1:]} or more, or leave out --batch"
            )

    def reserve(self, *requests: Any, batch: bool = False) -> bool:
        """Reserve the maximum cost of attempts; False if that exceeds the limit."""
        attempts = self._attempts(requests, batch=batch)
        if self._is_over(self._with(attempts)):
            return False
        self._note(
            *(
                {"key": SENT, "reply": {"request": key, "model": one.model, "batch": batch, "at_most": _counts(one)}}
                for key, one in attempts.items()
            ),
            sync=batch,
        )
        return True

    def failed(self, fault: Fault, *keys: str) -> None:
        """Release the reservation of failed attempts; if the server may charge for them, count their maximum."""
        about = DOUBTFUL if fault.paid else UNPAID
        self._note(*({"key": about, "reply": {"request": key, "reason": fault.reason}} for key in keys))

    def _is_over(self, dollars: float) -> bool:
        """Returns whether an amount exceeds the limit by more than a rounding error."""
        return self._limit is not None and dollars > self._limit + 1e-9

    def _attempts(self, requests: Sequence[Any], *, batch: bool) -> dict[str, Sent]:
        """One attempt for each request."""
        attempts = {}
        for request in requests:
            prompt = "".join(str(message["content"]) for message in request.body["messages"])
            most = Tokens(most_prompt_tokens(prompt), self._most_written)
            attempts[request.key] = Sent(str(request.body.get("model", "")), batch, most)
        return attempts

    def _with(self, attempts: Mapping[str, Sent]) -> float:
        """The maximum total cost in dollars, including these attempts."""
        under_way = sum(self._most(one) for several in self._under_way.values() for one in several)
        return self.spent + under_way + sum(map(self._most, attempts.values()))

    def _most(self, sent: Sent) -> float:
        """The maximum cost in dollars of an attempt."""
        price = self._price(sent.model) or FREE
        plain = max(price.most(sent.most), self._dearest.get(sent.model, 0.0))
        return plain * price.batch if sent.batch else plain

    def _remember(self, line: Mapping[str, Any]) -> None:
        """Keep the reply of a line in memory, and add its cost."""
        key, reply = line["key"], line["reply"]
        if key == SENT:
            sent = Sent(reply["model"], reply["batch"], Tokens(*reply["at_most"]))
            self._under_way.setdefault(reply["request"], []).append(sent)
            return
        if key not in (UNPAID, DOUBTFUL):
            super()._remember(line)
        request = reply["request"] if key in (UNPAID, DOUBTFUL) else key
        several = self._under_way.pop(request, [])
        attempt, counted = several.pop() if several else None, tokens_of(reply.get("usage"))
        if several:
            self._under_way[request] = several
        if key != UNPAID and (attempt or counted):
            self._pay(attempt or Sent("", False, Tokens(0, 0)), counted)

    def _pay(self, sent: Sent, counted: Tokens | None) -> None:
        """Add the cost of an attempt by its counted tokens, or else by its maximum."""
        price, tokens = self._price(sent.model) or FREE, counted or sent.most
        cost = price.cost_of(tokens) if counted else price.most(tokens)
        if counted:
            self._dearest[sent.model] = max(self._dearest.get(sent.model, 0.0), cost)
        self.uncounted += not counted
        self.spent += cost * price.batch if sent.batch else cost
        self.tokens = Tokens(self.tokens.prompt + tokens.prompt, self.tokens.completion + tokens.completion)


def _counts(sent: Sent) -> list[int]:
    """The maximum tokens of an attempt, as JSON."""
    return [sent.most.prompt, sent.most.completion]
