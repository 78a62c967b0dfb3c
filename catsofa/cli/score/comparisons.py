"""Commands that compare: models with one another, and originals with their paraphrases."""

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
"""Target terms named for people."""
SHARES = ("requests", "questions", "association tests")
"""What is measured by shares, or by d, of which a hundredth is much."""
CHANGE = "change [95 %]"
"""Heading of a change with its interval."""


def register(app: typer.Typer) -> None:
    """Add this topic's commands."""
    app.command(
        epilog=examples(
            "catsofa compare runs/gpt2 runs/gpt2-large",
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
        typer.Argument(help="Runs of score or choose, or files of scores. Each is compared with the first."),
    ],
    on: Annotated[str | None, typer.Option(metavar=DATA, help="Data, for files of scores.")] = None,
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

    On runs over probes: which identities and stereotypes two models have at the same end, and whether their orders
    agree. On runs of `choose`: changes of preference, position effect and bias over the requests that both decide.
    """
    from catsofa import comparison
    from catsofa.scoring.measures.sofa.rankings import Agreement

    doing("comparing, by resampling")
    place = local(on) if on is not None else None
    found = comparison.compare(models, place, protocol=protocol, seed=seed, domains=domains)
    if json:
        print_json(found.to_dict())
    elif isinstance(found, Agreement):
        show_agreement(found)
    else:
        show_models(found)


def show_models(found: "ModelComparison") -> None:
    """Print how the first model differs from each other one; choices as shares, and not in percent."""
    digits = 3 if found.kind in SHARES else 2
    by = "put to" if found.kind == "requests" else "scored by"
    of = f"{found.items:,} of {found.whole:,} {found.kind} ({in_percent(found.coverage)}) {by} every model"
    say(f"{of}; each model against {found.first}")
    several = len({d.set for d in found.differences}) > 1
    columns = ["measure", *["set"] * several, "first", "other", CHANGE, "p", "Holm's p"]
    for model, rows in groupby(found.differences, key=lambda difference: difference.model):
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
        decided_by_both(*_decided(of_model, found.kind))
        if model in found.disagreement:
            decided = round(found.decided[model] * found.items)
            say(f"preferences that differ: {_of_decided(found.disagreement[model], decided, found.kind)}")
    say(adjusted(d.holm for d in found.differences))
    warn(found.warnings)
    say(str(found.signature))


def _decided(rows: "Sequence[Difference]", kind: str) -> tuple[dict[str, float], str]:
    """The share that each measure of all items rests on, or each association test, and of what."""
    if kind == "association tests":
        return {d.set: d.decided for d in rows}, "targets"
    whole = [d for d in rows if d.set == rows[0].set and d.measure != "icat"]
    return {d.measure: d.decided for d in whole}, kind if kind in SHARES else "items"


def _of_decided(share: "Interval", decided: int, kind: str) -> str:
    """A share of the items that both sides decide; of none, it is undefined."""
    if not decided:
        return f"undefined, since both decide none of the {kind}"
    return f"{percent(share)} % of {quantity(decided, kind.removesuffix('s'))} that both decide"


def decided_by_both(shares: Mapping[str, float], kind: str = "items") -> None:
    """Print the share of the items on whose comparisons each change rests, where it is not all of them."""
    if min(shares.values()) < 1:
        rests = ", ".join(f"{measure} {in_percent(share)}" for measure, share in shares.items())
        say(f"values and changes are over the comparisons that both sides decide, in {kind}: {rests}")


def say_unlimited(changes: "Mapping[str, Change]") -> None:
    """Print why changes have no interval, where some have none."""
    from catsofa.scoring.statistics.changes import NO_LIMITS

    if without := [measure for measure, change in changes.items() if change.unlimited]:
        say(f"no interval for the change of {', '.join(without)}: {NO_LIMITS}")


def show_agreement(found: "Agreement") -> None:
    """Print how far models agree on probes."""
    say(f"{found.probes:,} of {found.whole:,} probes ({in_percent(found.probes / found.whole)}) scored by every model")
    for row in found.rows:
        one, other = row["models"]
        say(f"{row['category']}: {one} and {other}")
        for end, shared in row["overlap"].items():
            first, items = shared["top"], shared["items"]
            said = f"undefined: no first half of {items} that both orders tell from the rest"
            if first:
                common = f"{round(shared['share'] * first)} of the first {first} in common, of {items}"
                said = f"{common} ({in_percent(shared['share'], 0)}; by chance {in_percent(shared['chance'], 0)})"
            say(f"  {end}: {said}")
        for what, tau in row["kendall"].items():
            say(f"  order of {what}: Kendall's tau {_tau(tau)}")
    say("limits of tau: Fieller's, over identities or stereotypes as if drawn at random")
    warn(found.warnings)
    say(str(found.signature))


def _tau(found: "Mapping[str, float]") -> str:
    """Kendall's tau with its limits, p and how many are ordered, or why there is none."""
    number = f"of {found['items']:,}"
    if isnan(found["value"]):
        return f"undefined {number}: fewer than three, or all alike"
    if isnan(found["low"]):
        return f"{found['value']:.2f} {number}, no interval: four or fewer, or wholly alike; p {chance(found['p'])}"
    return f"{found['value']:.2f} [{found['low']:.2f}, {found['high']:.2f}] {number}; p {chance(found['p'])}"


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

    found = comparison.robustness(
        original,
        paraphrase,
        [local(data) for data in on or ()],
        protocol=protocol,
        seed=seed,
        progress=Bar("compared", quiet=json),
    )
    if json:
        print_json(found.to_dict())
        return
    for one, holm in zip(found.compared, found.holm, strict=True):
        say(one.title)
        show_comparison(one.comparison, holm)
    say(adjusted(p for holm in found.holm for p in holm.values()))
    rephrasings = dict(sorted((one.rephrasing, one.data[1]) for one in found.compared))
    for rephrasing, ranks in zip(rephrasings.values(), found.ranks, strict=False):
        say(f"ranks by {ranks.measure}: {' > '.join(ranks.original)}; on {rephrasing}: {' > '.join(ranks.paraphrase)}")
        say(f"Kendall's tau {ranks.kendall:.2f}")
    warn(found.warnings)
    say(str(found.signature))


def show_comparison(found: "Comparison", holm: Mapping[str, float]) -> None:
    """Print what one rephrasing changes, with each p as it is and adjusted."""
    rows = [
        [
            name,
            *(percent(getattr(side, name).value, 2) for side in (found.original, found.paraphrase)),
            percent(change.by),
            chance(change.p),
            chance(holm[name]),
        ]
        for name, change in found.changes.items()
    ]
    title = f"{quantity(found.items, 'item')} compared, {in_percent(found.coverage)} of the originals"
    table(title, ["measure", "original", "paraphrase", CHANGE, "p", "Holm's p"], rows)
    say_unlimited(found.changes)
    decided_by_both({"lms": found.original.lms_coverage, "ss": found.original.ss_coverage})
    decided = round(found.flips_coverage * found.items)
    say(
        f"preferences that flip, in percent of {quantity(decided, 'item')} decided in both: {percent(found.flips)}"
        if decided
        else "preferences that flip: undefined, since no item is decided in both"
    )
    sides = {"originals": found.original, "paraphrases": found.paraphrase}
    say("; ".join(f"{name}: {quantity(of.ties, 'tie')}{_unknown(of.unknown)}" for name, of in sides.items()))
    most = [
        f"{row.term} {in_percent(row.rate.value / 100, 0)} of {row.items}"
        for row in found.terms[:MOST]
        if row.rate.value
    ]
    say(f"the {len(most)} most flipping terms: {', '.join(most)}" if most else "no term flips")
    for reason, count in found.refused.items():
        note(f"refused: {quantity(count, 'paraphrase')}: {reason}")


def _unknown(count: int | None) -> str:
    """How many items have unknown tokens, where they were counted."""
    return ", unknown tokens not counted" if count is None else f", {count:,} with unknown tokens"
