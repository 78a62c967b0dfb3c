"""Diversity of the proposals of each model and prompt, and the number of groups that they cover."""

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
    """Replies that decline; many of them do not mean that a group has few stereotypes."""
    failed: int
    """Requests without a reply."""
    kept: int
    """Associations that this model gave by this prompt, possibly with others."""
    alone: int
    """Associations that no other model or prompt gave."""
    distinct: float
    """Distinct meanings per association: 1 if no attribute is given for two groups."""
    top: float
    """The share of the ten most frequent attributes."""
    covered: int
    """Targets with at least one association."""
    targets: int


def diversity(questions: Sequence[Question], outcomes: Iterable[Association | Refused]) -> list[Diversity]:
    """Returns one row for each model and prompt."""
    by_prompt: dict[tuple[str, str], list[Association]] = defaultdict(list)
    reasons: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        if isinstance(outcome, Refused):
            reasons[str(outcome.source["model"]), str(outcome.source["prompt"])][outcome.reason] += 1
        else:
            for proposer in outcome.extra["said_by"]:
                by_prompt[proposer["model"], proposer["prompt"]].append(outcome)
    rows = []
    for (model, prompt), requests in Counter((q.request.model, q.prompt.name) for q in questions).items():
        own, refused = by_prompt[model, prompt], reasons[model, prompt]
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
                targets=len({q.target for q in questions if (q.request.model, q.prompt.name) == (model, prompt)}),
            )
        )
    return rows
