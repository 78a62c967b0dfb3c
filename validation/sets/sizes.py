"""Table 1 of StereoSet for any set: target terms, items and words by kind and domain."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from catsofa.data.languages.texts import language_of, spaced
from catsofa.data.records import Cat, Pair, Probe, Question
from catsofa.validation.siblings import domain_of, term_of

OVERALL = "overall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of a part of a set."""

    terms: int
    items: int
    words: float | None
    """Mean words per text, separated by single spaces; None if a language has no spaces."""
    words_of_domains: float | None
    """The unweighted mean of the domains' means, which the paper prints as the overall mean."""


def sizes(records: Iterable[Any]) -> dict[str, dict[str, Size]]:
    """Maps kind and domain to size; the domain `overall` is the whole kind, the kind `overall` the whole set."""
    parts: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        for kind in (kind_of(record), OVERALL):
            parts[kind][domain_of(record)].append(record)
    table = {kind: _domains(domains) for kind, domains in parts.items()}
    whole = table.pop(OVERALL, {})
    # the paper's overall mean is the mean of the kinds' means, each the mean of its domains
    means = [domains[OVERALL].words_of_domains for domains in table.values()]
    if means:
        total = whole[OVERALL]
        mean = _mean(means)
        table[OVERALL] = {OVERALL: Size(terms=total.terms, items=total.items, words=total.words, words_of_domains=mean)}
    return table


def kind_of(record: Any) -> str:
    """The kind of a record: the task of a CAT, pairs, probes or questions."""
    match record:
        case Cat():
            return record.kind
        case Pair():
            return "pairs"
        case Probe():
            return "probes"
        case Question():
            return "questions"
    kind = type(record).__name__
    raise ValueError(f"{kind} records have no sentences to count; give CATs, pairs, probes or questions")


def texts_of(record: Any) -> Iterator[str]:
    """The texts that a model reads: filled sentences, contexts with sentences, both sides of a pair, questions."""
    match record:
        case Cat(kind="intrasentence"):
            yield from (candidate.text for candidate in record.candidates)
        case Cat():
            yield from (f"{record.context} {candidate.text}" for candidate in record.candidates)
        case Pair():
            yield from (record.more, record.less)
        case Probe():
            yield record.text
        case Question():
            yield f"{record.context} {record.question}"


def _domains(domains: dict[str, list[Any]]) -> dict[str, Size]:
    """The size of each domain, and of all domains together."""
    table = {domain: _size(records) for domain, records in sorted(domains.items())}
    whole = _size([record for records in domains.values() for record in records])
    mean = _mean([size.words for size in table.values()])
    table[OVERALL] = Size(terms=whole.terms, items=whole.items, words=whole.words, words_of_domains=mean)
    return table


def _size(records: list[Any]) -> Size:
    """The terms, items and mean words of these records."""
    lengths = [
        text.count(" ") + 1 if spaced(language_of(record)) else None for record in records for text in texts_of(record)
    ]
    terms = len({term_of(record) for record in records} - {""})
    words = _mean(lengths)
    return Size(terms=terms, items=len(records), words=words, words_of_domains=words)


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean; None if a value is missing."""
    numbers = [value for value in values if value is not None]
    return fmean(numbers) if len(numbers) == len(values) else None
