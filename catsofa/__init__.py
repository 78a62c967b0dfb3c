"""catsofa: build stereotype benchmarks, have people validate them, measure language models on them."""

try:
    from catsofa.data import extras
except ModuleNotFoundError as error:
    if error.name != "catsofa.data":
        raise
    raise ImportError(
        "catsofa/data is not a folder but the text of a symbolic link, since git wrote this checkout without links; "
        "run `git config core.symlinks true` and `git checkout -- catsofa`, or install a released wheel"
    ) from None

TYPE_CHECKING = False
"""True for type checkers only; importing `typing` would take longer than all of this module."""

if TYPE_CHECKING:
    from catsofa.choosing import choose
    from catsofa.comparison import compare, robustness
    from catsofa.data.formats import convert
    from catsofa.data.records import (
        Annotation,
        Answer,
        Association,
        AssociationTest,
        Candidate,
        Cat,
        Identity,
        Pair,
        Probe,
        Question,
        Refused,
        Score,
        Statement,
        Stereotype,
        Term,
        Votes,
        WordSet,
    )
    from catsofa.data.sources import read
    from catsofa.data.tables import table
    from catsofa.examination import examine
    from catsofa.planning import plan
    from catsofa.report.item_rows import items
    from catsofa.scoring.contamination import contamination
    from catsofa.scoring.evaluate import evaluate
    from catsofa.specifications import multiverse

    __version__: str

__all__ = [
    "Annotation", "Answer", "Association", "AssociationTest", "Candidate", "Cat", "Identity", "Pair", "Probe",
    "Question", "Refused", "Score", "Statement", "Stereotype", "Term", "Votes", "WordSet", "__version__",
    "choose", "compare", "contamination", "convert", "evaluate", "examine", "items", "multiverse", "plan", "read",
    "robustness", "table",
]  # fmt: skip

_HOMES = {
    "choose": "choosing",
    "compare": "comparison",
    "contamination": "scoring.contamination",
    "convert": "data.formats",
    "evaluate": "scoring.evaluate",
    "examine": "examination",
    "items": "report.item_rows",
    "multiverse": "specifications",
    "plan": "planning",
    "read": "data.sources",
    "robustness": "comparison",
    "table": "data.tables",
}
"""Module of each public name that is not a record."""


extras.install()


def __dir__() -> list[str]:
    """Returns the public names, including those that are not imported yet."""
    return __all__


def __getattr__(name: str) -> object:
    """Imports a public name on first use (PEP 562), so that Ctrl-C can interrupt an import only after `main` began."""
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        return version("catsofa")
    if name in __all__:
        return getattr(import_module(f"catsofa.{_HOMES.get(name, 'data.records')}"), name)
    raise AttributeError(f"module 'catsofa' has no attribute {name!r}")
