"""The command that scores one data set by every protocol that applies."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catsofa.cli.data import local
from catsofa.cli.numbers import percent
from catsofa.cli.options import AllowPickle, BatchTokens, Device, Dtype, Head, Limit, TrustRemoteCode
from catsofa.cli.score.protocols import Seed
from catsofa.cli.terminal import DATA, Bar, Json, Quiet, doing, examples, print_json, say, table, warn
from catsofa.data.percentages import quantity

if TYPE_CHECKING:
    from catsofa.scoring.multiverse import Multiverse
    from catsofa.scoring.multiverse.dependence import Support

DIFFERS = "*"
"""Marks a cell that counts fewer items than another."""


def register(app: typer.Typer) -> None:
    """Add this topic's command."""
    app.command(
        epilog=examples(
            "catsofa multiverse gpt2 --on stereoset:dev --out runs/gpt2",
            "catsofa multiverse bert-base-uncased --on crows-pairs --json",
            "catsofa multiverse gpt2 gpt2-medium --on dev.json --out runs",
            "catsofa multiverse bert-base-uncased --on dev.json --protocol catsofa --protocol catsofa,masks=all",
            "catsofa multiverse gpt2 --on dev.json --vary length --vary first_token=bos,skip --claim 'ss > 50'",
        )
    )(multiverse)


def multiverse(
    models: Annotated[list[str], typer.Argument(help="Models: folders or hub ids (gpt2, gpt2@revision).")],
    on: Annotated[str, typer.Option(metavar=DATA, help="CATs or pairs.")],
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            help="Protocol, also with settings (catsofa,masks=all); repeat for several. Default: all presets."
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OPTION[=VALUE,…]",
            help="Choice of the protocol to vary (length, first_token=bos,skip); repeat for all combinations.",
        ),
    ] = None,
    claim: Annotated[
        list[str] | None, typer.Option(help="Claim to count over protocols ('ss > 50'); repeat for several.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output folder, with a run for each protocol; rerun the same command to resume.")
    ] = None,
    nsp: Head = None,
    device: Device = None,
    dtype: Dtype = "float32",
    trust_remote_code: TrustRemoteCode = False,
    allow_pickle: AllowPickle = False,
    batch_tokens: BatchTokens = None,
    limit: Limit = None,
    seed: Seed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say how far the answer depends on the protocol: one data set by all protocols, from one pass over each model.

    Each cell has the numbers and the signature of a `score` with this protocol alone. Beside them: the range over
    protocols with its interval, and how many protocols lie on either side of 50. Of several models: whether all
    protocols put them into one order.
    """
    from catsofa.specifications import multiverse as run

    loading: dict[str, Any] = {"device": device, "dtype": dtype, "trust_remote_code": trust_remote_code}
    loading |= {"allow_pickle": allow_pickle, "batch_tokens": batch_tokens}
    doing("loading the model")
    found = run(
        models,
        str(local(on)),
        protocols=protocol or (),
        vary=vary or (),
        claims=claim or (),
        out=out,
        nsp=nsp,
        limit=limit,
        seed=seed,
        progress=Bar("scored", quiet=quiet or json, then="resampling for the intervals"),
        **loading,
    )
    if json:
        print_json(found.to_dict())
    elif not quiet:
        show(found)


def show(found: "Multiverse") -> None:
    """Print the cells of each part and model, and how far they depend on the protocol."""
    from catsofa.scoring.multiverse.dependence import distinct

    for part, models in found.cells.items():
        for model, of in models.items():
            same, most = distinct(of)[1], max(cell.coverage for cell in of.values())
            measures = list(next(iter(of.values())).numbers)
            rows = [
                [
                    name + DIFFERS * (cell.coverage < most),
                    *(percent(cell.numbers[measure]) for measure in measures),
                    f"{int(cell.scored.sum()):,} of {cell.items:,}",
                    cell.ties,
                ]
                for name, cell in of.items()
            ]
            table(f"{part}, {model}", ["protocol", *measures, "scored", "ties"], rows)
            if any(cell.coverage < most for cell in of.values()):
                say(f"{DIFFERS} counts fewer items than another protocol does: unscored, or tied and left out")
            for name, twin in same.items():
                say(f"{name}: the same scores and outcomes as {twin}; counted once")
            _depends(found, part, model)
        for measure, order in found.orders[part].items():
            alike = f"{order.kept} of {quantity(len(order.pairs), 'pair')} alike"
            say(
                f"order of {len(order.models)} models by {measure}: {alike} by {len(order.protocols)} protocols; "
                f"Kendall's tau {order.tau:.2f} ({quantity(order.items, 'item')} in common)"
            )
    for model, reasons in found.refused.items():
        for name, why in reasons.items():
            say(f"not applicable to {model}: {name}: {why}")
    for model, reports in found.unscored.items():
        for name, counts in reports.items():
            for why, count in counts.items():
                say(f"unscored, {model}, {name}: {quantity(count, 'text')}: {why}")
    if found.others:
        say(f"protocols of other measures: {', '.join(found.others)}")
    warn(found.warnings)
    for signatures in found.signatures.values():
        for signature in signatures.values():
            say(str(signature))


def _depends(found: "Multiverse", part: str, model: str) -> None:
    """Print the range of each measure over protocols, and their sides."""
    of = found.dependence[part][model]
    if of.refused:
        say(f"protocols are not compared: {of.refused}")
        return
    rows = []
    for measure, spread in of.spreads.items():
        low, high = spread.ends
        ends = [f"{spread.values[name].value:.1f} {name}" for name in (low, high)]
        rows.append([measure, *ends, f"{spread.median:.1f}", percent(spread.range)])
    table(f"over protocols, {quantity(of.items, 'item')}", ["measure", "lowest", "highest", "median", "range"], rows)
    for measure, spread in of.spreads.items():
        if spread.ideal is None:
            continue
        say(
            f"{measure} above {spread.ideal:g}: {_support(spread.above)}, below: {spread.below.holds}; "
            f"whole interval above: {spread.above.shown}, below: {spread.below.shown}"
        )
    for spread in of.spreads.values():
        for claim, support in spread.claims.items():
            say(f"{claim}: {_support(support)}; by its whole interval: {support.shown}")
    known = [
        [measure, option, percent(effect.moves), percent(effect.share)]
        for measure, spread in of.spreads.items()
        for option, effect in spread.effects.items()
        if effect
    ]
    if known:
        table("each choice, the others held equal", ["measure", "choice", "moves", "% of the variation"], known)
    if apart := sorted({o for spread in of.spreads.values() for o, effect in spread.effects.items() if not effect}):
        say(f"chosen together with others, so that they cannot be told apart (--vary does): {', '.join(apart)}")


def _support(found: "Support") -> str:
    """How many protocols support a claim."""
    share = f"{found.share.value:.0f} %"
    limits = "" if isnan(found.share.low) else f" [{found.share.low:.0f}, {found.share.high:.0f}]"
    return f"{found.holds} of {quantity(found.of, 'protocol')} ({share}{limits})"
