"""Replies of completions servers: the tokens of a prompt and the log-probability of each, in several formats."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from catsofa.data.files import short

REPLIES = "replies.jsonl"
"""File in the folder of a run with the replies of a server."""
Dialect = Literal["echo", "echo and write", "prompt_logprobs"]

ASKED: dict[Dialect, dict[str, Any]] = {
    "echo": {"echo": True, "logprobs": 1, "max_tokens": 0},
    "echo and write": {"echo": True, "logprobs": 1, "max_tokens": 1},
    "prompt_logprobs": {"max_tokens": 1, "extra_body": {"prompt_logprobs": 0}},
}
"""Fields of a request per dialect: OpenAI's, that of servers that must write a token, and vLLM's own."""

MARKS = str.maketrans({"▁": " ", "Ġ": " "})
"""Characters that tokenizers use for a space in a token."""
UNKNOWN = ("<unk>", "[UNK]", "<|unk|>")
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
HUGE = 1e300
"""Bound on the size of a log-probability; a larger integer may not fit into a float."""
ROUNDING = 1e-4
"""Tolerance for a log-probability above 0, which rounding can cause."""


class Unreadable(ValueError):
    """Raised for a reply without the log-probabilities of its prompt; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Tokens of a prompt as the server splits it; the first may have no log-probability."""

    tokens: tuple[str, ...]
    values: tuple[float | None, ...]

    def without(self, leading: int) -> "Reading":
        """Returns the tokens of the text alone, without those that the server put before it."""
        return Reading(self.tokens[leading:], self.values[leading:])

    def spells(self, text: str) -> bool:
        """Returns True if the tokens spell the text, or if one of them is unknown and so can be any letters.

        A space before the text does not count, nor does a first token without a name.
        """
        if any(token in UNKNOWN for token in self.tokens):
            return True  # an unknown token can be any letters
        spelled = "".join(_BYTE.sub(lambda byte: chr(int(byte[1], 16)), token) for token in self.tokens).translate(
            MARKS
        )
        if self.tokens and not self.tokens[0] and self.values[0] is None:
            return text.endswith(spelled) and len(spelled) < len(text)
        return spelled.removeprefix(" ") == text.removeprefix(" ")

    def shows(self, text: str) -> bool:
        """Returns True if the tokens can be those of this ASCII text alone: each has a name and is known."""
        return not any(token in ("", *UNKNOWN) for token in self.tokens) and self.spells(text)


def body(model: str, prompt: str | list[str], dialect: Dialect) -> dict[str, Any]:
    """Returns the request for the log-probabilities of one prompt or several; temperature 1 leaves them unchanged."""
    return {"model": model, "prompt": prompt, "temperature": 1, **ASKED[dialect]}


def read(reply: Mapping[str, Any], dialect: Dialect) -> Reading:
    """Returns the prompt's tokens and their log-probabilities."""
    choices = reply["choices"]
    if not choices or not isinstance(choices[0], dict):
        raise Unreadable("the reply has no choice")
    if dialect == "prompt_logprobs":
        reading = _of_prompt(choices[0].get("prompt_logprobs"))
    else:
        reading = _echoed(choices[0].get("logprobs"), _written(reply))
    _check(reading)
    return reading


def _echoed(logprobs: Any, generated: int) -> Reading:
    """Parses OpenAI's `logprobs`: the prompt's tokens, then those that the server wrote."""
    if not logprobs:
        raise Unreadable("the reply has no log-probabilities")
    if not isinstance(logprobs, dict) or "token_logprobs" not in logprobs or "tokens" not in logprobs:
        content = short(", ".join(logprobs)) if isinstance(logprobs, dict) else type(logprobs).__name__
        raise Unreadable(f"the reply has no log-probabilities of the prompt (but {content})")
    tokens, values = logprobs["tokens"], logprobs["token_logprobs"]
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        raise Unreadable("the reply's tokens and log-probabilities are not as many")
    end = len(tokens) - generated
    return Reading(tuple(map(str, tokens[:end])), tuple(values[:end]))


def _written(reply: Mapping[str, Any]) -> int:
    """Returns the number of tokens that the server wrote after the prompt."""
    usage = reply.get("usage")
    return int(usage.get("completion_tokens") or 0) if isinstance(usage, dict) else 0


def _of_prompt(entries: Any) -> Reading:
    """Parses vLLM's `prompt_logprobs`: null for the first token, then one entry by token id for each."""
    if not isinstance(entries, list):
        raise Unreadable("the reply has no prompt_logprobs")
    tokens: list[str] = []
    values: list[float | None] = []
    for entry in entries:
        if entry is None:
            tokens.append("")
            values.append(None)
            continue
        if not isinstance(entry, dict) or len(entry) != 1:
            raise Unreadable("an entry of prompt_logprobs is not one token")
        token = next(iter(entry.values()))
        tokens.append(str(token.get("decoded_token", "")))
        values.append(token.get("logprob"))
    return Reading(tuple(tokens), tuple(values))


def _check(reading: Reading) -> None:
    """Raises Unreadable for impossible log-probabilities: not numbers, above 0, or missing after the first."""
    if not reading.tokens:
        raise Unreadable("the reply has no token of the prompt")
    for index, value in enumerate(reading.values):
        if value is None and index == 0:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not -HUGE < value < HUGE:
            raise Unreadable(f"the log-probability of token {index + 1} is {short(value)}")
        if value > ROUNDING:
            raise Unreadable(f"the log-probability of token {index + 1} is {short(value)}, above 0")


def constant(readings: Sequence[Reading]) -> bool:
    """Returns True if all log-probabilities are equal, as when a server fills in values that it does not know."""
    values = {value for reading in readings for value in reading.values if value is not None}
    return len(values) < 2
