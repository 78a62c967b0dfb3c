"""Tests of `catsofa choose` with models that are asked: output, cost, and errors."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.servers.chat_server import ChatServer, gpt_5, serving
from helpers.tiny_models import BUILDERS

from catsofa import cli
from catsofa.cli.score import choose
from catsofa.data.files import jsonl
from catsofa.data.records import Pair
from catsofa.data.verify.verdicts import Verdict
from catsofa.report import document
from catsofa.verify import verify

KEY = "sk-zorb-0123456789-do-not-tell"


def run(*arguments: object) -> int:
    """Runs a command in this process and returns its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["catsofa", "choose", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
    return int(ended.value.code or 0)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Returns a file of twelve pairs."""
    jsonl.write(
        [
            Pair(id=f"p{n}", more=f"Zorb {n} is tidy.", less=f"Zorb {n} is messy.", direction="stereo", bias_type="x")
            for n in range(12)
        ],
        tmp_path / "pairs.jsonl",
    )
    return tmp_path / "pairs.jsonl"


def tidy(body: dict[str, Any]) -> str:
    """Returns the letter of the sentence about a tidy zorb."""
    prompt = str(body["messages"][0]["content"])
    return "A" if prompt.index("tidy") < prompt.index("messy") else "B"


def test_a_served_model_is_asked_and_its_folder_is_measured_again(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The JSON follows the contract; `--replies` of the folder gives the same numbers without a server."""
    with serving(ChatServer(tidy, refuse=gpt_5)) as server:
        assert run("zorb-1", "--base-url", server.url, "--on", data, "--out", tmp_path / "run", "--json") == 0
        report = json.loads(capsys.readouterr().out)
        url = server.url
    overall = report["results"]["overall"]
    assert (overall["preference"]["value"], overall["items"], overall["requests"]) == (1, 12, 24)
    assert f"zorb-1 at {url}" in report["signature"]
    assert any("the server takes max_completion_tokens in place of max_tokens" in text for text in report["warnings"])
    assert run("--replies", tmp_path / "run" / "replies.jsonl", "--on", data, "--json") == 0
    again = json.loads(capsys.readouterr().out)
    assert again["results"] == report["results"]


def test_a_finished_run_says_what_it_cost(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """24 replies of 50 and 2 tokens at $10 and $100 a million cost 1.68 cents, in the terminal, JSON and a report."""
    prices = tmp_path / "my.toml"
    prices.write_text('[models]\n"zorb*" = { prompt = 10, completion = 100 }\n')
    cost = "1,200 tokens read and 48 written, $0.0168"
    with serving(ChatServer(tidy)) as server:
        arguments = ("--base-url", server.url, "--on", data, "--out", tmp_path / "run", "--prices", prices)
        assert run("zorb-1", *arguments) == 0
        assert f"cost: {cost}" in capsys.readouterr().out
        assert run("quell-1", *arguments) == 2
        assert "found no row for quell-1 in" in capsys.readouterr().err
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["cost"]["dollars"] == pytest.approx(0.0168)
    assert any(cost in note for table in document([tmp_path / "run"]).sections[0].tables for note in table.notes)


@pytest.mark.parametrize("options", [[], ["--limit", 5], ["--templates", "mine.txt,plain"], ["--answer-tokens", 9]])
def test_replies_measured_again_have_the_signature_of_their_run(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: list[Any]
) -> None:
    """Budgets, samples of items and custom wordings stay in the signature, also through `--replies --out`."""
    monkeypatch.chdir(tmp_path)
    Path("mine.txt").write_text("Which one?\n{{ options }}")
    run_folder, copy = tmp_path / "run", tmp_path / "copy"
    with serving(ChatServer(tidy)) as server:
        assert run("zorb-1", "--base-url", server.url, "--on", data, "--out", run_folder, "--json", *options) == 0
    report = json.loads(capsys.readouterr().out)
    for folder, more in ((run_folder, ["--out", copy]), (copy, [])):
        assert run("--replies", folder / "replies.jsonl", "--on", data, "--json", *more) == 0
        again = json.loads(capsys.readouterr().out)
        assert again["signature"] == report["signature"]
        assert (again["results"], again["unasked"]) == (report["results"], report["unasked"])


def test_a_sample_of_other_records_and_a_renamed_file_are_not_taken_for_the_run(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With fewer records the signature names no sample; replies in a renamed file belong to no model."""
    with serving(ChatServer(tidy)) as server:
        assert run("zorb-1", "--base-url", server.url, "--on", data, "--out", tmp_path, "--limit", 5, "--quiet") == 0
    place = tmp_path / "replies.jsonl"
    first = json.loads(place.read_text().splitlines()[0])["item"]
    data.write_text("".join(line for line in data.read_text().splitlines(keepends=True) if f'"{first}"' not in line))
    assert run("--replies", place, "--on", data, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["unasked"], report["signature_parts"]["subset"]) == (7, "")
    assert run("--replies", place.rename(tmp_path / "mine.jsonl"), "--on", data, "--json") == 0
    assert "model:predictions:mine.jsonl@" in json.loads(capsys.readouterr().out)["signature"]


def test_verify_finds_a_changed_reply(data: Path, tmp_path: Path) -> None:
    """Every file has a checksum, including the received replies, in a finished and in a stopped run."""
    out = tmp_path / "run"
    with serving(ChatServer(tidy)) as server:
        assert run("zorb-1", "--base-url", server.url, "--on", data, "--out", out, "--quiet") == 0
    whole = next(verify([out]))
    assert isinstance(whole, Verdict)
    assert (len(whole.checked), whole.faults) == (4, ())
    for name in ("received.jsonl", "replies.jsonl"):
        place = out / name
        place.write_text(place.read_text().replace('"A"', '"B"', 1))
    changed = next(verify([out]))
    assert isinstance(changed, Verdict)
    assert {fault.path.name for fault in changed.faults} == {"received.jsonl", "replies.jsonl"}
    for name in ("replies.jsonl", "choices.json", "report.json"):
        (out / name).unlink()
    stopped = next(verify([out]))
    assert isinstance(stopped, Verdict)
    assert [fault.path.name for fault in stopped.faults] == ["received.jsonl"]


def test_people_see_a_table_and_the_parameters_that_were_left_out(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output has the preference, the outcomes, and a sentence for each parameter."""
    with serving(ChatServer(tidy, refuse=gpt_5)) as server:
        assert run("zorb-1", "--base-url", server.url, "--on", data) == 0
    printed = capsys.readouterr().out
    assert "preference" in printed
    assert "warning: the server takes no temperature" in printed


@pytest.mark.parametrize(
    ("options", "requests"),
    [
        (["--templates", "likelihood,plain"], 48),
        (["--templates", "isolated"], 24),
        (["--neutral"], 24),
        (["--labels", "numbers"], 24),
        (["--labels", "sentence"], 24),
        (["--samples", 3, "--temperature", 1], 72),
        (["--limit", 5], 10),
    ],
)
def test_a_dry_run_says_what_would_be_sent_and_sends_nothing(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[Any], requests: int
) -> None:
    """The expected number of requests is two orders of twelve pairs, by templates and samples."""
    with serving(ChatServer(tidy)) as server:
        how = ["zorb-1", "--base-url", server.url, "--on", data, "--out", tmp_path / "run", "--dry-run", "--json"]
        assert run(*how, *options) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["requests"], plan["most_cost"]) == (requests, 0)
    assert server.asked == []
    assert not (tmp_path / "run").exists()


def test_a_dry_run_prices_a_model_by_the_table(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """24 requests of 2,304 tokens at $10 a million, and about 30 read each; an unknown model is
    reported, or refused.
    """
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    table = tmp_path / "mine.toml"
    table.write_text('[models]\n"zorb-1" = { prompt = 0, completion = 10 }\n')
    how = ["--base-url", "https://zorbs.invalid/v1", "--on", data, "--dry-run"]
    assert run("zorb-1", *how, "--prices", table) == 0
    assert "at most $0.55" in capsys.readouterr().out
    assert run("zorb-2", *how) == 0
    assert "at an unknown price" in capsys.readouterr().out
    assert run("zorb-2", *how, "--prices", table) == 2
    assert "no row for zorb-2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}, {}), "Incorrect API key provided: ***"),
        ((404, {"error": {"message": "The model `zorb-1` does not exist"}}, {}), "The model `zorb-1` does not exist"),
        ((400, {"error": {"message": "messages must be longer"}}, {}), "messages must be longer"),
    ],
)
def test_a_server_that_answers_nothing_ends_with_its_own_sentence(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, answer: Any, said: str
) -> None:
    """The exit code is 2 with one sentence without the key, also for fewer requests than end a run."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for limit in ([], ["--limit", 2]):
        with serving(ChatServer(lambda body: answer)) as server:
            assert run("zorb-1", "--base-url", server.url, "--on", data, *limit) == 2
        ended = capsys.readouterr()
        assert said in " ".join(ended.err.split())
        assert "Traceback" not in ended.err
        assert KEY not in ended.err + ended.out


EQUAL = {"id": "p", "more": "Zorbs hum.", "less": "Zorbs hum.", "direction": "stereo", "bias_type": "x"}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "found an empty file"),
        (json.dumps(EQUAL), "the options of item p have equal texts; correct or remove the item"),
        (f"{json.dumps(EQUAL)}\n{json.dumps(EQUAL)}", "p"),
        ("no JSON", "found"),
    ],
)
def test_data_that_offers_no_choice_is_one_sentence_and_asks_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: str, said: str
) -> None:
    """The exit code is 2 before any request, and no folder is created."""
    (tmp_path / "data.jsonl").write_text(lines)
    with serving(ChatServer(tidy)) as server:
        how = ["zorb-1", "--base-url", server.url, "--on", tmp_path / "data.jsonl", "--out", tmp_path / "run"]
        assert run(*how) == 2
    ended = capsys.readouterr().err
    assert said in " ".join(ended.split())
    assert "Traceback" not in ended
    assert server.asked == []
    assert not (tmp_path / "run").exists()


def test_a_limit_of_the_cost_ends_with_the_way_to_go_on(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 2 at $0.20, where a reply costs at most $0.23; a larger limit completes the run."""
    (tmp_path / "mine.toml").write_text('[models]\n"zorb-1" = { prompt = 1, completion = 100 }\n')
    with serving(ChatServer(tidy)) as server:
        how = ["zorb-1", "--base-url", server.url, "--on", data, "--out", tmp_path / "run", "--quiet"]
        price = ["--prices", tmp_path / "mine.toml", "--max-cost"]
        assert run(*how, *price, 0.2) == 2
        assert "stopped at --max-cost $0.20: 24 of 24 requests are left" in " ".join(capsys.readouterr().err.split())
        assert run(*how, *price, 20) == 0
        assert len(server.answered) == 24


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a model to ask, or --replies to measure"),
        (["zorb-1", "--base-url", "zorbs"], "is no address of a server"),
        (["zorb-1", "--base-url", "https://zorbs.invalid/v1"], "no key in the environment variable OPENAI_API_KEY"),
        (["zorb-1", "--base-url", "http://127.0.0.1:9/v1", "--samples", 3], "the same reply; set --temperature"),
        (["zorb-1", "--base-url", "http://127.0.0.1:9/v1", "--templates", "zorb"], "no template 'zorb'"),
        (
            ["zorb-1", "--base-url", "http://127.0.0.1:9/v1", "--device", "cpu"],
            "these options have no effect: --device",
        ),
        (["zorb-1", "--timeout", 3], "these options have no effect: --timeout"),
        (["no/such/model"], "no/such/model"),
    ],
)
def test_wrong_calls_are_one_sentence(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[Any], said: str
) -> None:
    """The exit code is 2, and no request is sent."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert run(*arguments, "--on", data) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_local_chat_model_is_asked_and_a_base_model_is_sent_to_score(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tiny model needs a chat template; with one, its preference comes from its label probabilities."""
    folder = tmp_path / "chatty"
    folder.mkdir()
    BUILDERS["qwen2"](folder)
    assert run(folder, "--on", data, "--device", "cpu") == 2
    assert "has no chat template" in " ".join(capsys.readouterr().err.split())
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 512}))
    (folder / "chat_template.jinja").write_text("{% for m in messages %}{{ m['content'] }}{% endfor %} Answer:")
    assert run(folder, "--on", data, "--device", "cpu", "--out", tmp_path / "run", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["results"]["overall"]["requests"] == 24
    assert report["results"]["overall"]["coverage"] == pytest.approx(1)
    lines = (tmp_path / "run" / "replies.jsonl").read_text().splitlines()
    assert all(json.loads(line)["probabilities"] for line in lines)


def test_a_stopped_run_says_how_many_replies_it_keeps(tmp_path: Path) -> None:
    """Lines about parameters, attempts and batches are not counted as replies; without a folder no reply is kept."""
    keys = ("parameters", "sent", "doubtful", "batch", "a" * 64, "b" * 64)
    (tmp_path / "received.jsonl").write_text("".join(f'{{"key": "{key}"}}\n' for key in keys))
    assert cli._what_stays(["choose", "zorb", "--out", str(tmp_path)]).startswith("2 replies are kept")
    assert cli._what_stays(["choose", "zorb", f"--out={tmp_path}"]).startswith("2 replies are kept")
    assert cli._what_stays(["choose", "zorb"]).startswith("nothing half-written stays")


def test_a_variance_without_a_value_is_printed_as_undefined() -> None:
    """A single identity has no variance between identities."""
    assert choose._variance(float("nan")) == "undefined"
