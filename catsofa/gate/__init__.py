"""The regression gate: whether runs are worse than a baseline by more than a margin, over the same items."""

__all__ = ["check", "margins_in", "snapshots_of"]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import get_args

from catsofa.data.files import BadInput
from catsofa.data.percentages import in_percent
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
from catsofa.scoring.signature import differences
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.margins import margin_test

FREE = ("version", "dtype", "seed", "resamples")
"""Parts of a signature that two runs may differ in and still be held against one another."""
PLAIN = "catsofa"
"""The protocol of a file of scores where no baseline says another."""
THIN = 0.9
"""A warning stands where fewer of the items are decided by both runs."""


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
    """Hold finished runs, or all below a folder, against a baseline or a run: one-sided tests with Holm's correction.

    A file is one of scores of the data that `on` names; the protocol of the baseline measures it.

    `margins` names measures (`ss`), or a measure and a set (`ss/gender`), and how much further from its ideal each
    may be; 0 if not given. Runs are joined to the baseline by their data. `labels` name the paths of `runs` in order.
    """
    margins = dict(margins or {})
    for name, number in margins.items():
        refuse_margin(f"{name}={number}", number)
    if require not in (known := get_args(Require)):
        raise ValueError(f"found the requirement {require!r}; expected {' or '.join(filter(None, known))}")
    older = _baseline(against, on)
    newer, refused, told = _taken(
        inputs.listed(runs), on, paraphrases, labels, next((one.signature.protocol for one in older), PLAIN)
    )
    checked, used = list[Checked](), set[int]()
    for label, one in newer:
        at, why = _match(one.snapshot, older)
        used |= {at} if at is not None else set()
        checked.append(_checked(label, one, older[at], margins, seed) if at is not None else _refused(label, why, one))
    refused += [
        Checked(label="no run", folder=Path(against), baseline=one.model, data=one.signature.data, kind=one.kind,
                signature=str(one.signature), refused=f"the baseline holds {one.kind} on {one.signature.data}, and no "
                "run is of it")
        for at, one in enumerate(older) if at not in used and not any(run.refused for run in checked)
    ]  # fmt: skip
    tests = [test for run in checked for test in run.tests]
    # a run that could not be compared may be the one that a margin is meant for
    _refuse_idle({} if refused or any(run.refused for run in checked) else margins, tests, require)
    corrected = iter(holm([test.test.p_worse for test in tests]))
    for at, run in enumerate(checked):
        some = [replace(test, holm=next(corrected)) for test in run.tests]
        some = [replace(test, failed=test.found == "regression" or not test.shows(require)) for test in some]
        checked[at] = replace(run, tests=some)
    return Verdict(runs=[*checked, *refused], require=require, warnings=told)


def snapshots_of(
    runs: Path | str | Iterable[Path | str],
    *,
    on: Sequence[Path | str] = (),
    paraphrases: Sequence[Path | str] = (),
) -> list[Snapshot]:
    """The outcomes of all runs below these paths, for a baseline: one model on each data set."""
    found, refused, _ = _taken(inputs.listed(runs), on, paraphrases)
    if refused:
        raise BadInput(refused[0].folder, refused[0].refused, "finished runs with the scores of single items")
    snapshots = [one.snapshot for _, one in found]
    for at, one in enumerate(snapshots):
        for other in snapshots[:at]:
            if one.kind == other.kind and not _apart(one, other):
                names = f"{other.model} and {one.model}"
                raise ValueError(f"{names} are two models on {one.signature.data}; save a baseline of one of them")
    return snapshots


def _taken(
    paths: Sequence[Path | str],
    on: Sequence[Path | str],
    paraphrases: Sequence[Path | str],
    labels: Sequence[str] = (),
    protocol: str = PLAIN,
) -> tuple[list[tuple[str, Taken]], list[Checked], list[str]]:
    """The outcomes of all runs below these paths with their labels, those that cannot be read, and what is left out."""
    if labels and len(labels) != len(paths):
        raise ValueError(f"found {len(labels)} labels and {len(paths)} paths of runs; give a --label for each RUN")
    runs, refused, told = _named(paths, labels)
    found = list[tuple[str, Taken]]()
    for label, path, run in runs:
        if run is None:
            found.append((label, taken_scores(path, on, protocol)))
            continue
        try:
            one = taken(run, on)
        except NotThere as error:
            refused.append(_unread(label, run, str(error)))
            continue
        same = [other for name, other in found if name == label and other.snapshot.kind == one.snapshot.kind]
        twice = any(not _apart(other.snapshot, one.snapshot) for other in same)
        found.append((f"{label} ({path})" if twice else label, one))
    originals = [run for _, _, run in runs if run and run.kind == "stereoset"]
    for run in inputs.find(paraphrases).runs if paraphrases else ():
        mine = [one for one in originals if one.signature.model == run.signature.model]
        if len(mine) != 1:
            raise BadInput(run.folder, f"paraphrases of {run.model}, of whose originals {len(mine)} runs were found",
                           "one run of the same model on the original CATs")  # fmt: skip
        found.append((f"{run.model}, paraphrased", taken_flips(mine[0], run)))
    return found, refused, told


def _named(
    paths: Sequence[Path | str], labels: Sequence[str]
) -> tuple[list[tuple[str, Path, Finished | None]], list[Checked], list[str]]:
    """Each run below these paths once, with its label and path; the unfinished; a sentence for each that is twice.

    What is there twice would count twice in Holm's correction. A file of scores has no run.
    """
    named, refused, told = list[tuple[str, Path, Finished | None]](), list[Checked](), list[str]()
    places = set[Path]()
    for number, path in enumerate(map(Path, paths)):
        given = None if path.is_file() else inputs.find([path])
        for run in given.runs if given else [None]:
            place = run.folder if run else path
            if place.resolve() in places:
                told.append(f"{inputs.LEFT_OUT} {inputs.without_folders(str(place))}, which is given twice.")
                continue
            places.add(place.resolve())
            own = run.model if run else path.stem
            named.append((labels[number] if labels else own, path, run))
        if given:
            refused += [replace(_unread(str(path)), refused=sentence) for sentence in given.unfinished]
            told += given.twice
    kept, copies = inputs.once([run for _, _, run in named if run])
    once = [one for one in named if not one[2] or any(one[2] is run for run in kept)]
    return once, refused, [*told, *copies]


def _baseline(against: Path | str, on: Sequence[Path | str]) -> list[Snapshot]:
    """The snapshots of a baseline, of a run, or of all runs below a folder."""
    path = Path(against)
    if path.is_file():
        return read(path)
    if not path.is_dir():
        raise BadInput(path, "no such file or folder", EXPECTED)
    found, refused, _ = _taken([path], on, ())
    if refused:
        raise BadInput(path, refused[0].refused, EXPECTED)
    return [one.snapshot for _, one in found]


def _match(one: Snapshot, older: Sequence[Snapshot]) -> tuple[int | None, str]:
    """The place of the snapshot that a run is held against; or why there is none."""
    same = [at for at, other in enumerate(older) if other.kind == one.kind and not _apart(other, one)]
    if len(same) == 1:
        return same[0], ""
    if same:
        models = ", ".join(older[at].model for at in same)
        return None, f"the baseline holds {len(same)} models on this data ({models}); give it one"
    alike = [other for other in older if other.kind == one.kind]
    if not alike:
        held = ", ".join(sorted({other.kind for other in older}))
        return None, f"the baseline holds {held}, and this is a run of {one.kind}; save a baseline of such a run"
    nearest = min((_apart(other, one) for other in alike), key=len)
    return None, f"not the baseline's {'; '.join(nearest)}; score by the same protocol on the same data, or save anew"


def _apart(one: Snapshot, other: Snapshot) -> list[str]:
    """In what two snapshots differ that makes them two measurements."""
    return [why for why in differences(one.signature, other.signature) if why.partition(":")[0] not in FREE]


def _checked(label: str, newer: Taken, older: Snapshot, margins: Mapping[str, float], seed: int) -> Checked:
    """A run against its baseline, before p is corrected."""
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
    found, told, why = list[Test](), list[str](), list[str]()
    free = differences(older.signature, one.signature)
    models = {older.signature.model, one.signature.model}
    one_model = len(models) == 1 and "@" in models.pop() and not any(part.startswith("dtype") for part in free)
    for paired in pairs:
        margin = margins.get(f"{paired.name}/{paired.set}", margins.get(paired.name, 0.0))
        name = f"{paired.name} of {paired.set}"
        test = margin_test(paired.before, paired.after, paired.measure, margin, step=paired.step, seed=seed)
        if not paired.known or (isnan(test.before) and not paired.undefined):
            told.append(f"{name} is not tested: the baseline has no value")
            continue
        if paired.undefined or isnan(test.after):
            why.append(f"{name} has a value in the baseline alone: {paired.undefined or 'the run has none'}")
            continue
        if paired.decided < THIN:
            told.append(f"{name} rests on {in_percent(paired.decided)} of its items, which both runs decide")
        told += [f"caution with {name}: {paired.caution}"] if paired.caution else []
        found.append(Test(paired=paired, test=test, one_model=one_model))
    about = _refused(label, "; ".join(why) or ("" if found else "no measure has a value in both runs"), newer)
    told += [f"the baseline differs in {'; '.join(free)}"] if free else []
    return replace(about, baseline=older.model, tests=found, warnings=[*told, *newer.warnings])


def _refused(label: str, why: str, one: Taken) -> Checked:
    """A run without tests."""
    signed = one.snapshot.signature
    return Checked(label=label, folder=one.folder, baseline="", data=signed.data, kind=one.snapshot.kind,
                   signature=str(signed), refused=why)  # fmt: skip


def _unread(label: str, run: Finished | None = None, why: str = "") -> Checked:
    """A run that cannot be read."""
    data, kind, signature = (run.signature.data, run.kind, str(run.signature)) if run else ("", "", "")
    folder = run.folder if run else Path(label)
    return Checked(label=label, folder=folder, baseline="", data=data, kind=kind, signature=signature, refused=why)


def _refuse_idle(margins: Mapping[str, float], tests: Iterable[Test], require: Require) -> None:
    """Refuse a margin that no test has, and a requirement without a margin."""
    tests = list(tests)
    known = list(dict.fromkeys(name for test in tests for name in _names(test.paired)))
    if idle := [name for name in margins if name not in known]:
        raise ValueError(f"the margin {idle[0]!r} is of no test here; they are {', '.join(known)}")
    without = list(dict.fromkeys(test.paired.name for test in tests if not test.test.margin))
    if require and without:
        raise ValueError(f"{require} needs a margin above 0; give --margin {without[0]}=NUMBER")


def _names(paired: Paired) -> Iterator[str]:
    """What a margin may call a test."""
    yield paired.name
    yield f"{paired.name}/{paired.set}"
