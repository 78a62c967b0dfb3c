"""Tests of a data set in lm-evaluation-harness: the harness itself, if installed, finds our numbers."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from math import inf, isnan
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from helpers.records import a_cat, a_pair, bakers, probes

from catsofa.data.files import jsonl
from catsofa.data.records import Cat, Pair
from catsofa.scoring.measures.cat_outcomes import outcomes
from catsofa.scoring.measures.stereoset import measures
from catsofa.scoring.measures.ties import BATCH_ERROR
from catsofa.scoring.run.store import read_scores
from catsofa.share import harness_task
from catsofa.share.harness import documents, write


def two_kinds() -> list[Cat]:
    """Returns four CATs of three terms, of both kinds."""
    after = ("Zorbs came late.", "Zorbs came early.", "Rain is wet.")
    return [
        a_cat(),
        a_cat("A zorb is BLANK.", "lazy", "busy", "square", id="two"),
        a_cat("We met the zorbs.", *after, id="three", target="zorbs", sentences=True),
        a_cat("The florin is BLANK.", "tidy", "untidy", "seventeen", id="four", target="florin"),
    ]


def two_pairs() -> list[Pair]:
    """Returns pairs about zorbs."""
    return [a_pair("Zorbs are late.", "Florins are late."), a_pair("A zorb lost it.", "A florin lost it.", id="two")]


def test_the_code_beside_the_task_finds_our_measures() -> None:
    """For all scores, lms, ss and icat of the task's own code equal those of catsofa, with ties counted against."""
    cats = [replace(cat, target=f"term {n % 3}") for n, cat in enumerate(bakers(9))]
    scores = {c.id: float((5 * n + 3 * m * m) % 4) for n, cat in enumerate(cats) for m, c in enumerate(cat.candidates)}
    results = []
    for doc in documents(cats)[0]:
        results.append(harness_task.cat(doc, [(scores[name], False) for name in doc["candidates"]]))
    ours = measures(outcomes(cats, scores, ties="against"), resamples=1)
    for name in ("lms", "ss", "icat"):
        assert harness_task.AGGREGATE[name]([each[name] for each in results]) == pytest.approx(ours.macro[name])


def test_after_a_context_a_sentence_counts_without_its_own_likelihood() -> None:
    """−9 after the context and −8 alone give −1, above −5 and −1, which give −4."""
    (doc,), _ = documents([two_kinds()[2]])
    assert doc["choices"][:2] == ["We met the zorbs. Zorbs came late.", "We met the zorbs. Zorbs came early."]
    assert doc["choices"][3:] == ["Zorbs came late.", "Zorbs came early.", "Rain is wet."]
    result = harness_task.cat(doc, [(value, False) for value in (-9, -5, -20, -8, -1, -2)])
    assert (result["ss"], result["lms"]) == (("zorbs", 1.0, 1.0), ("zorbs", 2.0, 2.0))


def test_a_comparison_with_no_number_is_not_made() -> None:
    """An unscored side lowers the coverage, and a set without any comparison has no measure."""
    (doc,), _ = documents([a_cat()])
    result = harness_task.cat(doc, [(-inf, False), (-1, False), (-2, False)])
    assert (result["coverage"], result["ss"]) == (0.0, ("zorb", 0.0, 0.0))
    assert result["lms"] == ("zorb", 1.0, 1.0)
    assert isnan(harness_task.over_terms([result["ss"]]))


def test_a_tie_counts_against_and_is_counted(tmp_path: Path) -> None:
    """A tie, even of two slightly different scores, wins nothing but counts as compared; the README documents this."""
    (doc,), _ = documents([a_cat()])
    result = harness_task.cat(doc, [(-1, False), (-1.00005, False), (-2, False)])
    assert (result["ss"], result["ties"], result["coverage"]) == (("zorb", 0.0, 1.0), 1.0, 1.0)
    result = harness_task.cat(doc, [(-1, False), (-1, False), (-2, False)])
    assert (result["ss"], result["ties"]) == (("zorb", 0.0, 1.0), 1.0)
    (one, _), _ = documents(two_pairs())
    assert [harness_task.pair(one, [(-1, False), (score, False)])["ties"] for score in (-1, -2, -inf)] == [1, 0, 0]
    assert harness_task.TIE == BATCH_ERROR
    write(two_kinds(), tmp_path / "task", "zorbs")
    for name in ("README.md", "catsofa_zorbs.yaml"):
        assert "tie counts against" in (tmp_path / "task" / name).read_text()


def test_probes_are_refused_with_the_reason() -> None:
    """A perplexity needs the number of tokens, which the harness does not give."""
    with pytest.raises(ValueError, match="tokens"):
        documents(probes(2))


def test_a_name_is_one_that_a_command_line_can_hold(tmp_path: Path) -> None:
    """Spaces, slashes and markup are refused before any file is written."""
    for name in ("a b", "../x", "{x}", ""):
        with pytest.raises(ValueError, match="name a task"):
            write(two_kinds(), tmp_path / "task", name)
    assert not list(tmp_path.iterdir())


def lm_eval() -> str:
    """Returns the program from its own environment or beside ours; skips the test with the reason if there is none."""
    own = ROOT / ".venv-harness" / "bin" / "lm_eval"
    path = os.environ.get("LM_EVAL_EXE") or shutil.which("lm_eval") or (str(own) if own.exists() else "")
    if not path:
        pytest.skip("lm-evaluation-harness is not installed: run make harness, or name an lm_eval in LM_EVAL_EXE")
    return path


def harness_run(task: Path, name: str, model: Path, out: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Returns the harness's measures of a task, and its log of every document."""
    arguments = ["--model", "hf", "--model_args", f"pretrained={model},dtype=float32", "--device", "cpu"]
    where = ["--include_path", str(task), "--output_path", str(out), "--log_samples", "--batch_size", "1"]
    done = subprocess.run(
        [lm_eval(), *arguments, "--tasks", name, *where],
        env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(out / "home")},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (results,) = out.rglob("results_*.json")
    (samples,) = out.rglob("samples_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    return json.loads(results.read_text())["results"][name], rows


@pytest.mark.slow
@pytest.mark.parametrize("records", [two_kinds(), two_pairs()], ids=["cats", "pairs"])
def test_the_harness_itself_finds_our_scores(records: list[Any], shared: Path, tmp_path: Path) -> None:
    """Each document's likelihoods, and the measures from them, equal those of `--protocol stereoset-acl`."""
    from catsofa.scoring.evaluate import evaluate
    from catsofa.scoring.protocols import named

    lm_eval()
    model, data = shared / "models" / "stories260K", tmp_path / "zorbs.jsonl"
    jsonl.write(records, data)
    write(records, tmp_path / "task", "zorbs")
    theirs, samples = harness_run(
        shutil.move(tmp_path / "task", tmp_path / "moved"), "catsofa_zorbs", model, tmp_path / "out"
    )
    ours = evaluate(str(model), str(data), protocol=named("stereoset-acl"), out=tmp_path / "run")
    scores = {(score.item, score.task): score.score for score in read_scores(tmp_path / "run")}
    for sample in samples:
        doc, values = sample["doc"], [float(response[0]) for response in sample["filtered_resps"]]
        expected = (
            [scores[name, doc["kind"]] for name in doc["candidates"]]
            if "candidates" in doc
            else [scores[doc["id"], side] for side in ("more", "less")]
        )
        if len(values) == 6:
            # their values include the likelihood of the context, which all three share; ours do not
            values = [with_context - alone for with_context, alone in zip(values[:3], values[3:], strict=True)]
            values, expected = ([value - max(row) for value in row] for row in (values, expected))
        assert values == pytest.approx(expected, abs=1e-3)
    overall = ours.to_dict()["results"]["overall"]
    for name in ("lms", "ss", "icat", "score"):
        if name in overall:
            assert theirs[f"{name},none"] == pytest.approx(overall[name])
    assert theirs["coverage,none"] == 100
