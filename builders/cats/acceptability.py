"""Acceptability of CAT sentences: how much a fill lowers a model's probability of the template's own words."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from math import isnan, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catsofa.data.digests import DIGITS, json_digest
from catsofa.data.files import atomic_write, jsonl
from catsofa.data.language.blanks import check, fill, fill_of, slots
from catsofa.data.language.inflection import singulars
from catsofa.data.language.wordlists import table, wordlist
from catsofa.data.language.words import words
from catsofa.data.records import Cat, Extra

LEAST = 0.7
"""The minimum AUC on the labelled sentences for a model that filters."""
KEPT = 0.95
"""The share of the grammatical sentences that the threshold keeps."""
AT_ONCE = 64
"""CATs whose sentences a model scores together."""

Span = tuple[int, int]
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


class Around(NamedTuple):
    """A sentence with the spans of its fill and of its target words; the words in these spans do not count."""

    text: str
    fill: Span
    target: tuple[Span, ...]


Likelihood = Callable[[Sequence[Around]], Sequence[float]]
"""The mean log-probability of the other words of each sentence, given the fill; NaN if a model has none."""


class Filled(NamedTuple):
    """A context with a BLANK, the term for its target, and sentences from this context, each with its fill."""

    context: str
    target: str
    sentences: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Quality of a model on the labelled sentences: its AUC, in all and by class of fault, and the threshold.

    `auc` is the probability that a grammatical sentence has a higher Δ than an ungrammatical one. The threshold keeps
    the share `KEPT` of the grammatical sentences; `found` is the share of the ungrammatical ones below it.
    """

    sentences: int
    auc: float
    by_class: Mapping[str, float]
    threshold: float
    found: float
    set_hash: str

    def require(self, model: str) -> None:
        """Raises ValueError if the model separates grammatical sentences hardly better than chance."""
        if self.auc < LEAST:
            raise ValueError(
                f"{model} has an AUC of {self.auc:.2f} on the {self.sentences} labelled sentences, and a model that "
                f"filters needs {LEAST:.2f} (0.50 is chance); name a larger model, or leave this check out"
            )


def deltas(contexts: Sequence[Filled], likelihood: Likelihood) -> list[list[float]]:
    """Returns Δ of each sentence: the log-probability of its template's words less that with the best reference.

    The references are the reference fills. From zero on, a fill suits the template as well as a reference. Neither fill
    nor target counts, so that no fill is worse for being rare, or for being unrelated to the target. Δ is NaN if a
    value is missing.
    """
    references = [word for kind in wordlist("fills.toml")["reference"].values() for word in kind]
    references_by_context = [[(fill(one.context, word), word) for word in references] for one in contexts]
    places = [
        [_around(one, *sentence) for sentence in (*one.sentences, *reference_sentences)]
        for one, reference_sentences in zip(contexts, references_by_context, strict=True)
    ]
    distinct = list(dict.fromkeys(place for row in places for place in row if place))
    values: dict[Around | None, float] = {None: nan}
    values |= zip(distinct, likelihood(distinct) if distinct else (), strict=True)
    result = []
    for one, row in zip(contexts, places, strict=True):
        own, reference_values = np.split(np.array([values[place] for place in row]), [len(one.sentences)])
        best = np.nan if np.isnan(reference_values).all() else np.nanmax(reference_values)
        result.append((own - best).tolist())
    return result


def _around(one: Filled, text: str, words_of_fill: str) -> Around | None:
    """Returns a sentence with the spans of its fill and target; None if it does not end as its context does."""
    after = one.context[slots(one.context)[0][1] :]
    if not text.endswith(after):
        return None
    end = len(text) - len(after)
    subject = wordlist("identities.toml")["pronouns"].get(one.target.lower(), one.target)
    wanted = [singulars(word) for word in words(f"{one.target} {subject}")]
    matches = [match for match in _WORD.finditer(text) if any(singulars(match[0].lower()) & each for each in wanted)]
    return Around(text, (end - len(words_of_fill), end), tuple(match.span() for match in matches))


def calibrate(likelihood: Likelihood) -> Calibration:
    """Returns the AUC and the threshold of a model on the bundled labelled sentences."""
    rows = table("acceptability.csv")
    contexts = []
    for row in rows:
        start, end = slots(row["context"])[0]
        both = [(row["context"][:start] + row[side] + row["context"][end:], row[side]) for side in ("good", "bad")]
        contexts.append(Filled(row["context"], row["target"], both))
    values = np.array(deltas(contexts, likelihood))
    if missing := int(np.isnan(values).sum()):
        raise ValueError(
            f"the model gives no probability to {missing} of the {values.size} labelled sentences; expected one for "
            "each; name another model"
        )
    good, bad = values[:, 0], values[:, 1]
    classes = np.array([row["class"] for row in rows])
    threshold = float(np.sort(good)[int((1 - KEPT) * len(good) + 1e-9)])
    return Calibration(
        sentences=values.size,
        auc=_auc(good, bad),
        by_class={str(name): _auc(good[classes == name], bad[classes == name]) for name in dict.fromkeys(classes)},
        threshold=threshold,
        found=float((bad < threshold).mean()),
        set_hash=json_digest(rows, DIGITS),
    )


def _auc(good: NDArray[np.float64], bad: NDArray[np.float64]) -> float:
    """Returns the probability that a value of `good` is higher than one of `bad`; a tie counts as one half."""
    higher, equal = good[:, None] > bad, good[:, None] == bad
    return float((higher + equal / 2).mean())


@dataclass(frozen=True, slots=True)
class Judged:
    """A CAT with its Δs in its source, and the labels of the candidates that people should read."""

    cat: Cat
    doubtful: tuple[str, ...]


def judge(cats: Iterable[Cat], likelihood: Likelihood, measured: Calibration, made_by: Extra) -> Iterator[Judged]:
    """Yields each CAT with the Δs of its candidates; a candidate below the threshold or without a Δ is doubtful."""
    about = {**made_by, "auc": round(measured.auc, 4), "threshold": round(measured.threshold, 4)}
    about["labelled"] = measured.set_hash
    waiting = iter(cats)
    while some := list(islice(waiting, AT_ONCE)):
        contexts = []
        for cat in some:
            _refuse_others(cat)
            both = [(c.text, c.fill or fill_of(cat.context, c.text) or c.text) for c in cat.candidates]
            contexts.append(Filled(cat.context, cat.target, both))
        for cat, row in zip(some, deltas(contexts, likelihood), strict=True):
            by_label = {c.label: value for c, value in zip(cat.candidates, row, strict=True)}
            doubtful = tuple(label for label, value in by_label.items() if not value >= measured.threshold)
            rounded = {label: None if isnan(value) else round(value, 4) for label, value in by_label.items()}
            noted = {**about, "deltas": rounded, "doubtful": list(doubtful)}
            yield Judged(replace(cat, source={**cat.source, "acceptability": noted}), doubtful)


def _refuse_others(cat: Cat) -> None:
    """Raises ValueError for a CAT without one BLANK, or in another language than English."""
    if cat.kind != "intrasentence" or check(cat.context):
        raise ValueError(f"CAT {cat.id} has no context with one BLANK; give intrasentence CATs alone")
    if cat.language != "en":
        raise ValueError(f"CAT {cat.id} is in {cat.language}; the labelled sentences are English, so give English CATs")


def write(judged: Iterable[Judged], out: Path | str, review: Path | str) -> Counter[str]:
    """Writes the CATs without a doubtful candidate to `out`, the others to `review`; both are complete or not written.

    Returns the number of CATs in each file, and the number of doubtful candidates of each label.
    """
    if Path(out).resolve() == Path(review).resolve():
        raise ValueError(f"{out} cannot hold both what is kept and what people should read; name two files")
    counts: Counter[str] = Counter(kept=0, review=0)
    with ExitStack() as files:
        kept, queue = (files.enter_context(atomic_write(path)) for path in (out, review))
        for one in judged:
            counts["review" if one.doubtful else "kept"] += 1
            counts.update(one.doubtful)
            (queue if one.doubtful else kept).write(jsonl.dumps(one.cat) + b"\n")
    return counts
