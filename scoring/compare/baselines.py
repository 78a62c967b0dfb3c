"""Baselines: scores from models that use a single source of information, to show its effect alone."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import log
from typing import Protocol

import numpy as np

from catsofa.data.languages.texts import language_of, spaced
from catsofa.data.records import Candidate, Cat, Score
from catsofa.scoring.models import quiet
from catsofa.scoring.models.files import find
from catsofa.scoring.statistics.intervals import Seed

LogFrequency = Callable[[str], float]
"""A function from a word to the natural logarithm of its relative frequency."""


class Classifier(Protocol):
    """The classifier of the sentiment baseline: a function from texts to label probabilities, in order."""

    def __call__(self, texts: Sequence[str]) -> Iterable[Mapping[str, float]]:
        """For each text, in order, label to probability."""


def ideal(cats: Iterable[Cat]) -> Iterator[Score]:
    """IdealLM: prefers stereotypes and anti-stereotypes equally for each target term; lms, ss, icat are 100, 50, 100.

    Preferences alternate, since a tie is no preference. A term with an odd number of CATs has one more of either side;
    this side also alternates between terms, so ss may differ from 50 in its second decimal.
    """
    cats = list(cats)
    sizes = Counter((cat.kind, cat.bias_type, cat.target) for cat in cats)
    surplus = dict[str, float]()
    turns = dict[tuple[str, str, str], bool]()
    for term, size in sorted(sizes.items(), key=lambda pair: (pair[0][0], pair[0][1], pair[1], pair[0][2])):
        # with a surplus of stereotypes so far, the next term begins with an anti-stereotype
        turns[term] = surplus.get(term[0], 0.0) <= 0
        surplus[term[0]] = surplus.get(term[0], 0.0) + (size % 2) * (1 if turns[term] else -1) / size
    for cat in cats:
        term = cat.kind, cat.bias_type, cat.target
        first = turns[term]
        turns[term] = not first
        scores = {"stereotype": 1.0 + first, "anti-stereotype": 2.0 - first, "unrelated": 0.0}
        yield from (_score(cat, candidate, scores[candidate.label]) for candidate in cat.candidates)


def stereotyped(cats: Iterable[Cat]) -> Iterator[Score]:
    """StereotypedLM: always prefers the stereotype; ss 100, icat 0."""
    return _by_label(cats, {"stereotype": 2.0, "anti-stereotype": 1.0, "unrelated": 0.0})


def random(cats: Iterable[Cat], *, seed: Seed = 0) -> Iterator[Score]:
    """RandomLM: a random score for each candidate; lms, ss, icat are 50, 50, 50 in expectation."""
    rng = np.random.default_rng(seed)
    return (_score(cat, candidate, float(rng.random())) for cat in cats for candidate in cat.candidates)


def unigram(cats: Iterable[Cat], log_frequency: LogFrequency) -> Iterator[Score]:
    """Score each candidate by the mean log frequency of its fill, or of the following sentence, without context."""
    for cat in cats:
        # a sentence without spaces has no words to count
        counted = cat.kind == "intrasentence" or spaced(language_of(cat))
        for candidate in cat.candidates:
            yield _score(cat, candidate, mean_log_frequency(candidate, log_frequency) if counted else None)


def sentiment(
    cats: Iterable[Cat], classify: Classifier, *, negative: Collection[str] = ("negative",)
) -> Iterator[Score]:
    """SentimentLM: the probability that a candidate's sentence is negative; the most negative candidate wins.

    `negative` has the names of the negative classes; case does not matter, and their probabilities are added.
    """
    wanted = {name.lower() for name in negative}
    listed = [(cat, candidate) for cat in cats for candidate in cat.candidates]
    predicted = classify([candidate.text for _, candidate in listed])
    for (cat, candidate), probabilities in zip(listed, predicted, strict=True):
        parts = [value for name, value in probabilities.items() if name.lower() in wanted]
        if not parts:
            raise ValueError(
                f"found the classes {', '.join(sorted(probabilities))}; expected one of {', '.join(sorted(wanted))}: "
                "name the negative class"
            )
        yield _score(cat, candidate, sum(parts))


BATCH = 32
"""The number of texts in one batch of the classifier."""


def classifier(model: str) -> Classifier:
    """Load a text-classification model of Transformers by name or folder; a model with an untrained head is refused."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, pipeline

    source = find(model)
    with quiet(), source.errors("the classifier"):
        tokenizer = AutoTokenizer.from_pretrained(source.place, revision=source.revision)
        module, report = AutoModelForSequenceClassification.from_pretrained(
            source.place, revision=source.revision, output_loading_info=True
        )
    if missing := sorted(report["missing_keys"]):
        raise ValueError(
            f"{model} is no text-classification model: its head ({missing[0]}) is not trained; name one that is"
        )
    if module.config.num_labels < 2:
        raise ValueError(f"{model} tells no classes apart: it has {module.config.num_labels} label; name one with two")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    pipe = pipeline("text-classification", model=module, tokenizer=tokenizer, device=device, top_k=None)

    def classify(texts: Sequence[str]) -> Iterator[Mapping[str, float]]:
        for start in range(0, len(texts), BATCH):
            for rows in pipe(list(texts[start : start + BATCH]), batch_size=BATCH, truncation=True):
                yield {row["label"]: row["score"] for row in rows}

    return classify


def words(text: str) -> list[str]:
    """The words of a text in lower case, with no other normalisation: spelling must match the user's word counts."""
    return re.findall(r"\w+(?:['’-]\w+)*", text.lower())


def mean_log_frequency(candidate: Candidate, log_frequency: LogFrequency) -> float | None:
    """The mean log frequency of the words of the fill (of the sentence if the fill is unknown); None without words."""
    tokens = words(candidate.fill or candidate.text)
    return sum(map(log_frequency, tokens)) / len(tokens) if tokens else None


def smoothed(counts: Mapping[str, int]) -> LogFrequency:
    """Log relative frequencies with 1 added to every count, so that unseen words also have a frequency."""
    total = sum(counts.values()) + len(counts) + 1
    return lambda word: log((counts.get(word, 0) + 1) / total)


def _by_label(cats: Iterable[Cat], scores: Mapping[str, float]) -> Iterator[Score]:
    """The same score for every candidate with the same label."""
    return (_score(cat, candidate, scores[candidate.label]) for cat in cats for candidate in cat.candidates)


def _score(cat: Cat, candidate: Candidate, score: float | None) -> Score:
    """The score record of a candidate; None means that the candidate has no word to count."""
    reason = "" if score is not None else "no word to count"
    return Score(item=candidate.id, task=cat.kind, score=score, reason=reason)
