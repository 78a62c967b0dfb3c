"""Finds and reads the inputs of a report: finished runs, and the --json output of `score` and other commands."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

from catsofa.data.digests import DIGITS
from catsofa.data.files import BadInput, json_files
from catsofa.data.processes import in_processes
from catsofa.data.records import Cat
from catsofa.data.visible import without_folders
from catsofa.scoring.choosing import measured
from catsofa.scoring.choosing.each import each
from catsofa.scoring.choosing.measured import RUN as CHOICES
from catsofa.scoring.choosing.reasoning import without_reasoning
from catsofa.scoring.choosing.replies import ASKED, REPLIES
from catsofa.scoring.choosing.replies import read as read_replies
from catsofa.scoring.dataset import Data, open_data, place_of
from catsofa.scoring.measures.cat_outcomes import Outcomes, outcomes
from catsofa.scoring.measures.registry import Given as Scores
from catsofa.scoring.measures.registry import recognised
from catsofa.scoring.protocols import DEFAULT, PRESETS, Protocol
from catsofa.scoring.run.manifest import MANIFEST, is_checked, read_manifest
from catsofa.scoring.run.origins import data_of
from catsofa.scoring.run.reports import Unfinished, refuse_changed
from catsofa.scoring.run.rows import SCORES, unchecked
from catsofa.scoring.run.score_files import cats_in, given_in, read_run
from catsofa.scoring.signature import Signature, first_of, hashes_in

SERVER = re.compile(r" at (https?://\S+|the default address)$")
"""The address after the name of a served model in its signature; it is too long for a table column."""
EXPECTED = (
    "a folder of `catsofa score`, or what it, `robustness`, `examine`, `contamination`, `power` or `filter perplexity` "
    "prints with --json"
)

OF_CHOICES = "choices"
"""The kind of runs of `choose`; the kind of other runs is the name of their measure."""
LATE = "9"
"""A sort key after the start time of any run, for runs without a start time."""
PRINTED = {
    "robustness": {"comparisons"},
    "examine": {"results.convergence"},
    "contamination": {"tests", "shown", "sentence"},
    "power": {"sets", "simulations", "people"},
    "filter perplexity": {"histograms"},
}
"""Maps a command to the fields that identify its JSON."""
MOST_BYTES = 48 << 20
"""The stored bytes of scores kept while runs are checked (about 500,000 scores); others are read on demand."""
LEFT_OUT = "Left out:"
"""The first words of the sentence about a run that is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A finished run: its measure, model, report and signature."""

    folder: Path
    """The folder of the run, or the JSON file of its report."""
    kind: str
    model: str
    report: dict[str, Any]
    signature: Signature
    manifest: Mapping[str, Any] = field(default_factory=dict)
    held: Scores | None = field(default=None, repr=False, compare=False)
    """The scores, if they were kept in memory while the run was checked."""

    @property
    def kept(self) -> bool:
        """True if the run has a manifest, and so a folder with one score per text."""
        return bool(self.manifest)

    @property
    def scores(self) -> Scores:
        """The scores of the run, one for each text; read from its folder if they are not in memory."""
        return self.held or given_in(self.folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """All inputs of a report: runs, and JSON output of other commands with its file."""

    runs: Sequence[Finished]
    printed: Mapping[str, Sequence[tuple[Path, Mapping[str, Any]]]]
    """The JSON output of other commands, by command: each result with its file."""
    unfinished: Sequence[str] = ()
    """A sentence for each run that is left out because it is unfinished."""
    twice: Sequence[str] = ()
    """A sentence for each run that is left out because it is a duplicate."""

    @property
    def left_out(self) -> list[str]:
        """A sentence for each run that is left out."""
        return [*self.unfinished, *self.twice]


def find(paths: Iterable[Path | str], leave_out: Iterable[Path] = ()) -> Given:
    """Reads the runs and results in these files and folders, and below them.

    A duplicate run is left out; it raises ValueError if the results differ. An unfinished run below a folder is left
    out too; it raises Unfinished if its own folder is given, or if the folder has no finished run.
    """
    out = {path.resolve() for path in leave_out}
    runs: list[Finished] = []
    printed: dict[str, list[tuple[Path, Mapping[str, Any]]]] = {command: [] for command in PRINTED}
    unfinished: list[str] = []
    every = [*map(Path, paths)]
    below = [[] if path.is_file() else [p for p in places_in(path) if p.resolve() not in out] for path in every]
    places = [*chain(*below)]
    stored = accumulate(map(_stored, places), initial=0)  # before each run
    tasks = [(place, size < MOST_BYTES) for place, size in zip(places, stored, strict=False)]
    results = iter(in_processes(_read_or_unfinished, tasks))
    for path, its_places in zip(every, below, strict=True):
        if not path.is_file():
            finished_runs, left_out = _finished_below(path, dict(zip(its_places, results, strict=False)))
            runs += finished_runs
            unfinished += left_out
            continue
        content = json_files.read(path, EXPECTED)
        for number, part in enumerate(content if isinstance(content, list) else [content], 1):
            if not isinstance(part, dict):
                raise BadInput(path, "JSON that is no result", EXPECTED)
            refuse_changed(part, path)
            command = next((command for command, keys in PRINTED.items() if keys <= _keys(part)), None)
            if command:
                printed[command].append((path, part))
            else:
                runs.append(finished(path, part, {}, f"result {number} of it"))
    runs, twice = once(runs)
    return Given(runs=with_unique_names(runs), printed=printed, unfinished=unfinished, twice=twice)


def _keys(part: Mapping[str, Any]) -> set[str]:
    """Returns the fields of a result, and those of its `results` with the prefix `results.`."""
    results = part.get("results")
    return {*part, *(f"results.{name}" for name in (results if isinstance(results, dict) else ()))}


def _finished_below(folder: Path, results: Mapping[Path, Finished | Unfinished]) -> tuple[list[Finished], list[str]]:
    """Returns the finished runs among the results of a folder, and a sentence for each unfinished run."""
    runs = [run for run in results.values() if isinstance(run, Finished)]
    unfinished = {place: error for place, error in results.items() if isinstance(error, Unfinished)}
    if unfinished and (folder in unfinished or not runs):
        raise next(iter(unfinished.values()))
    return runs, [f"{LEFT_OUT} {place.relative_to(folder)}, {error.found}." for place, error in unfinished.items()]


def _stored(place: Path) -> int:
    """Returns the bytes of the stored scores of a run."""
    scores = place / SCORES
    return scores.stat().st_size if scores.is_file() else 0


def _read_or_unfinished(task: tuple[Path, bool]) -> Finished | Unfinished:
    """Returns a finished run, with or without its scores, or the error that it is not finished."""
    place, scores = task
    try:
        return read(place, scores=scores)
    except Unfinished as error:
        return error


def once(runs: Sequence[Finished]) -> tuple[list[Finished], list[str]]:
    """Returns the runs without duplicates, and a sentence for each duplicate; `score` and `multiverse` can make them.

    Of equal runs the earliest is kept. Raises ValueError if one folder is given twice, or if runs of one model on the
    same data have different results: the model would count twice.
    """
    by_signature: dict[Signature, Finished] = {}
    sentences = []
    for run in sorted(runs, key=lambda run: begun(run) or LATE):
        measured_by = replace(run.signature, batching="", data=hashes_in(run.signature.data))
        if (first := by_signature.setdefault(measured_by, run)) is run:
            continue
        if first.folder.resolve() == run.folder.resolve() or first.report["results"] != run.report["results"]:
            raise ValueError(f"{first.folder} and {run.folder} are the same model on the same data; give one of them")
        places = [without_folders(str(one.folder)) for one in (run, first)]
        sentences.append(f"{LEFT_OUT} {places[0]}, which has the signature and the numbers of {places[1]}.")
    return [run for run in runs if any(run is first_run for first_run in by_signature.values())], sentences


def begun(run: Finished) -> str:
    """Returns the start time of a run in UTC; empty if it is unknown."""
    return str(run.manifest.get("begun", ""))


def places_in(folder: Path) -> list[Path]:
    """Returns the folder itself if it is a run, and the folders of all runs below it."""
    places = sorted({path.parent for name in (MANIFEST, CHOICES, ASKED) for path in folder.rglob(name)})
    if not places:
        raise BadInput(folder, "no run in it" if folder.is_dir() else "no such file or folder", EXPECTED)
    return places


def read(folder: Path, *, scores: bool = False) -> Finished:
    """Reads one finished run, with its scores in memory if `scores` is true."""
    if (folder / CHOICES).is_file():
        report = measured.read_report(folder)
        drawn = "fits" in report["results"]  # which of two identities is the group of a reply is then random
        refused = [
            {
                "about": reply.domain if drawn else reply.group or reply.domain,
                "text": " ".join(without_reasoning(reply.reply or "")[0].split()),
            }
            for _, reply in read_replies(folder / REPLIES)
            if reply.outcome == "refusal"
        ]
        return finished(folder, {**report, "refused": refused}, {}, "its report")
    if (folder / ASKED).is_file():
        raise Unfinished(folder, "a run that is not finished", "a finished run: run the same choose command again")
    manifest = read_manifest(folder)
    report, held = read_run(folder, scores=scores)
    run = replace(finished(folder, report, manifest, "its report"), held=held)
    if is_checked(manifest):
        return run
    warnings = [*run.report.get("warnings", ()), without_folders(unchecked(folder.resolve()))]
    return replace(run, report={**run.report, "warnings": warnings})


def finished(path: Path, report: Any, manifest: Mapping[str, Any], source: str) -> Finished:
    """Returns a report with its signature as a finished run; raises BadInput if no installed measure recognises it."""
    try:
        results = report["results"]
        signature = Signature.of(report.get("signature_parts", report["signature"]))
        signature = replace(signature, model=without_folders(signature.model))
        kind = _kind(results)
    except (AttributeError, LookupError, TypeError):
        problem = f"no results of an installed measure with a signature in {source}"
        raise BadInput(path, problem, EXPECTED) from None
    if reasons := report.get("unscored"):  # earlier versions named the model by the path of its folder
        report = {**report, "unscored": {without_folders(reason): count for reason, count in reasons.items()}}
    signed = signature.model.rpartition("@")[0].removesuffix(".json")
    named = str(manifest.get("about", {}).get("model") or signed)
    if signed and named.endswith(f"/{signed}"):  # the signature names a folder without its parents, a hub id with them
        named = signed
    # vectors of association tests are named by the settings that made them: `encoder=NAME kind=…`
    encoder = re.match(r"encoder=(.*?) kind=", named)
    name = SERVER.sub("", without_folders(encoder[1] if encoder else named) or signature.model)
    return Finished(folder=path, kind=kind, model=name, report=report, signature=signature, manifest=manifest)


def _kind(results: Any) -> str:
    """Returns the kind of these results: the name of their measure, or `choices`."""
    return OF_CHOICES if "between_templates" in results else recognised(results).name


def beside(run: Finished) -> tuple[str, str]:
    """Returns the key of runs that may share a table: all but models and batching; for SEAT tests, all but data too."""
    shared = replace(run.signature, data="", subset="") if run.kind == "seat" else run.signature
    dtype = run.signature.precision
    return run.kind, str(replace(shared, model="", batching="", data=hashes_in(shared.data), dtype=dtype))


def with_unique_names(runs: Sequence[Finished]) -> list[Finished]:
    """Returns the runs with model names that are unique in each table.

    Equal names of different models get the hash of the model; if they are still equal, the whole model signature.
    """
    for name in (lambda run: f"{run.model}@{_hash(run)}", lambda run: run.signature.model):
        models: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for run in runs:
            models[(*beside(run), run.model)].add(run.signature.model)
        runs = [replace(run, model=name(run)) if len(models[(*beside(run), run.model)]) > 1 else run for run in runs]
    return list(runs)


def _hash(run: Finished) -> str:
    """Returns the digest in the signature of a model; the name of the run's folder if it has none."""
    match = re.search(r"(?:sha256:|@)([0-9a-f]+)", run.signature.model)
    return match[1][:DIGITS] if match else run.folder.name


def groups(runs: Iterable[Finished]) -> Iterator[tuple[str, list[Finished]]]:
    """Yields the groups of runs that may share a table, each with its kind; runs are sorted by model."""
    by_table: dict[tuple[str, str], list[Finished]] = defaultdict(list)
    for run in runs:
        by_table[beside(run)].append(run)
    for (kind, _), several in by_table.items():
        yield kind, sorted(several, key=lambda run: run.model)


class NotThere(ValueError):
    """Raised if the items of a run are unavailable: only numbers were given, data moved, or the protocol is unknown."""


def cats(run: Finished) -> list[Cat]:
    """Returns the CATs that a run scored, from the recorded path of its data."""
    if not run.kept:
        raise NotThere(f"{run.folder} holds no score of single items; give the folder of `catsofa score --out`")
    try:
        return list(cats_in(records(run), run.folder))
    except ValueError as error:
        raise NotThere(str(error)) from None


def records(run: Finished, sets: Iterable[Data] = ()) -> Iterator[Any]:
    """Yields the records of a run, from the matching one of `sets` or from the recorded path of its data."""
    among = next((data for data in sets if hashes_in(data.name) == hashes_in(run.signature.data)), None)
    data, first = among or open_data(data_of(run.folder)), first_of(run.signature.subset)
    if first and not run.signature.subset.endswith(f"@{data.read_content(first).digest[:DIGITS]}"):
        raise BadInput(data.on or data.label, f"the data of {run.folder} in another order", "the order that was scored")
    return iter(data.read(first))


def data_of_choices(run: Finished, sets: Iterable[Data] = ()) -> Data:
    """Returns the data of a run of choices: the matching one of `sets`, or the data at the recorded path."""
    if matching := [data for data in sets if hashes_in(data.name) == hashes_in(run.signature.data)]:
        return matching[0]
    if place := place_of(run.folder, run.report.get(measured.ON)):
        return open_data(place)
    raise BadInput(run.folder, f"replies about {run.signature.data}, whose place is unknown", "--on with its data")


def items(run: Finished, sets: Iterable[Data] = ()) -> Iterator[dict[str, Any]]:
    """Yields a row for each item of a finished run, as `Report.items` does; `sets` may contain its data."""
    if run.kind == OF_CHOICES:
        run_data = measured.kept_in(run.folder, data_of_choices(run, sets), again=False)
        ids = {reply.item for reply in run_data.replies} if run.signature.subset else run_data.items.keys()
        return each(run_data.replies, {name: item for name, item in run_data.items.items() if name in ids})
    measure = recognised(run.report["results"])
    scores = run.report["results"] if measure.embeds else run.scores
    return measure.each(records(run, sets), scores, protocol(run))


def protocol(run: Finished) -> Protocol:
    """Returns the protocol of a run: a preset, perhaps with other options, whose digest is in the signature."""
    signature = run.signature
    scored_by = run.manifest.get("identity", {}).get("protocol", {})
    before = DEFAULT.changed(ties="half")  # the default of earlier versions
    for preset in (PRESETS.get(signature.protocol, DEFAULT), *PRESETS.values(), before):
        tried = replace(preset, name=signature.protocol, seed=signature.seed)
        if signature.options in ("", tried.digest):
            return tried
        tried = tried.changed(**{option: way for option, way in scored_by.items() if option in tried.options()})
        if signature.options == tried.digest:
            return tried
    raise NotThere(f"{run.folder} was scored by a protocol {signature.protocol!r} with options of its own")


def of_cats(run: Finished, cats: list[Cat], scores: Scores | None = None) -> Outcomes:
    """Returns the outcomes of these CATs by the run's scores and protocol; `scores` avoids reading them again."""
    chosen, scores = protocol(run), scores or run.scores
    return outcomes(
        cats, scores.numbers(), ties=chosen.ties, rule=chosen.stereoset.rule, unknown=scores.unknown, error=scores.error
    )
