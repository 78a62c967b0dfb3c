"""The history of a run: lost, doubled and strange lines are refused, and a kill leaves a valid history."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.run_folders import Tiny, edit, numbers_of, refused, verdict

from catsofa.data.files import BadInput
from catsofa.report import document
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.run import history
from catsofa.scoring.run.checks import check_run
from catsofa.scoring.run.store import Run

IDENTITY = {"model": {"digest": "sha256:00"}, "data": "records:11", "protocol": {}}


@pytest.mark.parametrize("name", ["gpt2", "probes"])
def test_a_lost_or_doubled_line_is_refused(runs: Path, name: str) -> None:
    """Verify and all readers refuse a history with a lost, doubled or moved line, or without any line."""
    path = runs / name / "journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    lost = [lines[:place] + lines[place + 1 :] for place in range(len(lines))]
    doubled = [lines[: place + 1] + lines[place:] for place in range(len(lines))]
    moved = [lines[::-1], [lines[1], *lines], [*lines, lines[0]], []]
    for changed in (*lost, *doubled, *moved):
        path.write_text("".join(changed))
        refused(runs / name, "journal.jsonl")
        assert verdict(path)[0] == 1


def test_a_run_without_its_history_is_not_reported(runs: Path) -> None:
    """A run without its history is refused, alone and among several runs."""
    (runs / "gpt2" / "journal.jsonl").unlink()
    with pytest.raises(BadInput, match=r"journal\.jsonl: .*no such file"):
        document([runs / "gpt2"])
    with pytest.raises(BadInput, match=r"journal\.jsonl: .*no such file"):
        document([runs])
    assert "journal.jsonl: run, wrong: found no such file" in verdict(runs / "gpt2")[1]


def test_a_run_with_another_history_does_not_go_on(runs: Path, tiny: Tiny) -> None:
    """The same command refuses a run whose history was cut."""
    path = runs / "gpt2" / "journal.jsonl"
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    with pytest.raises(BadInput, match=r"journal\.jsonl"):
        evaluate(str(tiny("gpt2")), runs / "cats.jsonl", out=runs / "gpt2", resamples=0)


@pytest.mark.parametrize("step", range(1, 12))
def test_a_kill_between_two_writes_leaves_a_right_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """A kill at any write leaves a valid run, and the next command resumes it."""
    left = step

    def until_killed(write: Callable[..., Any]) -> Callable[..., Any]:
        def stop(*arguments: Any) -> Any:
            nonlocal left
            left -= 1
            if not left:
                raise KeyboardInterrupt
            return write(*arguments)

        return stop

    def work() -> None:
        while True:
            Run.begin(tmp_path / "run", IDENTITY, {}).close()

    monkeypatch.setattr(history, "keep_seal", until_killed(history.keep_seal))
    monkeypatch.setattr(history.AppendLog, "append", until_killed(history.AppendLog.append))
    with pytest.raises(KeyboardInterrupt):
        work()
    monkeypatch.undo()
    assert verdict(tmp_path / "run")[0] == 0
    for _ in range(2):
        Run.begin(tmp_path / "run", IDENTITY, {}).close()
        assert verdict(tmp_path / "run")[0] == 0
    events = [json.loads(line)["event"] for line in (tmp_path / "run" / "journal.jsonl").read_text().splitlines()]
    assert set(events[1:]) == {"resumed"}


def test_only_one_line_may_lack_its_seal_and_only_a_new_one(runs: Path) -> None:
    """A run with one unsealed last line is read; two unsealed lines, or a repeated line, are refused."""
    path = runs / "gpt2" / "journal.jsonl"
    numbers = [*numbers_of(runs / "gpt2")]
    lines = path.read_text().splitlines(keepends=True)
    with Run.open(runs / "gpt2") as run:
        run.note("a")
        seal = run._connection.execute("SELECT value FROM seals WHERE name = 'history'").fetchone()[0]
        run.note("b")
        run.note("c")
    three = path.read_text().splitlines(keepends=True)[len(lines) :]
    edit(runs / "gpt2", f"UPDATE seals SET value = '{seal}' WHERE name = 'history'")
    path.write_text("".join([*lines, *three[:2]]))
    assert [*numbers_of(runs / "gpt2")] == numbers
    assert verdict(runs / "gpt2")[0] == 0
    for last in (three, [three[0], three[0]], [three[0], lines[0]]):
        path.write_text("".join([*lines, *last]))
        refused(runs / "gpt2", "journal.jsonl")


def test_a_run_whose_history_has_no_seal_is_read_and_sealed_by_the_next_command(runs: Path, tiny: Tiny) -> None:
    """A run of version 0.2.0 has no seal and is read; a seal under an unknown name is refused."""
    numbers = [*numbers_of(runs / "gpt2")]
    edit(runs / "gpt2", "UPDATE seals SET name = 'histori' WHERE name = 'history'")
    refused(runs / "gpt2", "scores.sqlite")
    edit(runs / "gpt2", "DELETE FROM seals WHERE name = 'histori'")
    assert [*numbers_of(runs / "gpt2")] == numbers
    result = check_run(runs / "gpt2")
    assert result is not None
    assert result.right
    assert [part for part in result.unchecked if part.startswith("journal.jsonl: ")]
    evaluate(str(tiny("gpt2")), runs / "cats.jsonl", out=runs / "gpt2", resamples=20)
    result = check_run(runs / "gpt2")
    assert result is not None
    assert (result.right, result.unchecked) == (True, ())
