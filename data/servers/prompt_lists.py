"""Requests with a list of prompts: which prompts go together, and the reply split into one for each prompt."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catsofa.data.servers.client import Side

MOST = 16
"""Most prompts in one request."""
UNDER_WAY = 4
"""A list has at most this part of the requests allowed at once, so that several lists are under way."""


@dataclass
class Lists:
    """The prompts that may be in a list, and the replies of a list that are used."""

    may: Callable[[Any], bool]
    """True for a request whose reply shows that it is the reply to this request."""
    fits: Callable[[Any, Any], bool]
    """True if the reply (second) is the reply to the request (first)."""
    most: int = MOST
    """Most prompts in a list; 1 if the server takes no list."""

    def failed(self, count: int, *, refused: bool) -> None:
        """Halve the length after a refused list; send no lists after any other failure."""
        self.most = min(self.most, max(1, count // 2 if refused else 1))


@dataclass(frozen=True)
class PromptList:
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
    """The requests that are not yet sent; requests can be added after the end."""

    def __init__(self, requests: Iterable[Any], lists: Lists | None) -> None:
        self.lists = lists
        self._listed, self._alone = deque[Any](), deque[Any]()
        for request in requests:
            (self._listed if lists and lists.may(request) else self._alone).append(request)
        self.width, self.more = 1, 0
        """The number of prompts that may be under way, and those under way in lists beside one for each list."""

    @property
    def most(self) -> int:
        """The number of prompts in the next request."""
        if not (self.lists and self._listed):
            return 1
        return max(1, min(self.lists.most, self.width // UNDER_WAY, len(self._listed)))

    def __iter__(self) -> "Waiting":
        """Itself."""
        return self

    def __next__(self) -> Any:
        """The next request, or the next requests as one."""
        if not self._listed:
            if not self._alone:
                raise StopIteration
            return self._alone.popleft()
        taken = [self._listed.popleft() for _ in range(self.most)]
        self.more += len(taken) - 1
        return taken[0] if len(taken) == 1 else PromptList(taken)

    def refuse_unfit(self, requests: Sequence[Any], replies: Sequence[Any]) -> None:
        """Raise a ValueError if a reply of a list is not the reply to its request."""
        if self.lists and not all(map(self.lists.fits, requests, replies)):
            raise ValueError("a reply of a list does not show that it is the reply to its prompt")

    def one_by_one(self, requests: Sequence[Any], *, refused: bool) -> None:
        """Send the requests of a failed list alone."""
        if self.lists:
            self.lists.failed(len(requests), refused=refused)
        self._alone.extend(requests)


def parts_of(request: Any) -> Sequence[Any]:
    """The requests that are sent as this one."""
    return request.parts if isinstance(request, PromptList) else [request]


def split(reply: Any, count: int) -> list[dict[str, Any]]:
    """The reply to each of several prompts, in order; raises a ValueError if there is not one choice for each.

    The number of prompt tokens is known only for all prompts together, so it is left out.
    """
    choices = reply.get("choices") if isinstance(reply, dict) else None
    choices = choices if isinstance(choices, list) else []
    by_index = {
        choice["index"]: choice
        for choice in choices
        if isinstance(choice, dict) and isinstance(choice.get("index"), int)
    }
    if len(choices) != count or by_index.keys() != {*range(count)}:
        raise ValueError(f"the server's reply to {count} prompts does not have one choice for each")
    rest = {name: value for name, value in reply.items() if name not in ("choices", "usage")}
    if isinstance(usage := reply.get("usage"), dict):
        written = usage.get("completion_tokens") or 0
        if not isinstance(written, int) or written % count:
            raise ValueError(f"the server wrote {written} tokens for {count} prompts, which is not as many for each")
        rest["usage"] = {"completion_tokens": written // count}
    return [{**rest, "choices": [{**by_index[index], "index": 0}]} for index in range(count)]
