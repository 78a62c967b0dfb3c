"""Tests of `compare` in each domain, on association tests and on questions, and of `robustness` on folders of runs."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.choice_runs import pairs, questions
from helpers.choice_runs import run as chosen
from helpers.gate_runs import cats, even, number, planted, ran, runs_of_two
from statsmodels.stats.multitest import multipletests

from catsofa.comparison import compare, robustness
from catsofa.data.files import jsonl
from catsofa.gate import check
from catsofa.report import document
from catsofa.scoring.evaluate import evaluate


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes runs of two models, the second with more stereotypes in trade only, and of each on paraphrases."""
    folder = tmp_path_factory.mktemp("compared")
    jsonl.write(cats(), folder / "cats.jsonl")
    reworded = [replace(cat, context=cat.context.replace("on day", "upon day")) for cat in cats()]
    jsonl.write(reworded, folder / "paraphrased.jsonl")
    for name in ("cats", "paraphrased"):
        data = folder / f"{name}.jsonl"
        planted(folder / name / "a", data, even, model="a")
        planted(
            folder / name / "b", data, model="b",
            prefers=lambda cat: "+" if cat.bias_type == "trade" and number(cat)[1] < 6 else even(cat),
        )  # fmt: skip
    return folder


def test_domains_have_the_changes_of_their_own_records_and_share_one_correction(models: Path) -> None:
    """ss of trade rises from 50 to 80, that of planet stays at 50; p is corrected over all nine rows."""
    runs = [models / "cats/a", models / "cats/b"]
    comparison = compare(runs, domains=True)
    rows = {(row.set, row.measure): row for row in comparison.differences}
    assert [(row.set, row.measure) for row in comparison.differences] == [
        (part, name) for part in ("overall", "planet", "trade") for name in ("lms", "ss", "icat")
    ]
    for part, ss in (("overall", 65), ("planet", 50), ("trade", 80)):
        assert (rows[part, "ss"].first, rows[part, "ss"].other) == (50, pytest.approx(ss))
    p = [row.change.p for row in comparison.differences if row.change.p == row.change.p]
    assert [row.holm for row in comparison.differences if row.change.p == row.change.p] == pytest.approx(
        multipletests(p, method="holm")[1]
    )
    alone = {row.measure: row for row in compare(runs).differences}
    assert all(str(rows["overall", name].change) == str(alone[name].change) for name in alone)
    jsonl.write([cat for cat in cats() if cat.bias_type == "trade"], models / "trade.jsonl")
    only = {row.measure: row for row in compare(runs, models / "trade.jsonl").differences}
    assert all(str(rows["trade", name].change) == str(only[name].change) for name in only)


def test_an_iterator_of_runs_is_read_once_and_a_text_is_no_row_of_letters(models: Path) -> None:
    """`compare` and `robustness` accept iterators of paths; a single path is one path, not a list of its letters."""
    runs = [models / "cats/a", models / "cats/b"]
    assert compare(iter(runs)).to_dict() == compare(runs).to_dict()
    for alone, word in ((str(runs[0]), "one"), ([], "none")):
        with pytest.raises(ValueError, match=f"two models.*{word}"):
            compare(alone)
    lists = robustness([models / "cats/a"], [models / "paraphrased/a"]).to_dict()
    assert robustness(str(models / "cats/a"), iter([models / "paraphrased/a"])).to_dict() == lists
    assert check(str(runs[0]), runs[0]).exit_code == 0


def test_a_comparison_of_a_folder_is_that_of_its_runs_on_one_data_set(models: Path, tmp_path: Path) -> None:
    """A folder means the runs below it; `on` chooses one of several data sets, and what is left out is named."""
    runs = [models / "cats/a", models / "cats/b"]
    assert str(compare([models / "cats"]).to_dict()) == str(compare(runs).to_dict())
    with pytest.raises(ValueError, match=r"cats.jsonl.*2 runs.*paraphrased.jsonl.*--on"):
        compare([models])
    chosen_by = compare([models], models / "cats.jsonl")
    assert [str(row) for row in chosen_by.differences] == [str(row) for row in compare(runs).differences]
    assert [text for text in chosen_by.warnings if "Left out" in text and "paraphrased/a" in text]
    with pytest.raises(ValueError, match="files alone"):
        compare([models / "cats", models / "cats.jsonl"])
    with pytest.raises(ValueError, match="no run in it"):
        compare([models / "cats/a", tmp_path])


def test_domains_of_choices_are_compared_too(tmp_path: Path) -> None:
    """In one of two domains of pairs, the second model changes its preference."""
    both = [replace(pair, bias_type="xy"[index % 2]) for index, pair in enumerate(pairs(40))]
    (tmp_path / "b").mkdir()
    one = chosen(tmp_path / "a", both, lambda item, order: item.sides[int(item.id[1:]) // 2 % 2])
    other = chosen(
        tmp_path / "b/c", both,
        lambda item, order: item.sides[item.domain == "x" and int(item.id[1:]) // 2 % 2],
    )  # fmt: skip
    rows = {(row.set, row.measure): row for row in compare([one, other], domains=True).differences}
    assert [rows[part, "preference"].first for part in ("overall", "x", "y")] == [0.5, 0.5, 0.5]
    assert [rows[part, "preference"].other for part in ("overall", "x", "y")] == [0.75, 0.5, 1]


def test_association_tests_are_compared_one_by_one(tmp_path: Path) -> None:
    """Both d are those of the reports, and the change is their difference."""
    root = runs_of_two(tmp_path)
    runs = [root / "runs" / name / "tests" for name in ("gpt2", "llama")]
    comparison = compare(runs)
    (row,) = comparison.differences
    sizes = [json.loads((run / "report.json").read_text())["results"][0]["effect_size"] for run in runs]
    assert (row.measure, row.set, row.first, row.other) == ("seat", "invented", *map(pytest.approx, sizes))
    assert row.change.by.value == pytest.approx(sizes[1] - sizes[0])
    assert (comparison.kind, comparison.items, comparison.whole) == ("association tests", 1, 1)
    with pytest.raises(ValueError, match="same data"):
        compare([runs[0], root / "runs/llama/pairs"])


def test_models_in_two_precisions_are_compared_with_a_caution(tmp_path: Path) -> None:
    """Pairs and association tests of models in two precisions are compared alike, and a warning names both."""
    root = runs_of_two(tmp_path)
    for name, data in (("pairs", "pairs.jsonl"), ("tests", "tests")):
        half = tmp_path / "half" / name
        evaluate(str(root / "llama"), root / data, out=half, resamples=20, dtype="bfloat16")
        comparison = compare([root / "runs/gpt2" / name, half])
        assert comparison.signature is not None
        assert comparison.signature.dtype == ""
        assert sum("float32 and bfloat16" in warning for warning in comparison.warnings) == 1
        alike = compare([root / "runs" / model / name for model in ("gpt2", "llama")])
        assert alike.signature is not None
        assert alike.signature.dtype == "float32"
        assert not any("computed in" in warning for warning in alike.warnings)


class Answers:
    """A model whose likeliest answer contains this word."""

    def __init__(self, place: str) -> None:
        self.name, self.digest, self.place = f"always {place}", f"answers:{place}", place

    def loglikelihood(self, queries: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Returns one token for each text, likeliest for one answer."""
        return [[-1.0 if self.place in text else -9.0] for _, text in queries]


def test_questions_are_compared_by_accuracy_and_bias(tmp_path: Path) -> None:
    """One model always says that nobody knows: right in every ambiguous context, wrong in every other."""
    jsonl.write(questions(12), tmp_path / "questions.jsonl")
    for name in ("Unknown", "zorb"):
        evaluate(Answers(name), tmp_path / "questions.jsonl", out=tmp_path / name, resamples=20)
    comparison = compare([tmp_path / "Unknown", tmp_path / "zorb"])
    rows = {row.measure: (row.first, row.other) for row in comparison.differences}
    assert rows["acc_amb"] == (1, 0)
    assert rows["acc_dis"] == (0, 0.5)
    assert (comparison.kind, comparison.items) == ("questions", 24)


def test_robustness_of_folders_is_that_of_their_runs_joined_by_model(models: Path) -> None:
    """For two models, folders give the same result as their runs in order; a model without paraphrases is named."""
    named = [[models / side / model for model in "ab"] for side in ("cats", "paraphrased")]
    result = robustness([models / "cats"], [models / "paraphrased"])
    assert str(result.to_dict()) == str(robustness(*named).to_dict())
    some = robustness([models / "cats"], [models / "paraphrased/b"])
    alone = robustness(named[0][1:], named[1][1:])
    assert str([one.comparison.to_dict() for one in some.compared]) == str(
        [one.comparison.to_dict() for one in alone.compared]
    )
    assert any("cats/a, which has no run on paraphrases" in told for told in some.warnings)
    with pytest.raises(ValueError, match="files alone"):
        robustness([models / "cats"], [models / "cats.jsonl"])
    with pytest.raises(ValueError, match=r"no run.*same model"):
        robustness([models / "cats/a"], [models / "paraphrased"])


def test_two_models_have_ranks_and_no_rank_correlation(models: Path) -> None:
    """The terminal and the report say that Kendall's tau needs three models, instead of 1 or -1."""
    code, printed = ran("robustness", "--original", models / "cats", "--paraphrase", models / "paraphrased")
    assert code == 0
    assert "ranks by icat" in printed
    assert "Kendall's tau: needs 3 models or more" in printed
    found = document([models / "cats"], paraphrases=[models / "paraphrased"])
    (table,) = (table for one in found.sections for table in one.tables if "τ" in table.columns)
    assert table.rows[0][table.columns.index("τ")] == "needs 3 models or more"
