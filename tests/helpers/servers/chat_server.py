"""Chat servers that refuse parameters, with the error texts of several providers."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from helpers.servers.threads import on_a_free_port

Refusal = tuple[int, Any] | None


def _error(status: int, message: str, param: str | None = None, code: str | None = None) -> tuple[int, Any]:
    """Returns an error in OpenAI's format."""
    return status, {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def gpt_5(body: Mapping[str, Any]) -> Refusal:
    """Acts like a reasoning model of OpenAI: one name of the limit, one temperature, no log-probabilities."""
    if "max_tokens" in body:
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return _error(400, message, "max_tokens", "unsupported_parameter")
    if body.get("temperature", 1) != 1:
        message = (
            f"Unsupported value: 'temperature' does not support {body['temperature']} with this model. Only the "
            "default (1) value is supported."
        )
        return _error(400, message, "temperature", "unsupported_value")
    if "logprobs" in body:
        return _error(403, "You are not allowed to request logprobs from this model")
    return None


def mistral(body: Mapping[str, Any]) -> Refusal:
    """Acts like a server that forbids every unknown field, and names them all in its validation."""
    unknown = [name for name in ("max_completion_tokens", "seed", "logprobs", "top_logprobs") if name in body]
    faults = [
        {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted", "input": body[name]}
        for name in unknown
    ]
    error = {"object": "error", "message": {"detail": faults}, "type": "invalid_request_error", "param": None}
    return (422, error) if faults else None


def gemini(body: Mapping[str, Any]) -> Refusal:
    """Returns errors in a list, without a field for the parameter."""
    for name, message in (
        ("seed", 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'),
        ("logprobs", "Logprobs is not enabled for models/zorb-pro"),
    ):
        if name in body:
            return 400, [{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}]
    return None


def vllm(body: Mapping[str, Any]) -> Refusal:
    """Has a small context, and few alternatives per token."""
    limit = body.get("max_completion_tokens", body.get("max_tokens", 16))
    if limit > 900:
        message = f"This model's maximum context length is 1024 tokens. However, you requested {limit + 124} tokens "
        return _error(400, f"{message}(124 in the messages, {limit} in the completion). Please reduce the length.")
    if body.get("top_logprobs", 0) > 5:
        return _error(400, f"Requested sample logprobs of {body['top_logprobs']}, which is greater than max allowed: 5")
    return None


def deepseek(body: Mapping[str, Any]) -> Refusal:
    """Has a range for the limit."""
    if "max_completion_tokens" in body:
        return _error(400, "Unrecognized request argument supplied: max_completion_tokens")
    if body.get("max_tokens", 1) > 600:
        return _error(400, "Invalid max_tokens value, the valid range of max_tokens is [1, 600]")
    return None


def transformers(body: Mapping[str, Any]) -> Refusal:
    """Refuses all unexpected fields in one sentence, not in OpenAI's format."""
    unexpected = {name for name in ("seed", "reasoning_effort") if name in body}
    return (422, {"detail": f"Unexpected fields in the request: {unexpected}"}) if unexpected else None


def anything(body: Mapping[str, Any]) -> Refusal:
    """Accepts every parameter."""
    return None


DIALECTS: dict[str, Callable[[Mapping[str, Any]], Refusal]] = {
    way.__name__: way for way in (anything, gpt_5, mistral, gemini, vllm, deepseek, transformers)
}


@dataclass
class ChatServer:
    """The answers of a server, and the requests it received."""

    answer: Callable[[dict[str, Any]], Any] = lambda body: "A"
    """Maps the body of a request to the content of the reply, its choice, or (status, error, headers)."""
    refuse: Callable[[Mapping[str, Any]], Refusal] = anything
    slow: float = 0.0
    """Seconds that a reply takes."""
    most: int = 1_000
    """Simultaneous requests; more get HTTP 429."""
    usage: Mapping[str, Any] = field(default_factory=lambda: {"prompt_tokens": 50, "completion_tokens": 2})
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """Every body, refused or not."""
    answered: list[dict[str, Any]] = field(default_factory=list)
    """The bodies whose reply was sent completely, which are paid for."""
    peak: int = 0
    """The highest number of simultaneous requests."""
    _under_way: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def response(self, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        """Returns the response to a request."""
        with self._lock:
            self.asked.append(body)
            self._under_way += 1
            self.peak, crowd = max(self.peak, self._under_way), self._under_way
        try:
            if refused := self.refuse(body):
                return *refused, {}
            time.sleep(self.slow)
            if crowd > self.most:
                return *_error(429, "too many requests at once"), {"Retry-After": "0.05"}
            return self._reply(body)
        finally:
            with self._lock:
                self._under_way -= 1

    def _reply(self, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        """Returns a completion with the server's answer."""
        got = self.answer(body)
        if isinstance(got, tuple):
            status, error, headers = got
            return status, error, headers
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
        choice |= got if isinstance(got, dict) else {"message": {"role": "assistant", "content": got}}
        usage = dict(self.usage)
        return 200, {"id": "c", "object": "chat.completion", "model": "zorb-1", "choices": [choice], "usage": usage}, {}


class _Handler(BaseHTTPRequestHandler):
    """Handles one connection."""

    protocol_version = "HTTP/1.1"
    server_of: ChatServer

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""

    def do_POST(self) -> None:
        """Answers a request."""
        raw = self.rfile.read(length := int(self.headers["content-length"]))
        if len(raw) < length:  # the client was stopped before it sent everything
            self.close_connection = True
            return
        body = json.loads(raw)
        status, content, headers = self.server_of.response(body)
        raw = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(raw)), **headers}.items():
            self.send_header(name, value)
        try:
            self.end_headers()
            self.wfile.write(raw)
        except ConnectionError:  # the client was stopped
            self.close_connection = True
            return
        if status == 200:
            with self.server_of._lock:
                self.server_of.answered.append(body)

    def handle(self) -> None:
        """Handles all requests of the connection; a stopped client may break it."""
        with suppress(ConnectionError):
            super().handle()


@contextmanager
def serving(server: ChatServer) -> Iterator[ChatServer]:
    """Starts the server on a free port."""
    with on_a_free_port(type("OwnHandler", (_Handler,), {"server_of": server})) as url:
        server.url = f"{url}/v1"
        yield server
