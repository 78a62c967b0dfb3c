"""Snapshots: what a finished run made of each item, small enough to commit, and read again only as it was written."""

__all__ = ["Snapshot", "read", "save", "taken"]

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import nan
from pathlib import Path
from typing import Any

from catsofa.data import sources
from catsofa.data.files import BadInput, json_files
from catsofa.gate import kinds
from catsofa.gate.kinds import cats, choices
from catsofa.report import inputs
from catsofa.report.inputs import Finished
from catsofa.scoring.dataset import Data, open_data
from catsofa.scoring.measures.robustness import flips
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.run.origins import data_of
from catsofa.scoring.run.score_files import cats_on, given_in, rephrased
from catsofa.scoring.signature import Signature, first_of, hashes_in, joint_subset

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
        signed = {name: value for name, value in self.signature.to_dict().items() if name != "line"}
        return {"kind": self.kind, "model": self.model, "signature": signed, "outcomes": self.outcomes}


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
        records: Any = choices.side(run.folder, _among(sets, run) or _missing(run))
        protocol, outcomes = Protocol(), choices.of_run(records)
    elif not run.kept:
        raise inputs.NotThere(f"{run.folder} holds no score of single items; give the folder of `catsofa score --out`")
    else:
        module, protocol, records = kinds.module_of(run.kind), inputs.protocol(run), _records(run, sets)
        made_of = run.report["results"] if run.kind == "seat" else records
        given = () if run.kind == "seat" else (given_in(run.folder), protocol)
        outcomes = module.of_run(made_of, *given)
        if run.kind == "seat" and not outcomes:
            found = "association tests without the associations of their targets, as earlier versions wrote them"
            raise BadInput(run.folder, found, "a run of this version: score again with another --out")
    snapshot = Snapshot(kind=run.kind, model=run.model, signature=run.signature, outcomes=outcomes)
    told = run.report.get("warnings", ())
    return Taken(snapshot=snapshot, folder=run.folder, records=records, protocol=protocol, warnings=tuple(told))


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


def _among(sets: Iterable[Data], run: Finished) -> Data | None:
    """The data set that a run is of."""
    return next((data for data in sets if hashes_in(data.name) == hashes_in(run.signature.data)), None)


def _missing(run: Finished) -> Data:
    """Say that the data of a run of choices are needed."""
    found = f"a run of `catsofa choose` on {run.signature.data}, which does not say where its data lie"
    raise BadInput(run.folder, found, "--on with its data")


def _records(run: Finished, sets: Sequence[Data]) -> list[Any]:
    """The records that a run is of, by id."""
    found = _among(sets, run)
    every = found.records() if found else sources.read(data_of(run.folder))
    return sorted(islice(every, first_of(run.signature.subset)), key=lambda record: str(record.id))


def save(snapshots: Sequence[Snapshot], out: Path | str) -> None:
    """Write a baseline: each snapshot with its signature, and a checksum over all of it."""
    held = {"form": FORM, "runs": [json_files.finite(snapshot.to_dict()) for snapshot in snapshots]}
    json_files.write(json_files.sealed(held), out)


def read(path: Path | str) -> list[Snapshot]:
    """The snapshots of a baseline; a file that was changed since is refused."""
    document = json_files.read(path, EXPECTED)
    if not isinstance(document, Mapping) or not str(document.get("form")).startswith("catsofa baseline"):
        raise BadInput(path, "JSON that is no baseline", EXPECTED)
    json_files.check_seal(document, path, REMEDY)
    if document["form"] != FORM:
        raise BadInput(path, f"a baseline of another version ({document['form']})", f"one of this version ({FORM})")
    return [Snapshot(**{**run, "signature": Signature(**run["signature"])}) for run in document["runs"]]
