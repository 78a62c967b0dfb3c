"""Submissions to a leaderboard about invented terms."""

import json
from pathlib import Path
from typing import Any

from catsofa.data.records import Cat
from helpers.records import a_cat

Scores = dict[str, float]


def cats() -> list[Cat]:
    """Returns twelve CATs about four invented terms."""
    return [
        a_cat(f"The {term} number {number} was BLANK.", id=f"cat {term} {number}", target=term)
        for term in ("zorb", "quib", "marn", "tollit")
        for number in range(3)
    ]


def scores(first: float, second: float, third: float) -> Scores:
    """Returns one score for each label of every CAT."""
    by_label = {"stereotype": first, "anti-stereotype": second, "unrelated": third}
    return {candidate.id: by_label[candidate.label] for cat in cats() for candidate in cat.candidates}


def submit(board: Path, name: str, of: Scores | list[tuple[str, Any]]) -> Path:
    """Writes a prediction file."""
    rows = [{"id": item, "score": score} for item, score in (of.items() if isinstance(of, dict) else of)]
    file = board / "submissions" / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"intrasentence": rows, "intersentence": []}), encoding="utf-8")
    return file
