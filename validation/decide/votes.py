"""The vote rule: a label that enough of the counted judges gave; ties and gaps are named, never resolved."""

__all__ = ["vote"]

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from catsofa.data.judging.dawid_skene import dawid_skene
from catsofa.data.judging.estimate import Estimate
from catsofa.data.judging.glad import glad
from catsofa.data.records import Annotation
from catsofa.data.tables import Tabular
from catsofa.validation.judgements import Counted, Grouping, Rule, count

SURE = 0.9
"""The posterior above which Dawid-Skene names a label."""
Outcome = Literal["decided", "split", "tie", "short", "unsure"]
"""`split`: nobody has `need` votes; `tie`: two labels have; `short`: too few judged yet to say; `unsure`: the
posterior is too low, where Dawid-Skene decides."""

BY_VOTES, BY_POSTERIOR = "majority", "dawid-skene"
"""What decided: enough equal votes, or a posterior above a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the judges of one item decided, or why they did not."""

    item: str
    label: str | None
    outcome: Outcome
    votes: Mapping[str, int]
    judges: int
    """How many judgements count for the item."""

    @property
    def reason(self) -> str:
        """The votes in words, the most frequent first."""
        cast = ", ".join(f"{n} {label}" for label, n in self.votes.items()) or "no vote"
        return f"{self.outcome}: {cast}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes(Tabular):
    """The decision on each item, and which judgements it rests on."""

    rule: Rule
    decisions: Mapping[str, Decision]
    counted: Counted
    by: str = BY_VOTES

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each item: its label, or why it has none."""
        return [
            {
                "item": d.item,
                "label": d.label,
                "outcome": d.outcome,
                "judges": d.judges,
                "votes": d.reason.partition(": ")[2],
            }
            for d in self.decisions.values()
        ]

    def heading(self) -> str:
        """How many items are decided, by which rule; `3 of 5` only where five judgements count for every item."""
        decided, rule = len(self.decisions) - len(self.undecided), f"{self.rule.need} of {self.rule.of} judgements"
        if self.by == BY_POSTERIOR:
            rule = "Dawid-Skene"
        elif any(decision.judges != self.rule.of for decision in self.decisions.values()):
            rule = f"at least {self.rule.need} votes for one label among at most {self.rule.of} judgements"
            if self.counted.asked:
                rule += f", or all where more than {self.rule.of} people were asked"
        return f"{decided:,} of {len(self.decisions):,} items decided by {rule}"

    @property
    def shares(self) -> dict[str, int]:
        """How many items were decided by how many of the judgements that count: `3 of 4`."""
        decided = [d for d in self.decisions.values() if d.label is not None]
        shares = Counter((d.judges, d.votes.get(d.label or "", 0)) for d in decided)
        return {f"{votes} of {judges}": n for (judges, votes), n in sorted(shares.items(), reverse=True)}

    @property
    def undecided(self) -> list[Decision]:
        """The items without a label."""
        return [decision for decision in self.decisions.values() if decision.label is None]

    @property
    def labels(self) -> Counter[str]:
        """How many items were decided for each label."""
        return Counter(d.label for d in self.decisions.values() if d.label is not None)

    @property
    def set_aside(self) -> Counter[str]:
        """How many annotations did not count, by reason."""
        return Counter(annotation.extra["set_aside"] for annotation in self.counted.set_aside)

    @property
    def hang_on_repeats(self) -> list[str]:
        """The items that one person's second judgement decides: without it they have no label, or another."""
        hanging = []
        for repeat in self.counted.repeats:
            judged = self.counted.votes[repeat.item]
            both = decide(repeat.item, [a.label for a in judged], self.rule)
            if both.label != decide(repeat.item, [a.label for a in judged if a is not repeat], self.rule).label:
                hanging.append(repeat.item)
        return hanging


def vote(annotations: Iterable[Annotation], rule: Rule | None = None, group: Grouping | None = None) -> Votes:
    """Decide each item by the judgements that count."""
    rule = rule or Rule()
    counted = count(annotations, rule, group)
    decisions = {
        item: decide(item, [a.label for a in judged], replace(rule, of=counted.asked.get(item, rule.of)))
        for item, judged in counted.votes.items()
    }
    return Votes(rule=rule, decisions=decisions, counted=counted)


def decide(item: str, cast: Sequence[str], rule: Rule) -> Decision:
    """The label with at least `need` votes and more than any other; a judge may name several with `|`."""
    votes = dict(Counter(label for answer in cast for label in dict.fromkeys(answer.split("|"))).most_common())
    ranked = list(votes.items())
    label: str | None = None
    outcome: Outcome
    if not ranked or ranked[0][1] < rule.need:
        outcome = "short" if len(cast) < rule.of else "split"
    elif len(ranked) > 1 and ranked[1][1] == ranked[0][1]:
        outcome = "tie"
    else:
        label, outcome = ranked[0][0], "decided"
    return Decision(item=item, label=label, outcome=outcome, votes=votes, judges=len(cast))


def decide_by_posterior(votes: Votes, sure: float = SURE) -> Votes:
    """The same judgements decided by Dawid-Skene: the label whose posterior is above `sure`, if there is one.

    It is estimated for each question apart: how a person errs in one says nothing of the labels of another.
    """
    estimates = votes.counted.by_question(dawid_skene)
    found = {item: label for each in estimates for item, label in each.labels(sure).items()}
    decisions = {
        item: decision
        if item not in found
        else replace(decision, label=found[item], outcome="decided" if found[item] else "unsure")
        for item, decision in votes.decisions.items()
    }
    return replace(votes, decisions=decisions, by=BY_POSTERIOR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Where a model (posterior above `sure`) says what the votes do not."""

    agrees: int
    differs: Mapping[str, str]
    """Decided items for which it has another label."""
    settles: Mapping[str, str]
    """Undecided items for which it has one."""
    sure: float


def compare(votes: Votes, model: Literal["dawid-skene", "glad"] = "dawid-skene") -> Compared | None:
    """A model beside the votes, item by item; None where nothing counts, or a judge names several labels.

    Both are estimated for each question apart, which has labels of its own.
    """
    cast = [annotation for judged in votes.counted.votes.values() for annotation in judged]
    if not cast or any("|" in annotation.label for annotation in cast):
        return None
    estimates: Sequence[Estimate] = votes.counted.by_question(dawid_skene if model == "dawid-skene" else glad)
    found = {item: label for each in estimates for item, label in each.labels(SURE).items() if label}
    by_votes = {item: votes.decisions[item].label for item in found}
    return Compared(
        agrees=sum(by_votes[item] == label for item, label in found.items()),
        differs={item: label for item, label in found.items() if by_votes[item] not in (None, label)},
        settles={item: label for item, label in found.items() if by_votes[item] is None},
        sure=SURE,
    )
