import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests_support import run_catsofa

from catsofa.cli import main
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.records import LABELS, AssociationTest, Candidate, Cat, Pair, Probe, Score, WordSet
from catsofa.scoring import chunks, precision
from catsofa.scoring.backend import Backend
from catsofa.scoring.evaluate import evaluate, evaluate_all
from catsofa.scoring.models import load
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.runs import Run, read_manifest, read_scores
from catsofa.scoring.score_cats import score_cats
from catsofa.scoring.signature import differences

Tiny = Callable[[str], Path]

TARGETS = ("zorb", "florin", "glimmer")
FILLS = (("kind", "stubborn", "bread"), ("friendly", "asleep", "roses"), ("clever", "quiet", "tomatoes"))


def cats() -> list[Cat]:
    """Nine intrasentence and three intersentence CATs about invented groups."""
    inside = [
        Cat(
            kind="intrasentence",
            bias_type="invented",
            target=target,
            context=f"The {target}s are BLANK.",
            candidates=tuple(
                Candidate(text=f"The {target}s are {fill}.", fill=fill, label=label)
                for fill, label in zip(fills, LABELS, strict=True)
            ),  # type: ignore[arg-type]  # three labels make three candidates
        )
        for target in TARGETS
        for fills in FILLS
    ]
    after = [
        Cat(
            kind="intersentence",
            bias_type="invented",
            target=target,
            context=f"My neighbour is a {target}.",
            candidates=tuple(
                Candidate(text=text, label=label)
                for text, label in zip(("She is friendly.", "She is asleep.", "Bread sang."), LABELS, strict=True)
            ),  # type: ignore[arg-type]  # three labels make three candidates
        )
        for target in TARGETS
    ]
    return [*inside, *after]


PAIRS = [
    Pair(more=f"The {a}s are {fill}.", less=f"The {b}s are {fill}.", direction="stereo", bias_type="invented")
    for a, b in pairwise(TARGETS)
    for fill in FILLS[0]
]
PROBES = [
    Probe(category="invented", identity=f"{target}s", stereotype=f"are {fill}")
    for target in TARGETS
    for fills in FILLS
    for fill in fills
]
TEST = AssociationTest(
    id="invented",
    x=WordSet(name="florins", items=("A florin sang.", "The florin baked.")),
    y=WordSet(name="zorbs", items=("A zorb sang.", "The zorb baked.")),
    a=WordSet(name="kind", items=("She is kind.", "He is friendly.")),
    b=WordSet(name="asleep", items=("She is asleep.", "He is quiet.")),
)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with one file of each kind of record."""
    for name, records in {"cats": cats(), "pairs": PAIRS, "probes": PROBES}.items():
        formats.named("jsonl").write(records, tmp_path / f"{name}.jsonl")
    formats.named("stereoset").write(cats(), tmp_path / "cats.json")
    formats.named("seat").write([TEST], tmp_path / "tests")
    return tmp_path


@pytest.mark.parametrize("name", ["gpt2", "llama", "bloom", "gemma2", "mamba", "bert", "roberta", "bart", "xlnet"])
def test_every_kind_of_model_is_measured_on_every_kind_of_data(tiny: Tiny, name: str) -> None:
    """CATs, pairs and probes: numbers with intervals, and nothing unscored without a reason."""
    model = load(str(tiny(name)))
    found = evaluate(model, cats(), resamples=100).to_dict()
    assert found["results"]["intrasentence"]["overall"]["coverage"] == 1
    if name == "roberta":
        assert "next-sentence head" in next(iter(found["unscored"]))
    else:
        assert found["results"]["intersentence"]["overall"]["coverage"] == 1
    assert evaluate(model, PAIRS, resamples=100).to_dict()["results"]["overall"]["coverage"] == 1
    probes = evaluate(model, PROBES, resamples=100).to_dict()["results"]
    assert probes["score"] > 0
    assert set(probes["categories"]) == {"invented"}


def test_an_encoder_is_measured_on_association_tests(tiny: Tiny) -> None:
    """A row for each test, and the encoder's options in the signature."""
    found = evaluate(str(tiny("bert-encoder")), [TEST], protocol="sent-bias").to_dict()
    assert [row["test"] for row in found["results"]] == ["invented"]
    assert found["results"][0]["exact"]
    assert "pooling=cls" in found["signature"]["model"]


def test_a_run_that_is_done_is_not_forwarded_again(tiny: Tiny, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second call finds every score, and reports the same."""
    first = evaluate(str(tiny("gpt2")), files / "cats.jsonl", out=files / "run", resamples=100)
    monkeypatch.setitem(chunks.WAYS, Cat, lambda *_: pytest.fail("scored again"))
    again = evaluate(str(tiny("gpt2")), files / "cats.jsonl", out=files / "run", resamples=100)
    # NaN, the limits of an interval that is none, equals nothing
    assert str(first.to_dict()) == str(again.to_dict())
    assert json.loads((files / "run/report.json").read_text())["protocol"] == "catsofa"


def test_a_limit_stands_in_the_signature(tiny: Tiny, files: Path) -> None:
    """Numbers of the first two CATs must not pass for numbers of all."""
    some = evaluate(str(tiny("gpt2")), files / "cats.jsonl", limit=2, resamples=0)
    every = evaluate(str(tiny("gpt2")), files / "cats.jsonl", resamples=0)
    assert " | subset:first 2 | " in str(some.signature)
    assert "subset" not in str(every.signature)


def test_a_signature_names_no_folder_of_a_machine(tiny: Tiny) -> None:
    """The same model in another place is the same model: a folder's own name and the hash of its weights say which."""
    for name, on in (("gpt2", PAIRS), ("bert-encoder", [TEST])):
        folder = tiny(name)
        found = evaluate(str(folder), on, resamples=0, protocol="sent-bias" if on == [TEST] else "catsofa")
        assert folder.name in str(found.signature)
        assert str(folder.parent) not in str(found.signature)


def test_half_precision_says_how_many_preferences_it_may_have_decided(tiny: Tiny) -> None:
    """The error is measured against the same model in float32; what flips between the two lies within it."""
    folder = str(tiny("gpt2"))
    assert "precision" not in evaluate(folder, cats(), resamples=10).to_dict()
    found = evaluate(folder, cats(), dtype="bf16", resamples=10).to_dict()["precision"]
    half, full = (
        {score.item: score.score or 0 for score in score_cats(Backend(load(folder, dtype=dtype)), cats(), DEFAULT)}
        for dtype in ("bf16", "fp32")
    )
    gaps = [
        (half[one.id] - half[other.id], full[one.id] - full[other.id])
        for cat in cats()
        for one, other in combinations(cat.candidates, 2)
    ]
    assert found["preferences"] == found["checked"] == len(gaps) == 36
    assert found["error"] == pytest.approx(max(abs(one - other) for one, other in gaps), abs=1e-6)
    assert found["within"] == sum(abs(one) <= found["error"] for one, _ in gaps)
    assert sum(one * other < 0 for one, other in gaps) <= found["within"]
    pairs = evaluate(folder, PAIRS, dtype="bf16", resamples=10).to_dict()["precision"]
    assert pairs["preferences"] == len(PAIRS)


def test_an_error_that_cannot_be_measured_is_said(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """No memory for a second model: a reason, and no number."""
    folder = str(tiny("gpt2"))
    padded = evaluate(str(tiny("bloom")), PROBES, protocol="sofa-hf", dtype="bf16", resamples=10).to_dict()["precision"]
    assert padded == {
        "dtype": "bfloat16",
        "checked": 0,
        "reason": "scores depend on the whole call under this protocol",
    }
    monkeypatch.setattr(precision, "_free_memory", lambda _: 1000)
    found = evaluate(folder, cats(), dtype="bf16", resamples=10).to_dict()["precision"]
    assert found["checked"] == 0
    assert "in float32 needs" in found["reason"]
    assert "preferences" not in found


def test_a_sample_comes_from_all_over_the_data() -> None:
    """Every record of few; of many 64 at equal distances, the first among them."""
    assert precision.spread(lambda: range(10)) == list(range(10))
    assert precision.spread(lambda: range(6400)) == list(range(0, 6400, 100))


def test_the_command_says_what_half_precision_may_have_decided(
    tiny: Tiny, files: Path, catsofa: Callable[..., tuple[str, str]]
) -> None:
    """A sentence beside the tables; for probes, which have no preferences, the error of a score."""
    said = catsofa("score", tiny("gpt2"), "--on", files / "cats.jsonl", "--dtype", "bf16")[1]
    assert re.search(
        r"bfloat16: differences are off by up to 0\.\d{4} \(36 checked in float32\); \d+ of 36 preferences", said
    )
    assert "scores are off by" in catsofa("score", tiny("gpt2"), "--on", files / "probes.jsonl", "--dtype", "bf16")[1]
    assert "off by" not in catsofa("score", tiny("gpt2"), "--on", files / "cats.jsonl")[1]


def test_a_limit_may_be_lifted_later(tiny: Tiny, files: Path) -> None:
    """A first look at a few records is part of the whole run, not in its way."""
    evaluate(str(tiny("gpt2")), files / "cats.jsonl", out=files / "run", limit=2, resamples=100)
    assert len(read_scores(files / "run")) == 6
    evaluate(str(tiny("gpt2")), files / "cats.jsonl", out=files / "run", resamples=100)
    assert len(read_scores(files / "run")) == 36


def test_options_that_make_no_other_score_may_change(tiny: Tiny, files: Path) -> None:
    """How ties count is decided after scoring; how pieces are averaged is not."""
    evaluate(str(tiny("gpt2")), files / "cats.jsonl", out=files / "run", resamples=100)
    with pytest.raises(ValueError, match=r"protocol\.length: mean → sum"):
        evaluate(str(tiny("gpt2")), files / "cats.jsonl", protocol="stereoset-acl", out=files / "run")
    with pytest.raises(ValueError, match=r"data: .* → "):
        evaluate(str(tiny("gpt2")), files / "pairs.jsonl", out=files / "run")
    with pytest.raises(ValueError, match=r"model\.architecture: GPT2LMHeadModel → LlamaForCausalLM"):
        evaluate(str(tiny("llama")), files / "cats.jsonl", out=files / "run")


def test_chunks_are_the_same_whether_a_run_was_stopped_or_not(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk that was begun is done whole, so that its batches, and its last digits, do not depend on a kill."""
    monkeypatch.setattr(chunks, "LEAST", 4)
    monkeypatch.setattr(chunks, "MOST", 4)
    backend = Backend(load(str(tiny("gpt2"))))
    whole, stopped = Run.begin(None, {}, {}), Run.begin(None, {}, {})
    assert len(list(chunks.score_all(backend, cats(), DEFAULT, whole))) == 12
    stopped.add(score_cats(backend, cats()[:4], DEFAULT))
    stopped.add(score_cats(backend, cats()[4:8], DEFAULT)[:5])
    list(chunks.score_all(backend, cats(), DEFAULT, stopped))
    assert list(stopped.scores()) == list(whole.scores())


@pytest.mark.parametrize("given", [PROBES, PAIRS])
def test_a_chunk_is_tokenised_while_the_one_before_it_is_scored(
    given: list[Any], tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the processor is free: the same scores as one after the other, each chunk planned once and a step ahead."""
    monkeypatch.setattr(chunks, "LEAST", 1)
    monkeypatch.setattr(chunks, "MOST", 1)
    backend, told = Backend(load(str(tiny("gpt2")))), list[str]()
    after, ahead = Run.begin(None, {}, {}), Run.begin(None, {}, {})
    list(chunks.score_all(backend, given, DEFAULT, after))
    plan, kind = chunks.AHEAD[type(given[0])], type(given[0])
    monkeypatch.setattr(chunks, "AHEAD", {kind: lambda *of: (told.append("planned"), plan(*of))[1]})
    monkeypatch.setattr(chunks, "meanwhile", lambda _: True)
    add = ahead.add
    monkeypatch.setattr(ahead, "add", lambda scores: (told.append("kept"), add(scores)))
    assert list(chunks.score_all(backend, given, DEFAULT, ahead)) == given
    assert list(ahead.scores()) == list(after.scores())
    assert sorted(told) == ["kept"] * len(given) + ["planned"] * len(given)
    told.clear()
    assert list(chunks.score_all(backend, given, DEFAULT, ahead)) == given
    assert told == []


SCORE = """
import sys
from catsofa.scoring import chunks, precision
chunks.LEAST = chunks.MOST = 1
way = chunks.WAYS
from catsofa.data.records import Cat
import time
def slow(*given):
    time.sleep(0.05)
    return score(*given)
score = way[Cat]
way[Cat] = slow
from catsofa.scoring.evaluate import evaluate
print("ready", flush=True)
evaluate(sys.argv[1], sys.argv[2], out=sys.argv[3], resamples=10)
"""


def test_a_run_killed_again_and_again_ends_as_one_that_was_not(
    tiny: Tiny, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL at three instants: the scores at the end are those of an undisturbed run, each once, to the last bit."""
    arguments = [str(tiny("gpt2")), str(files / "cats.jsonl")]
    for instant in (0.05, 0.2, 0.4):
        process = subprocess.Popen(
            [sys.executable, "-c", SCORE, *arguments, str(files / "killed")], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(instant)
        process.send_signal(signal.SIGKILL)
        process.wait()
    monkeypatch.setattr(chunks, "LEAST", 1)
    monkeypatch.setattr(chunks, "MOST", 1)
    for name in ("killed", "whole"):
        evaluate(arguments[0], arguments[1], out=files / name, resamples=10)
    assert read_scores(files / "killed") == read_scores(files / "whole")
    assert len(read_scores(files / "whole")) == 36


def test_running_out_of_memory_halves_the_batches_and_is_noted(
    tiny: Tiny, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device with little room: the same scores, smaller batches, a line in the journal."""
    import torch

    model = load(str(tiny("gpt2")))
    expected = evaluate(model, files / "cats.jsonl", resamples=10).to_dict()["results"]
    forward = model.module.transformer.forward

    def small(input_ids: Any, **more: Any) -> Any:
        if input_ids.numel() > 40:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(input_ids, **more)

    monkeypatch.setattr(model.module.transformer, "forward", small)
    found = evaluate(model, files / "cats.jsonl", out=files / "run", resamples=10).to_dict()["results"]
    assert str(found) == str(expected)
    events = [json.loads(line) for line in (files / "run/journal.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events] == ["begun", "out of memory", "finished"]
    assert events[1]["batch_tokens"] <= 40


def test_several_models_and_sets_have_a_folder_each(tiny: Tiny, files: Path) -> None:
    """`out/model/data`; two of one name are refused before anything is loaded."""
    models = [str(tiny("gpt2")), str(tiny("bert"))]
    sets = [str(files / "cats.jsonl"), str(files / "pairs.jsonl"), str(files / "tests")]
    found = list(evaluate_all(models, sets, out=files / "runs", resamples=10))
    assert len(found) == 6
    assert {path.parent.relative_to(files / "runs").as_posix() for path in files.glob("runs/*/*/manifest.json")} == {
        f"{model}/{name}" for model in ("gpt2", "bert") for name in ("cats", "pairs", "tests")
    }
    assert read_manifest(files / "runs/bert/pairs")["about"]["on"] == str(files / "pairs.jsonl")
    with pytest.raises(ValueError, match="have the same name"):
        list(evaluate_all(models[:1], [sets[0], str(files / "cats.json")], out=files / "again"))


def test_a_pseudo_perplexity_is_not_taken_for_a_perplexity(tiny: Tiny) -> None:
    """SoFa of a masked model and of a causal one have signatures that differ, so that no column holds both."""
    causal, masked, gap = (evaluate(str(tiny(name)), PROBES, resamples=10) for name in ("gpt2", "bert", "bart"))
    assert causal.signature.way == ""
    assert differences(causal.signature, masked.signature) == ["way: none and pseudo-perplexity"]
    assert differences(masked.signature, gap.signature)


def test_a_test_without_vectors_is_unscored_and_not_an_error(
    files: Path, catsofa: Callable[..., tuple[str, str]]
) -> None:
    """Word vectors that know no target: a row that says so, a reason, and null in JSON."""
    (files / "vectors.txt").write_text("zorb 1 0.5\nkind 0.2 1\n", encoding="utf-8")
    asked = ("score", files / "vectors.txt", "--on", files / "tests")
    printed, said = catsofa(*asked)
    assert "unscored" in printed
    assert "texts have no vector" in said
    row = json.loads(catsofa(*asked, "--json")[0])["results"][0]
    assert (row["effect_size"], row["p_value"], row["holm"]) == (None, None, None)
    assert row["coverage"] < 1


def test_the_ends_of_probes_are_shown_on_request(
    tiny: Tiny, files: Path, catsofa: Callable[..., tuple[str, str]]
) -> None:
    """The identities most often lowest and highest, and the stereotypes with the lowest and the highest DDS."""
    printed = catsofa("score", tiny("gpt2"), "--on", files / "probes.jsonl", "--terms")[0]
    for end in ("identities most often lowest", "identities most often highest", "stereotypes with lowest DDS"):
        assert f"invented, {end}: " in printed


def test_models_are_compared_on_probes_too(tiny: Tiny, files: Path, catsofa: Callable[..., tuple[str, str]]) -> None:
    """The ends that two models have in common, and tau of their orders; a model agrees with itself wholly."""
    for name, folder in (("gpt2", "one"), ("llama", "two"), ("gpt2", "one again")):
        evaluate(str(tiny(name)), files / "probes.jsonl", out=files / folder, resamples=10)
    found = json.loads(catsofa("compare", files / "one", files / "two", "--json")[0])
    assert [row["category"] for row in found["agreement"]] == ["invented"]
    assert -1 <= found["agreement"][0]["kendall"]["identities"] <= 1
    assert found["agreement"][0]["overlap"]["identities most often lowest"] == 1, "three of three"
    assert found["signature"]["protocol"] == "catsofa"
    assert "order of stereotypes: Kendall's tau" in catsofa("compare", files / "one", files / "two")[0]
    assert "two models or more; found one" in catsofa("compare", files / "one", files / "one again")[1]


def test_a_slip_in_the_last_name_costs_no_work_on_the_first(
    tiny: Tiny, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All models and sets are looked for before one is loaded."""
    monkeypatch.setattr("catsofa.scoring.evaluate.load", lambda *_, **__: pytest.fail("loaded"))
    given = [str(tiny("gpt2")), str(files / "nothing")]
    with pytest.raises(ValueError, match=r"no folder .*nothing, and it cannot be a hub id"):
        list(evaluate_all(given, [str(files / "cats.jsonl")]))
    with pytest.raises(BadInput, match="no such file"):
        list(evaluate_all(given[:1], [str(files / "cats.jsonl"), str(files / "missing.json")]))


def test_records_of_two_kinds_or_of_none_we_score_are_refused(tiny: Tiny, files: Path) -> None:
    """The sentence says what was found."""
    model = load(str(tiny("gpt2")))
    with pytest.raises(ValueError, match="found cats and pairs"):
        evaluate(model, [*cats(), *PAIRS])
    formats.named("jsonl").write([Score(item="a", score=1.0)], files / "scores.jsonl")
    with pytest.raises(ValueError, match="found scores; expected CATs"):
        evaluate(model, files / "scores.jsonl")


def test_the_command_scores_keeps_and_exports(tiny: Tiny, files: Path) -> None:
    """As a person types it, from another folder; the exported file is what `--predictions` takes."""
    done = run_catsofa("score", str(tiny("gpt2")), "--on", "cats.json", "--out", "run", "--json", cwd=files)
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)["results"]
    exported = run_catsofa("export", "run", "--format", "stereoset", cwd=files)
    (files / "predictions.json").write_text(exported.stdout)
    again = run_catsofa("score", "--predictions", "predictions.json", "--on", "cats.json", "--json", cwd=files)
    assert json.loads(again.stdout)["results"] == measured
    every = {entry["id"]: entry["score"] for task in json.loads(exported.stdout).values() for entry in task}
    kept = {score.item: np.exp(score.score or np.nan) for score in read_scores(files / "run")}
    assert every == pytest.approx(kept)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["score", "--on", "cats.json"], "name models to score, or --predictions to measure"),
        (["score", "--predictions", "p.json", "--on", "cats.json", "--out", "o"], "which --out does not keep"),
        (["score", "nowhere", "--on", "nothing.json"], "nothing.json"),
        (["score", "MODEL", "--on", "cats.json", "--protocol", "stereoset"], "no protocol 'stereoset'"),
        (["score", "MODEL", "--on", "cats.json", "--out", "."], "a folder with other files in it"),
        (["export", "."], "no manifest.json"),
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
    """Exit code 2, one line on stderr, nothing on stdout."""
    given = [str(tiny("gpt2")) if word == "MODEL" else word for word in arguments]
    monkeypatch.setattr(sys, "argv", ["catsofa", *given])
    monkeypatch.chdir(files)
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main()
    printed, said = capsys.readouterr()
    assert left.value.code == 2
    assert says in said
    assert len(said.strip().splitlines()) == 1
    assert printed == ""


def test_the_protocols_say_what_they_do() -> None:
    """`list` names every preset; `show` gives each difference from the default with its reason."""
    listed = json.loads(run_catsofa("protocols", "list", "--json").stdout)
    assert {"catsofa", "stereoset-code", "crows-pairs", "sofa-hf"} <= set(listed)
    shown = json.loads(run_catsofa("protocols", "show", "crows-pairs", "--json").stdout)
    assert set(shown["differs"]) == {"pseudo", "rounding", "ties"}
    assert "rounded to three decimals" in run_catsofa("protocols", "show", "crows-pairs").stdout


def test_ctrl_c_keeps_what_was_scored(tiny: Tiny, files: Path) -> None:
    """Exit code 130; the run can be opened by the next process at once."""
    many = [
        Probe(category="invented", identity=f"{target}s", stereotype=f"are {fill} {number}")
        for target in TARGETS
        for fill in FILLS[0]
        for number in range(3000)
    ]
    formats.named("jsonl").write(many, files / "many.jsonl")
    # the smallest batches of a model that cannot be packed: a minute of work
    model = [str(tiny("bloom")), "--batch-tokens", "8"]
    command = [str(Path(sys.executable).with_name("catsofa")), "score", *model, "--on", "many.jsonl"]
    process = subprocess.Popen(
        [*command, "--out", "run"],
        cwd=files,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    while not (files / "run/manifest.json").exists():
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command again" in said
    assert len(read_scores(files / "run")) < len(many)
