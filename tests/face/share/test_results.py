"""Tests of results in the schemas of other programs, read back by those programs' packages."""

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from helpers.report_runs import association, cats, pairs, probes, run
from huggingface_hub import ModelCard, parse_eval_result_entries
from huggingface_hub.utils._fixes import yaml
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.report.inputs import find
from catsofa.share.results import measured
from catsofa.share.results.every_eval_ever import record

PYTHON = Path(os.environ.get("SHARING_PYTHON", ROOT / ".venv-sharing/bin/python"))
ESTIMATE = {"value": 0.75, "low": 0.5, "high": 0.9}
CHOICES = {"overall": {"preference": ESTIMATE, "position": ESTIMATE}, "domains": {}, "between_templates": {}}
BBQ_NUMBERS = dict.fromkeys(("acc_amb", "acc_dis", "s_amb", "s_dis"), 0.5)
BBQ = {
    "overall": {**BBQ_NUMBERS, "intervals": {name: {"low": 0.25, "high": 0.75} for name in BBQ_NUMBERS}},
    "categories": {},
}
RESULTS = {
    "stereoset": (cats("trade"), {"lms": 90.0, "ss": 60.0, "icat": 72.0}),
    "crows_pairs": (pairs("trade"), {"score": 60.0}),
    "sofa": (probes("trade"), {"score": 0.5}),
    "seat": (association("zorbs", 0.5), {"effect_size": 1.0}),
    "bbq": (BBQ, BBQ_NUMBERS),
}


def exported(*words: object) -> str:
    """Returns the output of `catsofa export-results`, or raises its error."""
    done = CliRunner().invoke(app, ["export-results", *map(str, words)])
    if done.exception is not None:
        raise done.exception
    return done.output


@pytest.mark.parametrize("kind", RESULTS)
def test_every_measure_has_its_numbers_with_limits_and_an_ideal(kind: str, tmp_path: Path) -> None:
    """The numbers are those of the report, with all items first."""
    results, expected = RESULTS[kind]
    numbers = measured(find([run(tmp_path / "run", results)]).runs[0])
    assert {one.name: one.value for one in numbers[: len(expected)]} == expected
    assert all(one.low is not None and one.low <= one.value <= (one.high or 0) for one in numbers)
    assert all(one.scale.least <= one.scale.ideal <= one.scale.most for one in numbers)


@pytest.mark.parametrize("ss", [60.0, 40.0])
def test_lower_is_better_points_from_the_value_to_the_ideal(ss: float, tmp_path: Path) -> None:
    """For ss the direction depends on the side; the description says that neither more nor less is better."""
    results = {"overall": {**cats("x")["overall"], "ss": ss}}
    (run_,) = find([run(tmp_path / "run", results)]).runs
    configs = {one["metric_config"]["metric_name"]: one["metric_config"]
            for one in record(run_, "Dravian Lab", datetime.now(UTC))["evaluation_results"]}  # fmt: skip
    assert configs["ss"]["lower_is_better"] == (ss > 50)
    assert "neither more nor less is better" in configs["ss"]["evaluation_description"]
    assert not configs["lms"]["lower_is_better"]


def test_a_card_reads_back_with_the_classes_of_the_hub(tmp_path: Path) -> None:
    """Metric, value and model are read back; repeated sets, two models, or a missing data name are refused."""
    one = run(tmp_path / "one", cats("trade"))
    card = ModelCard(f"---\n{exported(one, '--format', 'model-index')}---\n")
    assert (card.data.model_name, card.data.eval_results[1].metric_type) == ("m", "stereoset_ss")
    assert (card.data.eval_results[1].metric_value, "ideal 50" in card.data.eval_results[1].metric_name) == (60, True)
    out = tmp_path / "bakers.yaml"
    exported(one, "--format", "eval-results", "--dataset", "me/bakers", "--out", out)
    entries = parse_eval_result_entries(yaml.safe_load(out.read_text()))
    assert (entries[0].dataset_id, entries[0].task_id, entries[0].value) == ("me/bakers", "stereoset_lms", 90)
    results, _ = RESULTS["seat"]
    signature = {"data": "e@3", "model": "m@one kind=words", "protocol": "catsofa"}
    vectors = run(tmp_path / "vectors", results, signature=signature)
    assert "seat_" in exported(one, vectors, "--format", "model-index"), "vectors of the same model are of that model"
    other = run(tmp_path / "other", cats("trade"), model="n", data="e@2")
    for words, why in (
        ([one, other, "--format", "model-index"], "a card is of one model"),
        ([one, "--format", "eval-results"], "--dataset OWNER/NAME"),
        ([one, "--format", "every-eval-ever"], "no --out"),
        ([one, "--format", "every-eval-ever", "--out", tmp_path / "e"], "--organization NAME"),
    ):
        with pytest.raises(ValueError, match=why):
            exported(*words)


def test_numbers_of_other_data_or_protocols_are_never_filed_together(tmp_path: Path) -> None:
    """Each number of a card is beside the signature of its own run, and each record has its id, for one model."""
    other = {"overall": {**cats("trade")["overall"], "ss": 70.0}}
    run(tmp_path / "m", cats("trade"), data="dev@1")
    for name, data, protocol in (("b", "test@2", "catsofa"), ("c", "dev@1", "stereoset-code")):
        run(tmp_path / name / "m", other, data=data, protocol=protocol)
    card = ModelCard(f"---\n{exported(tmp_path, '--format', 'model-index', '--dataset', 'me/x')}---\n")
    values = {
        (one.dataset_args["signature"].split(" | ")[0], one.dataset_args["signature"].split(" | ")[2]): one.metric_value
        for one in card.data.eval_results
        if one.metric_type == "stereoset_ss"
    }
    assert values == {
        ("data:dev@1", "protocol:catsofa"): 60.0,
        ("data:test@2", "protocol:catsofa"): 70.0,
        ("data:dev@1", "protocol:stereoset-code"): 70.0,
    }
    records = [record(one, "Dravian Lab", datetime.now(UTC)) for one in find([tmp_path]).runs]
    assert len({one["evaluation_id"] for one in records}) == 3


def test_the_interval_of_an_association_is_no_bootstrap(tmp_path: Path) -> None:
    """The limits of d and of SoFa are Student's t, without resamples; those of ss are from a bootstrap over terms."""
    methods = {}
    for kind in ("seat", "sofa", "stereoset"):
        signature = {"data": "d@1", "model": "m@1", "protocol": "catsofa", "resamples": 100}
        (run_,) = find([run(tmp_path / kind, RESULTS[kind][0], signature=signature)]).runs
        (score, *_) = (
            one["score_details"] for one in record(run_, "Dravian Lab", datetime.now(UTC))["evaluation_results"]
        )
        methods[kind] = score["uncertainty"]["confidence_interval"]["method"]
        assert ("num_bootstrap_samples" in score["uncertainty"]) is (kind == "stereoset")
    assert methods == {
        "seat": "Student's t over targets",
        "sofa": "Student's t of the logarithm over stereotypes",
        "stereoset": "bootstrap over clusters",
    }


def test_each_exported_number_has_its_own_coverage(tmp_path: Path) -> None:
    """lms and ss have their own shares of decided items, icat the smaller one; cards and records show them."""
    overall = {**cats("trade")["overall"], "coverage": 0.5, "lms_coverage": 0.75, "ss_coverage": 0.625}
    path = run(tmp_path / "run", {"overall": overall})
    (run_,) = find([path]).runs
    assert {one.name: one.coverage for one in measured(run_)} == {"lms": 0.75, "ss": 0.625, "icat": 0.625}
    results = record(run_, "Dravian Lab", datetime.now(UTC))["evaluation_results"]
    assert [one["score_details"]["details"]["coverage"] for one in results] == ["0.75", "0.625", "0.625"]
    card = ModelCard(f"---\n{exported(path, '--format', 'model-index')}---\n")
    assert "coverage 62.5 %" in str(card.data.eval_results[1].metric_name)


def written(tmp_path: Path) -> list[Path]:
    """Writes the records of a run of each measure."""
    runs = [run(tmp_path / "runs" / kind, results) for kind, (results, _) in RESULTS.items()]
    exported(*runs, "--format", "every-eval-ever", "--organization", "Dravian Lab", "--out", tmp_path / "out")
    return sorted((tmp_path / "out").rglob("*.json"))


def test_records_name_no_place_of_this_machine(tmp_path: Path) -> None:
    """Each run has a file below data/MEASURE/DEVELOPER/MODEL without any local path."""
    files = written(tmp_path)
    assert {file.relative_to(tmp_path / "out").parts[:4] for file in files} == {
        ("data", kind, "unknown", "m") for kind in RESULTS
    }
    assert not any(str(tmp_path) in file.read_text() for file in files)


@pytest.mark.slow
def test_the_package_of_the_schema_takes_the_records(tmp_path: Path) -> None:
    """`every_eval_ever validate` finds no error; its warnings are only about the missing developer."""
    if not PYTHON.exists():
        pytest.skip("no .venv-sharing; `make sharing` installs Every Eval Ever's package")
    files = [str(file.relative_to(tmp_path / "out")) for file in written(tmp_path)]
    done = subprocess.run(
        [PYTHON, "-m", "every_eval_ever", "validate", "--format", "json", *files],
        cwd=tmp_path / "out", capture_output=True, text=True, check=False,
    )  # fmt: skip
    reports: list[dict[str, Any]] = json.loads(done.stdout)
    assert [(one["valid"], one["errors"]) for one in reports] == [(True, [])] * len(RESULTS)
    assert all("developer must be known" in warning["msg"] for one in reports for warning in one["warnings"])
