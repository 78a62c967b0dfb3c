from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from catsofa.scoring import models
from catsofa.scoring.items import guarded, sentences
from catsofa.scoring.items.around import gap, item, single_tokens
from catsofa.scoring.items.score import answered
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.engine import ask

TEXT, SLOT, ASIDE = "the nurse is kind to the baker .", (13, 17), ((4, 9),)


def scored(folder: Path, text: str = TEXT, slot: tuple[int, int] = SLOT) -> tuple[float | None, int, str]:
    """The score, its tokens, and the reason if there is none."""
    backend = Backend(models.load(str(folder)))
    tokens = sentences.read(backend, [text])[text]
    (score,) = answered(backend, [guarded("one", "", lambda: item(backend, tokens, slot, ASIDE, "one", "original"))])
    return score.score, score.tokens, score.reason


def outside(offsets: Sequence[tuple[int, int]], least: int = 0) -> list[int]:
    """The places of tokens neither in the slot nor aside, behind a character; a space before a word is not in it."""
    hidden = {letter for low, high in (SLOT, *ASIDE) for letter in range(low, high)}
    return [
        at
        for at, (low, high) in enumerate(offsets)
        if high > max(low, least) and not hidden & {letter for letter in range(low, high) if TEXT[letter] != " "}
    ]


def test_a_causal_model_is_asked_for_what_stands_behind_the_slot(tiny: Callable[[str], Path]) -> None:
    """The mean of these log-probabilities in one plain forward."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny("gpt2"))
    read = tokenizer(TEXT, return_offsets_mapping=True)
    ids = [tokenizer.bos_token_id, *read["input_ids"]]
    with torch.no_grad():
        logits = AutoModelForCausalLM.from_pretrained(tiny("gpt2"))(torch.tensor([ids])).logits.double()
    behind = outside(read["offset_mapping"], SLOT[1])
    wanted = [float(torch.log_softmax(logits[0, at], -1)[read["input_ids"][at]]) for at in behind]
    score, tokens, _ = scored(tiny("gpt2"))
    assert tokens == len(wanted)
    assert score == pytest.approx(sum(wanted) / len(wanted), abs=1e-5)


def test_a_masked_model_is_asked_for_every_word_but_fill_and_target(tiny: Callable[[str], Path]) -> None:
    """Each behind a mask of its own while it sees both."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny("bert"))
    read = tokenizer(TEXT, return_offsets_mapping=True)
    model, wanted = AutoModelForMaskedLM.from_pretrained(tiny("bert")).eval(), []
    for at in outside(read["offset_mapping"]):
        ids = list(read["input_ids"])
        ids[at] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits.double()
        wanted.append(float(torch.log_softmax(logits[0, at], -1)[read["input_ids"][at]]))
    score, tokens, _ = scored(tiny("bert"))
    assert tokens == len(wanted)
    assert score == pytest.approx(sum(wanted) / len(wanted), abs=1e-5)


def test_a_text_without_a_word_behind_its_slot_has_no_score(tiny: Callable[[str], Path]) -> None:
    """For a model that reads from the left."""
    score, _, reason = scored(tiny("gpt2"), "the nurse is kind")
    assert (score, reason) == (None, "no word behind the slot is left to count")


def test_the_word_in_a_gap_has_the_probability_of_its_token_behind_the_mask(tiny: Callable[[str], Path]) -> None:
    """For each word that is one token, in one forward of the row."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    backend = Backend(models.load(str(tiny("bert"))))
    ids = single_tokens(backend.reader, backend.model.tokenizer.get_vocab())
    (found,) = ask(backend, [gap(backend.reader, "the ", " is kind .", ids)])
    tokenizer = AutoTokenizer.from_pretrained(tiny("bert"))
    row = tokenizer(f"the {tokenizer.mask_token} is kind .")["input_ids"]
    with torch.no_grad():
        logits = AutoModelForMaskedLM.from_pretrained(tiny("bert")).eval()(torch.tensor([row])).logits.double()
    wanted = torch.log_softmax(logits[0, row.index(tokenizer.mask_token_id)], -1)
    assert "are" in ids
    assert all(tokenizer.encode(word, add_special_tokens=False) == [at] for word, at in ids.items())
    assert found == pytest.approx([float(wanted[at]) for at in ids.values()], abs=1e-5)
