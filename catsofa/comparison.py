"""Compares finished runs: models on the same data, and originals with their paraphrases."""

__all__ = ["compare", "robustness"]

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catsofa.data.files import listed
from catsofa.data.percentages import quantity
from catsofa.data.progress import SILENT, Progress
from catsofa.report.inputs import Finished, beside, data_of_choices, find, places_in, read
from catsofa.report.sections.paraphrases import matched
from catsofa.scoring.choosing.replies import ASKED
from catsofa.scoring.compare import Difference, ModelComparison, refuse_nothing_shared, sides_of
from catsofa.scoring.compare.choosing import compare_choices
from catsofa.scoring.dataset import open_data
from catsofa.scoring.run import cautions
from catsofa.scoring.run.manifest import CHOICES, MANIFEST
from catsofa.scoring.run.origins import labels
from catsofa.scoring.run.score_files import compare_on, robustness_on
from catsofa.scoring.signature import apart, distinctions, hashes_in
from catsofa.scoring.statistics.changes import NO_CHANGE, paired_changes
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import RESAMPLES

if TYPE_CHECKING:
    from catsofa.gate.kinds import Paired
    from catsofa.gate.snapshots import Taken
    from catsofa.scoring.measures.robustness.report import RobustnessReport

OUTCOMES = {"seat": "association tests", "bbq": "questions"}
"""Measures compared by the outcomes that a baseline stores, with the names of their items."""


def compare(
    runs: Iterable[Path | str],
    on: Path | str | None = None,
    *,
    protocol: str = "catsofa",
    seed: int | None = None,
    domains: bool = False,
) -> Any:
    """Compares each run of `score` or `choose`, or file of scores, with the first: paired changes, p adjusted by Holm.

    A run identifies its data; files of scores need `on`. A folder above several runs means its runs on one data set,
    which `on` names if there are several. `domains` adds the changes in each domain. Each association test is compared
    separately. For runs over probes, the result is the overlap of their extremes.
    """
    paths, left_out = _on_one_data_set(listed(runs), on)
    result = _compared(paths, on, protocol, seed, domains)
    return replace(result, warnings=(*result.warnings, *left_out))


def _on_one_data_set(paths: Sequence[Path], on: Path | str | None) -> tuple[list[Path], list[str]]:
    """Returns the paths with the runs in place of the folders above them, and notes on what is left out."""
    names = (MANIFEST, CHOICES, ASKED)
    if not any(path.is_dir() and not any((path / name).is_file() for name in names) for path in paths):
        return list(paths), []
    if files := [path for path in paths if path.is_file()]:
        raise ValueError(f"{files[0]} is a file of scores; give runs and folders of runs, or files alone")
    inputs = find(paths)
    wanted = None if on is None else hashes_in(open_data(on).name)
    groups: dict[tuple[str, str], list[Finished]] = {}
    for run in inputs.runs:
        if wanted in (None, hashes_in(run.signature.data)):
            groups.setdefault(beside(run), []).append(run)
    several = [group for group in groups.values() if len(group) > 1]
    if len(several) != 1:
        signatures = [group[0].signature for group in several or groups.values()]
        differ = distinctions([(hashes_in(one.data), one.protocol) for one in signatures], signatures)
        sets = [
            f"{one.data} ({quantity(len(group), 'run')} by {', '.join(filter(None, (one.protocol, parts)))})"
            for group, one, parts in zip(several or groups.values(), signatures, differ, strict=True)
        ]
        expected = "expected two models or more on one data set by one protocol; name their runs, or the data with --on"
        raise ValueError(f"found runs on {'; '.join(sets) or f'other data than {on}'}; {expected}")
    compared = [run.folder for run in several[0]]
    alone = [f"Left out: {run.folder}, a run on {run.signature.data}." for run in inputs.runs]
    return compared, [*inputs.left_out, *(text for run, text in zip(inputs.runs, alone, strict=True)
                                          if run.folder not in compared)]  # fmt: skip


def _compared(paths: Sequence[Path], on: Path | str | None, protocol: str, seed: int | None, domains: bool) -> Any:
    """Returns the comparison of runs, or of files of scores, by the kind of their data."""
    if len(paths) < 2:
        raise ValueError(f"a comparison needs two models or more; found {'one' if paths else 'none'}")
    if all((path / CHOICES).is_file() for path in paths):
        place = on if on is not None else data_of_choices(read(paths[0])).on
        assert place is not None
        return compare_choices(paths, place, seed=seed or 0, domains=domains)
    if all(path.is_dir() for path in paths) and {read(path).kind for path in paths} & {*OUTCOMES}:
        return _by_outcomes(paths, on, seed or 0, domains)
    return compare_on(paths, on, protocol=protocol, seed=seed, domains=domains)


def _by_outcomes(runs: Sequence[Path | str], data_path: Path | str | None, seed: int, domains: bool) -> ModelComparison:
    """Compares runs over association tests, or over questions, by the paired changes of `catsofa check`, two-sided."""
    from catsofa.gate.snapshots import taken

    paths = [Path(run) for run in runs]
    sides = [taken(read(path), [] if data_path is None else [data_path]) for path in paths]
    names = [each.snapshot.model for each in sides]
    names = names if len(set(names)) == len(names) else labels(paths)
    first, *rest = zip(names, sides, strict=True)
    sides_of(dict(zip(names, sides, strict=True)))
    for _, other in rest:
        reasons = apart(first[1].snapshot.signature, other.snapshot.signature)
        if first[1].snapshot.kind != other.snapshot.kind or reasons:
            raise ValueError(
                f"only models on the same data by one protocol can be compared; found {'; '.join(reasons)}"
            )
    family = [(name, pair) for name, other in rest for pair in _pairs(first[1], other, seed, domains)]
    changes = [
        NO_CHANGE
        if row.undefined
        else paired_changes(row.before, row.after, {row.name: row.measure}, seed=seed)[row.name]
        for _, row in family
    ]
    rows = tuple(
        Difference(
            model=name,
            measure=row.name,
            set=row.set,
            first=nan if row.undefined else float(row.measure(row.before.sum(axis=0))),
            other=nan if row.undefined else float(row.measure(row.after.sum(axis=0))),
            decided=row.decided,
            change=change,
            holm=p,
        )
        for (name, row), change, p in zip(family, changes, holm([change.p for change in changes]), strict=True)
    )
    counted = set.intersection(*(_counted(each) for each in sides))
    whole = len(first[1].records)
    kind = OUTCOMES[first[1].snapshot.kind]
    refuse_nothing_shared(len(counted), whole, kind)
    signature = first[1].snapshot.signature
    dtypes = [each.snapshot.signature.precision for each in sides]
    dtype = dtypes[0] if len(set(dtypes)) == 1 else ""
    return ModelComparison(
        first=first[0],
        differences=rows,
        disagreement={},
        decided={},
        items=len(counted),
        coverage=len(counted) / whole,
        whole=whole,
        kind=kind,
        signature=replace(
            signature, model=" ".join(names), dtype=dtype, batching="", seed=seed, resamples=RESAMPLES
        ),
        warnings=(
            *(f"{first[0]} and {name}: {row.name} of {row.set} has no change: {row.undefined}" for name, row in family
              if row.undefined),
            *cautions.of_precisions(dtypes),
            *cautions.of_runs(paths),
        ),
    )  # fmt: skip


def _pairs(first: "Taken", other: "Taken", seed: int, domains: bool) -> Iterator["Paired"]:
    """Returns the measures of two runs over all questions, with `domains` also by domain; or of each test."""
    from catsofa.gate import kinds

    snapshot = first.snapshot
    every = kinds.module_of(snapshot.kind).tests(
        first.records, snapshot.outcomes, other.snapshot.outcomes, first.protocol, seed
    )
    return every if domains or snapshot.kind == "seat" else takewhile(lambda pair: pair.set == kinds.OVERALL, every)


def _counted(side: "Taken") -> set[str]:
    """Returns the ids of the tests or questions that have an outcome."""
    from catsofa.gate import kinds

    if side.snapshot.kind == "seat":
        return {*side.snapshot.outcomes}
    answers = kinds.decoded(side.snapshot.outcomes)
    return {record.id for record, answer in zip(side.records, answers, strict=True) if answer != "-"}


def robustness(
    originals: Path | str | Iterable[Path | str],
    paraphrases: Path | str | Iterable[Path | str],
    on: Sequence[Path | str] = (),
    *,
    protocol: str = "catsofa",
    seed: int | None = None,
    progress: Progress = SILENT,
) -> "RobustnessReport":
    """Compares runs, or files of scores, on the original CATs with those on each set of paraphrases.

    `on` names the data of files: the original CATs, then the CATs of each set of paraphrases. A folder above several
    runs means its runs on CATs. Each run on paraphrases is joined with the run of the same model on their originals.
    """
    before, after = listed(originals), listed(paraphrases)
    left_out: tuple[str, ...] = ()
    if any(map(_holds_runs, (*before, *after))):
        before, after, left_out = _joined_runs(before, after)
    report = robustness_on(before, after, on, protocol=protocol, seed=seed, progress=progress)
    return replace(report, warnings=(*report.warnings, *left_out))


def _holds_runs(path: Path) -> bool:
    """Returns True for a folder above runs that is not a run itself."""
    return path.is_dir() and places_in(path) != [path]


def _joined_runs(
    originals: Sequence[Path | str], paraphrases: Sequence[Path | str]
) -> tuple[list[Path], list[Path], tuple[str, ...]]:
    """Returns the runs below these folders, each original's paraphrases in one order, and notes on what is left out."""
    if files := [path for path in (*originals, *paraphrases) if Path(path).is_file()]:
        raise ValueError(f"{files[0]} is a file of scores; give runs and folders of runs, or files alone")
    sides = find(originals), find(paraphrases)
    before, after = ([run for run in side.runs if run.kind == "stereoset"] for side in sides)
    if not before or not after:
        empty = (originals, paraphrases)[bool(before)]
        raise ValueError(f"no run on CATs in {' or '.join(map(str, empty))}; expected folders of `score --out`")
    pairs = matched(after, before)
    sets = sorted({pair.paraphrase.signature.data for pair in pairs})
    data = sorted({pair.original.signature.data for pair in pairs})
    if len(data) > 1:
        raise ValueError(f"found paraphrases of {' and '.join(data)}; expected those of one data set. Give its runs")
    joined: dict[Path, dict[str, Path]] = {}
    for pair in pairs:
        by_set = joined.setdefault(pair.original.folder, {})
        if (
            first := by_set.setdefault(pair.paraphrase.signature.data, pair.paraphrase.folder)
        ) != pair.paraphrase.folder:
            raise ValueError(f"{first} and {pair.paraphrase.folder} are runs on the same paraphrases; give one of them")
    lacking = [f"{place} on {name}" for place, by_set in joined.items() for name in sets if name not in by_set]
    if lacking:
        raise ValueError(f"no run beside {lacking[0]}; expected every model on every set of paraphrases")
    notes = [sentence for side in sides for sentence in side.left_out]
    alone = [run.folder for run in before if run.folder not in joined and run.signature.data in data]
    notes += [f"Left out: {place}, which has no run on paraphrases." for place in alone]
    return list(joined), [by_set[name] for by_set in joined.values() for name in sets], tuple(notes)
