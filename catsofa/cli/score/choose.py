"""The command that measures what chat models choose."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from catsofa.cli.asking import Batch, Concurrency, DryRun, KeyEnv, MaxCost, Prices, Timeout, endpoint
from catsofa.cli.data import local
from catsofa.cli.numbers import UNDEFINED
from catsofa.cli.options import Device, Dtype, given, refuse_idle
from catsofa.cli.terminal import DATA, Bar, Json, Quiet, choices, doing, examples, note, print_json, say, table, warn
from catsofa.data.percentages import in_percent

if TYPE_CHECKING:
    from catsofa.scoring.choosing import session
    from catsofa.scoring.choosing.asking import Asking
    from catsofa.scoring.choosing.estimates import Estimate
    from catsofa.scoring.choosing.results import ChoiceReport
    from catsofa.scoring.statistics.intervals import Interval


Labels = Literal["letters", "numbers", "sentence"]
Orders = Literal["all", "balanced"]

ModelName = Annotated[
    str | None,
    typer.Argument(
        metavar="MODEL", help="Model, by the name that its server knows. Without --base-url: a folder or hub id."
    ),
]
On = Annotated[
    str,
    typer.Option(metavar=DATA, help="CATs, pairs, questions, probes or association tests to ask about."),
]
Replies = Annotated[
    Path | None,
    typer.Option(help="Recorded replies to measure (JSONL, or an Inspect log as JSON) instead of asking a model."),
]
Out = Annotated[
    Path | None, typer.Option(help="Output folder for all replies and the report; rerun the same command to resume.")
]
BaseUrl = Annotated[
    str | None, typer.Option(help="Address of an OpenAI-compatible server. Default: the model runs on this machine.")
]
Templates = Annotated[
    str | None,
    typer.Option(
        help="Wordings, separated by commas. For CATs and pairs: likelihood (default), completion, "
        "agreement, isolated, plain. For questions: question (default), exam. For probes: true "
        "(default), those for sentences, or which. For association tests: word (default) or decision."
        " Or Jinja files."
    ),
]
LabelNames = Annotated[
    Labels,
    typer.Option(metavar=choices(Labels), help="Names of the options: letters, numbers, or the sentences themselves."),
]
Neutral = Annotated[bool, typer.Option("--neutral", help="Also offer a neutral option; this is a protocol of its own.")]
OrderNames = Annotated[
    Orders, typer.Option(metavar=choices(Orders), help="Orders of three options: all six, or three rotations.")
]
Samples = Annotated[
    int | None, typer.Option(min=1, help="Replies to sample per prompt, instead of reading label probabilities.")
]
Temperature = Annotated[float, typer.Option(min=0, help="Sampling temperature.")]
AnswerTokens = Annotated[int, typer.Option(min=1, help="Most tokens in an answer.")]
ReasoningTokens = Annotated[
    int, typer.Option(min=0, help="Most tokens of reasoning before the answer; 0 turns reasoning off.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="Number of items to sample, stratified by domain and group.")]
MEASURING = frozenset({"--replies", "--on", "--out", "--seed", "--json", "--quiet"})
"""Options that have an effect when the command measures recorded replies."""
SERVING = frozenset({"--key-env", "--concurrency", "--timeout", "--prices", "--max-cost", "--batch"})
"""Options that have an effect when the command asks a server."""
LOADING = frozenset({"--device", "--dtype"})
"""Options that have an effect when the model runs in this process."""
BIASES = {
    "associations": "association: bias from -1 to 1, 95 % interval",
    "decisions": "decision: bias from 0 to 1, 0.5 for none, 95 % interval",
}
"""Maps each JSON key of association tests to the title of its table."""
MOST = 5
"""Number of identities printed for each end of a category."""


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command(
        epilog=examples(
            "catsofa choose chatty --base-url http://127.0.0.1:8000/v1 --on crows-pairs --out runs/chatty",
            "catsofa choose gpt-5-mini --base-url https://api.openai.com/v1 --on stereoset:dev --limit 500 --dry-run",
            "catsofa choose models/chatty --on dev.json --templates likelihood,plain --out runs/chatty --json",
            "catsofa choose --replies replies.jsonl --on dev.json --out runs/chatty --json",
        )
    )(choose)


def choose(
    context: typer.Context,
    on: On,
    model: ModelName = None,
    replies: Replies = None,
    out: Out = None,
    base_url: BaseUrl = None,
    key_env: KeyEnv = "OPENAI_API_KEY",
    templates: Templates = None,
    labels: LabelNames = "letters",
    neutral: Neutral = False,
    orders: OrderNames = "all",
    samples: Samples = None,
    temperature: Temperature = 0.0,
    answer_tokens: AnswerTokens = 256,
    reasoning_tokens: ReasoningTokens = 2048,
    limit: Limit = None,
    prices: Prices = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    batch: Batch = False,
    concurrency: Concurrency = 8,
    timeout: Timeout = 300.0,
    device: Device = None,
    dtype: Dtype = "float32",
    seed: Annotated[int, typer.Option(help="Random seed of the intervals.")] = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure which sentences a chat model chooses: preference, position effect, refusals, each with its interval."""
    if bool(model) == bool(replies):
        raise ValueError("name a model to ask, or --replies to measure: one of the two")
    if replies:
        from catsofa.scoring.choosing.measured import report_on

        refuse_idle("--replies", given(context) - MEASURING)
        doing("reading replies, resampling for the intervals")
        show_choices(report_on(replies, local(on), out=out, seed=seed), json, quiet)
        return
    idle = given(context) & (LOADING if base_url else SERVING)
    refuse_idle("--base-url" if base_url else "a model in this process", idle)
    from catsofa.data.servers.prices import FREE, price_of
    from catsofa.scoring.choosing import session
    from catsofa.scoring.choosing.asking import Way
    from catsofa.scoring.choosing.templates import load

    way = Way(labels=labels, neutral=neutral, orders=orders, samples=samples, temperature=temperature,
              answer_tokens=answer_tokens, reasoning_tokens=reasoning_tokens)  # fmt: skip
    asking = way.asking(batch=batch)
    wordings = [load(name.strip()) for name in templates.split(",")] if templates is not None else []
    questions = session.choices(local(on), wordings, limit=limit, **way.requests())
    name, price = str(model), price_of(str(model), base_url, prices) if base_url else FREE
    if price is None and prices:
        raise ValueError(f"found no row for {name} in {prices}; add one under [models], or leave out --prices")
    chats = _served(context, name, asking) if base_url else _loaded(name, asking, device, dtype)
    if dry_run:
        coming = session.plan(chats, questions, out=out, price=price)
        print_json(asdict(coming)) if json else say(str(coming))
        return
    bar = Bar("asked", quiet=quiet or json, then="resampling for the intervals")
    show_choices(
        session.ask(chats, questions, out=out, price=price, max_cost=max_cost, seed=seed, progress=bar), json, quiet
    )


def _served(context: typer.Context, name: str, asking: "Asking") -> "session.ChatModel":
    """Returns a model behind a server."""
    from catsofa.scoring.choosing.served import ServedChat

    server, quiet = endpoint(context), context.params["quiet"]
    server.key()
    return ServedChat(name, server, asking, lambda message: note(message, quiet=quiet))


def _loaded(name: str, asking: "Asking", device: str | None, dtype: str) -> "session.ChatModel":
    """Returns a model in this process."""
    from catsofa.scoring.choosing.local import LocalChat
    from catsofa.scoring.models import load

    doing("loading the model")
    return LocalChat(load(name, device=device, dtype=dtype), asking)


def show_choices(report: "ChoiceReport", json: bool, quiet: bool) -> None:
    """Prints a report as JSON, or the estimates of each set, the outcomes, the warnings and the signature."""
    if json:
        print_json(report.to_dict())
    if json or quiet:
        return
    further = report.results.further
    if "answers" in further:
        _answers(further["answers"].rows())
    for name, title in BIASES.items():
        if name in further:
            table(title, ["test", "bias"], [[row["set"], _cell(row, "bias")] for row in further[name].rows()])
    if "fits" in further:
        rows = further["fits"].rows()
        sets = ([row for row in rows if row["set"] == name] for name in dict.fromkeys(row["set"] for row in rows))
        shown = [row for part in sets for row in (part if len(part) <= 2 * MOST else [*part[:MOST], *part[-MOST:]])]
        fits = [[row["set"], row["identity"], _cell(row, "fit")] for row in shown]
        title = "identities named most and least: share above chance (-0.5 to 0.5), 95 % interval"
        table(title, ["set", "identity", "above chance"], fits)
    if "identities" in further:
        variances = [
            [row["set"], row["identities"], *(_variance(row[name]) for name in ("variance", "sampling"))]
            for row in further["identities"].rows()
        ]
        heads = ["set", "identities", "between identities", "by sampling alone"]
        title = "variance of the share above chance" if "fits" in further else "agreement: variance of the preference"
        table(title, heads, variances)
    rows = [
        [row["set"], _cell(row, "preference"), _cell(row, "position"), _percent(row["consistent"]),
         in_percent(row["coverage"]), f"{row['items']:,}", f"{row['requests']:,}"]
        for row in report.rows()
    ]  # fmt: skip
    heads = ["set", "preference", "position effect", "consistent", "coverage", "items", "requests"]
    table(f"{report.protocol}: preference and position effect as shares, 95 % interval", heads, rows)
    table(
        "outcomes: share of the replies, 95 % interval", ["outcome", "share"], list(_outcomes(report.results.overall))
    )
    warn(report.warnings)
    if report.cost:
        say(f"cost: {report.cost['sentence']}")
    say(report.heading())


def _answers(rows: Sequence[Mapping[str, Any]]) -> None:
    """Prints BBQ's measures of answers: accuracy and bias, then the differences with coverage and counts."""

    def limited(*names: str) -> list[list[str]]:
        return [[row["set"], *(_cell(row, name) for name in names)] for row in rows]

    bias, differences = ("acc_amb", "acc_dis", "s_amb", "s_dis"), ("diff_amb", "diff_dis")
    table("accuracy and bias of the answers: value, 95 % interval", ["set", *bias], limited(*bias))
    counts = [[in_percent(row["coverage"]), f"{row['templates']:,}", f"{row['replies']:,}"] for row in rows]
    cells = [[*one, *counted] for one, counted in zip(limited(*differences), counts, strict=True)]
    title = "biased minus counter-biased answers: value, 95 % interval"
    table(title, ["set", *differences, "coverage", "templates", "replies"], cells)


def _outcomes(estimate: "Estimate") -> Iterator[list[str]]:
    """Yields the outcomes that occur.

    The two options are one row if position decides between them, or if a draw decides which identity is the
    stereotype.
    """
    from catsofa.scoring.choosing.position import DECIDED
    from catsofa.scoring.choosing.results import DRAWN

    shares = dict(estimate.outcomes)
    if estimate.undefined in (DECIDED, DRAWN):
        either = shares.pop("stereotype").value + shares.pop("anti_stereotype").value
        label = "one of the two identities" if estimate.undefined == DRAWN else f"either sentence, {DECIDED}"
        yield [label, in_percent(min(either, 1.0))]
    yield from ([name.replace("_", "-"), _in_percent(share)] for name, share in shares.items() if share.value)


def _cell(row: Mapping[str, Any], name: str) -> str:
    """Formats a share with its limits."""
    value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    if isnan(value):
        return UNDEFINED
    return f"{value:.3f}" if isnan(low) else f"{value:.3f} {low:.3f}–{high:.3f}"


def _variance(value: float) -> str:
    """Formats a variance, or "undefined"."""
    return UNDEFINED if isnan(value) else f"{value:.4f}"


def _percent(share: float) -> str:
    """Formats a share in percent, or "undefined"."""
    return UNDEFINED if isnan(share) else in_percent(share)


def _in_percent(share: "Interval") -> str:
    """Formats a share in percent with its limits."""
    limits = "" if isnan(share.low) else f" {in_percent(share.low)}–{in_percent(share.high)}"
    return f"{in_percent(share.value)}{limits}"
