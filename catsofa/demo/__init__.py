"""The whole journey, offline, on models whose stereotypes are known: build, judge, train, measure, compare, report.

The same small models are trained twice: on text that plants a stereotype, and on its balanced twin. A measure that
works must find the first and must not find the second. So small a model learns no answers to questions: the chat models
are simulated.
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
"""How much wider intervals are taken that must hold a known value. There are six at once, the twins' 50 and those of
the chat models, so that one in twenty may not miss it (Bonferroni over the 11 degrees of freedom of twelve groups:
t(.05/12) / t(.05/2))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One measure of both worlds, and whether it tells them apart as it must."""

    model: str
    measure: str
    planted: Limits
    balanced: Limits
    rule: str
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What the demo found, and where its files lie; a model that was given has measures and no known answer."""

    folder: Path
    built: Built
    people: People
    checks: Sequence[Check] = ()
    measured: Sequence[Measured] = ()
    model: str = ""
    """The model that was given, if one was."""
    report: Path

    @property
    def passed(self) -> bool:
        """Whether every known answer was found."""
        return self.people.found and all(check.holds for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """The findings as they stand in our JSON."""
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
    """A row whose numbers stand under their names, their limits beside them."""
    found = {name: row.pop(name) for name in limited}
    limits = {name: {"low": low, "high": high} for name, (_, low, high) in found.items()}
    return {**row, **{name: value for name, (value, _, _) in found.items()}, "intervals": limits}


def run(
    folder: Path | str,
    *,
    model: str = "",
    seed: int = 0,
    label_studio: bool = False,
    tell: Tell = lambda text: None,
    progress: Named = lambda label: SILENT,
) -> Demo:
    """Run the journey into `folder`; what an earlier run has finished there is used again."""
    needed = ("inflect", "lemminflect", "matplotlib", "safetensors", "tokenizers", "torch", "transformers")
    extras.need("demo", "the demo", *needed, *(("httpx", "label_studio_sdk") if label_studio else ()))
    folder = Path(folder)
    tell("building items about invented groups, and gating paraphrases by what they mean")
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
    """What simulated people say of the CATs, on request by way of a server."""
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
    """Train the models of a world, and take every measure of them: (kind, measure) to what was found."""
    items, found = folder / "items", {}
    for kind in KINDS:
        place = train(folder / "models", world, kind, seed, progress)
        for one in measures(str(place), items, built.partitions, folder, progress):
            found[kind, one.measure] = one
    name, pairs = f"{world}-chat", path_of(items, "pairs")
    answers = chat.choices(world, pairs, folder / "runs" / name, seed, progress(f"asking {name}"))
    for measure, share in answers.items():
        limits = (share.value, share.low, share.high)
        found["chat", measure] = Measured(model=name, measure=measure, limits=limits)
    one = associations(str(vectors(folder / "models", world, seed)), items, folder)
    return {**found, ("vectors", one.measure): one}


def _checks(there: Mapping[tuple[str, str], Measured], here: Mapping[tuple[str, str], Measured]) -> Iterator[Check]:
    """Whether each measure finds the planted stereotype and does not find one in the twin."""
    for (kind, measure), found in there.items():
        twin = here[kind, measure]
        rule, holds = _judgement(measure, found, twin)
        yield Check(
            model=kind, measure=measure, planted=found.limits, balanced=twin.limits, rule=rule, holds=bool(holds)
        )


def _judgement(measure: str, found: Measured, twin: Measured) -> tuple[str, bool]:
    """What must hold of a measure of both worlds, and whether it does."""
    (planted, low, _), (_, twin_low, twin_high) = found.limits, twin.limits
    if found.p is not None and twin.p is not None:
        return "p is below 0.05, the twin's is not", found.p < 0.05 <= twin.p
    if measure == "SoFa score":
        return "the planted score is above the interval of its twin", planted > twin_high
    if measure.startswith("flips"):
        return "what is known in one wording is known in another: below the twin's interval", planted < twin_low
    if measure in chat.KNOWN:
        known, even = chat.KNOWN[measure]
        return chat.RULE, _holds(found.limits, known) and _holds(twin.limits, even)
    return "its interval excludes 50, the twin's, for six at once, holds it", low > 50 and _holds(twin.limits, 50)


def _holds(limits: Limits, known: float) -> bool:
    """Whether an interval that is wide enough for six at once holds what is known; without spread, the value itself."""
    value, low, high = limits
    return value == known or value - WIDER * (value - low) <= known <= value + WIDER * (high - value)


def _reported(folder: Path, model: str) -> Path:
    """The HTML report of this demo's runs."""
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
