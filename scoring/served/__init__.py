"""A model behind a completions endpoint; probed before use, and refused with the reason if it cannot score prompts."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, get_args

from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.prompt_lists import MOST, UNDER_WAY, Lists, split
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.data.servers.requests import Request, ask, completion, fetch
from catsofa.scoring.extras import NO_REPLY
from catsofa.scoring.items.texts import Answer, Query
from catsofa.scoring.served.replies import Dialect, Reading, Unreadable, body, constant, read

PLAIN = "The cat sat on the mat. It purred."
SCRAMBLED = "mat the on sat cat The purred. It."
CONTEXT, AFTER = "The cat sat on the mat.", "It purred."
"""Texts that probe a server."""
DRIFT = 0.1
"""Nats per token by which two answers to one question may differ; half precision differs by some hundredths."""


def endpoint_from_environment(
    base_url: str | None = None, key_name: str = "OPENAI_API_KEY", **patience: Any
) -> Endpoint:
    """Returns the endpoint with this address or that of OPENAI_BASE_URL; `key_name` names the variable with the key."""
    return Endpoint(base_url=base_url or os.environ.get("OPENAI_BASE_URL") or None, key_name=key_name, **patience)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """What a server supports, as a probe found it."""

    dialect: Dialect
    leading: int
    """Tokens that the server puts before a text; without any, the text's first token has no score."""
    space: bool | None
    """True if a sentence has its in-context tokens with a space before it, False if without; None if neither."""
    drift: float
    """Largest difference between two answers to one question, in nats per token."""
    lists: bool = False
    """True if the server takes a list of prompts, and answers each as if it came alone."""


class Readable(ABC):
    """A model that reads whole texts: their tokens, each with its log-probability."""

    __slots__ = ()
    capability: Capability

    @abstractmethod
    def read(self, texts: Iterable[str]) -> dict[str, Reading | str]:
        """Returns each distinct text's tokens and log-probabilities, or the reason for an error."""

    @property
    def starts(self) -> bool:
        """True if a text's first token is conditioned on a start token."""
        return bool(self.capability.leading)

    @property
    def space(self) -> bool | None:
        """True if a sentence has its in-context tokens with a space before it, False if without; None if neither."""
        return self.capability.space

    def loglikelihood(self, queries: Sequence[Query]) -> list[Answer]:
        """Returns the log-probabilities of each query's tokens, or the reason for an error."""
        return answers(self.read, queries)


@dataclass(frozen=True)
class _Asked(Request):
    """The request about one text."""

    text: str


def _in_a_list(request: _Asked) -> bool:
    """Returns True for a text that its tokens identify; some servers hide the space before a text."""
    return request.text.isascii() and not request.text.startswith(" ")


@dataclass(frozen=True, slots=True, eq=False)
class ServedModel(Readable):
    """A model by its name on the server, and how the server answers; `start` is written before every text."""

    name: str
    endpoint: Endpoint
    capability: Capability
    replies: ReplyStore
    start: str = ""
    lists: Lists = field(init=False)
    """The texts that are sent together, until the server refuses a list."""

    def __post_init__(self) -> None:
        """Send no lists to a server that takes none."""
        object.__setattr__(self, "lists", Lists(_in_a_list, self._fits))
        self.lists.most = MOST if self.capability.lists else 1

    def read(self, texts: Iterable[str]) -> dict[str, Reading | str]:
        """Returns each distinct text's tokens and log-probabilities, or the reason for an error."""
        start, dialect = self.start, self.capability.dialect
        wanted = [_Asked("completions", body(self.name, start + text, dialect), text) for text in dict.fromkeys(texts)]
        readings: dict[str, Reading | str] = {}
        for answer in fetch(wanted, self.endpoint, self.replies, completion, lists=self.lists):
            text = answer.request.text
            readings[text] = (
                self._reading(text, answer.reply) if answer.reply is not None else f"{NO_REPLY}: {answer.failure}"
            )
        return readings

    def _reading(self, text: str, reply: Mapping[str, Any]) -> Reading | str:
        """Parses a reply about a text; returns the reason if it cannot be read."""
        try:
            reading = read(reply, self.capability.dialect).without(self.capability.leading)
        except Unreadable as reason:
            return str(reason)
        # a token can hold part of a letter outside ASCII, which cannot be compared with the text
        if text.isascii() and not reading.spells(text):
            return "the tokens of the reply are not those of the text"
        return reading

    def _fits(self, request: _Asked, reply: Mapping[str, Any]) -> bool:
        """Returns True if the tokens of a reply are surely those of the text of its request."""
        reading = self._reading(request.text, reply)
        return not isinstance(reading, str) and reading.shows(request.text)

    @property
    def label(self) -> str:
        """Name in a signature."""
        return f"{self.name} at {self.identity()['at']}"

    def identity(self) -> dict[str, Any]:
        """Returns everything that a result of this model depends on; a server can change its weights without notice."""
        options = {"dialect": self.capability.dialect, "leading": self.capability.leading, "start": self.start}
        return {"served": self.name, "at": self.endpoint.base_url or "the default address", **options}


def answers(reader: Callable[[Iterable[str]], Mapping[str, Reading | str]], queries: Sequence[Query]) -> list[Answer]:
    """Answers queries with a model that reads whole texts; no token may cross the end of a context."""
    contexts = [context for context, _ in queries if context]
    readings = reader([*(context + text for context, text in queries), *contexts])
    return [_answer_to(query, readings) for query in queries]


def _answer_to(query: Query, readings: Mapping[str, Reading | str]) -> Answer:
    """Returns the log-probabilities of the tokens after a query's context, or the reason for an error."""
    context, text = query
    whole = readings[context + text]
    first = readings[context] if context else Reading((), ())
    if isinstance(whole, str) or isinstance(first, str):
        return whole if isinstance(whole, str) else str(first)
    count = len(first.tokens)
    if context and (whole.tokens[:count] != first.tokens or len(whole.tokens) == count):
        return "a token crosses the end of the beginning"
    return whole.values[count:]


def connect(name: str, endpoint: Endpoint, *, start: str = "", replies: ReplyStore | None = None) -> ServedModel:
    """Probes a server and returns its model; raises ValueError with the reasons if it cannot score prompts."""
    return ServedModel(name, endpoint, probe(name, endpoint, start), replies or ReplyStore(), start)


def probe(name: str, endpoint: Endpoint, start: str = "") -> Capability:
    """Probes a server with a few short questions per dialect; returns what the first suitable dialect supports."""
    reasons: dict[str, str] = {}
    for dialect in get_args(Dialect):
        try:
            return _probed(name, endpoint, dialect, start)
        except Unreadable as reason:
            reasons.setdefault(str(reason), dialect)
    details = "; ".join(f"asked by {dialect}, {reason}" for reason, dialect in reasons.items())
    raise ValueError(f"{name} at {endpoint.base_url or 'its server'} cannot be scored by log-probabilities: {details}")


def _answer(name: str, endpoint: Endpoint, dialect: Dialect, start: str, text: str) -> Reading:
    """Asks a server about a text and returns its reading."""
    got = ask(Request("completions", body(name, start + text, dialect)), endpoint)
    if got.reply is None:
        raise Unreadable(got.failure)
    return read(got.reply, dialect)


def _probed(name: str, endpoint: Endpoint, dialect: Dialect, start: str) -> Capability:
    """Probes a server in one dialect, with texts alone and then in a list."""
    alone: dict[str, Reading] = {}

    def answer(text: str) -> Reading:
        alone[text] = _answer(name, endpoint, dialect, start, text)
        return alone[text]

    found = tried(answer, dialect, start)
    if endpoint.concurrency < 2 * UNDER_WAY:
        return found
    whole = body(name, [start + text for text in alone], dialect)
    try:
        asked = ask(Request("completions", whole), replace(endpoint, attempts=1))
        readings = [read(reply, dialect) for reply in split(asked.reply, len(alone))]
    except ValueError:
        return found
    drift = max(map(_apart, alone.values(), readings))
    # without a name for each token, no reply of a list would be used
    if drift > DRIFT or not readings[0].without(found.leading).shows(PLAIN):
        return found
    return replace(found, lists=True, drift=max(found.drift, drift))


def _apart(one: Reading, other: Reading) -> float:
    """Returns the largest difference of two readings in nats per token; infinite if their tokens differ."""
    numbers = [value is None for value in one.values] == [value is None for value in other.values]
    if one.tokens != other.tokens or not numbers:
        return inf
    pairs = zip(one.values, other.values, strict=True)
    return max((abs(a - b) for a, b in pairs if a is not None and b is not None), default=0.0)


def tried(answer: Callable[[str], Reading], dialect: Dialect, start: str) -> Capability:
    """Probes a model in one dialect; returns what it supports, or raises Unreadable with the reason."""
    first, scrambled, again = answer(PLAIN), answer(SCRAMBLED), answer(PLAIN)
    leading = _leading(first, start)
    if constant([first, scrambled]):
        raise Unreadable("every log-probability is the same number")
    if _apart_from_context(first, scrambled):
        raise Unreadable("a token's log-probability does not depend on the tokens before it")
    drift = _apart(first, again)
    if drift > DRIFT:
        raise Unreadable(f"two answers to one question differ by {drift:.2f} nats in a token")
    rest = first.without(leading).tokens[len(answer(CONTEXT).without(leading).tokens) :]
    space = next(
        (lead for lead in (True, False) if _same(answer(" " * lead + AFTER).without(leading), rest, lead)), None
    )
    return Capability(dialect=dialect, leading=leading, space=space, drift=drift)


def _leading(reading: Reading, start: str) -> int:
    """Returns the number of tokens before the text (0 to 2): the server's own start token and the requested one.

    Raises Unreadable if the tokens do not spell the text, or if the requested start token is several tokens.
    """
    for leading in (2, 1, 0):
        if reading.without(leading).spells(PLAIN) and (leading or not start):
            return leading
    if reading.spells(start + PLAIN):
        raise Unreadable(f"{start!r} is several tokens for this model, so it is no start token")
    raise Unreadable(f"the tokens are not those of the prompt but {''.join(reading.tokens)[:60]!r}")


def _apart_from_context(one: Reading, other: Reading) -> bool:
    """Returns True if every token that two texts share has the same log-probability in both."""
    values = dict(zip(one.tokens, one.values, strict=True))
    shared = [(values[t], v) for t, v in zip(other.tokens, other.values, strict=True) if t in values]
    pairs = [(a, b) for a, b in shared if a is not None and b is not None]
    return bool(pairs) and all(a == b for a, b in pairs)


def _same(reading: Reading, rest: tuple[str, ...], exact: bool) -> bool:
    """Returns True if a sentence alone has its in-context tokens; servers may hide the space of a first token."""
    if exact:
        return reading.tokens == rest
    return (
        len(reading.tokens) == len(rest)
        and reading.tokens[1:] == rest[1:]
        and reading.tokens[0].strip() == rest[0].strip()
    )
