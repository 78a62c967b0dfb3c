"""Items as texts, in the order of their file, and the likelihoods of texts."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from catsofa.data.records import Cat, Pair, Probe, Question, kind_name
from catsofa.data.statistics import Array
from catsofa.scoring.items import sentences
from catsofa.scoring.likelihood import engine
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.models.tokens import Unscorable
from catsofa.scoring.protocols import DEFAULT

PROTOCOL = DEFAULT.changed(
    name="contamination", about="Whether a model has seen a data set: the log-likelihood of whole texts.", length="sum"
)
"""Scoring of a text: all its tokens after the start token, or each token behind a mask."""
TAKES = "CATs, pairs, probes or questions"
AT_ONCE = 256
"""Texts asked together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemText:
    """An item as one text."""

    id: str
    text: str
    """Texts of the item, one per line, in the order of the record."""
    labels: Mapping[str, str]
    """Labels that neighbours may share: target, domain, task; the condition and polarity of a question."""
    cluster: str
    """Cluster of items that intervals resample together."""


def text_of(record: Any, order: Sequence[str] = ()) -> ItemText:
    """Returns an item as one text; `order` has the labels of a CAT's candidates in the order of their lines."""
    match record:
        case Cat():
            place = {label: index for index, label in enumerate(order or [one.label for one in record.candidates])}
            lines = [one.text for one in sorted(record.candidates, key=lambda one: place[one.label])]
            lines = lines if record.kind == "intrasentence" else [record.context, *lines]
            labels = {"target": record.target, "domain": record.bias_type, "task": record.kind}
            cluster = record.target
        case Pair():
            lines, labels, cluster = [record.more, record.less], {"domain": record.bias_type}, record.id
        case Probe():
            lines, cluster = [record.text], record.stereotype
            labels = {"target": record.identity, "domain": record.category, "stereotype": record.stereotype}
        case Question():
            lines = [record.context, record.question, *(answer.text for answer in record.answers)]
            labels = {"target": record.template, "domain": record.category}
            labels |= {"condition": record.condition, "polarity": record.polarity}
            cluster = record.template
        case _:
            raise ValueError(f"found {kind_name(type(record))}; expected {TAKES}, which have texts in an order")
    return ItemText(id=record.id, text="\n".join(lines), labels=labels, cluster=cluster)


def log_likelihoods(backend: Backend, texts: Sequence[str]) -> Array:
    """Returns the log-likelihood of each text in nats; NaN if the model cannot read the whole text.

    For a masked model it is the pseudo-log-likelihood, for an encoder-decoder the log-likelihood of a gap.
    """
    blocks = [_of_some(backend, texts[low : low + AT_ONCE]) for low in range(0, len(texts), AT_ONCE)]
    return np.concatenate([np.empty(0), *blocks])


def _of_some(backend: Backend, texts: Sequence[str]) -> Array:
    """Returns the log-likelihoods of a few texts, which are asked together."""
    by_text: dict[str, sentences.Asked] = {}
    for tokens in sentences.read(backend, texts).values():
        with suppress(Unscorable):
            by_text[tokens.text] = sentences.asked(backend, tokens, PROTOCOL)
    answers = iter(engine.ask(backend, [question for questions in by_text.values() for question in questions]))
    sums = {text: sum(float(next(answers).sum()) for _ in questions) for text, questions in by_text.items()}
    totals = np.array([sums.get(text, np.nan) for text in texts])
    return np.where(np.isfinite(totals), totals, np.nan)
