"""SoFa probes to items: the mean log-probability of a probe, and the values for its normalisation, in one record.

PPL = exp(−score). The record also has `identity`, the mean log-probability of the identity as a separate text (PPL(i)),
and `conditional`, that of the probe's tokens after the identity; each is None if it does not exist.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from catsofa.data.formats.probe_columns import Probes
from catsofa.data.records import Probe, Score
from catsofa.scoring.extras import UNKNOWN_IDENTITY
from catsofa.scoring.items import Item, Reduce, Reduced, guarded, joined, mean, sentences
from catsofa.scoring.items.texts import Query, Texts, Values, scored
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Answer, Padded
from catsofa.scoring.measures.registry import Measure
from catsofa.scoring.measures.sofa.columns import TASK, ProbeColumns, columns, identity_end
from catsofa.scoring.models.tokens import Tokens, Unscorable
from catsofa.scoring.protocols import Protocol


class ProbeScores(Measure):
    """The queries of any measure of probes."""

    records = Probe
    streams = True
    compares = False
    of_perplexity = True

    def keys(self, record: Probe) -> list[tuple[str, str]]:
        """The probe by its id."""
        return [(record.id, TASK)]

    def ids_of(self, records: Sequence[Probe]) -> list[str]:
        """The ids of the probes, or the ids by which a measure of another package stores their scores."""
        return [*Probes.of(records).ids] if self._asks_as_we_do() else super().ids_of(records)

    def items(self, backend: Backend, records: Sequence[Probe], protocol: Protocol) -> list[Item | Score]:
        """An item for each probe."""
        return items(backend, records, protocol)

    def columns(
        self, backend: Backend, records: Sequence[Probe], protocol: Protocol
    ) -> tuple[ProbeColumns | None, Sequence[Probe]]:
        """The probes whose tokens can be joined, in columns, and the other probes.

        A measure of another package that asks in its own way has no columns.
        """
        return columns(backend, records, protocol) if self._asks_as_we_do() else (None, records)

    def _asks_as_we_do(self) -> bool:
        """Returns False for a measure of another package with its own questions or ids."""
        return all(getattr(type(self), name) is getattr(ProbeScores, name) for name in ("keys", "ids", "items"))

    def queries(self, record: Probe, texts: Texts) -> list[Query]:
        """The probe, its identity alone, and the rest of it after the identity."""
        return [("", record.text), ("", record.identity), *_after_identity(record)]

    def scores(self, record: Probe, texts: Texts) -> Iterator[Score]:
        """The mean over a probe, with the means of its identity alone and of the text after the identity."""
        means = [_mean_or_none(partial(texts.values, query)) for query in self.queries(record, texts)[1:]]
        identity, conditional = (*means, None)[:2]
        score = scored(record.id, TASK, partial(_mean, texts, record.text))
        yield replace(score, extra={"identity": identity, "conditional": conditional})


def items(backend: Backend, probes: Sequence[Probe], protocol: Protocol) -> list[Item | Score]:
    """Returns the queries of each probe, without any forward pass."""
    tokens_of = sentences.read(backend, (text for probe in probes for text in (probe.text, probe.identity)))
    if protocol.sofa.padding == "tokenizer" and backend.model.pads_left:
        ask: Callable[[Tokens], sentences.Asked] = _padded(backend, probes, tokens_of)
    else:
        ask = partial(sentences.asked, backend, protocol=protocol)

    identities, unknown = dict[str, sentences.Asked](), dict[str, int]()
    for identity in {probe.identity for probe in probes}:
        unknown[identity] = backend.reader.unknowns(tokens_of[identity])
        with suppress(Unscorable):
            identities[identity] = ask(tokens_of[identity])

    def item(probe: Probe) -> Item:
        whole, identity = ask(tokens_of[probe.text]), identities.get(probe.identity, ())
        reduce = _reduce(len(whole), _after(probe, tokens_of[probe.text]), unknown[probe.identity])
        unknowns = backend.reader.unknowns(tokens_of[probe.text])
        return Item(probe.id, TASK, (*whole, *identity), reduce, sentences.count(whole), unknowns)

    return [guarded(probe.id, TASK, partial(item, probe)) for probe in probes]


def _padded(
    backend: Backend, probes: Sequence[Probe], tokens_of: Mapping[str, Tokens]
) -> Callable[[Tokens], tuple[Padded]]:
    """Returns a function that queries a text like the `evaluate` metric with left padding; only for comparisons.

    The metric puts the start token before the padding. So it predicts the first token of a text from a pad, and the
    distance from the start depends on the longest text of the call. Here one call contains the probes of a category,
    and another call its identities.
    """
    longest: dict[tuple[str, str], int] = {}
    calls: dict[str, tuple[str, str]] = {}
    for probe in probes:
        for text, call in ((probe.text, (probe.category, "probes")), (probe.identity, (probe.category, "identities"))):
            calls[text] = call
            longest[call] = max(longest.get(call, 0), len(tokens_of[text].ids))
    reader = backend.reader
    tokenizer = backend.model.tokenizer
    pad = reader.start if tokenizer.pad_token_id is None else tokenizer.pad_token_id

    def ask(tokens: Tokens) -> tuple[Padded]:
        start, *ids = reader.started(tokens)
        pads = longest[calls[tokens.text]] - len(ids)
        return (Padded((start, *[pad] * pads, *ids), 1 + pads),)

    return ask


def _after(probe: Probe, tokens: Tokens) -> int:
    """The number of tokens after the identity of a probe; 0 if a token crosses the end of the identity."""
    end = identity_end(probe.text, probe.identity)
    try:
        return tokens.after(end) if end else 0
    except Unscorable:
        return 0


def _reduce(whole: int, after: int, unknown: int) -> Reduce:
    """Returns a function that computes the means over the probe, its identity alone, and the tokens after the identity.

    The result also has the number of unknown tokens in the identity, if any.
    """
    more = {UNKNOWN_IDENTITY: unknown} if unknown else {}

    def reduce(answers: Sequence[Answer]) -> Reduced:
        every = joined(answers[:whole])
        identity = mean(joined(answers[whole:])) if answers[whole:] else None
        conditional = mean(every[-after:]) if after else None
        return mean(every), {"identity": identity, "conditional": conditional, **more}

    return reduce


def _after_identity(probe: Probe) -> list[Query]:
    """The query for the rest of a probe after its identity; empty if the probe begins with other letters."""
    end = identity_end(probe.text, probe.identity)
    return [(probe.text[:end], probe.text[end:])] if end else []


def _mean(texts: Texts, text: str) -> tuple[float, int]:
    """The mean over a text, whatever the length option of the protocol, since PPL is defined by the mean."""
    values = texts.values(("", text))
    return float(values.mean()), len(values)


def _mean_or_none(make: Callable[[], Values]) -> float | None:
    """The mean of the values of a function, or None if the text is unscorable."""
    try:
        return float(make().mean())
    except Unscorable:
        return None
