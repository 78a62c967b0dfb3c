"""Commands that score: models and prediction files, robustness to paraphrase, protocols."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from math import floor, isnan, log10
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from catsofa.cli import controls, export, protocols
from catsofa.cli.data import local
from catsofa.cli.engines import EngineName, RayAddress, WorkerCount, cluster
from catsofa.cli.numbers import UNDEFINED, chance, percent
from catsofa.cli.terminal import DATA, Json, Quiet, doing, examples, note, print_json, progress, say, table, warn

if TYPE_CHECKING:
    from catsofa.scoring.results import Report
    from catsofa.scoring.robustness import Comparison
    from catsofa.scoring.sofa import Results as Probes

TEN = 10
"""From here on one decimal is enough."""
LEAST_P = 1e-4
"""Below it a p is written by its magnitude."""
MOST = 5
"""Target terms named for people."""
RESTS = {
    "coverage": "all",
    "lms_coverage": "lms",
    "ss_coverage": "ss",
    "ties": "ties",
    "ties_unrelated": "unrelated",
    "ties_all": "all three",
    "unknown": "unknown",
    "unknown_identities": "identities",
}
"""What numbers rest on, and what heads its column."""
UNSHOWN = ("scored", "ss_terms")
WHOLE = {"coverage": "coverage 100 %", "ties": "no ties", "unknown": "no unknown tokens"}
"""What is said once where it holds for every set."""

ProtocolName = Annotated[
    str,
    typer.Option(
        "--protocol",
        help="How to score, as `catsofa protocols list` names it; choices may follow: catsofa,pooling=mean.",
    ),
]
Seed = Annotated[int | None, typer.Option(help="Of the resamples; the protocol's own if not given.")]


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    app.command(
        epilog=examples(
            "catsofa score gpt2 --on dev.json --out runs/gpt2",
            "catsofa score models/bert gpt2 --on dev.json --on crows_pairs.csv --out runs --device cuda --dtype bf16",
            "catsofa score gpt2 --on stereoset:dev --nsp gpt2-nsp",
            "catsofa score models/bert --on seat-tests --protocol sent-bias,pooling=mean,layer=-2",
            "catsofa score gpt2 --on probes.jsonl --out runs/gpt2 --engine ray --workers 4",
            "catsofa score gpt2 --on probes.jsonl --out runs/gpt2 --engine ray --ray-address head:6379",
            "catsofa score llama --on probes.jsonl --out runs/llama --engine vllm --dtype bf16",
            "catsofa score --predictions predictions.json --on dev.json",
            "catsofa score --predictions predictions.json --on dev.json --protocol stereoset-code --json",
            "catsofa score --predictions predictions.json --on dev.json --terms",
        )
    )(score)
    app.command(
        epilog=examples(
            "catsofa robustness --original runs/gpt2 --paraphrase runs/gpt2-paraphrased",
            "catsofa robustness --original a.json --paraphrase b.json --on dev.json --on paraphrases.json",
            "catsofa robustness --original a.json --paraphrase b.json --paraphrase c.json --on dev.json --json",
        )
    )(robustness)
    for topic in (controls, export, protocols):
        topic.register(app)


def score(
    on: Annotated[list[str], typer.Option(metavar=DATA, help="CATs, pairs, probes or tests; again for another set.")],
    models: Annotated[list[str] | None, typer.Argument(help="Folders or hub ids: gpt2, gpt2@revision.")] = None,
    predictions: Annotated[Path | None, typer.Option(help="Measure the scores of this file or run instead.")] = None,
    protocol: ProtocolName = "catsofa",
    out: Annotated[Path | None, typer.Option(help="A folder for every score; the same call again goes on.")] = None,
    nsp: Annotated[Path | None, typer.Option(help="A head of `catsofa nsp train`, for intersentence CATs.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps; a GPU where there is one.")] = None,
    dtype: Annotated[
        str,
        typer.Option(
            help="float32 (exact), bfloat16, float16 or auto; of half precision the report says how many preferences "
            "lie within its error."
        ),
    ] = "float32",
    device_map: Annotated[str | None, typer.Option(help="`auto`: a model too big for one device.")] = None,
    bits: Annotated[Literal["4", "8"] | None, typer.Option(help="Quantise with bitsandbytes when loading.")] = None,
    trust_remote_code: Annotated[bool, typer.Option("--trust-remote-code", help="Run the model's own code.")] = False,
    allow_pickle: Annotated[bool, typer.Option("--allow-pickle", help="Read weights that are no safetensors.")] = False,
    batch_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens forwarded at once.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first records.")] = None,
    engine: EngineName = "local",
    ray_address: RayAddress = None,
    workers: WorkerCount = None,
    terms: Annotated[
        bool, typer.Option("--terms", help="Also a row for each target term; of probes, both ends.")
    ] = False,
    seed: Seed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score models, or measure scores: lms, ss and icat, CrowS-Pairs, SoFa or SEAT, each with its interval."""
    from catsofa.scoring.evaluate import evaluate_all
    from catsofa.scoring.protocols import named
    from catsofa.scoring.score_files import report_on

    if bool(models) == bool(predictions) or (predictions and out):
        raise ValueError("name models to score, or --predictions to measure, which --out does not keep: one of the two")
    sets = [str(local(data)) for data in on]
    watch = partial(_scored, quiet=quiet or json)
    found: Iterable[Report]
    doing("reading scores, resampling for the intervals" if predictions else "loading the model")
    if predictions:
        found = (report_on(predictions, data, protocol=protocol, seed=seed, with_terms=terms) for data in sets)
    elif engine == "vllm":
        found = _by_vllm(
            models or [],
            sets,
            protocol=named(protocol, seed=seed),
            out=out,
            limit=limit,
            with_terms=terms,
            watch=watch,
            dtype=dtype,
            trust_remote_code=trust_remote_code,
        )
    else:
        found = evaluate_all(
            models or [],
            sets,
            protocol=named(protocol, seed=seed),
            out=out,
            limit=limit,
            nsp=nsp,
            batch_tokens=batch_tokens,
            with_terms=terms,
            cluster=cluster(engine, ray_address, workers),
            watch=watch,
            device=device,
            dtype=dtype,
            device_map=device_map,
            quantisation=bits and {f"load_in_{bits}bit": True},
            trust_remote_code=trust_remote_code,
            allow_pickle=allow_pickle,
        )
    show_all(found, terms, json, quiet)


def _scored(records: Iterable[Any], quiet: bool) -> Iterator[Any]:
    """The records as they are scored, with how far it is; then their measures are taken."""
    yield from progress(records, "scored", quiet=quiet)
    doing("resampling for the intervals")


def show_all(found: "Iterable[Report]", terms: bool, json: bool, quiet: bool) -> None:
    """Print reports as they come, or all of them as JSON, or nothing of what a run keeps."""
    from catsofa.scoring.sofa import Results as Probes

    if json:
        every = [each.to_dict() for each in found]
        print_json(every[0] if len(every) == 1 else every)
        return
    for each in found:
        if not quiet:
            show(each)
        if terms and not quiet and isinstance(each.results, Probes):
            show_ends(each.results)
        doing("loading the next")


def _by_vllm(models: Sequence[str], sets: Sequence[str], **options: Any) -> Iterator["Report"]:
    """One model on one set by vLLM, which takes the whole of a GPU for itself."""
    from catsofa.scoring import vllm_offline

    if len(models) * len(sets) != 1:
        raise ValueError("--engine vllm scores one model on one data set in a call")
    yield vllm_offline.evaluate(models[0], sets[0], **options)


def show(found: "Report") -> None:
    """Print a report for people: the sets, the terms, what is unscored, and the signature."""
    for task, rows in groupby(found.rows(), key=lambda row: str(row.get("task", "pairs"))):
        _rows(f"{task}, {found.protocol}: value, 95 % interval", list(rows))
    if found.terms:
        _rows("target terms: value, Wilson's interval", found.terms)
    warn(found.warnings)
    for reason, count in found.unscored.items():
        note(f"unscored: {count:,} texts: {reason}")
    if found.strangers:
        note(f"{found.strangers:,} scores are of texts that are not in the data")
    if found.precision:
        note(_precision(found.precision))
    say(str(found.signature))


def show_ends(found: "Probes") -> None:
    """Print the identities and stereotypes at either end of each category's orders."""
    from catsofa.scoring.sofa_rankings import ends

    for category in found.categories:
        for end, names in ends(found, category).items():
            say(f"{category}, {end}: {', '.join(names)}")


def _precision(found: Mapping[str, Any]) -> str:
    """What half precision may have decided, in a sentence."""
    if not found["checked"]:
        return f"{found['dtype']}: its error was not measured: {found['reason']}"
    what = "differences" if "preferences" in found else "scores"
    said = f"{found['dtype']}: {what} are off by up to {found['error']:.4f} ({found['checked']} checked in float32)"
    if "preferences" not in found:
        return said
    return f"{said}; {found['within']:,} of {found['preferences']:,} preferences lie within that and could flip"


def _rows(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print flat rows, each measure with its limits in one cell; what they rest on below, where they are not whole."""
    counts = [name for name in RESTS if name in rows[0]]
    whole = all(_is_whole(row, name) for row in rows for name in counts)
    said = [text for name, text in WHOLE.items() if any(row.get(name) is not None for row in rows)] if whole else []
    columns = [n for n in rows[0] if n not in ("task", *UNSHOWN, *counts) and not n.endswith(("_low", "_high"))]
    shown = [[_cell(row, name) for name in columns] for row in rows]
    table("; ".join([title, *([", ".join(said)] if said else [])]), columns, shown)
    if whole or not counts:
        return
    kept = [name for name in counts if not all(_is_whole(row, name) for row in rows)]
    heads, cells = columns[:1], [[row[columns[0]], *(_count(row, name) for name in kept)] for row in rows]
    table("coverage, and how many tie or hold unknown tokens", [*heads, *(RESTS[name] for name in kept)], cells)


def _is_whole(row: Mapping[str, Any], name: str) -> bool:
    """Whether all of a set is covered, or none of it ties or is unknown."""
    return row.get(name) in (None, 1 if name.endswith("coverage") else 0)


def _count(row: Mapping[str, Any], name: str) -> str:
    """A coverage in percent, or a count; a dash where nobody counted."""
    value = row.get(name)
    if value is None or value != value:
        return "–"
    return f"{value:.1%}" if name.endswith("coverage") else f"{value:,}"


def _cell(row: Mapping[str, Any], name: str) -> object:
    """A value, with its limits where it has some."""
    value = row[name]
    if value is None or (isinstance(value, float) and isnan(value)):
        return UNDEFINED if row.get("ties") or "position" in row else "unscored"
    if name in ("p", "holm"):
        return f"{value:.4f}" if value >= LEAST_P else f"{value:.0e}"
    if f"{name}_low" not in row:
        return f"{value:.{_digits(abs(value))}f}" if isinstance(value, float) else value
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    digits = _digits(max(abs(value), 0 if isnan(high) else abs(high)))
    return f"{value:.{digits}f}" if isnan(low) else f"{value:.{digits}f} {low:.{digits}f}–{high:.{digits}f}"


def _digits(size: float) -> int:
    """Decimals for a number of this size: three digits of a small one, since a SoFa score may be 0.0213."""
    if size >= TEN:
        return 1
    return 2 if size >= 1 or not size else min(6, 2 - floor(log10(size)))


def robustness(
    original: Annotated[
        list[Path], typer.Option(help="A run on the originals, or a file of scores; again for another model.")
    ],
    paraphrase: Annotated[
        list[Path], typer.Option(help="A run on paraphrases, or a file of scores; again for another set of them.")
    ],
    on: Annotated[
        list[str] | None,
        typer.Option(metavar=DATA, help="For files: the original CATs, then those of each set of paraphrases."),
    ] = None,
    protocol: ProtocolName = "catsofa",
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Say what rephrasing changes: lms, ss and icat, the preferences that flip, and the ranks of several models."""
    from catsofa.scoring.score_files import robustness_on

    found = robustness_on(
        original,
        paraphrase,
        [local(data) for data in on or ()],
        protocol=protocol,
        seed=seed,
        watch=lambda paths: progress(paths, "compared", quiet=json),
    )
    if json:
        print_json(found.to_dict())
        return
    for one in found.compared:
        say(one.title)
        show_comparison(one.comparison)
    for ranks in found.ranks:
        say(f"ranks by {ranks.measure}: {' > '.join(ranks.original)}; on paraphrases {' > '.join(ranks.paraphrase)}")
        say(f"Kendall's tau {ranks.kendall:.2f}")
    warn(found.warnings)
    say(str(found.signature))


def show_comparison(found: "Comparison") -> None:
    """Print what one rephrasing changes."""
    rows = [
        [
            name,
            *(percent(getattr(side, name).value, 2) for side in (found.original, found.paraphrase)),
            percent(change.by),
            chance(change.p),
        ]
        for name, change in found.changes.items()
    ]
    table(f"{found.items:,} items", ["measure", "original", "paraphrase", "change [95 %]", "p"], rows)
    controls.decided_by_both({"lms": found.original.lms_coverage, "ss": found.original.ss_coverage})
    decided = round(found.flips_coverage * found.items)
    say(f"preferences that flip, in percent of {decided:,} items decided in both: {percent(found.flips)}")
    sides = {"originals": found.original, "paraphrases": found.paraphrase}
    say("; ".join(f"{name}: {of.ties:,} ties{_unknown(of.unknown)}" for name, of in sides.items()))
    most = [f"{row.term} {row.rate.value:.0f} % of {row.items}" for row in found.terms[:MOST] if row.rate.value]
    say(f"most flipping terms: {', '.join(most) or 'none'}")
    for reason, count in found.refused.items():
        note(f"refused: {count:,} paraphrases: {reason}")


def _unknown(count: int | None) -> str:
    """How many items have unknown tokens, where they were counted."""
    return "" if count is None else f", {count:,} with unknown tokens"
