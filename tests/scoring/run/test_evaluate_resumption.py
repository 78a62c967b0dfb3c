"""Scoring that is stopped, killed, repeated or short of memory ends with the same scores, each once."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.records import FILLS, PAIRS, PROBES, TARGETS, cats
from helpers.sessions import chunks_of, session

from catsofa.data import formats
from catsofa.data.records import Probe
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.executors import local
from catsofa.scoring.items.score import score as score_records
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures.registry import measure_of
from catsofa.scoring.measures.stereoset.registered import StereoSet
from catsofa.scoring.models import load
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.run.store import Run, read_scores

Tiny = Callable[[str], Path]


def test_a_run_that_is_done_is_not_forwarded_again(tiny: Tiny, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second call finds every score and gives the same report."""
    first = evaluate(str(tiny("gpt2")), files / "cats.jsonl", out=files / "run", resamples=100)
    monkeypatch.setattr(StereoSet, "items", lambda *_: pytest.fail("scored again"))
    again = evaluate(str(tiny("gpt2")), files / "cats.jsonl", out=files / "run", resamples=100)
    # Compared as text, because the NaN limits of undefined intervals are not equal.
    assert str(first.to_dict()) == str(again.to_dict())
    assert json.loads((files / "run/report.json").read_text())["protocol"] == "catsofa"


def test_a_limit_may_be_lifted_later(tiny: Tiny, files: Path) -> None:
    """A run with a limit is part of the whole run, and can be extended to it."""
    evaluate(str(tiny("gpt2")), files / "cats.jsonl", out=files / "run", limit=2, resamples=100)
    assert len(read_scores(files / "run")) == 6
    evaluate(str(tiny("gpt2")), files / "cats.jsonl", out=files / "run", resamples=100)
    assert len(read_scores(files / "run")) == 36


def test_options_that_make_no_other_score_may_change(tiny: Tiny, files: Path) -> None:
    """Another length rule, other data or another model is refused; the rule for ties applies after scoring."""
    evaluate(str(tiny("gpt2")), files / "cats.jsonl", out=files / "run", resamples=100)
    with pytest.raises(ValueError, match=r"protocol\.length: mean → sum"):
        evaluate(str(tiny("gpt2")), files / "cats.jsonl", protocol="stereoset-acl", out=files / "run")
    with pytest.raises(ValueError, match=r"data: .* → "):
        evaluate(str(tiny("gpt2")), files / "pairs.jsonl", out=files / "run")
    with pytest.raises(ValueError, match=r"model\.architecture: GPT2LMHeadModel → LlamaForCausalLM"):
        evaluate(str(tiny("llama")), files / "cats.jsonl", out=files / "run")


def test_chunks_are_the_same_whether_a_run_was_stopped_or_not(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk that was begun is completed, so that its batches and last digits do not depend on a kill."""
    chunks_of(4, monkeypatch)
    backend = Backend(load(str(tiny("gpt2"))))
    whole, stopped = Run.begin(None, {}, {}), Run.begin(None, {}, {})
    assert session(backend, cats(), whole) == 12
    stopped.add(score_records(backend, cats()[:4], DEFAULT))
    stopped.add(score_records(backend, cats()[4:8], DEFAULT)[:5])
    session(backend, cats(), stopped)
    assert list(stopped.scores()) == list(whole.scores())


@pytest.mark.parametrize("given", [PROBES, PAIRS])
def test_a_chunk_is_tokenised_while_the_one_before_it_is_scored(
    given: list[Any], tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a processor is free, chunks are planned one step ahead: each is planned once, and the scores are the same."""
    chunks_of(1, monkeypatch)
    backend, events = Backend(load(str(tiny("gpt2")))), list[str]()
    after, ahead = Run.begin(None, {}, {}), Run.begin(None, {}, {})
    session(backend, given, after)
    measure = type(measure_of(type(given[0])))
    plan = measure.items
    monkeypatch.setattr(measure, "items", lambda *arguments: (events.append("planned"), plan(*arguments))[1])
    monkeypatch.setattr(local, "meanwhile", lambda _: True)
    add = ahead.add
    monkeypatch.setattr(ahead, "add", lambda *scores: (events.append("kept"), add(*scores)))
    assert session(backend, given, ahead) == len(given)
    assert list(ahead.scores()) == list(after.scores())
    assert sorted(events) == ["kept"] * len(given) + ["planned"] * len(given)
    events.clear()
    assert session(backend, given, ahead) == len(given)
    assert events == []


SCORE = """
import sys
import time
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.executors import local
from catsofa.scoring.measures.stereoset.registered import StereoSet
local.LEAST = local.MOST = 1
items = StereoSet.items
def slow(*given):
    time.sleep(0.05)
    return items(*given)
StereoSet.items = slow
print("ready", flush=True)
evaluate(sys.argv[1], sys.argv[2], out=sys.argv[3], resamples=10)
"""


def test_a_run_killed_again_and_again_ends_as_one_that_was_not(
    tiny: Tiny, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After SIGKILL at three instants, the final scores are those of an undisturbed run, each once, to the last bit."""
    arguments = [str(tiny("gpt2")), str(files / "cats.jsonl")]
    for instant in (0.05, 0.2, 0.4):
        process = subprocess.Popen(
            [sys.executable, "-c", SCORE, *arguments, str(files / "killed")], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(instant)
        process.send_signal(signal.SIGKILL)
        process.wait()
    chunks_of(1, monkeypatch)
    for name in ("killed", "whole"):
        evaluate(arguments[0], arguments[1], out=files / name, resamples=10)
    assert read_scores(files / "killed") == read_scores(files / "whole")
    assert len(read_scores(files / "whole")) == 36


def test_running_out_of_memory_halves_the_batches_and_is_noted(
    tiny: Tiny, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device with little memory gives the same scores in smaller batches, with a line in the journal."""
    import torch

    model = load(str(tiny("gpt2")))
    expected = evaluate(model, files / "cats.jsonl", resamples=10).to_dict()["results"]
    forward = model.module.transformer.forward

    def small(input_ids: Any, **more: Any) -> Any:
        if input_ids.numel() > 40:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(input_ids, **more)

    monkeypatch.setattr(model.module.transformer, "forward", small)
    results = evaluate(model, files / "cats.jsonl", out=files / "run", resamples=10).to_dict()["results"]
    assert str(results) == str(expected)
    events = [json.loads(line) for line in (files / "run/journal.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events] == ["begun", "out of memory", "finished"]
    assert events[1]["batch_tokens"] <= 40


def test_ctrl_c_keeps_what_was_scored(tiny: Tiny, files: Path) -> None:
    """Ctrl-C ends scoring with exit code 130, and the next process can open the run at once."""
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
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command again" in stderr
    assert len(read_scores(files / "run")) < len(many)
