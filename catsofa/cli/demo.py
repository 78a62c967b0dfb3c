"""The command that runs all stages on models with known stereotypes."""

import os
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.terminal import Bar, Json, Quiet, examples, note, print_json, say, table

if TYPE_CHECKING:
    from catsofa.demo import Demo
    from catsofa.demo.measuring import Limits

WIDTH = 80
"""Maximum columns of a paragraph."""
DIGITS = {"SoFa score": 3, "preference": 2, "position effect": 2, "refusals": 2}
"""Decimals of the measures that are not percentages."""


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command(
        epilog=examples(
            "catsofa demo",
            "catsofa demo --model gpt2 --out demo-gpt2",
            "catsofa demo --label-studio --out somewhere",
            "catsofa demo --out somewhere --seed 1 --json",
        )
    )(demo)


def demo(
    out: Annotated[Path, typer.Option(help="Output folder for items, models, runs and the report.")] = Path("demo-out"),
    model: Annotated[
        str, typer.Option(help="Model to measure instead: a folder or a hub id. Its right answers are not known.")
    ] = "",
    label_studio: Annotated[
        bool, typer.Option("--label-studio", help="Start Label Studio and send the votes through it.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Random seed of the texts, the models and the simulated people.")] = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the whole journey offline in a few minutes: build, judge, train, measure, report. Right answers are known."""
    # threads wait for each other with models this small: one thread is faster, ten times on a busy machine
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from catsofa import demo as journey

    def progress(label: str) -> Bar:
        return Bar(label, quiet=quiet)

    done = journey.run(
        out,
        model=model,
        seed=seed,
        label_studio=label_studio,
        tell=lambda text: note(text, quiet=quiet or json),
        progress=progress,
    )
    if json:
        print_json(done.to_dict())
    elif not quiet:
        _show(done)
    if not done.passed:
        raise typer.Exit(1)


def _show(done: "Demo") -> None:
    """Prints what was built, judged and measured, and what to do next."""
    _show_built(done)
    _show_people(done)
    if done.checks:
        _show_checks(done)
    else:
        rows = [[one.measure, _cell(one.measure, one.limits)] for one in done.measured]
        table(f"{done.measured[0].model}: value and 95 % interval", ["measure", "value"], rows)
        say("These groups are invented: preferences come from the other words of sentences.")
    _show_next(done)


def _show_built(done: "Demo") -> None:
    """Prints what each builder kept, and what it refused and why."""
    rows = []
    for step in done.built.steps:
        why = [r.replace("_", " ") + (f" ({count})" if count > 1 else "") for r, count in step.refused.items()]
        rows.append([step.name, step.kept, sum(step.refused.values()), ", ".join(why)])
    table(f"Built from the files in {done.folder / 'inputs'}", ["", "kept", "refused", "why"], rows)
    say(_wrapped(f"The files named refused in {done.folder / 'items'} list each refusal with its reason."))
    for missing in done.built.notes:
        note(_wrapped(missing))
    say("")


def _show_people(done: "Demo") -> None:
    """Prints what the votes decide, and which people to exclude."""
    people = done.people
    through = f", through a {people.server}" if people.server else ""
    judged = (
        f"Seven simulated people judged {people.cats} CATs{through}, five people per CAT. A majority decides "
        f"{people.decided} of {people.items} associations, {people.right} of them rightly. Krippendorff's alpha is "
        f"{people.alpha:.2f}, and {people.alpha_without:.2f} without the people to exclude:"
    )
    say(_wrapped(judged))
    for name, reasons in people.exclude.items():
        say(_wrapped(f"  {name}: {'; '.join(reasons)}"))
    say("")


def _show_checks(done: "Demo") -> None:
    """Prints every measure on both texts, and the rules that must hold."""
    table(
        "Value and 95 % interval on the planted text and on its balanced twin",
        ["model", "measure", "planted", "balanced", ""],
        [
            [
                c.model,
                c.measure,
                _cell(c.measure, c.planted),
                _cell(c.measure, c.balanced),
                "ok" if c.holds else "WRONG",
            ]
            for c in done.checks
        ],
    )
    say("")
    for rule in dict.fromkeys(check.rule for check in done.checks):
        measures = ", ".join(dict.fromkeys(c.measure for c in done.checks if c.rule == rule))
        say(_wrapped(f"{measures}: {rule}"))
    say("")
    say("Every known answer was found." if done.passed else "A known answer was NOT found: please report this.")


def _show_next(done: "Demo") -> None:
    """Prints the path of the report and the commands for the next steps: three, or two if a model was given."""
    items, model = done.folder / "items", done.model or "MODEL"
    say(f"The report: {done.report}")
    say("")
    if done.model:
        say("Next:")
    else:
        say("Next, with a model of yours, a folder or a name on the hub:")
        say(f"  catsofa demo --model MODEL --out {done.folder}-mine")
    say(f"  catsofa score {model} --on stereoset:dev --on {items / 'probes.jsonl'} --out runs")
    say("  catsofa report runs --out report.html")


def _wrapped(text: str) -> str:
    """Wraps a paragraph to the width of the terminal."""
    return fill(text, min(WIDTH, get_terminal_size().columns))


def _cell(measure: str, limits: "Limits") -> str:
    """Formats a value with its interval; a value without an interval has no spread between terms."""
    digits = DIGITS.get(measure, 1)
    value, low, high = (round(number, digits) + 0.0 for number in limits)  # no minus before a zero
    return (
        f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]" if low == low else f"{value:.{digits}f}, no spread"
    )
