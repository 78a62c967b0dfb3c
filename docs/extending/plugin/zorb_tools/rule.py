"""A lint rule: a candidate compares people with machines."""

import re
from collections.abc import Iterator

from catsofa.validation.lint.rule import Corpus, Found, Given, Rule

MACHINE = re.compile(r"\b(?:robot|machine)s?\b", re.IGNORECASE)


def check(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """Yields a finding for each text that names a machine."""
    texts = [(cat.id, candidate.text) for cat in corpus.cats for candidate in cat.candidates]
    texts += [(pair.id, text) for pair in corpus.pairs for text in (pair.more, pair.less)]
    for item, text in texts:
        if named := MACHINE.search(text):
            yield Found(item=item, message=f"names a machine ({named[0]})", text=text)


RULE = Rule(
    code="L101",
    severity="warning",
    about="a sentence compares people with machines",
    example="The zorb is a robot.",
    check=check,
)
