"""The command that scores one data set by all applicable protocols."""

from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catsofa.cli.asking import Concurrency, DryRun, KeyEnv, MaxCost, Prices, Timeout, endpoint
from catsofa.cli.data import local
from catsofa.cli.numbers import percent
from catsofa.cli.options import (
    AllowPickle,
    BatchTokens,
    Device,
    Dtype,
    Head,
    Limit,
    TrustRemoteCode,
    given,
    refuse_idle,
)
from catsofa.cli.score.choose import SERVING, BaseUrl
from catsofa.cli.score.protocols import Seed
from catsofa.cli.terminal import DATA, Bar, Json, Quiet, doing, examples, print_json, say, table, warn
from catsofa.data.percentages import in_percent, quantity

if TYPE_CHECKING:
    from catsofa.data.servers.prices import Price
    from catsofa.scoring.multiverse import Multiverse
    from catsofa.scoring.multiverse.dependence import Support

HERE = frozenset({"--device", "--dtype", "--trust-remote-code", "--allow-pickle", "--batch-tokens", "--nsp"})
"""Options without effect on models behind a server."""
ELSEWHERE = SERVING | {"--nsp"}
"""Options without effect on chat models in this process."""
DIFFERS = "*"
"""Marks a cell that counts fewer items than another."""


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
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
    context: typer.Context,
    models: Annotated[
        list[str],
        typer.Argument(help="Models: folders or hub ids (gpt2, gpt2@revision); with --base-url, names on its server."),
    ],
    on: Annotated[str, typer.Option(metavar=DATA, help="CATs or pairs; for `choice`, all that `choose` takes.")],
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            help="Protocol, also with settings (catsofa,masks=all); repeat for several. Default: all presets. "
            "`choice` asks chat models, as `choose` does."
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OPTION[=VALUE,…]",
            help="Choice of the protocol to vary (length, first_token=bos,skip; of `choice`: templates, "
            "labels=letters,numbers); repeat for all combinations.",
        ),
    ] = None,
    claim: Annotated[
        list[str] | None, typer.Option(help="Claim to count over protocols ('ss > 50'); repeat for several.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output folder, with a run for each protocol; rerun the same command to resume.")
    ] = None,
    base_url: BaseUrl = None,
    key_env: KeyEnv = "OPENAI_API_KEY",
    prices: Prices = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    concurrency: Concurrency = 8,
    timeout: Timeout = 300.0,
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
    """Show how far the result depends on the protocol: one data set by all protocols, in one pass over each model.

    Each cell has the numbers and the signature of a `score` with this protocol alone. Beside them: the range over
    protocols with its interval, and how many protocols lie on either side of 50. Of several models: whether all
    protocols put them into one order.
    """
    from catsofa.scoring.multiverse.ways import is_choice
    from catsofa.specifications import multiverse as run

    loading: dict[str, Any] = {"device": device, "dtype": dtype, "trust_remote_code": trust_remote_code}
    loading |= {"allow_pickle": allow_pickle, "batch_tokens": batch_tokens}
    if any(map(is_choice, protocol or ())):
        refuse_idle("--base-url" if base_url else "choices", given(context) & (HERE if base_url else ELSEWHERE))
        _choices(context, loading)
        return
    refuse_idle("protocols of `score`", given(context) & {*SERVING, "--base-url", "--dry-run"})
    doing("loading the model")
    result = run(
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
        print_json(result.to_dict())
    elif not quiet:
        show(result)


def _choices(context: typer.Context, loading: dict[str, Any]) -> None:
    """Asks chat models in several ways; with --dry-run, prints the expected cost."""
    from catsofa.data.servers.prices import FREE, price_of
    from catsofa.specifications.choosing import Asker, asked_in_ways, by_name_of, planned

    called = context.params
    base_url, prices, json, quiet = (called[name] for name in ("base_url", "prices", "json", "quiet"))

    def price(name: str) -> "Price | None":
        listed = price_of(name, base_url, prices) if base_url else FREE
        if listed is None and prices:
            raise ValueError(f"found no row for {name} in {prices}; add one under [models], or leave out --prices")
        return listed

    server = endpoint(context) if base_url else None
    if server:
        server.key()
    else:
        doing("loading the model")
    asker = Asker(
        by_name_of(called["models"]),
        local(called["on"]),
        called["protocol"],
        called["vary"] or (),
        limit=called["limit"],
        out=called["out"],
        server=server,
        price=price,
        loading=loading,
    )
    if called["dry_run"]:
        coming = planned(asker)
        print_json(asdict(coming)) if json else say(str(coming))
        return
    result = asked_in_ways(
        asker,
        claims=called["claim"] or (),
        max_cost=called["max_cost"],
        seed=called["seed"] or 0,
        progress=Bar("asked", quiet=quiet or json, then="resampling for the intervals"),
    )
    if json:
        print_json(result.to_dict())
    elif not quiet:
        show(result)


def show(result: "Multiverse") -> None:
    """Prints the cells of each part and model, and how far they depend on the protocol."""
    from catsofa.scoring.multiverse.cells import digits
    from catsofa.scoring.multiverse.dependence import distinct

    for part, models in result.cells.items():
        for model, cells in models.items():
            same, most = distinct(cells)[1], max(cell.coverage for cell in cells.values())
            first = next(iter(cells.values()))
            rows = [
                [
                    name + DIFFERS * (cell.coverage < most),
                    *(percent(number, digits(cell.measures[measure])) for measure, number in cell.numbers.items()),
                    f"{int(cell.scored.sum()):,} of {cell.items:,}",
                    *([in_percent(cell.coverage), in_percent(cell.outcomes["refusal"])] if cell.outcomes else []),
                    *([] if cell.outcomes else [cell.ties]),
                ]
                for name, cell in cells.items()
            ]
            beside = ["coverage", "refusals"] if first.outcomes else ["ties"]
            table(f"{part}, {model}", ["protocol", *first.numbers, "scored", *beside], rows)
            if any(cell.coverage < most for cell in cells.values()):
                why = "refused, unread or missing" if first.outcomes else "unscored, or tied and left out"
                say(f"{DIFFERS} counts fewer {'replies' if first.outcomes else 'items'} than another protocol: {why}")
            for name, twin in same.items():
                say(f"{name}: the same scores and outcomes as {twin}; counted once")
            for name, cell in cells.items():
                if cell.undefined:
                    say(f"{name}: {next(iter(cell.numbers))} is undefined, {cell.undefined}")
            _depends(result, part, model)
        for measure, order in result.orders[part].items():
            alike = f"{order.kept} of {quantity(len(order.pairs), 'pair')} alike"
            say(
                f"order of {len(order.models)} models by {measure}: {alike} by {len(order.protocols)} protocols; "
                f"Kendall's tau {order.tau:.2f} ({quantity(order.items, 'item')} in common)"
            )
    for model, reasons in result.refused.items():
        for name, why in reasons.items():
            say(f"not applicable to {model}: {name}: {why}")
    for model, reports in result.unscored.items():
        for name, counts in reports.items():
            for why, count in counts.items():
                say(f"unscored, {model}, {name}: {quantity(count, 'text')}: {why}")
    if result.others:
        say(f"protocols of other measures: {', '.join(result.others)}")
    warn(result.warnings)
    for signatures in result.signatures.values():
        for signature in signatures.values():
            say(str(signature))


def _depends(result: "Multiverse", part: str, model: str) -> None:
    """Prints the range of each measure over protocols, the support of claims, and the effect of each choice."""
    dependence = result.dependence[part][model]
    if dependence.refused:
        say(f"protocols are not compared: {dependence.refused}")
        return
    rows = []
    for measure, spread in dependence.spreads.items():
        low, high = spread.ends
        ends = [f"{spread.values[name].value:.{spread.digits}f} {name}" for name in (low, high)]
        rows.append([measure, *ends, f"{spread.median:.{spread.digits}f}", percent(spread.range, spread.digits)])
    table(
        f"over protocols, {quantity(dependence.items, 'item')}",
        ["measure", "lowest", "highest", "median", "range"],
        rows,
    )
    for measure, spread in dependence.spreads.items():
        if spread.ideal is None:
            continue
        say(
            f"{measure} above {spread.ideal:g}: {_support(spread.above)}, below: {spread.below.holds}; "
            f"whole interval above: {spread.above.shown}, below: {spread.below.shown}"
        )
    for spread in dependence.spreads.values():
        for claim, support in spread.claims.items():
            say(f"{claim}: {_support(support)}; by its whole interval: {support.shown}")
    effects = [
        [measure, option, percent(effect.moves, spread.digits), percent(effect.share)]
        for measure, spread in dependence.spreads.items()
        for option, effect in spread.effects.items()
        if effect
    ]
    if effects:
        table("each choice, the others held equal", ["measure", "choice", "moves", "% of the variation"], effects)
    if apart := sorted(
        {o for spread in dependence.spreads.values() for o, effect in spread.effects.items() if not effect}
    ):
        say(f"chosen together with others, so that they cannot be told apart (--vary does): {', '.join(apart)}")


def _support(support: "Support") -> str:
    """Formats how many protocols support a claim."""
    share = f"{support.share.value:.0f} %"
    limits = "" if isnan(support.share.low) else f" [{support.share.low:.0f}, {support.share.high:.0f}]"
    return f"{support.holds} of {quantity(support.of, 'protocol')} ({share}{limits})"
