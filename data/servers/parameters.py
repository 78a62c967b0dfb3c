"""Learns from refused requests which parameters of a chat request a server accepts."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

LIMITS = {"max_completion_tokens": "max_tokens", "max_tokens": "max_completion_tokens"}
"""The two names of the token limit, each mapped to the other; servers accept either or both."""
REFUSALS = (400, 403, 422, 501)
"""The HTTP statuses of a request whose parameters a server refuses."""
FEWEST_TOKENS = 8
"""The smallest token limit to try."""
FEWEST_ALTERNATIVES = 5
"""The number of alternatives per token (`top_logprobs`) to try before none."""
EFFORT, EFFORTS = "reasoning_effort", ("none", "minimal", "low")
"""The parameter for the reasoning effort, and its smallest values; the smallest one that a server names is tried."""
_TOO_MUCH = re.compile(
    r"too (large|high|long|many|big)|at most|exceed|(greater|less|larger) than|maximum (allowed|value)|valid range"
    r"|context (length|window|size)|max_model_len",
    re.IGNORECASE,
)
_CONTEXT = re.compile(r"context (length|window|size)|max_model_len", re.IGNORECASE)


class Parameters:
    """The parameters that a server accepts: renamed and refused names, and maximum values."""

    def __init__(self) -> None:
        self._renamed: dict[str, str] = {}
        self._most: dict[str, int | None] = {}
        """The maximum value of a parameter; None for a parameter that is left out."""
        self._effort = ""
        """The smallest reasoning effort that the server accepts, if it refused a smaller one."""

    def accepted(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body of a request, adapted to what the server accepts."""
        sent: dict[str, Any] = {}
        for name, value in body.items():
            now = self._renamed.get(name, name)
            most = self._most.get(now, value)
            if most is not None:
                sent[now] = min(value, most) if now in self._most else value
        if EFFORT in sent and self._effort:
            sent[EFFORT] = self._effort
        return sent

    def learn(self, sent: Mapping[str, Any], status: int, error: Any) -> bool:
        """Learn from a refused request; returns whether the server may accept it with other parameters.

        `error` is the error's JSON or text. A parameter changes only if the server's error is about it.
        """
        if status not in REFUSALS:
            return False
        if self.accepted(sent) != sent:
            return True  # meanwhile, another request has led to this change
        learnt = [self._learn(name, sent, _text(error)) for name in self._named(sent, error)]
        return any(learnt)

    def _named(self, sent: Mapping[str, Any], error: Any) -> list[str]:
        """The parameters that an error is about: from its `param` field, the place of each fault, or its text."""
        optional = [name for name in sent if name not in ("model", "messages")]
        if isinstance(error, Mapping) and error.get("param") in optional:
            return [str(error["param"])]
        if faults := [name for name in _places(error) if name in optional]:
            return list(dict.fromkeys(faults))
        text = _text(error)
        if named := [name for name in optional if re.search(rf"(?<!\w){name}(?!\w)", text, re.IGNORECASE)]:
            return named
        return [name for name in LIMITS if name in sent and _CONTEXT.search(text)]

    def _learn(self, name: str, sent: Mapping[str, Any], text: str) -> bool:
        """Rename, lower or leave out one parameter; False if nothing is left to try."""
        if name in LIMITS:
            if _TOO_MUCH.search(text):
                self._most[name] = half = int(sent[name]) // 2
                if half < FEWEST_TOKENS:  # this prompt is too long, which says nothing about other requests
                    del self._most[name]
                return half >= FEWEST_TOKENS
            own_name = name if name not in self._renamed.values() else ""
            self._renamed |= {own_name: LIMITS[name]} if own_name else {}
            return bool(own_name)
        if name.endswith("logprobs") and sent.get("top_logprobs", 0) > FEWEST_ALTERNATIVES and _TOO_MUCH.search(text):
            self._most["top_logprobs"] = FEWEST_ALTERNATIVES
            return True
        if name == EFFORT and (named := [one for one in EFFORTS if one != sent[name] and f"'{one}'" in text]):
            self._effort = named[0]
            return True
        for left_out in ("logprobs", "top_logprobs") if name.endswith("logprobs") else (name,):
            self._most[left_out] = None
        return True

    @property
    def known(self) -> dict[str, Any]:
        """The learnt changes, as JSON."""
        effort = {"effort": self._effort} if self._effort else {}
        return {"renamed": self._renamed, "most": self._most, **effort}

    def remember(self, state: Mapping[str, Any]) -> None:
        """Restore what an earlier run learnt."""
        self._renamed, self._most = dict(state["renamed"]), dict(state["most"])
        self._effort = str(state.get("effort", ""))

    def sentences(self) -> list[str]:
        """One sentence for each learnt change."""
        renamed = [f"the server takes {new} in place of {name}" for name, new in self._renamed.items()]
        lowered = [f"the server takes {name} up to {most:,}" for name, most in self._most.items() if most is not None]
        return [
            *renamed,
            *lowered,
            *([f"the server reasons with {EFFORT} {self._effort} at least"] if self._effort else []),
            *(f"the server takes no {name}" for name, most in self._most.items() if most is None),
        ]


def _places(error: Any) -> Iterator[str]:
    """The last part of each `loc` in an error's JSON, which is the field that validation refused."""
    if isinstance(error, Mapping):
        if isinstance(place := error.get("loc"), list) and place:
            yield str(place[-1])
        for value in error.values():
            yield from _places(value)
    elif isinstance(error, list):
        for value in error:
            yield from _places(value)


def _text(error: Any) -> str:
    """The message of an error, or the whole JSON if there is no message."""
    message = error.get("message") if isinstance(error, Mapping) else None
    return message if isinstance(message, str) else str(error)
