import io
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from fcntl import ioctl
from pathlib import Path

import pytest
import typer.rich_utils
from helpers.commands import commands, run_catsofa
from helpers.records import bakers, said
from typer.testing import CliRunner

from catsofa import cli
from catsofa.annotation import study
from catsofa.cli import INTERRUPTED, app, main
from catsofa.cli.terminal import lines_in
from catsofa.data import formats
from catsofa.data.files import jsonl
from catsofa.data.sources import released
from catsofa.scoring.compare import baselines

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOURS = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m")


def on_a_terminal(*words: str, cwd: Path, columns: int = 80, **environment: str) -> tuple[str, int]:
    """What a person sees who types this on a terminal of so many columns, and the exit code."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    plain = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "CI")}
    process = subprocess.Popen(
        [sys.executable, *words], cwd=cwd, env=plain | {"TERM": "xterm"} | environment,
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    try:
        while some := os.read(ours, 65536):
            seen += some
    except OSError:  # the terminal is closed
        pass
    os.close(ours)
    return seen.decode(), process.wait()


@pytest.mark.parametrize("columns", [80, pytest.param(100, marks=pytest.mark.slow)])
def test_the_help_of_every_command_fits_and_has_no_colour_where_none_is_wanted(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No line is wider than the terminal; NO_COLOR is honoured even where colours are forced."""
    monkeypatch.setattr(typer.rich_utils, "FORCE_TERMINAL", True)
    groups = {name.rpartition(" ")[0] for name in commands()}
    for name in [*groups, *commands()]:
        environment = {"COLUMNS": str(columns), "TERMINAL_WIDTH": str(columns), "NO_COLOR": "1"}
        done = CliRunner().invoke(app, [*name.split(), "--help"], env=environment)
        assert done.exit_code == 0, name
        assert not COLOURS.search(done.output), name
        wide = [line for line in ESCAPES.sub("", done.output).splitlines() if len(line.rstrip()) > columns]
        assert not wide, name


def test_a_table_fits_the_terminal_and_no_colour_is_honoured(tmp_path: Path) -> None:
    """80 columns on a terminal of 80, also of a table with long cells; NO_COLOR leaves no colour."""
    program = str(Path(sys.executable).with_name("catsofa"))
    seen, code = on_a_terminal(program, "protocols", "list", cwd=tmp_path, NO_COLOR="1")
    assert code == 0
    assert not COLOURS.search(seen)
    assert max(len(line.rstrip()) for line in ESCAPES.sub("", seen).splitlines()) <= 80


def test_names_of_released_sets_are_whole_on_a_narrow_terminal() -> None:
    """On 60 columns the licence gives way; no name and no word is cut."""
    lines = run_catsofa("data", "list", COLUMNS="60").stdout.splitlines()
    assert max(map(len, lines)) <= 60
    assert {*released.table()} <= {line.split(" ")[0] for line in lines}
    assert not any("licence " in line for line in lines[:2])


PROGRESS = """
import sys, time
from catsofa.cli.spinner import patience
from catsofa.cli.terminal import progress, say
with patience(quiet="--quiet" in sys.argv):
    for _ in progress(range(40), "a long name of what is being done", quiet="--quiet" in sys.argv):
        time.sleep(0.03)
    time.sleep(2.6)
    say("done", quiet="--quiet" in sys.argv)
"""


def test_progress_shows_rate_and_time_left_and_silence_a_sign_of_life(tmp_path: Path) -> None:
    """A bar with count of total, rate and times; after two silent seconds a line; nothing stays or reaches a pipe."""
    (tmp_path / "slow.py").write_text(PROGRESS)
    seen, code = on_a_terminal("slow.py", cwd=tmp_path)
    lines = [line.strip() for line in re.split(r"[\r\n]+", ESCAPES.sub("", seen)) if line.strip()]
    assert code == 0
    assert any(re.search(r"\d+/40 +[\d.]+/s +0:00:0\d +0:00:0\d", line) for line in lines)
    assert any(line.endswith("working 0:00:00") or "working 0:00:0" in line for line in lines)
    assert lines[-1] == "done"
    assert all(len(line) <= 80 for line in lines)
    quiet, _ = on_a_terminal("slow.py", "--quiet", cwd=tmp_path)
    assert quiet == ""
    piped = subprocess.run([sys.executable, "slow.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (piped.stdout, piped.stderr) == ("done\n", "")


class Screen(io.StringIO):
    """A terminal that remembers."""

    def isatty(self) -> bool:
        """Somebody is watching."""
        return True


WATCHED = {
    "validate lint cats.jsonl": "rules",
    "validate split cats.jsonl --near 1 --out parts": "comparing",
    "validate leaks cats.jsonl more.jsonl": "comparing",
    "validate agreement --on votes.jsonl --by part": "agreement within",
    "validate votes --on votes.jsonl": "reading votes.jsonl",
    "validate stats cats.jsonl": "reading cats.jsonl",
    "convert cats.jsonl cats.json": "records",
    "power --on cats.jsonl": "tests",
    "baseline ideal --on cats.jsonl --out ideal.json": "scored",
    "ensemble --scores a.json --scores b.json --on cats.jsonl --out both.json": "weights tried",
    "filter near-duplicates cats.jsonl --out kept.jsonl": "reading cats.jsonl",
    "export-harness cats.jsonl --out task --name cats": "reading cats.jsonl",
    "annotate create new --kind validate-cats --items cats.jsonl": "items",
    "annotate export-html study --out pages": "pages",
    "leaderboard board --on cats.json": "submissions",
    "report cats.jsonl --out cats.html": "sections",
}


def test_what_goes_through_many_items_shows_how_many_how_fast_and_how_long_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few_simulations: None
) -> None:
    """Every command that handles items one after another draws a bar of them on a terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    given = [replace(cat, id=str(n), target=f"baker {n % 8}") for n, cat in enumerate(bakers(16))]
    jsonl.write(given, tmp_path / "cats.jsonl")
    jsonl.write(bakers(4, "florist"), tmp_path / "more.jsonl")
    formats.convert("cats.jsonl", "cats.json")
    jsonl.write([replace(v, extra={"part": "one"}) for n in "ab" for v in said(n, "x", "x", "y")], Path("votes.jsonl"))
    (tmp_path / "board" / "submissions").mkdir(parents=True)
    for name, seed in (("a.json", 1), ("b.json", 2), ("board/submissions/c.json", 3)):
        formats.named("predictions").write(baselines.random(given, seed=seed), tmp_path / name)
    study.create("study", kind="validate-cats", items=given)
    for line, label in WATCHED.items():
        monkeypatch.setattr(sys, "argv", ["catsofa", *line.split()])
        monkeypatch.setattr(sys, "stdout", io.StringIO())
        monkeypatch.setattr(sys, "stderr", screen := Screen())
        with pytest.raises(SystemExit) as left:
            main()
        drawn = ESCAPES.sub("", screen.getvalue())
        assert left.value.code == 0, line + drawn
        assert re.search(rf"{label} +━+ +\d+/[\d?]+ .*(\d:\d\d:\d\d|-:--:--)", drawn), line + drawn


@pytest.mark.parametrize(
    ("line", "kept", "said"),
    [
        ("score gpt2 --on dev.json --out runs/gpt2", True, "go on"),
        ("score gpt2 --on dev.json --out runs/gpt2", False, "nothing was finished yet"),
        ("score gpt2 --on dev.json", False, "no score is kept without --out"),
        ("build paraphrases --on dev.json --out new", False, "go on"),
        ("build probes --out new", False, "go on"),
        ("multiverse --out new", False, "go on"),
        ("validate lint dev.json", False, "nothing half-written stays"),
        ("runs", False, "nothing half-written stays"),
    ],
)
def test_ctrl_c_says_what_is_kept_and_how_to_go_on(
    line: str, kept: bool, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence and exit code 130; a command that keeps nothing does not say that it does."""

    def stopped() -> None:
        sys.exit(INTERRUPTED)

    monkeypatch.setattr(cli, "app", stopped)
    monkeypatch.setattr(cli, "KEPT", [kept])
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    monkeypatch.setattr(sys, "argv", ["catsofa", *line.split()])
    with pytest.raises(SystemExit) as left:
        main()
    printed = capsys.readouterr().err
    assert (left.value.code, said in printed, printed.count("\n")) == (INTERRUPTED, True, 1)


def test_a_file_that_is_missing_is_one_sentence_for_every_command_that_reads_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, one line on stderr that names it; no traceback."""
    asked = {
        "convert": "convert nowhere.jsonl out.csv",
        "build cats": "build cats --associations nowhere.jsonl --out out.jsonl",
        "build minimal-pairs": "build minimal-pairs --associations nowhere.jsonl --out out.jsonl",
        "build swaps": "build swaps --sentences nowhere.jsonl --swap gender --out out.jsonl",
        "build identities": "build identities --on nowhere.jsonl --out out.jsonl",
        "build stereotypes": "build stereotypes --on nowhere.jsonl --out out.jsonl --parser none",
        "build probes": "build probes --identities nowhere.jsonl --stereotypes nowhere.jsonl --out out.jsonl",
        "build seat": "build seat --words nowhere.jsonl --out out",
        "build pairs": "build pairs --on nowhere.jsonl --out out",
        "build paraphrases": "build paraphrases --on nowhere.jsonl --replies nowhere.jsonl --out out",
        "filter similarity": "filter similarity nowhere.jsonl --original nowhere.jsonl --out out",
        "filter near-duplicates": "filter near-duplicates nowhere.jsonl --out out.jsonl",
        "filter perplexity": "filter perplexity nowhere.jsonl --scores nowhere.jsonl --out out.jsonl",
        "validate votes": "validate votes --on nowhere.jsonl",
        "validate lint": "validate lint nowhere.jsonl",
        "annotate push": "annotate push nowhere.jsonl",
        "score": "score --predictions nowhere.jsonl --on nowhere.jsonl",
        "report": "report nowhere.jsonl --out out.html",
        "power": "power --on nowhere.jsonl",
    }
    assert asked.keys() <= commands().keys()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    for line in asked.values():
        monkeypatch.setattr(sys, "argv", ["catsofa", *line.split()])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr().err
        assert left.value.code == 2, line + said
        assert said.count("\n") == 1, line + said
        assert "nowhere.jsonl" in said, line
    assert not list(tmp_path.iterdir())


def test_a_total_is_the_number_of_lines(tmp_path: Path) -> None:
    """Of what is no file nothing is known."""
    (tmp_path / "three").write_text("a\nb\nc\n")
    assert lines_in(tmp_path / "three")() == 3
    assert lines_in(tmp_path)() == lines_in("stereoset:dev")() == 0


def test_ctrl_c_after_the_last_line_of_a_command_shows_no_traceback() -> None:
    """Between the command's own handlers and the silent ones of the shutdown, Ctrl-C ends with 130 too."""
    late = """
import catsofa.__main__ as entry
usual, calls = entry._end_in_silence, []
def interrupted():
    calls.append(1)
    if len(calls) == 1:
        raise KeyboardInterrupt
    usual()
entry._end_in_silence = interrupted
entry.main()
"""
    done = subprocess.run([sys.executable, "-c", late, "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stdout.startswith("catsofa ")
    assert done.stderr == ""
