"""Joins runs on paraphrases with the runs on their originals for the robustness section of a report."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.data.records import Cat
from catsofa.report.inputs import Finished, cats, find, protocol
from catsofa.scoring.measures.robustness import join
from catsofa.scoring.measures.robustness.report import Compared, robustness_report
from catsofa.scoring.run import cautions
from catsofa.scoring.run.origins import labels
from catsofa.scoring.run.score_files import rephrased
from catsofa.scoring.signature import hashes_in

Sets = dict[tuple[str, str, str], list[Cat]]
"""A cache of CATs by data, subset and path, shared by all models."""
ById = dict[str, Cat]
Found = tuple[dict[str, Any], ById, list[ById]]
"""A robustness report as JSON, the original CATs by id, and the CATs of each rephrasing by id."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A run on paraphrases and the run on their originals."""

    original: Finished
    paraphrase: Finished


def robust(paraphrases: Iterable[Path], runs: Sequence[Finished]) -> Iterator[Found]:
    """Yields a robustness report for each data set and protocol of the originals in `runs`."""
    sets: Sets = {}
    joined = matched(find(paraphrases).runs, runs, sets)
    for _, group in groupby(sorted(joined, key=_key), key=_key):
        yield _robust(list(group), sets)


def matched(paraphrases: Iterable[Finished], runs: Sequence[Finished], sets: Sets | None = None) -> list[Joined]:
    """Returns each run on paraphrases with the run of its model on their originals; `sets` is a cache of CATs."""
    cache = {} if sets is None else sets
    return [_joined(run, runs, cache) for run in paraphrases]


def _key(pair: Joined) -> tuple[str, str, str, str, str]:
    """Returns the key that the comparisons in one table share."""
    signature = pair.original.signature
    return signature.data, signature.subset, signature.protocol, signature.options, signature.precision


def _cats(run: Finished, sets: Sets) -> list[Cat]:
    """Returns the CATs of a run, from the cache if possible."""
    place = run.signature.data, run.signature.subset, str(run.manifest.get("about", {}).get("on"))
    if place not in sets:
        sets[place] = cats(run)
    return sets[place]


def _joined(run: Finished, runs: Sequence[Finished], sets: Sets) -> Joined:
    """Joins a run with the run of the same model and protocol that shares most ids; raises BadInput if none does.

    Of runs that share as many, one in the same precision is chosen.
    """
    if run.kind != "stereoset":
        raise BadInput(run.folder, f"a run of {run.kind}", "a run on paraphrases of CATs")
    mine = (run.signature.model, run.signature.protocol, run.signature.options)
    same = [
        other
        for other in runs
        if other.kind == "stereoset"
        and other.kept
        and (other.signature.model, other.signature.protocol, other.signature.options) == mine
        and hashes_in(other.signature.data) != hashes_in(run.signature.data)
    ]
    most = max(
        (
            (
                len(join(_cats(other, sets), _cats(run, sets)).pairs),
                other.signature.precision == run.signature.precision,
                -index,
            )
            for index, other in enumerate(same)
        ),
        default=(0, False, 0),
    )
    if not most[0]:
        raise BadInput(
            run.folder, "paraphrases whose originals no run of the same model scored", "the run on their originals too"
        )
    return Joined(same[-most[2]], run)


def _robust(group: Sequence[Joined], sets: Sets) -> Found:
    """Returns the comparisons of one table; rephrasings are numbered by their data."""
    data = list(dict.fromkeys(pair.paraphrase.signature.data for pair in group))
    chosen, compared = protocol(group[0].original), []
    originals = list(dict.fromkeys(pair.original.folder for pair in group))
    called = dict(zip(originals, labels(originals), strict=True))
    for pair in group:
        original, paraphrase = pair.original.folder, pair.paraphrase.folder
        rephrasing = rephrased(_cats(pair.original, sets), original, _cats(pair.paraphrase, sets), paraphrase, chosen)
        number = data.index(pair.paraphrase.signature.data)
        texts = pair.original.signature.data, pair.paraphrase.signature.data
        compared.append(Compared(called[original], called[original], number, rephrasing, texts))
    names = " ".join([group[0].original.signature.data, *data])
    by_number = {data.index(pair.paraphrase.signature.data): _cats(pair.paraphrase, sets) for pair in group}
    sides = [*(pair.original for pair in group), *(pair.paraphrase for pair in group)]
    precisions = {run.signature.precision for run in sides}
    dtype = precisions.pop() if len(precisions) == 1 else ""
    subsets = (run.signature.subset for run in sides)
    report = robustness_report(compared, chosen, data=names, dtype=dtype, subsets=subsets)
    warnings = cautions.of_runs([run.folder for run in sides])
    return (
        replace(report, warnings=(*report.warnings, *warnings)).to_dict(),
        {cat.id: cat for cat in _cats(group[0].original, sets)},
        [{cat.id: cat for cat in by_number[number]} for number in range(len(data))],
    )
