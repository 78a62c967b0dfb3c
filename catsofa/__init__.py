"""catsofa: build stereotype benchmarks, have people validate them, measure language models on them."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from catsofa.data.formats import convert
    from catsofa.data.notebook import table
    from catsofa.data.records import (
        Annotation,
        AssociationTest,
        Candidate,
        Cat,
        Identity,
        Pair,
        Probe,
        Refused,
        Score,
        Statement,
        Stereotype,
        Term,
        WordSet,
    )
    from catsofa.data.sources import read
    from catsofa.scoring.evaluate import evaluate

__version__ = version("catsofa")

__all__ = [
    "Annotation",
    "AssociationTest",
    "Candidate",
    "Cat",
    "Identity",
    "Pair",
    "Probe",
    "Refused",
    "Score",
    "Statement",
    "Stereotype",
    "Term",
    "WordSet",
    "__version__",
    "convert",
    "evaluate",
    "read",
    "table",
]

_HOMES = {
    "convert": "data.formats",
    "evaluate": "scoring.evaluate",
    "read": "data.sources",
    "table": "data.notebook",
}
"""Where a public name lives that is no record."""


def __getattr__(name: str) -> Any:
    """Public names arrive when they are asked for (PEP 562), so that `import catsofa` costs nothing."""
    if name in __all__:
        return getattr(import_module(f"catsofa.{_HOMES.get(name, 'data.records')}"), name)
    raise AttributeError(f"module 'catsofa' has no attribute {name!r}")
