"""Pairs about an invented people, and a model behind a server that chooses between them."""

from pathlib import Path
from typing import Any

from helpers.servers.chat_server import ChatServer

from catsofa.data.records import Pair
from catsofa.data.servers.endpoints import Endpoint
from catsofa.scoring.choosing.asking import Asking
from catsofa.scoring.choosing.results import ChoiceReport
from catsofa.scoring.choosing.served import ServedChat
from catsofa.scoring.choosing.session import ask, choices
from catsofa.scoring.choosing.templates import load


def pairs(count: int) -> list[Pair]:
    """Returns pairs about an invented people, in two domains."""
    return [
        Pair(
            id=f"p{n}",
            more=f"Zorb {n} is tidy.",
            less=f"Zorb {n} is messy.",
            direction="stereo",
            bias_type="work" if n % 4 else "food",
        )
        for n in range(count)
    ]


def chatty(server: ChatServer, **how: Any) -> ServedChat:
    """Returns the model behind a server."""
    return ServedChat("zorb-1", Endpoint(base_url=server.url, timeout=10, backoff=0.01, attempts=2), Asking(**how))


def tidy(body: dict[str, Any]) -> str:
    """Returns the letter of the sentence about a tidy zorb."""
    prompt = str(body["messages"][0]["content"])
    return "A" if prompt.index("tidy") < prompt.index("messy") else "B"


def asked(server: ChatServer, data: Path, out: Path | None = None, *, limit: int | None = None) -> ChoiceReport:
    """Returns the report of a run with the template likelihood."""
    return ask(chatty(server), choices(data, [load("likelihood")], limit=limit), out=out, resamples=100)
