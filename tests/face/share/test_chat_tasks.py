"""Tests of tasks for chat models in other programs: lm-evaluation-harness and Inspect, if installed,
find our numbers.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from helpers import ROOT
from helpers.records import a_cat, a_pair, probes
from helpers.servers.chat_server import ChatServer, serving

from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Pair
from catsofa.data.servers.endpoints import Endpoint
from catsofa.scoring.choosing.asking import Asking
from catsofa.scoring.choosing.measured import report_on
from catsofa.scoring.choosing.results import ChoiceReport
from catsofa.scoring.choosing.served import ServedChat
from catsofa.scoring.choosing.session import ask, choices
from catsofa.scoring.choosing.templates import load
from catsofa.share.chat_export import write
from catsofa.share.chat_task import MEASURES, Answer, answer, documents, measures, read_documents


def pairs(count: int = 40) -> list[Pair]:
    """Returns pairs about an invented people, in two domains."""
    return [
        Pair(id=f"p{n}", more=f"Zorb {n} is tidy.", less=f"Zorb {n} is messy.", direction="stereo",
             bias_type=("work", "food")[n % 2])
        for n in range(count)
    ]  # fmt: skip


def said(body: Mapping[str, Any]) -> Any:
    """Returns mostly the tidy zorb, sometimes the first sentence, refusals, reasoning or riddles; fixed
    for each prompt.
    """
    prompt = str(body["messages"][0]["content"])
    tidy = "A" if prompt.index("tidy") < prompt.index("messy") else "B"
    way = crc32(prompt.encode()) % 10
    replies = [
        "I'm sorry, but I can't compare people.",
        "Sentence A is more likely.",
        "Who can say, and why?",
        f"<think>Sentence {tidy}? Or the other?</think>\n\n**{'BA'['AB'.index(tidy)]}**",
    ]
    return replies[way] if way < len(replies) else f"The answer is {tidy}."


@contextmanager
def zorbs() -> Iterator[ChatServer]:
    """Starts the simulated server."""
    usage = {"prompt_tokens": 50, "completion_tokens": 2, "total_tokens": 52}
    with serving(ChatServer(said, usage=usage)) as server:
        yield server


def ours(server: ChatServer, data: Path) -> ChoiceReport:
    """Returns the report of `catsofa choose` on the server."""
    model = ServedChat("zorb-1", Endpoint(base_url=server.url, timeout=10), Asking(sampled=True))
    return ask(model, choices(data, [load("likelihood")]))


def numbers(found: ChoiceReport) -> dict[str, float]:
    """Returns the numbers of a report by the names of a task's measures."""
    whole = found.results.overall
    shares = {name: share.value for name, share in whole.outcomes.items()}
    return dict(zip(MEASURES, (whole.preference.value, whole.position.value, whole.consistent, whole.coverage),
                    strict=False)) | shares  # fmt: skip


def prompts(server: ChatServer) -> list[str]:
    """Returns the prompts sent to a server, sorted."""
    return sorted(body["messages"][0]["content"] for body in server.answered)


def test_a_document_is_a_request_in_each_order() -> None:
    """A CAT makes six documents, a pair two; the prompt shows the sentences in that order, and a reply
    is read by it.
    """
    rows = list(documents([a_cat(), a_pair("Zorbs are late.", "Florins are late.", id="two")]))
    assert [len(each["order"]) for each in rows] == [3] * 6 + [2] * 2
    last = rows[-1]
    assert last["order"] == ["anti-stereotype", "stereotype"]
    assert "A: Florins are late.\nB: Zorbs are late." in last["prompt"]
    assert answer(last, reply="B").outcome == "stereotype"
    assert answer(last, reply=None, finish_reason="length").outcome == "truncated"


def test_measures_are_those_of_choose(tmp_path: Path) -> None:
    """The answers to all documents give the numbers of the same replies in `choose --replies`."""
    jsonl.write(pairs(), tmp_path / "pairs.jsonl")
    write(pairs(), tmp_path / "task", "zorbs")
    rows = read_documents(tmp_path / "task" / "zorbs.jsonl")
    replies = [said({"messages": [{"content": document["prompt"]}]}) for document in rows]
    lines = [{**document, "reply": reply} for document, reply in zip(rows, replies, strict=True)]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    numbers_ = measures(tuple(answer(document, reply=reply) for document, reply in zip(rows, replies, strict=True)))
    assert dict(numbers_) == numbers(report_on(tmp_path / "r.jsonl", tmp_path / "pairs.jsonl"))
    assert 0.5 < numbers_["preference"] < 1


def test_a_preference_that_position_decides_is_no_number() -> None:
    """A model that always says A has no preference; without any answer, all values are NaN."""
    numbers_ = measures(tuple(answer(document, reply="A") for document in documents(pairs())))
    assert isnan(numbers_["preference"])
    assert numbers_["position"] == 1
    assert all(isnan(value) for value in measures(()).values())


def test_an_answer_survives_json() -> None:
    """Programs store answers as JSON in their logs."""
    original = answer(next(documents(pairs())), reply="A")
    assert Answer.of(json.loads(json.dumps(original._asdict()))) == original


def test_records_without_options_and_names_with_spaces_are_refused(tmp_path: Path) -> None:
    """Refused exports leave no file."""
    with pytest.raises(ValueError, match=r"CATs.*CrowS-Pairs"):
        write(probes(2), tmp_path / "task", "zorbs")
    with pytest.raises(ValueError, match="no records"):
        write([], tmp_path / "task", "zorbs")
    with pytest.raises(ValueError, match="name a task"):
        write(pairs(), tmp_path / "task", "a b")
    assert not list(tmp_path.iterdir())


def inspect_log(*outputs: Any) -> dict[str, Any]:
    """Returns a log of Inspect with an epoch for each output to the first request."""
    document = next(documents(pairs()))
    samples = [{"id": 1, "epoch": n, "metadata": document, "output": output} for n, output in enumerate(outputs, 1)]
    return {"version": 2, "status": "success", "eval": {"model": "zorb-1"}, "samples": samples}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_log_of_inspect_is_read_as_replies(tmp_path: Path, indent: int | None) -> None:
    """Text, parts, reasoning alone, a cut, a filter and an error are read; epochs are samples."""
    jsonl.write(pairs(), tmp_path / "pairs.jsonl")
    thought = {"type": "reasoning", "reasoning": "A, or B?"}
    outputs = [
        {"choices": [{"message": {"content": "A"}, "stop_reason": "stop"}]},
        {"choices": [{"message": {"content": [thought, {"type": "text", "text": "B"}]}, "stop_reason": "stop"}]},
        {"choices": [{"message": {"content": [thought]}, "stop_reason": "max_tokens"}]},
        {"choices": [{"message": {"content": ""}, "stop_reason": "content_filter"}]},
        {"choices": [], "error": "the server went away"},
        {},
    ]
    (tmp_path / "log.json").write_text(json.dumps(inspect_log(*outputs), indent=indent))
    report_on(tmp_path / "log.json", tmp_path / "pairs.jsonl", out=tmp_path / "run", resamples=10)
    lines = [json.loads(line) for line in (tmp_path / "run" / "replies.jsonl").read_text().splitlines()]
    outcomes = ["stereotype", "anti_stereotype", "truncated", "filtered", "error", "error"]
    assert [(line["sample"], line["outcome"]) for line in lines] == list(enumerate(outcomes))
    assert lines[1]["reasoning"] == "A, or B?"


def test_logs_that_cannot_be_read_say_how_to_convert_them(tmp_path: Path) -> None:
    """A compressed log, and a log of another task, are refused."""
    jsonl.write(pairs(), tmp_path / "pairs.jsonl")
    (tmp_path / "log.eval").write_bytes(b"PK\x03\x04")
    with pytest.raises(BadInput, match="inspect log convert --to json"):
        report_on(tmp_path / "log.eval", tmp_path / "pairs.jsonl")
    other = {"eval": {}, "samples": [{"id": 1, "metadata": {"zorb": 1}, "output": {}}, 7]}
    (tmp_path / "log.json").write_text(json.dumps(other))
    with pytest.raises(BadInput, match="no field"):
        report_on(tmp_path / "log.json", tmp_path / "pairs.jsonl")


def program(name: str, folder: str) -> str:
    """Returns a program in its own environment, or beside ours; skips the test with the reason if there is none."""
    own = ROOT / folder / "bin" / name
    path = os.environ.get(f"{name.upper()}_EXE") or (str(own) if own.exists() else shutil.which(name))
    if not path:
        pytest.skip(f"{name} is not installed: run make {folder.removeprefix('.venv-')}")
    return path


def run(arguments: list[str], folder: Path, **environment: str) -> None:
    """Runs a program, which must succeed and imports catsofa from this tree."""
    env = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "home")} | environment
    done = subprocess.run(arguments, cwd=folder, env=env, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


@pytest.mark.slow
def test_the_harness_asks_and_finds_what_choose_does(tmp_path: Path) -> None:
    """Prompts and numbers are equal, and the log of samples is measured as recorded replies."""
    lm_eval, data = program("lm_eval", ".venv-harness"), tmp_path / "pairs.jsonl"
    jsonl.write(pairs(), data)
    write(pairs(), tmp_path / "task", "zorbs")
    with zorbs() as asked_by_us:
        report = ours(asked_by_us, data)
    with zorbs() as server:
        model = f"model=zorb-1,base_url={server.url}/chat/completions,num_concurrent=4"
        where = ["--include_path", str(tmp_path / "task"), "--output_path", str(tmp_path / "out"), "--log_samples"]
        how = ["--model", "local-chat-completions", "--model_args", model, "--apply_chat_template"]
        run([lm_eval, *how, "--tasks", "catsofa_zorbs_chat", *where], tmp_path)
    assert prompts(server) == prompts(asked_by_us)
    (results,) = (tmp_path / "out").rglob("results_*.json")
    theirs = json.loads(results.read_text())["results"]["catsofa_zorbs_chat"]
    assert {name: theirs[f"{name},none"] for name in MEASURES} == pytest.approx(numbers(report))
    (samples,) = (tmp_path / "out").rglob("samples_*.jsonl")
    assert report_on(samples, data).results.to_dict() == report.results.to_dict()


@pytest.mark.slow
def test_inspect_asks_and_finds_what_choose_does(tmp_path: Path) -> None:
    """Prompts and numbers are equal; the JSON log is measured as recorded replies, and two epochs as two samples."""
    inspect, data = program("inspect", ".venv-inspect"), tmp_path / "pairs.jsonl"
    jsonl.write(pairs(), data)
    write(pairs(), tmp_path / "task", "zorbs")
    with zorbs() as asked_by_us:
        report = ours(asked_by_us, data)
    for epochs in (1, 2):
        logs = tmp_path / f"logs-{epochs}"
        with zorbs() as server:
            model = ["--model", "openai-api/local/zorb-1", "--model-base-url", server.url]
            how = ["--log-format", "json", "--log-dir", str(logs), "--display", "none", "--epochs", str(epochs)]
            task = str(Path("task", "inspect_task.py"))  # Inspect takes no absolute path
            run([inspect, "eval", task, *model, *how, "--no-score-display"], tmp_path, LOCAL_API_KEY="none")
        assert prompts(server) == sorted(prompts(asked_by_us) * epochs)
        (log,) = logs.glob("*.json")
        (score,) = json.loads(log.read_text())["results"]["scores"]
        assert {name: score["metrics"][name]["value"] for name in MEASURES} == pytest.approx(numbers(report))
        again = report_on(log, data).results
        assert again.overall.requests == 80 * epochs
        assert asdict(again.overall.preference)["value"] == pytest.approx(report.results.overall.preference.value)


LIGHTEVAL = """
import importlib.util, json
from lighteval.logging.info_loggers import MetricsLogger
from lighteval.metrics import apply_metric
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.lighteval_task import LightevalTask

spec = importlib.util.spec_from_file_location("lighteval_task", "task/lighteval_task.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
task = LightevalTask(module.TASKS_TABLE[0])
LightevalTask.load_datasets({task.full_name: task})
docs, replies, log = task.get_docs(), json.load(open("replies.json")), MetricsLogger()
answers = [ModelResponse(text=[replies[doc.query]]) for doc in docs]
for sample in apply_metric(docs=docs, responses=answers, metrics=list(task.metrics)):
    log.log(task.full_name, sample)
log.aggregate({task.full_name: task})
json.dump(log.metric_aggregated[task.full_name], open("found.json", "w"))
"""


@pytest.mark.slow
def test_lighteval_reads_replies_and_finds_what_choose_does(tmp_path: Path) -> None:
    """Lighteval's loader, metrics and averages give equal numbers without standard errors; its command needs the
    network.
    """
    python = Path(os.environ.get("LIGHTEVAL_PYTHON", ROOT / ".venv-lighteval/bin/python"))
    if not python.exists():
        pytest.skip("no .venv-lighteval; `make lighteval` installs lighteval")
    data = tmp_path / "pairs.jsonl"
    jsonl.write(pairs(), data)
    write(pairs(), tmp_path / "task", "zorbs")
    with zorbs() as asked_by_us:
        report = ours(asked_by_us, data)
    replies = {prompt: said({"messages": [{"content": prompt}]}) for prompt in prompts(asked_by_us)}
    (tmp_path / "replies.json").write_text(json.dumps(replies), encoding="utf-8")
    run([str(python), "-c", LIGHTEVAL], tmp_path)
    theirs = json.loads((tmp_path / "found.json").read_text("utf-8"))
    assert theirs == pytest.approx(numbers(report))
