"""Custom model classes: one method is enough for the scores of the same model loaded by name."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers.records import PAIRS, PROBES, TEST
from helpers.served_models import CATS

from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.run.store import read_scores

Tiny = Callable[[str], Path]


class Own:
    """A causal model, called through transformers alone."""

    def __init__(self, folder: Path, digest: str = "1") -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.name, self.digest = "own", digest
        self.model, self.tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)

    def loglikelihood(self, queries: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Returns the log-probability of each token of each text after its context."""
        return [self._tokens(context, text) for context, text in queries]

    def _tokens(self, context: str, text: str) -> list[float]:
        import torch

        before = self.tokenizer(context, add_special_tokens=False).input_ids
        ids = [self.tokenizer.bos_token_id, *self.tokenizer(context + text, add_special_tokens=False).input_ids]
        with torch.inference_mode():
            logs = self.model(torch.tensor([ids])).logits[0].log_softmax(-1)
        return [float(logs[place - 1, ids[place]]) for place in range(1 + len(before), len(ids))]


@pytest.mark.parametrize("name", ["gpt2", "llama"])
@pytest.mark.parametrize("records", [CATS, PAIRS[:2], PROBES[:4]], ids=["cats", "pairs", "probes"])
def test_a_class_with_one_method_scores_as_the_model_itself(
    records: list[Any], name: str, tiny: Tiny, tmp_path: Path
) -> None:
    """Scores of three kinds of records agree to 1e-4; the signature has the name and digest of the class."""
    report = evaluate(Own(tiny(name)), records, out=tmp_path / "own", resamples=0)
    evaluate(str(tiny(name)), records, out=tmp_path / "here", resamples=0)
    own, direct = read_scores(tmp_path / "own"), read_scores(tmp_path / "here")
    assert [(score.item, score.task, score.tokens) for score in own] == [(s.item, s.task, s.tokens) for s in direct]
    assert [score.score for score in own] == pytest.approx([score.score for score in direct], abs=1e-4)
    assert report.signature.model == "own@1"


def test_a_run_of_other_weights_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    """The digest identifies the weights: a run with the same digest resumes, and another digest is refused."""
    for _ in range(2):
        evaluate(Own(tiny("gpt2")), PAIRS[:1], out=tmp_path / "run", resamples=0)
    with pytest.raises(ValueError, match=r"model\.digest: 1 → 2"):
        evaluate(Own(tiny("gpt2"), digest="2"), PAIRS[:1], out=tmp_path / "run", resamples=0)


class Wrong:
    """A model class that gives one answer to every query."""

    name, digest, answer = "wrong", "1", (-1.0,)

    def __init__(self, **own: Any) -> None:
        vars(self).update(own)

    def loglikelihood(self, queries: Sequence[tuple[str, str]]) -> Any:
        """Returns the same answer to every query."""
        return self.answer and [self.answer for _ in queries]


@pytest.mark.parametrize("lazy", [False, True])
def test_an_exception_inside_a_class_names_it_and_keeps_the_cause(lazy: bool) -> None:
    """The method may raise itself, or while its result is iterated; the error names the class and keeps the cause."""

    def fails(queries: Sequence[tuple[str, str]]) -> Any:
        raise KeyError("zorb\x1b")

    def yields(queries: Sequence[tuple[str, str]]) -> Any:
        yield [-1.0]
        fails(queries)

    with pytest.raises(ValueError, match=r"^Wrong\.loglikelihood.*wrong.*KeyError: 'zorb\\x1b'$") as raised:
        evaluate(Wrong(loglikelihood=yields if lazy else fails), PAIRS[:1])
    assert isinstance(raised.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (Wrong(answer=[0.5]), "wrong gave .* expected a log-probability for each token"),
        (Wrong(answer=[float("nan")]), "wrong gave .* expected a log-probability for each token"),
        (Wrong(answer=-1.0), r"wrong gave \[-1.0, .* expected for each query the log-probability of each token"),
        (Wrong(answer="a"), r"wrong gave \['a', .* expected for each query the log-probability of each token"),
        (Wrong(answer=None), "wrong gave None; expected for each query the log-probability of each token"),
        (Wrong(answer=[]), "wrong gave 0 answers to 3 queries"),
        (Wrong(name=None), "the `name` of Wrong is None; expected a printable text"),
        (Wrong(digest=1), "the `digest` of Wrong is 1; expected a printable text"),
        (Wrong(name="a | model:b"), r"the `name` of Wrong is 'a \| model:b'; expected a printable text without `\|`"),
        (Wrong(name="\x1b[31m"), r"the `name` of Wrong is '\\x1b\[31m'; expected a printable text"),
        (Wrong(loglikelihood=None), "Wrong has no method `loglikelihood`"),
        (Wrong, r"found the class Wrong; expected an instance of it, as Wrong\(\)"),
    ],
)
def test_a_class_that_is_no_model_is_refused(model: Any, says: str) -> None:
    """The error says what was found and what was expected."""
    with pytest.raises(ValueError, match=says):
        evaluate(model, PAIRS[:1])
    with pytest.raises(ValueError, match="need vectors"):
        evaluate(Wrong(), [TEST])
