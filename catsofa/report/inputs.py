"""What a report is made of: finished runs, and what `score` and other commands print with --json."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

from catsofa.data import sources
from catsofa.data.digests import DIGITS
from catsofa.data.files import BadInput, json_files
from catsofa.data.records import Cat
from catsofa.report.processes import in_processes
from catsofa.scoring.choosing import measured
from catsofa.scoring.choosing.each import each
from catsofa.scoring.choosing.measured import RUN as CHOICES
from catsofa.scoring.choosing.reasoning import without_reasoning
from catsofa.scoring.choosing.replies import ASKED, REPLIES
from catsofa.scoring.choosing.replies import read as read_replies
from catsofa.scoring.dataset import Data, open_data
from catsofa.scoring.measures.cat_outcomes import Outcomes, outcomes
from catsofa.scoring.measures.registry import Given as Scores
from catsofa.scoring.measures.registry import recognised
from catsofa.scoring.protocols import DEFAULT, PRESETS, Protocol
from catsofa.scoring.run.manifest import MANIFEST, is_checked, read_manifest
from catsofa.scoring.run.origins import data_of
from catsofa.scoring.run.reports import Unfinished, refuse_changed
from catsofa.scoring.run.rows import SCORES, unchecked
from catsofa.scoring.run.score_files import cats_on, given_in, read_run
from catsofa.scoring.signature import Signature, first_of, hashes_in

SERVER = re.compile(r" at (https?://\S+|the default address)$")
"""What follows the name of a served model in its signature; a column of a table has no room for it."""
EXPECTED = (
    "a folder of `catsofa score`, or what it, `robustness`, `examine`, `contamination`, `power` or `filter perplexity` "
    "prints with --json"
)

OF_CHOICES = "choices"
"""The kind of runs of `choose`; that of others is their measure."""
LATE = "9"
"""After the time of any run: where one does not say when it began."""
PRINTED = {
    "robustness": {"comparisons"},
    "examine": {"results.convergence"},
    "contamination": {"tests", "shown", "sentence"},
    "power": {"sets", "simulations", "people"},
    "filter perplexity": {"histograms"},
}
"""Command to the fields of its JSON by which it is known."""
MOST_BYTES = 48 << 20
"""The bytes of stored scores that are kept as runs are checked; those of further runs are read where they are needed.

This is about 500,000 scores.
"""
LEFT_OUT = "Left out:"
"""How the sentence about an unfinished run begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A finished run: what it measured, by which model, and its signature."""

    folder: Path
    """The file, where there is no folder."""
    kind: str
    model: str
    report: dict[str, Any]
    signature: Signature
    manifest: Mapping[str, Any] = field(default_factory=dict)
    held: Scores | None = field(default=None, repr=False, compare=False)
    """Its scores, where they were kept as the run was checked."""

    @property
    def kept(self) -> bool:
        """Whether its scores lie in a folder, one for each text."""
        return bool(self.manifest)

    @property
    def scores(self) -> Scores:
        """One score for each text."""
        return self.held or given_in(self.folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Everything a report was asked to show; what is no run, by the file it comes from."""

    runs: Sequence[Finished]
    printed: Mapping[str, Sequence[tuple[Path, Mapping[str, Any]]]]
    """What other commands print with --json, by command: each result and its file."""
    unfinished: Sequence[str] = ()
    """A sentence for each run that is left out because it is not finished."""
    twice: Sequence[str] = ()
    """A sentence for each run that is left out because it is there twice."""

    @property
    def left_out(self) -> list[str]:
        """A sentence for each run that is left out."""
        return [*self.unfinished, *self.twice]


def find(paths: Iterable[Path | str], leave_out: Iterable[Path] = ()) -> Given:
    """What lies in these files and folders, and below them; a run that is there twice counts once, or is refused.

    An unfinished run is refused if it is named itself, or alone; below a folder it is left out, and named.
    """
    out = {path.resolve() for path in leave_out}
    runs: list[Finished] = []
    printed: dict[str, list[tuple[Path, Mapping[str, Any]]]] = {command: [] for command in PRINTED}
    unfinished: list[str] = []
    for path in map(Path, paths):
        if not path.is_file():
            found_runs, left_out = _read_all(
                path, [place for place in places_in(path) if place.resolve() not in out], runs
            )
            runs += found_runs
            unfinished += left_out
            continue
        found = json_files.read(path, EXPECTED)
        for number, part in enumerate(found if isinstance(found, list) else [found], 1):
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


def listed(paths: Path | str | Iterable[Path | str]) -> list[Path]:
    """One path, or each of several: a text is no row of letters, and an iterator is read once."""
    return [Path(paths)] if isinstance(paths, str | Path) else [*map(Path, paths)]


def _keys(part: Mapping[str, Any]) -> set[str]:
    """The fields of a result, and of its results."""
    results = part.get("results")
    return {*part, *(f"results.{name}" for name in (results if isinstance(results, dict) else ()))}


def _read_all(folder: Path, places: Sequence[Path], before: Sequence[Finished]) -> tuple[list[Finished], list[str]]:
    """The finished runs at these places below a folder, and a sentence for each one that is not finished."""
    stored = accumulate((_stored(place) for place in places), initial=sum(_stored(run.folder) for run in before))
    results = in_processes(
        _read_or_unfinished, [(place, size < MOST_BYTES) for place, size in zip(places, stored, strict=False)]
    )
    unfinished = {place: error for place, error in zip(places, results, strict=True) if isinstance(error, Unfinished)}
    if unfinished and (folder in unfinished or len(unfinished) == len(places)):
        raise next(iter(unfinished.values()))
    runs = [run for run in results if isinstance(run, Finished)]
    return runs, [f"{LEFT_OUT} {place.relative_to(folder)}, {error.found}." for place, error in unfinished.items()]


def _stored(place: Path) -> int:
    """The bytes of the scores of a run."""
    scores = place / SCORES
    return scores.stat().st_size if scores.is_file() else 0


def _read_or_unfinished(task: tuple[Path, bool]) -> Finished | Unfinished:
    """A finished run with or without its scores, or the error that it is not finished."""
    place, scores = task
    try:
        return read(place, scores=scores)
    except Unfinished as error:
        return error


def once(runs: Sequence[Finished]) -> tuple[list[Finished], list[str]]:
    """Each run once, that which began first, and a sentence for each other, as `score` and `multiverse` both make one.

    A model that is measured twice on the same data would count twice: runs that differ in a number are refused.
    """
    seen: dict[Signature, Finished] = {}
    told = []
    for run in sorted(runs, key=lambda run: begun(run) or LATE):
        measured_by = replace(run.signature, batching="", data=hashes_in(run.signature.data))
        if (first := seen.setdefault(measured_by, run)) is run:
            continue
        if first.folder.resolve() == run.folder.resolve() or first.report["results"] != run.report["results"]:
            raise ValueError(f"{first.folder} and {run.folder} are the same model on the same data; give one of them")
        places = [without_folders(str(one.folder)) for one in (run, first)]
        told.append(f"{LEFT_OUT} {places[0]}, which has the signature and the numbers of {places[1]}.")
    return [run for run in runs if any(run is kept for kept in seen.values())], told


def begun(run: Finished) -> str:
    """When a run began, in UTC; empty if it does not say."""
    return str(run.manifest.get("begun", ""))


def places_in(folder: Path) -> list[Path]:
    """The folder if it is a run, or the runs below it."""
    found = {path.parent for name in (MANIFEST, CHOICES, ASKED) for path in folder.rglob(name)}
    places = sorted(found)
    if not places:
        raise BadInput(folder, "no run in it" if folder.is_dir() else "no such file or folder", EXPECTED)
    return places


def read(folder: Path, *, scores: bool = False) -> Finished:
    """One finished run, which on demand holds its scores."""
    if (folder / CHOICES).is_file():
        report = measured.read_report(folder)
        drawn = "fits" in report["results"]  # which of two identities is the group of a reply
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
    found = replace(finished(folder, report, manifest, "its report"), held=held)
    if is_checked(manifest):
        return found
    told = [*found.report.get("warnings", ()), without_folders(unchecked(folder.resolve()))]
    return replace(found, report={**found.report, "warnings": told})


def finished(path: Path, report: Any, manifest: Mapping[str, Any], what: str) -> Finished:
    """One report with its signature."""
    try:
        results = report["results"]
        signature = Signature.of(report.get("signature_parts", report["signature"]))
        signature = replace(signature, model=without_folders(signature.model))
        kind = _kind(results)
    except (AttributeError, LookupError, TypeError):
        found = f"no results of an installed measure with a signature in {what}"
        raise BadInput(path, found, EXPECTED) from None
    if reasons := report.get("unscored"):  # earlier versions named the model by its folder
        report = {**report, "unscored": {without_folders(reason): count for reason, count in reasons.items()}}
    signed = signature.model.rpartition("@")[0].removesuffix(".json")
    named = manifest.get("about", {}).get("model") or signed
    if signed and str(named).endswith(f"/{signed}"):  # the signature has a folder without its parents, a hub id whole
        named = signed
    # the vectors of association tests are named by how they were made: `encoder=NAME kind=…`
    encoder = re.match(r"encoder=(.*?) kind=", str(named))
    name = SERVER.sub("", without_folders(encoder[1] if encoder else str(named)) or signature.model)
    return Finished(folder=path, kind=kind, model=name, report=report, signature=signature, manifest=manifest)


def _kind(results: Any) -> str:
    """Which measure these results are of."""
    if "between_templates" in results:
        return OF_CHOICES
    return recognised(results).name


def beside(run: Finished) -> tuple[str, str]:
    """What two runs must have in common to share a table: all but models and batching; SEAT tests differ in data."""
    shared = replace(run.signature, data="", subset="") if run.kind == "seat" else run.signature
    return run.kind, str(replace(shared, model="", batching="", data=hashes_in(shared.data)))


def with_unique_names(runs: Sequence[Finished]) -> list[Finished]:
    """The runs; models of one name in one table are told apart by the hash in their signature, or by all of it."""
    for name in (lambda run: f"{run.model}@{_hash(run)}", lambda run: run.signature.model):
        models: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for run in runs:
            models[(*beside(run), run.model)].add(run.signature.model)
        runs = [replace(run, model=name(run)) if len(models[(*beside(run), run.model)]) > 1 else run for run in runs]
    return list(runs)


def _hash(run: Finished) -> str:
    """The digest in the name of a model."""
    found = re.search(r"(?:sha256:|@)([0-9a-f]+)", run.signature.model)
    return found[1][:DIGITS] if found else run.folder.name


def groups(runs: Iterable[Finished]) -> Iterator[tuple[str, list[Finished]]]:
    """The runs that may stand side by side, each with its kind, the models in order."""
    found: dict[tuple[str, str], list[Finished]] = defaultdict(list)
    for run in runs:
        found[beside(run)].append(run)
    for (kind, _), several in found.items():
        yield kind, sorted(several, key=lambda run: run.model)


class NotThere(ValueError):
    """The items of a run cannot be had: only its numbers were given, its data moved, or its protocol has no name."""


def cats(run: Finished) -> list[Cat]:
    """The CATs that a run scored, from where it read them."""
    if not run.kept:
        raise NotThere(f"{run.folder} holds no score of single items; give the folder of `catsofa score --out`")
    try:
        return list(islice(cats_on(data_of(run.folder)), first_of(run.signature.subset)))
    except ValueError as error:
        raise NotThere(str(error)) from None


def records(run: Finished, sets: Iterable[Data] = ()) -> Iterator[Any]:
    """The records that a run is of: those of one of these sets, or from where the run read them."""
    among = next((data for data in sets if hashes_in(data.name) == hashes_in(run.signature.data)), None)
    found = among.records() if among else sources.read(data_of(run.folder))
    return islice(found, first_of(run.signature.subset))


def data_of_choices(run: Finished, sets: Iterable[Data] = ()) -> Data:
    """The data that a run of choices is of: one of these sets, or from where the run read them."""
    given = [data for data in sets if hashes_in(data.name) == hashes_in(run.signature.data)]
    if not given and not run.report.get(measured.ON):
        found = f"a run of `catsofa choose` on {run.signature.data}, which does not say where its data lie"
        raise BadInput(run.folder, found, "--on with its data")
    return given[0] if given else open_data(str(run.report[measured.ON]))


def items(run: Finished, sets: Iterable[Data] = ()) -> Iterator[dict[str, Any]]:
    """A row for each item of a finished run, as `Report.items` has it; the data are those of one of these sets."""
    if run.kind == OF_CHOICES:
        kept = measured.kept_in(run.folder, data_of_choices(run, sets), again=False)
        asked = {reply.item for reply in kept.replies} if run.signature.subset else kept.items.keys()
        return each(kept.replies, {name: item for name, item in kept.items.items() if name in asked})
    measure = recognised(run.report["results"])
    made = run.report["results"] if measure.embeds else run.scores
    return measure.each(records(run, sets), made, protocol(run))


def protocol(run: Finished) -> Protocol:
    """The protocol of a run: a preset, perhaps with other options, which its signature vouches for."""
    signature = run.signature
    scored_by = run.manifest.get("identity", {}).get("protocol", {})
    before = DEFAULT.changed(ties="half")  # as runs of earlier versions were measured
    for preset in (PRESETS.get(signature.protocol, DEFAULT), *PRESETS.values(), before):
        found = replace(preset, name=signature.protocol, seed=signature.seed)
        if signature.options in ("", found.digest):
            return found
        found = found.changed(**{option: way for option, way in scored_by.items() if option in found.options()})
        if signature.options == found.digest:
            return found
    raise NotThere(f"{run.folder} was scored by a protocol {signature.protocol!r} with options of its own")


def of_cats(run: Finished, of: list[Cat], given: Scores | None = None) -> Outcomes:
    """What the run's scores make of these CATs, by its protocol; `given` are its scores, where they were read."""
    chosen, given = protocol(run), given or run.scores
    return outcomes(
        of, given.numbers(), ties=chosen.ties, rule=chosen.stereoset.rule, unknown=given.unknown, error=given.error
    )


def without_folders(name: str) -> str:
    """A name in which a model or a file is called as in its folder: where the folder lies is nobody's business."""
    return re.sub(r"(^|[=: ])\.{0,2}/(?!/)(?:[^/\s]+/)*", r"\1", name)
