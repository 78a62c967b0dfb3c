"""Tests of the code layout that packaging, type checkers and readers rely on."""

import ast
import re
from collections import Counter
from collections.abc import Collection
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.sources import ROOMS, module_of, sources

FLOORS = dict.fromkeys([*ROOMS, "catsofa"], 8)
"""Maximum number of floors of each room."""


def test_the_rooms_are_links_inside_the_package() -> None:
    """`catsofa/` has exactly one link for each room, so builds, type checkers and readers see one package."""
    links = {path.name: path.readlink() for path in (ROOT / "catsofa").iterdir() if path.is_symlink()}
    assert links == {room: Path("..") / room for room in ROOMS}


def test_every_folder_of_code_is_a_package() -> None:
    """setuptools finds the packages by their `__init__.py`."""
    folders = {file.parent for file in sources(*ROOMS, "catsofa")}
    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]


def test_rooms_import_the_ground_and_never_one_another() -> None:
    """builders, annotation, validation and scoring may import only catsofa.data; data imports only itself."""
    for file in sources(*ROOMS):
        room = file.relative_to(ROOT).parts[0]
        for imported in re.findall(r"^\s*(?:from|import) catsofa\.?(\w*)", file.read_text("utf-8"), re.M):
            assert imported in {room, "data"}, f"{file.name} imports catsofa.{imported}"


def test_only_the_command_line_prints_or_exits() -> None:
    """A library call never prints and never ends the process; forked children of a report end themselves."""
    library = [file for file in sources("catsofa") if "cli" not in file.parts and file.name != "__main__.py"]
    for file in sources(*ROOMS) + library:
        text = file.read_text("utf-8")
        if file.name == "processes.py":
            text = text.replace("os._exit", "")
        assert not re.search(r"(?<![\w.])print\(|sys\.exit|os\._exit|typer\.echo", text), file


def test_functions_fit_a_screen() -> None:
    """No function is over 60 lines without its docstring; no file over 350."""
    for file in sources(*ROOMS, "catsofa"):
        text = file.read_text("utf-8")
        assert text.count("\n") <= 350, f"{file} has {text.count(chr(10))} lines"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                doc = node.body[0].end_lineno if ast.get_docstring(node) else node.body[0].lineno - 1
                assert doc is not None
                assert node.end_lineno is not None
                assert node.end_lineno - doc <= 60, f"{file}:{node.lineno} {node.name}"


def test_folders_are_small() -> None:
    """No folder of code has more than 20 modules."""
    folders = Counter(file.parent for file in sources(*ROOMS, "catsofa"))
    assert not {str(folder.relative_to(ROOT)): count for folder, count in folders.items() if count > 20}


def test_a_prefix_that_three_files_share_is_a_folder() -> None:
    """Three files `report_…` of one folder belong in a folder `report/`."""
    shared = Counter((file.parent, file.stem.split("_")[0]) for file in sources(*ROOMS, "catsofa") if "_" in file.stem)
    crowded = [(folder, prefix) for (folder, prefix), count in shared.items() if prefix and count >= 3]
    assert not [f"{folder.relative_to(ROOT)}/{prefix}_" for folder, prefix in crowded]


def test_imports_have_no_circles() -> None:
    """No module imports itself while it is being imported."""
    modules = {module_of(file): file for file in sources(*ROOMS, "catsofa")}
    TopologicalSorter({name: imports_of(file, modules) - {name} for name, file in modules.items()}).prepare()


@pytest.mark.parametrize("room", FLOORS)
def test_no_chain_of_imports_in_a_room_is_long(room: str) -> None:
    """A module is one floor above the highest module of its room that it imports, at import or later."""
    modules = {module_of(file): file for file in sources(room)}
    needs = {name: imports_of(file, modules, late=True) & modules.keys() - {name} for name, file in modules.items()}
    floors: dict[str, int] = {}
    for name in TopologicalSorter(needs).static_order():
        floors[name] = 1 + max((floors[other] for other in needs[name]), default=0)
    assert not {name: floor for name, floor in floors.items() if floor > FLOORS[room]}


def imports_of(file: Path, modules: Collection[str], *, late: bool = False) -> set[str]:
    """Returns the modules that a file imports on import; `late` adds those that its functions import."""
    waiting: list[ast.AST] = [*ast.parse(file.read_text("utf-8")).body]
    imported = set[str]()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("catsofa"):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            imported |= {name if name in modules else str(node.module) for name in names}
        elif late and not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            waiting += ast.iter_child_nodes(node)
        elif isinstance(node, ast.Try):
            waiting += node.body
    return imported
