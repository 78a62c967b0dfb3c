"""Tests association tests on the vectors of a server."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.records import TEST
from helpers.served_models import KEY, server

from catsofa.data.servers.endpoints import Endpoint, ServerRefuses
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.executors.texts import Served
from catsofa.scoring.protocols import named
from catsofa.scoring.served.embeddings import TEXTS, ServedVectors, packed

Tiny = Callable[[str], Path]
pytestmark = pytest.mark.usefixtures("key")

MEAN = named("catsofa").changed(pooling="mean")
TEXTS_OF_TEST = [text for words in (TEST.x, TEST.y, TEST.a, TEST.b) for text in words.items]


def numbers(report: Any) -> list[Any]:
    """Returns the numbers of a report's test."""
    (row,) = report.to_dict()["results"]
    return [row["effect_size"], row["p_value"], *row["associations"]["x"]]


def test_a_served_model_has_the_effects_of_its_vectors_here(tiny: Tiny) -> None:
    """The mean of a model's last states gives the same numbers over HTTP and in this process, and the signature names
    the server."""
    with server(tiny("gpt2"), faults=("500", "429", "cut", "reset"), share=0.5) as (endpoint, _):
        far = evaluate("gpt2", [TEST], executor=Served(endpoint), resamples=20)
    near = evaluate(str(tiny("gpt2")), [TEST], protocol=MEAN, resamples=20, device="cpu")
    assert numbers(far) == pytest.approx(numbers(near), abs=1e-4)
    assert f"gpt2 at {endpoint.base_url} kind=served" in str(far.signature)


def test_a_stopped_run_asks_for_no_text_again_and_holds_no_secret(tiny: Tiny, tmp_path: Path) -> None:
    """If the second batch fails, the first is stored, and a rerun requests only the second. The store does not contain
    the key."""
    many = [f"{text} {n}" for n in range(TEXTS) for text in TEXTS_OF_TEST][: TEXTS + 5]
    with server(tiny("gpt2"), lasting={many[TEXTS]: "400"}) as (endpoint, behind):
        vectors = ServedVectors("gpt2", endpoint)
        vectors.keep(tmp_path)
        with pytest.raises(ValueError, match=r"no vectors.*5 texts"):
            vectors(many)
        behind.behaviour.lasting.clear()
        count = len(behind.asked)
        rows = vectors(many)
        assert [body["input"] for body in behind.asked[count:]] == [many[TEXTS:]]
        assert len(rows) == len(many)
        count = len(behind.asked)
        assert (vectors(many) == rows).all()
        assert len(behind.asked) == count
    assert KEY not in (tmp_path / "replies.jsonl").read_text()


def test_a_run_keeps_its_replies_and_is_finished_without_the_server(tiny: Tiny, tmp_path: Path) -> None:
    """Replies are stored in the run's folder; a second call sends no request and gives the same numbers."""
    with server(tiny("gpt2")) as (endpoint, behind):
        first, second = (
            evaluate("gpt2", [TEST], executor=Served(endpoint), out=tmp_path / "run", resamples=20) for _ in range(2)
        )
    assert numbers(first) == numbers(second)
    assert len(behind.asked) == -(-len(set(TEXTS_OF_TEST)) // TEXTS)


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"data": []},
        {"data": [{"index": 0}]},
        {"data": [{"index": 0, "embedding": [1, None]}]},
        {"data": [{"index": 0, "embedding": [1, float("inf")]}]},
        {"data": [{"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [1, 2]}]},
        {"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": 1.5}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": [1, 1e300]}]},
        {"data": [{"index": 0, "embedding": "text"}]},
        {"data": 3},
    ],
)
def test_json_without_a_vector_for_each_text_is_a_fault(body: Any) -> None:
    """A reply is refused if a vector is missing, infinite, of another length or too short, or if an index occurs
    twice."""
    with pytest.raises(ValueError, match="vector"):
        packed(json.loads(json.dumps(body)))


@pytest.mark.parametrize(("option", "value"), [("pooling", "mean"), ("layer", 1), ("special_tokens", False)])
def test_what_a_server_does_not_let_one_choose_is_refused(option: str, value: Any) -> None:
    """Options that the server decides itself, such as pooling, are refused."""
    protocol = named("catsofa").changed(**{option: value})
    with pytest.raises(ValueError, match=option):
        evaluate("m", [TEST], protocol=protocol, executor=Served(Endpoint(base_url="http://127.0.0.1:9/v1")))


def test_a_server_without_such_an_endpoint_is_one_sentence(tiny: Tiny) -> None:
    """A 404 or a refused connection gives one error, with the server's text or the lack of a server, and without the
    key."""
    far = Endpoint(base_url="http://127.0.0.1:9/v1", attempts=2, backoff=0.01)
    with pytest.raises(ServerRefuses, match="no server"):
        evaluate("m", [TEST], executor=Served(far))
    with (
        server(tiny("gpt2"), lasting={TEXTS_OF_TEST[0]: "404"}) as (endpoint, _),
        pytest.raises(ValueError, match="404") as error,
    ):
        evaluate("gpt2", [TEST], executor=Served(endpoint))
    assert KEY not in str(error.value)
