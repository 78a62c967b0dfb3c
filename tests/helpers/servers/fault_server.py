"""A server that speaks the OpenAI chat protocol with deliberate faults; runs as its own program.

A share of the requests meets a passing fault (429, 500, 503, a connection reset mid-body, JSON cut in two, a slow
body). Some items always get an invalid answer: a refusal, a content filter, an empty choice, a reply cut by its length,
an unknown model. The server repeats the caller's key wherever a hostile one could. Each request is logged with its
result; "answered" is logged once the whole body is sent.
"""

import asyncio
import hashlib
import json
import random
import re
import sys
from pathlib import Path
from typing import Any

PASSING = ("429", "500", "503", "reset", "cut", "drip")
LASTING = ("refusal", "refusal field", "filter", "empty", "length", "404")


class Server:
    """The state of one server: its random generator and its log."""

    def __init__(self, log: Path, share: float, lasting: float, seed: int) -> None:
        self.log = log.open("a", buffering=1)
        self.share, self.lasting, self.dice = share, lasting, random.Random(seed)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves the requests of one connection."""
        try:
            while await self.answer(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers one request. Returns True if the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head.split("\r\n"))}
        request = json.loads(await reader.readexactly(int(headers["content-length"])))
        prompt, key = request["messages"][0]["content"], headers["authorization"].removeprefix("Bearer ")
        digest = hashlib.sha256(prompt.encode()).digest()
        lasting = LASTING[digest[0] % len(LASTING)] if digest[1] / 256 < self.lasting else ""
        fault = self.dice.choice(PASSING) if self.dice.random() < self.share else lasting if lasting == "404" else ""
        await asyncio.sleep(0.002)
        try:
            return await self.send(writer, fault, lasting, prompt, key)
        finally:
            self.log.write(json.dumps({"item": digest.hex(), "became": fault or "answered"}) + "\n")

    async def send(self, writer: asyncio.StreamWriter, fault: str, lasting: str, prompt: str, key: str) -> bool:
        """Sends the response, or a part of it."""
        if fault.isdecimal():
            error = {"error": {"message": f"no luck for the key {key} this time", "type": "x", "code": None}}
            await write(
                writer, int(fault), json.dumps(error).encode(), "Retry-After: 0.05\r\n" if fault == "429" else ""
            )
            return True
        body = json.dumps(completion(prompt, key, lasting)).encode()
        if fault == "cut":
            await write(writer, 200, body[: len(body) // 2])
            return True
        if fault == "reset":
            await write(writer, 200, body[: len(body) // 2], length=len(body))
            writer.transport.abort()
            return False
        if fault == "drip":
            await write(writer, 200, b"", length=len(body))
            for byte in body[:40]:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.1)
            return False
        await write(writer, 200, body)
        return True


async def write(writer: asyncio.StreamWriter, status: int, body: bytes, more: str = "", length: int = -1) -> None:
    """Sends a response with a length of so many bytes, of which only `body` is sent."""
    size = len(body) if length < 0 else length
    writer.write(
        f"HTTP/1.1 {status} x\r\nContent-Type: application/json\r\n{more}Content-Length: {size}\r\n\r\n".encode()
    )
    writer.write(body)
    await writer.drain()


def completion(prompt: str, key: str, lasting: str) -> dict[str, Any]:
    """Returns a chat completion: the context twice with more words, a letter by the first number, or none."""
    context = prompt.partition("---\n")[2].partition("\n---")[0].strip()
    reply = f"Indeed, {context}\nAs we all see, {context}" if context else "AB"[int(re.findall(r"\d+", prompt)[0]) % 2]
    message: dict[str, Any] = {"role": "assistant", "content": reply}
    finish = {"filter": "content_filter", "length": "length"}.get(lasting, "stop")
    if lasting == "refusal":
        message["content"] = f"I'm sorry, but I cannot help with that, {key}."
    if lasting == "refusal field":
        message = {"role": "assistant", "content": None, "refusal": f"no, {key}"}
    choices = [] if lasting == "empty" else [{"index": 0, "finish_reason": finish, "message": message}]
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m-1", "choices": choices, "usage": usage}


async def main(log: str, share: str, lasting: str, seed: str) -> None:
    """Serves until killed; the port is printed first."""
    server = Server(Path(log), float(share), float(lasting), int(seed))
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    print(listener.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - how the test learns the port
    await listener.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
