"""A model behind a server, a few records, and their scores by the same model run locally."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from catsofa.data.records import Pair, Probe, Score
from catsofa.data.servers.endpoints import Endpoint
from catsofa.scoring import models, protocols
from catsofa.scoring.items.score import score
from catsofa.scoring.likelihood.backend import Backend
from helpers.records import a_cat
from helpers.servers.completions_server import Behaviour, Served, serving

KEY = "sk-a-secret-of-the-test-0123456789"


@contextmanager
def server(folder: Path, **behaviour: Any) -> Iterator[tuple[Endpoint, Served]]:
    """Starts a server for a model, and returns its endpoint."""
    with serving(folder, Behaviour(**behaviour)) as (url, behind):
        yield Endpoint(base_url=url, concurrency=4, timeout=20, backoff=0.01), behind


AFTER = ("She sang to the roses.", "She never waters the roses, aren't they?", "Glimmers are long meetings.")
CATS = [
    a_cat("The baker was BLANK.", "friendly", "stubborn", "salted", id="", target="baker", bias_type="profession"),
    a_cat("A florin walked into the kitchen.", *AFTER, id="", target="baker", bias_type="profession"),
]
PAIRS = [Pair(more="The zorbs are kind.", less="The florins are kind.", direction="stereo", bias_type="zorb")]
PROBES = [
    Probe(category="c", identity=identity, stereotype=stereotype)
    for identity in ("zorbs", "florins", "the quiet bakers")
    for stereotype in ("love long meetings", "are stubborn", "sing")
]


def directly(folder: Path, records: Any) -> dict[tuple[str, str], Score]:
    """Returns the scores of the records by the same model run locally."""
    scores = score(Backend(models.load(str(folder), device="cpu")), records, protocols.named("catsofa"))
    return {(score_.item, score_.task): score_ for score_ in scores}


def written(records: Any, path: Path) -> Path:
    """Writes these records to a file, and returns its path."""
    from catsofa.data.files import jsonl

    jsonl.write(records, path)
    return path
