"""Tests the vLLM engine with a stand-in of the same call shape and the numbers of a real model."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from helpers.records import bakers, probes

from catsofa.data import extras
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.executors.texts import VLLM
from catsofa.scoring.run.store import read_scores
from catsofa.scoring.served import vllm as vllm_offline

Tiny = Callable[[str], Path]


class LLM:
    """A stand-in for vLLM's class, which cannot run here: its call shape (LLM, SamplingParams, outputs).

    The numbers come from transformers.
    """

    forgetful = False
    """True if the answers to a call's later prompts depend on its earlier ones."""

    def __init__(self, model: str, **options: Any) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        assert options["enable_prefix_caching"] is False
        assert options["trust_remote_code"] is False
        assert options["load_format"] == "safetensors"
        self.model, self.tokenizer = AutoModelForCausalLM.from_pretrained(model), AutoTokenizer.from_pretrained(model)

    def get_tokenizer(self) -> Any:
        """Returns the model's tokenizer."""
        return self.tokenizer

    def generate(self, prompts: list[str], params: Any, use_tqdm: bool = True) -> list[Any]:
        """Returns a RequestOutput for each prompt."""
        assert (params.max_tokens, params.prompt_logprobs) == (1, 0)
        outputs = [self._output(prompt) for prompt in prompts]
        for output in outputs[1:] if self.forgetful else ():
            for entry in output.prompt_logprobs[1:]:
                for one in entry.values():
                    one.logprob -= 1.0
        return outputs

    def _output(self, prompt: str) -> Any:
        import torch

        ids = self.tokenizer(prompt).input_ids
        with torch.inference_mode():
            logs = self.model(torch.tensor([ids])).logits[0].log_softmax(-1)
        entries: list[Any] = [None]
        for position, token in enumerate(ids[1:]):
            top = int(logs[position].argmax())
            entries.append({t: self._entry(t, float(logs[position, t])) for t in (top, token)})
        return SimpleNamespace(prompt=prompt, prompt_token_ids=ids, prompt_logprobs=entries, outputs=[])

    def _entry(self, token: int, value: float) -> Any:
        return SimpleNamespace(logprob=value, rank=1, decoded_token=self.tokenizer.convert_ids_to_tokens(token))


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> type[LLM]:
    """Installs the stand-in in place of vLLM and returns its class."""
    module, stub = ModuleType("vllm"), type("LLM", (LLM,), {})
    module.__version__ = "0.0"  # type: ignore[attr-defined]
    module.LLM, module.SamplingParams = stub, lambda **kwargs: SimpleNamespace(**kwargs)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm", module)
    return stub


@pytest.mark.parametrize("name", ["llama", "gpt2"])
@pytest.mark.parametrize("records", [bakers(4), probes(5)])
def test_vllm_gives_the_scores_of_our_own_engine(
    records: Sequence[Any], name: str, tiny: Tiny, vllm: type[LLM], tmp_path: Path
) -> None:
    """Both engines give the same scores to 1e-4 under the same ids, whichever side adds the start token."""
    evaluate(str(tiny(name)), records, out=tmp_path / "ours", resamples=10)
    report = evaluate(str(tiny(name)), records, executor=VLLM(), out=tmp_path / "theirs", resamples=10)
    ours, theirs = read_scores(tmp_path / "ours"), read_scores(tmp_path / "theirs")
    assert [(s.item, s.task, s.tokens) for s in ours] == [(s.item, s.task, s.tokens) for s in theirs]
    assert [s.score for s in theirs] == pytest.approx([s.score for s in ours], abs=1e-4)
    assert "in vllm 0.0" in str(report.signature)
    assert str(tiny(name).parent) not in str(report.signature), "no place on a machine"


def test_answers_that_depend_on_the_other_questions_are_refused(tiny: Tiny, vllm: type[LLM]) -> None:
    """Answers that depend on other questions are refused, as from a prefix cache that returns the state of an earlier
    request."""
    vllm.forgetful = True
    with pytest.raises(ValueError, match=r"other questions.*1\.00 nats"):
        vllm_offline.load(str(tiny("llama")))


def test_without_vllm_a_sentence_says_what_to_do(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without vLLM, which is not a dependency, the error gives the install command and the alternative engine."""
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(extras.MissingExtra, match=r"pip install vllm.*--engine local"):
        vllm_offline.load(str(tiny("llama")))
