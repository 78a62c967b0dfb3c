"""Finished runs as records of the schema Every Eval Ever: one JSON file for each run."""

import re
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

from catsofa.data.digests import DIGITS, json_digest
from catsofa.data.files import json_files
from catsofa.report.inputs import Finished, begun
from catsofa.scoring.signature import hashes_in, without_hashes
from catsofa.share.results import Measured, called, measured

SCHEMA = "0.3.0"
"""Version of the schema; each record contains it."""
NOT_DRAWN = {
    "seat": "Student's t over targets",
    "sofa": "Student's t of the logarithm over stereotypes",
}
"""Measure to the method of its intervals, if they are no bootstrap."""


def write(runs: Sequence[Finished], folder: Path, organization: str) -> list[Path]:
    """Writes each run to data/BENCHMARK/DEVELOPER/MODEL/UUID.json below a folder, the layout of the datastore.

    `organization` is the author of the runs. A model id without an owner is filed under `unknown`.
    """
    if not organization.strip():
        raise ValueError("the schema names who made the results; give --organization NAME")
    records = [(run, record(run, organization, datetime.now(UTC))) for run in runs]
    paths = []
    for run, content in records:
        owner, _, model = content["model_info"]["id"].rpartition("/")
        name = uuid.UUID(_digest(run), version=4)
        place = folder / "data" / _part(run.kind) / _part(owner or "unknown") / _part(model) / f"{name}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        json_files.write(content, place)
        paths.append(place)
    return paths


def _digest(run: Finished) -> str:
    """Returns a hash that distinguishes the record of a run from all others."""
    return json_digest([str(run.signature), run.report["results"]], 32)


def _part(name: str) -> str:
    """Returns a name as one part of a path."""
    return re.sub(r"[^\w.-]+", "_", name).strip(".") or "_"


def record(run: Finished, organization: str, now: datetime) -> dict[str, Any]:
    """Returns the record of one run, with the time `now`; all details are text, as the schema requires."""
    signature, stamp = run.signature, f"{now.timestamp():.0f}"
    model = called(run)
    name = f"catsofa/{run.kind}"
    when = {"evaluation_timestamp": begun(run)} if begun(run) else {}
    served = "at" in run.manifest.get("identity", {}).get("model", {})
    details = {"deployment_type": "unknown" if served else "self_deployed", "model_availability": "unknown"}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{name}/{model}/{stamp}-{_digest(run)[:DIGITS]}",
        **when,
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": "catsofa",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "catsofa", "version": signature.version or version("catsofa")},
        "model_info": {
            "name": model,
            "id": model,
            **({} if "/" in model else {"developer": "unknown"}),
            "additional_details": {**details, "signature": signature.model},
        },
        "evaluation_results": [_result(number, run, name, when) for number in measured(run)],
    }


def _result(number: Measured, run: Finished, name: str, when: Mapping[str, str]) -> dict[str, Any]:
    """Returns one number; `lower_is_better` points from the value to the ideal, because the schema has no ideal."""
    scale, signature = number.scale, run.signature
    least, most = (bound if isfinite(bound) else f"{'-' * (bound < 0)}Infinity" for bound in (scale.least, scale.most))
    inside = scale.least < scale.ideal < scale.most
    about = f"{scale.about}; ideal {scale.ideal:g}" + ("; neither more nor less is better" if inside else "")
    score: dict[str, Any] = {"score": number.value}
    if number.low is not None and number.high is not None:
        limits = {"lower": number.low, "upper": number.high, "confidence_level": 0.95}
        method = NOT_DRAWN.get(run.kind, "bootstrap over clusters")
        drawn = (
            {"num_bootstrap_samples": signature.resamples} if signature.resamples and run.kind not in NOT_DRAWN else {}
        )
        score["uncertainty"] = {"confidence_interval": {**limits, "method": method}, **drawn}
    counts = {"items": number.items, "coverage": number.coverage}
    counted = {
        name: f"{count:.6g}" if name == "coverage" else str(count)
        for name, count in counts.items()
        if count is not None
    }
    return {
        "evaluation_result_id": f"{name}/{number.name}/{number.set}",
        "evaluation_name": name if number.set == "overall" else f"{name}/{number.set}",
        "source_data": {
            "dataset_name": without_hashes(signature.data),
            "source_type": "other",
            "additional_details": {"records_sha256": hashes_in(signature.data), "subset": signature.subset or "all"},
        },
        **when,
        "metric_config": {
            "evaluation_description": about,
            "metric_id": f"catsofa.{run.kind}.{number.name}",
            "metric_name": number.name,
            "lower_is_better": number.value > scale.ideal if inside else scale.ideal <= scale.least,
            "score_type": "continuous",
            "min_score": least,
            "max_score": most,
            "additional_details": {"ideal": f"{scale.ideal:g}", "set": number.set, "protocol": signature.protocol},
        },
        "score_details": {**score, "details": {"signature": str(signature), **counted}},
    }
