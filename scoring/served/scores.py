"""Records to scores by a served model: whole texts, and what follows a beginning, as causal models are scored here."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from catsofa.data.records import Cat, Pair, Probe, Score
from catsofa.scoring.items.pairs import SIDES, text_of
from catsofa.scoring.items.probes import TASK as PROBE
from catsofa.scoring.models.tokens import Unscorable
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.served import Capability
from catsofa.scoring.served.replies import Reading

Values = NDArray[np.float64]
Record = Cat | Pair | Probe
Read = Mapping[str, Reading | str]


class LogProbabilities(Interface):
    """A model that is asked for the log-probabilities of texts, on a server or in vLLM."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def label(self) -> str:
        """What a signature calls it."""

    @property
    def capability(self) -> Capability:
        """What it was found to give."""

    def read(self, texts: Iterable[str]) -> Read:
        """Each distinct text's tokens and log-probabilities, or the reason why there are none."""


def score(model: LogProbabilities, records: Sequence[Record], protocol: Protocol) -> list[Score]:
    """The scores of records, keyed as those of a model that runs here; each distinct text is asked for once."""
    refuse(model.capability, protocol, model.name)
    how = _Reduced(protocol, model.capability)
    read = model.read(text for record in records for text in how.texts(record))
    return [found for record in records for found in how.scores(record, read)]


def refuse(capability: Capability, protocol: Protocol, name: str) -> None:
    """A ValueError for a protocol that this server cannot follow."""
    if protocol.first_token == "bos" and not capability.leading:
        raise ValueError(
            f"the server of {name} gives a text's first token no probability; name the model's start token with "
            "--start, or choose a protocol that leaves the first token out"
        )
    if protocol.first_token == "skip" and capability.leading:
        raise ValueError(
            f"{protocol.name} scores texts without a start token, and the server of {name} puts one before each"
        )
    if protocol.first_token == "uncond":
        raise ValueError(f"{protocol.name} scores a first token in a pass of its own, which no server offers")
    if protocol.crows in ("aul", "aula"):
        raise ValueError(f"{protocol.crows} is defined for masked models, and {name} reads from left to right")


class _Reduced:
    """Which texts a record needs, and what becomes of their log-probabilities."""

    def __init__(self, protocol: Protocol, capability: Capability) -> None:
        self._protocol, self._capability = protocol, capability

    def texts(self, record: Record) -> list[str]:
        """The texts that a record's scores are made from."""
        if isinstance(record, Pair):
            return [record.more, record.less]
        if isinstance(record, Probe):
            return [record.text, record.identity, record.text[: len(record.identity)]]
        texts = [candidate.text for candidate in record.candidates]
        if record.kind == "intrasentence":
            return texts
        if self._protocol.causal_pair != "pmi" or self._capability.space is None:
            return []
        return [record.context, *(f"{record.context} {text}" for text in texts), *map(self._alone, texts)]

    def scores(self, record: Record, read: Read) -> Iterator[Score]:
        """The scores of a record, each a number or the reason why there is none."""
        if isinstance(record, Pair):
            for side in SIDES:
                yield _score(record.id, side, partial(self._whole, read, text_of(record, side)))
        elif isinstance(record, Probe):
            yield self._probe(record, read)
        else:
            for candidate in record.candidates:
                make = partial(self._whole, read, candidate.text)
                if record.kind == "intersentence":
                    make = partial(self._information, read, record.context, candidate.text)
                yield _score(candidate.id, record.kind, make)

    def _whole(self, read: Read, text: str) -> tuple[float, int]:
        """The mean or the sum over a text, and its tokens."""
        values = self._values(read, text)
        return self._over_length(values), len(values)

    def _information(self, read: Read, context: str, text: str) -> tuple[float, int]:
        """log p(sentence | context) - log p(sentence), over the same tokens."""
        if self._protocol.causal_pair != "pmi":
            raise Unscorable("a served model gives what follows a context by pointwise mutual information alone")
        if self._capability.space is None:
            raise Unscorable("the server cuts a sentence after a context into other tokens than the sentence alone")
        joined, alone = f"{context} {text}", self._alone(text)
        after, by_itself = self._after(read, context, joined), self._values(read, alone)
        if len(after) != len(by_itself):
            raise Unscorable("the sentence has other tokens after its context than alone")
        return self._over_length(after) - self._over_length(by_itself), len(after)

    def _probe(self, probe: Probe, read: Read) -> Score:
        """The mean over a probe; beside it those of its identity alone and of what follows the identity."""
        beginning = probe.text[: len(probe.identity)]
        begins = beginning.casefold() == probe.identity.casefold()
        identity = _mean_or_none(partial(self._values, read, probe.identity))
        conditional = _mean_or_none(partial(self._after, read, beginning, probe.text)) if begins else None
        found = _score(probe.id, PROBE, partial(self._mean, read, probe.text))
        return replace(found, extra={"identity": identity, "conditional": conditional})

    def _mean(self, read: Read, text: str) -> tuple[float, int]:
        """The mean over a text, whatever the protocol makes of lengths, since PPL is made of it."""
        values = self._values(read, text)
        return float(values.mean()), len(values)

    def _values(self, read: Read, text: str) -> Values:
        """The log-probabilities of a text's tokens."""
        found = read[text]
        if isinstance(found, str):
            raise Unscorable(found)
        values = found.values[1:] if self._protocol.first_token == "skip" else found.values
        if not values or None in values:
            raise Unscorable("no token of the text has a log-probability")
        return np.array(values, dtype=np.float64)

    def _after(self, read: Read, beginning: str, text: str) -> Values:
        """The log-probabilities of the tokens after a beginning, which must be cut as it is alone."""
        values, first, whole = self._values(read, text), read[beginning], read[text]
        if isinstance(first, str) or isinstance(whole, str):
            raise Unscorable(first if isinstance(first, str) else str(whole))
        count = len(first.tokens)
        if whole.tokens[:count] != first.tokens or len(whole.tokens) == count:
            raise Unscorable("a token lies across the end of the beginning")
        return values[count - (self._protocol.first_token == "skip") :]

    def _over_length(self, values: Values) -> float:
        """The mean or the sum, as the protocol has it."""
        return float(values.mean() if self._protocol.length == "mean" else values.sum())

    def _alone(self, text: str) -> str:
        """A sentence as it is asked without its context."""
        return f" {text}" if self._capability.space else text


def _score(item: str, task: str, make: Callable[[], tuple[float, int]]) -> Score:
    """The score that is made, or the reason why it cannot be."""
    try:
        value, tokens = make()
    except Unscorable as reason:
        return Score(item=item, task=task, score=None, reason=str(reason))
    return Score(item=item, task=task, score=value, tokens=tokens)


def _mean_or_none(make: Callable[[], Values]) -> float | None:
    """The mean of what is made, or None where it cannot be."""
    try:
        return float(make().mean())
    except Unscorable:
        return None
