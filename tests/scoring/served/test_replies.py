"""Tests server replies: read, stored and not requested twice, or refused if they are faulty or foreign."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.served_models import CATS, KEY, PROBES, directly, server, written

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.records import Probe
from catsofa.data.servers.endpoints import Endpoint, ServerRefuses
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.data.servers.requests import Request, completion, fetch
from catsofa.scoring import protocols, served
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.executors.texts import Served
from catsofa.scoring.extras import NO_REPLY
from catsofa.scoring.served import AFTER, CONTEXT, PLAIN, SCRAMBLED
from catsofa.scoring.served.replies import Reading, Unreadable, read
from catsofa.scoring.served.scores import score

Tiny = Callable[[str], Path]

pytestmark = pytest.mark.usefixtures("key")


def _grid(count: int) -> list[Probe]:
    def hills(k: int) -> str:
        return " ".join("long" if k >> bit & 1 else "kind" for bit in range(5))

    return [
        Probe(category="c", identity=f"zorbs of the {hills(k)} hills", stereotype=stereotype)
        for k in range(count // 3)
        for stereotype in ("love long meetings", "are stubborn", "sing")
    ]


def test_passing_faults_are_tried_again(tiny: Tiny, tmp_path: Path) -> None:
    """Transient faults are retried until every probe is scored: 429 with Retry-After, 500, a connection reset within
    the body, and JSON cut in two."""
    probes = _grid(60)
    expected = directly(tiny("llama"), probes)
    with server(tiny("llama"), faults=("429", "500", "reset", "cut"), share=0.3) as (endpoint, behind):
        scores = score(served.connect("llama", endpoint), probes, protocols.named("catsofa"))
    assert len(behind.met) > 10
    assert [s.score for s in scores] == pytest.approx([expected[s.item, s.task].score for s in scores], abs=1e-4)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("without", "the reply has no log-probabilities"),
        ("above zero", "the log-probability of token 3 is 3.5, above 0"),
        ("500", f"{NO_REPLY}: http_500"),
    ],
)
def test_one_text_without_an_answer_is_unscored_with_the_reason(tiny: Tiny, fault: str, reason: str) -> None:
    """If log-probabilities are missing or impossible, or an error persists, only that text is unscored."""
    lasting = {CATS[0].candidates[1].text: fault}
    with server(tiny("llama"), lasting=lasting) as (endpoint, _):
        scores = score(served.connect("llama", endpoint), CATS[:1], protocols.named("catsofa"))
    assert [s.score is None for s in scores] == [False, True, False]
    assert scores[1].reason.startswith(reason)
    assert KEY not in scores[1].reason


def test_nothing_is_asked_for_twice(tiny: Tiny, tmp_path: Path) -> None:
    """Each text is requested once over all records. A second run requests none, and a partial run only the rest."""
    probes = _grid(30)
    formats.convert(written(probes, tmp_path / "probes.jsonl"), tmp_path / "probes.csv", target_format="sofa")
    with server(tiny("llama")) as (endpoint, behind):
        half = evaluate("llama", tmp_path / "probes.csv", executor=Served(endpoint), out=tmp_path / "run", limit=15)
        assert half.to_dict()["results"]["coverage"] == 1
        assert half.signature.subset.startswith("first 15@")
        first = len(behind.asked)
        texts = {text for p in probes[:15] for text in (p.text, p.identity)}
        assert first < len(texts) + 10, "a few questions try the server, then each text once"
        before = sum(behind.answered.values())
        whole = evaluate("llama", tmp_path / "probes.csv", executor=Served(endpoint), out=tmp_path / "run")
        again = evaluate("llama", tmp_path / "probes.csv", executor=Served(endpoint), out=tmp_path / "run")
        own = {text: count for text, count in behind.answered.items() if "hills" in text}
    assert before < sum(behind.answered.values())
    assert set(own.values()) == {1}
    assert whole.to_dict() == again.to_dict()
    assert whole.to_dict()["results"]["categories"]["c"]["probes"] == 30


def test_a_text_that_had_no_reply_is_asked_for_by_the_next_run(tiny: Tiny, tmp_path: Path) -> None:
    """A failed request is not stored as a result: the next run requests the missing text and completes the scores."""
    data = written(_grid(30), tmp_path / "probes.jsonl")
    with server(tiny("llama"), lasting={_grid(30)[4].text: "500"}) as (endpoint, behind):
        short = evaluate("llama", data, executor=Served(endpoint), out=tmp_path / "run").to_dict()
        assert short["results"]["coverage"] == 29 / 30
        assert sum(short["unscored"].values()) == 1
        behind.behaviour.lasting.clear()
        whole = evaluate("llama", data, executor=Served(endpoint), out=tmp_path / "run").to_dict()
    assert whole["results"]["coverage"] == 1
    assert not whole["unscored"]


def test_a_reply_cut_short_by_a_kill_is_asked_for_again(tiny: Tiny, tmp_path: Path) -> None:
    """A partial line at the end of the journal is requested again; the complete lines before it are not."""
    journal = tmp_path / "replies.jsonl"
    with server(tiny("llama")) as (endpoint, behind):
        with ReplyStore(journal) as replies:
            first = score(served.connect("llama", endpoint, replies=replies), PROBES, protocols.named("catsofa"))
        journal.write_bytes(journal.read_bytes()[:-40])
        behind.answered.clear()
        with ReplyStore(journal) as replies:
            second = score(served.connect("llama", endpoint, replies=replies), PROBES, protocols.named("catsofa"))
        questions = sum(
            count for text, count in behind.answered.items() if text not in (PLAIN, SCRAMBLED, CONTEXT, f" {AFTER}")
        )
    assert first == second
    assert questions == 1


def test_replies_that_were_changed_or_are_of_another_server_are_refused(tiny: Tiny, tmp_path: Path) -> None:
    """A changed number in the store, or the store of another server, is refused with the file and its line."""
    data = written(_grid(4), tmp_path / "probes.jsonl")
    for name in ("one", "two"):
        with server(tiny("llama")) as (endpoint, _):
            evaluate("llama", data, executor=Served(endpoint), out=tmp_path / name)
            if name == "one":
                store = tmp_path / "one" / "replies.jsonl"
                store.write_text(store.read_text().replace("-", "-1", 1))
                with pytest.raises(BadInput, match=r"replies\.jsonl:1: .*checksum"):
                    evaluate("llama", data, executor=Served(endpoint), out=tmp_path / "one")
            else:
                shutil.copy(tmp_path / "one" / "replies.jsonl", tmp_path / "two")
                with pytest.raises(BadInput, match=r"replies\.jsonl:1: .*another run"):
                    evaluate("llama", data, executor=Served(endpoint), out=tmp_path / "two")


def test_a_server_out_of_order_is_left_alone(tiny: Tiny) -> None:
    """After ten texts in a row without a reply, the run ends with one error instead of sending thousands of
    requests."""
    probes = _grid(90)
    lasting = {p.text: "503" for p in probes} | {p.identity: "503" for p in probes}
    with server(tiny("llama"), lasting=lasting) as (endpoint, behind):
        model = served.connect("llama", endpoint)
        sent = len(behind.asked)
        with pytest.raises(ServerRefuses, match=r"10 requests.*no reply"):
            score(model, probes, protocols.named("catsofa"))
    assert len(behind.asked) - sent < 20 * endpoint.attempts


def test_the_key_is_in_no_file(tiny: Tiny, tmp_path: Path) -> None:
    """The key is sent but is not in the replies, scores, manifest or report, although the server repeats it."""
    data = written(_grid(30), tmp_path / "probes.jsonl")
    with server(tiny("llama"), faults=("429", "500"), share=0.3) as (endpoint, behind):
        report = evaluate("llama", data, executor=Served(endpoint), out=tmp_path / "run")
    assert behind.keys == {KEY}
    for file in (tmp_path / "run").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file
    assert KEY not in json.dumps(report.to_dict())


def test_a_run_of_another_server_is_not_mixed_in(tiny: Tiny, tmp_path: Path) -> None:
    """A run of a server at another address is refused, because the address and the way of asking identify a result."""
    data = written(PROBES, tmp_path / "probes.jsonl")
    with server(tiny("llama")) as (endpoint, _):
        evaluate("llama", data, executor=Served(endpoint), out=tmp_path / "run")
    with server(tiny("llama")) as (endpoint, _), pytest.raises(ValueError, match=r"model\.at: http://127"):
        evaluate("llama", data, executor=Served(endpoint), out=tmp_path / "run")


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ({"choices": []}, "the reply has no choice"),
        ({"choices": [{"logprobs": {"tokens": ["a", "b"], "token_logprobs": [None]}}]}, "are not as many"),
        ({"choices": [{"logprobs": {"tokens": ["a", "b"], "token_logprobs": [-1, None]}}]}, "token 2 is None"),
        ({"choices": [{"logprobs": {"tokens": ["a", "b"], "token_logprobs": [-1, "x"]}}]}, "token 2 is 'x'"),
        ({"choices": [{"logprobs": {"tokens": [], "token_logprobs": []}}]}, "no token of the prompt"),
        ({"choices": [{"logprobs": {"tokens": ["a", "b"], "token_logprobs": [-1, -(10**400)]}}]}, "token 2 is -1000"),
        ({"choices": [{"logprobs": ["a"]}]}, r"no log-probabilities of the prompt \(but list\)"),
        ({"choices": [{"logprobs": {"x" * 2000: 1}}]}, r"^.{0,200}$"),
    ],
)
def test_a_reply_is_text_until_proved_otherwise(reply: dict[str, Any], says: str) -> None:
    """A reply without a log-probability for each token is refused with the reason."""
    with pytest.raises(Unreadable, match=says):
        read(reply, "echo")


@pytest.mark.parametrize(
    ("tokens", "text", "spelled"),
    [
        (("A", "Ġb"), "A b", True),
        (("▁A", "▁b"), "A b", True),
        (("A", "<0x0A>", "b"), "A\nb", True),
        (("A", "<unk>"), "A b", True),
        (("A", " c"), "A b", False),
        (("A",), "A b", False),
    ],
)
def test_tokens_are_compared_with_the_text(tokens: tuple[str, ...], text: str, spelled: bool) -> None:
    """Tokenizers write spaces and bytes in different ways, which still match the text; other letters do not match."""
    assert Reading(tokens, (-1.0,) * len(tokens)).spells(text) == spelled


def test_what_the_server_wrote_is_not_the_prompt() -> None:
    """The tokens that the server generated after the prompt are counted by `usage` and dropped."""
    reply = {
        "choices": [{"logprobs": {"tokens": ["<s>", "A", " b", "x"], "token_logprobs": [None, -1, -2, -3]}}],
        "usage": {"completion_tokens": 1},
    }
    assert read(reply, "echo and write") == Reading(("<s>", "A", " b"), (None, -1, -2))


def test_replies_are_by_everything_that_was_asked(tmp_path: Path) -> None:
    """Requests that differ in the model or in any field have different keys."""
    bodies = [{"model": m, "prompt": "a", "max_tokens": n} for m, n in (("m", 0), ("m", 1), ("n", 0))]
    assert len({Request("completions", body).key for body in bodies}) == 3
    with ReplyStore(tmp_path / "r.jsonl") as replies:
        replies.answered(Request("completions", bodies[0]).key, completion({"choices": [1], "id": "left out"}))
    with ReplyStore(tmp_path / "r.jsonl") as replies:
        assert replies.replies == {Request("completions", bodies[0]).key: {"choices": [1]}}
        assert not list(fetch([], Endpoint(base_url="http://127.0.0.1:9/v1"), replies, completion))
