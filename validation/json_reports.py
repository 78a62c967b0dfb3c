"""JSON reports of the commands: decisions, agreement, annotators and tables of a set, as plain values by name.

A number is under its own name; the limits of its 95 % interval are under the same name in `intervals`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from catsofa.data.judging.adjudicated import Adjudicated
from catsofa.data.judging.glad import glad
from catsofa.data.progress import SILENT, Progress
from catsofa.validation.agreement import STATISTICS, Agreement, agreement, agreement_by, agreement_of_annotators
from catsofa.validation.agreement.annotators import Annotator, Exclusion
from catsofa.validation.agreement.groups import difference
from catsofa.validation.annotation_files import Collected
from catsofa.validation.columns import column
from catsofa.validation.decide.by_group import ByGroup
from catsofa.validation.decide.confirmed import Confirmed
from catsofa.validation.decide.votes import compare
from catsofa.validation.judgements import alike_labels, answers
from catsofa.validation.sets.keywords import Lemmas, Reference, keywords, not_counted
from catsofa.validation.sets.sentiment import NEGATIVE, Classifier, sentiments
from catsofa.validation.sets.sizes import sizes


def votes_report(
    confirmed: Confirmed,
    by_column: Mapping[str, ByGroup] | None = None,
    rulings: Mapping[str, Adjudicated] | None = None,
) -> dict[str, Any]:
    """The numbers of decisions, the undecided items with reasons, and comparisons by models, groups and rulings."""
    votes = confirmed.votes
    seats = confirmed.seats
    report: dict[str, Any] = {
        "items": len(votes.decisions),
        "decided": len(votes.decisions) - len(votes.undecided),
        "undecided": [decision.item for decision in votes.undecided],
        "labels": dict(votes.labels),
        "decided_by": votes.shares,
        "heading": votes.heading(),
        "judgements": {
            "of": "CATs" if confirmed.cats else "items" if all(s.items == 1 for s in seats.values()) else "whole items",
            "counted": sum(each.taken for each in seats.values()),
            "wanted": sum(each.wanted for each in seats.values()),
            "missing": sum(each.missing for each in seats.values()),
            "incomplete": {name: each.taken for name, each in seats.items() if each.missing},
        },
        "rule": {"need": votes.rule.need, "of": votes.rule.of, "by": confirmed.by},
        "reasons": {decision.item: decision.reason for decision in votes.undecided},
        "set_aside": dict(votes.set_aside),
        "repeats": {"counted": len(votes.counted.repeats), "decisive": votes.hang_on_repeats},
        "asked_more": len(votes.counted.asked),
        "failed_gold": sorted(name for name, result in votes.counted.gold.items() if not result.passed),
        "warnings": alike_labels(vote for item_votes in votes.counted.votes.values() for vote in item_votes),
    }
    if confirmed.cats:
        report["cats"] = {
            "items": len(confirmed.cats),
            "kept": len(confirmed.cats) - len(confirmed.refused),
            "refused": {refusal.id: refusal.reason for refusal in confirmed.refused},
        }
    if (compared := compare(votes)) and (by_glad := compare(votes, "glad")):
        report["dawid_skene"] = asdict(compared)
        hard = {item: value for each in votes.counted.by_question(glad) for item, value in each.difficulties().items()}
        report["glad"] = asdict(by_glad) | {"difficulty": hard}
    if judged := {item: ruling for item, ruling in (rulings or {}).items() if item in votes.decisions}:
        report["adjudicated"] = {
            item: {
                "label": ruling.label,
                "cause": ruling.cause,
                "reason": ruling.reason,
                "by": ruling.by,
                "at": ruling.at,
                "by_votes": votes.decisions[item].label or votes.decisions[item].reason,
            }
            for item, ruling in judged.items()
        }
    if by_column:
        report["by"] = {name: by_group_values(part) for name, part in by_column.items()}
    return report


def by_group_values(result: ByGroup) -> dict[str, Any]:
    """The decisions by group of one column: `groups` over all items, `items` by item and group."""
    plain = {f.name: getattr(result, f.name) for f in fields(result)}
    groups = {name: _parted(asdict(group), ("shares", "difficulty")) for name, group in result.groups.items()}
    items = {
        item: {name: _parted(asdict(cell), ("shares",)) for name, cell in row.items()}
        for item, row in result.items.items()
    }
    return {**plain, "groups": groups, "items": items, "difference": result.difference and asdict(result.difference)}


def _parted(values: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The values, with those in `names` (a number, or one per label) split into numbers and limits in `intervals`."""

    def apart(value: Any, place: int) -> Any:
        if isinstance(value, dict):
            return {label: apart(one, place) for label, one in value.items()}
        return value[0] if place == 0 else dict(zip(("low", "high"), value[1], strict=True))

    numbers = {name: apart(values[name], 0) for name in names}
    return {**values, **numbers, "intervals": {name: apart(values[name], 1) for name in names}}


def agreement_report(
    collected: Collected, *, by: Sequence[str] = (), resamples: int = 1000, seed: int = 0, progress: Progress = SILENT
) -> dict[str, Any]:
    """Agreement overall, by domain, target term and annotator, and by each column in `by`.

    `columns` tells whether each column describes items or annotators, and how many judgements have no value.
    """
    annotations, unit = collected.agreed_on(), collected.units()
    judgements = answers(annotations)
    columns = collected.facets() | {name: column(judgements, name) for name in by}
    overall = agreement_values(agreement(annotations, unit=unit, resamples=resamples, seed=seed))
    parts: dict[str, dict[str, Any]] = {}
    for name, described in columns.items():
        within = agreement_by(judgements, described, unit=unit, resamples=resamples, seed=seed, progress=progress)
        parts[name] = {value: agreement_values(part) for value, part in within.items()}
    people = agreement_of_annotators(annotations)
    parts["annotator"] = {
        name: {"percent": a.percent, "intervals": {"percent": {"low": a.low, "high": a.high}}, "items": a.items}
        for name, a in people.items()
    }
    kinds = {
        name: {"describes": described.describes, "left_out": sum(described.value(a) is None for a in judgements)}
        for name, described in columns.items()
    }
    compared = {
        name: result and asdict(result)
        for name in by
        if columns[name].describes == "annotators"
        for result in [difference(judgements, columns[name], seed=seed)]
    }
    repeats = len(judgements) - len({(a.item, a.annotator) for a in judgements})
    note = {"question": "whether each person chose the pair's own bias type"} if collected.pairs else {}
    resampled = "CATs" if unit else "items"
    rest = {"columns": kinds, "by": parts, "differences": compared, "warnings": alike_labels(judgements)}
    return {**overall, "resampled": resampled, "repeats": repeats, **note, **rest}


def agreement_values(result: Agreement) -> dict[str, Any]:
    """The statistics of one set by name, with the counts behind them and notes for readers."""
    values = {name: getattr(result, name) for name in STATISTICS}
    rests_on = {name: getattr(result, name) for name in ("items", "judged", "annotations", "prevalence", "chance")}
    remarks = {name: remark for name in ("note", "withheld") if (remark := getattr(result, name))}
    intervals = {name: {"low": result.low[name], "high": result.high[name]} for name in STATISTICS}
    return {**values, "intervals": intervals, **rests_on, **remarks}


def annotators_report(people: Iterable[Annotator], exclusion: Exclusion) -> dict[str, Any]:
    """Each person by name, and the effect of the exclusion."""
    shown = {person.name: {key: value for key, value in asdict(person).items() if key != "name"} for person in people}
    return {"annotators": shown, "exclusion": asdict(exclusion)}


def stats_report(
    records: Sequence[Any],
    *,
    classify: Classifier | None = None,
    negative: Sequence[str] = (),
    reference: Reference | None = None,
    lemmas: Lemmas | None = None,
    top: int = 16,
) -> dict[str, Any]:
    """The sizes of a set, its sentiment if there is a classifier, and its keywords if there is a reference."""
    report: dict[str, Any] = {
        "sizes": {kind: {d: asdict(size) for d, size in domains.items()} for kind, domains in sizes(records).items()}
    }
    if classify:
        shares = sentiments(records, classify, negative or NEGATIVE)
        report["sentiment"] = {side: asdict(share) for side, share in shares.items()}
    if reference:
        ranked = keywords(records, reference, lemmas=lemmas, top=top)
        report["keywords"] = {domain: [asdict(word) for word in words] for domain, words in ranked.items()}
        if left_out := not_counted(records, lemmas):
            report["not_counted"] = left_out
    return report
