"""The command that decides items by votes, for all annotators and for groups of annotators."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from catsofa.cli.terminal import Json, Quiet, examples, note, print_json, say, table, warn
from catsofa.cli.validate.inputs import (
    GoldPass,
    Group,
    Need,
    Of,
    Seed,
    Source,
    about,
    adjudicated_beside,
    collected,
    with_background,
)
from catsofa.cli.validate.sets import say_set_aside, signed
from catsofa.data.percentages import quantity

Labels = Annotated[str, typer.Option(help="Valid answers, separated by commas. Default: any.")]
Out = Annotated[Path | None, typer.Option(help="Write what was confirmed: the CATs, or each item with its label.")]
Refused = Annotated[Path | None, typer.Option(help="Write what was not confirmed, with the reason (JSONL).")]
SetAside = Annotated[Path | None, typer.Option(help="Write the annotations that did not count, with the reason.")]
SHOWN = 6
"""Number of labels whose shares are printed."""
By = Annotated[
    list[str] | None,
    typer.Option(help="Column that describes annotators; also shows what each of its groups decides."),
]


def register(room: typer.Typer) -> None:
    """Adds the command of this module."""
    room.command(
        epilog=examples(
            "catsofa validate votes --on annotations.csv --need 3",
            "catsofa validate votes --on annotations.csv --need 4 --group cluster_id --json",
            "catsofa validate votes --on annotations.jsonl --cats drafts.jsonl --out validated.jsonl",
            "catsofa validate votes --on study/annotations.jsonl --by relation_to_target",
        )
    )(votes)


def _write(records: Iterable[Any], path: Path | None, csv_format: str = "annotations") -> None:
    """Writes records as CSV or StereoSet JSON by the ending of the path, otherwise as JSONL; no path: no output."""
    from catsofa.data import formats

    if path is not None:
        name = {".csv": csv_format, ".json": "stereoset"}.get(path.suffix, "jsonl")
        formats.named(name).write(records, path)


def votes(
    source: Source,
    need: Need = 3,
    of: Of = 5,
    group: Group = "",
    cats: Annotated[Path | None, typer.Option(help="CATs that were judged, if they are in a separate file.")] = None,
    labels: Labels = "",
    gold_pass: GoldPass = 0.75,
    writer_counts: Annotated[bool, typer.Option("--writer-counts", help="Count the writer's label as a vote.")] = False,
    drop_repeats: Annotated[
        bool, typer.Option("--drop-repeats", help="Never give one person two seats, even if the last seat stays empty.")
    ] = False,
    posterior: Annotated[
        float | None, typer.Option(help="Decide by Dawid–Skene: the label with a posterior above this value.")
    ] = None,
    by: By = None,
    seed: Seed = 0,
    out: Out = None,
    refused: Refused = None,
    set_aside: SetAside = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Decide each item by the first valid, distinct, complete judgements of people who pass gold.

    If the owner of a study decided items that the votes left undecided, these decisions are shown next to the votes.
    They change nothing here; `release` uses them.

    --by also shows the decisions of each group of annotators: votes, label and difficulty of each item, and a test of
    whether groups decide differently. In the folder of a study, --by takes a question of its questionnaire. Answers of
    fewer than k people are merged into wider ones, or withheld. So are groups of fewer than k people at an item.
    Exit code 1: no judgement counts.
    """
    from catsofa.validation.columns import column
    from catsofa.validation.decide.by_group import by_group
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
        collection = collected(source, quiet or json, group, cats)
        confirmed = confirm(collection, rule, posterior)
        counted = [vote for cast in confirmed.votes.counted.votes.values() for vote in cast]
        judged, k = with_background(counted, source, by or ())
        rulings = adjudicated_beside(source)
        parts = {name: by_group(judged, column(judged, name), k=k, seed=seed) for name in by or ()}
    _write(confirmed.decided(), out)
    _write(confirmed.not_decided(), refused, csv_format="jsonl")
    _write(confirmed.votes.counted.set_aside, set_aside)
    report = signed(
        votes_report(confirmed, parts, rulings), {source: collection.annotations}, **({"seed": seed} if by else {})
    )
    if json:
        print_json(report)
    elif not quiet:
        _say_votes(report, refused)
        for name, part in report.get("by", {}).items():
            _say_groups(name, part)
        warn(report["warnings"])
        say(report["signature"]["line"])
    if not report["judgements"]["counted"] and not report["decided"]:
        note("no judgement counts, so no item is decided; --set-aside FILE writes each with its reason", quiet=quiet)
        raise typer.Exit(1)


def _say_votes(report: dict[str, Any], refused: Path | None) -> None:
    """Prints the decisions."""
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
    say_set_aside(report)
    if more := report["asked_more"]:
        say(f"about {more:,} items more people were asked, and as many judgements count")
    if counted := report["repeats"]["counted"]:
        say(
            f"{counted:,} times one person's second judgement took a free seat, and decided "
            f"{len(report['repeats']['decisive']):,} items; --drop-repeats leaves such seats empty"
        )
    for item in report["undecided"][:10]:
        say(f"  {item}: {report['reasons'][item]}")
    if len(report["undecided"]) > 10:
        where = f"{refused} has them all" if refused else "--refused FILE writes them all"
        say(f"  and {len(report['undecided']) - 10:,} more ({where})")
    if rulings := report.get("adjudicated"):
        say(f"{quantity(len(rulings), 'item')} adjudicated by the owner of the study, beside the votes:")
        for item, ruling in [*rulings.items()][:10]:
            say(f"  {item}: {ruling['label']} ({ruling['reason']}); by votes {ruling['by_votes']}")
        if len(rulings) > 10:
            say(f"  and {len(rulings) - 10:,} more (--json names them all)")
    for name, beside in (("Dawid-Skene", report.get("dawid_skene")), ("GLAD", report.get("glad"))):
        if beside:
            say(
                f"{name} (posterior above {beside['sure']}) agrees on {beside['agrees']:,}, disagrees on "
                f"{len(beside['differs']):,} and would decide {len(beside['settles']):,} of the undecided"
            )


def _say_groups(name: str, part: dict[str, Any]) -> None:
    """Prints what the groups of one column decide."""
    labels = list(dict.fromkeys(label for group in part["groups"].values() for label in group["shares"]))[:SHOWN]
    rows = [
        [value, group["people"], group["judgements"], f"{group['decided']:,} of {group['items']:,}"]
        + [_limited(group["difficulty"], group["intervals"]["difficulty"])]
        + [_limited(group["shares"][label], group["intervals"]["shares"][label]) for label in labels]
        for value, group in sorted(part["groups"].items())
    ]
    table(f"By {name}", ["", "people", "judgements", "decided", "difficulty", *labels], rows)
    if difference := part["difference"]:
        say(sentence_of(name, difference))
    say(
        f"{quantity(part['differ'], 'item')} with another label in another {name} (by chance about "
        f"{part['by_chance']:.1f}); {part['differ'] - len(part['differing']):,} of them not shown: "
        f"fewer than {part['k']} people of a group"
    )
    for item in part["differing"][:10]:
        cells = (f"{value} {cell['label']} ({cell['votes'][cell['label']]} of {sum(cell['votes'].values())})"
                 for value, cell in sorted(part["items"][item].items()) if cell["label"] is not None)  # fmt: skip
        say(f"  {item}: {', '.join(cells)}")
    if len(part["differing"]) > 10:
        say(f"  and {len(part['differing']) - 10:,} more (--json names them all)")


def _limited(value: float | None, limits: dict[str, float | None]) -> str:
    """Formats a share with its limits; NaN or None is a dash."""
    if value is None or value != value:
        return "–"
    low, high = limits["low"], limits["high"]
    return f"{value:.3f} {low:.3f}–{high:.3f}" if low is not None and low == low else f"{value:.3f} –"


def sentence_of(name: str, difference: dict[str, Any]) -> str:
    """Returns a sentence: agreement within and between groups, and the p-value of the difference."""
    return (
        f"two people of one {name} agree on {difference['within']:.3f} of their common items, of two on "
        f"{difference['between']:.3f}: p = {difference['p']:.3f} "
        f"({difference['permutations']:,} permutations of {difference['people']:,} people)"
    )
