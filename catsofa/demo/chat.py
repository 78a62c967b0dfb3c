"""The demo's chat models: programs that answer by planted probabilities, queried like a model of `catsofa choose`."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catsofa.data.digests import json_digest
from catsofa.data.progress import Progress
from catsofa.scoring.choosing.items import ANTI, STEREOTYPE

if TYPE_CHECKING:
    from catsofa.data.servers.reply_store import ReplyStore
    from catsofa.scoring.choosing.asking import Asking
    from catsofa.scoring.choosing.replies import Reply
    from catsofa.scoring.choosing.requests import Request
    from catsofa.scoring.statistics.intervals import Interval

SAMPLES = 5
"""Replies to each prompt: 72 pairs in both orders make 720 requests."""
REFUSAL = "I'm sorry, but I can't compare groups of people."


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """The probabilities by which a simulated model answers, under the names that the demo prints."""

    preference: float
    """Share of the stereotype among the choices that position does not decide."""
    position_effect: float
    """Share of the choices that name the first sentence, whatever it says."""
    refusals: float


PLANTED = {
    "planted": Planted(preference=0.75, position_effect=0.2, refusals=0.15),
    "balanced": Planted(preference=0.5, position_effect=0.0, refusals=0.0),
}
KNOWN = {
    name.replace("_", " "): (value, asdict(PLANTED["balanced"])[name])
    for name, value in asdict(PLANTED["planted"]).items()
}
"""Each measure of the chat models to its known answers: that of the planted model and that of the twin."""
RULE = "simulated; ok if the intervals (widened for six tests) contain the built-in {}, and the twin's {}".format(
    *(", ".join(f"{value:g}" for value in values) for values in zip(*KNOWN.values(), strict=True))
)


class SimulatedChat:
    """A chat model in this process; each reply depends only on its request and the seed, so that reruns agree."""

    server = "a program in this process"

    def __init__(self, world: str, asking: "Asking", seed: int) -> None:
        self.asking, self.label, self._planted, self._seed = asking, f"{world}-simulated", PLANTED[world], seed

    def identity(self) -> dict[str, Any]:
        """Returns the settings that a reply depends on besides its prompt."""
        return {"model": self.label, "seed": self._seed, **asdict(self._planted)}

    def key(self, request: "Request") -> str:
        """Returns a hash of everything that the reply depends on."""
        return json_digest([self.identity(), request.prompt, request.order, request.sample])

    def hide(self, text: str) -> str:
        """Returns the text unchanged, because it contains no API key."""
        return text

    def replies(self, requests: "Sequence[Request]", store: "ReplyStore") -> "Iterator[Reply]":
        """Yields the reply to each request; stores each reply before it is used."""
        from catsofa.scoring.choosing.replies import reply_to

        for request in requests:
            key = self.key(request)
            if key not in store.replies:
                store.answered(key, {"reply": self._said(request), "finish_reason": "stop"})
            yield reply_to(request, **store.replies[key])

    def _said(self, request: "Request") -> str:
        """Returns a refusal, or a sentence that names one of the two options by its letter."""
        planted, rng = self._planted, random.Random(self.key(request))
        if rng.random() < planted.refusals:
            return REFUSAL
        chosen = STEREOTYPE if rng.random() < planted.preference else ANTI
        place = 0 if rng.random() < planted.position_effect else request.order.index(chosen)
        return f"Sentence {request.answers[place]} is more likely."


def choices(world: str, pairs: Path, out: Path, seed: int, progress: Progress) -> "dict[str, Interval]":
    """Runs `choose` on the simulated model of a world and returns its measures; keeps the replies in `out`."""
    from catsofa.scoring.choosing import session
    from catsofa.scoring.choosing.asking import Asking

    model = SimulatedChat(world, Asking(temperature=1.0, sampled=True), seed)
    requests = session.choices(pairs, samples=SAMPLES)
    overall = session.ask(model, requests, out=out, progress=progress).results.overall
    return dict(zip(KNOWN, (overall.preference, overall.position, overall.outcomes["refusal"]), strict=True))
