"""Reports of models: finished runs, grouped so that only numbers of equal signatures share a table."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from catsofa import report_sections
from catsofa.data import json_files
from catsofa.data.files import BadInput
from catsofa.report_document import Document, Section
from catsofa.scoring.runs import MANIFEST, REPORT, read_manifest
from catsofa.scoring.signature import DIGITS, Signature, differences

WARNING = (
    "This report is about stereotypes. Parts of it may name groups of people and repeat offensive sentences about "
    "them; these parts are folded away until you open them."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A finished run: what it measured, by which model, and its signature."""

    folder: Path
    kind: str
    model: str
    report: dict[str, Any]
    signature: Signature


def find(folders: Iterable[Path | str]) -> list[Finished]:
    """The runs in these folders and below them; a run that is unfinished, or there twice, is refused."""
    found = [read(place) for folder in folders for place in _places(Path(folder))]
    seen: dict[Signature, Path] = {}
    for run in found:
        if (first := seen.setdefault(run.signature, run.folder)) != run.folder or found.count(run) > 1:
            raise ValueError(f"{first} and {run.folder} are the same model on the same data; give one of them")
    return _with_unique_names(found)


def _places(folder: Path) -> list[Path]:
    """The folder if it is a run, or the runs below it."""
    places = [path.parent for path in sorted(folder.rglob(MANIFEST))]
    if not places:
        raise BadInput(folder, "no run in it" if folder.is_dir() else "no such folder", "folders of `catsofa score`")
    return places


def read(folder: Path) -> Finished:
    """One finished run."""
    about = read_manifest(folder).get("about", {})
    if not (folder / REPORT).is_file():
        raise BadInput(folder, "a run that is not finished", "a finished one; run its `catsofa score` again to go on")
    report = json_files.read(folder / REPORT, "the report of a run")
    try:
        parts = {name: value for name, value in report["signature"].items() if name != "line"}
        signature, kind = Signature(**parts), _kind(report["results"])
    except (AttributeError, KeyError, TypeError):
        raise BadInput(
            folder / REPORT, "no results with a signature", "the report of a run of `catsofa score`"
        ) from None
    # the vectors of association tests are named by how they were made: `encoder=NAME kind=…`
    named = re.match(r"encoder=(.*?) kind=", str(about.get("model", "")))
    model = named[1] if named else str(about.get("model", signature.model))
    return Finished(folder=folder, kind=kind, model=model, report=report, signature=signature)


def _kind(results: Any) -> str:
    """Which measure these results are of."""
    if isinstance(results, list):
        return "seat"
    if "normalisations" in results:
        return "sofa"
    return "crows" if "types" in results else "stereoset"


def _with_unique_names(runs: Sequence[Finished]) -> list[Finished]:
    """The runs; models of one name in one table are told apart by the hash in their signature."""
    groups: dict[tuple[Any, ...], list[Finished]] = defaultdict(list)
    for run in runs:
        groups[(*_beside(run), run.model)].append(run)
    twice = {id(run) for group in groups.values() if len(group) > 1 for run in group}
    return [replace(run, model=f"{run.model}@{_hash(run)}") if id(run) in twice else run for run in runs]


def _hash(run: Finished) -> str:
    """The digest in the name of a model."""
    found = re.search(r"(?:sha256:|@)([0-9a-f]+)", run.signature.model)
    return found[1][:DIGITS] if found else run.folder.name


def _beside(run: Finished) -> tuple[str, str]:
    """What two runs must have in common to share a table: everything but their models."""
    return run.kind, str(replace(run.signature, model=""))


def document(folders: Iterable[Path | str], title: str = "Stereotypes in language models") -> Document:
    """The report of these runs: a section for each measure, data set and protocol."""
    groups: dict[tuple[str, str], list[Finished]] = defaultdict(list)
    for run in find(folders):
        groups[_beside(run)].append(run)
    order = list(report_sections.MAKE)
    kept = sorted(groups.items(), key=lambda group: order.index(group[0][0]))
    sections = tuple(_section(number, runs) for number, (_, runs) in enumerate(kept, 1))
    return Document(title=title, warning=WARNING, notes=tuple(_apart(kept)), sections=sections)


def _section(number: int, runs: Sequence[Finished]) -> Section:
    """The section of runs that may stand side by side."""
    rows = [(run.model, run.report, run.signature) for run in sorted(runs, key=lambda run: run.model)]
    return report_sections.MAKE[runs[0].kind](f"s{number}", rows)


def _apart(groups: Sequence[tuple[tuple[str, str], Sequence[Finished]]]) -> Iterator[str]:
    """Why two sections of one measure are not one."""
    for at, ((kind, _), runs) in enumerate(groups):
        for (other, _), others in groups[at + 1 :]:
            if kind == other:
                reasons = "; ".join(differences(runs[0].signature, others[0].signature))
                yield (
                    f"Numbers of “{report_sections.TITLES[kind]}” stand in separate tables because their signatures "
                    f"differ ({reasons}); they must not be compared across tables."
                )
