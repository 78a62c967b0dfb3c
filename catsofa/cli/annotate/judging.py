"""Counts and compares the judgements of a study. Connects `catsofa.annotation` with `catsofa.validation`."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catsofa.annotation.crowd.owner.cases import Tally
    from catsofa.annotation.crowd.owner.facts import Overview
    from catsofa.annotation.results.status import Status
    from catsofa.annotation.study import Study
    from catsofa.data.records import Annotation
    from catsofa.validation.decide.votes import Decision, Votes


def status_of(study: "Study") -> "Status":
    """Returns the status of a study, with seats counted by the vote rule and the percent agreement so far."""
    from catsofa.annotation.results.status import status
    from catsofa.validation.agreement import agreement
    from catsofa.validation.judgements import Rule, count

    def seats(annotations: Sequence["Annotation"], people: int) -> dict[str, int]:
        counted = count(annotations, Rule(need=1, of=people), lambda annotation: str(annotation.extra["task"]))
        return {task: each.taken for task, each in counted.seats.items()}

    return status(study, lambda annotations: agreement(annotations, resamples=1).percent, seats)


def undecided(study: "Study", need: int, posterior: float | None = None) -> "tuple[list[Decision], Votes | None]":
    """Returns the undecided items that have all their judgements; and all votes, or None without judgements."""
    from catsofa.data.files import jsonl
    from catsofa.data.records import Annotation
    from catsofa.validation.annotation_files import collect
    from catsofa.validation.decide.confirmed import confirm
    from catsofa.validation.judgements import Rule, is_skipped

    judged, overlap = study.folder / "annotations.jsonl", study.settings.overlap
    if not judged.is_file() or not judged.stat().st_size:
        return [], None
    collected = collect(jsonl.read(judged, Annotation))
    votes = confirm(collected, Rule(need=need, of=overlap), posterior).votes
    people = defaultdict[str, set[str]](set)
    for annotation in collected.annotations:
        if not is_skipped(annotation):
            people[annotation.item].add(annotation.annotator)
    return [d for d in votes.undecided if len(people[d.item]) >= votes.counted.asked.get(d.item, overlap)], votes


def tallies(study: "Study") -> "dict[str, Tally]":
    """Returns, for each item, who gave which label and the label of the votes.

    Flags an item for the owner if it has all its judgements and no label has more than half of the votes.
    """
    from catsofa.annotation.crowd.owner.cases import Tally

    open_items, votes = undecided(study, study.settings.overlap // 2 + 1)
    names, by_item = {decision.item for decision in open_items if decision.outcome != "short"}, dict[str, Tally]()
    for item, decision in votes.decisions.items() if votes else ():
        annotators = defaultdict[str, list[str]](list)
        for vote in votes.counted.votes[item] if votes else ():
            annotators[vote.label].append(vote.annotator)
        by_item[item] = Tally(said=annotators, label=decision.label or "", undecided=item in names)
    return by_item


def look(study: "Study") -> "Overview":
    """Returns an overview of a study that `annotate open` serves."""
    from catsofa.annotation.crowd.owner.facts import overview

    return overview(study, status_of, tallies)
