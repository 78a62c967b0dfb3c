"""catsofa: build stereotype benchmarks, have people validate them, measure language models on them."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from catsofa.data.formats import convert as convert
    from catsofa.data.records import (
        Annotation as Annotation,
    )
    from catsofa.data.records import (
        AssociationTest as AssociationTest,
    )
    from catsofa.data.records import (
        Candidate as Candidate,
    )
    from catsofa.data.records import (
        Cat as Cat,
    )
    from catsofa.data.records import (
        Identity as Identity,
    )
    from catsofa.data.records import (
        Pair as Pair,
    )
    from catsofa.data.records import (
        Probe as Probe,
    )
    from catsofa.data.records import (
        Refused as Refused,
    )
    from catsofa.data.records import (
        Score as Score,
    )
    from catsofa.data.records import (
        Statement as Statement,
    )
    from catsofa.data.records import (
        Stereotype as Stereotype,
    )
    from catsofa.data.records import (
        Term as Term,
    )
    from catsofa.data.records import (
        WordSet as WordSet,
    )
    from catsofa.data.sources import read as read

__version__ = version("catsofa")

_HOMES = {
    "read": "data.sources",
    "convert": "data.formats",
    **dict.fromkeys(
        [
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
        ],
        "data.records",
    ),
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    """Public names arrive when they are asked for (PEP 562), so that `import catsofa` costs nothing."""
    if name in _HOMES:
        return getattr(import_module(f"catsofa.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'catsofa' has no attribute {name!r}")
