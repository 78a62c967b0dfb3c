"""Tests of every documentation example: all are parsed, cheap ones run, and slow ones run in `make check-slow`.

A page runs in the folder that `catsofa demo` fills. A block with a file's name as title is that file. The `catsofa`
lines of a `bash` block and a `python` block run in their order. A block titled "Output" is the output of the block
before it, where a line `…` matches any lines. An HTML comment before a block changes this: `<!-- slow -->`, `<!-- needs
released data -->`, `<!-- fails -->`, or `<!-- not run: why -->`.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from helpers import ROOT
from helpers.commands import commands, resolved
from setuptools import build_meta

from catsofa import cli
from catsofa.data import formats
from catsofa.data.files import jsonl
from catsofa.data.progress import SILENT
from catsofa.data.records import KINDS, Cat
from catsofa.demo import building, measuring, people
from catsofa.scoring.dataset import open_data
from catsofa.scoring.measures import registry
from catsofa.scoring.protocols import plugins
from catsofa.validation import lint

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads would only wait for each other in models so small

DOCS = ROOT / "docs"
CHEAP = ("", "fails")
PAGES = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n+)?(?P<indent> *)```(?P<kind>\w+)(?P<rest>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.M | re.S,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page, and the mark in the comment before it."""

    mark: str
    kind: str
    title: str
    text: str

    @property
    def lines(self) -> list[str]:
        """The block's `catsofa` commands, a continued line as one."""
        joined = re.sub(r"\\\n\s*", "", self.text)
        parts = [part.strip() for line in joined.splitlines() for part in line.split(" && ")]
        return [part for part in parts if part.startswith("catsofa ")] if self.kind == "bash" else []


def blocks(page: str) -> list[Block]:
    """Returns the blocks of a page in their order."""
    result = []
    for match in BLOCK.finditer((DOCS / page).read_text("utf-8")):
        title = re.search(r'title="([^"]*)"', match["rest"])
        text = re.sub(rf"^{match['indent']}", "", match["text"], flags=re.M)
        result.append(Block(match["mark"] or "", match["kind"], title[1] if title else "", text))
    return result


RUN = [page for page in PAGES if any(block.kind in ("bash", "python") for block in blocks(page))]
SLOW = [page for page in RUN if any(block.mark == "slow" for block in blocks(page))]


@pytest.mark.parametrize("page", RUN)
def test_every_command_of_the_documentation_is_one_that_the_program_takes(page: str) -> None:
    """Each line parses, whether it runs here or not; each mark before a block is a known one."""
    marks = {block.mark.partition(":")[0] for block in blocks(page)}
    assert marks <= {"", "slow", "fails", "needs released data", "not run"}
    for line in (line for block in blocks(page) for line in block.lines):
        name, arguments = resolved(line.removeprefix("catsofa "))
        commands()[name].make_context(name, arguments)


def test_the_table_of_questions_names_commands_and_leaves_no_topic_out() -> None:
    """Every command in the table exists, and the table has every topic of the program."""
    rows = re.findall(r"^\|[^|]*\|([^|]*)\|[^|]*\|$", (DOCS / "which.md").read_text("utf-8"), re.M)
    named = [re.match(r"[a-z-]+( [a-z-]+)?", code)[0] for row in rows for code in re.findall(r"`([^`]+)`", row)]
    assert {name for name in named if name.split(" --")[0] not in commands()} == set()
    assert {name.split()[0] for name in commands()} - {name.split()[0] for name in named} == set()


@pytest.fixture(scope="session")
def demo_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the output folder of `catsofa demo` with hardly trained models and without slow parts."""
    folder = tmp_path_factory.mktemp("documented") / "demo-out"
    items = folder / "items"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "EMBEDDER", "none")
        patch.setattr(building, "spacy_parser", lambda: building.dictionary_parser)
        patch.setattr(measuring, "STEPS", dict.fromkeys(measuring.KINDS, 2))
        building.build(folder / "inputs", items)
        for world in measuring.STRENGTHS:
            measuring.vectors(folder / "models", world, 0)
            for kind in measuring.KINDS:
                measuring.train(folder / "models", world, kind, 0, lambda label: SILENT)
    cats = [cat for task in KINDS for cat in jsonl.read(building.path_of(items, task), Cat)]
    jsonl.write(people.judgements(people.judged(cats)), folder / "annotations.jsonl")
    return folder


@pytest.mark.parametrize("page", RUN)
def test_every_example_runs_and_prints_what_it_says(
    page: str, demo_out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page runs from top to bottom in its own folder, except for slow examples and those that need more than this
    machine.
    """
    follow(page, CHEAP, demo_out, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("page", SLOW)
def test_the_slow_examples_run_too(page: str, demo_out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same page runs with its slow examples."""
    follow(page, (*CHEAP, "slow"), demo_out, tmp_path, monkeypatch)


def test_signatures_of_the_documentation_name_the_data_of_the_demo(demo_out: Path) -> None:
    """`data:NAME@HASH` of a file that the demo builds has the hash that the program computes; others are released."""
    named = {
        match.groups()
        for page in PAGES
        for match in re.finditer(r"data:([\w.]+)@([0-9a-f]{12})", (DOCS / page).read_text("utf-8"))
    }
    built = {name for name, _ in named if (demo_out / "items" / name).is_file()}
    assert {"intrasentence.jsonl", "pairs.jsonl", "probes.jsonl"} <= built
    assert {label for label in named if label[0] not in built} <= {RELEASED_DEV, SEAT, JUDGED, QUESTIONS}
    for name in built:
        assert {f"{name}@{shown}" for each, shown in named if each == name} == {
            open_data(demo_out / "items" / name).name
        }


RELEASED_DEV = ("dev.json", "1075fcfc4637")
JUDGED = ("annotations.jsonl", "5ea9f001e30b")
"""The judgements of the tutorial on crowdsourcing; its example prints the hash again."""
QUESTIONS = ("tidiness.bbq", "787f17c0850c")
"""The questions of the page on BBQ."""
SEAT = ("seat", "4f199242678e")
"""The folder of the demo's association tests: a data set of several files."""
RELEASED = [page for page in RUN if any(block.mark == "needs released data" for block in blocks(page))]


@pytest.mark.parametrize("page", RELEASED)
def test_the_numbers_of_released_files_are_those_that_stand_there(
    page: str, shared: Path, demo_out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The printed numbers about released data equal those on the page.

    The dev.json of the shared data has the released CATs but not the released bytes, so it is given by its path.
    """
    (tmp_path / "dev.json").symlink_to(shared / "data/stereoset/dev.json")
    (tmp_path / "released_predictions").symlink_to(shared / "data/stereoset/released_predictions")
    (tmp_path / "paraphrase").symlink_to(shared / "data/paraphrase")
    follow(page, ("needs released data",), demo_out, tmp_path, monkeypatch, {"stereoset:dev": "dev.json"})


def follow(
    page: str,
    marks: tuple[str, ...],
    demo_out: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    paths: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Runs a page's blocks with one of these marks, and replaces names of sets by their paths in `paths`."""
    shutil.copytree(demo_out, folder, dirs_exist_ok=True)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(formats, "MODULES", dict(formats.MODULES))
    monkeypatch.setattr(lint, "RULES", dict(lint.RULES))
    monkeypatch.setenv("NO_COLOR", "1")
    names: dict[str, Any] = {"__name__": page}
    printed: str | None = None
    for block in blocks(page):
        if "." in block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text, encoding="utf-8")
            if block.title == "pyproject.toml":
                install()
        elif block.title == "Output":
            assert printed is None or matches(block.text, printed), f"{page} says\n{block.text}\nand not\n{printed}"
        elif block.kind in ("bash", "python"):
            printed = run(_with_paths(block, paths), names, monkeypatch) if block.mark in marks else None


def install() -> None:
    """Registers the package of this folder as pip does, from its build metadata."""
    with contextlib.redirect_stdout(io.StringIO()):
        build_meta.prepare_metadata_for_build_editable(".")
    forget_plugins()


def forget_plugins() -> None:
    """Makes catsofa search again for measures of other packages."""
    plugins.cache_clear()
    registry.named.cache_clear()


@pytest.fixture(autouse=True)
def _without_plugins() -> Iterator[None]:
    """Forgets the measures of a page after its test."""
    yield
    forget_plugins()


def _with_paths(block: Block, paths: Mapping[str, str]) -> Block:
    """Returns a block with the names of sets replaced by paths."""
    for name, path in paths.items():
        block = replace(block, text=block.text.replace(name, path))
    return block


def run(block: Block, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Returns the output of a block's last command, or None without a catsofa command."""
    if block.kind == "python":
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(block.text, "example", "exec"), names)
        return out.getvalue()
    printed = None
    for line in block.lines:
        printed, code = catsofa(line, monkeypatch)
        assert bool(code) == (block.mark == "fails"), f"{line}\n{printed}"
    return printed


def catsofa(line: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """Returns a command's output on both streams and its exit code, in this process because torch takes seconds to
    import.
    """
    monkeypatch.setattr(sys, "argv", shlex.split(line.partition(" #")[0]))
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            cli.main()
        except SystemExit as leave:
            return out.getvalue(), int(leave.code or 0)
    return out.getvalue(), 0


def matches(said: str, printed: str) -> bool:
    """Returns True if a text equals the output without spaces at line ends; a line `…` matches any lines."""
    parts = [r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line.rstrip()) + r"\n" for line in said.splitlines()]
    lines = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    return re.fullmatch("".join(parts), lines) is not None


def site_hooks() -> Any:
    """Returns the module that makes pages from the program."""
    spec = spec_from_file_location("site_hooks", DOCS / "site_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    hooks = module_from_spec(spec)
    spec.loader.exec_module(hooks)
    return hooks


@pytest.mark.parametrize("name", ["formats.md", "protocols.md", "sources.md"])
def test_a_page_written_from_the_program_is_up_to_date(name: str) -> None:
    """`make reference` would not change the page; a person who reads the file in the repository sees its table."""
    page = (DOCS / "reference" / name).read_text("utf-8")
    assert page == site_hooks().PAGES[name]()
    assert name != "formats.md" or all(page.count(f"\n| `{each}` | ") >= 1 for each in formats.MODULES)


def test_the_command_line_page_holds_every_command_and_option() -> None:
    """The page is generated from the program, so it cannot lack a command or option."""
    page = site_hooks().command_line()
    for name, command in commands().items():
        section = page.split(f"## catsofa {name}\n")[1].split("\n## ")[0]
        assert all(
            f"`{option}`" in section
            for one in command.params
            if one.param_type_name == "option" and not one.hidden
            for option in one.opts
        )
        assert all(line.removeprefix("$ ") in section for line in re.findall(r"\$ catsofa [^\n]*", command.epilog))
