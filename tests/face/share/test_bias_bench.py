"""bias-bench's folders, written and read; and prediction files of StereoSet, which it shares, in both directions."""

import json
import string
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.invented import bakers, probes
from helpers.zorbs import a_cat, a_pair, said

import catsofa
from catsofa.data import formats
from catsofa.data.records import AssociationTest, Score, WordSet
from catsofa.share.bias_bench import CATS, PAIRS, TESTS, write


def a_test(name: str) -> AssociationTest:
    """Florins and zorbs, tidy and untidy."""
    sets = (WordSet(name=word, items=(word,)) for word in ("florins", "zorbs", "tidy", "untidy"))
    x, y, a, b = sets
    return AssociationTest(id=name, x=x, y=y, a=a, b=b)


def test_each_kind_stands_where_it_is_looked_for_and_reads_back(tmp_path: Path) -> None:
    """CATs, pairs and tests come back from data/stereoset, data/crows and data/seat as they were."""
    cats = [a_cat(votes={"stereotype": said("x", "stereotype", "related")})]
    pairs = [a_pair("Zorbs are late.", "Florins are late.", bias_type="religion")]
    tests = [a_test("weat1"), a_test("sent-weat1")]
    written = write([*cats, *pairs, *tests], tmp_path / "bb")
    assert (written.cats, written.pairs, written.tests, written.notes) == (1, 1, 2, ())
    (back,) = catsofa.read(tmp_path / "bb" / CATS)
    assert [(c.id, c.text, c.label) for c in back.candidates] == [(c.id, c.text, c.label) for c in cats[0].candidates]
    assert list(catsofa.read(tmp_path / "bb" / PAIRS)) == pairs
    assert {test.id: test.x for test in catsofa.read(tmp_path / "bb" / TESTS)} == {t.id: t.x for t in tests}


def test_its_loader_finds_what_it_asks_for(tmp_path: Path) -> None:
    """Every label is {human_id, label} with one of four labels, every sentence has one at least, and a version stands.

    The word at the place of the BLANK, counted between spaces and without punctuation, is the fill.
    """
    votes = {"stereotype": tuple(replace(v, extra={"age": "33"}) for v in said("x", "stereotype", "no idea"))}
    write([a_cat(votes=votes), *bakers(3)], tmp_path / "bb")
    document = json.loads((tmp_path / "bb" / CATS).read_text())
    assert "version" in document
    for cluster in document["data"]["intrasentence"]:
        (place,) = [at for at, word in enumerate(cluster["context"].split(" ")) if "BLANK" in word]
        for sentence in cluster["sentences"]:
            assert sentence["labels"]
            for label in sentence["labels"]:
                assert label.keys() == {"human_id", "label"}
                assert label["label"] in ("stereotype", "anti-stereotype", "unrelated", "related")
            word = sentence["sentence"].split(" ")[place].translate(str.maketrans("", "", string.punctuation))
            assert word in ("late", "early", "purple", "cubic")


def test_what_it_does_not_measure_is_said(tmp_path: Path) -> None:
    """Two words at a BLANK, sentences after a context, bias types that cannot be asked for by name."""
    long = a_cat("The zorb was BLANK.", "very late", id="long")
    after = a_cat("We met the zorbs.", "They came.", "They left.", "It rains.", id="after")
    partly, unscored, types = write([long, after, a_pair("a", "b")], tmp_path / "bb").notes
    assert partly.startswith("1 CATs have other than one word")
    assert unscored.startswith("1 intersentence")
    assert "invented" in types


def test_probes_have_no_place_there_and_nothing_is_written(tmp_path: Path) -> None:
    """The error says what bias-bench measures; a folder of other files is not replaced."""
    with pytest.raises(ValueError, match="no place for probes"):
        write(probes(1), tmp_path / "bb")
    assert not (tmp_path / "bb").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("words")
    with pytest.raises(ValueError, match=r"thesis\.tex"):
        write([a_cat()], tmp_path / "mine")


def test_its_results_are_predictions_that_we_read_and_ours_are_its(tmp_path: Path) -> None:
    """A file of one task alone, as it writes it, is read; what we write holds both tasks and reads back the same."""
    theirs = tmp_path / "stereoset_m-GPT2LMHeadModel_c-gpt2.json"
    theirs.write_text(json.dumps({"intrasentence": [{"id": "a", "score": 0.25}, {"id": "b", "score": 0.5}]}, indent=2))
    scores = list(catsofa.read(theirs))
    assert scores == [
        Score(item="a", score=0.25, task="intrasentence"),
        Score(item="b", score=0.5, task="intrasentence"),
    ]
    formats.named("predictions").write(scores, tmp_path / "ours.json")
    assert json.loads((tmp_path / "ours.json").read_text()).keys() == {"intrasentence", "intersentence"}
    assert list(catsofa.read(tmp_path / "ours.json")) == scores


def test_the_released_seat_tests_go_there_and_back(shared: Path, tmp_path: Path) -> None:
    """All tests of the released folder, byte for byte the same sets."""
    tests = list(catsofa.read(shared / "data" / "seat"))
    assert write(tests, tmp_path / "bb").tests == len(tests) > 40
    assert list(catsofa.read(tmp_path / "bb" / TESTS)) == tests
