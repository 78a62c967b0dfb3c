"""Snapshots: what a finished run made of each item, small enough to commit, and read again only as it was written."""

__all__ = ["Snapshot", "read", "save", "taken"]

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import nan
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, json_files, jsonl
from catsofa.data.percentages import quantity
from catsofa.data.verify.verdicts import Verdict
from catsofa.gate import kinds
from catsofa.gate.kinds import cats, choices
from catsofa.report import inputs
from catsofa.report.inputs import Finished
from catsofa.scoring.dataset import Data, open_data
from catsofa.scoring.measures.registry import measure_of
from catsofa.scoring.measures.robustness import flips
from catsofa.scoring.protocols import Protocol, named
from catsofa.scoring.run.origins import data_of
from catsofa.scoring.run.score_files import cats_on, given_in, rephrased
from catsofa.scoring.signature import Signature, joint_subset, predictions_label

CHOICES, FLIPS = "choices", "flips"
"""The kinds of snapshots beside the measures of `score`."""
FORM = "catsofa baseline 1"
"""How a baseline names itself and the version of its form."""
EXPECTED = "a baseline of `catsofa baseline save`, the folder of a run, or a folder of runs"
REMEDY = "the file as it was written: restore it, or save the baseline again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The outcomes of a run, in the order of the ids of its records, with everything that they depend on."""

    kind: str
    """The measure; `choices` or `flips` beside those of `score`."""
    model: str
    signature: Signature
    outcomes: kinds.Outcomes

    def to_dict(self) -> dict[str, Any]:
        """The snapshot as it lies in a baseline."""
        about = {"kind": self.kind, "model": self.model, "signature": asdict(self.signature)}
        return {**about, "outcomes": self.outcomes}


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A snapshot of a run that lies here, with the records that it is of: what a check needs of the newer side."""

    snapshot: Snapshot
    folder: Path
    records: Any
    """The records by id; of choices, the requests with their replies."""
    protocol: Protocol
    warnings: Sequence[str] = ()


def taken(run: Finished, on: Iterable[str | Path] = ()) -> Taken:
    """The outcomes of a finished run, whose data are read again; `on` says where data lie if the run does not."""
    sets = [open_data(place) for place in on]
    if run.kind == CHOICES:
        records: Any = choices.side(run.folder, inputs.data_of_choices(run, sets))
        protocol, outcomes = Protocol(), choices.of_run(records)
    elif not run.kept:
        raise inputs.NotThere(f"{run.folder} holds no score of single items; give the folder of `catsofa score --out`")
    else:
        module, protocol = kinds.module_of(run.kind), inputs.protocol(run)
        records = sorted(inputs.records(run, sets), key=lambda record: str(record.id))
        made_of = run.report["results"] if run.kind == "seat" else records
        given = () if run.kind == "seat" else (run.scores, protocol)
        outcomes = module.of_run(made_of, *given)
        if run.kind == "seat" and not outcomes:
            found = "association tests without the associations of their targets, as earlier versions wrote them"
            raise BadInput(run.folder, found, "a run of this version: score again with another --out")
    snapshot = Snapshot(kind=run.kind, model=run.model, signature=run.signature, outcomes=outcomes)
    told = run.report.get("warnings", ())
    return Taken(snapshot=snapshot, folder=run.folder, records=records, protocol=protocol, warnings=tuple(told))


def taken_scores(path: Path, on: Sequence[str | Path], protocol: str) -> Taken:
    """The outcomes of a file of scores, joined by id to those data of `on` that it has most scores of."""
    if not on:
        raise BadInput(path, "a file of scores, which does not say of what data", "--on with its data")
    chosen, given = named(protocol), given_in(path)
    items = {score.item for score in given.scores}

    def joined(data: Data) -> set[str]:
        """The items of the data that have a score."""
        measure = measure_of(data.kind, chosen, data.on or data.label)
        return items.intersection(item for record in data.records() for item in measure.ids(record))

    data = max(map(open_data, on), key=lambda data: len(joined(data)))
    if not (shared := len(joined(data))):
        raise BadInput(path, f"no score of an item of {' or '.join(map(str, on))}", "scores of the ids of the data")
    measure = measure_of(data.kind, chosen)
    if measure.embeds:
        raise BadInput(path, f"a file of scores of {measure.name}, which is made of vectors", "a run of `score --out`")
    records = sorted(data.records(), key=lambda record: str(record.id))
    outcomes = kinds.module_of(measure.name).of_run(records, given, chosen)
    told = [f"{len(items) - shared:,} of the items scored are none of {data.label}"] if shared < len(items) else []
    signature = chosen.signature(data.name, predictions_label(path))
    snapshot = Snapshot(kind=measure.name, model=path.stem, signature=signature, outcomes=outcomes)
    return Taken(snapshot=snapshot, folder=path, records=records, protocol=chosen, warnings=told)


def taken_flips(original: Finished, paraphrase: Finished) -> Taken:
    """Which preferences of a run flip on paraphrases of its CATs."""
    records, protocol = inputs.cats(original), inputs.protocol(original)
    found = rephrased(records, original.folder, list(cats_on(data_of(paraphrase.folder))), paraphrase.folder, protocol)
    turned = dict(zip(found.before.ids.tolist(), flips(found.before, found.after).tolist(), strict=True))
    records = sorted(records, key=lambda cat: cat.id)
    one, other = original.signature, paraphrase.signature
    signature = protocol.signature(
        f"{one.data} {other.data}", one.model, subset=joint_subset([one.subset, other.subset], [found.items])
    )
    outcomes = cats.of_flips(records, {item: nan if value is None else value for item, value in turned.items()})
    snapshot = Snapshot(kind=FLIPS, model=original.model, signature=signature, outcomes=outcomes)
    return Taken(snapshot=snapshot, folder=paraphrase.folder, records=records, protocol=protocol)


def save(snapshots: Sequence[Snapshot], out: Path | str) -> None:
    """Write a baseline: each snapshot with its signature, and a checksum over all of it."""
    held = {"form": FORM, "runs": [json_files.finite(snapshot.to_dict()) for snapshot in snapshots]}
    json_files.write(json_files.sealed(held), out)


def read(path: Path | str) -> list[Snapshot]:
    """The snapshots of a baseline; a file that was changed since is refused."""
    from pydantic import ValidationError

    document = json_files.read(path, EXPECTED)
    if not _is_baseline(document):
        raise BadInput(path, "JSON that is no baseline", EXPECTED)
    json_files.check_seal(document, path, REMEDY)
    if document["form"] != FORM:
        raise BadInput(path, f"a baseline of another version ({document['form']})", f"one of this version ({FORM})")
    if not isinstance(runs := document.get("runs"), list):
        raise BadInput(path, "a baseline without a list of runs", REMEDY)
    try:
        return [jsonl.adapter(Snapshot).validate_python(run) for run in runs]
    except ValidationError as error:
        raise BadInput(path, *jsonl.explain(error, Snapshot)) from None


def check_baseline(path: Path) -> Verdict | None:
    """The verdict on a baseline; None for anything else."""
    if not path.is_file() or path.suffix != ".json" or not _is_baseline(json_files.read(path, EXPECTED)):
        return None
    return Verdict(path=path, kind="baseline", checked=("its checksum", quantity(len(read(path)), "run")))


def _is_baseline(document: Any) -> bool:
    """Whether JSON names itself a baseline, of this version or another."""
    return isinstance(document, Mapping) and str(document.get("form")).startswith("catsofa baseline")
