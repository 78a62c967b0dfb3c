"""A run of choices: its plan and cost, the requests, and the report on the replies."""

__all__ = ["Choices", "Plan", "ask", "plan"]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any
from typing import Protocol as Interface

from catsofa.data.digests import json_digest
from catsofa.data.files import json_files
from catsofa.data.percentages import in_percent
from catsofa.data.progress import SILENT, Progress
from catsofa.data.runs.manifests import refuse_difference
from catsofa.data.samples import stratified
from catsofa.data.servers import plans
from catsofa.data.servers.endpoints import ServerRefuses
from catsofa.data.servers.ledger import Ledger
from catsofa.data.servers.plans import Coming, Plan
from catsofa.data.servers.prices import Price, in_dollars
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.data.servers.requests import OVER_BUDGET
from catsofa.scoring.choosing import measured
from catsofa.scoring.choosing.asking import Asking, total
from catsofa.scoring.choosing.items import Item
from catsofa.scoring.choosing.measured import items_of
from catsofa.scoring.choosing.replies import ASKED, RECEIVED, REPLIES, Reply
from catsofa.scoring.choosing.requests import FOR, Labels, Request, asks_second, refuse_unfit, requests
from catsofa.scoring.choosing.results import ChoiceReport
from catsofa.scoring.choosing.templates import Template, bundled
from catsofa.scoring.dataset import Data, keep, open_data
from catsofa.scoring.signature import data_label
from catsofa.scoring.statistics.intervals import RESAMPLES

PACE = "pace.json"
"""File of a run that records how fast replies came."""

FEW = 0.5
"""Mean total probability of the labels below which a warning says that they are unlike the model's answers."""


class ChatModel(Interface):
    """Interface of a chat model."""

    @property
    def asking(self) -> Asking:
        """Token budgets and sampling."""

    @property
    def label(self) -> str:
        """Label of the model in a signature."""

    @property
    def server(self) -> str:
        """Owner of stored replies: the address of the server, or the hash of the weights."""

    def identity(self) -> dict[str, Any]:
        """Returns what a reply depends on, besides its prompt."""

    def key(self, request: Request) -> str:
        """Returns a hash of what a request sends."""

    def hide(self, text: str) -> str:
        """Returns a text without the key of the server."""

    def replies(self, requests: Sequence[Request], store: ReplyStore) -> Iterator[Reply]:
        """Yields the reply to each request as it arrives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What a run asks about a data set: the items, and the requests about each."""

    data: Data
    items: Mapping[str, Item]
    templates: Sequence[Template]
    labels: Labels = "letters"
    neutral: bool = False
    balanced: bool = False
    samples: int = 1
    limit: int | None = None

    @property
    def requests(self) -> list[Request]:
        """All requests."""
        how: dict[str, Any] = {"labels": self.labels, "neutral": self.neutral, "balanced": self.balanced}
        return list(requests(self.items.values(), self.templates, samples=self.samples, **how))

    @property
    def subset(self) -> str:
        """Name of the sampled records in a signature; empty for all records."""
        if self.limit is None:
            return ""
        return data_label(f"stratified {self.limit}", json_digest(sorted(self.items)))

    def identity(self) -> dict[str, Any]:
        """Returns what must not change in a run's folder; a larger sample continues a smaller one."""
        wordings = [template.label for template in self.templates]
        how = {"labels": self.labels, "neutral": self.neutral, "balanced": self.balanced, "samples": self.samples}
        return {"data": self.data.digest, "templates": wordings, **how}


def choices(
    on: str | Path | Iterable[Any], templates: Sequence[Template] = (), *, limit: int | None = None, **how: Any
) -> Choices:
    """Builds the choices about a data set; `limit` takes a sample stratified by domain and cluster.

    Without a template, the first bundled one for the kind of items is used.
    """
    data = open_data(on)
    items = items_of(data)
    if asks_second(templates, next(iter(items.values())).kind):
        items = items_of(data, second=True)
    kind = next(iter(items.values())).kind
    templates = templates or [bundled(FOR[kind][0])]
    refuse_unfit(templates, kind, how.get("neutral", False))
    if limit is not None and limit < len(items):
        items = {item.id: item for item in stratified(items.values(), limit, lambda one: (one.domain, one.cluster))}
    else:
        limit = None
    return Choices(data=data, items=items, templates=templates, limit=limit, **how)


def ledger(model: ChatModel, folder: Path | None, price: Price | None, limit: float | None = None) -> Ledger:
    """Returns the store of a folder; all runs in the folder together may cost `limit` dollars."""
    how: dict[str, Any] = {"price": lambda name: price, "most_written": _most_written(model), "limit": limit}
    return Ledger(folder and folder / RECEIVED, model.hide, server=model.server, **how)


def plan(model: ChatModel, choices: Choices, *, out: Path | None = None, price: Price | None = None) -> Plan:
    """Returns what remains to send, and its cost; sends and writes nothing."""
    rest = {model.key(request): request.prompt for request in choices.requests}
    tokens = seconds = None
    waiting: set[str] = set()
    if out and (out / RECEIVED).exists():
        with ledger(model, out, price) as store:
            stored, output, waiting = len(store.replies), store.tokens.completion, store.pending & rest.keys()
            rest = {key: prompt for key, prompt in rest.items() if key not in store.replies and key not in waiting}
        tokens = output / stored if stored and output else None
    if out and (out / PACE).exists():
        pace = json_files.read(out / PACE, "the pace of a run")
        seconds = float(pace["seconds"]) / max(1, int(pace["requests"]))
    coming = [Coming("", prompt, tokens) for prompt in rest.values()]
    how: dict[str, Any] = {"batch": model.asking.batch, "under_way": len(waiting)}
    return plans.plan(coming, lambda model: price, _most_written(model), seconds=seconds, **how)


def _most_written(model: ChatModel) -> int:
    """Returns the most tokens of a reply."""
    return model.asking.answer_tokens + model.asking.reasoning_tokens


def ask(
    model: ChatModel,
    choices: Choices,
    *,
    out: Path | None = None,
    price: Price | None = None,
    max_cost: float | None = None,
    before: float = 0.0,
    resamples: int = RESAMPLES,
    seed: int = 0,
    progress: Progress = SILENT,
) -> ChoiceReport:
    """Asks a model and returns the report; with `out`, every reply is on disk before it is used, and paid for once.

    Raises ValueError if the next request could bring the cost of the folder over `max_cost`, of which `before` is spent
    elsewhere; received replies stay stored.
    """
    if max_cost is not None and (price is None or out is None):
        raise ValueError(
            "--max-cost needs --out: a folder that keeps the replies you paid for"
            if price
            else f"the price of {model.label} is unknown, so --max-cost cannot be kept; write it into a price table "
            "and give that with --prices"
        )
    if model.asking.batch and out is None:
        raise ValueError("--batch needs --out: a folder in which a stopped run finds its batch again")
    wanted = choices.requests
    if out:
        _settle(out, identity(model, choices))
        keep(choices.data, out)
    with ledger(model, out, price, max_cost and max_cost - before) as store:
        stored = len(store.replies)
        timed = _timed(None if model.asking.batch else out, lambda: len(store.replies) - stored)
        with timed, progress.through(len(wanted)):
            by_key: dict[Any, Reply] = {}
            todo, answered = wanted, -1
            while todo and answered < len(store.replies):  # repeat: replies can cost less than was reserved for them
                answered = len(store.replies)
                for reply in model.replies(todo, store):
                    by_key[reply.key] = reply
                    progress.update(0 if reply.error.startswith(OVER_BUDGET) else 1)
                    progress.note(f"{store.spent_in_dollars} so far" if store.spent else "")
                todo = [request for request in todo if by_key[request.key].error.startswith(OVER_BUDGET)]
        warnings = [*store.parameters.sentences(), *_other_models(model, store), *_unlike_labels(by_key.values())]
    if todo:
        name = str(model.identity().get("served", ""))
        spent = f"{'at most ' if store.uncounted else ''}{in_dollars(before + store.spent)}"
        least = before + store.spent + min(store.most(request.prompt, name) for request in todo)
        raise ValueError(
            f"stopped at --max-cost {in_dollars(max_cost or 0)}: {len(todo):,} of {len(wanted):,} requests are left, "
            f"and {spent} is spent; try again with --max-cost {in_dollars(least, up=True)[1:]} or more"
        )
    if out:
        for file in (REPLIES, measured.RUN):  # written again from received replies: a failed request may have succeeded
            (out / file).unlink(missing_ok=True)
    replies = [by_key[request.key] for request in wanted]
    precision = {name: value for name, value in model.identity().items() if name == "dtype"}
    wordings = {template.name: template.label for template in choices.templates}
    how = {**_budgets(model.asking), **precision, "wordings": wordings}
    if all(reply.error for reply in replies):
        raise ServerRefuses(
            f"{model.label} answered no request (the last: {replies[-1].error}), so there is nothing to measure"
        )
    return measured.measure(
        replies, dict(choices.items), choices.data, model.label, out=out, resamples=resamples, seed=seed,
        how=how, subset=choices.subset, told=warnings, cost=store.costs(priced=price is not None),
    )  # fmt: skip


def _other_models(model: ChatModel, store: Ledger) -> Iterator[str]:
    """Yields a warning if the server's replies name another model than was asked."""
    name = model.identity().get("served")
    names = {str(reply["model"]) for reply in store.replies.values() if reply.get("model")} - {name}
    if name and names:
        yield f"the server was asked for {name} and names {' and '.join(sorted(names))} in its replies"


def _unlike_labels(replies: Iterable[Reply]) -> Iterator[str]:
    """Yields a warning if answers seldom begin with a label, so that label probabilities say little about the model."""
    masses = [total(reply.probabilities) for reply in replies if reply.probabilities]
    if masses and (mean := sum(masses) / len(masses)) < FEW:
        yield (
            f"the labels have only {in_percent(mean)} of the probability where an answer begins: the model would say "
            "something else; compare with --samples 1"
        )


def _budgets(asking: Asking) -> dict[str, Any]:
    """Returns the options of asking that replies depend on."""
    names = ("temperature", "sampled", "answer_tokens", "reasoning_tokens")
    return {name: getattr(asking, name) for name in names}


def identity(model: ChatModel, choices: Choices) -> dict[str, Any]:
    """Returns who is asked and how, which must not change in a run's folder."""
    return {**model.identity(), **_budgets(model.asking), **choices.identity()}


def _settle(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Writes who is asked and how; refuses a folder with replies of another model or to other questions."""
    place, received = folder / ASKED, folder / RECEIVED
    if place.exists() and received.exists() and received.stat().st_size:
        refuse_difference(folder, "set of choices", json_files.read(place, "who was asked"), manifest)
    folder.mkdir(parents=True, exist_ok=True)
    json_files.write(dict(manifest), place)


@contextmanager
def _timed(folder: Path | None, count: Any) -> Iterator[None]:
    """Writes how long the work took and how many requests it answered, also if it was interrupted."""
    begun = monotonic()
    try:
        yield
    finally:
        if folder and (done := count()):
            json_files.write({"requests": done, "seconds": round(monotonic() - begun, 3)}, folder / PACE)
