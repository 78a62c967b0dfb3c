"""Tests of the stable API: `__all__` in code, the API page, and the documented fields of records."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.sources import ROOMS, module_of, sources

import catsofa
from catsofa.data import questions, records

LISTED = re.findall(r"^::: (\S+)$", (ROOT / "docs/reference/api.md").read_text("utf-8"), re.M)


def public_names(file: Path) -> list[str]:
    """Returns the names in a module's `__all__`."""
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == ["__all__"]:
            return list(ast.literal_eval(node.value))
    return []


def test_the_page_of_the_api_lists_exactly_the_public_names() -> None:
    """The page has exactly the names in `__all__` of the rooms and of the modules that join rooms."""
    own = ("choosing.py", "comparison.py", "examination.py", "planning/__init__.py", "planning/outcome.py",
           "report/item_rows.py", "specifications/__init__.py")  # fmt: skip
    files = [*sources(*ROOMS), *(ROOT / "catsofa" / name for name in own)]
    public = {f"{module_of(file)}.{name}" for file in files for name in public_names(file)}
    assert len(LISTED) == len(set(LISTED))
    assert set(LISTED) == public


def test_dir_shows_the_public_names_of_the_package() -> None:
    """`dir(catsofa)` is `catsofa.__all__`; each name except the version is the object that the page lists."""
    assert dir(catsofa) == sorted(catsofa.__all__)
    objects = {
        name.rpartition(".")[2]: name
        for name in LISTED
        if name.startswith(
            (
                "catsofa.data",
                "catsofa.scoring.ev",
                "catsofa.scoring.contamination.",
                "catsofa.choosing",
                "catsofa.comparison",
                "catsofa.ex",
                "catsofa.report",
                "catsofa.specifications",
                "catsofa.planning.pl",
            )
        )
    }
    for name in set(catsofa.__all__) - {"__version__"}:
        module, _, attribute = objects[name].rpartition(".")
        assert getattr(catsofa, name) is getattr(import_module(module), attribute)


@pytest.mark.parametrize("name", LISTED)
def test_every_public_name_is_documented(name: str) -> None:
    """A function or class has a docstring; a constant has one below it."""
    module, _, attribute = name.rpartition(".")
    object_ = getattr(import_module(module), attribute)
    if callable(object_):
        assert (object_.__doc__ or "").strip()
    else:
        source = Path(str(import_module(module).__file__)).read_text("utf-8")
        assert re.search(rf'^{attribute}\b.*?= (?:.*|\{{\n(?:    .*\n)*\}})\n"""', source, re.M)


def test_every_field_of_a_record_is_documented() -> None:
    """A field has a docstring line below it, or is one of the fields that the module's docstring explains."""
    shared = set(re.findall(r"`(\w+)`", (records.__doc__ or "").partition("Fields of most records")[2]))
    assert shared == {"id", "language", "source", "extra"}
    classes = [
        node
        for module in (records, questions)
        for node in ast.parse(Path(str(module.__file__)).read_text("utf-8")).body
        if isinstance(node, ast.ClassDef)
    ]
    assert len(classes) == 15
    for node in classes:
        for field, below in zip(node.body, [*node.body[1:], None], strict=True):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and field.target.id not in shared
            ):
                assert isinstance(below, ast.Expr), f"{node.name}.{field.target.id} has no docstring"
