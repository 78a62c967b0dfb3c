"""Measures the CPU time per text that a server scores: python -m benchmarks.served [--texts 10000] [--at-once 128].

A server in another process answers each request after `--latency` seconds. The figures cover the work around the
server: sending requests, storing and reading each reply, and the run folder. The server takes one text in a request,
and then several.
"""

import argparse
import asyncio
import json
import multiprocessing
import resource
import socket
import tempfile
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from time import monotonic
from typing import Any

from catsofa.data.files import jsonl
from catsofa.data.records import Pair
from catsofa.data.servers.endpoints import Endpoint
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.executors.texts import Served


def choice(text: str, index: int) -> dict[str, Any]:
    """Returns a start token and the words of a prompt, each with its own log-probability."""
    words = text.split(" ")
    tokens = ["<s>", words[0], *(f" {word}" for word in words[1:])]
    values = [-1.0 - (sum(map(ord, "".join(tokens[: end + 1]))) % 97) / 50 for end in range(1, len(tokens))]
    logprobs = {"tokens": tokens, "token_logprobs": [None, *values]}
    return {"index": index, "text": text, "finish_reason": "length", "logprobs": logprobs}


def serve(listening: socket.socket, latency: float, lists: bool, connections: "Synchronized[int]") -> None:
    """Answers completion requests about one prompt or, if it takes `lists`, about several."""

    class Connection(asyncio.Protocol):
        def connection_made(self, transport: Any) -> None:
            self.transport, self.held = transport, b""
            with connections.get_lock():
                connections.value += 1

        def data_received(self, data: bytes) -> None:
            self.held += data
            head, separator, rest = self.held.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
            if separator and len(rest) >= length:
                self.held = rest[length:]
                asyncio.get_running_loop().call_later(latency, self.answer, json.loads(rest[:length]))

        def answer(self, body: dict[str, Any]) -> None:
            prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
            if len(prompts) > 1 and not lists:
                self.send("400 Bad Request", {"error": {"message": "the prompt must be a text"}})
                return
            choices = [choice(text, index) for index, text in enumerate(prompts)]
            tokens = sum(len(one["logprobs"]["tokens"]) for one in choices)
            usage = {"prompt_tokens": tokens, "completion_tokens": 0}
            self.send("200 OK", {"model": body["model"], "choices": choices, "usage": usage})

        def send(self, status: str, reply: dict[str, Any]) -> None:
            content = json.dumps(reply).encode()
            head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
            self.transport.write(head.encode() + content)

    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(Connection, sock=listening)
        await server.serve_forever()

    asyncio.run(forever())


def cpu() -> float:
    """Returns the CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(texts: int, at_once: int, latency: float, lists: bool, folder: Path) -> dict[str, float]:
    """Returns the wall clock of a run over `texts` texts, and its CPU time per text.

    The CPU time excludes that of a first run over a few texts, which also loads the libraries.
    """
    listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
    connections = multiprocessing.Value("i", 0)
    server = multiprocessing.Process(target=serve, args=(listening, latency, lists, connections), daemon=True)
    server.start()
    endpoint = Endpoint(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}/v1", concurrency=at_once)
    runs = {}
    for count in (8, texts):
        pairs = [
            Pair(more=f"Zorb {n} hums a song.", less=f"Zorb {n} sings a song.", bias_type="zorb", direction="stereo")
            for n in range(count // 2)
        ]
        jsonl.write(pairs, file := folder / f"{count}.jsonl")
        before, used, begun = connections.value, cpu(), monotonic()
        evaluate("m", file, executor=Served(endpoint), out=folder / f"run-{count}", resamples=100)
        runs[count] = monotonic() - begun, cpu() - used, connections.value - before
    server.kill()
    (_, start, _), (wall, used, opened) = runs.values()
    return {
        "wall clock, s": round(wall, 2),
        "CPU of a text, ms": round(1000 * (used - start) / texts, 3),
        "connections": opened,
    }


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--at-once", type=int, default=128)
    parser.add_argument("--latency", type=float, default=0.1)
    options = parser.parse_args()
    for lists in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            figures = measured(options.texts, options.at_once, options.latency, lists, Path(folder))
        print(json.dumps({"several texts in a request": lists, **figures}))


if __name__ == "__main__":
    main()
