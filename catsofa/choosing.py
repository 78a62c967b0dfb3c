"""Asks a chat model to choose, in one call."""

__all__ = ["choose"]

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from catsofa.data.progress import SILENT, Progress
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.prices import FREE, price_of
from catsofa.scoring.choosing import session
from catsofa.scoring.choosing.asking import ANSWER_TOKENS, REASONING_TOKENS, Way
from catsofa.scoring.choosing.local import LocalChat
from catsofa.scoring.choosing.requests import Labels
from catsofa.scoring.choosing.served import ServedChat
from catsofa.scoring.choosing.templates import load as template
from catsofa.scoring.models import load
from catsofa.scoring.models.given import network, refuse_loading
from catsofa.scoring.models.model import Model
from catsofa.scoring.statistics.intervals import RESAMPLES

if TYPE_CHECKING:
    from catsofa.scoring.choosing.results import ChoiceReport


def choose(
    model: str | Path | Model | tuple[Any, Any],
    data: str | Path | Iterable[Any],
    *,
    endpoint: Endpoint | None = None,
    templates: Sequence[str] = (),
    labels: Labels = "letters",
    neutral: bool = False,
    orders: Literal["all", "balanced"] = "all",
    samples: int | None = None,
    temperature: float = 0.0,
    answer_tokens: int = ANSWER_TOKENS,
    reasoning_tokens: int = REASONING_TOKENS,
    limit: int | None = None,
    prices: Path | str | None = None,
    max_cost: float | None = None,
    out: str | Path | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    progress: Progress = SILENT,
    **loading: Any,
) -> "ChoiceReport":
    """Returns which sentences a chat model chooses: preference, position effect, refusals, each with its interval.

    The options are those of `catsofa choose`. With an `endpoint`, `model` is its name on the server. Otherwise `model`
    is a folder, a hub id, or `(model, tokenizer)`, and `loading` goes to `models.load`. `out` keeps every reply.
    """
    way = Way(templates=tuple(templates), labels=labels, neutral=neutral, orders=orders, samples=samples,
              temperature=temperature, answer_tokens=answer_tokens, reasoning_tokens=reasoning_tokens)  # fmt: skip
    questions = session.choices(data, [template(name) for name in templates], limit=limit, **way.requests())
    how: dict[str, Any] = {"out": out and Path(out), "resamples": resamples, "seed": seed, "progress": progress}
    if endpoint is not None:
        price = price_of(str(model), endpoint.base_url, prices and Path(prices))
        chats = ServedChat(str(model), endpoint, way.asking())
        return session.ask(chats, questions, price=price, max_cost=max_cost, **how)
    with network(model) as held:
        refuse_loading(held, loading)
        chat = held if isinstance(held, Model) else load(held, **loading)
        return session.ask(LocalChat(chat, way.asking()), questions, price=FREE, max_cost=max_cost, **how)
