"""The command that tests whether a judge may replace human raters."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.terminal import Json, Quiet, examples, print_json, reading, say, table, warn
from catsofa.cli.validate.sets import signed

if TYPE_CHECKING:
    from catsofa.data.records import Annotation

Source = Annotated[Path, typer.Option("--on", help="Annotations by people (item, annotator, label).")]
Judge = Annotated[Path, typer.Option(help="Labels by one judge or several (item, annotator, label).")]
Epsilon = Annotated[
    float,
    typer.Option(
        help="How much worse a cheaper judge may be: .2 against experts, .15 against trained raters, .1 against crowds."
    ),
]
Ordinal = Annotated[bool, typer.Option("--ordinal", help="Treat labels as numbers, compared by distance.")]
Out = Annotated[Path | None, typer.Option(help="Write the result as JSON for `build jury --alt-test`.")]


def register(room: typer.Typer) -> None:
    """Adds the command of this module."""
    room.command(
        "alt-test",
        epilog=examples(
            "catsofa validate alt-test --on study/annotations.jsonl --judge jury/jury.jsonl",
            "catsofa validate alt-test --on ratings.csv --judge model.csv --ordinal --epsilon 0.15 --out passed.json",
        ),
    )(alternative)


def alternative(
    source: Source,
    judge: Judge,
    epsilon: Epsilon = 0.1,
    ordinal: Ordinal = False,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Test whether a judge (a model, a jury) may replace human raters; exit 1 if no judge passes.

    The alternative annotator test of Calderon et al. 2025: each rater with 30 items or more is left out in turn.
    """
    from catsofa.data.files import json_files
    from catsofa.validation.agreement.alternative import alt_test

    people, judged = (_annotations(path, quiet or json) for path in (source, judge))
    labels: dict[str, dict[str, str]] = {}
    for one in judged:
        if labels.setdefault(one.annotator, {}).setdefault(one.item, one.label) != one.label:
            raise ValueError(f"{judge}: the judge {one.annotator!r} gives item {one.item!r} two labels; give one each")
    tests = [
        alt_test(people, by_item, judge=name, epsilon=epsilon, ordinal=ordinal) for name, by_item in labels.items()
    ]
    result = {
        "judges": {test.judge: test.values() for test in tests},
        "warnings": [sentence for test in tests for sentence in test.warnings],
    }
    report = signed(result, {source: people, judge: judged}, epsilon=epsilon)
    if out:
        json_files.write(json_files.sealed(json_files.finite(report)), out)
    if json:
        print_json(report)
    elif not quiet:
        columns = ["judge", "winning rate", "advantage", "raters", "items", "raters' kappa", "passed"]
        rows = [
            [t.judge, t.winning_rate, t.advantage, len(t.duels), t.items, t.kappa, "yes" if t.passed else "no"]
            for t in sorted(tests, key=lambda test: -test.advantage if test.duels else 1)
        ]
        table("Alternative annotator test", columns, rows)
        warn(report["warnings"])
        say(report["signature"]["line"])
    if not any(test.passed for test in tests):
        raise typer.Exit(1)


def _annotations(path: Path, quiet: bool) -> "Sequence[Annotation]":
    """Returns the annotations of a file, in any format with annotations."""
    from catsofa.validation.annotation_files import collect

    return collect(reading(path, quiet=quiet)).annotations
