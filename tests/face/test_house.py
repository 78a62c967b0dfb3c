"""The layout that the packaging, the type checkers and the readers count on."""

import re
import tomllib
from pathlib import Path

from conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ROOMS = ("builders", "annotation", "validation", "scoring", "data")


def sources(*folders: str) -> list[Path]:
    """The Python files of these folders."""
    return [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]


def test_the_listed_packages_are_the_folders_that_hold_an_init() -> None:
    """setuptools takes the packages from a list; a new folder must stand in it."""
    found = {f"catsofa.{init.parent.relative_to(ROOT)}" for init in ROOT.glob("*/__init__.py")} - {
        "catsofa.catsofa",
        "catsofa.benchmarks",
        "catsofa.tests",
    }
    found |= {f"catsofa.{init.parent.relative_to(ROOT / 'catsofa')}" for init in ROOT.glob("catsofa/*/__init__.py")}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == found | {"catsofa"}


def test_every_link_for_the_type_checkers_resolves_and_none_is_missing() -> None:
    """`.typing/catsofa` shows the type checkers what is installed: the face's modules and the five rooms."""
    links = {link.name: link for link in (ROOT / ".typing" / "catsofa").iterdir()}
    face = {p.name for p in (ROOT / "catsofa").iterdir() if p.suffix == ".py" or p.name in ("cli", "py.typed")}
    assert links.keys() == face | set(ROOMS)
    assert all(link.is_symlink() and link.exists() for link in links.values())


def test_rooms_import_the_ground_and_never_one_another() -> None:
    """builders, annotation, validation and scoring may import catsofa.data only; data imports itself alone."""
    for file in sources(*ROOMS):
        room = file.relative_to(ROOT).parts[0]
        for imported in re.findall(r"^\s*(?:from|import) catsofa\.?(\w*)", file.read_text("utf-8"), re.M):
            assert imported in {room, "data"}, f"{file.name} imports catsofa.{imported}"


def test_only_the_command_line_prints_or_exits() -> None:
    """A library call never prints and never ends the process."""
    library = [file for file in sources("catsofa") if file.parent.name != "cli" and file.name != "__main__.py"]
    for file in sources(*ROOMS) + library:
        text = file.read_text("utf-8")
        assert not re.search(r"(?<![\w.])print\(|sys\.exit|os\._exit|typer\.echo", text), file


def test_functions_fit_a_screen() -> None:
    """No function is over 45 lines without its docstring; no file over 350."""
    import ast

    for file in sources(*ROOMS, "catsofa"):
        text = file.read_text("utf-8")
        assert text.count("\n") <= 350, f"{file} has {text.count(chr(10))} lines"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                doc = node.body[0].end_lineno if ast.get_docstring(node) else node.body[0].lineno - 1
                assert doc is not None
                assert node.end_lineno is not None
                assert node.end_lineno - doc <= 45, f"{file}:{node.lineno} {node.name}"
