"""The offline demo: builds, judges, trains, measures, compares and reports on models with known stereotypes.

The same small models are trained twice: on text that plants a stereotype, and on a balanced twin of that text. A valid
measure detects the stereotype in the first model and not in the second. Models this small cannot learn to answer
questions, so the chat models are simulated.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from catsofa.data import extras
from catsofa.data.files import atomic_write, jsonl
from catsofa.data.progress import SILENT
from catsofa.data.records import Cat
from catsofa.demo import chat
from catsofa.demo.building import Built, build, path_of
from catsofa.demo.measuring import KINDS, STRENGTHS, Limits, Measured, Named, associations, measures, train, vectors
from catsofa.demo.people import People, decide, judged, judgements

Tell = Callable[[str], None]
WIDER = 1.46
"""Factor that widens intervals for the checks against a known value. Each of two families has six intervals: the
twins against 50, and the chat models. The factor is a Bonferroni correction, so that a family fails by chance in one
run of twenty at most: t(.05/12) / t(.05/2) at the 11 degrees of freedom of twelve groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one measure in both worlds, and whether it distinguishes them as expected."""

    model: str
    measure: str
    planted: Limits
    balanced: Limits
    rule: str
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """The results of the demo and the paths of its files. A user's own model has measures, but no known answer."""

    folder: Path
    built: Built
    people: People
    checks: Sequence[Check] = ()
    measured: Sequence[Measured] = ()
    model: str = ""
    """The user's own model; empty for the demo's models."""
    report: Path

    @property
    def passed(self) -> bool:
        """True if every known answer was found."""
        return self.people.found and all(check.holds for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Returns the results as they are written to JSON."""
        return {
            "passed": self.passed,
            "built": {step.name: {"kept": step.kept, "refused": step.refused} for step in self.built.steps},
            "notes": self.built.notes,
            "people": {**asdict(self.people), "found": self.people.found},
            "checks": [_plain(asdict(check), "planted", "balanced") for check in self.checks],
            "measured": [_plain(asdict(one), "limits") for one in self.measured],
            "report": str(self.report),
        }


def _plain(row: dict[str, Any], *limited: str) -> dict[str, Any]:
    """Returns the row with the plain values of the named columns, and their limits under `intervals`."""
    values = {name: row.pop(name) for name in limited}
    limits = {name: {"low": low, "high": high} for name, (_, low, high) in values.items()}
    return {**row, **{name: value for name, (value, _, _) in values.items()}, "intervals": limits}


def run(
    folder: Path | str,
    *,
    model: str = "",
    seed: int = 0,
    label_studio: bool = False,
    tell: Tell = lambda text: None,
    progress: Named = lambda label: SILENT,
) -> Demo:
    """Runs the demo in `folder`; reuses the finished results of an earlier run."""
    needed = ("inflect", "lemminflect", "matplotlib", "safetensors", "tokenizers", "torch", "transformers")
    extras.need("demo", "the demo", *needed, *(("httpx", "label_studio_sdk") if label_studio else ()))
    folder = Path(folder)
    tell("building items about invented groups, and checking that paraphrases keep the meaning")
    built = build(folder / "inputs", folder / "items")
    people = _judged(folder, seed, label_studio, tell, progress)
    if model:
        measured = [*measures(model, folder / "items", built.partitions, folder, progress)]
        measured.append(associations(model, folder / "items", folder))  # SEAT by its own vectors
        checks: list[Check] = []
    else:
        worlds = {world: _of_world(world, built, folder, seed, progress) for world in STRENGTHS}
        measured, checks = [], list(_checks(worlds["planted"], worlds["balanced"]))
    tell("writing the report")
    done = Demo(
        folder=folder,
        built=built,
        people=people,
        checks=checks,
        measured=measured,
        model=model,
        report=_reported(folder, model),
    )
    with atomic_write(folder / "results.json") as file:
        file.write(json.dumps(done.to_dict(), indent=1).encode())
    return done


def _judged(folder: Path, seed: int, label_studio: bool, tell: Tell, progress: Named) -> People:
    """Has simulated people judge the CATs, on request through a Label Studio server, and returns the outcome."""
    sets = [jsonl.read(path_of(folder / "items", task), Cat) for task in ("intrasentence", "intersentence")]
    cats = judged([cat for some in sets for cat in some])
    votes = list(judgements(cats, seed))
    if label_studio:
        from catsofa.demo.server import through_server

        tell("starting a Label Studio for the simulated people, which takes a minute")
        votes = through_server(cats, votes, folder / "label-studio", progress("voting"))
    jsonl.write(votes, folder / "annotations.jsonl")
    return decide(cats, votes, server="Label Studio" if label_studio else "")


def _of_world(world: str, built: Built, folder: Path, seed: int, progress: Named) -> dict[tuple[str, str], Measured]:
    """Trains the models of a world and takes every measure of them; maps (kind, measure) to the result."""
    items, results = folder / "items", {}
    for kind in KINDS:
        place = train(folder / "models", world, kind, seed, progress)
        for one in measures(str(place), items, built.partitions, folder, progress):
            results[kind, one.measure] = one
    name, pairs = f"{world}-chat", path_of(items, "pairs")
    answers = chat.choices(world, pairs, folder / "runs" / name, seed, progress(f"asking {name}"))
    for measure, share in answers.items():
        limits = (share.value, share.low, share.high)
        results["chat", measure] = Measured(model=name, measure=measure, limits=limits)
    one = associations(str(vectors(folder / "models", world, seed)), items, folder)
    return {**results, ("vectors", one.measure): one}


def _checks(
    planted_world: Mapping[tuple[str, str], Measured], twin_world: Mapping[tuple[str, str], Measured]
) -> Iterator[Check]:
    """Yields for each measure whether it detects the planted stereotype and none in the twin."""
    for (kind, measure), result in planted_world.items():
        twin = twin_world[kind, measure]
        rule, holds = _judgement(measure, result, twin)
        yield Check(
            model=kind, measure=measure, planted=result.limits, balanced=twin.limits, rule=rule, holds=bool(holds)
        )


def _judgement(measure: str, result: Measured, twin: Measured) -> tuple[str, bool]:
    """Returns the rule that a measure must meet in both worlds, and whether it does."""
    (planted, low, _), (_, twin_low, twin_high) = result.limits, twin.limits
    if result.p is not None and twin.p is not None:
        return "ok if p is below 0.05, and the twin's p is not", result.p < 0.05 <= twin.p
    if measure == "SoFa score":
        return "ok if the planted score is above the interval of the twin", planted > twin_high
    if measure.startswith("flips"):
        return "ok if the planted value is below the interval of the twin", planted < twin_low
    if measure in chat.KNOWN:
        expected, even = chat.KNOWN[measure]
        return chat.RULE, _holds(result.limits, expected) and _holds(twin.limits, even)
    rule = "ok if the interval is above 50, and the twin's contains 50 (widened for six tests)"
    return rule, low > 50 and _holds(twin.limits, 50)


def _holds(limits: Limits, expected: float) -> bool:
    """Returns True if the widened interval contains the expected value; without spread, if the value equals it."""
    value, low, high = limits
    return value == expected or value - WIDER * (value - low) <= expected <= value + WIDER * (high - value)


def _reported(folder: Path, model: str) -> Path:
    """Writes the HTML report of the demo's runs and returns its path."""
    from catsofa.report import document
    from catsofa.report.formats import write

    names = (
        [Path(model).name]
        if model
        else [f"{world}-{kind}" for world in STRENGTHS for kind in (*KINDS, "vectors", "chat")]
    )
    runs = [folder / "runs" / name for name in names]
    rephrased = [place for name in names if (place := folder / "paraphrased" / name).exists()]
    title = f"The demo's items, asked of {Path(model).name}" if model else "A planted stereotype and its balanced twin"
    write(document(runs, title, paraphrases=rephrased), path := folder / "report.html")
    return path
