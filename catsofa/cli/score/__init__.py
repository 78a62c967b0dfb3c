"""The command that scores models, or measures files of scores."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from catsofa.cli.data import local
from catsofa.cli.options import (
    AllowPickle,
    BatchTokens,
    Device,
    EngineName,
    Head,
    Limit,
    RayAddress,
    TrustRemoteCode,
    WorkerCount,
    executor_of,
    given,
    refuse_idle,
)
from catsofa.cli.score import choose, comparisons, contamination, controls, examine, export, multiverse, protocols
from catsofa.cli.score.protocols import ProtocolName, Seed
from catsofa.cli.score.tables import show, show_beside, show_ends, show_head, show_overview
from catsofa.cli.terminal import DATA, Bar, Json, Quiet, doing, examples, print_json

if TYPE_CHECKING:
    from catsofa.scoring.results import Report

MEASURING = frozenset({"--on", "--predictions", "--protocol", "--terms", "--details", "--seed", "--json", "--quiet"})
"""Options that have an effect when the command measures existing scores."""
IN_PROCESS = frozenset({"--device", "--device-map", "--bits", "--allow-pickle", "--batch-tokens"})
"""Options that have an effect when catsofa loads the model itself."""
LOADING = frozenset({"--dtype", "--trust-remote-code", "--engine", "--nsp"})
"""Further options without effect on a model of another package."""


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
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
            "catsofa score --predictions unifiedqa_Religion.jsonl --on Religion.jsonl --json",
        )
    )(score)
    for topic in (choose, comparisons, contamination, controls, examine, multiverse, export, protocols):
        topic.register(app)


def score(
    context: typer.Context,
    on: Annotated[
        list[str],
        typer.Option(
            metavar=DATA, help="CATs, pairs, probes, questions or association tests; repeat for several sets."
        ),
    ],
    models: Annotated[
        list[str] | None,
        typer.Argument(
            help="Models: folders, hub ids (gpt2, gpt2@revision), NAME:ARGUMENT of a package, vectors for SEAT."
        ),
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Measure these scores or predictions (a file), or this run, instead of a model.")
    ] = None,
    protocol: ProtocolName = "catsofa",
    out: Annotated[
        Path | None, typer.Option(help="Output folder for all scores; rerun the same command to resume.")
    ] = None,
    nsp: Head = None,
    device: Device = None,
    dtype: Annotated[
        str,
        typer.Option(
            help="Precision: float32 (exact), bfloat16 (bf16), float16 (fp16) or auto. In half precision the report"
            " says how many preferences are within the rounding error."
        ),
    ] = "float32",
    device_map: Annotated[
        str | None, typer.Option(help="Device map: `auto` spreads a large model over several devices.")
    ] = None,
    bits: Annotated[Literal["4", "8"] | None, typer.Option(help="Quantise with bitsandbytes when loading.")] = None,
    trust_remote_code: TrustRemoteCode = False,
    allow_pickle: AllowPickle = False,
    batch_tokens: BatchTokens = None,
    limit: Limit = None,
    engine: EngineName = "local",
    ray_address: RayAddress = None,
    workers: WorkerCount = None,
    terms: Annotated[
        bool,
        typer.Option(
            "--terms", help="Also show one row per target term (for probes: the highest and lowest identities)."
        ),
    ] = False,
    details: Annotated[
        bool,
        typer.Option(
            "--details", help="Also show the tables of each model by task and domain, where there are several."
        ),
    ] = False,
    seed: Seed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score models, or measure scores: lms, ss and icat, CrowS-Pairs, SoFa, SEAT or BBQ, each with its interval.

    Exit code 1: nothing could be scored, so that there is no number.
    """
    from catsofa.report.inputs import finished, read
    from catsofa.scoring.evaluate import evaluate, planned
    from catsofa.scoring.models.plugged import is_plugged
    from catsofa.scoring.protocols import named

    if bool(models) == bool(predictions):
        raise ValueError("name models to score, or --predictions to measure: one of the two")
    if predictions:
        refuse_idle("--predictions", given(context) - MEASURING)
    sets = [str(local(data)) for data in on]
    if predictions:
        doing("reading scores, resampling for the intervals")
        measured = show_all(
            _measured(predictions, sets, protocol, seed, terms), terms, json, quiet, details or len(sets) < 2
        )
        if len(measured) > 1 and not (json or quiet):
            show_overview([finished(Path(predictions), each.to_dict(), {}, "its report") for each in measured])
        exit_without_numbers(measured)
        return
    doing("loading the model")
    executor = executor_of(engine, ray_address, workers)
    loading: dict[str, Any] = {"dtype": dtype, "trust_remote_code": trust_remote_code}
    if engine == "vllm":
        refuse_idle("--engine vllm", given(context) & IN_PROCESS)
    if engine == "vllm" and len(models or []) * len(sets) != 1:
        raise ValueError("--engine vllm scores one model on one data set in a call")
    if engine != "vllm":
        quantisation = bits and {f"load_in_{bits}bit": True}
        loading |= {"device": device, "device_map": device_map, "allow_pickle": allow_pickle}
        loading |= {"quantisation": quantisation, "batch_tokens": batch_tokens}
    for model in filter(is_plugged, models or []):
        refuse_idle(model, given(context) & (LOADING | IN_PROCESS))
    reports, finished_runs = [], []
    several = len(models or []) * len(sets) > 1
    for model, data, folder in planned(models or [], sets, out):
        report = evaluate(
            model,
            data,
            protocol=named(protocol, seed=seed),
            executor=None if is_plugged(model) else executor,
            out=folder,
            limit=limit,
            nsp=nsp,
            with_terms=terms,
            progress=Bar("scored", quiet=quiet or json, then="resampling for the intervals"),
            **({} if is_plugged(model) else loading),
        )
        reports.append(report)
        finished_runs.append(read(folder) if folder else finished(Path(model), report.to_dict(), {}, "its report"))
        if not json:
            show_all([report], terms, json, quiet, details or not several)
    if json:
        show_all(reports, terms, json, quiet)
    elif several and not quiet:
        show_overview(finished_runs)
    exit_without_numbers(reports)


def exit_without_numbers(reports: "Sequence[Report]") -> None:
    """Exits with 1 if no number is based on an item."""
    if all(row.get("coverage") == 0 for report in reports for row in report.rows()):
        raise typer.Exit(1)


def _measured(
    predictions: Path, sets: Sequence[str], protocol: str, seed: int | None, terms: bool
) -> "Iterator[Report]":
    """Yields a report on these scores for each data set."""
    from catsofa.scoring.run.score_files import report_on

    for data in sets:
        yield report_on(predictions, data, protocol=protocol, seed=seed, with_terms=terms)


def show_all(reports: "Iterable[Report]", terms: bool, json: bool, quiet: bool, details: bool = True) -> "list[Report]":
    """Prints each report when it is ready, or all of them as JSON, or nothing if `quiet`; returns the reports.

    Without `details`, prints only the warnings, the unscored items and the signature.
    """
    from catsofa.scoring.measures.sofa import Results as Probes

    shown: list[Report] = []
    if json:
        shown = list(reports)
        every = [each.to_dict() for each in shown]
        print_json(every[0] if len(every) == 1 else every)
        return shown
    for each in reports:
        shown.append(each)
        if details and not quiet:
            show(each)
        elif not quiet:
            show_head(each)
            show_beside(each)
        if terms and not quiet and isinstance(each.results, Probes):
            show_ends(each.results)
        doing("loading the next")
    return shown
