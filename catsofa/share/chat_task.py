"""Questions to chat models as documents of other evaluation programs, and measures of the replies as in `choose`.

The tasks that `catsofa export-harness --chat` writes import this module. Their data contain the prompts; this module
parses replies and computes the estimates.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

from catsofa.data.records import Cat, Pair
from catsofa.scoring.choosing.asking import Asking
from catsofa.scoring.choosing.estimates import estimate, rows_of
from catsofa.scoring.choosing.items import Item, item_of
from catsofa.scoring.choosing.outcomes import OUTCOMES, outcome_of
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.choosing.requests import requests
from catsofa.scoring.choosing.templates import bundled
from catsofa.scoring.statistics.intervals import RESAMPLES

TEMPLATE = "likelihood"
"""The default wording of `catsofa choose`."""
TOKENS = Asking().answer_tokens + Asking().reasoning_tokens
"""Maximum number of tokens of a reply."""
ASKED = ("item", "template", "sample", "neutral", "labels")
"""The fields of a request that a reply repeats, besides its order."""
MEASURES = ("preference", "position", "consistent", "coverage", *OUTCOMES)
"""The numbers of a task, by their names in `catsofa choose --json`."""


class Answer(NamedTuple):
    """The outcome of a reply, and the sets to which it belongs."""

    item: str
    domain: str
    group: str
    template: str
    sample: int
    order: tuple[str, ...]
    outcome: str

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "Answer":
        """Returns the answer with these fields, as read from JSON."""
        return cls(**{**fields, "order": tuple(fields["order"])})


def documents(records: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Yields a document for each request about CATs or pairs: its prompt, and the fields needed to parse a reply."""
    wording = [bundled(TEMPLATE)]
    for record in records:
        if not isinstance(record, Cat | Pair):
            raise ValueError(f"found a {type(record).__name__}; expected CATs or CrowS-Pairs, which offer sentences")
        item = item_of(record)
        texts = [[option, *forms] for option, forms in item.texts.items()]
        for request in requests([item], wording):
            fields = {name: getattr(request, name) for name in ASKED}
            about = {"domain": item.domain, "group": item.group, "texts": texts, "prompt": request.prompt}
            yield {**fields, "order": list(request.order), **about}


def read_documents(file: Path | str) -> list[dict[str, Any]]:
    """Reads the documents of a task's file."""
    with Path(file).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def answer(document: Mapping[str, Any], **parts: Any) -> Answer:
    """Parses a reply to a document; `parts` are its text, its reasoning, why it ended, and its sample."""
    fields = {name: document[name] for name in ASKED}
    reply = Reply(**fields | {"order": tuple(document["order"])} | parts)
    texts = {option: tuple(forms) for option, *forms in document["texts"]}
    item = Item(id=reply.item, texts=texts, domain=document["domain"], group=document["group"])
    result = outcome_of(reply, item)
    return Answer(item.id, item.domain, item.group, reply.template, reply.sample, reply.order, result)


@lru_cache(maxsize=1)
def measures(answers: tuple[Answer, ...]) -> Mapping[str, float]:
    """Returns the numbers of `catsofa choose` by name, as shares; NaN for a preference that position decides."""
    if not answers:
        return dict.fromkeys(MEASURES, nan)
    items = {each.item: Item(id=each.item, texts={}, domain=each.domain, group=each.group) for each in answers}
    replies = [
        Reply(item=a.item, order=a.order, reply="", template=a.template, sample=a.sample, outcome=a.outcome)
        for a in answers
    ]
    estimates = estimate(rows_of(replies, items), resamples=RESAMPLES, seed=0)
    shares = {name: share.value for name, share in estimates.outcomes.items()}
    values = (estimates.preference.value, estimates.position.value, estimates.consistent, estimates.coverage)
    return dict(zip(MEASURES, values, strict=False)) | shares
