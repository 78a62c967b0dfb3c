"""Scorer for a finished run: the run folder has all scores, so the model is not loaded."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
"""Records looked up together."""
FREE = ("dtype", "device", "revision", "batch_tokens")
"""Loading arguments that are compared here, or that no vector depends on."""
OURS = ("model", "label", "data", "on", "records", "protocol", UNUSED, *UNKNOWN)
"""Manifest facts that every scorer determines again."""


class KeptScorer(Scorer):
    """Facts that a finished run recorded about its model; scores nothing."""

    def __init__(self, about: About, precision: Mapping[str, Any]) -> None:
        self.about, self._precision = about, dict(precision)
        self._self_checks = {MODEL: Batching(), HEAD: Batching()}

    @property
    def self_checks(self) -> Mapping[str, Batching]:
        """Self-check findings that the run recorded."""
        return self._self_checks

    def sizes(self, took: Iterable[Took]) -> Iterator[int]:
        """Yields the same number of records for each chunk."""
        return repeat(CHUNK)

    def score(self, chunks: Iterable[Sequence[Any]], folder: Path | None) -> Iterator[Scored]:
        """Yields nothing, because every record has its scores; raises BadInput for a record without one."""
        for chunk in chunks:
            raise BadInput(folder or "", f"a finished run without a score of {chunk[0].id!r}", "another --out")
        yield from ()

    def precision(self, records: Any, scores: Iterable[Score]) -> dict[str, Any]:
        """Returns the error of half precision that the run measured."""
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
    """Returns the scorer of the finished run in this folder if this call would make the same run; else None.

    The data, model files, precision, protocol and version must be those of the run. The result is also None for a dtype
    that only the weights determine, for remote code and for quantisation: these need the model itself.
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
    requested = {option: options[option] for option in (*scored_by, *measure.scored_by) if option in options}
    same = (
        model == {"digest": digest, "architecture": model.get("architecture"), "dtype": DTYPES.get(dtype, dtype)}
        and identity.get("protocol") == requested
        # the manifest has the records of the first call; a later one may have finished with a limit
        and report["signature"].get("subset", "") == dataset.subset
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
    """Returns the report of the finished encoder run in this folder if this call would make the same; else None.

    An unspecified pooling matches that of the run, because a network's default depends only on its weights and the
    version.
    """
    other = any(value for option, value in loading.items() if option not in FREE)
    if other or not (before := _finished(folder, dataset, protocol)):
        return None
    report, manifest = before
    model, signature = manifest["identity"].get("model", {}), report["signature"]
    dtype = str(loading.get("dtype", "float32"))
    unasked: dict[str, Any] = {"pooling": None, "layer": -1, "special_tokens": True, "unit_length": False}
    requested = {option: getattr(protocol.seat, option) for option in unasked}
    same = (
        manifest.get("about", {}).get("model") == name
        and model.get("digest") == _digest_now(name, str(model.get("kind")), loading.get("revision"))
        and model.get("dtype", dtype) in (dtype, DTYPES.get(dtype, dtype))
        and all(
            model.get(option, unasked[option]) == value or (option, value) == ("pooling", None)
            for option, value in requested.items()
        )
        and signature["protocol"] == protocol.name
        and (signature["data"], signature.get("subset", "")) == (dataset.name, dataset.subset)
        and signature.get("resamples", 0) == resamples
    )
    return report if same else None


def _digest_now(name: str, kind: str, revision: str | None) -> str:
    """Returns the hash of an encoder's current files; empty if only the encoder itself can compute it."""
    place = Path(name).expanduser()
    if kind == "transformers":
        return find(name, revision).digest()
    return digest_of(place) if place.exists() else ""


def _finished(folder: Path, dataset: Data, protocol: Protocol) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Returns report and manifest of a run that this version finished on this data and protocol; else None."""
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
