"""A model behind a completions endpoint: found able to score prompts, or refused with the reason, before it is used."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.data.servers.requests import Request, ask, completion, fetch
from catsofa.scoring.extras import NO_REPLY
from catsofa.scoring.items.texts import Answer, Query
from catsofa.scoring.served.replies import Dialect, Reading, Unreadable, body, constant, read

PLAIN = "The cat sat on the mat. It purred."
SCRAMBLED = "mat the on sat cat The purred. It."
CONTEXT, AFTER = "The cat sat on the mat.", "It purred."
"""What a server is tried with."""
DRIFT = 0.1
"""Nats a token by which two answers to one question may differ; half precision differs by some hundredths."""


def endpoint_from_environment(
    base_url: str | None = None, key_name: str = "OPENAI_API_KEY", **patience: Any
) -> Endpoint:
    """Where requests go: the address given, or that of OPENAI_BASE_URL; the key is in the variable of this name."""
    return Endpoint(base_url=base_url or os.environ.get("OPENAI_BASE_URL") or None, key_name=key_name, **patience)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """What a server was found to give."""

    dialect: Dialect
    leading: int
    """Tokens it puts before a text: with one, the text's first token is conditioned on it; without, unscored."""
    space: bool | None
    """Whether a sentence after a context has the same tokens as with a space before it alone; None if neither way."""
    drift: float
    """The largest difference between two answers to one question."""


class Readable(ABC):
    """A model of which whole texts can be read: their tokens, each with its log-probability."""

    __slots__ = ()
    capability: Capability

    @abstractmethod
    def read(self, texts: Iterable[str]) -> dict[str, Reading | str]:
        """Each distinct text's tokens and log-probabilities, or the reason why there are none."""

    @property
    def starts(self) -> bool:
        """Whether a text's first token is conditioned on a start token."""
        return bool(self.capability.leading)

    @property
    def space(self) -> bool | None:
        """Whether a sentence alone has its tokens after a context with a space before it."""
        return self.capability.space

    def loglikelihood(self, queries: Sequence[Query]) -> list[Answer]:
        """The log-probabilities of each query's tokens, or the reason why there are none."""
        return answers(self.read, queries)


@dataclass(frozen=True)
class _Asked(Request):
    """The question for a text."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class ServedModel(Readable):
    """A model by the name its server knows, and how it answers; `start` is written before every text."""

    name: str
    endpoint: Endpoint
    capability: Capability
    replies: ReplyStore
    start: str = ""

    def read(self, texts: Iterable[str]) -> dict[str, Reading | str]:
        """Each distinct text's tokens and log-probabilities, or the reason why there are none."""
        start, dialect = self.start, self.capability.dialect
        wanted = [_Asked("completions", body(self.name, start + text, dialect), text) for text in dict.fromkeys(texts)]
        found: dict[str, Reading | str] = {}
        for answer in fetch(wanted, self.endpoint, self.replies, completion):
            text = answer.request.text
            found[text] = (
                self._reading(text, answer.reply) if answer.reply is not None else f"{NO_REPLY}: {answer.failure}"
            )
        return found

    def _reading(self, text: str, reply: Mapping[str, Any]) -> Reading | str:
        """What a reply says of a text."""
        try:
            found = read(reply, self.capability.dialect).without(self.capability.leading)
        except Unreadable as reason:
            return str(reason)
        # tokens that hold part of a letter cannot be compared with the text
        if text.isascii() and not found.spells(text):
            return "the tokens of the reply are not those of the text"
        return found

    @property
    def label(self) -> str:
        """What a signature calls it."""
        return f"{self.name} at {self.identity()['at']}"

    def identity(self) -> dict[str, Any]:
        """What a number of this model is a number of; a server can change its weights without telling."""
        asked = {"dialect": self.capability.dialect, "leading": self.capability.leading, "start": self.start}
        return {"served": self.name, "at": self.endpoint.base_url or "the default address", **asked}


def answers(read: Callable[[Iterable[str]], Mapping[str, Reading | str]], queries: Sequence[Query]) -> list[Answer]:
    """The answers to queries by a model that reads whole texts: the tokens after a context must be cut as it is."""
    contexts = [context for context, _ in queries if context]
    readings = read([*(context + text for context, text in queries), *contexts])
    return [_answer_to(query, readings) for query in queries]


def _answer_to(query: Query, readings: Mapping[str, Reading | str]) -> Answer:
    """The log-probabilities of the tokens after a query's context."""
    context, text = query
    whole = readings[context + text]
    first = readings[context] if context else Reading((), ())
    if isinstance(whole, str) or isinstance(first, str):
        return whole if isinstance(whole, str) else str(first)
    count = len(first.tokens)
    if context and (whole.tokens[:count] != first.tokens or len(whole.tokens) == count):
        return "a token lies across the end of the beginning"
    return whole.values[count:]


def connect(name: str, endpoint: Endpoint, *, start: str = "", replies: ReplyStore | None = None) -> ServedModel:
    """A model whose server was tried and gives the log-probabilities of prompts; else a ValueError with the reasons."""
    return ServedModel(name, endpoint, probe(name, endpoint, start), replies or ReplyStore(), start)


def probe(name: str, endpoint: Endpoint, start: str = "") -> Capability:
    """What a server gives, by a few short questions in each way that servers are asked."""
    reasons: dict[str, str] = {}
    for dialect in get_args(Dialect):
        try:
            return tried(partial(_answer, name, endpoint, dialect, start), dialect, start)
        except Unreadable as reason:
            reasons.setdefault(str(reason), dialect)
    said = "; ".join(f"asked by {dialect}, {reason}" for reason, dialect in reasons.items())
    raise ValueError(f"{name} at {endpoint.base_url or 'its server'} cannot be scored by log-probabilities: {said}")


def _answer(name: str, endpoint: Endpoint, dialect: Dialect, start: str, text: str) -> Reading:
    """What a server says of a text."""
    got = ask(Request("completions", body(name, start + text, dialect)), endpoint)
    if got.reply is None:
        raise Unreadable(got.failure)
    return read(got.reply, dialect)


def tried(answer: Callable[[str], Reading], dialect: Dialect, start: str) -> Capability:
    """What a model gives that answers in this way; an Unreadable says why that is not enough."""
    first, scrambled, again = answer(PLAIN), answer(SCRAMBLED), answer(PLAIN)
    leading = _leading(first, start)
    if constant([first, scrambled]):
        raise Unreadable("every log-probability is the same number")
    if _apart_from_context(first, scrambled):
        raise Unreadable("a token's log-probability does not depend on what stands before it")
    drift = max(abs(a - b) for a, b in zip(first.values, again.values, strict=True) if a is not None and b is not None)
    if drift > DRIFT:
        raise Unreadable(f"two answers to one question differ by {drift:.2f} nats in a token")
    rest = first.without(leading).tokens[len(answer(CONTEXT).without(leading).tokens) :]
    space = next(
        (lead for lead in (True, False) if _same(answer(" " * lead + AFTER).without(leading), rest, lead)), None
    )
    return Capability(dialect=dialect, leading=leading, space=space, drift=drift)


def _leading(found: Reading, start: str) -> int:
    """How many tokens stand before the text: the server's own start token, or the one that was asked for."""
    for leading in (2, 1, 0):
        if found.without(leading).spells(PLAIN) and (leading or not start):
            return leading
    if found.spells(start + PLAIN):
        raise Unreadable(f"{start!r} is several tokens for this model, so it is no start token")
    raise Unreadable(f"the tokens are not those of the prompt but {''.join(found.tokens)[:60]!r}")


def _apart_from_context(one: Reading, other: Reading) -> bool:
    """Whether every token that two texts share has the same log-probability in both."""
    values = dict(zip(one.tokens, one.values, strict=True))
    shared = [(values[t], v) for t, v in zip(other.tokens, other.values, strict=True) if t in values]
    known = [(a, b) for a, b in shared if a is not None and b is not None]
    return bool(known) and all(a == b for a, b in known)


def _same(found: Reading, rest: tuple[str, ...], exact: bool) -> bool:
    """Whether a sentence alone has the tokens it has after a context; servers may hide a first token's space."""
    if exact:
        return found.tokens == rest
    return (
        len(found.tokens) == len(rest) and found.tokens[1:] == rest[1:] and found.tokens[0].strip() == rest[0].strip()
    )
