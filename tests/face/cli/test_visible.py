"""Tests that no control character of a text is printed to a terminal unescaped."""

import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.records import PAIRS, PROBES, cats

from catsofa import cli
from catsofa.cli import terminal
from catsofa.data import formats
from catsofa.data.files import jsonl
from catsofa.data.records import Annotation, Cat
from catsofa.data.visible import visible

EVIL = "a\x1b[31mb\x1b]0;owned\x07c\x1b[2Jd\re\x7ff\x9b31mg\u202eh\u2066i\x00j"
UNSAFE = set("\x00\x07\x1b\r\x7f\x9b\u202e\u2066")


class Screen(io.StringIO):
    """A terminal that records its output."""

    def isatty(self) -> bool:
        """Returns True, as for an interactive terminal."""
        return True


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets a terminal without colours, so that every control character on it comes from data."""
    for name, value in {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)


def shown(action: Callable[[], object]) -> str:
    """Returns the output sent to a terminal."""
    screen = Screen()
    with redirect_stdout(screen), redirect_stderr(screen), suppress(SystemExit):
        action()
    assert screen.getvalue()
    return screen.getvalue()


@pytest.mark.parametrize(
    "show",
    [
        terminal.say,
        terminal.note,
        terminal.fail,
        terminal.print_json,
        lambda text: terminal.print_json({text: [text]}),
        lambda text: terminal.table(text, [text, "b"], [[text, 1]]),
        lambda text: list(terminal.progress([1, 2], text)),
    ],
)
def test_nothing_printed_steers_a_terminal(show: Callable[[str], object]) -> None:
    """Lines, errors, tables, JSON and labels show control characters as escapes."""
    assert not UNSAFE & set(shown(lambda: show(EVIL)))


def test_what_is_written_out_can_be_read() -> None:
    """Each control character is an escape; letters of all scripts, tabs and line ends stay."""
    assert visible("\x1b[1m \x9b \u202e \udcff") == r"\x1b[1m \x9b \u202e \udcff"
    assert visible("zörb\tשלום\n日本 🙂") == "zörb\tשלום\n日本 🙂"


def test_json_keeps_every_character() -> None:
    """Terminal control characters become JSON escapes, which a program reads back unchanged."""
    assert json.loads(shown(lambda: terminal.print_json({"text": EVIL}))) == {"text": EVIL}


def hostile(cat: Cat) -> Cat:
    """Returns a CAT with the hostile text in every field."""
    sentences = tuple(replace(each, text=f"The {cat.target} {EVIL}s are {each.fill}.") for each in cat.candidates)
    context = f"The {cat.target} {EVIL}s are BLANK."
    return replace(cat, id="", context=context, target=f"{cat.target} {EVIL}", bias_type=EVIL, candidates=sentences)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Writes files that contain the hostile text in every place."""
    ours = formats.named("jsonl")
    items = [hostile(cat) for cat in cats() if cat.kind == "intrasentence"]
    ours.write(items, tmp_path / "cats.jsonl")
    ours.write(
        [replace(one, id="", bias_type=EVIL, more=f"{EVIL} {one.more}") for one in PAIRS], tmp_path / "pairs.jsonl"
    )
    ours.write(
        [replace(one, id="", category=EVIL, identity=f"{one.identity} {EVIL}") for one in PROBES],
        tmp_path / "probes.jsonl",
    )
    jsonl.write(
        [
            Annotation(item=each.id, annotator=f"{EVIL} {n}", label=each.label, extra={"cat": cat.id, "from": EVIL})
            for cat in items
            for each in cat.candidates
            for n in range(3)
        ],
        tmp_path / "judged.jsonl",
    )
    scores = [{"id": each.id, "score": len(each.text)} for cat in items for each in cat.candidates]
    (tmp_path / "scores.json").write_text(json.dumps({"intrasentence": scores, "intersentence": []}))
    (tmp_path / "broken.jsonl").write_text(json.dumps({EVIL: EVIL}, ensure_ascii=False) + "\n")
    (tmp_path / "broken.csv").write_text(f"{EVIL.replace(chr(0), '')},b\n1,2\n")
    (tmp_path / "recipe.toml").write_text(f"[[step]]\nrun = {json.dumps('convert ' + EVIL)}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("json_too", ["", " --json"])
@pytest.mark.parametrize(
    "command",
    [
        "validate lint cats.jsonl",
        "validate lint pairs.jsonl",
        "validate stats cats.jsonl",
        "validate agreement --on judged.jsonl",
        "validate agreement --on judged.jsonl --by from",
        "validate annotators --on judged.jsonl",
        "validate leaks cats.jsonl cats.jsonl",
        "score --predictions scores.json --on cats.jsonl --terms",
        "robustness --original scores.json --paraphrase scores.json --on cats.jsonl",
        "power --on cats.jsonl",
        "convert broken.jsonl x.csv",
        "convert broken.csv x.jsonl",
        "convert probes.jsonl x.csv",
        "convert nowhere\x1b[31m\u202e.jsonl x.csv",
        "score --predictions scores.json --on nowhere\x1b[31m\u202e",
        "run recipe.toml",
    ],
)
def test_no_command_prints_what_a_terminal_would_obey(
    command: str, json_too: str, work: Path, monkeypatch: pytest.MonkeyPatch, few_simulations: None
) -> None:
    """Hostile data, file names and recipes are escaped; a wrong option gives a sentence too."""
    if json_too and command.startswith("run"):
        return
    monkeypatch.setattr("sys.argv", ["catsofa", *f"{command}{json_too}".split(" ")])
    output = shown(cli.main)
    assert not UNSAFE & set(output), output.encode("unicode_escape")
    assert "Traceback" not in output
