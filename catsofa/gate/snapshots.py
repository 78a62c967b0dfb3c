"""Snapshots: the outcome of each item of a finished run, small enough to commit, and protected by a checksum."""

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
"""Kinds of snapshots in addition to the measures of `score`."""
FORM = "catsofa baseline 1"
"""The format name and version in a baseline."""
EXPECTED = "a baseline of `catsofa baseline save`, the folder of a run, or a folder of runs"
REMEDY = "the file as it was written: restore it, or save the baseline again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The outcomes of a run, ordered by the ids of its records, with everything that they depend on."""

    kind: str
    """The measure of `score`, or `choices` or `flips`."""
    model: str
    signature: Signature
    outcomes: kinds.Outcomes

    def to_dict(self) -> dict[str, Any]:
        """Returns the snapshot in the format of a baseline."""
        about = {"kind": self.kind, "model": self.model, "signature": asdict(self.signature)}
        return {**about, "outcomes": self.outcomes}


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A snapshot of a local run with its records: the newer side of a check."""

    snapshot: Snapshot
    folder: Path
    records: Any
    """The records ordered by id; for choices, the requests with their replies."""
    protocol: Protocol
    warnings: Sequence[str] = ()


def taken(run: Finished, data_paths: Iterable[str | Path] = ()) -> Taken:
    """Returns the outcomes of a finished run; reads its data from `data_paths` if the run does not locate them."""
    sets = [open_data(place) for place in data_paths]
    if run.kind == CHOICES:
        records: Any = choices.side(run.folder, inputs.data_of_choices(run, sets))
        protocol, outcomes = Protocol(), choices.of_run(records)
    elif not run.kept:
        raise inputs.NotThere(f"{run.folder} holds no score of single items; give the folder of `catsofa score --out`")
    else:
        module, protocol = kinds.module_of(run.kind), inputs.protocol(run)
        records = sorted(inputs.records(run, sets), key=lambda record: str(record.id))
        made_of = run.report["results"] if run.kind == "seat" else records
        arguments = () if run.kind == "seat" else (run.scores, protocol)
        outcomes = module.of_run(made_of, *arguments)
        if run.kind == "seat" and not outcomes:
            problem = "association tests without the associations of their targets, as earlier versions wrote them"
            raise BadInput(run.folder, problem, "a run of this version: score again with another --out")
    snapshot = Snapshot(kind=run.kind, model=run.model, signature=run.signature, outcomes=outcomes)
    notes = run.report.get("warnings", ())
    return Taken(snapshot=snapshot, folder=run.folder, records=records, protocol=protocol, warnings=tuple(notes))


def taken_scores(path: Path, data_paths: Sequence[str | Path], protocol: str) -> Taken:
    """Returns the outcomes of a file of scores, joined by id to the data set that shares most ids with it."""
    if not data_paths:
        raise BadInput(path, "a file of scores, which does not say of what data", "--on with its data")
    chosen, score_set = named(protocol), given_in(path)
    items = {score.item for score in score_set.scores}

    def joined(data: Data) -> set[str]:
        """Returns the items of the data that have a score."""
        measure = measure_of(data.kind, chosen, data.on or data.label)
        return items.intersection(item for record in data.records() for item in measure.ids(record))

    data = max(map(open_data, data_paths), key=lambda data: len(joined(data)))
    if not (shared := len(joined(data))):
        raise BadInput(
            path, f"no score of an item of {' or '.join(map(str, data_paths))}", "scores of the ids of the data"
        )
    measure = measure_of(data.kind, chosen)
    if measure.embeds:
        raise BadInput(path, f"a file of scores of {measure.name}, which is made of vectors", "a run of `score --out`")
    records = sorted(data.records(), key=lambda record: str(record.id))
    outcomes = kinds.module_of(measure.name).of_run(records, score_set, chosen)
    notes = [f"{len(items) - shared:,} of the items scored are none of {data.label}"] if shared < len(items) else []
    signature = chosen.signature(data.name, predictions_label(path))
    snapshot = Snapshot(kind=measure.name, model=path.stem, signature=signature, outcomes=outcomes)
    return Taken(snapshot=snapshot, folder=path, records=records, protocol=chosen, warnings=notes)


def taken_flips(original: Finished, paraphrase: Finished) -> Taken:
    """Returns which preferences of a run flip on paraphrases of its CATs."""
    records, protocol = inputs.cats(original), inputs.protocol(original)
    both = rephrased(records, original.folder, list(cats_on(data_of(paraphrase.folder))), paraphrase.folder, protocol)
    turned = dict(zip(both.before.ids.tolist(), flips(both.before, both.after).tolist(), strict=True))
    records = sorted(records, key=lambda cat: cat.id)
    one, other = original.signature, paraphrase.signature
    signature = protocol.signature(
        f"{one.data} {other.data}", one.model, subset=joint_subset([one.subset, other.subset], [both.items])
    )
    outcomes = cats.of_flips(records, {item: nan if value is None else value for item, value in turned.items()})
    snapshot = Snapshot(kind=FLIPS, model=original.model, signature=signature, outcomes=outcomes)
    return Taken(snapshot=snapshot, folder=paraphrase.folder, records=records, protocol=protocol)


def save(snapshots: Sequence[Snapshot], out: Path | str) -> None:
    """Writes a baseline: each snapshot with its signature, and a checksum of everything."""
    held = {"form": FORM, "runs": [json_files.finite(snapshot.to_dict()) for snapshot in snapshots]}
    json_files.write(json_files.sealed(held), out)


def read(path: Path | str) -> list[Snapshot]:
    """Returns the snapshots of a baseline; refuses a file that was changed after it was saved."""
    from pydantic import ValidationError

    document = json_files.read(path, EXPECTED)
    if not _is_baseline(document):
        raise BadInput(path, "JSON that is no baseline", EXPECTED)
    json_files.check_seal(document, path, REMEDY)
    if document["form"] != FORM:
        raise BadInput(path, f"a baseline of another version ({document['form']})", f"one of this version ({FORM})")
    if not isinstance(runs := document.get("runs"), list) or not runs:
        raise BadInput(path, "a baseline without runs", REMEDY)
    try:
        return [jsonl.adapter(Snapshot).validate_python(run) for run in runs]
    except ValidationError as error:
        raise BadInput(path, *jsonl.explain(error, Snapshot)) from None


def check_baseline(path: Path) -> Verdict | None:
    """Returns the verdict on a baseline; None for any other file."""
    if not path.is_file() or path.suffix != ".json" or not _is_baseline(json_files.read(path, EXPECTED)):
        return None
    return Verdict(path=path, kind="baseline", checked=("its checksum", quantity(len(read(path)), "run")))


def _is_baseline(document: Any) -> bool:
    """Returns True if the JSON declares itself a baseline, of this version or another."""
    return isinstance(document, Mapping) and str(document.get("form")).startswith("catsofa baseline")
