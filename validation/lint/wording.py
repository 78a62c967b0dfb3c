"""Lint of wording: L4 target missing from the context, L6 malformed English and misspellings, L12 possible facts."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from catsofa.data.language.articles import articles
from catsofa.data.language.words import words
from catsofa.data.languages.texts import ENGLISH, in_tables, known, language_of, names, spaced, tokens
from catsofa.data.records import Cat, Pair, Probe
from catsofa.validation.lint.rule import Corpus, Found, Given, Rule

RARE = 1.0
"""Zipf frequency (once in a hundred million words) below which a lower-case word counts as misspelt."""

_ARTICLE = re.compile(r"(?<![\w'’./-])([Aa]n?)(\s+[\"“‘']?)([^\W_][\w'’-]*)")
_TWICE = re.compile(r"\b(the|a|an|of|to|in|and|is|are|was|for|with|his|her|their)\s+\1\b", re.IGNORECASE)
_DISAGREES = re.compile(
    r"\b(?:(?:he|she|it) (?:are|were|have|do|don't|weren't|aren't|haven't)"
    r"|(?:they|we|you) (?:is|was|has|does|doesn't|isn't|wasn't|hasn't))\b",
    re.IGNORECASE,
)
_INVERTED = re.compile(
    r"\b(?:if|wish(?:es|ed)?|that|than|as|and|or|of|for|with|to|by|do|does|did|let|lets|make|makes|made|help|helps"
    r"|helped|see|sees|saw|watch|watched|had|have|has|is|are|was|were|can|could|will|would|should|though) $",
    re.IGNORECASE,
)


def texts(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Every text that a model reads, with the id of its item."""
    for record in corpus.records:
        match record:
            case Cat():
                yield from ((record.id, candidate.text) for candidate in record.candidates)
            case Pair():
                yield from ((record.id, record.more), (record.id, record.less))
            case Probe():
                yield record.id, record.text


def target_absent(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L4: a CAT's context should name its target, or its country or people, in a form of its language."""
    for cat in corpus.cats:
        code = language_of(cat)
        if names(cat.context, cat.target, code):
            continue
        message = f"the context does not name the target {cat.target!r}"
        if code == ENGLISH or in_tables(cat.target, code):
            yield Found(item=cat.id, message=message, text=cat.context)
        else:
            doubt = f"{message} as it is written, and no table has its other forms in {code!r}"
            yield Found(item=cat.id, message=doubt, text=cat.context, severity="info")


def wording(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L6: wrong a or an, a doubled word, a pronoun with the wrong verb (English); with frequencies, a misspelt word."""
    languages = {record.id: language_of(record) for record in corpus.records}
    spelt = resources.frequency_language if resources.frequency and spaced(resources.frequency_language) else None
    for item, text in texts(corpus):
        if languages[item] == spelt and (unknown := _misspelt(text, resources)):
            yield Found(item=item, message=f"unknown words: {', '.join(unknown)}", text=text)
        if languages[item] != ENGLISH:
            continue
        fixed = _ARTICLE.sub(_right_article, text)
        if fixed != text:
            yield Found(item=item, message="a where an belongs, or an where a does", text=text, fix=fixed)
        if twice := _TWICE.search(text):
            fix = f"{text[: twice.start()]}{twice[1]}{text[twice.end() :]}"
            yield Found(item=item, message=f"the word {twice[1].lower()!r} twice", text=text, fix=fix)
        if (wrong := _DISAGREES.search(text)) and not _INVERTED.search(text[: wrong.start()]):
            yield Found(item=item, message=f"{wrong[0]!r} does not agree", text=text)


def _right_article(match: re.Match[str]) -> str:
    """The correct article for its word, in the same case; unchanged if it is already one of the correct ones."""
    right, *alternatives = articles(match[3])
    if match[1].lower() in (right, *alternatives):
        return match[0]
    return (right.capitalize() if match[1][0].isupper() else right) + match[2] + match[3]


def _misspelt(text: str, resources: Given) -> list[str]:
    """The lower-case words of a text with a very low frequency."""
    frequency = resources.frequency
    assert frequency is not None
    lower_words = {word for word in re.findall(r"[^\W\d_][\w'’]+", text) if word == word.lower()}
    return [
        word
        for spelling in dict.fromkeys(words(text))
        if spelling in lower_words
        for word in tokens(spelling, resources.frequency_language)
        if not word.endswith("'") and frequency(word.removesuffix("'s")) < RARE
    ]


def objective(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L12: a stereotype with a number, a quantity, a superlative or geography may be a fact: ask the annotators."""
    for cat in corpus.cats:
        yield from _objective(cat, cat["stereotype"].text)
    for pair in corpus.pairs:
        yield from _objective(pair, pair.more)


def _objective(record: Cat | Pair, text: str) -> Iterator[Found]:
    """A finding if a text matches the fact patterns of its language."""
    if signs := [name for name, pattern in facts_of(language_of(record)).items() if pattern.search(text)]:
        message = f"may state a fact ({', '.join(signs)}): ask whether it is true"
        yield Found(item=record.id, message=message, text=text)


@cache
def facts_of(code: str) -> Mapping[str, re.Pattern[str]]:
    """The patterns of factual statements, by name: [facts] of the language."""
    language = known(code)
    listed = language.facts.get("facts", {}) if language else {}
    return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in listed.items()}


RULES = (
    Rule(
        code="L4",
        severity="warning",
        about="the context does not name its target, so that the group must be guessed",
        example="target `zorb`, context `The stranger was BLANK.`",
        check=target_absent,
        reads=(Cat,),
    ),
    Rule(
        code="L6",
        severity="warning",
        about="the text is not well-formed: a/an, a doubled word, agreement, and spelling where frequencies are given",
        example="The zorb is a honest baker.",
        check=wording,
        uses=("frequency",),
        reads=(Cat, Pair, Probe),
        english="a/an, doubled words and agreement",
    ),
    Rule(
        code="L12",
        severity="info",
        about="the stereotype may be a plain fact",
        example="Zorbia has a population of 5 million.",
        check=objective,
        reads=(Cat, Pair),
        asks="facts",
    ),
)
