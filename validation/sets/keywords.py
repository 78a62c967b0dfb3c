"""Table 3 of StereoSet: the words that each domain uses more than a reference does (Kilgarriff 2009, simple maths)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from catsofa.data import extras
from catsofa.data.language.demonyms import same_group
from catsofa.data.language.inflection import singulars
from catsofa.data.language.word_numbers import corpus_lines
from catsofa.data.language.words import words
from catsofa.data.languages.texts import ENGLISH, language_of, most_spoken, names_of, spaced, tokens
from catsofa.data.percentages import quantity
from catsofa.data.records import Cat, Pair
from catsofa.validation.siblings import domain_of, term_of

Reference = Callable[[str], float]
"""A function from a word to its occurrences per million words of ordinary text."""


class Lemmas(Protocol):
    """A function that computes the lemmas of texts."""

    def __call__(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """The lemmas of each text, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyword:
    """A word, its count in the domain, its frequency per million there and in the reference, and the score."""

    word: str
    count: int
    per_million: float
    reference: float
    score: float


def keyness(per_million: float, reference: float) -> float:
    """Kilgarriff's simple maths: (fpm_focus + 1) / (fpm_reference + 1)."""
    return (per_million + 1) / (reference + 1)


def keywords(
    records: Iterable[Any], reference: Reference, *, lemmas: Lemmas | None = None, top: int = 16
) -> dict[str, list[Keyword]]:
    """The `top` keywords of each domain, from stereotypes and anti-stereotypes, without target terms.

    Only records in the most frequent language are read. A language without spaces needs `lemmas`; without them, the
    result is empty.
    """
    records = list(records)
    language = most_spoken(records)
    if not (lemmas or spaced(language)):
        return {}
    texts: dict[str, list[str]] = defaultdict(list)
    terms: set[str] = set()
    for record in records:
        if language_of(record) == language:
            texts[domain_of(record)] += _texts(record)
            terms |= _forms(term_of(record), language)
    split = lemmas or partial(map, partial(tokens, code=language))
    return {
        domain: _ranked(split(domain_texts), terms, reference, language)[:top]
        for domain, domain_texts in sorted(texts.items())
    }


def not_counted(records: Sequence[Any], lemmas: Lemmas | None = None) -> list[str]:
    """One sentence for each language that keywords leave out, and one if there are no keywords at all."""
    language, languages = most_spoken(records), Counter(map(language_of, records))
    out = [
        f"keywords leave out {quantity(count, 'record')} in {code!r}: they are of one language, {language!r}"
        for code, count in languages.items()
        if code != language
    ]
    if not (lemmas or spaced(language)):
        out.append(f"no keywords: {language!r} is written without spaces; name a spaCy pipeline that finds its words")
    return out


def _forms(term: str, language: str) -> set[str]:
    """The words of a target term, in every form."""
    if language != ENGLISH:
        return {word for name in names_of(term, language) for word in tokens(name, language)} if term else set()
    return {form for name in same_group(term) for word in words(name) for form in singulars(word)}


def _texts(record: Any) -> list[str]:
    """The texts about a group, without the unrelated ones."""
    match record:
        case Cat():
            return [record["stereotype"].text, record["anti-stereotype"].text]
        case Pair():
            return [record.more, record.less]
    return [record.text] if hasattr(record, "text") else []


def _ranked(texts: Iterable[Sequence[str]], terms: set[str], reference: Reference, language: str) -> list[Keyword]:
    """The words or lemmas, sorted by keyness, without target terms."""
    ending = "'s" if language == ENGLISH else ""
    counts = Counter(word.lower().removesuffix(ending) for text in texts for word in text)
    total = counts.total()
    ranking = []
    for word, count in counts.items():
        if (singulars(word) if language == ENGLISH else {word}) & terms or not word.strip("'"):
            continue
        rate, elsewhere = 1e6 * count / total, reference(word)
        ranking.append(
            Keyword(word=word, count=count, per_million=rate, reference=elsewhere, score=keyness(rate, elsewhere))
        )
    return sorted(ranking, key=lambda keyword: (-keyword.score, keyword.word))


def reference(source: str, language: str = ENGLISH) -> Reference:
    """The frequencies from `wordfreq` or from a corpus in a text file."""
    return wordfreq_reference(language) if source == "wordfreq" else corpus_reference(source, language)


def wordfreq_reference(language: str = ENGLISH) -> Reference:
    """The frequencies of the wordfreq package: web, books, subtitles, news."""
    library = _wordfreq(language)
    return lambda word: 1e6 * float(library.word_frequency(word, language))


def wordfreq_zipf(language: str = ENGLISH) -> Callable[[str], float]:
    """The same frequencies on the Zipf scale: log10 of the occurrences in a billion words, 0 for unknown words."""
    library = _wordfreq(language)
    return lambda word: float(library.zipf_frequency(word, language))


def _wordfreq(language: str) -> Any:
    """The wordfreq package; raises an error if the package or the language is missing."""
    try:
        import wordfreq
    except ModuleNotFoundError as error:
        without = "or give a corpus as a text file"
        raise extras.MissingExtra(f"{extras.sentence('wordfreq')}, {without}", name=error.name) from None
    if language not in wordfreq.available_languages():
        raise ValueError(f"wordfreq has no frequencies of {language!r}; give a corpus in that language as a text file")
    return wordfreq


def corpus_reference(path: Path | str, language: str = ENGLISH) -> Reference:
    """The frequencies in a text file with text in this language."""
    counts: Counter[str] = Counter()
    for line in corpus_lines(path):
        counts.update(word.removesuffix("'s") for word in tokens(line, language))
    total = counts.total() or 1
    return lambda word: 1e6 * counts[word] / total


def spacy_pipeline(name: str) -> Any:
    """A spaCy pipeline, by name or folder."""
    import spacy

    try:
        return spacy.load(name)
    except OSError:
        raise ValueError(f"no spaCy pipeline {name!r}; `python -m spacy download {name}`, or give its folder") from None


def spacy_lemmas(pipeline: Any) -> Lemmas:
    """A function for the lemmas from a spaCy pipeline, alphabetic words only."""
    return lambda texts: ([word.lemma_ for word in doc if word.is_alpha] for doc in pipeline.pipe(texts))
