"""The regression gate: tests whether runs are worse than a baseline by more than a margin, over the same items."""

__all__ = ["check", "margins_in", "snapshots_of"]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from math import isnan
from pathlib import Path
from typing import get_args

from catsofa.data.files import BadInput, listed
from catsofa.data.percentages import in_percent
from catsofa.data.visible import without_folders
from catsofa.gate import kinds
from catsofa.gate.kinds import Paired, cats, choices
from catsofa.gate.margins import margins_in, refuse_margin
from catsofa.gate.snapshots import (
    CHOICES,
    EXPECTED,
    FLIPS,
    REMEDY,
    Snapshot,
    Taken,
    read,
    taken,
    taken_flips,
    taken_scores,
)
from catsofa.gate.verdicts import Checked, Require, Test, Verdict
from catsofa.report import inputs
from catsofa.report.inputs import Finished, NotThere
from catsofa.scoring.signature import apart, differences
from catsofa.scoring.statistics.changes import CLOSE, NO_LIMITS
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.margins import margin_test

PLAIN = "catsofa"
"""The default protocol for a file of scores, if no baseline names one."""
THIN = 0.9
"""Share of items decided by both runs; a smaller share causes a warning."""


def check(
    runs: Path | str | Iterable[Path | str],
    against: Path | str,
    *,
    margins: Mapping[str, float] | None = None,
    require: Require = "",
    on: Sequence[Path | str] = (),
    paraphrases: Sequence[Path | str] = (),
    labels: Sequence[str] = (),
    seed: int = 0,
) -> Verdict:
    """Compares finished runs with a baseline or a run, by one-sided tests with Holm's correction.

    `runs` are runs, folders that contain runs, or files of scores. A file of scores needs its data in `on`; the
    protocol of the baseline applies to it.

    `margins` maps a measure (`ss`), or a measure and a set (`ss/gender`), to the largest acceptable move away from its
    ideal. The default is 0. Each run is matched with the snapshot of the baseline on the same data. `labels` name the
    paths of `runs` in order.
    """
    margins = dict(margins or {})
    for name, number in margins.items():
        refuse_margin(f"{name}={number}", number)
    if require not in (allowed := get_args(Require)):
        raise ValueError(f"found the requirement {require!r}; expected {' or '.join(filter(None, allowed))}")
    older = _baseline(against, on)
    newer, refused, warnings = _taken(
        listed(runs), on, paraphrases, labels, next((one.signature.protocol for one in older), PLAIN)
    )
    checked, used = list[Checked](), set[int]()
    for label, one in newer:
        place, why = _match(one.snapshot, older)
        used |= {place} if place is not None else set()
        checked.append(
            _checked(label, one, older[place], margins, seed) if place is not None else _refused(label, why, one)
        )
    refused += [
        Checked(label="no run", folder=Path(against), baseline=one.model, data=one.signature.data, kind=one.kind,
                signature=str(one.signature), refused=f"the baseline holds {one.kind} on {one.signature.data}, and no "
                "run is of it")
        for place, one in enumerate(older) if place not in used and not any(run.refused for run in checked)
    ]  # fmt: skip
    tests = [test for run in checked for test in run.tests]
    # a margin may be meant for a run that could not be compared
    _refuse_idle({} if refused or any(run.refused for run in checked) else margins, tests, require)
    corrected = iter(holm([test.test.p_worse for test in tests]))
    for place, run in enumerate(checked):
        some = [replace(test, holm=next(corrected), require=require) for test in run.tests]
        some = [replace(test, failed=test.found == "regression" or not test.shows(require)) for test in some]
        checked[place] = replace(run, tests=some, warnings=[*run.warnings, *_without_spread(some)])
    return Verdict(runs=[*checked, *refused], require=require, warnings=warnings)


def snapshots_of(
    runs: Path | str | Iterable[Path | str],
    *,
    on: Sequence[Path | str] = (),
    paraphrases: Sequence[Path | str] = (),
) -> list[Snapshot]:
    """Returns the outcomes of all runs below these paths for a baseline; refuses two models on one data set."""
    results, refused, _ = _taken(listed(runs), on, paraphrases)
    if refused:
        raise BadInput(refused[0].folder, refused[0].refused, "finished runs with the scores of single items")
    snapshots = [one.snapshot for _, one in results]
    for place, one in enumerate(snapshots):
        for other in snapshots[:place]:
            if one.kind == other.kind and not apart(one.signature, other.signature):
                names = f"{other.model} and {one.model}"
                raise ValueError(f"{names} are two models on {one.signature.data}; save a baseline of one of them")
    return snapshots


def _taken(
    paths: Sequence[Path | str],
    data_paths: Sequence[Path | str],
    paraphrases: Sequence[Path | str],
    labels: Sequence[str] = (),
    protocol: str = PLAIN,
) -> tuple[list[tuple[str, Taken]], list[Checked], list[str]]:
    """Returns the labelled outcomes of all runs below these paths, the unreadable runs, and warnings on omissions."""
    if labels and len(labels) != len(paths):
        raise ValueError(f"found {len(labels)} labels and {len(paths)} paths of runs; give a --label for each RUN")
    runs, refused, warnings = _named(paths, labels)
    results = list[tuple[str, Taken]]()
    for label, path, run in runs:
        if run is None:
            results.append((label, taken_scores(path, data_paths, protocol)))
            continue
        try:
            one = taken(run, data_paths)
        except NotThere as error:
            refused.append(_unread(label, run, str(error)))
            continue
        same = [other for name, other in results if name == label and other.snapshot.kind == one.snapshot.kind]
        twice = any(not apart(other.snapshot.signature, one.snapshot.signature) for other in same)
        results.append((f"{label} ({path})" if twice else label, one))
    originals = [run for _, _, run in runs if run and run.kind == "stereoset"]
    for run in inputs.find(paraphrases).runs if paraphrases else ():
        mine = [one for one in originals if one.signature.model == run.signature.model]
        if len(mine) != 1:
            raise BadInput(run.folder, f"paraphrases of {run.model}, of whose originals {len(mine)} runs were found",
                           "one run of the same model on the original CATs")  # fmt: skip
        results.append((f"{run.model}, paraphrased", taken_flips(mine[0], run)))
    return results, refused, warnings


def _named(
    paths: Sequence[Path | str], labels: Sequence[str]
) -> tuple[list[tuple[str, Path, Finished | None]], list[Checked], list[str]]:
    """Returns each run once with its label and path, the unfinished runs, and a warning for each duplicate.

    A duplicate would count twice in Holm's correction. A file of scores has no run: its third value is None.
    """
    named, refused, warnings = list[tuple[str, Path, Finished | None]](), list[Checked](), list[str]()
    places = set[Path]()
    for number, path in enumerate(map(Path, paths)):
        group = None if path.is_file() else inputs.find([path])
        for run in group.runs if group else [None]:
            place = run.folder if run else path
            if place.resolve() in places:
                warnings.append(f"{inputs.LEFT_OUT} {without_folders(str(place))}, which is given twice.")
                continue
            places.add(place.resolve())
            own = run.model if run else path.stem
            named.append((labels[number] if labels else own, path, run))
        if group:
            refused += [replace(_unread(str(path)), refused=sentence) for sentence in group.unfinished]
            warnings += group.twice
    unique, copies = inputs.once([run for _, _, run in named if run])
    once = [one for one in named if not one[2] or any(one[2] is run for run in unique)]
    return once, refused, [*warnings, *copies]


def _baseline(against: Path | str, data_paths: Sequence[Path | str]) -> list[Snapshot]:
    """Returns the snapshots of a baseline, of a run, or of all runs below a folder."""
    path = Path(against)
    if path.is_file():
        return read(path)
    if not path.is_dir():
        raise BadInput(path, "no such file or folder", EXPECTED)
    results, refused, _ = _taken([path], data_paths, ())
    if refused:
        raise BadInput(path, refused[0].refused, EXPECTED)
    return [one.snapshot for _, one in results]


def _match(one: Snapshot, older: Sequence[Snapshot]) -> tuple[int | None, str]:
    """Returns the index of the snapshot to compare a run with; or None and the reason."""
    same = [
        place
        for place, other in enumerate(older)
        if other.kind == one.kind and not apart(other.signature, one.signature)
    ]
    if len(same) == 1:
        return same[0], ""
    if same:
        models = ", ".join(older[place].model for place in same)
        return None, f"the baseline holds {len(same)} models on this data ({models}); give it one"
    alike = [other for other in older if other.kind == one.kind]
    if not alike:
        held = ", ".join(sorted({other.kind for other in older}))
        return None, f"the baseline holds {held}, and the run is of {one.kind}; save a baseline of {one.kind}"
    nearest = min((apart(other.signature, one.signature) for other in alike), key=len)
    return None, f"not the baseline's {'; '.join(nearest)}; score by the same protocol on the same data, or save anew"


def _checked(label: str, newer: Taken, older: Snapshot, margins: Mapping[str, float], seed: int) -> Checked:
    """Returns the tests of a run against its baseline, before the correction of p."""
    one = newer.snapshot
    outcomes = (older.outcomes, one.outcomes)
    try:
        if one.kind == CHOICES:
            pairs = list(choices.tests(newer.records, *outcomes, seed))
        else:
            make = cats.flip_tests if one.kind == FLIPS else kinds.module_of(one.kind).tests
            pairs = list(make(newer.records, *outcomes, newer.protocol, seed))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        held = f"the baseline holds outcomes that are none of {one.kind} ({' '.join(str(error).split())})"
        raise ValueError(f"{held}; expected {REMEDY}") from None
    tests, warnings, why = list[Test](), list[str](), list[str]()
    free = differences(older.signature, one.signature)
    models = {older.signature.model, one.signature.model}
    one_model = len(models) == 1 and "@" in models.pop() and not any(part.startswith("dtype") for part in free)
    for paired in pairs:
        margin = margins.get(f"{paired.name}/{paired.set}", margins.get(paired.name, 0.0))
        name = f"{paired.name} of {paired.set}"
        test = margin_test(paired.before, paired.after, paired.measure, margin, step=paired.step, seed=seed)
        if not paired.known or (isnan(test.before) and not paired.undefined):
            warnings.append(f"{name} is not tested: the baseline has no value")
            continue
        if paired.undefined or isnan(test.after):
            why.append(f"{name} has a value in the baseline alone: {paired.undefined or 'the run has none'}")
            continue
        if paired.decided < THIN:
            warnings.append(f"{name} uses only the {in_percent(paired.decided)} of its items that both runs decide")
        warnings += [f"caution with {name}: {paired.caution}"] if paired.caution else []
        tests.append(Test(paired=paired, test=test, one_model=one_model))
    about = _refused(label, "; ".join(why) or ("" if tests else "no measure has a value in both runs"), newer)
    warnings += [f"the baseline differs in {'; '.join(free)}"] if free else []
    return replace(about, baseline=older.model, tests=tests, warnings=[*warnings, *newer.warnings])


def _without_spread(tests: Iterable[Test]) -> Iterator[str]:
    """Yields a warning for each loss beyond its margin that no test can show, since its spread is unknown."""
    for test in tests:
        tested = test.test
        if test.found == "open" and tested.change.unlimited and tested.worse > tested.margin + CLOSE:
            name = f"{test.paired.name} of {test.paired.set}"
            yield f"{name} is worse by {tested.worse:.4g}, but no regression is shown: {NO_LIMITS}"


def _refused(label: str, why: str, one: Taken) -> Checked:
    """Returns an entry for a run without tests."""
    signed = one.snapshot.signature
    return Checked(label=label, folder=one.folder, baseline="", data=signed.data, kind=one.snapshot.kind,
                   signature=str(signed), refused=why)  # fmt: skip


def _unread(label: str, run: Finished | None = None, why: str = "") -> Checked:
    """Returns an entry for an unreadable run."""
    data, kind, signature = (run.signature.data, run.kind, str(run.signature)) if run else ("", "", "")
    folder = run.folder if run else Path(label)
    return Checked(label=label, folder=folder, baseline="", data=data, kind=kind, signature=signature, refused=why)


def _refuse_idle(margins: Mapping[str, float], tests: Iterable[Test], require: Require) -> None:
    """Raises a ValueError for a margin that applies to no test, and for a requirement without a margin."""
    tests = list(tests)
    names = list(dict.fromkeys(name for test in tests for name in _names(test.paired)))
    if idle := [name for name in margins if name not in names]:
        close = "".join(f"; do you mean {name}?" for name in get_close_matches(idle[0], names, n=1))
        known = ", ".join(dict.fromkeys(test.paired.name for test in tests))
        raise ValueError(
            f"the margin {idle[0]!r} is of no test here; expected {known}, or one of them with /SET{close}"
        )
    without = list(dict.fromkeys(test.paired.name for test in tests if not test.test.margin))
    if require and without:
        raise ValueError(f"{require} needs a margin above 0; give --margin {without[0]}=NUMBER")


def _names(paired: Paired) -> Iterator[str]:
    """Yields the names by which a margin may refer to a test."""
    yield paired.name
    yield f"{paired.name}/{paired.set}"
