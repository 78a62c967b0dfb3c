"""Lint of copies: L20 near-duplicates in a set; copies, target terms and siblings of them in another split."""

from collections.abc import Iterator

from catsofa.data.language.near_duplicates import COMPARED, content, near_duplicates
from catsofa.data.percentages import in_percent
from catsofa.validation.lint.rule import Corpus, Found, Given, Rule
from catsofa.validation.sets.leakage import leaks


def copies(corpus: Corpus, given: Given) -> Iterator[Found]:
    """Two items say nearly the same; with another split, an item or a target term's group is in both."""
    records = [record for record in corpus.records if isinstance(record, COMPARED)]
    texts = [content(record) for record in records]
    for pair in near_duplicates(texts):
        first, second = records[pair.first], records[pair.second]
        message = f"{in_percent(pair.similarity, 0)} the same as {first.id}"
        yield Found(item=second.id, message=message, text=texts[pair.second])
    others = [record for record in given.against if isinstance(record, COMPARED)]
    for leak in leaks(records, others):
        yield Found(item=leak.item, message=leak.message, severity="error")


RULES = (
    Rule(
        code="L20",
        severity="warning",
        about="items are near-duplicates, or stand with their target terms or siblings of them in another split too",
        example="`The zorb is kind.` / `The zorb is kind`",
        check=copies,
        uses=("against",),
    ),
)
