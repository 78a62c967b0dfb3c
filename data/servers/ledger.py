"""What the replies of a run cost, over all its sessions, and the limit that no request goes over."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from catsofa.data.servers.endpoints import Fault
from catsofa.data.servers.prices import FREE, Price, Tokens, in_dollars, most_prompt_tokens, tokens_of
from catsofa.data.servers.reply_store import ReplyStore

SENT, UNPAID, DOUBTFUL = "sent", "unpaid", "doubtful"
"""The keys of the lines about attempts: before they are sent; failed for nothing; failed, and perhaps charged for."""


class Sent(NamedTuple):
    """An attempt that was sent: to which model, how, and the most tokens that it can have."""

    model: str
    batch: bool
    most: Tokens


class Ledger(ReplyStore):
    """The store of a run's replies, which knows what they cost, and lets no request go over a limit."""

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
        """Open the store at `path`, or begin it; a reply has `most_written` tokens, all together cost `limit` dollars.

        What the server did not count is taken at its most, so that the sum is never too low. So is an attempt that a
        kill left without an end, but for those in a batch that is not collected.
        """
        self.spent, self.tokens, self.uncounted = 0.0, Tokens(0, 0), 0
        """Dollars and tokens so far, and the number of replies and attempts that the server did not count."""
        self._price, self._most_written, self._limit = price, most_written, limit
        self._under_way: dict[str, list[Sent]] = {}
        """The attempts without an end, by their request."""
        self._dearest: dict[str, float] = {}
        """Dollars of the dearest reply of a model: a server that ignores its limits is expected to do so again."""
        super().__init__(path, hide, server=server)
        for key in self._under_way.keys() - self.pending:
            for sent in self._under_way.pop(key):
                self._pay(sent, None)

    @property
    def spent_in_dollars(self) -> str:
        """The dollars so far, for people."""
        return f"{'at most ' if self.uncounted else ''}{in_dollars(self.spent)}"

    def costs(self, *, priced: bool) -> dict[str, Any] | None:
        """What all replies cost, and in a sentence; None where nobody counts tokens. Dollars only where `priced`."""
        if not self.tokens.prompt:
            return None
        most, dollars = "at most " if self.uncounted else "", self.spent if priced else None
        said = f"{most}{self.tokens.prompt:,} tokens read and {self.tokens.completion:,} written"
        said += f", {self.spent_in_dollars}" if dollars else ""
        counts = {"prompt_tokens": self.tokens.prompt, "completion_tokens": self.tokens.completion, "dollars": dollars}
        return {**counts, "uncounted": self.uncounted, "sentence": said}

    def most(self, prompt: str, model: str, *, batch: bool = False) -> float:
        """The most dollars that a request with this prompt can cost."""
        return self._most(Sent(model, batch, Tokens(most_prompt_tokens(prompt), self._most_written)))

    def at_once(self, width: int) -> int:
        """Under a limit one request alone until a reply has shown what a server makes of its limit of tokens."""
        return width if self._limit is None or self.replies else 1

    def refuse_over_limit(self, alone: Sequence[Any], batch: Sequence[Any]) -> None:
        """A ValueError where requests, some alone and the others in a batch, can cost more than the limit leaves."""
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
        """Set aside the most that attempts can cost; False if that goes over the limit."""
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
        """Free what was set aside; where the server may charge for the attempt, count its most."""
        about = DOUBTFUL if fault.paid else UNPAID
        self._note(*({"key": about, "reply": {"request": key, "reason": fault.reason}} for key in keys))

    def _is_over(self, dollars: float) -> bool:
        """Whether an amount is over the limit, by more than its sum is rounded."""
        return self._limit is not None and dollars > self._limit + 1e-9

    def _attempts(self, requests: Sequence[Any], *, batch: bool) -> dict[str, Sent]:
        """One attempt at each request."""
        found = {}
        for request in requests:
            prompt = "".join(str(message["content"]) for message in request.body["messages"])
            most = Tokens(most_prompt_tokens(prompt), self._most_written)
            found[request.key] = Sent(str(request.body.get("model", "")), batch, most)
        return found

    def _with(self, attempts: Mapping[str, Sent]) -> float:
        """The most dollars that all cost with these attempts."""
        under_way = sum(self._most(one) for several in self._under_way.values() for one in several)
        return self.spent + under_way + sum(map(self._most, attempts.values()))

    def _most(self, sent: Sent) -> float:
        """The most dollars that an attempt can cost."""
        price = self._price(sent.model) or FREE
        plain = max(price.most(sent.most), self._dearest.get(sent.model, 0.0))
        return plain * price.batch if sent.batch else plain

    def _remember(self, line: Mapping[str, Any]) -> None:
        """Keep a line's reply in memory, and its cost."""
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
        """Count the cost of an attempt by its tokens, or the most that it can have."""
        price, tokens = self._price(sent.model) or FREE, counted or sent.most
        cost = price.cost_of(tokens) if counted else price.most(tokens)
        if counted:
            self._dearest[sent.model] = max(self._dearest.get(sent.model, 0.0), cost)
        self.uncounted += not counted
        self.spent += cost * price.batch if sent.batch else cost
        self.tokens = Tokens(self.tokens.prompt + tokens.prompt, self.tokens.completion + tokens.completion)


def _counts(sent: Sent) -> list[int]:
    """The most tokens of an attempt, as JSON."""
    return [sent.most.prompt, sent.most.completion]
