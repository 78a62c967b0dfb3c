"""The rows of SEAT and WEAT tests, as JSON and as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catsofa.data.tables import Tabular


@dataclass(frozen=True, slots=True)
class Associations(Tabular):
    """The rows of association tests."""

    tests: Sequence[Mapping[str, Any]]

    def to_dict(self) -> list[dict[str, Any]]:
        """A row for each test."""
        return [dict(row) for row in self.tests]

    def rows(self) -> list[dict[str, Any]]:
        """The row of each test in a table."""
        return [
            {
                "task": "association tests",
                "test": row["test"],
                "effect_size": row["effect_size"],
                "effect_size_low": row["intervals"]["effect_size"]["low"],
                "effect_size_high": row["intervals"]["effect_size"]["high"],
                "p": row["p_value"],
                "holm": row["holm"],
                "how": row["how"],
                "texts": sum(row["sizes"].values()),
                "coverage": row["coverage"],
                "unknown": row.get("unknown"),
            }
            for row in self.tests
        ]
