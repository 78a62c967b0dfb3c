"""Commands to use before a run: the smallest effect that a data set can detect, and the plan of measures and tests."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.data import local
from catsofa.cli.numbers import UNDEFINED
from catsofa.cli.score.protocols import ProtocolName, Seed
from catsofa.cli.terminal import DATA, Bar, Json, Quiet, doing, examples, print_json, say, table, warn
from catsofa.data.percentages import in_percent, quantity

if TYPE_CHECKING:
    from catsofa.power import PowerReport
    from catsofa.scoring.statistics.intervals import Interval

IMPOSSIBLE = "> any"
"""Text for an effect that is larger than possible."""


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command(
        epilog=examples(
            "catsofa power --on dev.json",
            "catsofa power --on crows-pairs --effect 5 --accuracy 0.8",
            "catsofa power --on dev.json --predictions runs/a --against runs/b --json",
            "catsofa power --on dev.json --predictions runs/a --paraphrase runs/a-paraphrased",
        )
    )(power)
    app.command(
        epilog=examples(
            "catsofa plan gpt2 --on dev.json --hypothesis 'ss > 50' --out plan.toml",
            "catsofa plan a b --on dev.json --hypothesis 'ss(a) > ss(b)' --hypothesis 'ss/gender > 50' --out plan.toml",
            "catsofa plan a b --on dev.json --hypothesis 'lms(a) = lms(b)' --margin lms=2 --out plan.toml",
            "catsofa report runs --plan plan.toml --out report.html",
        )
    )(plan)


def plan(
    models: Annotated[list[str], typer.Argument(help="Models: folders or hub ids (gpt2, gpt2@commit).")],
    on: Annotated[list[str], typer.Option(metavar=DATA, help="Data that is scored; repeat for several.")],
    hypothesis: Annotated[
        list[str],
        typer.Option(
            help="Hypothesis: 'ss > 50' about every model, 'ss/gender(MODEL) != 50', 'ss(A) > ss(B)', or "
            "'lms(A) = lms(B)' within a margin. Repeat for several."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Output file for the plan (TOML). A file that exists is never replaced.")],
    protocol: Annotated[
        list[str] | None,
        typer.Option(help="Protocol, also with settings (catsofa,masks=all); repeat for several. Default: catsofa."),
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="Difference of a measure (ss) or one of its sets (ss/gender) that counts as none. Default: 0. "
            "Repeat for several.",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write down before the runs what is measured and tested: models, data, protocols, hypotheses, margins.

    `catsofa report RUN --plan FILE` then says what came of each hypothesis, and what was left out, added or changed.
    Measures: lms, ss, icat of CATs; crows_pairs; sofa; seat/TEST; acc_amb, acc_dis, s_amb, s_dis of questions.
    """
    from catsofa.gate.margins import margins_in
    from catsofa.planning import name_in, shown
    from catsofa.planning import plan as planned

    doing("hashing models and data")
    places = [local(place) for place in on]
    margins = margins_in(margin or ())
    new_plan = planned(models, places, hypothesis, protocols=protocol or ("catsofa",), margins=margins, out=out)
    if json:
        print_json(new_plan.to_dict())
        return
    if not quiet:
        several = new_plan.several
        rows = [
            [row["hypothesis"], *(shown(row[part], names) for part, names in several.items())]
            for row in new_plan.rows()
        ]
        table("planned tests", ["hypothesis", *several], rows)
        for part, labels in (("models", new_plan.models), ("data", new_plan.data), ("protocols", new_plan.protocols)):
            say(f"{part}: {', '.join(labels)}")
    warn(
        f"{label}: no folder here has this name; the plan knows the model by its name alone"
        for label in new_plan.models
        if name_in(label) == label
    )
    within = "".join(f"; margin {name} {value:g}" for name, value in new_plan.margins.items())
    say(f"{out}: {quantity(len(new_plan.tests), 'test')}, {quantity(len(new_plan.cells), 'run')}{within}", quiet=quiet)


def power(
    on: Annotated[str, typer.Option(metavar=DATA, help="CATs, pairs, probes, questions or association tests.")],
    predictions: Annotated[
        Path | None, typer.Option(help="A pilot run, or file of scores, to which the variance model is fitted.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="A pilot run of another model, for the change between the two.")
    ] = None,
    paraphrase: Annotated[
        Path | None, typer.Option(help="A pilot run on paraphrases of the CATs, for flips and changes.")
    ] = None,
    effect: Annotated[
        float | None, typer.Option(help="Effect whose power, and the items that it needs, are shown too.")
    ] = None,
    accuracy: Annotated[
        float | None,
        typer.Option(help="Share of right answers of one person; shows how many judgements each item needs."),
    ] = None,
    protocol: ProtocolName = "catsofa",
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Show the smallest effect that a data set can find (power 80 %), by simulating the later test.

    Without --predictions the command assumes variances, and prints them. --predictions fits them to a pilot run.
    """
    from catsofa.power import power as powers

    report = powers(
        local(on),
        predictions=predictions,
        against=against,
        paraphrase=paraphrase,
        effect=effect,
        accuracy=accuracy,
        protocol=protocol,
        seed=seed,
        progress=Bar("tests", quiet=json),
    )
    print_json(report.to_dict()) if json else show_power(report, effect)


def show_power(report: "PowerReport", effect: float | None) -> None:
    """Prints a table for each test, then the number of judgements that people must give."""
    for test in dict.fromkeys(one.design.test for one in report.sets):
        rows = [one for one in report.sets if one.design.test == test]
        design, has_effect = rows[0].design, effect is not None
        names = ["task"] * bool(design.task) + ["set", "items", design.called, "effect", "power %"]
        names += [f"power % at {effect:g}", "items needed"] if has_effect else []
        cells = [
            [
                *([one.design.task] if one.design.task else []),
                *(one.design.domain, f"{one.design.items:,}", f"{one.design.clusters:,}"),
                IMPOSSIBLE if one.impossible else one.effect,
                _power(one.power),
                *([_power(one.at), _count(one.items_needed)] if one.at else []),
            ]
            for one in rows
        ]
        table(f"{test}: smallest effect, in {design.unit} (level 5 %, power 80 %)", names, cells)
    if any(one.impossible for one in report.sets):
        say(f"{IMPOSSIBLE}: no effect that can be is found four times in five")
    if effect is not None:
        say("items needed for a power of 80 %: more terms (pairs, targets) with as many items each")
    if people := report.people:
        right = in_percent(people.right, 1)
        needed = quantity(people.judgements, "judgement")
        say(f"people who are right on {in_percent(people.accuracy)} of the items: {needed} of each item")
        say(f"their majority is right with a probability of {right}")
        pairs, alpha = (f"{people.agreement[name]:.3f} ± {people.half_width[name]:.3f}" for name in people.agreement)
        say(f"agreement to expect on {people.items:,} items, ± half its 95 % interval:")
        say(f"pairs of judgements that agree {pairs}, Krippendorff's alpha {alpha}")
    say(f"variance model: {report.model}")
    if any(one.design.exact is None for one in report.sets):
        say("power by simulation, with its 95 % Monte Carlo interval; p without Holm's correction")
    warn(report.warnings)
    say(str(report.signature))


def _power(interval: "Interval") -> str:
    """Formats a power in percent with its Monte Carlo interval."""
    if isnan(interval.value):
        return UNDEFINED
    if isnan(interval.low):
        return f"{100 * interval.value:.1f}"
    return f"{100 * interval.value:.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def _count(items: int | None) -> str:
    """Formats the number of items that a test needs; None means that the number is too large to search for."""
    return "too many" if items is None else f"{items:,}"
