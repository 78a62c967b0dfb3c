"""Adds the signature to a report of a validating command: the data and their hash, what is drawn, the version."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def signed(report: Mapping[str, Any], parts: Mapping[Path, Any], **drawn: int) -> dict[str, Any]:
    """The report with its signature; `parts` are the records of each file, `drawn` the seed and the resamples."""
    from importlib.metadata import version

    from catsofa.data.content import content_of
    from catsofa.scoring.signature import data_label

    data = " ".join(data_label(path.name, content_of(records).digest) for path, records in parts.items())
    named = {"data": data, **drawn, "version": version("catsofa")}
    line = " | ".join(f"{name}:{value}" for name, value in named.items())
    return {**report, "signature": {**named, "line": line}}
