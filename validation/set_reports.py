"""What `validate stats` prints for a machine: tables 1 to 3 as plain values by name."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from catsofa.validation.sets.keywords import Lemmas, Reference, keywords
from catsofa.validation.sets.sentiment import NEGATIVE, Classifier, sentiments
from catsofa.validation.sets.sizes import sizes


def stats_report(
    records: Sequence[Any],
    *,
    classify: Classifier | None = None,
    negative: Sequence[str] = (),
    reference: Reference | None = None,
    lemmas: Lemmas | None = None,
    top: int = 16,
) -> dict[str, Any]:
    """Sizes always; sentiment and keywords where there is a classifier and a reference for them."""
    found: dict[str, Any] = {
        "sizes": {kind: {d: asdict(size) for d, size in domains.items()} for kind, domains in sizes(records).items()}
    }
    if classify:
        shares = sentiments(records, classify, negative or NEGATIVE)
        found["sentiment"] = {side: asdict(share) for side, share in shares.items()}
    if reference:
        ranked = keywords(records, reference, lemmas=lemmas, top=top)
        found["keywords"] = {domain: [asdict(word) for word in words] for domain, words in ranked.items()}
    return found
