"""Commands that compare models with each other, and originals with their paraphrases."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.data import local
from catsofa.cli.numbers import adjusted, chance, percent
from catsofa.cli.score.protocols import ProtocolName, Seed
from catsofa.cli.terminal import DATA, Bar, Json, doing, examples, note, print_json, say, table, warn
from catsofa.data.percentages import in_percent, quantity

if TYPE_CHECKING:
    from catsofa.scoring.compare import Difference, ModelComparison
    from catsofa.scoring.measures.robustness import Comparison
    from catsofa.scoring.measures.sofa.rankings import Agreement
    from catsofa.scoring.statistics.changes import Change
    from catsofa.scoring.statistics.intervals import Interval

MOST = 5
"""Number of target terms that are printed."""
SHARES = ("requests", "questions", "association tests")
"""Kinds of data measured by shares or by d, which need more decimals: a difference of 0.01 is large."""
CHANGE = "change [95 %]"
"""Column heading of a change with its interval."""


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command(
        epilog=examples(
            "catsofa compare runs/gpt2 runs/gpt2-large",
            "catsofa compare runs --on crows-pairs",
            "catsofa compare a.json b.json c.json --on dev.json --json",
            "catsofa compare runs/gpt2 runs/gpt2-large --domains",
            "catsofa compare runs/gpt2-seat runs/bert-seat",
            "catsofa compare runs/gpt2-sofa runs/llama-sofa",
            "catsofa compare runs/chatty runs/polite",
        )
    )(compare)
    app.command(
        epilog=examples(
            "catsofa robustness --original runs/gpt2 --paraphrase runs/gpt2-paraphrased",
            "catsofa robustness --original runs --paraphrase paraphrased",
            "catsofa robustness --original a.json --paraphrase b.json --on dev.json --on paraphrases.json",
            "catsofa robustness --original a.json --paraphrase b.json --paraphrase c.json --on dev.json --json",
        )
    )(robustness)


def compare(
    models: Annotated[
        list[Path],
        typer.Argument(help="Runs of score or choose, folders of runs, or files of scores; each against the first."),
    ],
    on: Annotated[
        str | None,
        typer.Option(metavar=DATA, help="Data, for files of scores and folders of runs."),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="Protocol, which decides ties and averages: `catsofa protocols list`.")
    ] = "catsofa",
    domains: Annotated[
        bool, typer.Option("--domains", help="Also compare in each domain; Holm's correction is then over all rows.")
    ] = False,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Compare models on the same CATs, pairs, questions or association tests: paired changes, p adjusted by Holm.

    On runs over probes: which identities and stereotypes are highest or lowest in both models, and whether their
    orders agree. On runs of `choose`: changes of preference, position effect and bias over the requests that both
    decide.
    """
    from catsofa import comparison
    from catsofa.scoring.measures.sofa.rankings import Agreement

    doing("comparing, by resampling")
    place = local(on) if on is not None else None
    result = comparison.compare(models, place, protocol=protocol, seed=seed, domains=domains)
    if json:
        print_json(result.to_dict())
    elif isinstance(result, Agreement):
        show_agreement(result)
    else:
        show_models(result)


def show_models(result: "ModelComparison") -> None:
    """Prints how each model differs from the first one; choices as shares, not in percent."""
    digits = 3 if result.kind in SHARES else 2
    verb = "put to" if result.kind == "requests" else "scored by"
    counted = f"{result.items:,} of {result.whole:,} {result.kind} ({in_percent(result.coverage)}) {verb} every model"
    say(f"{counted}; each model against {result.first}")
    several = len({d.set for d in result.differences}) > 1
    columns = ["measure", *["set"] * several, "first", "other", CHANGE, "p", "Holm's p"]
    for model, rows in groupby(result.differences, key=lambda difference: difference.model):
        of_model = list(rows)
        cells = [
            [
                *(d.measure, *[d.set] * several, percent(d.first, digits), percent(d.other, digits)),
                *(percent(d.change.by, 3 if digits == 3 else 1), chance(d.change.p), chance(d.holm)),
            ]
            for d in of_model
        ]
        table(model, columns, cells)
        say_unlimited({f"{d.measure} of {d.set}" if several else d.measure: d.change for d in of_model})
        decided_by_both(*_decided(of_model, result.kind))
        if model in result.disagreement:
            decided = round(result.decided[model] * result.items)
            say(f"preferences that differ: {_of_decided(result.disagreement[model], decided, result.kind)}")
    say(adjusted(d.holm for d in result.differences))
    warn(result.warnings)
    say(str(result.signature))


def _decided(rows: "Sequence[Difference]", kind: str) -> tuple[dict[str, float], str]:
    """Returns the decided share by measure, or by association test, and the unit of the shares."""
    if kind == "association tests":
        return {d.set: d.decided for d in rows}, "targets"
    whole = [d for d in rows if d.set == rows[0].set and d.measure != "icat"]
    return {d.measure: d.decided for d in whole}, kind if kind in SHARES else "items"


def _of_decided(share: "Interval", decided: int, kind: str) -> str:
    """Formats a share of the items that both sides decide; undefined if they decide no item."""
    if not decided:
        return f"undefined, since both decide none of the {kind}"
    return f"{percent(share)} % of {quantity(decided, kind.removesuffix('s'))} that both decide"


def decided_by_both(shares: Mapping[str, float], kind: str = "items") -> None:
    """Prints the share of items behind each change, if a share is below 1."""
    if min(shares.values()) < 1:
        rests = ", ".join(f"{measure} {in_percent(share)}" for measure, share in shares.items())
        say(f"values and changes are over the comparisons that both sides decide, in {kind}: {rests}")


def say_unlimited(changes: "Mapping[str, Change]") -> None:
    """Prints why changes have no interval, if some have none."""
    from catsofa.scoring.statistics.changes import NO_LIMITS

    if without := [measure for measure, change in changes.items() if change.unlimited]:
        say(f"no interval for the change of {', '.join(without)}: {NO_LIMITS}")


def show_agreement(stats: "Agreement") -> None:
    """Prints the agreement of models on probes."""
    say(f"{stats.probes:,} of {stats.whole:,} probes ({in_percent(stats.probes / stats.whole)}) scored by every model")
    for row in stats.rows:
        one, other = row["models"]
        say(f"{row['category']}: {one} and {other}")
        for end, shared in row["overlap"].items():
            first, items = shared["top"], shared["items"]
            line = f"undefined: no first half of {items} that both orders tell from the rest"
            if first:
                common = f"{round(shared['share'] * first)} of the first {first} in common, of {items}"
                line = f"{common} ({in_percent(shared['share'], 0)}; by chance {in_percent(shared['chance'], 0)})"
            say(f"  {end}: {line}")
        for kind, tau in row["kendall"].items():
            say(f"  order of {kind}: Kendall's tau {_tau(tau)}")
    say("limits of tau: Fieller's, over identities or stereotypes as if drawn at random")
    warn(stats.warnings)
    say(str(stats.signature))


def _tau(tau: "Mapping[str, float]") -> str:
    """Formats Kendall's tau with its limits, p and number of items, or the reason why it is undefined."""
    number = f"of {tau['items']:,}"
    if isnan(tau["value"]):
        return f"undefined {number}: fewer than three, or all alike"
    if isnan(tau["low"]):
        return f"{tau['value']:.2f} {number}, no interval: four or fewer, or wholly alike; p {chance(tau['p'])}"
    return f"{tau['value']:.2f} [{tau['low']:.2f}, {tau['high']:.2f}] {number}; p {chance(tau['p'])}"


def robustness(
    original: Annotated[
        list[Path],
        typer.Option(
            help="Run on the original CATs, a folder of runs, or a file of scores; repeat for several models."
        ),
    ],
    paraphrase: Annotated[
        list[Path],
        typer.Option(help="Run on paraphrases, a folder of runs, or a file of scores; repeat for several sets."),
    ],
    on: Annotated[
        list[str] | None,
        typer.Option(metavar=DATA, help="Data, for files of scores: the original CATs, then each set of paraphrases."),
    ] = None,
    protocol: ProtocolName = "catsofa",
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Show what rephrasing CATs changes: lms, ss and icat, the preferences that flip, and the ranks of several models.

    Runs below a folder are joined by model: each run on paraphrases with the run of its model on their originals.
    p is adjusted by Holm over every change of the call.
    """
    from catsofa import comparison
    from catsofa.scoring.statistics.rank_correlation import LEAST

    result = comparison.robustness(
        original,
        paraphrase,
        [local(data) for data in on or ()],
        protocol=protocol,
        seed=seed,
        progress=Bar("compared", quiet=json),
    )
    if json:
        print_json(result.to_dict())
        return
    for one, holm in zip(result.compared, result.holm, strict=True):
        say(one.title)
        show_comparison(one.comparison, holm)
    say(adjusted(p for holm in result.holm for p in holm.values()))
    rephrasings = dict(sorted((one.rephrasing, one.data[1]) for one in result.compared))
    for rephrasing, ranks in zip(rephrasings.values(), result.ranks, strict=False):
        say(f"ranks by {ranks.measure}: {' > '.join(ranks.original)}; on {rephrasing}: {' > '.join(ranks.paraphrase)}")
        enough = len(ranks.original) >= LEAST
        say(f"Kendall's tau {ranks.kendall:.2f}" if enough else f"Kendall's tau: needs {LEAST} models or more")
    warn(result.warnings)
    say(str(result.signature))


def show_comparison(comparison: "Comparison", holm: Mapping[str, float]) -> None:
    """Prints what one rephrasing changes, with each p before and after Holm's adjustment."""
    rows = [
        [
            name,
            *(percent(getattr(side, name).value, 2) for side in (comparison.original, comparison.paraphrase)),
            percent(change.by),
            chance(change.p),
            chance(holm[name]),
        ]
        for name, change in comparison.changes.items()
    ]
    title = f"{quantity(comparison.items, 'item')} compared, {in_percent(comparison.coverage)} of the originals"
    table(title, ["measure", "original", "paraphrase", CHANGE, "p", "Holm's p"], rows)
    say_unlimited(comparison.changes)
    decided_by_both({"lms": comparison.original.lms_coverage, "ss": comparison.original.ss_coverage})
    decided = round(comparison.flips_coverage * comparison.items)
    say(
        f"preferences that flip, in percent of {quantity(decided, 'item')} decided in both: {percent(comparison.flips)}"
        if decided
        else "preferences that flip: undefined, since no item is decided in both"
    )
    sides = {"originals": comparison.original, "paraphrases": comparison.paraphrase}
    say(
        "; ".join(
            f"{name}: {quantity(measured.ties, 'tie')}{_unknown(measured.unknown)}" for name, measured in sides.items()
        )
    )
    most = [
        f"{row.term} {in_percent(row.rate.value / 100, 0)} of {row.items}"
        for row in comparison.terms[:MOST]
        if row.rate.value
    ]
    say(f"the {len(most)} most flipping terms: {', '.join(most)}" if most else "no term flips")
    for reason, count in comparison.refused.items():
        note(f"refused: {quantity(count, 'paraphrase')}: {reason}")


def _unknown(count: int | None) -> str:
    """Formats the number of items with unknown tokens; None means not counted."""
    return ", unknown tokens not counted" if count is None else f", {count:,} with unknown tokens"
