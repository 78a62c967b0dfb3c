"""Requests for completions that are sent as one, with a list of prompts; the reply is split into one for each."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catsofa.data.servers.client import Side


@dataclass(frozen=True)
class Together:
    """Requests that differ only in their prompt, as one request."""

    parts: Sequence[Any]

    @property
    def key(self) -> str:
        """The key of the first request."""
        return str(self.parts[0].key)

    @property
    def side(self) -> Side:
        """The side of the server."""
        return "completions"

    @property
    def body(self) -> Mapping[str, Any]:
        """The body of the first request with the prompts of all."""
        return {**self.parts[0].body, "prompt": [part.body["prompt"] for part in self.parts]}


class Waiting:
    """The requests that are not yet sent, taken at most `most` at a time; requests can be added after the end."""

    def __init__(self, requests: Iterable[Any], most: int) -> None:
        self._requests, self.most = deque(requests), most

    def __iter__(self) -> "Waiting":
        """Itself."""
        return self

    def __next__(self) -> Any:
        """The next request, or the next requests as one."""
        if not self._requests:
            raise StopIteration
        taken = [self._requests.popleft() for _ in range(min(self.most, len(self._requests)))]
        return taken[0] if len(taken) == 1 else Together(taken)

    def one_by_one(self, requests: Sequence[Any]) -> None:
        """Put requests after the others; from now on, take each request alone."""
        self._requests.extend(requests)
        self.most = 1


def split(reply: Any, count: int) -> list[dict[str, Any]]:
    """The reply to each of several prompts, in order; raises a ValueError if there is not one choice for each.

    The number of prompt tokens is known only for all prompts together, so it is left out.
    """
    choices = reply.get("choices") if isinstance(reply, dict) else None
    by_index = {
        choice["index"]: choice
        for choice in (choices if isinstance(choices, list) else ())
        if isinstance(choice, dict) and isinstance(choice.get("index"), int)
    }
    if not choices or len(choices) != count or by_index.keys() != {*range(count)}:
        raise ValueError(f"the server's reply to {count} prompts does not have one choice for each")
    rest = {name: value for name, value in reply.items() if name not in ("choices", "usage")}
    if isinstance(usage := reply.get("usage"), dict):
        written = usage.get("completion_tokens") or 0
        if not isinstance(written, int) or written % count:
            raise ValueError(f"the server wrote {written} tokens for {count} prompts, which is not as many for each")
        rest["usage"] = {"completion_tokens": written // count}
    return [{**rest, "choices": [{**by_index[index], "index": 0}]} for index in range(count)]
