"""Commands that validate: what people's judgements decide, and what is wrong with a set."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catsofa.cli.terminal import Bar, Json, Quiet, doing, examples, note, print_json, reading, say, table, warn
from catsofa.cli.validate import alternative, proposals, sets
from catsofa.cli.validate.sets import signed
from catsofa.data.percentages import quantity

if TYPE_CHECKING:
    from catsofa.validation.annotation_files import Collected

room = typer.Typer(
    no_args_is_help=True,
    help="What people's judgements decide, how far they agree, what is wrong with a set, and how to split it.",
)

Source = Annotated[
    Path, typer.Option("--in", help="Annotations (item, annotator, label), CATs with labels, or CrowS-Pairs.")
]
Need = Annotated[int, typer.Option(help="Votes a label needs.")]
Of = Annotated[int, typer.Option(help="Judgements that count for each item: the first of them.")]
Seed = Annotated[int, typer.Option(help="Seed of what is drawn at random.")]
Resamples = Annotated[int, typer.Option(help="Bootstrap resamples for the intervals.")]
Group = Annotated[
    str,
    typer.Option(help="Column that names the CAT of an item, which is judged and kept as a whole.", show_default=False),
]
Labels = Annotated[str, typer.Option(help="The valid answers, separated by commas; any, if not given.")]
GoldPass = Annotated[float, typer.Option(help="Share of attention items (column gold) a person must get right.")]
Out = Annotated[Path | None, typer.Option(help="Write what was confirmed: the CATs, or each item with its label.")]
Refused = Annotated[Path | None, typer.Option(help="Write what was not confirmed, with the reason, as JSONL.")]
SetAside = Annotated[Path | None, typer.Option(help="Write the annotations that did not count, with the reason.")]

GROUPED = {
    "items": "describes items; all judgements of its items",
    "annotators": "describes annotators; its people's judgements only",
}


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    sets.register(room)
    alternative.register(room)
    proposals.register(room)
    app.add_typer(room, name="validate")


@contextmanager
def about(*files: Path) -> Iterator[None]:
    """What is wrong with what a file holds names the file."""
    from catsofa.data.files import BadInput

    try:
        yield
    except BadInput:
        raise
    except ValueError as error:
        raise ValueError(f"{', '.join(map(str, files))}: {error}") from None


def _collected(path: Path, quiet: bool, group: str = "", cats: Path | None = None) -> "Collected":
    """The annotations in a file of any format that has some, put on the CATs they judge if those are given."""
    from catsofa.data import formats
    from catsofa.data.records import Cat
    from catsofa.validation.annotation_files import collect, onto

    found = collect(reading(path, quiet=quiet), group)
    doing(f"looking at {len(found.annotations):,} annotations")
    return onto(formats.read_as(cats, Cat), found) if cats else found


def _with_background(found: "Collected", source: Path, by: Iterable[str]) -> "Collected":
    """The annotations of a study with what their people said about themselves, as far as it may be published."""
    from dataclasses import replace

    from catsofa.annotation.crowd.people.background import published
    from catsofa.annotation.study import open_study

    wanted = set(by) - {name for annotation in found.annotations for name in annotation.extra}
    if not wanted or not (source.parent / "study.json").is_file():
        return found
    people = {annotation.annotator for annotation in found.annotations}
    about = published(open_study(source.parent), people, wanted)
    joined = [replace(a, extra={**a.extra, **about.get(a.annotator, {})}) for a in found.annotations]
    return replace(found, annotations=joined)


def _write(records: Iterable[Any], path: Path | None, csv_format: str = "annotations") -> None:
    """Write records where asked: as CSV or StereoSet JSON by the ending, else as JSONL."""
    from catsofa.data import formats

    if path is not None:
        name = {".csv": csv_format, ".json": "stereoset"}.get(path.suffix, "jsonl")
        formats.named(name).write(records, path)


@room.command(
    epilog=examples(
        "catsofa validate votes --in annotations.csv --need 3",
        "catsofa validate votes --in annotations.csv --need 4 --group cluster_id --json",
        "catsofa validate votes --in annotations.jsonl --cats drafts.jsonl --out validated.jsonl",
    )
)
def votes(
    source: Source,
    need: Need = 3,
    of: Of = 5,
    group: Group = "",
    cats: Annotated[Path | None, typer.Option(help="The CATs judged, if they are in a file of their own.")] = None,
    labels: Labels = "",
    gold_pass: GoldPass = 0.75,
    writer_counts: Annotated[bool, typer.Option("--writer-counts", help="The writer's label is a vote too.")] = False,
    drop_repeats: Annotated[
        bool, typer.Option("--drop-repeats", help="One person never takes two seats, even where the last stays empty.")
    ] = False,
    posterior: Annotated[
        float | None, typer.Option(help="Let Dawid-Skene decide instead: the label with a posterior above this.")
    ] = None,
    out: Out = None,
    refused: Refused = None,
    set_aside: SetAside = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Decide each item by the first valid, distinct, complete judgements of people who pass gold."""
    from catsofa.validation.decide.confirmed import confirm
    from catsofa.validation.json_reports import votes_report
    from catsofa.validation.judgements import Rule

    valid = tuple(part.strip() for part in labels.split(",") if part.strip())
    rule = Rule(
        need=need,
        of=of,
        labels=valid,
        gold_pass=gold_pass,
        writer_counts=writer_counts,
        repeats="drop" if drop_repeats else "fill",
    )
    with about(source):
        collected = _collected(source, quiet or json, group, cats)
        confirmed = confirm(collected, rule, posterior)
    _write(confirmed.decided(), out)
    _write(confirmed.not_decided(), refused, csv_format="jsonl")
    _write(confirmed.votes.counted.set_aside, set_aside)
    report = signed(votes_report(confirmed), {source: collected.annotations})
    if json:
        print_json(report)
    elif not quiet:
        _say_votes(report)
        warn(report["warnings"])
        say(report["signature"]["line"])


def _say_votes(report: dict[str, Any]) -> None:
    """The decisions for people."""
    say(report["heading"])
    judged = report["judgements"]
    if judged["missing"]:
        if report["decided_by"]:
            table("Decided by", ["votes of judgements that count", "items"], report["decided_by"].items())
        say(
            f"{judged['counted']:,} of {judged['wanted']:,} judgements count, {judged['missing']:,} are missing: "
            f"{len(judged['incomplete']):,} {judged['of']} are incomplete (--json names them)"
        )
    if report["labels"]:
        table("Labels", ["label", "items"], report["labels"].items())
    if cats := report.get("cats"):
        say(f"{cats['kept']:,} of {cats['items']:,} CATs confirmed")
    if report["set_aside"]:
        table("Annotations that did not count", ["reason", "annotations"], report["set_aside"].items())
    if more := report["asked_more"]:
        say(f"about {more:,} items more people were asked, and as many judgements count")
    if counted := report["repeats"]["counted"]:
        say(
            f"{counted:,} times one person's second judgement took a seat nobody else took, and decided "
            f"{len(report['repeats']['decisive']):,} items; --drop-repeats leaves such seats empty"
        )
    for item in report["undecided"][:10]:
        say(f"  {item}: {report['reasons'][item]}")
    if len(report["undecided"]) > 10:
        say(f"  and {len(report['undecided']) - 10:,} more (--refused FILE writes them all)")
    if beside := report.get("dawid_skene"):
        say(
            f"Dawid-Skene (posterior above {beside['sure']}) agrees on {beside['agrees']:,}, says otherwise on "
            f"{len(beside['differs']):,} and would settle {len(beside['settles']):,} of the undecided"
        )


@room.command(
    epilog=examples(
        "catsofa validate agreement --in annotations.csv",
        "catsofa validate agreement --in annotations.csv --by split --json",
        "catsofa validate agreement --in crows_pairs_anonymized.csv",
        "catsofa validate agreement --in study/annotations.jsonl --by age_band  # what people said of themselves",
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
    """How far people agree: Fleiss' kappa, Krippendorff's alpha, percent, unanimous, with 95 % intervals.

    In the folder of a study, --by also takes a question of its questionnaire. Answers of fewer than k people are made
    wider, or withheld.
    """
    from catsofa.validation.json_reports import agreement_report

    with about(source):
        collected = _with_background(_collected(source, json), source, by or ())
        doing(f"resampling {len(collected.annotations):,} annotations {resamples:,} times")
        report = agreement_report(
            collected,
            by=by or (),
            resamples=resamples,
            seed=seed,
            progress=Bar("agreement within", quiet=json),
        )
    report = signed(report, {source: collected.annotations}, seed=seed, resamples=resamples)
    if json:
        print_json(report)
    else:
        _say_agreement(report)
        warn(report["warnings"])
        say(report["signature"]["line"])


def _say_agreement(report: dict[str, Any]) -> None:
    """Agreement for people: all items, then the groups of each column, those that agree most first."""
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
        if found := report["differences"].get(name):
            say(
                f"two people of one {name} agree on {found['within']:.3f} of their common items, of two on "
                f"{found['between']:.3f}: p = {found['p']:.3f} "
                f"({found['permutations']:,} permutations of {found['people']:,} people)"
            )
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
    """One line of a table of agreement."""

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
    """A number for people; a dash where there is none."""
    return f"{value:.{digits}f}" if value == value else "–"


@room.command(
    epilog=examples(
        "catsofa validate annotators --in annotations.csv",
        "catsofa validate annotators --in collected.jsonl --consensus 0.6 --json",
    )
)
def annotators(
    source: Source,
    consensus: Annotated[
        float | None,
        typer.Option(help="Least agreement with the others; midway from chance to the median, if not given."),
    ] = None,
    gold_pass: GoldPass = 0.75,
    need: Need = 3,
    of: Of = 5,
    group: Group = "",
    json: Json = False,
) -> None:
    """Each annotator's accuracy, speed and habits; whom to exclude, why, and what that would change."""
    from catsofa.validation.agreement.annotators import Limits, without
    from catsofa.validation.agreement.annotators import annotators as look_at
    from catsofa.validation.json_reports import annotators_report
    from catsofa.validation.judgements import Rule

    rule = Rule(need=need, of=of, gold_pass=gold_pass)
    with about(source):
        collected = _collected(source, json, group)
        people = look_at(collected.annotations, Limits(consensus=consensus, gold_pass=gold_pass))
        exclusion = without(collected, [person.name for person in people if person.exclude], rule)
    report = signed(annotators_report(people, exclusion), {source: collected.annotations})
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
