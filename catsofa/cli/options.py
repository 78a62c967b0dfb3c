"""Options that several commands share: the study, how to load a model, and where to run the work."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from catsofa.data.runs.ray_cluster import Cluster
    from catsofa.scoring.executors import Executor

StudyFolder = Annotated[Path, typer.Argument(help="Study folder.", metavar="STUDY")]

Device = Annotated[str | None, typer.Option(help="Device: cpu, cuda, cuda:1, mps. Default: a GPU if there is one.")]
Dtype = Annotated[str, typer.Option(help="Precision: float32 (exact), bfloat16 (bf16), float16 (fp16) or auto.")]
TrustRemoteCode = Annotated[bool, typer.Option("--trust-remote-code", help="Run code that comes with the model.")]
AllowPickle = Annotated[bool, typer.Option("--allow-pickle", help="Read weights in formats other than safetensors.")]
BatchTokens = Annotated[int | None, typer.Option(min=1, help="Tokens per batch.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Score only the first N records.")]
Head = Annotated[Path | None, typer.Option(help="Head of `catsofa nsp train`, for intersentence CATs.")]

TrainedIn = Annotated[Path, typer.Option(help="Output folder; rerun the same command to resume training.")]
LearningRate = Annotated[float, typer.Option("--lr", help="Learning rate after the warm-up.")]
Accumulation = Annotated[int, typer.Option(min=1, help="Number of parts in which a batch is forwarded.")]
Precision = Annotated[Literal["auto", "fp32", "bf16", "fp16"], typer.Option(help="Precision of the forward pass.")]
SaveEvery = Annotated[int, typer.Option(min=1, help="Steps between checkpoints.")]

Engine = Literal["local", "ray", "vllm"]

Spread = Literal["local", "ray"]

SpreadName = Annotated[
    Spread, typer.Option("--engine", help="Executor: `ray` spreads the work over processes, here or on a cluster.")
]
EngineName = Annotated[
    Engine,
    typer.Option(
        "--engine",
        help="Executor: `ray` spreads the work over processes, here or on a cluster; `vllm` where it is installed.",
    ),
]
RayAddress = Annotated[
    str | None, typer.Option(help="Address of a running Ray cluster. Default: a local one is started.")
]
WorkerCount = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, help="Number of Ray processes. Default: one per GPU, or one per CPU without a GPU."
    ),
]


def cluster(engine: Engine, address: str | None, workers: int | None) -> "Cluster | None":
    """Returns the address and number of Ray's workers; None for another engine."""
    from catsofa.data.runs.ray_cluster import Cluster

    if engine == "ray":
        return Cluster(address=address, workers=workers)
    if address or workers:
        raise ValueError("--ray-address and --workers belong to --engine ray")
    return None


def executor_of(engine: Engine, address: str | None, workers: int | None) -> "Executor":
    """Returns the executor for an engine."""
    from catsofa.scoring.executors.local import Local
    from catsofa.scoring.executors.ray_workers import Ray
    from catsofa.scoring.executors.texts import VLLM

    workers_of = cluster(engine, address, workers)
    if workers_of:
        return Ray(workers_of)
    return VLLM() if engine == "vllm" else Local()


def given(context: typer.Context) -> set[str]:
    """Returns the options and arguments that the command line of this call names."""
    sources = {each.opts[0]: context.get_parameter_source(str(each.name)) for each in context.command.params}
    return {option for option, source in sources.items() if source and source.name == "COMMANDLINE"}


def refuse_idle(chosen: str, idle: set[str]) -> None:
    """Raises a ValueError if the call has options without effect beside the chosen one."""
    if idle:
        raise ValueError(f"with {chosen}, these options have no effect: {', '.join(sorted(idle))}; leave them out")
