"""Chat models in this process: label probabilities from one forward pass, or generated replies."""

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
"""Number of requests that are asked and stored together."""
WRITTEN = 8
"""Number of replies that are generated together."""
LEAST_ROOM = 8
"""Number of tokens that a prompt must leave for an answer."""


class LocalChat:
    """A loaded model with a chat template."""

    def __init__(self, model: Model, asking: Asking, batch_tokens: int | None = None) -> None:
        need_template(model)
        model.need("left-to-right", "A choice")
        model = model.as_it_is()
        self.asking, self._backend, self._model = asking, Backend(model, batch_tokens), model
        self.thinks = knows_thinking(model) and asking.reasoning_tokens > 0
        """True if the model reasons before it answers."""
        ends = model.module.generation_config.eos_token_id
        self._ends = {*(ends if isinstance(ends, list) else [ends]), model.tokenizer.eos_token_id} - {None}
        """Tokens that end a reply."""

    @property
    def label(self) -> str:
        """Label of the model in a signature."""
        return model_label(self._model.name, self._model.digest)

    @property
    def server(self) -> str:
        """Digest of the model, to which stored replies are bound."""
        return self._model.digest

    def identity(self) -> dict[str, Any]:
        """Returns what a reply depends on, besides its prompt."""
        return {name: value for name, value in self._model.identity().items() if name != "model"}

    def hide(self, text: str) -> str:
        """Returns the text unchanged, because it contains no key."""
        return text

    def replies(self, requests: Iterable[Request], store: ReplyStore) -> Iterator[Reply]:
        """Yields the reply to each request, in order; stored replies are used as they are."""
        for _, numbered in groupby(enumerate(requests), key=lambda pair: pair[0] // CHUNK):
            chunk = [request for _, request in numbered]
            keyed = {self.key(request): request for request in chunk}
            new = {key: request for key, request in keyed.items() if key not in store.replies}
            if list(new) == list(keyed)[-len(new) :]:  # a run may have been killed while storing the chunk: compute all
                new = keyed  # of it again, because rounding depends on the other rows
            for key, fields in zip(new, self._answers(list(new.values())), strict=True):
                if key not in store.replies:
                    store.answered(key, fields)
            for request in chunk:
                yield reply_to(request, **store.replies[self.key(request)])

    def key(self, request: Request) -> str:
        """Returns a hash of what the reply depends on."""
        asking = self.asking
        how = [asking.temperature, asking.sampled, asking.answer_tokens, asking.reasoning_tokens]
        return json_digest(
            [request.prompt, request.order, request.answers, request.sample if asking.sampled else 0, how]
        )

    def _answers(self, requests: Sequence[Request]) -> list[dict[str, Any]]:
        """Returns the fields of each reply; a prompt that is too long has an error and no reply."""
        begun = [prompt_text(self._model, request.prompt, thinking=self.thinks) for request in requests]
        results: list[dict[str, Any]] = [self._too_long(text) for text in begun]
        remaining = [n for n, reply in enumerate(results) if not reply]
        if self.thinks:
            thoughts = self._thoughts([begun[n] for n in remaining], [requests[n] for n in remaining])
            for n, thought in zip(remaining, thoughts, strict=True):
                begun[n] += thought
                results[n] = {"reply": "", "finish_reason": "length", "reasoning": thought}
            remaining = [n for n in remaining if THINK_END in results[n]["reasoning"]]
        labelled = [n for n in remaining if requests[n].answers and not self.asking.sampled]
        for n, answer in zip(labelled, self._labels([(requests[n], begun[n]) for n in labelled]), strict=True):
            results[n] |= answer
        generated = [n for n in remaining if n not in labelled]
        texts = self._write([begun[n] for n in generated], self.asking.answer_tokens, [requests[n] for n in generated])
        for n, (text, ended) in zip(generated, texts, strict=True):
            results[n] |= {"reply": text, "finish_reason": "stop" if ended else "length"}
        return results

    def _too_long(self, prompt: str) -> dict[str, Any]:
        """Returns an error if the prompt leaves no room for an answer, else nothing."""
        count, limit = len(ids_of(self._model, prompt)), self._backend.reader.limit
        problem = f"the prompt has {count:,} tokens, and {self._model.name} reads at most {limit:,}"
        return {"reply": None, "error": problem} if count + LEAST_ROOM > limit else {}

    def _labels(self, pairs: Sequence[tuple[Request, str]]) -> list[dict[str, Any]]:
        """Returns the probability of each label where the answer begins, with and without a space before it."""
        questions: list[Continuation] = []
        owners: list[tuple[int, str]] = []
        for index, (request, text) in enumerate(pairs):
            prompt = ids_of(self._model, text)
            for ids, label in self._continued(prompt, request.answers).items():
                questions.append(Continuation(prompt + ids, len(prompt)))
                owners.append((index, label))
        answers = engine.ask(self._backend, questions)
        labels: list[list[tuple[str, float]]] = [[] for _ in pairs]
        for (index, label), values in zip(owners, answers, strict=True):
            labels[index].append((label, float(np.exp(values.sum()))))
        return [
            {
                "reply": max(each, key=lambda pair: pair[1])[0],
                "finish_reason": "stop",
                "probabilities": probabilities(request, each),
            }
            for (request, _), each in zip(pairs, labels, strict=True)
        ]

    def _continued(self, prompt: Ids, labels: Sequence[str]) -> dict[Ids, str]:
        """Returns the tokens of each label, in all ways that the tokenizer writes it where an answer begins."""
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
        """Returns the reasoning after each prompt, with its end marker if it ended within the budget."""
        return [
            text if THINK_END not in text else f"{text.partition(THINK_END)[0]}{THINK_END}\n\n"
            for text, _ in self._write(prompts, self.asking.reasoning_tokens, requests, until=THINK_END)
        ]

    def _write(
        self, texts: Sequence[str], most: int, requests: Sequence[Request], until: str | None = None
    ) -> list[tuple[str, bool]]:
        """Returns the text that the model writes after each prompt, and True if the text ended by itself."""
        outputs: list[tuple[str, bool]] = []
        for low in range(0, len(texts), WRITTEN):
            rows = [ids_of(self._model, text) for text in texts[low : low + WRITTEN]]
            seeds = [json_digest([self.key(request), until], 15) for request in requests[low : low + WRITTEN]]
            outputs += self._generate(rows, most, [int(seed, 16) for seed in seeds], until)
        return outputs

    def _generate(
        self, rows: Sequence[Ids], most: int, seeds: Sequence[int], until: str | None
    ) -> list[tuple[str, bool]]:
        """Generates after each row, padded on the left: greedy at temperature 0, else sampled with the row's seed.

        The model's own `generation_config` is ignored, except for its tokens that end a reply.
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
                generated = module.generate(ids, attention_mask=mask, generation_config=module.generation_config, **how)
        finally:
            module.generation_config = own
        return [self._read(row.tolist(), room) for row in generated[:, longest:]]

    def _read(self, ids: list[int], most: int) -> tuple[str, bool]:
        """Returns the text of generated tokens up to the end token, and True if the model ended the text."""
        length = next((index for index, token in enumerate(ids) if token in self._ends), len(ids))
        text = self._model.tokenizer.decode(ids[:length], skip_special_tokens=True)
        return text, length < len(ids) or length < most


def _drawing(seeds: Sequence[int], temperature: float) -> Callable[[Any, Any], Any]:
    """Returns a function that draws each row's next token by random numbers of that row alone."""
    import torch

    rows = [np.random.default_rng(seed) for seed in seeds]

    def draw(_: Any, scores: Any) -> Any:
        shares = (scores.cpu().double() / temperature).softmax(-1).cumsum(-1)
        drawn = torch.tensor([[row.random()] for row in rows], dtype=torch.float64) * shares[:, -1:]
        chosen = torch.searchsorted(shares, drawn, right=True).clamp(max=shares.shape[1] - 1).to(scores.device)
        return torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0)

    return draw
