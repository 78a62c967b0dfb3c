"""Tests StereoSet's released prediction files against its own evaluation and its printed tables."""

import csv
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from catsofa.data.formats import read_as
from catsofa.data.records import Cat, Score
from catsofa.scoring.measures.cat_outcomes import Outcomes, outcomes
from catsofa.scoring.measures.stereoset import Results, results

TABLES = Path(__file__).parents[1] / "published" / "stereoset_tables.csv"
"""Numbers printed in StereoSet's two papers: `v1` is arXiv 2020, `acl` is ACL 2021."""

FILES = {
    "SentimentLM": "SentimentModel",
    "BERT-base": "bert-base-cased_BertNextSentence_BertLM",
    "BERT-large": "bert-large-cased_BertNextSentence_BertLM",
    "RoBERTa-base": "roberta-base_ModelNSP_RoBERTaLM",
    "RoBERTa-large": "roberta-large_ModelNSP_RoBERTaLM",
    "XLNet-base": "xlnet-base-cased_ModelNSP_XLNetLM",
    "XLNet-large": "xlnet-large-cased_ModelNSP_XLNetLM",
    "GPT2": "gpt2_ModelNSP_GPT2LM",
    "GPT2-medium": "gpt2-medium_ModelNSP_GPT2LM",
    "GPT2-large": "gpt2-large_ModelNSP_GPT2LM",
    "Ensemble": "EnsembleModel_",
}
"""Released prediction file by the papers' name of a model."""

TASKS = {"intra": "intrasentence", "inter": "intersentence"}


@cache
def dev(shared: Path) -> list[Cat]:
    """Returns StereoSet's development set."""
    return list(read_as(shared / "data/stereoset/dev.json", Cat))


@cache
def released(shared: Path, model: str) -> Outcomes:
    """Returns a released prediction file under the released code's rule for ties."""
    path = shared / f"data/stereoset/released_predictions/predictions_{FILES[model]}.json"
    return outcomes(dev(shared), {s.item: s.score for s in read_as(path, Score)}, ties="against")


@cache
def scored(shared: Path, model: str) -> Results:
    """Returns the measures of a released prediction file, without intervals."""
    return results(released(shared, model), resamples=0)


def printed(paper: str, table: str) -> list[dict[str, str]]:
    """Returns the rows of a printed table."""
    with TABLES.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if (row["paper"], row["table"]) == (paper, table)]


@pytest.mark.parametrize("model", [model for model in FILES if model != "SentimentLM"])
def test_every_released_number_is_met(shared: Path, model: str) -> None:
    """The 33 numbers of the released evaluation match for each model to 1e-9."""
    expected = json.loads((shared / "data/stereoset/released_predictions/predictions.json").read_text())
    key = FILES[model].rstrip("_").split("_")[0]
    ours, theirs, met = scored(shared, model), expected[key], 0
    for task in TASKS.values():
        for domain, row in theirs[task].items():
            met += _compare(ours.tasks[task][domain].to_dict(), row)
    met += _compare(ours.overall.to_dict(), theirs["overall"])
    assert met == 33


def _compare(ours: dict[str, float], theirs: dict[str, float]) -> int:
    """Compares the three measures of a set and returns how many were compared."""
    names = {"lms": "LM Score", "ss": "SS Score", "icat": "ICAT Score"}
    for name, their_name in names.items():
        assert ours[name] == pytest.approx(theirs[their_name], abs=1e-9)
    return len(names)


def test_all_numbers_of_table_7_are_met_to_their_digits(shared: Path) -> None:
    """StereoSet v1, Table 7: all 330 numbers match to two decimals (11 models, 2 tasks, 5 rows, 3 measures)."""
    met = 0
    for row in printed("v1", "7"):
        ours = scored(shared, row["model"]).tasks[TASKS[row["task"]]][row["domain"]].to_dict()
        for name in ("lms", "ss", "icat"):
            assert f"{ours[name]:.2f}" == row[name], row
            met += 1
    assert met == 330


def test_the_dev_column_of_table_4_is_met_but_for_the_sentiment_row(shared: Path) -> None:
    """StereoSet v1, Table 4: 30 of 33 numbers match; the released sentiment file gives 64.8, 61.7, 49.6."""
    differing = {
        row["model"]
        for row in printed("v1", "4 dev")
        for name in ("lms", "ss", "icat")
        if f"{getattr(scored(shared, row['model']).overall, name).value:.1f}" != row[name]
    }
    assert differing == {"SentimentLM"}
    ours = scored(shared, "SentimentLM").overall.to_dict()
    assert [round(ours[name], 1) for name in ("lms", "ss", "icat")] == [64.8, 61.7, 49.6]


MICRO = {
    "GPT2": (91.15, 62.04, 69.21),
    "GPT2-medium": (92.17, 62.80, 68.58),
    "GPT2-large": (92.44, 64.37, 65.87),
    "BERT-base": (83.11, 58.85, 68.40),
    "Ensemble": (92.70, 63.65, 67.38),
}
"""lms, ss and icat over items, computed without catsofa over the paraphrase study's list of CATs."""


@pytest.mark.parametrize("model", MICRO)
def test_the_average_over_items(shared: Path, model: str) -> None:
    """Numbers match to two decimals over the 2,102 CATs of the paraphrase study's list, each counted once."""
    listed = {row["id"] for row in json.loads((shared / "data/paraphrase/released/data.json").read_text())}
    intra = released(shared, model).of(kind="intrasentence")
    part = intra.take(np.isin(intra.ids, sorted(listed)))
    assert len(part) == 2102
    overall = results(part, average="items", resamples=0).overall
    assert tuple(round(overall.to_dict()[name], 2) for name in ("lms", "ss", "icat")) == MICRO[model]
    assert dict(overall.micro) == {name: overall.to_dict()[name] for name in ("lms", "ss", "icat")}


def test_items_terms_and_coverage_are_counted_right(shared: Path) -> None:
    """255 gender CATs about 10 terms are counted as 255; the released evaluation counts 765."""
    gender = scored(shared, "GPT2").tasks["intrasentence"]["gender"]
    assert (gender.items, gender.terms, gender.coverage) == (255, 10, 1.0)
    overall = scored(shared, "GPT2").overall
    assert (overall.items, overall.terms, overall.coverage) == (4229, 79, 1.0)


def test_the_texts_means_of_two_settings_are_of_different_models() -> None:
    """StereoSet (ACL): 75.7 and 79.4 average six masked models, 78.8 and 76.0 nine models; the six have
    78.0 and 71.3.
    """

    def mean(table: str, task: str, *, masked: bool) -> float:
        names = ("BERT", "RoBERTa", "XLNet") if masked else ("BERT", "RoBERTa", "XLNet", "GPT2")
        rows = [row for row in printed("acl", table) if row["task"] == task and row["model"].split("-")[0] in names]
        assert len(rows) == (6 if masked else 9)
        return float(np.mean([float(row["lms"]) for row in rows]))

    assert [mean(table, "intra", masked=True) for table in "67"] == pytest.approx([75.7, 79.4], abs=0.05)
    assert [mean(table, "inter", masked=False) for table in "67"] == pytest.approx([78.82, 75.98], abs=0.005)
    assert [mean(table, "inter", masked=True) for table in "67"] == pytest.approx([78.0, 71.3], abs=0.06)


def test_lms_and_ss_rise_together_over_models() -> None:
    """StereoSet (ACL), section 7: Spearman's rho of lms and ss over the nine models of Table 4 is 0.87."""
    rows = [row for row in printed("acl", "4") if row["model"] not in ("SentimentLM", "Ensemble")]
    rho = spearmanr([float(row["lms"]) for row in rows], [float(row["ss"]) for row in rows]).statistic
    assert len(rows) == 9
    assert round(rho, 3) == 0.867
