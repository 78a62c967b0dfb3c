"""The command that shows the whole journey on models whose stereotypes are known."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.terminal import Json, examples, note, print_json, say, table

if TYPE_CHECKING:
    from catsofa.demo import Check, Demo


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    app.command(epilog=examples("catsofa demo", "catsofa demo --out somewhere --seed 1 --json"))(demo)


def demo(
    out: Annotated[Path, typer.Option(help="The folder to write items, models and results to.")] = Path("demo-out"),
    seed: Annotated[int, typer.Option(help="Of the text, the models and the simulated people.")] = 0,
    json: Json = False,
) -> None:
    """Build, judge, train and measure offline, in a few minutes, where the right answer is known."""
    from dataclasses import asdict

    from catsofa import demo as journey

    # the models are so small that threads wait for each other: one is faster, and ten times so on a busy machine
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    done = journey.run(out, seed=seed, tell=note)
    if json:
        print_json({"passed": done.passed, "people": done.people, "checks": [asdict(check) for check in done.checks]})
    else:
        _show(done)
    if not done.passed:
        raise typer.Exit(1)


def _show(done: "Demo") -> None:
    """Print what was found, and what to do next."""
    table(
        "Value and 95 % interval on the planted text and on its balanced twin",
        ["model", "measure", "planted", "balanced", ""],
        [[c.model, c.measure, *_cells(c), "ok" if c.holds else "WRONG"] for c in done.checks],
    )
    for rule in dict.fromkeys(check.rule for check in done.checks):
        say(f"{', '.join(dict.fromkeys(c.measure for c in done.checks if c.rule == rule))}: {rule}")
    say("")
    say("Every known answer was found." if done.passed else "A known answer was NOT found: please report this.")
    say(f"Items, models and results lie in {done.folder}. Next, on a model of yours:")
    items = done.folder / "items"
    say(f"  catsofa score MODEL --on {items / 'cats.jsonl'} --out runs/mine")
    say(f"  catsofa score MODEL --on {items / 'probes.jsonl'}")
    say("  catsofa score MODEL --on stereoset:dev --out runs/stereoset")


def _cells(check: "Check") -> tuple[str, str]:
    """Value and interval of both worlds."""
    digits = 3 if check.measure == "SoFa score" else 1
    one, other = (
        f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
        for value, low, high in (check.planted, check.balanced)
    )
    return one, other
