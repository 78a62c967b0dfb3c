"""The model of a finished run, known by the folder of the run: nothing is left to score, so it is not loaded."""

from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from itertools import repeat
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.data.records import Score
from catsofa.scoring.dataset import Data
from catsofa.scoring.executors import About, Scored, Scorer
from catsofa.scoring.executors.chunk_sizes import Took
from catsofa.scoring.likelihood.self_check import HEAD, MODEL, Batching
from catsofa.scoring.measures.registry import Measure
from catsofa.scoring.models.files import digest_of, find
from catsofa.scoring.models.model import DTYPES
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.run.manifest import MANIFEST, UNKNOWN, UNUSED, read_manifest
from catsofa.scoring.run.reports import Unfinished, finished_report
from catsofa.scoring.signature import model_label, place_of

CHUNK = 2048
"""Records that are looked up together."""
FREE = ("dtype", "device", "revision", "batch_tokens")
"""Arguments of loading that are compared here, or that no vector depends on."""
OURS = ("model", "label", "data", "on", "records", "protocol", UNUSED, *UNKNOWN)
"""Facts of a manifest that every scorer has anew."""


class KeptScorer(Scorer):
    """What a finished run says of its model; it scores nothing."""

    def __init__(self, about: About, precision: Mapping[str, Any]) -> None:
        self.about, self._precision = about, dict(precision)
        self._self_checks = {MODEL: Batching(), HEAD: Batching()}

    @property
    def self_checks(self) -> Mapping[str, Batching]:
        """The findings of the self-checks, which the run has kept."""
        return self._self_checks

    def sizes(self, took: Iterable[Took]) -> Iterator[int]:
        """The same number of records in each chunk."""
        return repeat(CHUNK)

    def score(self, chunks: Iterable[list[Any]], folder: Path | None) -> Iterator[Scored]:
        """Nothing, since every record has its scores."""
        for chunk in chunks:
            raise BadInput(folder or "", f"a finished run without a score of {chunk[0].id!r}", "another --out")
        yield from ()

    def precision(self, records: Any, scores: Iterable[Score]) -> dict[str, Any]:
        """Of half precision, what the run found."""
        return self._precision


def kept(
    name: str,
    folder: Path,
    dataset: Data,
    measure: Measure,
    protocol: Protocol,
    scored_by: tuple[str, ...],
    loading: Mapping[str, Any],
) -> KeptScorer | None:
    """The model of the finished run in this folder, if this call would make the same run; else None.

    The data, the files of the model, its precision, the protocol and the version are those of the run. A dtype that
    only the weights can tell, code of the model and quantisation are left to the model itself.
    """
    dtype = str(loading.get("dtype", "float32"))
    if dtype == "auto" or loading.get("trust_remote_code") or loading.get("quantisation"):
        return None
    if not (before := _finished(folder, dataset, protocol)):
        return None
    report, manifest = before
    identity, about = manifest["identity"], manifest.get("about", {})
    options, model = protocol.options(), identity.get("model", {})
    digest = find(name, loading.get("revision")).digest()
    asked = {option: options[option] for option in (*scored_by, *measure.scored_by) if option in options}
    same = (
        model == {"digest": digest, "architecture": model.get("architecture"), "dtype": DTYPES.get(dtype, dtype)}
        and identity.get("protocol") == asked
        and about.get("records") == dataset.count
        and not identity.keys() - {"catsofa", "model", "data", "protocol"}
    )
    if not same:
        return None
    facts = {fact: value for fact, value in about.items() if fact not in OURS}
    return KeptScorer(
        About(
            name=name,
            label=model_label(name, digest),
            identity=model,
            scored_by=scored_by,
            facts={**facts, "place": place_of(name)},
            unused=str(about.get(UNUSED, "")),
            dtype=str(about.get("precision", "")),
            perplexity=str(report["signature"].get("way", "")),
            counts_unknown=UNKNOWN.keys() <= about.keys(),
        ),
        report.get("precision", {}),
    )


def kept_of_vectors(
    name: str, folder: Path, dataset: Data, protocol: Protocol, resamples: int, loading: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The report of the finished run of an encoder in this folder, if this call would make the same; else None.

    The default pooling of a network is that of the run: it depends on the weights and the version alone.
    """
    other = any(value for option, value in loading.items() if option not in FREE)
    if other or not (before := _finished(folder, dataset, protocol)):
        return None
    report, manifest = before
    model, signature = manifest["identity"].get("model", {}), report["signature"]
    dtype = str(loading.get("dtype", "float32"))
    unasked: dict[str, Any] = {"pooling": None, "layer": -1, "special_tokens": True, "unit_length": False}
    asked = {option: getattr(protocol.seat, option) for option in unasked}
    same = (
        manifest.get("about", {}).get("model") == name
        and model.get("digest") == _digest_now(name, str(model.get("kind")), loading.get("revision"))
        and model.get("dtype", dtype) in (dtype, DTYPES.get(dtype, dtype))
        and all(
            model.get(option, unasked[option]) == value or (option, value) == ("pooling", None)
            for option, value in asked.items()
        )
        and signature["protocol"] == protocol.name
        and (signature["data"], signature.get("subset", "")) == (dataset.name, dataset.subset)
        and signature.get("resamples", 0) == resamples
    )
    return report if same else None


def _digest_now(name: str, kind: str, revision: str | None) -> str:
    """The hash of an encoder's files as they are now; empty where only the encoder can tell."""
    place = Path(name).expanduser()
    if kind == "transformers":
        return find(name, revision).digest()
    return digest_of(place) if place.exists() else ""


def _finished(folder: Path, dataset: Data, protocol: Protocol) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The report and manifest of a run that this version finished on this data by this protocol; else None."""
    if not (folder / MANIFEST).is_file():
        return None
    try:
        report, manifest = finished_report(folder), read_manifest(folder)
    except Unfinished:
        return None
    identity = manifest["identity"]
    same = (
        identity.get("catsofa") == version("catsofa")
        and identity.get("data") == dataset.digest
        and report["signature"].get("options") == protocol.digest
    )
    return (report, manifest) if same else None
