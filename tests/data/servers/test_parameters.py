"""Tests servers that refuse parameters: the run learns which, adapts the request, and remembers the change."""

import threading
from pathlib import Path
from typing import Any

import pytest
from helpers.servers.chat_server import DIALECTS, ChatServer, anything, gpt_5, mistral, serving

from catsofa.data.servers.endpoints import Endpoint, ServerRefuses
from catsofa.data.servers.parameters import Parameters
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.data.servers.requests import Answer, Request, completion, fetch

WISHES: dict[str, Any] = {
    "temperature": 0.0,
    "max_completion_tokens": 2112,
    "logprobs": True,
    "top_logprobs": 20,
    "seed": 1,
}
ACCEPTED: dict[str, dict[str, Any]] = {
    "anything": WISHES,
    "gpt_5": {"max_completion_tokens": 2112, "seed": 1},
    "mistral": {"temperature": 0.0, "max_tokens": 2112},
    "gemini": {"temperature": 0.0, "max_completion_tokens": 2112},
    "vllm": {"temperature": 0.0, "max_completion_tokens": 528, "logprobs": True, "top_logprobs": 5, "seed": 1},
    "deepseek": {"temperature": 0.0, "max_tokens": 528, "logprobs": True, "top_logprobs": 20, "seed": 1},
    "transformers": {name: value for name, value in WISHES.items() if name != "seed"},
}


def requests(count: int, **settings: Any) -> list[Request]:
    """Returns questions to a chat model."""
    messages = [[{"role": "user", "content": f"Is zorb {n} tidy?"}] for n in range(count)]
    return [Request("chat", {"model": "zorb-1", "messages": dialogue, **settings}) for dialogue in messages]


def asked(server: ChatServer, wanted: list[Request], store: ReplyStore | None = None) -> list[Answer[Any, Any]]:
    """Returns the answers to all requests."""
    endpoint = Endpoint(base_url=server.url, timeout=10, backoff=0.01)
    return list(fetch(wanted, endpoint, store or ReplyStore(), completion))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_request_is_sent_in_the_terms_that_its_server_accepts(dialect: str) -> None:
    """Each refusal teaches one change; the accepted parameters arrive unchanged."""
    store = ReplyStore()
    with serving(ChatServer(refuse=DIALECTS[dialect])) as server:
        ended = asked(server, requests(12, **WISHES), store)
    assert [answer.failure for answer in ended if answer.reply is None] == []
    for body in server.answered:
        assert {name: value for name, value in body.items() if name not in ("model", "messages")} == ACCEPTED[dialect]
    assert len(server.answered) == 12
    changed = WISHES.keys() ^ ACCEPTED[dialect].keys()
    assert all(any(name in sentence for sentence in store.parameters.sentences()) for name in changed)


def test_what_a_server_accepts_is_asked_once_and_remembered(tmp_path: Path) -> None:
    """Up to eight parallel requests may meet each refusal; later requests, also of the next run, meet none."""
    with serving(ChatServer(refuse=gpt_5)) as server:
        with ReplyStore(tmp_path / "replies.jsonl", server=server.url) as store:
            asked(server, requests(40, **WISHES), store)
        refused = len(server.asked) - 40
        assert 2 <= refused <= 8 * 2
        with ReplyStore(tmp_path / "replies.jsonl", server=server.url) as store:
            asked(server, requests(60, **WISHES), store)
            assert len(store.parameters.sentences()) == 3
    assert len(server.asked) == 60 + refused
    assert len(server.answered) == 60


def test_a_prompt_that_is_too_long_lowers_the_limit_of_no_later_request(tmp_path: Path) -> None:
    """A prompt that exceeds the context is refused, and other requests keep their token limit, also in the next run."""

    def small(body: Any) -> Any:
        message = "This model's maximum context length is 64 tokens. Please reduce the length of the messages."
        return (400, {"error": {"message": message}}) if body["messages"][0]["content"] == "Is zorb 0 tidy?" else None

    for count in (1, 9):
        with (
            serving(ChatServer(refuse=small)) as server,
            ReplyStore(tmp_path / "replies.jsonl", server="zorb") as store,
        ):
            ended = asked(server, requests(count, max_tokens=100), store)
            assert sum(answer.reply is None for answer in ended) == 1
            assert store.parameters.sentences() == []
    assert len(server.answered) == 8


def test_the_name_of_the_limit_is_changed_only_once() -> None:
    """After a server refuses both names of the limit, the request is refused."""
    parameters, body = Parameters(), {"model": "m", "messages": [], "max_tokens": 9}
    assert parameters.learn(body, 400, {"message": "max_tokens is unknown"})
    sent = parameters.accepted(body)
    assert "max_completion_tokens" in sent
    assert not parameters.learn(sent, 400, {"message": "max_completion_tokens is unknown"})


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": "the messages are empty"}),
        (401, {"message": "temperature"}),
        (403, {"message": "You have no access to this model"}),
        (404, {"message": "The model `temperature` does not exist"}),
        (500, {"message": "temperature"}),
        (400, "<html>bad gateway</html>"),
        (400, None),
        (400, {"message": "my_temperature and temperatures"}),
    ],
)
def test_an_error_that_names_no_parameter_teaches_nothing(status: int, error: Any) -> None:
    """A wrong key, an unknown model or an empty request changes no parameter."""
    parameters, body = Parameters(), {"model": "m", "messages": [], "temperature": 0}
    assert not parameters.learn(body, status, error)
    assert parameters.accepted(body) == body


def test_a_validation_that_repeats_the_request_blames_only_the_places_that_it_names() -> None:
    """pydantic's error repeats the input with other parameters; only the parameter at its `loc` is dropped."""
    body = {"model": "m", "messages": [], "temperature": 0, "seed": 1}
    error = {"detail": [{"loc": ["body", "seed"], "msg": "extra", "input": {"temperature": 0}}]}
    parameters = Parameters()
    assert parameters.learn(body, 422, error)
    assert parameters.accepted(body) == {"model": "m", "messages": [], "temperature": 0}


def test_too_many_requests_at_once_become_fewer() -> None:
    """If a server takes two requests at once, all are answered, and few are refused after the first."""
    with serving(ChatServer(slow=0.03, most=2)) as server:
        ended = asked(server, requests(60))
    assert all(answer.reply for answer in ended)
    assert server.peak <= 8
    assert len(server.asked) < 60 * 2


def test_a_wrong_key_ends_the_run_at_once_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP 401 ends the run with one sentence, and the key is masked."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-zorb-0123456789")
    error = {"error": {"message": "Incorrect API key provided: sk-zorb-0123456789.", "code": "invalid_api_key"}}
    with (
        serving(ChatServer(lambda body: (401, error, {}))) as server,
        pytest.raises(ServerRefuses, match=r"let us in.*HTTP 401.*\*\*\*"),
    ):
        asked(server, requests(30))
    assert len(server.asked) <= 8


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": "The response was filtered", "code": "content_filter"}),
        (400, {"message": "Content Exists Risk", "code": "invalid_request_error"}),
        (400, {"message": "Input data may contain inappropriate content.", "code": "data_inspection_failed"}),
        (400, {"message": "Your prompt was flagged", "code": "invalid_prompt"}),
    ],
)
def test_the_content_filters_of_several_providers_are_known(status: int, error: dict[str, str]) -> None:
    """A content filter's reply is an outcome of the request, not a fault of the server."""
    with serving(ChatServer(lambda body: (status, {"error": error}, {}))) as server:
        ended = asked(server, requests(2, temperature=0.0))
    assert {answer.reason for answer in ended} == {"content_filter"}
    assert len(server.asked) == 2


def test_completions_keep_their_parameters() -> None:
    """Only chat requests are adapted; a completion without `echo` or `logprobs` would be a different request."""
    lock = threading.Lock()
    bodies: list[Any] = []

    def refuse(body: Any) -> Any:
        with lock:
            bodies.append(body)
        return mistral(body) if "logprobs" in body else anything(body)

    with serving(ChatServer(refuse=refuse)) as server:
        ended = asked(server, [Request("completions", {"model": "m", "prompt": "Zorbs", "logprobs": 1})])
    assert ended[0].reason == "http_422"
    assert len(bodies) == 1
