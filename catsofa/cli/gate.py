"""Commands of the regression gate: `check`, and `baseline save`."""

import json as texts
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.data import local
from catsofa.cli.score.controls import BASELINE
from catsofa.cli.score.protocols import Seed
from catsofa.cli.terminal import DATA, Json, Quiet, doing, examples, fits, note, print_json, say, table, warn
from catsofa.data.percentages import quantity
from catsofa.data.visible import one_line

if TYPE_CHECKING:
    from catsofa.gate.verdicts import Checked, Verdict

SHOWN = 5
"""Number of target terms and of items that are printed."""

Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN", help="Folders of `score --out` or `choose --out`, folders that hold them, or files of scores."
    ),
]
On = Annotated[
    list[str] | None,
    typer.Option(metavar=DATA, help="Data, for files of scores, or if the data of a run moved; repeat for several."),
]
Paraphrase = Annotated[
    list[Path] | None, typer.Option(help="Runs on paraphrases of the CATs of a RUN; their flips are tested too.")
]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    BASELINE.command(
        epilog=examples(
            "catsofa baseline save runs/gpt2 --out baseline.json",
            "catsofa baseline save runs/chatty --on crows-pairs --out chatty.json",
        )
    )(save)
    app.command(
        epilog=examples(
            "catsofa check runs/new --against baseline.json",
            "catsofa check runs --against baseline.json --margin ss=1 --margin ss/gender=2 --junit check.xml",
            "catsofa check runs/small --against runs/large --margin lms=2 --margin ss=2 --require-equivalence",
            "catsofa check predictions.json --on dev.json --against baseline.json",
            "catsofa check a/model b/model --label step-100 --label step-200 --against baseline.json --json",
        )
    )(check)


def save(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="Output file for the baseline (JSON, small enough to commit).")],
    on: On = None,
    paraphrase: Paraphrase = None,
    quiet: Quiet = False,
) -> None:
    """Save the outcome of each item of finished runs as a baseline for `catsofa check`."""
    from catsofa.gate import snapshots_of
    from catsofa.gate.snapshots import save as write

    doing("reading scores")
    snapshots = snapshots_of(runs, on=[local(place) for place in on or ()], paraphrases=paraphrase or ())
    write(snapshots, out)
    for one in snapshots:
        say(f"{one.kind}: {one.signature}", quiet=quiet)
    say(f"{out}: {quantity(len(snapshots), 'run')}, {out.stat().st_size:,} bytes", quiet=quiet)


def check(
    runs: Runs,
    against: Annotated[
        Path, typer.Option(help="Baseline file of `catsofa baseline save`, a run, or a folder of runs.")
    ],
    margin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="Margin by which a measure (ss) or one of its sets (ss/gender) may be worse. Default: 0. "
            "Repeat for several.",
        ),
    ] = None,
    require_equivalence: Annotated[
        bool, typer.Option("--require-equivalence", help="Fail unless every change is shown to be within its margin.")
    ] = False,
    require_non_inferiority: Annotated[
        bool,
        typer.Option(
            "--require-non-inferiority", help="Fail unless every measure is shown to be no worse than its margin."
        ),
    ] = False,
    on: On = None,
    paraphrase: Paraphrase = None,
    label: Annotated[list[str] | None, typer.Option(help="Names of the RUNs, in their order.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Also write Markdown for a pull request.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Also write SARIF.")] = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Check whether runs are worse than a baseline by more than a margin: paired one-sided tests, corrected by Holm.

    Worse means further from the ideal: lms lower, ss and CrowS-Pairs further from 50, SoFa, |d| of SEAT, flips and
    bias higher.

    Exit code 0: no regression is shown. 1: a regression is shown, or the condition of --require-… is not met.
    2: no regression, but a run could not be compared: other data, another protocol, a missing measure.
    """
    from catsofa.data.files import atomic_write
    from catsofa.gate import check as checked
    from catsofa.gate import forms, margins_in

    if require_equivalence and require_non_inferiority:
        raise ValueError("give --require-equivalence or --require-non-inferiority: equivalence says more")
    doing("comparing, by resampling")
    verdict = checked(
        runs,
        against,
        margins=margins_in(margin or ()),
        require="equivalence" if require_equivalence else "non-inferiority" if require_non_inferiority else "",
        on=[local(place) for place in on or ()],
        paraphrases=paraphrase or (),
        labels=label or (),
        seed=seed or 0,
    )
    for path, make in (
        (junit, forms.junit),
        (markdown, lambda verdict: forms.markdown(verdict).encode()),
        (sarif, lambda verdict: texts.dumps(forms.as_sarif(verdict, against), ensure_ascii=False, indent=1).encode()),
    ):
        if path:
            with atomic_write(path) as file:
                file.write(make(verdict))
    if json:
        print_json(verdict.to_dict())
    else:
        show(verdict)
    if verdict.exit_code:
        raise typer.Exit(verdict.exit_code)


def show(verdict: "Verdict") -> None:
    """Prints a verdict: a table for each run, the largest changes where a test failed, and a sentence."""
    from catsofa.gate import forms

    for run in verdict.runs:
        if run.tests:
            _show_tests(run)
        warn(run.warnings)
        if run.refused:
            note(one_line(f"catsofa: {run.label}: not comparable: {run.refused}"))
    warn(verdict.warnings)
    if legend := forms.legend(verdict):
        say(legend)
    if about := forms.without_margin(verdict):
        say(about)
    say(verdict.sentence)


def _show_tests(run: "Checked") -> None:
    """Prints the tests of one run, as lines if no table fits, and the largest changes where a test failed."""
    from catsofa.gate import forms

    rows = [
        [one_line(test.paired.name), one_line(test.paired.set), forms.aligned(test.test.before),
         forms.aligned(test.test.after), forms.change(test), f"{test.test.margin:g}", forms.evidence(test),
         test.told]
        for test in run.tests
    ]  # fmt: skip
    columns = ["measure", "set", "baseline", "run", "change [90 %]", "margin", "p (hypothesis)", "found"]
    title = one_line(f"{run.label} against {run.baseline}, on {run.data}")
    if fits(columns, rows):
        table(title, columns, rows)
    else:
        say(title)
        for line in forms.lines(run.tests):
            say(one_line(line))
    for test in (test for test in run.tests if test.failed):
        for kind, moved in (("terms", test.paired.terms), ("items", test.paired.each())):
            if most := test.ends(moved, SHOWN):
                named = ", ".join(f"{row.name} {forms.number(row.before)} -> {forms.number(row.after)}" for row in most)
                say(one_line(f"{test.paired.name} of {test.paired.set}, {kind} that moved most: {named}"))
    say(one_line(run.signature))
