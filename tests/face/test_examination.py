"""Tests of runs and files of scores as a matrix, and of StereoSet's released predictions as a reference."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.choice_runs import association, pairs, probes, run
from helpers.records import cat, cats, scores
from helpers.tiny_models import BUILDERS

import catsofa
from catsofa import examination
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Cat, Score
from catsofa.examination import examine, findings
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.examine import Examination, Flag, ItemMatrix
from catsofa.validation.lint import as_json

CATS = [cat(f"{term}x{n}", target=f"t{term}") for term in range(8) for n in range(3)]


def predictions(path: Path, prefers: list[float | None], records: list[Cat]) -> Path:
    """Writes scores that prefer the stereotype (1), the anti-stereotype (0), neither (½), or have no value."""
    by_item = scores(
        {
            c.id: (None if p is None else 2 + p, None if p is None else 2.5, 1.0)
            for c, p in zip(records, prefers, strict=True)
        }
    )
    jsonl.write([Score(item=item, score=score, task="intrasentence") for item, score in by_item.items()], path)
    return path


@pytest.fixture
def matrix(monkeypatch: pytest.MonkeyPatch) -> list[ItemMatrix]:
    """Records the matrices that are examined."""
    matrices: list[ItemMatrix] = []
    real = examination.examined

    def watched(of: ItemMatrix, **how: int) -> Examination:
        matrices.append(of)
        return real(of, **how)

    monkeypatch.setattr(examination, "examined", watched)
    return matrices


def test_files_of_scores_are_joined_by_id(tmp_path: Path, matrix: list[ItemMatrix]) -> None:
    """Stereotype is 1, anti-stereotype 0, a tie ½, unscored NaN, whatever the protocol does with ties."""
    jsonl.write(CATS, tmp_path / "cats.jsonl")
    first = [1.0, 0.0, 0.5, None, *[1.0] * 20]
    files = [predictions(tmp_path / "a.jsonl", first, CATS), predictions(tmp_path / "b.jsonl", [0.0, 1.0] * 12, CATS)]
    examination_ = examine(files, tmp_path / "cats.jsonl")
    assert matrix[0].values[:4, 0] == pytest.approx([1, 0, 0.5, np.nan], nan_ok=True)
    assert (matrix[0].items[1], matrix[0].terms[3], matrix[0].domains[0]) == ("0x1", "t1", "pastime")
    assert list(examination_.parts) == ["intrasentence"]
    assert examination_.parts["intrasentence"].coverage == pytest.approx(47 / 48)
    assert "a.jsonl@" in str(examination_.signature)


def test_margins_are_differences_of_scores(tmp_path: Path, matrix: list[ItemMatrix]) -> None:
    """2 + p against 2.5 gives 0.5, −0.5 and 0; unscored NaN. The signature says margins, and no bipolar
    scale exists.
    """
    jsonl.write(CATS, tmp_path / "cats.jsonl")
    prefers = [1.0, 0.0, 0.5, None, *[1.0, 0.0] * 10]
    files = [predictions(tmp_path / f"{name}.jsonl", prefers[:: 1 if name == "a" else -1], CATS) for name in "ab"]
    examination_ = examine(files, tmp_path / "cats.jsonl", margins=True, groups=["a.jsonl"])
    assert matrix[0].values[:4, 0] == pytest.approx([0.5, -0.5, 0, np.nan], nan_ok=True)
    assert "margins" in str(examination_.signature)
    part = examination_.parts["intrasentence"]
    assert "scores" in part.undefined["bipolar"]
    assert "scores" in part.dif["a.jsonl"].refused
    assert np.isnan(part.to_dict()["all_agree"])
    assert "scores" in part.undefined["all_agree"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes runs of two tiny models on CATs, probes and association tests, in a folder for each kind."""
    folder = tmp_path_factory.mktemp("runs")
    kinds = {"cats": cats(), "probes": probes(4), "tests": [association(4), replace(association(5), id="other")]}
    for name in ("bloom", "gpt2"):
        (folder / name).mkdir()
        BUILDERS[name](folder / name)
    for kind, records in kinds.items():
        jsonl.write(records, folder / f"{kind}.jsonl")
        for name in ("bloom", "gpt2"):
            evaluate(str(folder / name), folder / f"{kind}.jsonl", out=folder / kind / name, resamples=20)
    return folder


@pytest.mark.slow
def test_runs_know_their_data_and_a_folder_holds_several(runs: Path) -> None:
    """Two runs by name, or by their folder, give the same examination."""
    named = examine([runs / "cats/bloom", runs / "cats/gpt2"])
    assert set(named.parts) == {"intrasentence", "intersentence"}
    assert repr(examine([runs / "cats"])) == repr(named)


@pytest.mark.slow
def test_association_tests_are_examined_by_their_effect_sizes(runs: Path, matrix: list[ItemMatrix]) -> None:
    """The matrix has the effect sizes of two tests and two models, as in their reports."""
    examine([runs / "tests"])
    reports = [json.loads((runs / "tests" / name / "report.json").read_text()) for name in ("bloom", "gpt2")]
    assert matrix[0].values.T.tolist() == [[row["effect_size"] for row in one["results"]] for one in reports]


@pytest.mark.slow
def test_probes_are_examined_by_the_variance_of_each_stereotype(runs: Path, matrix: list[ItemMatrix]) -> None:
    """The mean of a column is the SoFa score of its category."""
    examination_ = examine([runs / "probes"])
    reports = [json.loads((runs / "probes" / name / "report.json").read_text()) for name in ("bloom", "gpt2")]
    assert matrix[0].values.mean(axis=0) == pytest.approx([one["results"]["score"] for one in reports])
    assert list(examination_.parts) == ["c"]


def test_probes_are_compared_over_the_identities_that_all_models_scored(
    tmp_path: Path, matrix: list[ItemMatrix]
) -> None:
    """One model lacks the mimps of a stereotype, another all of one: variances use zorbs and quells, and 1 probe is
    dropped.
    """
    records = probes(3)
    jsonl.write(records, tmp_path / "probes.jsonl")
    height = {"zorbs": 0.0, "mimps": -5.0, "quells": -1.0}
    for name, lacks in (("a", ""), ("b", "mimps lose 0"), ("c", "lose 1")):
        rows = [
            Score(
                item=one.id,
                task="probes",
                score=None if lacks and lacks in f"{one.identity} {one.stereotype}" else height[one.identity],
                extra={"identity": 0.0},
            )
            for one in records
        ]
        jsonl.write(rows, tmp_path / f"{name}.jsonl")
    examination_ = examine([tmp_path / f"{name}.jsonl" for name in "abc"], tmp_path / "probes.jsonl")
    unit = np.log(10) ** -2
    whole, two = np.var([0, -5, -1], ddof=1) * unit, 0.5 * unit
    assert matrix[0].values.tolist() == pytest.approx(
        np.array([[two, two, two], [whole, whole, np.nan], [whole, whole, whole]]), nan_ok=True
    )
    assert "1 probe of 9 left out: not every model scored them" in examination_.warnings


def test_pairs_choices_and_their_position(tmp_path: Path, matrix: list[ItemMatrix]) -> None:
    """The value is the share of the stereotype over both orders; an item refused in one order is unscored."""
    first = run(tmp_path / "one", pairs(), lambda item, order: "stereotype")
    positional = run(tmp_path / "two", pairs(), lambda item, order: order[0] if item.id != "p3" else "anti-stereotype")
    refusing = run(
        tmp_path / "three",
        pairs(),
        lambda item, order: "" if item.id == "p3" and order[0] == "stereotype" else "anti-stereotype",
    )
    examination_ = examine([first, positional, refusing], tmp_path / "data.jsonl")
    index = matrix[0].items.tolist().index("p3")
    assert matrix[0].values[index] == pytest.approx([1, 0, np.nan], nan_ok=True)
    assert matrix[0].values[index - 1] == pytest.approx([1, 0.5, 0])
    assert len(examination_.parts) == 1
    assert repr(examine([first, positional, refusing])) == repr(examination_)
    (tmp_path / "data.jsonl").unlink()
    with pytest.raises(BadInput, match=r"data\.jsonl"):
        examine([first, positional])


def test_choices_and_scores_are_refused_by_the_kind_of_each(tmp_path: Path) -> None:
    """Two runs of choose and a file of scores are refused with each kind, in any order; an unfinished run is named."""
    runs = [run(tmp_path / name, pairs(), lambda item, order: order[0]) for name in ("one", "two")]
    file = predictions(tmp_path / "a.jsonl", [1.0] * 24, CATS)
    for paths in ([*runs, file], [file, *runs]):
        with pytest.raises(ValueError, match="choices and scores") as refused:
            examine(paths)
        assert f"runs of choose: {runs[0]}, {runs[1]}" in str(refused.value)
        assert f"files of scores: {file}" in str(refused.value)
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun/asked.json").write_text("{}")
    with pytest.raises(BadInput, match="not finished"):
        examine([*runs, tmp_path / "begun"], tmp_path / "data.jsonl")


def test_choices_without_a_preference_are_refused(tmp_path: Path) -> None:
    """A choice between two identities for a predicate has no stereotype to prefer."""
    runs = [
        run(tmp_path / name, probes(), lambda item, order, at=at: order[at], second=True, template="which")
        for at, name in enumerate(("one", "two"))
    ]
    with pytest.raises(ValueError, match="choices of probes-which"):
        examine(runs, tmp_path / "data.jsonl")


def test_pairs_are_examined_by_their_sentences(tmp_path: Path, matrix: list[ItemMatrix]) -> None:
    """More above less gives 1, equal ½; each pair is its own term."""
    jsonl.write(pairs(), tmp_path / "pairs.jsonl")
    for name, more in (("a", -1.0), ("b", -2.0), ("c", -3.0)):
        rows = [
            Score(item=f"p{n}", task=side, score=more if side == "more" and n else -2.0)
            for n in range(40)
            for side in ("more", "less")
        ]
        jsonl.write(rows, tmp_path / f"{name}.jsonl")
    examination_ = examine([tmp_path / f"{name}.jsonl" for name in "abc"], tmp_path / "pairs.jsonl")
    assert matrix[0].values[:2].tolist() == [[0.5, 0.5, 0.5], [1, 0.5, 0]]
    assert examination_.parts["pairs"].undefined["terms"] == "one item a term"


def test_one_model_is_refused(tmp_path: Path) -> None:
    """At least two models are needed to distinguish models."""
    with pytest.raises(ValueError, match=r"1 model.*two"):
        examine([predictions(tmp_path / "a.jsonl", [1.0] * 24, CATS)], tmp_path / "cats.jsonl")


def test_items_to_look_at_stand_in_the_format_of_lint() -> None:
    """Items below chance come first, as warnings; a finding has rule, severity, item and message."""
    flags = [Flag(item="a", rule="E1", message="all agree"), Flag(item="b", rule="E2", message="turned")]
    report = as_json(findings(flags))
    assert report["findings"] == [
        {"rule": "E2", "severity": "warning", "item": "b", "message": "turned"},
        {"rule": "E1", "severity": "info", "item": "a", "message": "all agree"},
    ]
    assert report["ran"] == ["E1", "E2", "E3"]


@pytest.fixture(scope="module")
def released(shared: Path) -> Examination:
    """Returns the examination of StereoSet's development set by the nine released single models."""
    folder = shared / "data/stereoset/released_predictions"
    files = [
        path
        for path in sorted(folder.glob("predictions_*.json"))
        if not path.stem.endswith(("EnsembleModel_", "SentimentModel"))
    ]
    assert len(files) == 9
    return catsofa.examine(files, shared / "data/stereoset/dev.json", resamples=20)


def test_stereoset_has_the_known_components(released: Examination) -> None:
    """Shares of model, item and rest, and KR-20, equal those that another program computed."""
    expected = {"intrasentence": (0.7, 29.1, 70.2, 0.953), "intersentence": (0.9, 15.5, 83.6, 0.959)}
    for task, (*parts, kr20) in expected.items():
        part = released.parts[task]
        shares = [100 * part.value(f"variance.{name}") for name in ("model", "item", "residual")]
        assert shares == pytest.approx(parts, abs=0.05)
        assert part.value("kr20") == pytest.approx(kr20, abs=0.0006)


def test_stereoset_needs_the_known_number_of_items(released: Examination) -> None:
    """413.8 and 931.2 items are rounded up here. Eight ties count ½ here, and as lost in the known 362 and 815."""
    assert released.parts["intrasentence"].to_dict()["items_for"] == {"0.8": 414, "0.9": 932}
    assert released.parts["intersentence"].to_dict()["items_for"] == {"0.8": 359, "0.9": 807}


def test_stereoset_has_the_known_share_of_informative_items(released: Examination) -> None:
    """19.8 % and 4.3 % on which all agree; item–rest medians .23 and .10 with 40.4 % below 0; shuffled .00, 50 %."""
    expected = {"intrasentence": (0.198, 0.23, 0.404), "intersentence": (0.043, 0.10, 0.404)}
    for task, (agree, median, negative) in expected.items():
        results = released.parts[task].to_dict()
        assert results["all_agree"] == pytest.approx(agree, abs=0.0006)
        assert [one["count"] for one in results["agreed"]] == {"intrasentence": [118, 298], "intersentence": [33, 59]}[
            task
        ]
        assert results["item_rest"]["median"] == pytest.approx(median, abs=0.005)
        assert results["item_rest"]["negative"] == pytest.approx(negative, abs=0.0006)
        assert results["item_rest"]["null_median"] == pytest.approx(0, abs=0.01)
        assert results["item_rest"]["null_negative"] == pytest.approx(0.5, abs=0.01)


def test_stereosets_tasks_do_not_order_the_models_alike(released: Examination) -> None:
    """Kendall's tau is .20 between the tasks, p above .4; it is .17 (p .61) if the eight ties count as lost."""
    pair = released.convergence[0]
    assert pair.parts == ("intrasentence", "intersentence")
    assert pair.kendall.value.value == pytest.approx(0.20, abs=0.005)
    assert pair.kendall.p == pytest.approx(0.46, abs=0.01)
    assert pair.holm == 1


def test_what_people_agree_on_models_do_not_prefer(released: Examination) -> None:
    """The file has judgements of 1,296 intrasentence CATs: rho −.02 with the models' preference, .11 with item–rest.

    An earlier analysis by another program found .006 for the preference; both intervals contain it.
    """
    part = released.parts["intrasentence"]
    preference, rest = part.numbers["people.preference"], part.numbers["people.item_rest"]
    assert preference.value == pytest.approx(-0.020, abs=0.001)
    assert 0.006 in preference.terms
    assert 0.006 in preference.both
    assert rest.value == pytest.approx(0.107, abs=0.001)
    assert "people" not in released.parts["intersentence"].to_dict()


def test_the_json_of_an_examination_is_json(released: Examination) -> None:
    """Every value can be written as JSON, and the parts are under their keys."""
    document = json.loads(json.dumps(released.to_dict()))
    assert set(document["results"]) == {"intrasentence", "intersentence", "convergence"}
    assert {"variance", "items_for", "kr20", "all_agree", "item_rest", "split_half"} < set(
        document["results"]["intersentence"]
    )
    assert document["signature"]["resamples"] == 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["probes", "tests"])
def test_scores_that_are_no_preferences_are_not_read_as_such(runs: Path, kind: str) -> None:
    """Variances and effect sizes can lie between 0 and 1 too, but get no group difference, bipolar scale or margins."""
    examination_ = examine([runs / kind], groups=["gpt2"])
    for part in examination_.parts.values():
        assert part.dif["gpt2"].refused == part.undefined["bipolar"] != ""
        assert not part.dif["gpt2"].items
    with pytest.raises(ValueError, match="expected CATs or pairs"):
        examine([runs / kind], margins=True)
