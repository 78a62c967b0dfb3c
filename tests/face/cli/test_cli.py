import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.commands import commands, resolved, run_catsofa
from typer.testing import CliRunner

from catsofa import cli
from catsofa.cli import app, terminal
from catsofa.cli.score.tables import _cell


@pytest.mark.parametrize("words", ["report runs --items --out x", "score m --on --out=x", "score m --on -h"])
def test_an_option_is_no_value_of_another_option(words: str, catsofa: Callable[..., tuple[str, str]]) -> None:
    """A forgotten value is named; the next option is not taken for it."""
    *_, option, following = words.removesuffix(" x").split()
    name = following.partition("=")[0]
    assert f"{option} has no value: found the option {name} after it" in catsofa(*words.split())[1]


@pytest.mark.parametrize("name", commands())
def test_every_command_has_examples_in_its_help_that_parse(name: str) -> None:
    """The help ends with example commands that the command line accepts."""
    command = commands()[name]
    lines = [line.strip() for line in (command.epilog or "").splitlines() if line.strip().startswith("$ catsofa")]
    assert lines, f"catsofa {name} has no examples"
    assert command.help
    examples = [resolved(line.removeprefix("$ catsofa ")) for line in lines]
    assert name in [words for words, _ in examples]
    for words, arguments in examples:
        commands()[words].make_context(words, arguments)


def test_help_and_version_answer_at_once() -> None:
    """`catsofa --help` imports no heavy library, so it answers in under half a second on an idle machine."""
    heavy = "torch transformers spacy datasets sentence_transformers pandas matplotlib inflect label_studio_sdk pyarrow"
    code = f"import sys, catsofa.cli; print(sorted(set({heavy.split()}) & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
    assert run_catsofa("--version").stdout.startswith("catsofa 0.")


def test_a_wrong_path_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    """The error has no traceback, and says what was found and expected."""
    done = run_catsofa("convert", "nowhere.json", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "nowhere.json: found no such file" in done.stderr
    assert list(tmp_path.iterdir()) == []


ENDING = """
import atexit, sys, types
from catsofa.__main__ import command
class Last:
    def __del__(self, out=sys.stdout):
        print("by Python", file=out)
last = Last()
if sys.argv[1] == "early":
    atexit.register(print, "handled")
def run():
    if sys.argv[1] == "late":
        atexit.register(print, "handled")
    if sys.argv[1] == "plugin":
        from catsofa.data import plugins
        plugins.LOADED.add("package:PART")
    print("x" * 100_000)
    sys.stdout = sys.stderr
    sys.exit(int(sys.argv[2]) if sys.argv[2].isdigit() else sys.argv[2])
sys.modules["catsofa.cli"] = types.SimpleNamespace(main=run)
command()
"""


@pytest.mark.parametrize(
    ("case", "code"),
    [("late", "0"), ("late", "1"), ("late", "300"), ("late", "a text"), ("early", "2"), ("plugin", "1")],
)
def test_a_command_ends_without_pythons_own_end_after_all_exit_handlers(case: str, code: str) -> None:
    """All output is written, and the exit code stays. Beside an older handler or a plugin, Python ends the process."""
    done = subprocess.run([sys.executable, "-c", ENDING, case, code], capture_output=True, text=True, check=False)
    handled = ["handled"] * (case != "plugin")
    by_python = ["by Python"] * (case != "late" or code in ("300", "a text"))
    expected = int(code) % 256 if code.isdigit() else 1
    lines = sorted([*done.stdout.splitlines(), *done.stderr.splitlines()])
    assert (done.returncode, lines) == (
        expected,
        sorted(["x" * 100_000, *handled, *by_python, *[code] * (code == "a text")]),
    )


def test_main_in_a_larger_program_leaves_the_exit_code_to_it() -> None:
    """A program that calls `main` and goes on ends with a code of its own."""
    code = """
import sys
from catsofa.__main__ import main
sys.argv[1:] = ["--version"]
try:
    main()
except SystemExit:
    sys.exit(3)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 3


STARTING = """
import os, sys
class Impatient:
    number, sent, seen = int(sys.argv[1]), int(sys.argv[2]), 0
    def find_spec(self, name, *_):
        Impatient.seen += bool(Impatient.seen or name == "catsofa.cli")
        if Impatient.seen == Impatient.number:
            os.kill(os.getpid(), Impatient.sent)
sys.meta_path.insert(0, Impatient())
from catsofa.__main__ import main
sys.argv[1:] = ["--version"]
try:
    main()
finally:
    print(Impatient.seen)
"""
"""Starts the program and sends it a signal as it looks for its Nth module after its handlers."""


def starting(number: int, sent: signal.Signals) -> "subprocess.CompletedProcess[str]":
    """Runs the program with a signal at its Nth import."""
    return subprocess.run(
        [sys.executable, "-c", STARTING, str(number), str(int(sent))], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("points", [4, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_at_any_import_of_the_start_is_one_sentence(sent: signal.Signals, code: int, points: int) -> None:
    """From the first import to the last before a command, a signal ends with its exit code and no traceback.

    Before the entry point, Python and the `.pth` files of its environment run, which catsofa cannot change.
    """
    last = int(starting(100_000, sent).stdout.split()[-1])
    assert last > 100
    for number in {1 + last * step // points for step in range(points)}:
        done = starting(number, sent)
        assert (done.returncode, done.stderr.count("\n")) == (code, 1), f"import {number}: {done.stderr}"
        assert done.stderr.startswith("catsofa: ")


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_an_object_is_removed_stops_the_command(sent: signal.Signals, code: int) -> None:
    """Python drops what a `__del__` raises, and shows it; the command still ends, with only its sentence."""
    program = f"""
import os, sys, time
from catsofa import cli

class Removed:
    def __del__(self):
        os.kill(os.getpid(), {int(sent)})

def work():
    Removed()
    time.sleep(60)

sys.argv = ["catsofa", "convert"]
cli.app = work
cli.main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=50)
    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert done.stderr.startswith("catsofa: ")


def test_an_ignored_ctrl_c_stays_ignored() -> None:
    """A command that a shell starts in the background is not stopped by the Ctrl-C for another."""
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + STARTING
    done = subprocess.run([sys.executable, "-c", code, "20", "2"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt(), 130), (SystemExit(143), 143)])
def test_who_stops_a_command_while_a_library_is_imported_is_not_told_that_it_is_missing(
    stop: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Compiled libraries turn an interrupted import into an ImportError, which must not be reported as a missing
    library.
    """

    def imports() -> None:
        try:
            raise ImportError("initialization failed") from stop
        except ImportError:
            raise ValueError("figures need matplotlib") from None

    monkeypatch.setattr(sys, "argv", ["catsofa", "report", "run", "--out", "report.html"])
    monkeypatch.setattr(cli, "app", imports)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == code
    assert "matplotlib" not in (stderr := capsys.readouterr().err)
    assert "run the same command again" in stderr


@pytest.mark.parametrize("kept", [True, False])
def test_who_stops_a_command_hears_whether_something_is_kept(
    kept: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run without a finished chunk has kept nothing, and says so."""

    def stopped() -> None:
        for _ in terminal.progress(range(2 * kept), "scored", quiet=True):
            pass
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["catsofa", "score", "gpt2", "--on", "cats.jsonl", "--out", "run"])
    monkeypatch.setattr(cli, "app", stopped)
    nothing = [False]
    monkeypatch.setattr(terminal, "KEPT", nothing)
    monkeypatch.setattr(cli, "KEPT", nothing)
    with pytest.raises(SystemExit):
        cli.main()
    stderr = capsys.readouterr().err
    assert ("what was finished is kept" in stderr, "nothing was finished yet" in stderr) == (kept, not kept)


def test_python_m_catsofa_is_catsofa() -> None:
    """The module works where the script is not on the path."""
    done = subprocess.run([sys.executable, "-m", "catsofa", "--version"], capture_output=True, text=True)
    assert done.stdout == run_catsofa("--version").stdout


@pytest.mark.parametrize(
    "said", ["CUDA out of memory. Tried to allocate 2.00 GiB", "DefaultCPUAllocator: can't allocate memory"]
)
def test_too_little_memory_is_one_sentence(
    said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no smaller batch is tried, the error names a remedy; other faults are not reported as lack of memory."""

    def fails(error: Exception) -> None:
        raise error

    monkeypatch.setattr(sys, "argv", ["catsofa", "score", "gpt2", "--on", "cats.jsonl", "--out", "run"])
    monkeypatch.setattr(cli, "app", lambda: fails(RuntimeError(said)))
    monkeypatch.setattr(cli, "KEPT", [True])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert "not enough memory; use another device" in (stderr := capsys.readouterr().err)
    assert "what was finished is kept" in stderr
    assert stderr.count("\n") == 1
    monkeypatch.setattr(cli, "app", lambda: fails(RuntimeError("a fault of ours")))
    with pytest.raises(RuntimeError, match="a fault of ours"):
        cli.main()


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_command_says_how_to_go_on(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    """Ctrl-C ends with code 130 and `kill` with 143, each with one sentence, and leave no incomplete file."""
    line = '{"category": "pastime", "identity": "Gardeners", "stereotype": "love rain %d"}\n'
    (tmp_path / "many.jsonl").write_text("".join(line % number for number in range(300_000)))
    program = Path(sys.executable).with_name("catsofa")
    command = [program, "convert", tmp_path / "many.jsonl", tmp_path / "out.jsonl"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob(".out*")):
        time.sleep(0.02)
    process.send_signal(sent)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == code
    assert "run the same command again" in stderr
    assert stderr.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"many.jsonl"}


def test_a_help_of_eighty_columns_breaks_no_choice_and_no_use_has_dots_twice() -> None:
    """A list of choices, `<one|two…`, ends on its line; `...` after a name appears once."""
    for name in commands():
        help_text = CliRunner().invoke(app, [*name.split(), "--help"], env={"COLUMNS": "80"}).output
        assert not re.search(r"<[^\s<>]*\|[^\s<>]*\s", help_text), name
        assert not re.search(r"(…|\.\.\.)[]}]\.\.\.", help_text), name


def test_help_is_plain_english() -> None:
    """Every help begins with a capital and not with "Of", has no phrase of the old dialect, and short sentences."""
    dialect = r"\b(of ours|of which|stands?|is (said|told)|(bring|brought) home|goes on|again for)\b"
    for name, command in commands().items():
        for text in (command.help or "", *(getattr(option, "help", None) or "" for option in command.params)):
            assert re.match(r"(?!Of )[A-Z]|$", text), (name, text)
            assert not re.search(dialect, text), (name, text)
            sentences = re.split(r"[.!?:;]\s|\n\n", text.partition("\b")[0])
            assert [one for one in sentences if len(one.split()) > 25] == [], name


def test_what_writes_a_file_can_be_quiet_and_what_answers_can_answer_a_machine() -> None:
    """Each command with --out takes --quiet; each other command, except servers and commands that name people, takes
    --json.
    """
    options = {name: {o for one in command.params for o in one.opts} for name, command in commands().items()}
    people = {"annotate serve", "annotate open", "annotate invite", "annotate reopen", "data path"}
    assert [name for name, has in options.items() if "--out" in has and "--quiet" not in has] == []
    assert {name for name, has in options.items() if not has & {"--json", "--quiet"}} == people


def test_json_is_json(tmp_path: Path) -> None:
    """The output of `--json` parses, and stdout contains nothing else."""
    (tmp_path / "p.jsonl").write_text('{"category": "pastime", "identity": "Gardeners", "stereotype": "love rain"}\n')
    done = run_catsofa("convert", "p.jsonl", "p.csv", "--json", cwd=tmp_path)
    faults = {"left_out": [], "other_languages": 0, "utf8_lines": 0}
    assert json.loads(done.stdout) == {
        "from": "jsonl",
        "to": "sofa",
        "records": 1,
        "lost": {},
        "file": "p.csv",
        **faults,
    }


@pytest.mark.parametrize(
    ("low", "value", "high", "shown"),
    [
        (60, 62.04, 64, "62.0 60.0–64.0"),
        (1.18, 1.2, 1.22, "1.20 1.18–1.22"),
        (0.0209, 0.0213, 0.0217, "0.0213 0.0209–0.0217"),
        (0, 0, 0, "0.00 0.00–0.00"),
    ],
)
def test_a_small_number_keeps_three_digits(low: float, value: float, high: float, shown: str) -> None:
    """A SoFa score of 0.0213 is not shown as 0.02."""
    assert _cell({"score": value, "score_low": low, "score_high": high}, "score") == shown
    assert _cell({"none": value}, "none") == (shown.split()[0] if isinstance(value, float) else value)
