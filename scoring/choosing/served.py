"""Models behind an OpenAI-compatible server: the requests to them, and what their replies contain."""

__all__ = ["ServedChat"]

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

from catsofa.data.servers import requests as sending
from catsofa.data.servers.batches import complete
from catsofa.data.servers.endpoints import CONTENT_FILTER, Endpoint
from catsofa.data.servers.parameters import EFFORT, EFFORTS
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.scoring.choosing.asking import Asking, bare, probabilities
from catsofa.scoring.choosing.reasoning import without_reasoning
from catsofa.scoring.choosing.replies import Reply, reply_to
from catsofa.scoring.choosing.requests import Request

ALTERNATIVES = 20
"""Number of alternatives requested at each token, the most that servers give."""
TEMPLATE = "chat_template_kwargs"
"""Field in which servers of open models accept variables of their prompt template."""
THOUGHTS = ("thinking", "reasoning")
"""Types of parts of a message that are not answer text."""
ROUNDING = 1e-3
"""Tolerance for a log-probability above 0, which rounding can cause."""


@dataclass(frozen=True)
class _Sent(sending.Request):
    """The body of a request, and the request that it is about."""

    about: Request


@dataclass(frozen=True, slots=True)
class ServedChat:
    """A chat model by its name on the server."""

    name: str
    endpoint: Endpoint
    asking: Asking
    status: Callable[[str], None] = lambda said: None
    """Receives status messages about a batch."""

    @property
    def label(self) -> str:
        """Label of the model in a signature."""
        return f"{self.name} at {self.server}"

    @property
    def server(self) -> str:
        """Address of the server."""
        return self.endpoint.base_url or "the default address"

    def identity(self) -> dict[str, Any]:
        """Returns what a reply depends on, besides its prompt; a server can change its weights without notice."""
        return {"served": self.name, "at": self.server}

    def hide(self, text: str) -> str:
        """Returns a text without the key of the server."""
        return self.endpoint.hide(text)

    def key(self, request: Request) -> str:
        """Returns a hash of what a request sends."""
        return self.sent(request).key

    def sent(self, request: Request) -> _Sent:
        """Returns a request as it is sent; equal requests have one key, and are paid for once."""
        asking = self.asking
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": "user", "content": request.prompt}],
            "temperature": asking.temperature,
            "max_tokens": asking.answer_tokens + asking.reasoning_tokens,
        }
        if request.answers and not asking.sampled:
            body |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
        if not asking.reasoning_tokens:  # the fields of providers, and of servers of open models
            body |= {EFFORT: EFFORTS[0], TEMPLATE: {"enable_thinking": False}}
        if asking.temperature:
            body["seed"] = request.sample
        return _Sent("chat", body, request)

    def replies(self, requests: Iterable[Request], store: ReplyStore) -> Iterator[Reply]:
        """Yields the reply to each request as it arrives; stored replies are not requested again."""
        sent = map(self.sent, requests)
        for answer in complete(sent, self.endpoint, store, batch=self.asking.batch, status=self.status):
            about = answer.request.about
            if answer.reply is None:
                yield reply_to(about, None, error=answer.failure)
            else:
                yield read(about, answer.reply)


def read(request: Request, body: Mapping[str, Any]) -> Reply:
    """Parses a completion's first choice into a reply; without a choice or a text, the reply is empty."""
    several = [_object(choice) for choice in body["choices"]]
    choice = next((one for one in several if one.get("index") == 0), next(iter(several), {}))
    message = _object(choice.get("message"))
    text, thought = _parts(message.get("content"))
    finish = str(choice.get("finish_reason") or "")
    fields = [message.get(name) for name in ("reasoning_content", "reasoning")]
    reasoning_texts = [field for field in [*fields, thought] if isinstance(field, str) and field]
    return reply_to(
        request,
        text or (_parts(message.get("refusal"))[0]),
        CONTENT_FILTER if finish.lower().startswith(CONTENT_FILTER) else finish or None,
        reasoning_texts[0] if reasoning_texts else None,
        probabilities=_label_probabilities(request, choice, text) if finish != CONTENT_FILTER else None,
    )


def _parts(content: Any) -> tuple[str, str]:
    """Returns the text and the reasoning of a message, which is a string or a list of parts."""
    if isinstance(content, str):
        return content, ""
    parts = [_object(part) for part in content] if isinstance(content, list) else []
    text = "".join(str(part.get("text") or "") for part in parts if part.get("type") not in THOUGHTS)
    thoughts = (part.get("thinking") or part.get("text") for part in parts if part.get("type") in THOUGHTS)
    return text, "".join(_parts(thought)[0] for thought in thoughts)


def _object(value: Any) -> Mapping[str, Any]:
    """Returns a JSON object as it is, and an empty object for other values."""
    return value if isinstance(value, dict) else {}


def _label_probabilities(request: Request, choice: Mapping[str, Any], text: str) -> dict[str, float] | None:
    """Returns the probability of each option where the answer begins, if its text begins with that label; else None."""
    content = _object(choice.get("logprobs")).get("content")
    if not request.answers or not isinstance(content, list):
        return None
    tokens = [_object(entry) for entry in content]
    start = _answer_begins([str(token.get("token", "")) for token in tokens])
    label = "" if start is None else str(tokens[start].get("token"))
    matches = bare(without_reasoning(text)[0]).startswith(bare(label))
    if start is None or not matches or not probabilities(request, [(label, 1.0)]):
        return None
    listed = tokens[start].get("top_logprobs")
    alternatives = [_object(entry) for entry in listed] if isinstance(listed, list) else []
    logarithms = [(str(one.get("token")), one.get("logprob")) for one in alternatives]
    valid = [(token, value) for token, value in logarithms if isinstance(value, int | float) and value <= ROUNDING]
    return probabilities(request, [(token, exp(value)) for token, value in valid])


def _answer_begins(tokens: Sequence[str]) -> int | None:
    """Returns the index of the answer's first token that is more than spaces or marks; None if none is."""
    text = "".join(tokens)
    answer, endless = without_reasoning(text)
    if endless or not answer or not text.endswith(answer):
        return None
    place = 0
    for number, token in enumerate(tokens):
        place += len(token)
        if place > len(text) - len(answer) and bare(token):
            return number
    return None
