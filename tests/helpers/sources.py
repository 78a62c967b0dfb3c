"""The source files of the project."""

from pathlib import Path

from helpers import ROOT

ROOMS = ("builders", "annotation", "validation", "scoring", "data")


def sources(*folders: str) -> list[Path]:
    """Returns the Python files of these folders."""
    files = [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]
    return [file for file in files if not any(parent.is_symlink() for parent in file.parents)]


def module_of(file: Path) -> str:
    """Returns the dotted name of a file of the package."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    dotted = parts if parts[0] == "catsofa" else ("catsofa", *parts)
    return ".".join(dotted[:-1] if dotted[-1] == "__init__" else dotted)
