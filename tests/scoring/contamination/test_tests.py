"""Tests of wording, completion and canary: their numbers against plain loops, and when they give a verdict."""

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
    """Returns a tiny GPT-2 with random weights."""
    return Backend(models.load(str(tiny("gpt2")), device="cpu"))


def test_a_preference_is_nats_a_character_above_the_paraphrase(backend: Backend) -> None:
    """A preference is the nats per character of a CAT's lines minus those of its paraphrase's lines."""
    short = [cat for cat in CATS if len(cat.candidates[0].text) < 40][:2]
    rows = preferences(backend, [(cat, [PARAPHRASES[int(cat.id)]]) for cat in short])
    for row, cat in zip(rows, short, strict=True):
        own, other = ("\n".join(one.text for one in each.candidates) for each in (cat, PARAPHRASES[int(cat.id)]))
        first, second = log_likelihoods(backend, [own, other])
        assert row.tolist() == pytest.approx([first / len(own) - second / len(other), 1], abs=1e-5)


def test_reproduced_tokens_are_those_of_greedy_decoding(backend: Backend) -> None:
    """Reproduced tokens are the leading tokens of the second half that `generate` writes too.

    A text that the model itself wrote is reproduced completely.
    """
    import torch

    tokenizer, module = backend.model.tokenizer, backend.model.module
    seed = torch.tensor([[tokenizer.bos_token_id, *tokenizer("The zorbs are")["input_ids"]]])
    own = module.generate(seed, max_new_tokens=12, do_sample=False, pad_token_id=0, eos_token_id=None)[0, 1:]
    texts = [tokenizer.decode(own), *(candidate.text for candidate in CATS[0].candidates), "a " * 200]
    counts = reproduced(backend, texts)
    assert np.isnan(counts[-1]).all()
    for text, (same, total) in zip(texts[:-1], counts.astype(object), strict=False):
        if np.isnan(total):
            continue
        question = second_half(backend, backend.reader.bare([text])[text])
        prompt = torch.tensor([question.ids[: question.start]])
        greedy = module.generate(prompt, max_new_tokens=int(total), do_sample=False, pad_token_id=0, eos_token_id=None)
        rest = greedy[0, question.start :].tolist()
        right = [one == other for one, other in zip(rest, question.ids[question.start :], strict=True)]
        assert same == (right.index(False) if False in right else len(right))
        assert total == len(question.ids) - question.start


def test_the_rank_of_a_canary_is_exact(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """p = (1 + k) / (n + 1); random strings share form, version, variant and number of tokens with the canary."""
    strings: list[str] = []

    def ranked(_: Backend, texts: list[str]) -> np.ndarray:
        strings[:] = texts
        return np.array([0.0, *([1.0] * 4), *([-1.0] * (STRINGS - 4))])

    monkeypatch.setattr("catsofa.scoring.contamination.canary.log_likelihoods", ranked)
    result = canary_test(backend, Canary(f"leave me out, {GUID}", GUID))
    assert result.p == 5 / 1000
    assert result.value.value == pytest.approx(100 * 4 / 999)
    assert result.counts == {"strings": 999, "above": 4}
    assert strings[0] == f"leave me out, {GUID}"
    assert len(set(strings)) == 1000
    assert len({len(tokens.ids) for tokens in backend.reader.bare(strings).values()}) == 1
    assert all(uuid.UUID(text[-36:]).version == 4 for text in strings)


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
    """A missing canary, another form, and digits typed by a person get no verdict: random strings do not match them."""
    test = canary_test(backend, found)
    assert why in test.reason
    assert test.shown is None


def test_guids_drawn_at_random_are_no_typed_ones() -> None:
    """At most five of 20,000 random GUIDs look typed."""
    rng = np.random.default_rng(0)
    assert sum(not_drawn(str(uuid.UUID(bytes=rng.bytes(16)))) for _ in range(20_000)) <= 5


def test_a_release_says_its_canary_and_other_files_have_none(tmp_path: Path) -> None:
    """The folder of a release and its Parquet file have the canary; another file beside the card has none."""
    write_release({"test": CATS}, tmp_path / "out", CardFacts(pretty_name="Bakers", canary=GUID))
    formats.named("jsonl").write(CATS, tmp_path / "out/mine.jsonl")
    canary = Canary(f"catsofa benchmark data, not for training; canary GUID {GUID}", GUID)
    assert canary_of(tmp_path / "out") == canary_of(tmp_path / "out/data/test.parquet") == canary
    assert canary_of(tmp_path / "out/mine.jsonl") is canary_of(tmp_path) is None


def test_a_verdict_takes_three_references_and_counts_how_far_they_differ() -> None:
    """A model like its references is not shown, one far above them is; two references give only a description."""
    rng = np.random.default_rng(0)
    clusters = [str(number // 4) for number in range(80)]

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
    """Models are joined by item, and the denominator counts the items that remain."""
    model = np.array([[1.0, 2.0], [2.0, 2.0], [np.nan, np.nan]])
    reference = np.array([[np.nan, np.nan], [0.0, 2.0], [1.0, 2.0]])
    result = against("completion", "", ["a", "b", "c"], model, [reference] * 3, {}, share=True, seed=0)
    assert result.counts["scored"] == 1
    assert result.value.value == 100
    assert (result.counts["reproduced"], result.counts["tokens"]) == (2, 2)


def test_each_count_that_is_a_part_has_its_denominator() -> None:
    """A total is not listed beside its parts; a count without parts is."""
    counts = {"items": 1200, "sampled": 40, "reproduced": 3, "tokens": 175, "scored": 39, "clusters": 6}
    assert basis(counts) == [
        "40 of 1,200 items sampled", "3 of 175 tokens reproduced", "39 of 40 sampled items scored", "6 clusters",
    ]  # fmt: skip
    assert basis({"strings": 999, "above": 4}) == ["4 of 999 random strings at least as likely"]
    assert basis({"items": 12}) == ["12 items"]


def test_a_masked_model_is_tested_by_its_pseudo_likelihood_where_that_is_possible(
    tiny: Callable[[str], Path], tmp_path: Path
) -> None:
    """Order and completion are refused by name; the signature names the kind of likelihood."""
    result = contamination(str(tiny("bert")), CATS, paraphrases=[PARAPHRASES], device="cpu")
    tests = {test.name: test for test in result.tests}
    assert "causal model" in tests["order"].reason
    assert "causal model" in tests["completion"].reason
    assert tests["wording"].counts["scored"] > 0
    assert result.signature.way == "pseudo-likelihood"
    assert (result.shown, result.exit_code) == (None, 2)


def called(*words: object) -> tuple[int, str]:
    """Returns exit code and output; for an error, 2 and its message."""
    done = CliRunner().invoke(app, ["contamination", *map(str, words)], env={"COLUMNS": "80"})
    return (2, str(done.exception)) if isinstance(done.exception, ValueError) else (done.exit_code, done.output)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with a release, its canary, and paraphrases."""
    write_release({"test": CATS}, tmp_path / "release", CardFacts(pretty_name="Bakers", canary=GUID))
    formats.named("jsonl").write(PARAPHRASES, tmp_path / "paraphrases.jsonl")
    return tmp_path


def test_the_command_prints_every_test_and_no_text_of_the_data(tiny: Callable[[str], Path], folder: Path) -> None:
    """For a model without training: exit code 0, the tests made, the others with their reasons, and the signature."""
    words = (tiny("gpt2"), "--on", folder / "release", "--paraphrases", folder / "paraphrases.jsonl", "--device", "cpu")
    code, output = called(*words)
    assert code == 0
    for name in ("order", "wording", "completion", "canary"):
        assert f"\n{name} " in output
    assert "contamination not shown (tests made: canary)" in output
    assert "protocol:contamination" in output
    assert not any(candidate.text in output for cat in CATS for candidate in cat.candidates)
    assert GUID not in output
    code, output = called(*words, "--json")
    report = json.loads(output)
    assert (code, report["shown"]) == (0, False)
    assert set(report) == {"tests", "shown", "sentence", "warnings", "signature"}
    assert {"value", "low", "high", "unit", "p", "holm", "shown", "reason", "strings"} < set(report["tests"]["canary"])
    assert report["tests"]["order"]["shown"] is None


@pytest.mark.slow
def test_a_model_that_knows_a_release_by_heart_is_shown_and_its_twin_is_not(tmp_path: Path) -> None:
    """Order and canary need no references; the twin was trained only on other items of the same language."""
    cats, other = planted(40, 0), background(1000, 300)
    write_release({"test": cats}, tmp_path / "out", CardFacts(pretty_name="Planted", canary=GUID))
    tokenizer_into(tmp_path / "tokenizer")
    release = f"catsofa benchmark data, not for training; canary GUID {GUID}\n{document(cats)}"
    for corpus, trained_on in (([other, *[release] * 40], True), ([other], False)):
        result = contamination(trained(tmp_path / "tokenizer", corpus, 1000), tmp_path / "out")
        shown = {test.name: test.shown for test in result.tests}
        assert (shown["order"], shown["canary"]) == (trained_on, trained_on)


@pytest.mark.slow
def test_a_stopped_call_leaves_nothing_and_run_again_prints_the_same(tiny: Callable[[str], Path], folder: Path) -> None:
    """SIGKILL, SIGINT and SIGTERM during the work change no file, and the next call prints the same bytes."""
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
    """A short file without canary, paraphrases and references gives exit code 2."""
    formats.named("jsonl").write(CATS, tmp_path / "cats.jsonl")
    code, output = called(tiny("gpt2"), "--on", tmp_path / "cats.jsonl", "--device", "cpu")
    assert code == 2
    assert "contamination could not be tested" in output


def test_what_cannot_be_compared_is_refused(tiny: Callable[[str], Path], folder: Path) -> None:
    """The model as its own reference, a reference of another kind, and paraphrases of pairs are refused."""
    gpt2, options = tiny("gpt2"), ("--on", folder / "release", "--device", "cpu")
    assert "expected references that are other models" in called(gpt2, *options, "--reference", gpt2)[1]
    assert "expected models of one kind" in called(gpt2, *options, "--reference", tiny("bert"))[1]
    pairs = [a_pair("Zorbs bake.", "Florins bake.", id=str(n)) for n in range(3)]
    with pytest.raises(ValueError, match="expected CATs"):
        contamination(str(gpt2), pairs, paraphrases=[PARAPHRASES], device="cpu")


def test_paraphrases_that_cannot_be_compared_are_counted(backend: Backend) -> None:
    """Data passed as their own paraphrases are not compared; the reason says how many they were."""
    tests = {test.name: test for test in contamination(backend.model, CATS, paraphrases=[CATS]).tests}
    assert f"{len(CATS)} paraphrases with the text of their CAT" in tests["wording"].reason


def test_paraphrases_join_by_id(backend: Backend) -> None:
    """A paraphrase of no CAT is counted as refused; one with the text of its original is not compared."""
    other = planted(8, 1, 1)
    tests = {test.name: test for test in contamination(backend.model, CATS, paraphrases=[other, CATS]).tests}
    assert tests["wording"].counts["refused"] == 2
    shown = ["6 of 6 items sampled", f"6 of {len(other) + len(CATS)} paraphrases compared"]
    assert basis(tests["wording"].counts)[:2] == shown
