"""Tests several protocols in one pass: each cell equals its own run, and common texts are forwarded once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.records import PAIRS, cats
from helpers.sessions import Counted, Stopped, chunks_of

from catsofa.data.records import Pair
from catsofa.scoring.evaluate import evaluate, evaluate_all
from catsofa.scoring.executors import local
from catsofa.scoring.executors.local import LocalScorer, about
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Question
from catsofa.scoring.measures.registry import measure_of
from catsofa.scoring.models import load
from catsofa.scoring.protocols import PRESETS, Protocol, named, sets_choice_of
from catsofa.scoring.run.store import Run, read_scores

Tiny = Callable[[str], Path]


def presets(records: list[Any]) -> list[Protocol]:
    """Returns the presets for these records."""
    name = measure_of(type(records[0])).name
    return [each for each in PRESETS.values() if sets_choice_of(each, name)]


@pytest.mark.parametrize("records", [cats(), PAIRS], ids=["CATs", "pairs"])
@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "bart"])
def test_every_cell_is_the_run_of_its_protocol_alone(tiny: Tiny, name: str, records: list[Any]) -> None:
    """The whole report is equal to the last bit: numbers, intervals, counts, reasons, warnings and the signature."""
    model = str(tiny(name))  # a path, because AULA leaves hooks in a loaded model, which the next call refuses
    result = evaluate_all(model, records, presets(records), resamples=50)
    for protocol in presets(records):
        if protocol.name in result.refused:
            with pytest.raises(ValueError, match="masked models"):
                evaluate(model, records, protocol=protocol)
            continue
        alone = evaluate(model, records, protocol=protocol, resamples=50)
        assert str(result.reports[protocol.name].to_dict()) == str(alone.to_dict())
        assert str(result.reports[protocol.name].signature) == str(alone.signature)


def test_cells_are_those_of_a_plain_loop(tiny: Tiny) -> None:
    """For GPT-2, with one forward per text, ss of two protocols is computed from means that begin at the first or
    second token."""
    import torch

    model, records = load(str(tiny("gpt2"))), [one for one in cats() if one.kind == "intrasentence"]
    result = evaluate_all(model, records, [named("catsofa,average=items"), named("repro-004")], resamples=0)

    def mean(text: str, skip: bool) -> float:
        own = model.tokenizer.encode(text)
        ids = own if skip else [model.tokenizer.bos_token_id, *own]
        with torch.no_grad():
            logs = model.module(torch.tensor([ids])).logits[0].double().log_softmax(-1)
        return float(np.mean([logs[i - 1, ids[i]].item() for i in range(1, len(ids))]))

    for name, skip in (("catsofa,average=items", False), ("repro-004", True)):
        by_label = [{each.label: mean(each.text, skip) for each in one.candidates} for one in records]
        if skip:  # best of three: ss counts the CATs whose best candidate is not the unrelated one
            by_label = [means for means in by_label if max(means, key=lambda label: means[label]) != "unrelated"]
        won = np.mean([means["stereotype"] > means["anti-stereotype"] for means in by_label])
        results: Any = result.reports[name].results
        assert results.overall.ss.value == pytest.approx(100 * won)


def forwarded(backend: Backend, records: list[Any], protocols: list[Protocol]) -> int:
    """Returns the number of tokens that one pass for these protocols forwards."""
    before = backend.tally.forwarded
    list(LocalScorer(backend, *protocols, about=about(backend.model)).score([records], None))
    return backend.tally.forwarded - before


def families(backend: Backend, records: list[Any], protocols: list[Protocol]) -> list[list[Protocol]]:
    """Groups protocols that share a question."""
    scorer = LocalScorer(backend, *protocols, about=about(backend.model))
    groups: list[tuple[list[Protocol], set[Question]]] = []
    for protocol, items in zip(protocols, scorer._plan(records), strict=True):
        own, questions = [protocol], set(local.score.asked(items))
        for other in [each for each in groups if each[1] & questions]:
            groups.remove(other)
            own, questions = [*other[0], *own], questions | other[1]
        groups.append((own, questions))
    return [own for own, _ in groups]


WORDS = ("kind", "asleep", "quiet", "clever")
"""Words that are one token in the tiny BERT, since `within-word` and `plain` differ for words of several pieces."""
SENTENCES = [
    Pair(more=f"The zorbs are {a} and {b}.", less=f"The florins are {a} and {b}.", direction="stereo", bias_type="x")
    for a in WORDS
    for b in WORDS
]


@pytest.mark.parametrize(("name", "records"), [("gpt2", cats()), ("bert", cats()), ("bert", SENTENCES)])
def test_a_family_of_protocols_costs_no_more_than_its_dearest_one(tiny: Tiny, name: str, records: list[Any]) -> None:
    """Protocols that ask the same questions forward at most 1.3 times the tokens of the most expensive one alone."""
    model = load(str(tiny(name)))
    for family in families(Backend(model), records, presets(records)):
        alone = [forwarded(Backend(model), records, [each]) for each in family]
        assert forwarded(Backend(model), records, family) <= 1.3 * max(alone), [each.name for each in family]


def test_a_pass_that_is_stopped_anywhere_goes_on_to_the_same_scores(
    tiny: Tiny, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass is stopped between two chunks, between the runs of one chunk, and before the reports. It resumes to the
    same scores, to the last bit and without duplicates."""
    chunks_of(4, monkeypatch)
    model, data, protocols = load(str(tiny("gpt2"))), files / "cats.jsonl", presets(cats())
    how: dict[str, Any] = {"resamples": 10}
    evaluate_all(model, data, protocols, out=files / "whole", **how)

    def stop_at(call: str, times: int) -> None:
        count, real = [0], getattr(Run, call)

        def counted(self: Run, *args: Any, **more: Any) -> Any:
            count[0] += 1
            if count[0] > times:
                raise Stopped
            return real(self, *args, **more)

        with monkeypatch.context() as patch:
            patch.setattr(Run, call, counted)
            with pytest.raises(Stopped):
                evaluate_all(model, data, protocols, out=files / "stopped", **how)

    with pytest.raises(Stopped):
        evaluate_all(model, data, protocols, out=files / "stopped", progress=Counted(4), **how)
    stop_at("add", 3)
    stop_at("finish", 2)
    monkeypatch.setattr(Run, "add", lambda *_: pytest.fail("scored again"))
    evaluate_all(model, data, protocols, out=files / "stopped", **how)
    for protocol in protocols:
        one, other = (files / folder / protocol.name for folder in ("whole", "stopped"))
        assert read_scores(one) == read_scores(other)
        with Run.open(other) as run:
            assert sum(records for records, _ in run.chunks()) == len(cats())


def test_a_cell_is_a_run_that_a_single_call_goes_on_with(tiny: Tiny, files: Path) -> None:
    """`evaluate` with this protocol reuses every score; another model in the folder is refused."""
    protocols = presets(PAIRS)
    evaluate_all(str(tiny("bert")), files / "pairs.jsonl", protocols, out=files / "all", resamples=10)
    alone = evaluate(str(tiny("bert")), files / "pairs.jsonl", protocol="aul", out=files / "all/aul", resamples=10)
    assert alone.signature.protocol == "aul"
    with pytest.raises(ValueError, match="architecture"):
        evaluate_all(str(tiny("roberta")), files / "pairs.jsonl", protocols, out=files / "all", resamples=10)
