"""Measures the CPU time per request to a server: python -m benchmarks.served [--requests 10000] [--at-once 128].

A server in another process answers each prompt after `--latency` seconds. The figures cover the work around the server:
sending requests, storing and reading each reply, and the run folder.
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


def serve(listening: socket.socket, latency: float, connections: "Synchronized[int]") -> None:
    """Answers completion requests with a start token and the words of the prompt, each with its own log-probability."""

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
            words = body["prompt"].split(" ")
            tokens = ["<s>", words[0], *(f" {word}" for word in words[1:])]
            values = [-1.0 - (sum(map(ord, "".join(tokens[: end + 1]))) % 97) / 50 for end in range(1, len(tokens))]
            choice = {"index": 0, "text": body["prompt"], "finish_reason": "length"}
            choice |= {"logprobs": {"tokens": tokens, "token_logprobs": [None, *values]}}
            usage = {"prompt_tokens": len(tokens), "completion_tokens": 0}
            content = json.dumps({"model": body["model"], "choices": [choice], "usage": usage}).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
            self.transport.write(head.encode() + content)

    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(Connection, sock=listening)
        await server.serve_forever()

    asyncio.run(forever())


def cpu() -> float:
    """Returns the CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(requests: int, at_once: int, latency: float, folder: Path) -> dict[str, float]:
    """Returns the wall clock and the CPU time per request of a run over `requests` texts.

    The CPU time excludes that of a first run over a few texts, which also loads the libraries.
    """
    listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
    connections = multiprocessing.Value("i", 0)
    server = multiprocessing.Process(target=serve, args=(listening, latency, connections), daemon=True)
    server.start()
    endpoint = Endpoint(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}/v1", concurrency=at_once)
    runs = {}
    for count in (8, requests):
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
        "CPU of a request, ms": round(1000 * (used - start) / requests, 3),
        "connections": opened,
    }


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--at-once", type=int, default=128)
    parser.add_argument("--latency", type=float, default=0.1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measured(options.requests, options.at_once, options.latency, Path(folder)), indent=1))


if __name__ == "__main__":
    main()
