import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from catsofa.data.files import BadInput
from catsofa.data.records import Score
from catsofa.data.runs.manifests import differences
from catsofa.scoring.run.manifest import read_manifest
from catsofa.scoring.run.store import Run, read_scores

IDENTITY = {"model": {"digest": "aa", "dtype": "float32"}, "data": ["dev@11"], "protocol": {"pieces": "mean-log"}}
ABOUT = {"torch": "2.13"}
SCORES = [
    Score(item="a", task="more", score=-1.5, tokens=3, extra={"identity": -2.0}),
    Score(item="a", task="less", score=None, reason="too long"),
    Score(item="b", task="more", score=-0.1 - 1e-16, tokens=1),
]


def test_what_is_kept_comes_back_as_it_was(tmp_path: Path) -> None:
    """Stored scores are read back to the last bit, with their reasons and the keys of extra."""
    with Run.begin(tmp_path / "run", IDENTITY, ABOUT) as run:
        run.add(SCORES)
        assert run.done(["a", "b", "c"]) == {"a", "b"}
    assert sorted(read_scores(tmp_path / "run"), key=lambda s: (s.item, s.task)) == sorted(
        SCORES, key=lambda s: (s.item, s.task)
    )


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """The same identity opens the same run, and stored scores are not replaced."""
    with Run.begin(tmp_path / "run", IDENTITY, ABOUT) as run:
        run.add(SCORES[:1])
    with Run.begin(tmp_path / "run", IDENTITY, {"torch": "2.14"}) as run:
        run.add([Score(item="a", task="more", score=-9.0), *SCORES[1:]])
        assert run.count() == 3
    assert next(s.score for s in read_scores(tmp_path / "run") if (s.item, s.task) == ("a", "more")) == -1.5
    events = [json.loads(line) for line in (tmp_path / "run/journal.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events] == ["begun", "resumed"]
    assert (events[1]["done"], events[1]["about"]) == (1, {"torch": "2.14"})


def test_a_run_of_something_else_is_refused_with_the_difference(tmp_path: Path) -> None:
    """Another model or option is refused with old and new values, and the folder is unchanged."""
    with Run.begin(tmp_path / "run", IDENTITY, ABOUT) as run:
        run.add([Score(item="a", task="t", score=-1.0)])
    other = {**IDENTITY, "model": {"digest": "bb", "dtype": "bfloat16"}, "protocol": {"pieces": "sum", "masks": "all"}}
    with pytest.raises(ValueError, match="different run") as error:
        Run.begin(tmp_path / "run", other, ABOUT)
    for change in (
        "model.digest: aa → bb",
        "model.dtype: float32 → bfloat16",
        "pieces: mean-log → sum",
        "masks: none → all",
    ):
        assert change in str(error.value)
    assert read_manifest(tmp_path / "run")["identity"] == IDENTITY


def test_a_run_without_a_score_is_begun_anew_as_a_run_of_something_else(tmp_path: Path) -> None:
    """A run without scores accepts another identity, for example after a broken line of the data is mended."""
    Run.begin(tmp_path / "run", IDENTITY, ABOUT).close()
    Run.begin(tmp_path / "run", {**IDENTITY, "data": "mended"}, ABOUT).close()
    assert read_manifest(tmp_path / "run")["identity"] == {**IDENTITY, "data": "mended"}


def test_equal_identities_have_no_differences() -> None:
    """The order of keys makes no difference."""
    assert list(differences({"a": 1, "b": {"c": 2}}, {"b": {"c": 2}, "a": 1})) == []


HOLD = """
import sys, time
from catsofa.scoring.run.store import Run
run = Run.begin(sys.argv[1], {identity!r}, {{}})
run.add([])
print("ready", flush=True)
time.sleep(60)
"""


def holder(folder: Path) -> "subprocess.Popen[str]":
    """Returns another process that works on a run."""
    command = [sys.executable, "-c", HOLD.format(identity=IDENTITY), str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_second_process_on_the_same_run_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    """The lock ends with its process, even by SIGKILL."""
    process = holder(tmp_path / "run")
    try:
        for attempt in (lambda: Run.begin(tmp_path / "run", IDENTITY, {}), lambda: read_scores(tmp_path / "run")):
            with pytest.raises(ValueError, match="another process"):
                attempt()
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    Run.begin(tmp_path / "run", IDENTITY, {}).close()


KILLED = """
import sys
from catsofa.data.records import Score
from catsofa.scoring.run.store import Run
run = Run.begin(sys.argv[1], {identity!r}, {{}})
print("ready", flush=True)
for chunk in range(100000):
    run.add([Score(item=f"{{chunk}}-{{at}}", task="t", score=-float(chunk)) for at in range(50)])
"""


@pytest.mark.parametrize("after", [0.01, 0.05, 0.12])
def test_a_kill_at_any_instant_leaves_whole_chunks(tmp_path: Path, after: float) -> None:
    """After SIGKILL, each chunk of 50 scores (one transaction) is stored completely or not at all."""
    command = [sys.executable, "-c", KILLED.format(identity=IDENTITY), str(tmp_path / "run")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.wait()
    chunks: dict[str, int] = {}
    for score in read_scores(tmp_path / "run"):
        chunk = score.item.partition("-")[0]
        chunks[chunk] = chunks.get(chunk, 0) + 1
    assert set(chunks.values()) <= {50}


def test_a_full_disk_is_a_sentence_and_what_was_kept_stays(tmp_path: Path) -> None:
    """On a full disk the chunk that does not fit is not stored, and the earlier ones are."""
    run = Run.begin(tmp_path / "run", IDENTITY, ABOUT)
    run.add(SCORES)
    pages = run._connection.execute("PRAGMA page_count").fetchone()[0]
    run._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(ValueError, match="no space left"):
        run.add(Score(item=f"item {number}", task="t", score=-0.5, reason="x" * 100) for number in range(1000))
    assert run.count() == 3
    run.close()


def test_half_a_line_of_the_journal_is_dropped_by_the_next(tmp_path: Path) -> None:
    """After a power cut in the middle of a line, the next start leaves only whole lines."""
    with Run.begin(tmp_path / "run", IDENTITY, ABOUT):
        pass
    with (tmp_path / "run/journal.jsonl").open("a") as file:
        file.write('{"at": "2026-01-01", "eve')
    with Run.begin(tmp_path / "run", IDENTITY, ABOUT):
        pass
    events = [json.loads(line)["event"] for line in (tmp_path / "run/journal.jsonl").read_text().splitlines()]
    assert events == ["begun", "resumed"]


def test_a_folder_of_other_things_is_not_taken_for_a_run(tmp_path: Path) -> None:
    """A folder with other files is refused, so that a mistyped --out does not fill it."""
    (tmp_path / "thesis.txt").write_text("three years of work")
    with pytest.raises(BadInput, match="other files"):
        Run.begin(tmp_path, IDENTITY, ABOUT)
    with pytest.raises(BadInput, match=r"no manifest\.json"):
        read_scores(tmp_path)


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    """A run folder below a file is refused."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="cannot be written"):
        Run.begin(tmp_path / "file" / "run", IDENTITY, ABOUT)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="only a person can be kept out of a folder")
def test_a_read_only_folder_is_a_sentence(tmp_path: Path) -> None:
    """A read-only folder is refused before anything is scored."""
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match="cannot be written"):
        Run.begin(tmp_path / "run", IDENTITY, ABOUT)


def test_scores_without_a_manifest_are_nobodys(tmp_path: Path) -> None:
    """Nothing is added to scores without a manifest, because their origin is unknown."""
    with Run.begin(tmp_path / "run", IDENTITY, ABOUT) as run:
        run.add(SCORES)
        assert run.reasons() == {"too long": 1}
    (tmp_path / "run/manifest.json").unlink()
    with pytest.raises(BadInput, match=r"scores and no manifest\.json"):
        Run.begin(tmp_path / "run", IDENTITY, ABOUT)


def test_a_damaged_database_or_manifest_is_a_sentence(tmp_path: Path) -> None:
    """A damaged database or manifest is refused, not repaired or replaced."""
    Run.begin(tmp_path / "run", IDENTITY, ABOUT).close()
    (tmp_path / "run/scores.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(ValueError, match="not a database"):
        Run.begin(tmp_path / "run", IDENTITY, ABOUT)
    (tmp_path / "run/manifest.json").write_text("{")
    with pytest.raises(BadInput, match="not JSON"):
        read_manifest(tmp_path / "run")


def test_without_a_folder_a_run_stays_in_memory() -> None:
    """Without a folder, the same calls work and write no file."""
    with Run.begin(None, IDENTITY, ABOUT) as run:
        run.add(SCORES)
        run.note("whatever")
        assert run.count() == 3
        assert isinstance(run._connection, sqlite3.Connection)
