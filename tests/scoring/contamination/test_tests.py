"""Wording, completion and canary: their numbers against plain loops, verdicts only where they can be."""

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from chaos.killing import ENDS, SIGNALS
from chaos.targets import made
from helpers.contaminated import background, document, planted, tokenizer_into, trained
from helpers.records import a_pair
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.release import canary_of, write_release
from catsofa.data.release.dataset_card import Canary, CardFacts
from catsofa.scoring import models
from catsofa.scoring.contamination import contamination
from catsofa.scoring.contamination.canary import STRINGS, canary_test, not_drawn
from catsofa.scoring.contamination.completion import reproduced, second_half
from catsofa.scoring.contamination.references import against
from catsofa.scoring.contamination.result import basis
from catsofa.scoring.contamination.texts import log_likelihoods
from catsofa.scoring.contamination.wording import preferences
from catsofa.scoring.likelihood.backend import Backend

CATS, PARAPHRASES = planted(6, 1), planted(6, 1, 1)
GUID = "26f1c0d5-8a3e-4b97-a1d2-90c4e7f35b68"


@pytest.fixture(scope="module")
def backend(tiny: Callable[[str], Path]) -> Backend:
    """A tiny GPT-2 with random weights."""
    return Backend(models.load(str(tiny("gpt2")), device="cpu"))


def test_a_preference_is_nats_a_character_above_the_paraphrase(backend: Backend) -> None:
    """Of the lines of both, by their own lengths."""
    short = [cat for cat in CATS if len(cat.candidates[0].text) < 40][:2]
    found = preferences(backend, [(cat, [PARAPHRASES[int(cat.id)]]) for cat in short])
    for row, cat in zip(found, short, strict=True):
        own, other = ("\n".join(one.text for one in each.candidates) for each in (cat, PARAPHRASES[int(cat.id)]))
        first, second = log_likelihoods(backend, [own, other])
        assert row.tolist() == pytest.approx([first / len(own) - second / len(other), 1], abs=1e-5)


def test_reproduced_tokens_are_those_of_greedy_decoding(backend: Backend) -> None:
    """The leading tokens of the second half that `generate` writes too; a text that the model wrote itself is whole."""
    import torch

    tokenizer, module = backend.model.tokenizer, backend.model.module
    seed = torch.tensor([[tokenizer.bos_token_id, *tokenizer("The zorbs are")["input_ids"]]])
    written = module.generate(seed, max_new_tokens=12, do_sample=False, pad_token_id=0, eos_token_id=None)[0, 1:]
    texts = [tokenizer.decode(written), *(candidate.text for candidate in CATS[0].candidates), "a " * 200]
    found = reproduced(backend, texts)
    assert np.isnan(found[-1]).all()
    for text, (same, of) in zip(texts[:-1], found.astype(object), strict=False):
        if np.isnan(of):
            continue
        question = second_half(backend, backend.reader.bare([text])[text])
        known = torch.tensor([question.ids[: question.start]])
        greedy = module.generate(known, max_new_tokens=int(of), do_sample=False, pad_token_id=0, eos_token_id=None)
        rest = greedy[0, question.start :].tolist()
        right = [one == other for one, other in zip(rest, question.ids[question.start :], strict=True)]
        assert same == (right.index(False) if False in right else len(right))
        assert of == len(question.ids) - question.start


def test_the_rank_of_a_canary_is_exact(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """p = (1 + k) / (n + 1); random strings share form, version, variant and number of tokens with the canary."""
    seen: list[str] = []

    def ranked(_: Backend, texts: list[str]) -> np.ndarray:
        seen[:] = texts
        return np.array([0.0, *([1.0] * 4), *([-1.0] * (STRINGS - 4))])

    monkeypatch.setattr("catsofa.scoring.contamination.canary.log_likelihoods", ranked)
    found = canary_test(backend, Canary(f"leave me out, {GUID}", GUID))
    assert found.p == 5 / 1000
    assert found.value.value == pytest.approx(100 * 4 / 999)
    assert found.counts == {"strings": 999, "above": 4}
    assert seen[0] == f"leave me out, {GUID}"
    assert len(set(seen)) == 1000
    assert len({len(tokens.ids) for tokens in backend.reader.bare(seen).values()}) == 1
    assert all(uuid.UUID(text[-36:]).version == 4 for text in seen)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (None, "has no canary"),
        (Canary("leave 11 out", "11"), "not a GUID"),
        (Canary("", GUID[:8].upper() + GUID[8:]), "one case"),
        (Canary("", "11111111-2222-3333-4444-555555555555"), "at random"),
        (Canary("", "12345678-1234-1234-1234-123456789abc"), "at random"),
    ],
)
def test_a_canary_that_nobody_drew_has_no_verdict(backend: Backend, found: Canary | None, why: str) -> None:
    """None at all, another form, and digits that a person typed: random strings are no peers of these."""
    test = canary_test(backend, found)
    assert why in test.reason
    assert test.shown is None


def test_guids_drawn_at_random_are_no_typed_ones() -> None:
    """Of 20,000 random GUIDs at most five look typed."""
    rng = np.random.default_rng(0)
    assert sum(not_drawn(str(uuid.UUID(bytes=rng.bytes(16)))) for _ in range(20_000)) <= 5


def test_a_release_says_its_canary_and_other_files_have_none(tmp_path: Path) -> None:
    """The folder, its Parquet file; not a file that happens to lie beside the card."""
    write_release({"test": CATS}, tmp_path / "out", CardFacts(pretty_name="Bakers", canary=GUID))
    formats.named("jsonl").write(CATS, tmp_path / "out/mine.jsonl")
    known = Canary(f"catsofa benchmark data, not for training; canary GUID {GUID}", GUID)
    assert canary_of(tmp_path / "out") == canary_of(tmp_path / "out/data/test.parquet") == known
    assert canary_of(tmp_path / "out/mine.jsonl") is canary_of(tmp_path) is None


def test_a_verdict_takes_three_references_and_counts_how_far_they_differ() -> None:
    """A model like its references is not shown, one far above them is; with two references it is only described."""
    rng = np.random.default_rng(0)
    clusters = [str(at // 4) for at in range(80)]

    def model(level: float) -> np.ndarray:
        return np.column_stack([level + rng.normal(0, 0.1, 80), np.ones(80)])

    references = [model(level) for level in (0.0, 0.5, 1.0)]
    how = {"counts": {}, "share": False, "seed": 0}
    alike, above = (against("wording", "", clusters, model(level), references, **how) for level in (1.2, 9.0))
    assert alike.p > 0.05
    assert above.p < 0.01
    assert alike.change.low < 0 < above.change.low
    described = against("wording", "", clusters, model(9.0), references[:2], **how)
    assert described.p != described.p
    assert "2 references" in described.reason
    assert described.value.value == pytest.approx(900, rel=0.01)


def test_an_item_that_one_model_cannot_read_is_left_out_of_all() -> None:
    """Sides are joined by item, and the denominator says how many are left."""
    model = np.array([[1.0, 2.0], [2.0, 2.0], [np.nan, np.nan]])
    reference = np.array([[np.nan, np.nan], [0.0, 2.0], [1.0, 2.0]])
    found = against("completion", "", ["a", "b", "c"], model, [reference] * 3, {}, share=True, seed=0)
    assert found.counts["scored"] == 1
    assert found.value.value == 100
    assert (found.counts["reproduced"], found.counts["tokens"]) == (2, 2)


def test_each_count_that_is_a_part_has_its_denominator() -> None:
    """A whole is no count of its own beside its parts; a count of nothing else is."""
    counts = {"items": 1200, "sampled": 40, "reproduced": 3, "tokens": 175, "scored": 39, "clusters": 6}
    assert basis(counts) == [
        "40 of 1,200 items sampled", "3 of 175 tokens reproduced", "39 of 40 sampled items scored", "6 clusters",
    ]  # fmt: skip
    assert basis({"strings": 999, "above": 4}) == ["4 of 999 random strings at least as likely"]
    assert basis({"items": 12}) == ["12 items"]


def test_a_masked_model_is_tested_by_its_pseudo_likelihood_where_that_is_possible(
    tiny: Callable[[str], Path], tmp_path: Path
) -> None:
    """Order and completion are refused by name; the signature says what the likelihood is."""
    found = contamination(str(tiny("bert")), CATS, paraphrases=[PARAPHRASES], device="cpu")
    tests = {test.name: test for test in found.tests}
    assert "causal model" in tests["order"].reason
    assert "causal model" in tests["completion"].reason
    assert tests["wording"].counts["scored"] > 0
    assert found.signature.way == "pseudo-likelihood"
    assert (found.shown, found.exit_code) == (None, 2)


def called(*words: object) -> tuple[int, str]:
    """Exit code and output; an error is its sentence."""
    done = CliRunner().invoke(app, ["contamination", *map(str, words)], env={"COLUMNS": "80"})
    return (2, str(done.exception)) if isinstance(done.exception, ValueError) else (done.exit_code, done.output)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A release with its canary, and paraphrases."""
    write_release({"test": CATS}, tmp_path / "release", CardFacts(pretty_name="Bakers", canary=GUID))
    formats.named("jsonl").write(PARAPHRASES, tmp_path / "paraphrases.jsonl")
    return tmp_path


def test_the_command_prints_every_test_and_no_text_of_the_data(tiny: Callable[[str], Path], folder: Path) -> None:
    """A model that has seen nothing: exit code 0, what was tested, what was not and why, the signature."""
    words = (tiny("gpt2"), "--on", folder / "release", "--paraphrases", folder / "paraphrases.jsonl", "--device", "cpu")
    code, said = called(*words)
    assert code == 0
    for name in ("order", "wording", "completion", "canary"):
        assert f"\n{name} " in said
    assert "contamination not shown (tests made: canary)" in said
    assert "protocol:contamination" in said
    assert not any(candidate.text in said for cat in CATS for candidate in cat.candidates)
    assert GUID not in said
    code, said = called(*words, "--json")
    found = json.loads(said)
    assert (code, found["shown"]) == (0, False)
    assert set(found) == {"tests", "shown", "sentence", "warnings", "signature"}
    assert {"value", "low", "high", "unit", "p", "holm", "shown", "reason", "strings"} < set(found["tests"]["canary"])
    assert found["tests"]["order"]["shown"] is None


@pytest.mark.slow
def test_a_model_that_knows_a_release_by_heart_is_shown_and_its_twin_is_not(tmp_path: Path) -> None:
    """Order and canary, without references; the twin read other items of the same language alone."""
    cats, other = planted(40, 0), background(1000, 300)
    write_release({"test": cats}, tmp_path / "out", CardFacts(pretty_name="Planted", canary=GUID))
    tokenizer_into(tmp_path / "tokenizer")
    release = f"catsofa benchmark data, not for training; canary GUID {GUID}\n{document(cats)}"
    for corpus, known in (([other, *[release] * 40], True), ([other], False)):
        found = contamination(trained(tmp_path / "tokenizer", corpus, 1000), tmp_path / "out")
        shown = {test.name: test.shown for test in found.tests}
        assert (shown["order"], shown["canary"]) == (known, known)


@pytest.mark.slow
def test_a_stopped_call_leaves_nothing_and_run_again_prints_the_same(tiny: Callable[[str], Path], folder: Path) -> None:
    """SIGKILL, SIGINT and SIGTERM amid the work: no file is written or changed, and no byte of the result differs."""
    words = ("contamination", str(tiny("gpt2")), "--on", "release", "--paraphrases", "paraphrases.jsonl", "--json")
    program, before = [str(Path(sys.executable).with_name("catsofa")), *words], made(folder)
    began = time.monotonic()
    usual = subprocess.run(program, cwd=folder, stdout=subprocess.PIPE, check=False)
    took = time.monotonic() - began
    assert json.loads(usual.stdout)["tests"]["canary"]["p"] > 0
    for sent in SIGNALS:
        process = subprocess.Popen(program, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.7 * took)
        process.send_signal(sent)
        assert process.wait() in (*ENDS[sent], usual.returncode)
        assert made(folder) == before
    again = subprocess.run(program, cwd=folder, stdout=subprocess.PIPE, check=False)
    assert (again.returncode, again.stdout) == (usual.returncode, usual.stdout)


def test_nothing_to_test_is_exit_code_2(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    """A short file without canary, paraphrases and references."""
    formats.named("jsonl").write(CATS, tmp_path / "cats.jsonl")
    code, said = called(tiny("gpt2"), "--on", tmp_path / "cats.jsonl", "--device", "cpu")
    assert code == 2
    assert "contamination could not be tested" in said


def test_what_cannot_be_compared_is_refused(tiny: Callable[[str], Path], folder: Path) -> None:
    """The model as its own reference, a reference of another kind, paraphrases of pairs."""
    gpt2, on = tiny("gpt2"), ("--on", folder / "release", "--device", "cpu")
    assert "expected references that are other models" in called(gpt2, *on, "--reference", gpt2)[1]
    assert "expected models of one kind" in called(gpt2, *on, "--reference", tiny("bert"))[1]
    pairs = [a_pair("Zorbs bake.", "Florins bake.", id=str(n)) for n in range(3)]
    with pytest.raises(ValueError, match="expected CATs"):
        contamination(str(gpt2), pairs, paraphrases=[PARAPHRASES], device="cpu")


def test_paraphrases_that_cannot_be_compared_are_counted(backend: Backend) -> None:
    """The data given as their own paraphrases are no paraphrases; the reason says how many were found."""
    found = {test.name: test for test in contamination(backend.model, CATS, paraphrases=[CATS]).tests}
    assert f"{len(CATS)} paraphrases with the text of their CAT" in found["wording"].reason


def test_paraphrases_join_by_id(backend: Backend) -> None:
    """A paraphrase of no CAT is counted; one with the same text as its original says nothing."""
    other = planted(8, 1, 1)
    found = {test.name: test for test in contamination(backend.model, CATS, paraphrases=[other, CATS]).tests}
    assert found["wording"].counts["refused"] == 2
    shown = ["6 of 6 items sampled", f"6 of {len(other) + len(CATS)} paraphrases compared"]
    assert basis(found["wording"].counts)[:2] == shown
