"""Recorded replies: one line per reply, read from a file or stored in the folder of a run."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catsofa.data.closing import Closing
from catsofa.data.digests import FIELD
from catsofa.data.files import BadInput, json_files, jsonl, lines, short
from catsofa.data.files.append_log import AppendLog, LogReader
from catsofa.scoring.choosing.items import NEUTRAL
from catsofa.scoring.choosing.logs import harness, inspect
from catsofa.scoring.choosing.requests import Key, Labels, Request

if TYPE_CHECKING:
    from pydantic import TypeAdapter

EXPECTED = "replies to choices as JSONL"
ASKED, RECEIVED, REPLIES = "asked.json", "received.jsonl", "replies.jsonl"
"""Files of a run: who is asked and how, replies as received, and every reply with its outcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply to one request."""

    item: str
    """Id of the item."""
    order: tuple[str, ...]
    """Options in the order shown; only one if it was asked about with yes or no."""
    reply: str | None
    """Text of the answer; None without an answer."""
    finish_reason: str | None = None
    """Why the server stopped: stop, length, content_filter, …"""
    reasoning: str | None = None
    """Reasoning, if the server returns it in its own field."""
    template: str = ""
    """Name of the template."""
    sample: int = 0
    """Number of the sample, from 0."""
    neutral: bool = False
    """True if a neutral option was offered: the last one, unless `order` contains it."""
    labels: Labels = "letters"
    """How the options were labelled."""
    error: str = ""
    """Reason for a missing answer after all retries; `content_filter` if a filter stopped it."""
    probabilities: Mapping[str, float] | None = None
    """Probability of each option, if the model gives them: `{"stereotype": 0.6, …}`, with a total up to 1."""
    outcome: str = ""
    """Outcome of the reply; measuring determines it again."""
    chosen: str = ""
    """Option that the reply names, if options have other names than outcomes: `ans0` of a question."""
    domain: str = ""
    """Domain in which the reply counts, from the record."""
    group: str = ""
    """Target group in which the reply counts, from the record."""

    def __post_init__(self) -> None:
        """Unifies the spellings of option names; raises ValueError for an order that is empty or repeats an option."""
        order = tuple(option.replace("_", "-") for option in self.order)
        if not order or len(set(order)) < len(order):
            raise ValueError(f"order {short(', '.join(order))} shows an option twice, or none")
        object.__setattr__(self, "order", order)
        if self.probabilities is not None:
            named = {option.replace("_", "-"): share for option, share in self.probabilities.items()}
            object.__setattr__(self, "probabilities", named)
        object.__setattr__(self, "neutral", self.neutral or NEUTRAL in order)

    @property
    def key(self) -> Key:
        """Key of the request."""
        return self.item, self.order, self.template, self.sample, self.neutral


def reply_to(
    request: Request,
    reply: str | None,
    finish_reason: str | None = None,
    reasoning: str | None = None,
    error: str = "",
    probabilities: Mapping[str, float] | None = None,
) -> Reply:
    """Returns the reply to a request."""
    return Reply(
        item=request.item,
        order=request.order,
        template=request.template,
        sample=request.sample,
        neutral=request.neutral,
        labels=request.labels,
        reply=reply,
        finish_reason=finish_reason,
        reasoning=reasoning,
        error=error,
        probabilities=probabilities,
    )


def read(path: Path | str) -> Iterator[tuple[int, Reply]]:
    """Yields each reply of a file with its line number; ignores further fields.

    Raises BadInput for a second reply to one request.
    """
    first: dict[Key, int] = {}
    for number, value in _objects(Path(path)):
        reply = _reply(value, path, number)
        if (before := first.setdefault(reply.key, number)) != number:
            problem = f"a second reply to one request (item {short(reply.item)}, first on line {before})"
            raise BadInput(path, problem, f"{EXPECTED} with one line for each item, order, template and sample", number)
        yield number, reply


def _objects(path: Path) -> Iterator[tuple[int, Any]]:
    """Yields the values of a file's lines, or of the samples of an Inspect log; verifies lines that have a checksum."""
    if path.suffix == ".eval" and path.is_file():
        problem = "Inspect's compressed log"
        raise BadInput(
            path, problem, f"its JSON: inspect log convert --to json --output-dir DIR {shlex.quote(str(path))}"
        )
    number, line = next(lines(path, EXPECTED))
    if line.strip() == "{":
        value = json_files.read(path, EXPECTED, nan=True)
    else:
        value = json_files.parse(line, path, EXPECTED, number)
    if inspect.is_log(value):
        yield from enumerate(inspect.replies(value), 1)
        return
    if isinstance(value, dict) and FIELD in value:
        yield from enumerate(LogReader(path, EXPECTED).read("item"), 1)
        return
    for number, line in lines(path, EXPECTED):
        value = json_files.parse(line, path, EXPECTED, number)
        yield number, harness.reply(value) if harness.is_sample(value) else value


def _reply(value: Any, path: Path | str, number: int) -> Reply:
    """Parses a line into a reply."""
    from pydantic import ValidationError

    try:
        return _adapter().validate_python(value)
    except ValidationError as error:
        raise BadInput(path, *jsonl.explain(error, Reply), number) from None


@cache
def _adapter() -> "TypeAdapter[Reply]":
    """Returns the validator of replies."""
    from pydantic import TypeAdapter

    return TypeAdapter(Reply)


class RunReplies(Closing):
    """Replies of a run's folder by request; each is on disk, with its outcome, before it is used."""

    def __init__(self, folder: Path | str, hide: Callable[[str], str] = str) -> None:
        """Opens the file of the folder, or creates it; `hide` removes secrets from every line."""
        self._log = AppendLog(Path(folder) / REPLIES, EXPECTED, hide)
        self.replies: dict[Key, Reply] = {}
        for number, value in enumerate(self._log.read("item"), 1):
            reply = _reply(value, self._log.path, number)
            self.replies[reply.key] = reply

    def add(self, *replies: Reply) -> None:
        """Stores replies; skips those already stored, and raises BadInput for a different reply to the same request."""
        new = []
        for reply in replies:
            before = self.replies.get(reply.key)
            if before is None:
                new.append(reply)
            elif (before.reply, before.error) != (reply.reply, reply.error):
                problem = f"another reply about item {short(reply.item)} than the one to be stored"
                raise BadInput(self._log.path, problem, "the replies of the same file or run; use another --out")
        for value in self._log.append(*(_line(reply) for reply in new)):
            reply = _reply(value, self._log.path, 0)
            self.replies[reply.key] = reply

    def close(self) -> None:
        """Closes the file and releases its lock."""
        self._log.close()


def _line(reply: Reply) -> dict[str, Any]:
    """Returns a reply as its line in the file, without empty fields."""
    needed = ("item", "order", "reply", "finish_reason", "reasoning", "template", "sample", "neutral", "outcome")
    return {
        name: value for name, value in asdict(reply).items() if name in needed or value not in ("", None, "letters")
    }
