import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.commands import run_catsofa
from helpers.records import PAIRS, PROBES, TEST, cats

from catsofa.cli import main
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.records import Score
from catsofa.scoring.evaluate import evaluate, planned
from catsofa.scoring.executors.local import Local
from catsofa.scoring.models import load
from catsofa.scoring.run.manifest import read_manifest
from catsofa.scoring.run.store import read_scores
from catsofa.scoring.signature import differences

Tiny = Callable[[str], Path]


@pytest.mark.parametrize("name", ["gpt2", "llama", "bloom", "gemma2", "mamba", "bert", "roberta", "bart", "xlnet"])
def test_every_kind_of_model_is_measured_on_every_kind_of_data(tiny: Tiny, name: str) -> None:
    """CATs, pairs and probes have full coverage, and every unscored item has a reason."""
    model = load(str(tiny(name)))
    result = evaluate(model, cats(), resamples=100).to_dict()
    assert result["results"]["intrasentence"]["overall"]["coverage"] == 1
    if name == "roberta":
        assert "next-sentence head" in next(iter(result["unscored"]))
    else:
        assert result["results"]["intersentence"]["overall"]["coverage"] == 1
    assert evaluate(model, PAIRS, resamples=100).to_dict()["results"]["overall"]["coverage"] == 1
    probes = evaluate(model, PROBES, resamples=100).to_dict()["results"]
    assert probes["score"] > 0
    assert set(probes["categories"]) == {"invented"}


def test_an_encoder_is_measured_on_association_tests(tiny: Tiny) -> None:
    """The result has a row for each test, and the signature has the encoder's options."""
    result = evaluate(str(tiny("bert-encoder")), [TEST], protocol="sent-bias").to_dict()
    assert [row["test"] for row in result["results"]] == ["invented"]
    assert result["results"][0]["exact"]
    assert "pooling=cls" in result["signature"]["model"]


def test_a_limit_stands_in_the_signature(tiny: Tiny, files: Path) -> None:
    """The signature names the limit, so that the first two CATs do not pass for all."""
    some = evaluate(str(tiny("gpt2")), files / "cats.jsonl", limit=2, resamples=0)
    every = evaluate(str(tiny("gpt2")), files / "cats.jsonl", resamples=0)
    assert " | subset:first 2@" in str(some.signature)
    assert "subset" not in str(every.signature)


def test_a_signature_names_no_folder_of_a_machine(tiny: Tiny) -> None:
    """A signature names a model by its folder's own name and the hash of its weights, not by its path."""
    for name, records in (("gpt2", PAIRS), ("bert-encoder", [TEST])):
        folder = tiny(name)
        result = evaluate(str(folder), records, resamples=0, protocol="sent-bias" if records == [TEST] else "catsofa")
        assert folder.name in str(result.signature)
        assert str(folder.parent) not in str(result.signature)


def test_several_models_and_sets_have_a_folder_each(tiny: Tiny, files: Path) -> None:
    """Runs are written to `out/model/data`; two of the same name are refused before any model is loaded."""
    models = [str(tiny("gpt2")), str(tiny("bert"))]
    sets = [str(files / "cats.jsonl"), str(files / "pairs.jsonl"), str(files / "tests")]
    work = planned(models, sets, files / "runs")
    assert len(work) == 6
    executor = Local()
    for model, data, folder in work:
        evaluate(model, data, executor=executor, out=folder, resamples=10)
    assert {path.parent.relative_to(files / "runs").as_posix() for path in files.glob("runs/*/*/manifest.json")} == {
        f"{model}/{name}" for model in ("gpt2", "bert") for name in ("cats", "pairs", "tests")
    }
    assert read_manifest(files / "runs/bert/pairs")["about"]["on"] == str(files / "pairs.jsonl")
    with pytest.raises(ValueError, match=r"same name.*--out"):
        planned(models[:1], [sets[0], str(files / "cats.json")], files / "again")


def test_a_pseudo_perplexity_is_not_taken_for_a_perplexity(tiny: Tiny) -> None:
    """SoFa signatures of a masked and a causal model differ, so that no column mixes both."""
    causal, masked, gap = (evaluate(str(tiny(name)), PROBES, resamples=10) for name in ("gpt2", "bert", "bart"))
    assert causal.signature.way == ""
    assert differences(causal.signature, masked.signature) == ["way: none and pseudo-perplexity"]
    assert differences(masked.signature, gap.signature)


def test_a_test_without_vectors_is_unscored_and_not_an_error(
    files: Path, catsofa: Callable[..., tuple[str, str]]
) -> None:
    """Word vectors without any target give an unscored row with a reason, and null in JSON."""
    (files / "vectors.txt").write_text("zorb 1 0.5\nkind 0.2 1\n", encoding="utf-8")
    command = ("score", files / "vectors.txt", "--on", files / "tests")
    printed, messages = catsofa(*command)
    assert "unscored" in printed
    assert "texts have no vector of their own" in messages
    row = json.loads(catsofa(*command, "--json")[0])["results"][0]
    assert (row["effect_size"], row["p_value"], row["holm"]) == (None, None, None)
    assert row["coverage"] < 1


def test_the_ends_of_probes_are_shown_on_request(
    tiny: Tiny, files: Path, catsofa: Callable[..., tuple[str, str]]
) -> None:
    """`--terms` prints the identities most often lowest and highest, and the stereotypes with lowest and
    highest DDS.
    """
    printed = catsofa("score", tiny("gpt2"), "--on", files / "probes.jsonl", "--terms")[0]
    for end in ("identities most often lowest", "identities most often highest", "stereotypes with lowest DDS"):
        assert f"invented, {end}: " in printed


def test_models_are_compared_on_probes_too(tiny: Tiny, files: Path, catsofa: Callable[..., tuple[str, str]]) -> None:
    """The comparison has the ends that two models share, and tau of their orders; the same model twice is refused."""
    for name, folder in (("gpt2", "one"), ("llama", "two"), ("gpt2", "one again")):
        evaluate(str(tiny(name)), files / "probes.jsonl", out=files / folder, resamples=10)
    comparison = json.loads(catsofa("compare", files / "one", files / "two", "--json")[0])
    assert [row["category"] for row in comparison["agreement"]] == ["invented"]
    assert -1 <= comparison["agreement"][0]["kendall"]["identities"]["value"] <= 1
    assert comparison["agreement"][0]["overlap"]["identities most often lowest"]["top"] == 1, "half of three at most"
    assert comparison["signature"]["protocol"] == "catsofa"
    assert "order of stereotypes: Kendall's tau" in catsofa("compare", files / "one", files / "two")[0]
    assert f"{files / 'one'} and {files / 'one again'}" in catsofa("compare", files / "one", files / "one again")[1]


def test_a_slip_in_the_last_name_costs_no_work_on_the_first(tiny: Tiny, files: Path) -> None:
    """All models and data sets are looked up before any is loaded."""
    models = [str(tiny("gpt2")), str(files / "nothing")]
    with pytest.raises(ValueError, match=r"no folder.*nothing.*hub id"):
        planned(models, [str(files / "cats.jsonl")])
    with pytest.raises(BadInput, match="no such file"):
        planned(models[:1], [str(files / "cats.jsonl"), str(files / "missing.json")])


@pytest.mark.parametrize(("wrong", "right"), [("protocl", "protocol"), ("devise", "device")])
def test_a_misspelt_argument_is_named_with_the_right_one(files: Path, wrong: str, right: str) -> None:
    """The error names the function that the user called, and comes before any model is loaded."""
    with pytest.raises(TypeError, match=rf"evaluate\(\) has no argument '{wrong}'; do you mean '{right}'\?"):
        evaluate("nowhere", files / "cats.jsonl", **{wrong: "x"})


def test_records_of_two_kinds_or_of_none_we_score_are_refused(tiny: Tiny, files: Path) -> None:
    """The error names the kinds of records found."""
    model = load(str(tiny("gpt2")))
    with pytest.raises(ValueError, match="cats and pairs"):
        evaluate(model, [*cats(), *PAIRS])
    formats.named("jsonl").write([Score(item="a", score=1.0)], files / "scores.jsonl")
    with pytest.raises(ValueError, match=r"found scores.*cats"):
        evaluate(model, files / "scores.jsonl")


def test_the_command_scores_keeps_and_exports(tiny: Tiny, files: Path) -> None:
    """The command runs in another folder; `--predictions` accepts the exported file."""
    done = run_catsofa("score", str(tiny("gpt2")), "--on", "cats.json", "--out", "run", "--json", cwd=files)
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)["results"]
    exported = run_catsofa("export", "run", "--format", "stereoset", cwd=files)
    (files / "predictions.json").write_text(exported.stdout)
    again = run_catsofa("score", "--predictions", "predictions.json", "--on", "cats.json", "--json", cwd=files)
    counted = json.loads(again.stdout.replace('"unknown": null', '"unknown": 0'))  # files do not count unknown tokens
    assert counted["results"] == measured
    every = {entry["id"]: entry["score"] for task in json.loads(exported.stdout).values() for entry in task}
    stored = {score.item: np.exp(score.score or np.nan) for score in read_scores(files / "run")}
    assert every == pytest.approx(stored)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["score", "--on", "cats.json"], "name models to score, or --predictions to measure"),
        (["score", "--predictions", "p.json", "--on", "cats.json", "--out", "o"], "have no effect: --out"),
        (["score", "nowhere", "--on", "nothing.json"], "nothing.json"),
        (["score", "MODEL", "--on", "cats.json", "--protocol", "stereoset"], "no protocol 'stereoset'"),
        (["score", "MODEL", "--on", "cats.json", "--out", "."], "a folder with other files in it"),
        (["export", "."], "no manifest.json"),
        (
            ["export", "above"],
            "holds the runs 'a, b'; expected a run folder of catsofa; name one of these runs",
        ),
        (["export", "run", "--format", "csv"], "no format 'csv'"),
        (["protocols", "show", "nothing"], "no protocol 'nothing'"),
    ],
)
def test_a_mistake_is_one_sentence(
    tiny: Tiny,
    files: Path,
    arguments: list[str],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A user error gives exit code 2, one line on stderr and nothing on stdout."""
    words = [str(tiny("gpt2")) if word == "MODEL" else word for word in arguments]
    monkeypatch.setattr(sys, "argv", ["catsofa", *words])
    monkeypatch.chdir(files)
    for run in ("above/a", "above/b"):
        Path(run).mkdir(parents=True, exist_ok=True)
        Path(run, "manifest.json").touch()
    capsys.readouterr()
    with pytest.raises(SystemExit) as exit_info:
        main()
    printed, errors = capsys.readouterr()
    assert exit_info.value.code == 2
    assert says in errors
    assert len(errors.strip().splitlines()) == 1
    assert printed == ""


def test_the_protocols_say_what_they_do() -> None:
    """`list` names every preset; `show` gives each difference from the default with its reason."""
    listed = json.loads(run_catsofa("protocols", "list", "--json").stdout)["protocols"]
    assert {"catsofa", "stereoset-code", "crows-pairs", "sofa-hf"} <= set(listed)
    shown = json.loads(run_catsofa("protocols", "show", "crows-pairs", "--json").stdout)
    assert set(shown["differs"]) == {"pseudo", "rounding", "ties"}
    assert "rounded to three decimals" in run_catsofa("protocols", "show", "crows-pairs").stdout


def test_a_choice_is_shown_as_it_is() -> None:
    """0.975 is not shown as 0.97."""
    assert " 0.975 " in run_catsofa("protocols", "show", "catsofa,log_base=0.975").stdout
