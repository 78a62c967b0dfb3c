"""Commands that validate: analyse people's judgements, and find faults of a set."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from catsofa.cli.terminal import Bar, Json, doing, examples, note, print_json, say, table, warn
from catsofa.cli.validate import alternative, neutral, proposals, sets, votes
from catsofa.cli.validate.inputs import (
    GoldPass,
    Group,
    Need,
    Of,
    Resamples,
    Seed,
    Source,
    about,
    collected,
    with_background,
)
from catsofa.cli.validate.sets import signed
from catsofa.data.percentages import quantity

room = typer.Typer(
    no_args_is_help=True,
    help="Analyse people's judgements (votes, agreement), check a set, and split it.",
)

GROUPED = {
    "items": "describes items; all judgements of its items",
    "annotators": "describes annotators; its people's judgements only",
}


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    votes.register(room)
    sets.register(room)
    alternative.register(room)
    proposals.register(room)
    neutral.register(room)
    app.add_typer(room, name="validate")


@room.command(
    epilog=examples(
        "catsofa validate agreement --on annotations.csv",
        "catsofa validate agreement --on annotations.csv --by split --json",
        "catsofa validate agreement --on crows_pairs_anonymized.csv",
        "catsofa validate agreement --on study/annotations.jsonl --by age_band  # what people said of themselves",
    )
)
def agreement(
    source: Source,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Column that describes items (groups items) or annotators (groups their judgements)."),
    ] = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Measure agreement: Fleiss' kappa, Krippendorff's alpha, percent, unanimous, with 95 % intervals.

    In the folder of a study, --by also takes a question of its questionnaire. Answers of fewer than k people are made
    wider, or withheld.
    """
    from catsofa.validation.json_reports import agreement_report

    with about(source):
        collection = collected(source, json)
        collection = replace(collection, annotations=with_background(collection.annotations, source, by or ())[0])
        doing(f"resampling {len(collection.annotations):,} annotations {resamples:,} times")
        report = agreement_report(
            collection,
            by=by or (),
            resamples=resamples,
            seed=seed,
            progress=Bar("agreement within", quiet=json),
        )
    report = signed(report, {source: collection.annotations}, seed=seed, resamples=resamples)
    if json:
        print_json(report)
    else:
        _say_agreement(report)
        warn(report["warnings"])
        say(report["signature"]["line"])


def _say_agreement(report: dict[str, Any]) -> None:
    """Prints the agreement: all items, then the groups of each column, highest agreement first."""
    from catsofa.validation.agreement.intervals import FEWEST

    columns = ["", "kappa", "alpha", "percent", "unanimous", "items"]
    table("Agreement: value, 95 % interval", columns, [_agreement_row("all", report)])
    partly = report["items"] < report["judged"]
    for name, kind in report["columns"].items():
        parts = report["by"][name]
        most_agreed = sorted(parts.items(), key=lambda part: -part[1]["percent"] if part[1]["items"] else 1)
        rows = [_agreement_row(value, part) for value, part in most_agreed]
        table(f"By {name} ({GROUPED[kind['describes']]})", columns, rows)
        partly |= any(part["items"] < part["judged"] for part in parts.values())
        if difference := report["differences"].get(name):
            say(votes.sentence_of(name, difference))
        if kind["left_out"]:
            note(f"{kind['left_out']:,} judgements have no {name} and are in none of its groups")
    if partly:
        say("items: those that two people or more of the group judged, of all that anybody of it judged")
    if "question" in report:
        say(f"what people agree on: {report['question']}")
    say(f"{len(report['by']['annotator']):,} annotators: catsofa validate annotators shows each of them")
    if repeats := report["repeats"]:
        note(f"{quantity(repeats, 'answer')} by people who had judged the item before; each counts like anybody's")
    for remark in ("note", "withheld"):
        if remark in report:
            note(report[remark])
    if any("withheld" in part for parts in report["by"].values() for part in parts.values()):
        say(f"–: no interval where fewer than {FEWEST} items, or CATs, say too little of others")


def _agreement_row(name: str, part: dict[str, Any]) -> list[object]:
    """Returns one row of a table of agreement."""

    def within(key: str) -> str:
        ends = part["intervals"][key]
        if part[key] != part[key]:
            return "–"
        limits = f"{_number(ends['low'])}–{_number(ends['high'])}" if ends["low"] == ends["low"] else "–"
        return f"{_number(part[key])} {limits}"

    items, judged = part["items"], part["judged"]
    return [
        name,
        *map(within, ("fleiss_kappa", "krippendorff_alpha", "percent", "unanimous")),
        f"{items:,}" if items == judged else f"{items:,} of {judged:,}",
    ]


def _number(value: float, digits: int = 3) -> str:
    """Formats a number; NaN is a dash."""
    return f"{value:.{digits}f}" if value == value else "–"


@room.command(
    epilog=examples(
        "catsofa validate annotators --on annotations.csv",
        "catsofa validate annotators --on collected.jsonl --consensus 0.6 --json",
    )
)
def annotators(
    source: Source,
    consensus: Annotated[
        float | None,
        typer.Option(help="Least agreement with the others. Default: midway from chance to the median."),
    ] = None,
    gold_pass: GoldPass = 0.75,
    need: Need = 3,
    of: Of = 5,
    group: Group = "",
    json: Json = False,
) -> None:
    """Show each annotator's accuracy, speed and habits; whom to exclude, why, and what that would change."""
    from catsofa.validation.agreement.annotators import Limits, without
    from catsofa.validation.agreement.annotators import annotators as look_at
    from catsofa.validation.json_reports import annotators_report
    from catsofa.validation.judgements import Rule

    rule = Rule(need=need, of=of, gold_pass=gold_pass)
    with about(source):
        collection = collected(source, json, group)
        people = look_at(collection.annotations, Limits(consensus=consensus, gold_pass=gold_pass))
        exclusion = without(collection, [person.name for person in people if person.exclude], rule)
    report = signed(annotators_report(people, exclusion), {source: collection.annotations})
    if json:
        print_json(report)
        return
    columns = ["annotator", "answers", "consensus", "spam", "seconds", "exclude because"]
    rows = [
        [p.name, p.answers, _number(p.consensus, 2), _number(p.spam, 2), _number(p.seconds, 1), "; ".join(p.exclude)]
        for p in people
    ]
    table(f"Annotators ({len(people):,})", columns, rows)
    say(
        f"leaving out {len(exclusion.excluded):,} people ({exclusion.annotations:,} annotations): "
        f"{len(exclusion.lost):,} items lose their decision, {len(exclusion.gained):,} gain one, "
        f"{len(exclusion.changed):,} change label"
    )
    say(report["signature"]["line"])
