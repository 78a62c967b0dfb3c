"""Results that every run stores for later reports."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.records import PAIRS, a_cat

import catsofa
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Pair, Probe, Score
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.measures import sofa
from catsofa.scoring.run.checks import check_run
from catsofa.scoring.run.rows import SCORES
from catsofa.scoring.run.score_files import compare_on, scores_of
from catsofa.scoring.run.store import read_scores


def test_target_terms_are_always_kept(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    """The run folder has the target terms; the returned report has them only on request."""
    cats = [a_cat(id=term, target=term) for term in ("zorb", "quib")]
    report = evaluate(str(tiny("gpt2")), cats, out=tmp_path / "run", resamples=10)
    assert not report.terms
    stored = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    assert {row["term"] for row in stored["terms"]} == {"zorb", "quib"}
    assert {row["term"] for row in evaluate(str(tiny("gpt2")), cats, resamples=10, with_terms=True).terms} == {
        "zorb",
        "quib",
    }
    scores = read_scores(tmp_path / "run")
    assert scores_of(tmp_path / "run") == {score.item: score.score for score in scores}


def test_hundredths_of_log_ppl_are_kept() -> None:
    """For PPL* of 10, 100 and 1000 and an unscored probe, the quantiles 0, 50 and 100 are 1, 2 and 3."""
    probes = [Probe(category="c", identity=f"zorbs {n}", stereotype="are late") for n in range(4)]
    scores = [
        Score(item=probe.id, score=-float(np.log(10) * (n + 1)), extra={"identity": 0.0, "conditional": 0.0})
        for n, probe in enumerate(probes[:3])
    ]
    quantiles = sofa.results(probes, scores).categories["c"].quantiles
    assert len(quantiles) == 101
    assert [quantiles[0], quantiles[50], quantiles[100]] == pytest.approx([1, 2, 3])


def test_a_smaller_limit_replaces_no_report_and_calls_no_score_a_stranger(
    tiny: Callable[[str], Path], tmp_path: Path
) -> None:
    """A finished run of 6 CATs refuses a limit of 2; in an unfinished run, scores beyond the limit are known."""
    cats, model = [a_cat(id=f"c{number}", target=f"zorb{number}") for number in range(6)], str(tiny("gpt2"))
    evaluate(model, cats, out=tmp_path / "run", resamples=10)
    before = (tmp_path / "run" / "report.json").read_bytes()
    with pytest.raises(BadInput, match=r"6 records.*--out for 2"):
        evaluate(model, cats, out=tmp_path / "run", limit=2, resamples=10)
    assert (tmp_path / "run" / "report.json").read_bytes() == before
    with closing(sqlite3.connect(tmp_path / "run" / SCORES)) as database, database:
        database.execute("DELETE FROM seals WHERE name = 'finished'")  # as if it had been stopped
    report = evaluate(model, cats, out=tmp_path / "run", limit=2, resamples=10)
    assert report.unknown_ids == 0
    assert not any("not in the data" in warning for warning in report.warnings)
    assert (
        evaluate(model, cats, out=tmp_path / "run", limit=4, resamples=10).to_dict()["results"]["overall"]["items"] == 4
    )


def test_a_run_on_data_in_memory_contains_all_of_them(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    """Comparisons, items and `verify` need no place of such data, also after a move; changed data are refused."""
    for name in ("gpt2", "llama"):
        evaluate(str(tiny(name)), PAIRS, out=tmp_path / "runs" / name, resamples=10, limit=len(PAIRS) - 1)
    (tmp_path / "runs").rename(tmp_path / "moved")
    folders = [tmp_path / "moved" / name for name in ("gpt2", "llama")]
    assert list(catsofa.read(folders[0] / "data_in_memory.jsonl")) == PAIRS
    assert catsofa.compare(folders).to_dict() == compare_on(folders, folders[1] / "data_in_memory.jsonl").to_dict()
    assert set(catsofa.items(tmp_path / "moved")["id"]) == {pair.id for pair in PAIRS[:-1]}
    assert (verdict := check_run(folders[0])) is not None
    assert "data" in verdict.checked
    jsonl.write([replace(pair, more=f"{pair.more} Really.") for pair in PAIRS], folders[0] / "data_in_memory.jsonl")
    with pytest.raises(BadInput, match="other data than"):
        catsofa.compare(folders)
    assert (verdict := check_run(folders[0])) is not None
    assert [fault.path.name for fault in verdict.faults] == ["data_in_memory.jsonl"]


def test_a_run_contains_its_data_in_the_order_of_its_last_scores(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    """A limit takes the first records, so the items of a run resumed in another order are the first of that order."""
    model, run = str(tiny("gpt2")), tmp_path / "run"
    evaluate(model, PAIRS, out=run, resamples=10, limit=2)
    evaluate(model, PAIRS[::-1], out=run, resamples=10, limit=3)
    assert [row["id"] for row in catsofa.items(run).to_dict("records")] == [pair.id for pair in PAIRS[:-4:-1]]
    assert list(catsofa.read(run / "data_in_memory.jsonl")) == PAIRS[::-1]
    jsonl.write(PAIRS, tmp_path / "pairs.jsonl")
    evaluate(model, tmp_path / "pairs.jsonl", out=run, resamples=10, limit=3)
    assert [row["id"] for row in catsofa.items(run).to_dict("records")] == [pair.id for pair in PAIRS[:3]]
    jsonl.write(PAIRS[::-1], run / "data_in_memory.jsonl")
    with pytest.raises(ValueError, match="in another order"):
        catsofa.items(run)


@pytest.mark.parametrize("content", [b"", b"my notes\n", b"\xff\xfe\x00"])
def test_a_run_writes_its_data_again(content: bytes, tiny: Callable[[str], Path], tmp_path: Path) -> None:
    """Damaged data of a run are written again when it is resumed; a link is replaced, and its file stays."""
    run, model = tmp_path / "run", str(tiny("gpt2"))
    evaluate(model, PAIRS, out=run, resamples=10)
    place = run / "data_in_memory.jsonl"
    place.write_bytes(content)
    evaluate(model, PAIRS, out=run, resamples=10)
    assert list(catsofa.read(place)) == PAIRS
    (mine := tmp_path / "mine").write_bytes(content)
    place.unlink()
    place.symlink_to(mine)
    evaluate(model, PAIRS, out=run, resamples=10)
    assert list(catsofa.read(place)) == PAIRS
    assert mine.read_bytes() == content


def test_data_in_memory_replace_a_file_that_is_gone(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    """A run on a file, finished again with the same records in memory, has its items after the file is deleted."""
    jsonl.write(PAIRS, tmp_path / "pairs.jsonl")
    evaluate(str(tiny("gpt2")), tmp_path / "pairs.jsonl", out=tmp_path / "run", resamples=10)
    evaluate(str(tiny("gpt2")), PAIRS, out=tmp_path / "run", resamples=10)
    (tmp_path / "pairs.jsonl").unlink()
    assert len(catsofa.items(tmp_path / "run")) == len(PAIRS)


@pytest.mark.parametrize("extra", [{"n": np.float32(1)}, {"n": float("inf")}, {"n": object()}])
def test_records_that_no_file_can_hold_are_scored_too(
    extra: dict[str, object], tiny: Callable[[str], Path], tmp_path: Path
) -> None:
    """A run on such values, or on a pair without a bias type, is finished and resumed without its data."""
    for number, change in enumerate(({"extra": extra}, {"bias_type": None})):
        data = [replace(PAIRS[0], id=PAIRS[0].id, **change), *PAIRS[1:]]  # type: ignore[arg-type]
        run = tmp_path / str(number)
        reports = [evaluate(str(tiny("gpt2")), data, out=run, resamples=10) for _ in range(2)]
        assert reports[0].to_dict() == reports[1].to_dict()
        assert not (run / "data_in_memory.jsonl").exists()


@pytest.mark.parametrize("change", [{"id": 3}, {"more": b"bytes"}])
def test_records_of_wrong_types_are_refused(change: dict[str, object]) -> None:
    """A number as an id and bytes as a text are refused in one sentence."""
    wrong = [Pair(**{"more": "a", "less": "b", "direction": "stereo", "bias_type": "c", "id": "d", **change})]  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"records:1: found the id 3; expected a text|a value of a wrong type \(.*bytes"):
        evaluate(lambda text: -1.0, wrong)
