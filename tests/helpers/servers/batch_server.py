"""A chat server that also speaks OpenAI's Batch API: files, batches, and their results in another order."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from helpers.servers import chat_server
from helpers.servers.chat_server import ChatServer
from helpers.servers.threads import on_a_free_port

LOOKS = 2
"""Number of status requests before a batch ends."""


@dataclass
class BatchServer(ChatServer):
    """The batches of a server; a batch is processed, and paid for, on creation."""

    ends: list[str] = field(default_factory=list)
    """The ends of the next batches, then `completed`. In an expired or cancelled batch, every second line is done."""
    change: Callable[[dict[str, Any]], list[dict[str, Any]]] = lambda line: [line]
    """Maps the result of a line to the results that are written."""
    step: Callable[[str], None] = lambda name: None
    """Called at each step: upload, uploaded, create, created, look, output, errors."""
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    paid: Counter[str] = field(default_factory=Counter)
    """The prompts that were answered, singly or in a batch."""

    @property
    def sizes(self) -> list[int]:
        """The number of requests in each batch."""
        return [batch["request_counts"]["total"] for batch in self.batches.values()]

    def response(self, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        """Returns the response to a request, which is paid for if it is a reply."""
        status, answer, headers = super().response(body)
        self.paid[body["messages"][0]["content"]] += status == 200
        return status, answer, headers

    def upload(self, content: bytes) -> dict[str, Any]:
        """Stores a file."""
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return {"id": name, "object": "file", "bytes": len(content), "created_at": 0, "filename": "x"} | {
            "purpose": "batch", "status": "processed",
        }  # fmt: skip

    def create(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Creates a batch from a file, and processes it."""
        lines = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        assert len({line["body"]["model"] for line in lines}) == 1
        name, end = f"batch-{len(self.batches)}", self.ends.pop(0) if self.ends else "completed"
        results = []
        for number, line in enumerate(lines if end != "failed" else ()):
            result: dict[str, Any] = {"custom_id": line["custom_id"], "response": None, "error": None}
            if number % 2 and end != "completed":
                result["error"] = {"code": f"batch_{end}", "message": "not done"}
            else:
                status, body, _ = self.response(line["body"])
                result["response"] = {"status_code": status, "body": body}
            results += self.change(result)
        for kind, good in (("output", True), ("errors", False)):
            of_kind = [one for one in reversed(results) if ('"status_code": 200' in json.dumps(one)) is good]
            self.files[f"{kind}-{name}"] = b"".join(
                json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in of_kind
            )
        errors = (
            {"object": "list", "data": [{"code": "x", "message": "line 1 is no JSON"}]} if end == "failed" else None
        )
        self.batches[name] = {
            "id": name, "object": "batch", "created_at": 0, "status": "validating", "end": end, "looks": 0, **asked,
            "output_file_id": f"output-{name}", "error_file_id": f"errors-{name}", "errors": errors,
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
        }  # fmt: skip
        return self.batches[name]

    def look(self, name: str) -> dict[str, Any]:
        """Returns a batch, which advances one step each time."""
        batch = self.batches[name]
        batch["looks"] += 1
        batch["status"] = batch["end"] if batch["looks"] > LOOKS else "in_progress"
        return batch


class _Handler(chat_server._Handler):
    """Handles one connection."""

    server_of: BatchServer

    def do_POST(self) -> None:
        """Stores a file, creates a batch, or answers a request."""
        if self.path.endswith("/chat/completions"):
            super().do_POST()
            return
        raw = self.rfile.read(int(self.headers["content-length"]))
        try:
            self.send(self.take(raw))
        except LookupError:
            self.send({"error": {"message": "not found"}}, 404)

    def take(self, raw: bytes) -> dict[str, Any]:
        """Stores a file, or creates a batch."""
        server = self.server_of
        if self.path.endswith("/files"):
            server.step("upload")
            boundary = self.headers["content-type"].partition("boundary=")[2].encode()
            parts = [part.partition(b"\r\n\r\n") for part in raw.split(b"--" + boundary)]
            result = server.upload(next(body for head, _, body in parts if b"filename=" in head).removesuffix(b"\r\n"))
            server.step("uploaded")
        else:
            server.step("create")
            result = server.create(json.loads(raw))
            server.step("created")
        return result

    def do_GET(self) -> None:
        """Returns batches or a file."""
        server, path = self.server_of, self.path.partition("?")[0]
        if path.endswith("/batches"):
            self.send({"object": "list", "data": list(server.batches.values()), "has_more": False})
        elif path.endswith("/content"):
            name = path.split("/")[-2]
            server.step(name.partition("-")[0])
            self.send(server.files[name])
        elif (match := re.search(r"batches/(.+)", path)) and match[1] in server.batches:
            server.step("look")
            self.send(server.look(match[1]))
        else:
            self.send({"error": {"message": "no such batch"}}, 404)

    def send(self, said: Any, status: int = 200) -> None:
        """Answers with JSON, or with the bytes of a file."""
        raw = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


@contextmanager
def serving(server: BatchServer) -> Iterator[BatchServer]:
    """Starts the server on a free port."""
    with on_a_free_port(type("OwnHandler", (_Handler,), {"server_of": server})) as url:
        server.url = f"{url}/v1"
        yield server
