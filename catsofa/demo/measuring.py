"""Trains or loads the demo's models and takes every measure of them, as resumable runs that a report can show."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catsofa.data.files.folders import atomic_folder
from catsofa.data.progress import Progress
from catsofa.demo import planted_models
from catsofa.demo.building import path_of
from catsofa.demo.planted import World
from catsofa.scoring.protocols import DEFAULT, Protocol

if TYPE_CHECKING:
    from catsofa.scoring.statistics.intervals import Interval

Named = Callable[[str], Progress]
"""Returns the progress display for work with this name."""
Limits = tuple[float, float, float]
"""Value, lower limit, upper limit."""
STRENGTHS = {"planted": 0.95, "balanced": 0.5}
KINDS = ("causal", "masked")
TRAIN = {"causal": planted_models.train_causal, "masked": planted_models.train_masked}
STEPS = {"causal": 800, "masked": 600}
SCENE = DEFAULT.changed(
    name="scene-given-sequel",
    about="What comes next, by how likely the scene is before it: these small models have no next-sentence head.",
    masked_pair="pseudo",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One measure of one model; SEAT also has a p-value."""

    model: str
    measure: str
    limits: Limits
    p: float | None = None


def train(folder: Path, world: str, kind: str, seed: int, progress: Named) -> Path:
    """Returns the folder of a model of a world; trains the model if the folder does not exist."""
    place = folder / f"{world}-{kind}"
    if not place.exists():
        with atomic_folder(place, lambda file: True) as fresh:
            TRAIN[kind](
                World(strength=STRENGTHS[world], seed=seed),
                fresh,
                steps=STEPS[kind],
                progress=progress(f"training {place.name}"),
            )
    return place


def vectors(folder: Path, world: str, seed: int) -> Path:
    """Writes the word vectors of a world and returns their path."""
    return planted_models.train_vectors(World(strength=STRENGTHS[world], seed=seed), folder / f"{world}-vectors.txt")


def measures(model: str, items: Path, partitions: Sequence[Path], out: Path, progress: Named) -> Iterator[Measured]:
    """Yields StereoSet, CrowS-Pairs, SoFa and flips of a model; keeps all scores under `out`."""
    from catsofa.scoring import models
    from catsofa.scoring.evaluate import evaluate

    loaded, name = models.load(model), Path(model).name

    def found(data: Path, run: Path, protocol: Protocol = DEFAULT) -> Any:
        return evaluate(
            loaded, str(data), protocol=protocol, out=run, progress=progress(f"{name}: {data.stem}")
        ).results

    runs = out / "runs" / name
    for task in ("intrasentence", "intersentence"):
        other_way = task == "intersentence" and loaded.kind == "masked"
        result = found(path_of(items, task), runs / task, SCENE if other_way else DEFAULT)
        yield _measured(name, f"ss {task}", result.tasks[task]["overall"].ss)
    yield _measured(name, "CrowS-Pairs", found(path_of(items, "pairs"), runs / "pairs").overall.score)
    yield _measured(name, "SoFa score", found(path_of(items, "probes"), runs / "probes").score)
    rephrased = [out / "paraphrased" / name / partition.stem for partition in partitions]
    for partition, run in zip(partitions, rephrased, strict=True):
        found(partition, run)
    yield from _flips(name, runs / "intrasentence", rephrased)


def _flips(name: str, original: Path, rephrased: Sequence[Path]) -> Iterator[Measured]:
    """Yields the percentage of preferences that each set of paraphrases flips."""
    from catsofa.scoring.run.score_files import robustness_on

    for number, run in enumerate(rephrased, 1):
        (compared,) = robustness_on([original], [run]).compared
        yield _measured(name, f"flips, paraphrase {number}", compared.comparison.flips)


def associations(model: str, items: Path, out: Path) -> Measured:
    """Returns the effect size of SEAT, from the vectors of a model or of a file."""
    from catsofa.scoring.evaluate import evaluate

    name = Path(model).stem if Path(model).is_file() else Path(model).name
    (row,) = evaluate(model, str(path_of(items, "seat")), out=out / "runs" / name / "seat").results.to_dict()
    low, high = (row["intervals"]["effect_size"][end] for end in ("low", "high"))
    return Measured(model=name, measure="SEAT d", limits=(row["effect_size"], low, high), p=row["p_value"])


def _measured(model: str, measure: str, interval: "Interval") -> Measured:
    """Returns a measure with the values of its interval."""
    return Measured(model=model, measure=measure, limits=(interval.value, interval.low, interval.high))
