"""`make architectures` writes docs/reference/architectures.md: the distance of each family from a plain loop."""

import os
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from helpers import ROOT

PAGE = ROOT / "docs" / "reference" / "architectures.md"
HEADER = """# Architectures
Each family is a tiny model with random weights: two layers, states of 32, windows of 8. The comparison scores CATs,
CrowS-Pairs and probes with the engine, and with a plain loop that forwards one text at a time. The table gives the
largest difference between the two sums of log-probabilities in float32. The comparison covers batches of 1, 64 and
the default number of tokens, and the row width of a GPU. `make check-slow` repeats the comparison and fails above
1e-4. `make architectures` writes this page.

"Batched as" says how the engine reads a family. "Prefix trees" forward a prefix that several texts share only once.
"Rows" contain one text each. "All logits" means that the engine computes the whole vocabulary at every position,
which is slow. "Self-check" names the parts that the [self-check](../speed.md#batching-changes-no-number) left out,
because they would have changed the numbers. That page gives the share of wrong texts that the check detects, and the
probability of detection.
"""


def main() -> None:
    """Writes the page, and reports each finished family on stderr."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from helpers.architectures.families import FAMILIES
    from helpers.architectures.matrix import compare, table

    results = []
    with tempfile.TemporaryDirectory() as folder:
        for family in FAMILIES.values():
            results.append(compare(family, Path(folder)))
            sys.stderr.write(f"{family.name}: {results[-1].largest:.1e}\n")
    versions = ", ".join(f"{library} {version(library)}" for library in ("torch", "transformers", "tokenizers"))
    when = f"{datetime.now(UTC):%Y-%m-%d}, {versions}: {len(results)} families."
    PAGE.write_text(f"{HEADER}\n{when}\n\n{table(results)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
