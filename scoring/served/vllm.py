"""A causal model in vLLM in this process, scored by the log-probabilities of prompts.

vLLM is probed before use, like a server (`served`). Its numbers must depend on the context of a token. Two answers to
one question must agree, and an answer must not depend on other questions in the same call. Its prefix cache is off,
because with it the log-probabilities of prompts have depended on the order of the requests.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catsofa.data import extras
from catsofa.scoring.models.files import find
from catsofa.scoring.models.model import DTYPES
from catsofa.scoring.served import DRIFT, PLAIN, SCRAMBLED, Capability, Readable, tried
from catsofa.scoring.served.replies import Reading, Unreadable, read
from catsofa.scoring.signature import model_label

ASKED: dict[str, Any] = {"max_tokens": 1, "temperature": 1.0, "prompt_logprobs": 0, "detokenize": True}
"""Sampling parameters of each prompt: 0 returns its own tokens and no others; vLLM must write one token."""


@dataclass(frozen=True, slots=True, eq=False)
class OfflineModel(Readable):
    """A model in vLLM; `start` is the token written before every text; empty if none is needed."""

    name: str
    digest: str
    dtype: str
    ask: Callable[[Sequence[str]], list[Reading]]
    capability: Capability
    version: str
    """Version of vLLM as it reports it, because its builds for a CPU are distributed under other names."""
    start: str = ""

    @property
    def label(self) -> str:
        """Name in a signature."""
        return model_label(self.name, self.digest, f"in vllm {self.version}")

    def read(self, texts: Iterable[str]) -> dict[str, Reading | str]:
        """Returns each distinct text's tokens and log-probabilities, or the reason for an error."""
        distinct = list(dict.fromkeys(texts))
        readings: dict[str, Reading | str] = {}
        for text, reading in zip(distinct, self.ask([self.start + text for text in distinct]), strict=True):
            alone = reading.without(self.capability.leading)
            right = not text.isascii() or alone.spells(text)
            readings[text] = alone if right else "the tokens of the reply are not those of the text"
        return readings

    def identity(self) -> dict[str, Any]:
        """Returns everything that a result of this model depends on."""
        how = {"dtype": self.dtype, "leading": self.capability.leading, "start": self.start}
        return {"digest": self.digest, "vllm": self.version, **how}


def load(
    name: str,
    *,
    starts: bool = True,
    dtype: str = "float32",
    revision: str | None = None,
    trust_remote_code: bool = False,
) -> OfflineModel:
    """Loads a model in vLLM and probes it; raises ValueError with the reason if it cannot score prompts.

    With `starts`, the model's start token is written before each text if vLLM does not add it.
    """
    try:
        from vllm import LLM, SamplingParams, __version__
    except ModuleNotFoundError as error:
        raise extras.MissingExtra(f"{extras.sentence('vllm')}, or use --engine local", name=error.name) from None
    source = find(name, revision)
    llm = LLM(
        model=source.place,
        revision=source.revision,
        dtype=DTYPES.get(dtype, dtype),
        trust_remote_code=trust_remote_code,
        enable_prefix_caching=False,
        load_format="safetensors",
    )
    sampling = SamplingParams(**ASKED)

    def ask(prompts: Sequence[str]) -> list[Reading]:
        return [reading(output) for output in llm.generate(list(prompts), sampling, use_tqdm=False)]

    try:
        capability, start = tried(lambda text: ask([text])[0], "prompt_logprobs", ""), ""
        if starts and not capability.leading and (token := llm.get_tokenizer().bos_token):
            capability, start = tried(lambda text: ask([token + text])[0], "prompt_logprobs", token), token
        _refuse_neighbours(ask, start)
    except Unreadable as reason:
        raise ValueError(f"{name} in vLLM cannot be scored by log-probabilities: {reason}") from None
    return OfflineModel(name, source.digest(), DTYPES.get(dtype, dtype), ask, capability, __version__, start)


def reading(output: Any) -> Reading:
    """Parses vLLM's output for a prompt; takes only the prompt's own token from each entry."""
    entries = output.prompt_logprobs
    if entries is None or len(entries) != len(output.prompt_token_ids):
        raise Unreadable("vLLM gave no log-probability for each token of the prompt")
    own = [_own(entry, token) for entry, token in zip(entries, output.prompt_token_ids, strict=True)]
    return read({"choices": [{"prompt_logprobs": own}]}, "prompt_logprobs")


def _own(entry: Mapping[int, Any] | None, token: int) -> dict[str, Any] | None:
    """Returns an entry in the format of a server; None for the first token."""
    if entry is None:
        return None
    if token not in entry:
        raise Unreadable("vLLM gave a token of the prompt no log-probability")
    logprob = entry[token]
    return {str(token): {"logprob": logprob.logprob, "decoded_token": logprob.decoded_token or ""}}


def _refuse_neighbours(ask: Callable[[Sequence[str]], list[Reading]], start: str) -> None:
    """Raises Unreadable if an answer depends on the other questions in the call, or on their order."""
    texts = [start + text for text in (PLAIN, SCRAMBLED, f"{PLAIN} {SCRAMBLED}", f"{PLAIN} {PLAIN}")]
    forward, back = ask(texts), ask(texts[::-1])[::-1]
    alone = [ask([text])[0] for text in texts]
    for one, *repeats in zip(forward, back, alone, strict=True):
        for other in repeats:
            pairs = zip(one.values, other.values, strict=True)
            apart = [abs(a - b) for a, b in pairs if a is not None and b is not None]
            if max(apart, default=0.0) > DRIFT:
                raise Unreadable(f"an answer depends on the other questions, by {max(apart):.2f} nats in a token")
