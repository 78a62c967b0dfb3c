"""The layout that the packaging, the type checkers and the readers count on."""

import re
from pathlib import Path

from conftest import ROOT

ROOMS = ("builders", "annotation", "validation", "scoring", "data")


def sources(*folders: str) -> list[Path]:
    """The Python files of these folders."""
    found = [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]
    return [file for file in found if not any(parent.is_symlink() for parent in file.parents)]


def test_the_rooms_are_links_inside_the_package() -> None:
    """`catsofa/` holds one link for each room and no other: builds, type checkers and readers see one package."""
    links = {path.name: path.readlink() for path in (ROOT / "catsofa").iterdir() if path.is_symlink()}
    assert links == {room: Path("..") / room for room in ROOMS}


def test_every_folder_of_code_is_a_package() -> None:
    """setuptools finds the packages by their `__init__.py`."""
    folders = {file.parent for file in sources(*ROOMS, "catsofa")}
    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]


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
