"""Runs of several models on the same CATs, for pages of items."""

from collections.abc import Callable
from pathlib import Path

from catsofa.data.files import jsonl
from catsofa.data.records import Cat
from helpers.gate_runs import cats, even, number, planted

PREFERS: tuple[Callable[[Cat], str], ...] = (
    even,
    lambda cat: "+-u="[number(cat)[1] % 4],
    lambda cat: "-",
)
"""The preferences of the models of a page."""


def runs(root: Path, prefers: tuple[Callable[[Cat], str], ...] = PREFERS, items: int = 4) -> list[Path]:
    """Writes a run of each model on the same CATs about invented groups."""
    root.mkdir(exist_ok=True)
    jsonl.write(cats(terms=6, items=items), root / "cats.jsonl")
    return [
        planted(root / f"run{at}", root / "cats.jsonl", of, model=f"model {at}", model_digest=f"{at:012}")
        for at, of in enumerate(prefers)
    ]
