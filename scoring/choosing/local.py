"""Chat models in this process: the probabilities of the labels by one forward, or replies that are written."""

__all__ = ["LocalChat"]

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from catsofa.data.digests import json_digest
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.scoring.choosing.asking import Asking, probabilities
from catsofa.scoring.choosing.replies import Reply, reply_to
from catsofa.scoring.choosing.requests import Request
from catsofa.scoring.likelihood import engine
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Continuation, Ids
from catsofa.scoring.models.chat_templates import THINK_END, ids_of, knows_thinking, need_template, prompt_text
from catsofa.scoring.models.model import Model
from catsofa.scoring.signature import model_label

CHUNK = 64
"""Requests that are asked together and stored together."""
WRITTEN = 8
"""Replies that are written together."""
LEAST_ROOM = 8
"""Tokens that a prompt must leave for an answer."""


class LocalChat:
    """A loaded model with a chat template."""

    def __init__(self, model: Model, asking: Asking, batch_tokens: int | None = None) -> None:
        need_template(model)
        model.need("left-to-right", "A choice")
        model = model.as_it_is()
        self.asking, self._backend, self._model = asking, Backend(model, batch_tokens), model
        self.thinks = knows_thinking(model) and asking.reasoning_tokens > 0
        """Whether the model reasons before it answers."""
        ends = model.module.generation_config.eos_token_id
        self._ends = {*(ends if isinstance(ends, list) else [ends]), model.tokenizer.eos_token_id} - {None}
        """The tokens that end a reply."""

    @property
    def label(self) -> str:
        """The model in a signature."""
        return model_label(self._model.name, self._model.digest)

    @property
    def server(self) -> str:
        """The model to which stored replies are bound."""
        return self._model.digest

    def identity(self) -> dict[str, Any]:
        """What a reply depends on besides its prompt."""
        return {name: value for name, value in self._model.identity().items() if name != "model"}

    def hide(self, text: str) -> str:
        """The text, which holds no key."""
        return text

    def replies(self, requests: Iterable[Request], store: ReplyStore) -> Iterator[Reply]:
        """The reply to each request, in order; what the store holds is not asked again."""
        for _, numbered in groupby(enumerate(requests), key=lambda pair: pair[0] // CHUNK):
            chunk = [request for _, request in numbered]
            keyed = {self.key(request): request for request in chunk}
            new = {key: request for key, request in keyed.items() if key not in store.replies}
            if list(new) == list(keyed)[-len(new) :]:  # also what a kill cut as it was stored: all of it is computed
                new = keyed  # again, since numbers round by their neighbours
            for key, found in zip(new, self._answers(list(new.values())), strict=True):
                if key not in store.replies:
                    store.answered(key, found)
            for request in chunk:
                yield reply_to(request, **store.replies[self.key(request)])

    def key(self, request: Request) -> str:
        """A hash of what the reply depends on."""
        asking = self.asking
        how = [asking.temperature, asking.sampled, asking.answer_tokens, asking.reasoning_tokens]
        return json_digest(
            [request.prompt, request.order, request.answers, request.sample if asking.sampled else 0, how]
        )

    def _answers(self, requests: Sequence[Request]) -> list[dict[str, Any]]:
        """What the model says to each request, as the fields of a reply; nothing to a prompt that is too long."""
        begun = [prompt_text(self._model, request.prompt, thinking=self.thinks) for request in requests]
        found: list[dict[str, Any]] = [self._too_long(text) for text in begun]
        left = [at for at, reply in enumerate(found) if not reply]
        if self.thinks:
            thoughts = self._thoughts([begun[at] for at in left], [requests[at] for at in left])
            for at, thought in zip(left, thoughts, strict=True):
                begun[at] += thought
                found[at] = {"reply": "", "finish_reason": "length", "reasoning": thought}
            left = [at for at in left if THINK_END in found[at]["reasoning"]]
        asked = [at for at in left if requests[at].answers and not self.asking.sampled]
        for at, answer in zip(asked, self._labels([(requests[at], begun[at]) for at in asked]), strict=True):
            found[at] |= answer
        written = [at for at in left if at not in asked]
        texts = self._write([begun[at] for at in written], self.asking.answer_tokens, [requests[at] for at in written])
        for at, (text, ended) in zip(written, texts, strict=True):
            found[at] |= {"reply": text, "finish_reason": "stop" if ended else "length"}
        return found

    def _too_long(self, prompt: str) -> dict[str, Any]:
        """Why a prompt has no reply, if the model cannot read it with an answer; else nothing."""
        count, limit = len(ids_of(self._model, prompt)), self._backend.reader.limit
        said = f"the prompt has {count:,} tokens, and {self._model.name} reads at most {limit:,}"
        return {"reply": None, "error": said} if count + LEAST_ROOM > limit else {}

    def _labels(self, asked: Sequence[tuple[Request, str]]) -> list[dict[str, Any]]:
        """The probability of each label where the answer begins, with and without a space before it."""
        questions: list[Continuation] = []
        owners: list[tuple[int, str]] = []
        for at, (request, text) in enumerate(asked):
            prompt = ids_of(self._model, text)
            for ids, label in self._continued(prompt, request.answers).items():
                questions.append(Continuation(prompt + ids, len(prompt)))
                owners.append((at, label))
        answers = engine.ask(self._backend, questions)
        labels: list[list[tuple[str, float]]] = [[] for _ in asked]
        for (at, label), values in zip(owners, answers, strict=True):
            labels[at].append((label, float(np.exp(values.sum()))))
        return [
            {
                "reply": max(each, key=lambda pair: pair[1])[0],
                "finish_reason": "stop",
                "probabilities": probabilities(request, each),
            }
            for (request, _), each in zip(asked, labels, strict=True)
        ]

    def _continued(self, prompt: Ids, labels: Sequence[str]) -> dict[Ids, str]:
        """The tokens of each label, in the ways that the tokenizer writes it where an answer begins."""
        ways: dict[Ids, str] = {}
        for label in labels:
            for text in (label, f" {label}"):
                ids = ids_of(self._model, text)
                if ids and ways.setdefault(ids, label) != label:
                    raise ValueError(
                        f"the tokenizer of {self._model.name} writes the labels {ways[ids]} and {label} alike, so no "
                        "choice can be read; use --labels sentence"
                    )
        return ways

    def _thoughts(self, prompts: Sequence[str], requests: Sequence[Request]) -> list[str]:
        """The reasoning after each prompt, with its end where that came within the budget."""
        return [
            text if THINK_END not in text else f"{text.partition(THINK_END)[0]}{THINK_END}\n\n"
            for text, _ in self._write(prompts, self.asking.reasoning_tokens, requests, until=THINK_END)
        ]

    def _write(
        self, texts: Sequence[str], most: int, requests: Sequence[Request], until: str | None = None
    ) -> list[tuple[str, bool]]:
        """What the model writes after each text, and whether it ended by itself."""
        written: list[tuple[str, bool]] = []
        for low in range(0, len(texts), WRITTEN):
            rows = [ids_of(self._model, text) for text in texts[low : low + WRITTEN]]
            seeds = [json_digest([self.key(request), until], 15) for request in requests[low : low + WRITTEN]]
            written += self._generate(rows, most, [int(seed, 16) for seed in seeds], until)
        return written

    def _generate(
        self, rows: Sequence[Ids], most: int, seeds: Sequence[int], until: str | None
    ) -> list[tuple[str, bool]]:
        """What follows each row, padded on the left; greedy at temperature 0, else drawn with the seed of each row.

        The settings of the model's own `generation_config` do not count, but for the tokens that end a reply.
        """
        import torch
        from transformers import GenerationConfig

        tokenizer, module = self._model.tokenizer, self._model.module
        pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id or 0
        longest = max(map(len, rows))
        room = max(1, min(most, self._backend.reader.limit - longest))
        ids = torch.tensor([[pad] * (longest - len(row)) + list(row) for row in rows], device=module.device)
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows], device=module.device)
        how: dict[str, Any] = {"stop_strings": [until], "tokenizer": tokenizer} if until else {}
        if self.asking.temperature:
            how["logits_processor"] = [_drawing(seeds, self.asking.temperature)]
        settings = {"max_new_tokens": room, "pad_token_id": pad, "eos_token_id": sorted(self._ends) or None}
        own, module.generation_config = module.generation_config, GenerationConfig(do_sample=False, **settings)
        try:
            with torch.inference_mode():
                made = module.generate(ids, attention_mask=mask, generation_config=module.generation_config, **how)
        finally:
            module.generation_config = own
        return [self._read(row.tolist(), room) for row in made[:, longest:]]

    def _read(self, ids: list[int], most: int) -> tuple[str, bool]:
        """The text of written tokens up to the end that the model set, and whether it set one."""
        length = next((at for at, token in enumerate(ids) if token in self._ends), len(ids))
        text = self._model.tokenizer.decode(ids[:length], skip_special_tokens=True)
        return text, length < len(ids) or length < most


def _drawing(seeds: Sequence[int], temperature: float) -> Callable[[Any, Any], Any]:
    """Draws the next token of each row by a random number of that row alone, whatever rows stand beside it."""
    import torch

    rows = [np.random.default_rng(seed) for seed in seeds]

    def draw(_: Any, scores: Any) -> Any:
        shares = (scores.cpu().double() / temperature).softmax(-1).cumsum(-1)
        drawn = torch.tensor([[row.random()] for row in rows], dtype=torch.float64) * shares[:, -1:]
        chosen = torch.searchsorted(shares, drawn, right=True).clamp(max=shares.shape[1] - 1).to(scores.device)
        return torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0)

    return draw
