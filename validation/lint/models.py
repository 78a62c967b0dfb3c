"""Lint with a model: L15 improbable groups, L17 preferred also without the target, L18 unequal sentiment."""

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from catsofa.data.languages.texts import ENGLISH, language_of
from catsofa.data.percentages import in_percent
from catsofa.data.records import Cat
from catsofa.validation.lint.rule import WHOLE_SET, Corpus, Found, Given, Rule
from catsofa.validation.siblings import domain_of, term_of

ANYBODY, EVERYBODY = "person", "people"
"""The words that replace the target to make a sentence about nobody in particular."""
CERTAIN = 0.05
"""The p value below which a difference in sentiment is significant."""


def improbable_groups(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L15: a group's name is far less probable than others of its domain (surprise above Q3 + 1.5 IQR)."""
    assert resources.likelihood is not None
    terms: dict[str, dict[str, str]] = defaultdict(dict)
    for record in corpus.records:
        if term := term_of(record):
            terms[domain_of(record)].setdefault(term, record.id)
    for domain, by_term in terms.items():
        surprise = -np.asarray(resources.likelihood(list(by_term)), dtype=np.float64)
        low, high = np.nanpercentile(surprise, [25, 75])
        for (term, item), value in zip(by_term.items(), surprise, strict=True):
            if value > high + 1.5 * (high - low):
                message = f"{term!r} has {value:.2f} nats per token, three quarters of {domain or 'all'} {high:.2f}"
                yield Found(item=item, message=message, text=term)


def without_target(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L17: the stereotype is preferred with and without the target, so the item does not measure the group.

    The control of Pikuliak et al. 2023: an intrasentence target becomes `person`; an intersentence context is removed.
    """
    assert resources.likelihood is not None
    # `person` can replace an intrasentence target only in English
    cats = [cat for cat in corpus.cats if cat.kind == "intersentence" or language_of(cat) == ENGLISH]
    texts = [text for cat in cats for text in _four(cat)]
    scores = np.asarray(resources.likelihood(texts) if texts else [], dtype=np.float64).reshape(-1, 4)
    for cat, (with_s, with_a, without_s, without_a) in zip(cats, scores, strict=True):
        if with_s > with_a and without_s > without_a:
            message = (
                f"preferred by {with_s - with_a:.2f} nats per token with the target, "
                f"by {without_s - without_a:.2f} without it"
            )
            yield Found(item=cat.id, message=message, text=cat["stereotype"].text)


def _four(cat: Cat) -> Iterator[str]:
    """Stereotype and anti-stereotype with the target, then both without it."""
    options = [cat["stereotype"].text, cat["anti-stereotype"].text]
    if cat.kind == "intersentence":
        yield from (f"{cat.context} {option}" for option in options)
        yield from options
    else:
        yield from options
        yield from (about_anybody(option, cat.target) for option in options)


def about_anybody(text: str, target: str) -> str:
    """A sentence with its target replaced by `person`, or `people` for a plural."""

    def neutral(match: re.Match[str]) -> str:
        word = EVERYBODY if match["plural"] else ANYBODY
        return word.capitalize() if match.start() == 0 else word

    return re.sub(rf"\b{re.escape(target)}(?P<plural>e?s)?\b", neutral, text, flags=re.IGNORECASE)


def unequal_sentiment(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L18: stereotypes and anti-stereotypes should be equally often positive (exact McNemar test over the items)."""
    from scipy.stats import binomtest

    assert resources.sentiment is not None
    sides = [(cat["stereotype"].text, cat["anti-stereotype"].text) for cat in corpus.cats]
    sides += [(pair.more, pair.less) for pair in corpus.pairs]
    if not sides:
        return
    positive = np.asarray(resources.sentiment([text for side in sides for text in side])).reshape(-1, 2)
    differ = positive[positive[:, 0] != positive[:, 1]]
    p = float(binomtest(int(differ[:, 0].sum()), len(differ)).pvalue) if len(differ) else 1.0
    if p < CERTAIN:
        stereotypes, opposites = (in_percent(share, 0) for share in positive.mean(axis=0))
        message = f"{stereotypes} of the stereotypes are positive, {opposites} of their opposites (p = {p:.2g})"
        yield Found(item=WHOLE_SET, message=message)


RULES = (
    Rule(
        code="L15",
        severity="info",
        about="a group's name is so improbable that a model's surprise is at the name, not at the stereotype",
        example="`Zorbs` among `Finns` and `Danes`",
        check=improbable_groups,
        needs="likelihood",
    ),
    Rule(
        code="L17",
        severity="info",
        about="the model prefers the stereotype without the target too",
        example="`The person was kind.` over `The person was purple.`",
        check=without_target,
        needs="likelihood",
        reads=(Cat,),
        english="the words person and people, which replace the target of intrasentence CATs,",
    ),
    Rule(
        code="L18",
        severity="info",
        about="stereotypes and anti-stereotypes differ in sentiment, so that a model may follow the mood alone",
        example="41 % of the stereotypes are negative, 33 % of the anti-stereotypes",
        check=unequal_sentiment,
        needs="sentiment",
    ),
)
