"""A completions server over a real model: echoes prompts with log-probabilities, with the variants of real servers."""

import json
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from helpers.servers.threads import on_a_free_port


@dataclass
class Behaviour:
    """The behaviour of a server; faults affect a share of the requests, each request at most once."""

    dialect: str = "echo"
    """echo, prompt_logprobs (vLLM), written (llama.cpp), none, constant, zero, unigram, chat only."""
    adds_start: bool = True
    faults: tuple[str, ...] = ()
    share: float = 0.0
    lasting: dict[str, str] = field(default_factory=dict)
    """Prompts with a fault that occurs every time."""
    drifts: float = 0.0
    lists: int = 0
    """The most prompts in one request; 0 if the server takes one text alone."""
    refusal: int = 400
    """The status of a request with more prompts."""
    honest: int = 0
    """The longest list that is answered without the fault below."""
    fault_of_lists: str = ""
    """choices: in another order; numbered: wrongly; number: the choices are a number; without: no log-probabilities."""
    choice: Any = None
    """For chat: maps the question's two sentences to the reply."""


class Served:
    """The model behind the server, its log-probabilities by transformers alone, and the received requests."""

    def __init__(self, folder: Path, behaviour: Behaviour) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.model = AutoModelForCausalLM.from_pretrained(folder).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.behaviour, self.asked, self.answered = behaviour, list[dict[str, Any]](), Counter[str]()
        self.keys: set[str] = set()
        self.dice, self.lock, self.met = random.Random(3), threading.Lock(), set[str]()
        self.torch = torch

    def prompt(self, text: str) -> tuple[list[str], list[float | None]]:
        """Returns the tokens of a prompt, with a start token if the server adds one, and each log-probability."""
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        if self.behaviour.adds_start:
            ids = [self.tokenizer.bos_token_id, *ids]
        with self.lock, self.torch.inference_mode():
            logits = self.model(self.torch.tensor([ids])).logits[0].double()
        values = self.torch.log_softmax(logits, -1)
        logprobs = [None, *(float(values[index, token]) for index, token in enumerate(ids[1:]))]
        return self.tokenizer.convert_ids_to_tokens(ids), logprobs

    def completion(self, body: dict[str, Any]) -> dict[str, Any]:
        """Returns the reply to a completions request, whose prompt is a text or a list of texts."""
        if isinstance(body["prompt"], str):
            return self._of_text(body)
        replies = [self._of_text({**body, "prompt": text}) for text in body["prompt"]]
        choices = [{**reply["choices"][0], "index": number} for number, reply in enumerate(replies)]
        match self.behaviour.fault_of_lists if len(choices) > self.behaviour.honest else "":
            case "choices":
                choices = choices[1:] + choices[:1]
            case "numbered":
                choices = [{**choice, "index": (choice["index"] + 1) % len(choices)} for choice in choices]
            case "number":
                return {"choices": len(choices)}
            case "without":
                choices = [*choices[:-1], {**choices[-1], "logprobs": None}]
        names = replies[0]["usage"]
        usage = {name: sum(reply["usage"][name] for reply in replies) for name in names}
        return {**replies[0], "choices": choices, "usage": usage}

    def _of_text(self, body: dict[str, Any]) -> dict[str, Any]:
        """Returns the reply about one text."""
        how = self.behaviour.dialect
        tokens, values = self.prompt(body["prompt"])
        if how in ("constant", "zero"):
            values = [None, *([-1.5 if how == "constant" else 0.0] * (len(tokens) - 1))]
        if how == "unigram":
            values = [None, *(-1.0 - len(token) for token in tokens[1:])]
        if self.behaviour.drifts:
            values = [value and value - self.dice.random() * self.behaviour.drifts for value in values]
        count = int(body.get("max_tokens", 16) > 0)
        choice: dict[str, Any] = {"index": 0, "finish_reason": "length", "text": "x" * count}
        wants_logprobs = body.get("echo") and body.get("logprobs") is not None
        if how == "prompt_logprobs" and "prompt_logprobs" in body:
            choice["prompt_logprobs"] = [
                None if value is None else {"7": {"logprob": value, "rank": 1, "decoded_token": token}}
                for token, value in zip(tokens, values, strict=True)
            ]
        elif how == "written" or (how == "none" and wants_logprobs):
            choice["logprobs"] = {"content": [{"token": "x", "logprob": -0.1}]} if how == "written" else None
        elif wants_logprobs and how != "prompt_logprobs":
            choice["logprobs"] = {
                "tokens": tokens + ["x"] * count,
                "token_logprobs": values + [-0.1] * count,
                "top_logprobs": None,
                "text_offset": [],
            }
        usage = {"prompt_tokens": len(tokens), "completion_tokens": count, "total_tokens": len(tokens) + count}
        return {"id": "c", "object": "text_completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """Returns the reply to a chat request."""
        message = {"role": "assistant", "content": self.behaviour.choice(body["messages"][-1]["content"])}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": {}}

    def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        """Returns the reply to an embeddings request: means of the last states, in reverse order with their indices."""
        rows = []
        for text in body["input"]:
            ids = self.tokenizer(text, return_tensors="pt")["input_ids"]
            with self.lock, self.torch.inference_mode():
                rows.append(self.model(ids, output_hidden_states=True).hidden_states[-1][0].mean(0).tolist())
        data = [{"object": "embedding", "index": n, "embedding": row} for n, row in reversed([*enumerate(rows)])]
        return {"object": "list", "data": data, "model": "m", "usage": {}}

    def fault(self, prompt: str) -> str:
        """Returns the fault of this request, or an empty string."""
        with self.lock:
            if prompt in self.behaviour.lasting:
                return self.behaviour.lasting[prompt]
            if prompt in self.met or self.dice.random() >= self.behaviour.share:
                return ""
            self.met.add(prompt)
            return self.dice.choice(self.behaviour.faults)


class Handler(BaseHTTPRequestHandler):
    """Handles one connection."""

    protocol_version = "HTTP/1.1"
    served: Served

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""

    def do_POST(self) -> None:
        """Answers a request, or applies its fault."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        served, is_chat = self.served, self.path.endswith("/chat/completions")
        embeds = self.path.endswith("/embeddings")
        prompt = body["input"][0] if embeds else body["messages"][-1]["content"] if is_chat else body["prompt"]
        key = self.headers["authorization"].removeprefix("Bearer ")
        with served.lock:
            served.asked.append(body)
            served.keys.add(key)
        is_known = is_chat or embeds or self.path.endswith("/completions")
        if not is_known or (served.behaviour.dialect == "chat only" and not is_chat):
            return self._send(404, {"error": {"message": f"no such path for {key}", "type": "x", "code": None}})
        prompts = [prompt] if isinstance(prompt, str) else prompt
        if not isinstance(prompt, str) and len(prompt) > served.behaviour.lists:
            return self._send(
                served.behaviour.refusal, {"error": {"message": "the prompt is no text", "type": "x", "code": None}}
            )
        fault = next(filter(None, map(served.fault, prompts)), "")
        if fault.isdecimal():
            more = {"Retry-After": "0.05"} if fault == "429" else {}
            return self._send(int(fault), {"error": {"message": f"no luck for {key}", "type": "x", "code": None}}, more)
        reply = (served.embeddings if embeds else served.chat if is_chat else served.completion)(body)
        if fault == "without":
            reply["choices"][0]["logprobs"] = None
        if fault == "above zero":
            reply["choices"][0]["logprobs"]["token_logprobs"][2] = 3.5
        whole = json.dumps(reply).encode()
        if fault == "cut":
            return self._send(200, whole[: len(whole) // 2])
        if fault == "reset":
            self.send_response(200)
            self.send_header("Content-Length", str(len(whole)))
            self.end_headers()
            self.wfile.write(whole[: len(whole) // 2])
            self.wfile.flush()
            self.connection.close()
            self.close_connection = True
            return None
        with served.lock:
            served.answered.update(prompts)
        return self._send(200, whole)

    def _send(self, status: int, body: dict[str, Any] | bytes, more: dict[str, str] | None = None) -> None:
        """Sends a response."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(raw)),
            **(more or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)


@contextmanager
def serving(folder: Path, behaviour: Behaviour | None = None) -> Iterator[tuple[str, Served]]:
    """Starts a server, and returns its address and its model."""
    served = Served(folder, behaviour or Behaviour())
    with on_a_free_port(type("OwnHandler", (Handler,), {"served": served})) as url:
        yield f"{url}/v1", served
