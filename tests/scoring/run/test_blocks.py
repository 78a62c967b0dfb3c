"""Scores of probes in columns: stored a block a chunk, checked as rows are, and joined with rows of earlier runs."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.run_folders import Tiny, edit, refused, verdict

from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Probe, Score
from catsofa.scoring.evaluate import evaluate, evaluate_all
from catsofa.scoring.items import Item
from catsofa.scoring.items.score import score
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures.sofa.columns import columns as columns_of
from catsofa.scoring.measures.sofa.questions import ProbeScores
from catsofa.scoring.models import load
from catsofa.scoring.protocols import DEFAULT, Protocol, named
from catsofa.scoring.run import blocks
from catsofa.scoring.run.store import Run, read_scores
from catsofa.scoring.score_columns import ScoreColumns

IDENTITIES = (
    "zorbs",
    "quibs",
    "old zorbs",
    "the rovers",
    "tall quibs",
    "all lums",
    "gilds",
    "young lums",
    "mibs",
    "nops",
)
GRID = [
    Probe(category="island", identity=identity, stereotype=f"{verb} {thing} hats")
    for thing, verb, identity in product(range(20), ("eat", "sell", "lose"), IDENTITIES)
]


def columns(*items: str, score: float = -2.0) -> ScoreColumns:
    """Returns scores in columns."""
    some, counts = np.full(len(items), score), np.ones(len(items), np.int32)
    return ScoreColumns("probe", items, some, some - 1, np.full(len(items), np.nan), counts, counts * 0, counts * 0)


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    """Returns a file of probes."""
    jsonl.write(GRID, tmp_path / "grid.jsonl")
    return tmp_path / "grid.jsonl"


@pytest.fixture
def run(tmp_path: Path, grid: Path, tiny: Tiny) -> Path:
    """Returns the folder of a finished run with scores in columns."""
    evaluate(str(tiny("gpt2")), grid, out=tmp_path / "run", resamples=20)
    return tmp_path / "run"


def numbers(run: Path) -> dict[str, Any]:
    """Returns the numbers of each probe."""
    return {one.item: [one.score, *one.extra.values()] for one in read_scores(run)}


def test_most_scores_of_a_grid_are_in_columns(run: Path) -> None:
    """Verify counts the scores of blocks, and finds no fault."""
    with Run.open(run) as opened:
        sizes = [len(part) for part in opened.scores().parts() if isinstance(part, ScoreColumns)]
        assert sum(sizes) > len(GRID) / 2
        assert opened.count() == len(GRID) == len(opened.done([probe.id for probe in GRID]))
    code, output = verdict(run)
    assert code == 0, output
    assert f"{len(GRID)} scores" in output


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE blocks SET numbers = zeroblob(length(numbers))",
        "UPDATE blocks SET items = replace(items, 'a', 'b')",
        "UPDATE blocks SET texts = texts - 1",
        "UPDATE blocks SET task = 'other'",
        "UPDATE blocks SET checksum = zeroblob(8)",
        "DELETE FROM blocks WHERE number = (SELECT max(number) FROM blocks)",
        "DELETE FROM blocks",
        "UPDATE blocks SET number = number + 10 * (number = 1)",
        "INSERT INTO blocks SELECT number + 100, task, texts, items, numbers, checksum FROM blocks",
        "DROP TABLE blocks",
    ],
)
def test_an_edited_block_is_refused(run: Path, statement: str) -> None:
    """A changed number, id, size or order, a lost and a repeated block are refused."""
    edit(run, statement)
    assert "scores.sqlite" in refused(run, "scores.sqlite")


def test_a_stopped_run_goes_on_with_the_scores_it_has(
    run: Path, grid: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a stop in the middle, each probe has one score, that of a run without a stop."""
    stored, count = Run.add, 0

    def stopped(self: Run, *arguments: Any) -> None:
        nonlocal count
        count += 1
        if count == 5:
            raise KeyboardInterrupt
        stored(self, *arguments)

    folder, model = run.with_name("stopped"), str(tiny("gpt2"))
    monkeypatch.setattr(Run, "add", stopped)
    with pytest.raises(KeyboardInterrupt):
        evaluate(model, grid, out=folder, resamples=20)
    before = numbers(folder)
    assert 0 < len(before) < len(GRID)
    evaluate(model, grid, out=folder, resamples=20)
    assert len(read_scores(folder)) == len(GRID)
    after = numbers(folder)
    assert {item: after[item] for item in before} == before
    whole = numbers(run)
    for item in whole:
        assert after[item] == pytest.approx(whole[item], abs=1e-5)


def test_rows_of_an_earlier_version_stay_and_the_rest_is_in_columns(
    run: Path, grid: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that was begun with a row for each probe is finished in columns; no probe is scored into both."""
    folder, model = run.with_name("begun"), str(tiny("gpt2"))
    with monkeypatch.context() as patch:
        patch.setattr(ProbeScores, "columns", lambda self, backend, records, protocol: (None, records))
        evaluate(model, grid, out=folder, limit=50, resamples=20)
    edit(folder, "DROP TABLE blocks")
    assert numbers(folder).keys() == {probe.id for probe in GRID[:50]}
    evaluate(model, grid, out=folder, resamples=20)
    assert sorted(one.item for one in read_scores(folder)) == sorted(probe.id for probe in GRID)
    for item, values in numbers(run).items():
        assert numbers(folder)[item] == pytest.approx(values, abs=1e-5)


def test_probes_in_another_order_have_one_score_each(run: Path, grid: Path, tiny: Tiny) -> None:
    """The same data may come in another order; a chunk that is scored again stores no probe twice."""
    folder, model = run.with_name("begun"), str(tiny("gpt2"))
    evaluate(model, grid, out=folder, limit=300, resamples=20)
    before = numbers(folder)
    grid.write_text("\n".join(sorted(grid.read_text().splitlines(), key=lambda line: line[9:])) + "\n")
    evaluate(model, grid, out=folder, resamples=20)
    assert sorted(one.item for one in read_scores(folder)) == sorted(probe.id for probe in GRID)
    after = numbers(folder)
    assert {item: after[item] for item in before} == before
    assert verdict(folder)[0] == 0


@pytest.mark.parametrize("places", [["blocks", "blocks"], ["blocks", "rows"]])
def test_two_scores_of_one_probe_are_refused(tmp_path: Path, places: list[str]) -> None:
    """A probe in two blocks, or in a block and in a row, has no right number."""
    with Run.begin(tmp_path, {"a": 1}, {}) as opened:
        for place in places:
            if place == "blocks":
                blocks.add(opened._connection, columns("a", "b"), opened._checksum)
            else:
                opened._connection.execute(
                    "INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)",
                    opened._new_row(Score(item="b", task="probe", score=-1.0, tokens=1)),
                )
        with pytest.raises(BadInput, match="two scores of one probe"):
            opened.check()


def test_one_protocol_of_several_is_scored_in_columns(grid: Path, tiny: Tiny, tmp_path: Path) -> None:
    """`evaluate_all` stores the scores of its only unfinished protocol, also into a run that has blocks."""
    model, folder = str(tiny("gpt2")), tmp_path / "all"
    first, other = named("catsofa"), named("catsofa,length=sum")
    assert len(evaluate_all(model, grid, [first], out=folder, resamples=20).scores[first.name].scores) == len(GRID)
    cells = evaluate_all(model, grid, [first, other], out=folder, resamples=20)
    for scores in cells.scores.values():
        assert sorted(one.item for one in scores.scores) == sorted(probe.id for probe in GRID)


class OtherTexts(ProbeScores):
    """A measure of another package that asks for other texts."""

    name = "other-texts"
    about = "for the test"

    def items(self, backend: Backend, records: Sequence[Probe], protocol: Protocol) -> list[Item | Score]:
        """Returns the items of the texts in capitals."""
        return super().items(backend, [replace(probe, text=probe.text.upper()) for probe in records], protocol)


class OtherIds(ProbeScores):
    """A measure of another package that stores scores under other ids."""

    name = "other-ids"
    about = "for the test"

    def ids(self, record: Probe) -> list[str]:
        """Returns another id."""
        return [f"own {record.id}"]


def test_a_measure_of_another_package_asks_in_its_own_way(tiny: Tiny) -> None:
    """Columns are for the questions and ids of ProbeScores alone."""
    backend = Backend(load(str(tiny("gpt2"))))
    assert ProbeScores().columns(backend, GRID, DEFAULT)[0] is not None
    for measure in (OtherTexts(), OtherIds()):
        assert measure.columns(backend, GRID, DEFAULT) == (None, GRID)
    assert OtherIds().ids_of(GRID[:2]) == [f"own {probe.id}" for probe in GRID[:2]]


def test_a_tokenizer_without_a_start_token_leaves_each_probe_unscored(tiny: Tiny) -> None:
    """Each probe has the reason; the run does not fail."""
    model = load(str(tiny("gpt2")))
    model.tokenizer.bos_token = model.tokenizer.eos_token = None
    scores = score(Backend(model), GRID[:40], DEFAULT)
    assert {one.score for one in scores} == {None}
    assert all("no start token" in one.reason for one in scores)


@pytest.mark.parametrize("name", ["gpt2", "llama", "mamba"])
def test_equal_texts_of_a_chunk_have_one_score(tiny: Tiny, name: str) -> None:
    """Also if one is joined from its parts and another, whose identity is elsewhere in the text, is not."""
    again = [
        replace(probe, id=f"again {probe.id}", category="other", identity="rovers", text=probe.text)
        for probe in GRID
        if probe.identity == "the rovers"
    ]
    backend = Backend(load(str(tiny(name))))
    found = {one.item: one.score for one in score(backend, [*GRID, *again], DEFAULT)}
    assert columns_of(backend, [*GRID, *again], DEFAULT)[0] is not None
    for probe in again:
        assert found[probe.id] == found[probe.id.removeprefix("again ")]


def test_a_score_that_is_stored_is_not_replaced(tmp_path: Path) -> None:
    """Items of rows, and of blocks from before the folder was opened, keep their scores."""
    with Run.begin(tmp_path, {"a": 1}, {}) as opened:
        opened.add([Score(item="a", task="probe", score=-1.0, tokens=1)], None, None, columns("b", "c"))
    with Run.begin(tmp_path, {"a": 1}, {}) as opened:
        opened.add([], None, None, columns("a", "c", "d", score=-7.0))
        assert opened.numbers() == {"a": -1.0, "b": -2.0, "c": -2.0, "d": -7.0}
        opened.add([], None, None, columns("a", "b"))
        assert opened.count() == 4


def test_scores_in_columns_are_the_records_they_stand_for(tmp_path: Path) -> None:
    """NaN is None, counts of unknown tokens are there if there are any, and items with them are found."""
    made = replace(columns("a", "b"), unknown=np.array([0, 2]), unknown_identities=np.array([0, 1]))
    found = [
        Score(item="a", task="probe", score=-2.0, tokens=1, extra={"identity": -3.0, "conditional": None}),
        Score(
            item="b",
            task="probe",
            score=-2.0,
            tokens=1,
            extra={"identity": -3.0, "conditional": None, "unknown_identity": 1, "unknown": 2},
        ),
    ]
    assert [*made] == found
    with Run.begin(tmp_path, {"a": 1}, {}) as opened:
        opened.add([], None, None, made)
        assert [*opened.scores()] == found
        assert opened.unknown() == {"b"} or not opened.counts_unknown


@pytest.mark.parametrize("score", [0.5, -1e7, float("inf"), float("-inf"), float("nan")])
def test_impossible_scores_are_refused(tmp_path: Path, score: float) -> None:
    """A number that no log-probability has is not stored, nor is anything with it."""
    with Run.begin(tmp_path, {"a": 1}, {}) as opened:
        made = columns("a", "b")
        made.scores[1] = score
        with pytest.raises(ValueError, match="the score of 'b' is"):
            opened.add([], None, (2, 1.0), made)
        assert (opened.count(), opened.chunks()) == (0, [])


def test_blocks_of_another_run_are_refused(run: Path, grid: Path, tiny: Tiny) -> None:
    """The checksum of a block is made with the identity of its run."""
    other = run.with_name("other")
    evaluate(str(tiny("llama")), grid, out=other, resamples=20)
    with sqlite3.connect(run / "scores.sqlite") as connection:
        connection.execute("ATTACH ? AS other", (str(other / "scores.sqlite"),))
        connection.execute("DELETE FROM main.blocks")
        connection.execute("INSERT INTO main.blocks SELECT * FROM other.blocks")
    connection.close()
    assert "its checksum does not fit" in refused(run, "scores.sqlite")
