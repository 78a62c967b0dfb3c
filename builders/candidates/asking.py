"""Requests to several models in one journal: priced together, and never over the budget that they share."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from catsofa.builders.paraphrases.journal import Budget, Completed, Journal
from catsofa.builders.paraphrases.prices import Estimate
from catsofa.builders.paraphrases.prompts import Request
from catsofa.builders.paraphrases.runs import Run
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.prices import Price


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Models at one endpoint; the journal in `out` is what a later run goes on from, for all of them."""

    endpoint: Endpoint
    out: Path
    max_tokens: int
    price: Callable[[str], Price | None]
    max_cost: float | None = None

    def preview(self, requests: Sequence[Request]) -> Estimate:
        """What is left to send to all models, and what that will cost; nothing is written."""
        coming = [run.preview() for run in self._runs(requests, {})]
        costs = [one.cost for one in coming if one.requests]
        return Estimate(
            requests=sum(one.requests for one in coming),
            prompt_tokens=sum(one.prompt_tokens for one in coming),
            completion_tokens=sum(one.completion_tokens for one in coming),
            cost=None if None in costs else sum(cost or 0.0 for cost in costs),
        )

    def ask(self, requests: Sequence[Request], status: Callable[[str], None]) -> Iterator[Completed]:
        """Each request as it ends, model after model; a ValueError before anything is sent if all could cost more."""
        spent = self._spent()
        coming = self.preview(requests)
        if self.max_cost is not None and coming.cost and sum(spent.values()) + coming.cost > self.max_cost:
            raise ValueError(
                f"{coming}; with ${sum(spent.values()):.2f} spent before, that is over --max-cost "
                f"{self.max_cost:g}, so nothing was sent"
            )
        for model in dict.fromkeys(request.model for request in requests):
            others = {name: dollars for name, dollars in self._spent().items() if name != model}
            for run in self._runs([request for request in requests if request.model == model], others):
                status(model)
                yield from run.ask(status)

    def _runs(self, requests: Sequence[Request], spent: dict[str, float]) -> Iterator[Run]:
        """A run for each model, with what the others have left of the budget."""
        for model in dict.fromkeys(request.model for request in requests):
            yield Run(
                requests=[request for request in requests if request.model == model],
                endpoint=self.endpoint,
                out=self.out,
                max_tokens=self.max_tokens,
                price=self.price(model),
                max_cost=None if self.max_cost is None else max(0.0, self.max_cost - sum(spent.values())),
            )

    def _spent(self) -> dict[str, float]:
        """Dollars that each model has cost so far, by the journal."""
        path = self.out / "journal.jsonl"
        with Journal(path, self.endpoint.hide) if path.exists() else nullcontext() as journal:
            if journal is None:
                return {}
            models = {asked.model for asked in journal.asked_of.values()}
            return {m: Budget(None, self.price(m), journal, m, self.max_tokens).spent for m in models}
