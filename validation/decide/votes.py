"""The vote rule: a label needs enough counted votes; ties and missing votes are reported, never resolved."""

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
"""The posterior above which Dawid-Skene decides a label."""
Outcome = Literal["decided", "split", "tie", "short", "unsure"]
"""`split`: no label has `need` votes; `tie`: two labels are equal with `need` votes; `short`: too few judgements
so far; `unsure`: the Dawid-Skene posterior is too low."""

BY_VOTES, BY_POSTERIOR = "majority", "dawid-skene"
"""The method of a decision: enough equal votes, or a posterior above a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decision on one item, or the reason why there is none."""

    item: str
    label: str | None
    outcome: Outcome
    votes: Mapping[str, int]
    judges: int
    """The number of counted judgements of the item."""

    @property
    def reason(self) -> str:
        """The outcome and the votes as text, most frequent label first."""
        cast = ", ".join(f"{n} {label}" for label, n in self.votes.items()) or "no vote"
        return f"{self.outcome}: {cast}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes(Tabular):
    """The decision on each item, and the judgements behind it."""

    rule: Rule
    decisions: Mapping[str, Decision]
    counted: Counted
    by: str = BY_VOTES

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each item: its label or None, the outcome and the votes."""
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
        """The number of decided items and the rule; `3 of 5` only if five judgements count for every item."""
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
        """The number of decided items by votes out of counted judgements: `3 of 4`."""
        decided = [d for d in self.decisions.values() if d.label is not None]
        shares = Counter((d.judges, d.votes.get(d.label or "", 0)) for d in decided)
        return {f"{votes} of {judges}": n for (judges, votes), n in sorted(shares.items(), reverse=True)}

    @property
    def undecided(self) -> list[Decision]:
        """The items without a label."""
        return [decision for decision in self.decisions.values() if decision.label is None]

    @property
    def labels(self) -> Counter[str]:
        """The number of decided items by label."""
        return Counter(d.label for d in self.decisions.values() if d.label is not None)

    @property
    def set_aside(self) -> Counter[str]:
        """The number of annotations that did not count, by reason."""
        return Counter(annotation.extra["set_aside"] for annotation in self.counted.set_aside)

    @property
    def hang_on_repeats(self) -> list[str]:
        """The items whose label depends on one person's second judgement."""
        hanging = []
        for repeat in self.counted.repeats:
            judged = self.counted.votes[repeat.item]
            both = decide(repeat.item, [a.label for a in judged], self.rule)
            if both.label != decide(repeat.item, [a.label for a in judged if a is not repeat], self.rule).label:
                hanging.append(repeat.item)
        return hanging


def vote(annotations: Iterable[Annotation], rule: Rule | None = None, group: Grouping | None = None) -> Votes:
    """Decide each item by its counted judgements."""
    rule = rule or Rule()
    counted = count(annotations, rule, group)
    decisions = {
        item: decide(item, [a.label for a in judged], replace(rule, of=counted.asked.get(item, rule.of)))
        for item, judged in counted.votes.items()
    }
    return Votes(rule=rule, decisions=decisions, counted=counted)


def decide(item: str, cast: Sequence[str], rule: Rule) -> Decision:
    """Decide for the label with at least `need` votes and more than any other; `|` joins several labels of a judge."""
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
    """The same judgements decided by Dawid-Skene: the label with a posterior above `sure`, if any.

    Each question is estimated separately: a person's errors on one question say nothing about another's labels.
    """
    estimates = votes.counted.by_question(dawid_skene)
    labels = {item: label for each in estimates for item, label in each.labels(sure).items()}
    decisions = {
        item: decision
        if item not in labels
        else replace(decision, label=labels[item], outcome="decided" if labels[item] else "unsure")
        for item, decision in votes.decisions.items()
    }
    return replace(votes, decisions=decisions, by=BY_POSTERIOR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A comparison of a model's labels (posterior above `sure`) with the votes."""

    agrees: int
    differs: Mapping[str, str]
    """Decided items for which the model has another label."""
    settles: Mapping[str, str]
    """Undecided items for which the model has a label."""
    sure: float


def compare(votes: Votes, model: Literal["dawid-skene", "glad"] = "dawid-skene") -> Compared | None:
    """Compare a model with the votes, item by item; None without counted votes, or if a judge names several labels.

    Each question has its own labels, so each model is estimated for each question separately.
    """
    cast = [annotation for judged in votes.counted.votes.values() for annotation in judged]
    if not cast or any("|" in annotation.label for annotation in cast):
        return None
    estimates: Sequence[Estimate] = votes.counted.by_question(dawid_skene if model == "dawid-skene" else glad)
    labels = {item: label for each in estimates for item, label in each.labels(SURE).items() if label}
    by_votes = {item: votes.decisions[item].label for item in labels}
    return Compared(
        agrees=sum(by_votes[item] == label for item, label in labels.items()),
        differs={item: label for item, label in labels.items() if by_votes[item] not in (None, label)},
        settles={item: label for item, label in labels.items() if by_votes[item] is None},
        sure=SURE,
    )
