"""Runs paraphrase requests at one endpoint: estimates the cost, sends requests, and joins the replies to the CATs."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from catsofa.builders.paraphrases import Answer
from catsofa.builders.paraphrases.journal import Journal
from catsofa.builders.paraphrases.prompts import Request
from catsofa.builders.paraphrases.replies import Completed, reply_of
from catsofa.data.records import Cat
from catsofa.data.servers.batches import complete
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.plans import Coming, Plan, plan
from catsofa.data.servers.prices import Price, in_dollars, reply_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Requests to one endpoint, with at most `max_tokens` each and `max_cost` dollars for all models together.

    A later run resumes from the journal in the folder `out`. The journal is also the source of the costs.
    """

    requests: Sequence[Request]
    endpoint: Endpoint
    out: Path
    max_tokens: int
    price: Callable[[str], Price | None]
    max_cost: float | None = None
    batch: bool = False

    def preview(self) -> Plan:
        """Returns the plan for the requests left to send, with their estimated cost; writes nothing."""
        if not (self.out / "journal.jsonl").exists():
            return self._left(None)
        with self._journal() as journal:
            return self._left(journal)

    def ask(self, status: Callable[[str], None] = lambda message: None) -> Generator[Completed]:
        """Yields each request when it ends.

        Raises ValueError before sending anything if the cost may exceed `max_cost`.
        """
        with self._journal() as journal:
            coming = self._left(journal)
            self._refuse_to_overspend(coming, journal.spent)
            status(str(coming))
            if journal.unchecked:
                status(f"{journal.unchecked:,} lines of {self.out / 'journal.jsonl'} have no checksum")
            for ended in complete(self.requests, self.endpoint, journal, batch=self.batch, status=status):
                reply = None if ended.reply is None else reply_of(ended.reply)
                yield Completed(request=ended.request, reply=reply, reason=ended.reason, said=ended.said)
            priced = all(self.price(model) is not None for model in {one.model for one in self.requests})
            if costs := journal.costs(priced=priced):
                status(f"cost: {costs['sentence']}")

    def _journal(self) -> Journal:
        """Opens the journal of the folder."""
        path, hide = self.out / "journal.jsonl", self.endpoint.hide
        return Journal(path, hide, price=self.price, most_written=self.max_tokens, limit=self.max_cost)

    def _left(self, journal: Journal | None) -> Plan:
        """Returns the plan for the requests without a reply; requests that wait in a batch count as under way."""
        remaining = {request.key: request for request in self.requests}
        waiting = journal.pending & remaining.keys() if journal else set()
        for key in {*journal.replies, *waiting} if journal else ():
            remaining.pop(key, None)
        coming = [Coming(one.model, one.prompt, reply_tokens(one.reply_chars)) for one in remaining.values()]
        return plan(coming, self.price, self.max_tokens, batch=self.batch, under_way=len(waiting))

    def _refuse_to_overspend(self, coming: Plan, spent: float) -> None:
        """Raises ValueError if the planned cost exceeds the rest of `max_cost`, or if a price is unknown."""
        if self.max_cost is None or not coming.requests:
            return
        if coming.cost is None:
            unknown = next(request.model for request in self.requests if self.price(request.model) is None)
            raise ValueError(
                f"the price of {unknown!r} is unknown, so --max-cost cannot be kept; "
                "write it into a price table and give that with --prices"
            )
        if spent + coming.cost > self.max_cost:
            raise ValueError(
                f"{coming}; with {in_dollars(spent)} spent before, that is over --max-cost {self.max_cost:g}, "
                "so nothing was sent"
            )


def answers(originals: Iterable[Cat], ended: Iterable[Completed]) -> Iterator[Answer]:
    """Yields the answer for each CAT, in the order of the CATs; a CAT without a request fails as `original_unfit`."""
    by_item = {completed.request.item: completed for completed in ended}
    for cat in originals:
        if cat.id not in by_item:
            yield Answer(original=cat, failure="original_unfit")
        else:
            completed = by_item[cat.id]
            yield Answer(original=cat, reply=completed.reply, failure=f"failed_{completed.reason}")
