"""Recorded replies: one line for each reply, read from a file or kept in the folder of a run."""

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
"""The files of a run: who is asked and how, what came back before it was used, every reply and its outcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back for one request."""

    item: str
    """Id of the item."""
    order: tuple[str, ...]
    """The options in the order shown; one alone if it was asked about with yes or no."""
    reply: str | None
    """The text of the answer; None if there is none."""
    finish_reason: str | None = None
    """Why the server stopped: stop, length, content_filter, …"""
    reasoning: str | None = None
    """The reasoning, where the server gives it in a field of its own."""
    template: str = ""
    """Name of the template."""
    sample: int = 0
    """Number of the sample, from 0."""
    neutral: bool = False
    """Whether a neutral option was offered: the last one, unless `order` says where it stands."""
    labels: Labels = "letters"
    """How the options were named."""
    error: str = ""
    """Why there is no answer after all retries: the reason of the fault, `content_filter` if a filter stopped it."""
    probabilities: Mapping[str, float] | None = None
    """The probability of each option, where the model gives them: `{"stereotype": 0.6, …}`, with a total up to 1."""
    outcome: str = ""
    """What the reply was read as; measuring reads it anew."""
    chosen: str = ""
    """The option that it names, where options have other names than outcomes: `ans0` of a question."""
    domain: str = ""
    """The domain that the reply counts in, by the record."""
    group: str = ""
    """The target group that the reply counts in, by the record."""

    def __post_init__(self) -> None:
        """Take the two spellings of an option for one, and refuse an order that shows one twice, or none."""
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
        """What identifies the request."""
        return self.item, self.order, self.template, self.sample, self.neutral


def reply_to(
    request: Request,
    reply: str | None,
    finish_reason: str | None = None,
    reasoning: str | None = None,
    error: str = "",
    probabilities: Mapping[str, float] | None = None,
) -> Reply:
    """The reply to a request."""
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
    """Each reply of a file with its line; a second reply to one request is refused, further fields are ignored."""
    first: dict[Key, int] = {}
    for number, value in _objects(Path(path)):
        reply = _reply(value, path, number)
        if (before := first.setdefault(reply.key, number)) != number:
            found = f"a second reply to one request (item {short(reply.item)}, first on line {before})"
            raise BadInput(path, found, f"{EXPECTED} with one line for each item, order, template and sample", number)
        yield number, reply


def _objects(path: Path) -> Iterator[tuple[int, Any]]:
    """The values of a file's lines, or of the samples of an Inspect log; lines with a checksum must fit it."""
    if path.suffix == ".eval" and path.is_file():
        found = "Inspect's compressed log"
        raise BadInput(
            path, found, f"its JSON: inspect log convert --to json --output-dir DIR {shlex.quote(str(path))}"
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
    """A line as a reply."""
    from pydantic import ValidationError

    try:
        return _adapter().validate_python(value)
    except ValidationError as error:
        raise BadInput(path, *jsonl.explain(error, Reply), number) from None


@cache
def _adapter() -> "TypeAdapter[Reply]":
    """The validator of replies."""
    from pydantic import TypeAdapter

    return TypeAdapter(Reply)


class RunReplies(Closing):
    """The replies of a run's folder by their requests: each is on disk, with its outcome, before it is used."""

    def __init__(self, folder: Path | str, hide: Callable[[str], str] = str) -> None:
        """Open the file of the folder, or begin it; `hide` takes secrets out of every line."""
        self._log = AppendLog(Path(folder) / REPLIES, EXPECTED, hide)
        self.replies: dict[Key, Reply] = {}
        for number, value in enumerate(self._log.read("item"), 1):
            reply = _reply(value, self._log.path, number)
            self.replies[reply.key] = reply

    def add(self, *replies: Reply) -> None:
        """Store replies; one that is stored already is left out, and another one to the same request is refused."""
        new = []
        for reply in replies:
            before = self.replies.get(reply.key)
            if before is None:
                new.append(reply)
            elif (before.reply, before.error) != (reply.reply, reply.error):
                found = f"another reply about item {short(reply.item)} than the one to be stored"
                raise BadInput(self._log.path, found, "the replies of the same file or run; use another --out")
        for value in self._log.append(*(_line(reply) for reply in new)):
            reply = _reply(value, self._log.path, 0)
            self.replies[reply.key] = reply

    def close(self) -> None:
        """Close the file, which lets go of its lock."""
        self._log.close()


def _line(reply: Reply) -> dict[str, Any]:
    """A reply as it stands on its line, without empty fields."""
    needed = ("item", "order", "reply", "finish_reason", "reasoning", "template", "sample", "neutral", "outcome")
    return {
        name: value for name, value in asdict(reply).items() if name in needed or value not in ("", None, "letters")
    }
