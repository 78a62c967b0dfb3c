"""Loads the resources of lint rules (models, word lists, other sets) from the names and files that the user gives."""

from collections.abc import Callable, Sequence
from functools import partial
from math import log10, nan
from pathlib import Path

from catsofa.data import formats
from catsofa.data.files import lines
from catsofa.validation.lint.rule import Encoder, Given
from catsofa.validation.sets.keywords import corpus_reference, spacy_pipeline, wordfreq_zipf
from catsofa.validation.sets.sentiment import NEGATIVE, Classifier, is_positive


def given(
    *,
    spacy_model: str = "",
    corpus: str = "",
    names: Path | None = None,
    offensive: Path | None = None,
    encoder: str = "",
    model: str = "",
    sentiment_model: str = "",
    negative: str = "",
    against: Path | None = None,
    language: str = "en",
) -> Given:
    """Loads the named resources; a rule whose resource is not named does not run.

    Frequencies are those of words of one language. wordfreq has none for an unsupported language.
    """
    return Given(
        parser=spacy_pipeline(spacy_model) if spacy_model else None,
        frequency=zipf(corpus, language) if corpus else None,
        frequency_language=language,
        names=_list(names, "given names") if names else frozenset(),
        offensive=_list(offensive, "offensive words") if offensive else frozenset(),
        encoder=_encoder(encoder) if encoder else None,
        likelihood=likelihood(model) if model else None,
        sentiment=sentiment(sentiment_model, negative) if sentiment_model else None,
        against=list(formats.read(against)) if against else (),
    )


def zipf(source: str, language: str = "en") -> Callable[[str], float]:
    """Returns Zipf frequencies from `wordfreq`, or from a corpus in a text file."""
    if source == "wordfreq":
        return wordfreq_zipf(language)
    per_million = corpus_reference(source, language)

    def frequency(word: str) -> float:
        return max(0.0, log10(1000 * per_million(word))) if per_million(word) else 0.0

    return frequency


def likelihood(name: str) -> Callable[[Sequence[str]], list[float]]:
    """Returns a function for the mean log-probability per token of each text by a language model; NaN without one."""
    from catsofa.scoring import models
    from catsofa.scoring.items import guarded, sentences
    from catsofa.scoring.items.score import answered
    from catsofa.scoring.likelihood.backend import Backend
    from catsofa.scoring.protocols import named

    backend, protocol = Backend(models.load(name)), named("catsofa")

    def mean_log_probability(texts: Sequence[str]) -> list[float]:
        parsed = sentences.read(backend, texts)
        items = [
            guarded(text, "", partial(sentences.item, backend, parsed[text], protocol, text, ""))
            for text in dict.fromkeys(texts)
        ]
        by_text = {score.item: nan if score.score is None else score.score for score in answered(backend, items)}
        return [by_text[text] for text in texts]

    return mean_log_probability


def sentiment(name: str, negative: str = "") -> Callable[[Sequence[str]], list[bool]]:
    """Returns a function that tells if a classification model finds each text positive; neutral counts as positive."""
    names = class_names(negative)
    classify = classifier(name, names)
    return lambda texts: is_positive(texts, classify, names or NEGATIVE)


def class_names(negative: str) -> list[str]:
    """Returns the names in a list that is separated by commas."""
    return [part.strip() for part in negative.split(",") if part.strip()]


def classifier(name: str, negative: Sequence[str] = ()) -> Classifier:
    """Returns a function for the most probable class of each text by a text-classification model.

    It refuses a model without any of the `negative` classes, because all texts would be positive.
    """
    from catsofa.scoring.compare import baselines

    probabilities = baselines.classifier(name)
    wanted = {label.lower() for label in negative}

    def classify(texts: Sequence[str]) -> list[str]:
        classes = []
        for row in probabilities(texts):
            if wanted and not wanted & {label.lower() for label in row}:
                raise ValueError(f"{name} has no class {', '.join(negative)} (--negative); it has {', '.join(row)}")
            classes.append(max(row, key=row.__getitem__))
        return classes

    return classify


def _encoder(name: str) -> Encoder:
    """Returns a sentence encoder, as for SEAT."""
    from catsofa.scoring.vectors import load

    return load(name)


def _list(path: Path, description: str) -> frozenset[str]:
    """Returns the words of a file, one a line; lines that begin with # are comments."""
    words = (line.strip().lower() for _, line in lines(path, f"{description}, one a line"))
    return frozenset(word for word in words if not word.startswith("#"))
