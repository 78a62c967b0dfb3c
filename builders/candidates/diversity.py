"""How varied the proposals of each model and prompt are, and how many groups they cover."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from catsofa.builders.candidates import Question
from catsofa.data.language.same_meaning import core
from catsofa.data.records import Association, Refused

REFUSALS = ("refusal", "content_filter")
TOP = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Diversity:
    """The proposals of one model by one prompt."""

    model: str
    prompt: str
    requests: int
    refusals: int
    """Replies that decline; a group with many of them is not one with few stereotypes."""
    failed: int
    """Requests without a reply."""
    kept: int
    """Associations that this model said by this prompt, perhaps others too."""
    alone: int
    """Those that no other model or prompt said."""
    distinct: float
    """Different meanings by associations: 1 if no attribute is said of two groups."""
    top: float
    """The share of the ten most frequent attributes."""
    covered: int
    """Targets with at least one association."""
    targets: int


def diversity(asked: Sequence[Question], outcomes: Iterable[Association | Refused]) -> list[Diversity]:
    """One row per model and prompt."""
    kept: dict[tuple[str, str], list[Association]] = defaultdict(list)
    reasons: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        if isinstance(outcome, Refused):
            reasons[str(outcome.source["model"]), str(outcome.source["prompt"])][outcome.reason] += 1
        else:
            for by in outcome.extra["said_by"]:
                kept[by["model"], by["prompt"]].append(outcome)
    rows = []
    for (model, prompt), requests in Counter((q.request.model, q.prompt.name) for q in asked).items():
        own, refused = kept[model, prompt], reasons[model, prompt]
        meanings = Counter(core(one.attribute, one.language) for one in own)
        rows.append(
            Diversity(
                model=model,
                prompt=prompt,
                requests=requests,
                refusals=sum(refused[reason] for reason in REFUSALS),
                failed=sum(count for reason, count in refused.items() if reason.startswith("failed_")),
                kept=len(own),
                alone=sum(len(one.extra["said_by"]) == 1 for one in own),
                distinct=len(meanings) / len(own) if own else float("nan"),
                top=sum(n for _, n in meanings.most_common(TOP)) / len(own) if own else float("nan"),
                covered=len({(one.identity, one.region, one.language) for one in own}),
                targets=len({q.target for q in asked if (q.request.model, q.prompt.name) == (model, prompt)}),
            )
        )
    return rows
