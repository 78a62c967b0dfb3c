"""OpenAI's Batch API: upload, wait, collect; half the price, replies within a day, matched by `custom_id`.

Each step is stored before it is taken. If a run is killed while it submits a batch, the next run finds the batch by
the tag in its metadata, so nothing is submitted twice.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from catsofa.data.servers.client import Refusal
from catsofa.data.servers.endpoints import CONTENT_FILTER, Endpoint, Fault, ServerRefuses, fault_of
from catsofa.data.servers.parameters import Parameters
from catsofa.data.servers.reply_store import COLLECTED, ReplyStore
from catsofa.data.servers.requests import OVER_BUDGET, Answer, completion, fetch, filtered

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types import Batch

MOST_REQUESTS, MOST_BYTES = 50_000, 150_000_000
"""Maximum requests and bytes of one batch; OpenAI accepts 200 MB."""
POLL = 60.0
"""Seconds between two status queries of a batch."""
ROUNDS = 3
"""Maximum number of batches in which a run retries a request that fails for a transient reason."""
ENDED = ("completed", "failed", "expired", "cancelled")
INTENDED, SUBMITTED = "intended", "submitted"
"""The states of a batch before it is collected: about to be sent, and submitted to the server."""


def complete(
    requests: Iterable[Any],
    endpoint: Endpoint,
    store: ReplyStore,
    *,
    batch: bool = False,
    status: Callable[[str], None] = lambda message: None,
) -> Iterator[Answer[Any, dict[str, Any]]]:
    """Each request as it ends, or after its batch has ended; requests with a stored reply are not sent."""
    if not batch:
        if store.pending:
            raise ValueError(
                f"found {len(store.pending):,} requests in a batch that was sent and whose replies are not here; run "
                "the command with --batch, which waits for them and sends none of them again"
            )
        yield from fetch(requests, endpoint, store, completion, filtered)
        return
    twins: dict[str, list[Any]] = {}
    for request in requests:
        twins.setdefault(request.key, []).append(request)
    batches = _Batches(endpoint, store, {key: same[0] for key, same in twins.items()}, status)
    with _in_our_words(endpoint, store):
        batches.run()
    for key, same in twins.items():
        fault = batches.faults.get(key, Fault(reason="not_in_batch"))
        for request in same:
            if key in store.replies:
                yield Answer(request=request, reply=store.replies[key])
            else:
                yield Answer(request=request, reason=fault.reason, said=endpoint.hide(fault.said))


class _Batches:
    """The batches of one store."""

    def __init__(
        self, endpoint: Endpoint, store: ReplyStore, requests: dict[str, Any], status: Callable[[str], None]
    ) -> None:
        self._endpoint, self._store, self._requests, self._status = endpoint, store, requests, status
        self._client: OpenAI = endpoint.batch_client()
        self._at = endpoint.base_url or ""
        self.faults: dict[str, Fault] = {}
        """The reason why a request has no reply."""

    def run(self) -> None:
        """Collect the batches of an earlier run, then send and collect other requests, and retry transient failures."""
        self._find_lost()
        self._collect_all()
        self.faults.clear()
        for number in range(ROUNDS):
            unknown = [request for key, request in self._requests.items() if key not in self._store.replies]
            todo = [one for one in unknown if self.faults.get(one.key, Fault(reason="", again=True)).again]
            if todo and not number:
                todo = self._try_one(todo)
            for part in _parts(todo):
                self._submit(part)
            self._collect_all()

    def _try_one(self, requests: list[Any]) -> list[Any]:
        """Send one request alone if the server has answered none so far; returns the other requests.

        So a wrong key, an unknown model or a refused parameter shows at once, not after a day.
        """
        first = 0 if self._store.replies else 1
        self._store.refuse_over_limit(requests[:first], requests[first:])
        for answer in fetch(requests[:first], self._endpoint, self._store, completion, filtered):
            if answer.reply is None:
                self.faults[answer.request.key] = Fault(reason=answer.reason, said=answer.said)
        return requests[first:]

    def _submit(self, part: Sequence[Any]) -> None:
        """Upload requests and create a batch of them, if the cost limit allows it."""
        from openai import APIStatusError

        keys = [request.key for request in part]
        tag = uuid4().hex  # unique to this batch: another folder may send the same requests
        content = b"".join(_line(request, self._store.parameters) for request in part)
        file = self._client.files.create(file=(f"catsofa-{tag[:8]}.jsonl", content), purpose="batch")
        self._store.batch(tag, state=INTENDED, keys=keys, at=self._at)
        if not self._store.reserve(*part, batch=True):
            self._store.batch(tag, state=COLLECTED)
            self.faults |= dict.fromkeys(keys, Fault(reason=OVER_BUDGET))
            return
        create = self._client.with_options(max_retries=0).batches.create
        try:  # no retry: if the reply is lost, the next run looks for the batch first
            created = create(
                input_file_id=file.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={"catsofa": tag},
            )
        except APIStatusError as error:
            if error.status_code < 500 and error.status_code not in (
                408,
                409,
            ):  # with these, the batch may have been created
                self._free(tag)
            raise
        self._store.batch(tag, state=SUBMITTED, id=created.id)
        self._status(f"batch {created.id}: {len(part):,} requests sent; a run that is stopped goes on with it")

    def _free(self, tag: str) -> None:
        """Note that a batch was never created."""
        self._store.failed(Fault(reason="never_sent"), *self._store.batches[tag]["keys"])
        self._store.batch(tag, state=COLLECTED)

    def _find_lost(self) -> None:
        """Find batches that a killed run was about to send; the requests of batches not found are free again."""
        lost = {tag: batch for tag, batch in self._store.batches.items() if batch["state"] == INTENDED}
        for batch in self._store.batches.values():
            if batch["state"] != COLLECTED and batch.get("at", self._at) != self._at:
                raise ValueError(
                    f"found a batch that was sent to {batch['at'] or 'the default address'}, whose replies are not "
                    "here; expected the same --base-url, or another --out"
                )
        for listed in self._client.batches.list(limit=100) if lost else ():
            tag = (listed.metadata or {}).get("catsofa", "")
            if lost.pop(tag, None):
                self._store.batch(tag, state=SUBMITTED, id=listed.id)
        for tag in lost:
            self._free(tag)

    def _collect_all(self) -> None:
        """Collect every submitted batch; `terms` are the parameters with which the requests were sent."""
        terms = Parameters()
        terms.remember(self._store.parameters.known)
        for tag in [tag for tag, batch in self._store.batches.items() if batch["state"] == SUBMITTED]:
            self._collect(tag, terms)

    def _collect(self, tag: str, terms: Parameters) -> None:
        """Wait for a batch to end; store its replies, and the reasons why other requests have none."""
        batch = self._ended(self._store.batches[tag]["id"])
        done = batch.status == "completed"
        missing = Fault(reason=f"batch_{batch.status}", again=done or batch.status == "expired", paid=done)
        faults = {key: missing for key in self._store.batches[tag]["keys"] if key not in self._store.replies}
        for line in self._result_lines(batch):
            key = str(line.get("custom_id"))
            if key in faults:
                reply = self._read(key, line, terms)
                if isinstance(reply, Fault):
                    faults[key] = reply
                else:
                    del faults[key]
                    self._store.answered(key, reply)
        self.faults |= faults
        for key, fault in faults.items():
            self._store.failed(fault, key)
        self._store.batch(tag, state=COLLECTED)
        if fatal := next((fault for fault in faults.values() if fault.fatal), None):
            raise ServerRefuses(self._endpoint.hide(fatal.said))
        if batch.status == "failed":
            errors = batch.errors.data if batch.errors else None
            why = " ".join(str(errors[0].message).split())[:300] if errors else "it gave no reason"
            raise ServerRefuses(f"the batch {batch.id} was turned down: {why}")

    def _ended(self, name: str) -> "Batch":
        """Wait until a batch has ended, and return it."""
        before = ""
        while (batch := self._client.batches.retrieve(name)).status not in ENDED:
            counts = batch.request_counts
            message = f"batch {name}: {batch.status}"
            message += f", {counts.completed:,} of {counts.total:,} done" if counts else ""
            if message != before:
                self._status(message)
            before = message
            time.sleep(POLL)
        return batch

    def _result_lines(self, batch: "Batch") -> Iterator[dict[str, Any]]:
        """The lines of a batch's output file, then of its error file."""
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            for line in self._client.files.content(file_id).content.split(b"\n"):
                with suppress(ValueError):
                    value = json.loads(line)
                    if isinstance(value, dict):
                        yield value

    def _read(self, key: str, line: dict[str, Any], terms: Parameters) -> dict[str, Any] | Fault:
        """The reply of a line, or the reason why there is none."""
        response = line.get("response")
        response = response if isinstance(response, dict) else {}
        status, body = response.get("status_code"), response.get("body")
        if status == 200:
            try:
                return completion(body)
            except ValueError as error:
                return fault_of(error)
        if not isinstance(status, int):
            failed = line.get("error")
            failed = failed if isinstance(failed, dict) else {}
            code = failed.get("code") or "batch_error"
            again, why = code != "batch_cancelled", str(failed.get("message", ""))[:300]
            return Fault(reason=str(code), said=why, again=again, paid="body" in response)
        server_error = body.get("error", body) if isinstance(body, dict) else body
        if key in self._requests:
            before, parameters = str(self._store.parameters.known), self._store.parameters
            again = parameters.learn(terms.accepted(self._requests[key].body), status, server_error)
            if str(parameters.known) != before:
                self._store.learnt()
            if again:
                return Fault(reason=f"http_{status}", said=str(server_error)[:300], again=True)
        # an error means the same as for a request that is sent alone
        fault = fault_of(Refusal(status, json.dumps(body), {}))
        return filtered(fault.said) if fault.reason == CONTENT_FILTER else fault


def _line(request: Any, parameters: Parameters) -> bytes:
    """A request as a line for the Batch API, with parameters that the server accepts."""
    body = parameters.accepted(request.body)
    line = {"custom_id": request.key, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def _parts(requests: Sequence[Any]) -> Iterator[list[Any]]:
    """The requests in parts that fit one batch, each for one model."""
    for model in dict.fromkeys(request.body["model"] for request in requests):
        part: list[Any] = []
        size = 0
        for request in requests:
            if request.body["model"] != model:
                continue
            length = len(_line(request, Parameters()))
            if part and (len(part) == MOST_REQUESTS or size + length > MOST_BYTES):
                yield part
                part, size = [], 0
            part.append(request)
            size += length
        yield part


@contextmanager
def _in_our_words(endpoint: Endpoint, store: ReplyStore) -> Iterator[None]:
    """Turn errors of the Batch API into one sentence that does not contain the key."""
    from openai import NotFoundError, OpenAIError

    try:
        yield
    except NotFoundError:
        if any(batch["state"] == SUBMITTED for batch in store.batches.values()):
            raise ServerRefuses(
                "the server does not know a batch that was sent, or its files (HTTP 404); use the key that it was "
                "sent with, or another --out to send all requests again"
            ) from None
        raise ServerRefuses("this server has no Batch API (HTTP 404); run the command without --batch") from None
    except OpenAIError as error:
        message = endpoint.hide(" ".join(str(error).split())[:300])
        raise ServerRefuses(f"the Batch API failed: {message}; run the same command again to go on") from None
