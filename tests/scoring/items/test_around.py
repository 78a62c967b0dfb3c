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
    """Returns the score, its number of tokens, and the reason if the score is missing."""
    backend = Backend(models.load(str(folder)))
    tokens = sentences.read(backend, [text])[text]
    (score,) = answered(backend, [guarded("one", "", lambda: item(backend, tokens, slot, ASIDE, "one", "original"))])
    return score.score, score.tokens, score.reason


def outside(offsets: Sequence[tuple[int, int]], least: int = 0) -> list[int]:
    """Returns places of tokens outside the slot and the target, after a character; leading spaces are ignored."""
    hidden = {letter for low, high in (SLOT, *ASIDE) for letter in range(low, high)}
    return [
        place
        for place, (low, high) in enumerate(offsets)
        if high > max(low, least) and not hidden & {letter for letter in range(low, high) if TEXT[letter] != " "}
    ]


def test_a_causal_model_is_asked_for_what_stands_behind_the_slot(tiny: Callable[[str], Path]) -> None:
    """The score is the mean log-probability of the tokens after the slot, from one plain forward pass."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny("gpt2"))
    encoding = tokenizer(TEXT, return_offsets_mapping=True)
    ids = [tokenizer.bos_token_id, *encoding["input_ids"]]
    with torch.no_grad():
        logits = AutoModelForCausalLM.from_pretrained(tiny("gpt2"))(torch.tensor([ids])).logits.double()
    behind = outside(encoding["offset_mapping"], SLOT[1])
    wanted = [float(torch.log_softmax(logits[0, place], -1)[encoding["input_ids"][place]]) for place in behind]
    score, tokens, _ = scored(tiny("gpt2"))
    assert tokens == len(wanted)
    assert score == pytest.approx(sum(wanted) / len(wanted), abs=1e-5)


def test_a_masked_model_is_asked_for_every_word_but_fill_and_target(tiny: Callable[[str], Path]) -> None:
    """Each token is masked alone, while the model sees fill and target."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny("bert"))
    encoding = tokenizer(TEXT, return_offsets_mapping=True)
    model, wanted = AutoModelForMaskedLM.from_pretrained(tiny("bert")).eval(), []
    for place in outside(encoding["offset_mapping"]):
        ids = list(encoding["input_ids"])
        ids[place] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits.double()
        wanted.append(float(torch.log_softmax(logits[0, place], -1)[encoding["input_ids"][place]]))
    score, tokens, _ = scored(tiny("bert"))
    assert tokens == len(wanted)
    assert score == pytest.approx(sum(wanted) / len(wanted), abs=1e-5)


def test_a_text_without_a_word_behind_its_slot_has_no_score(tiny: Callable[[str], Path]) -> None:
    """A causal model gives no score to a text without a word after its slot."""
    score, _, reason = scored(tiny("gpt2"), "the nurse is kind")
    assert (score, reason) == (None, "no word behind the slot is left to count")


def test_the_word_in_a_gap_has_the_probability_of_its_token_behind_the_mask(tiny: Callable[[str], Path]) -> None:
    """One forward pass of the row gives the probability of each word that is one token."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    backend = Backend(models.load(str(tiny("bert"))))
    ids = single_tokens(backend.reader, backend.model.tokenizer.get_vocab())
    (values,) = ask(backend, [gap(backend.reader, "the ", " is kind .", ids)])
    tokenizer = AutoTokenizer.from_pretrained(tiny("bert"))
    row = tokenizer(f"the {tokenizer.mask_token} is kind .")["input_ids"]
    with torch.no_grad():
        logits = AutoModelForMaskedLM.from_pretrained(tiny("bert")).eval()(torch.tensor([row])).logits.double()
    wanted = torch.log_softmax(logits[0, row.index(tokenizer.mask_token_id)], -1)
    assert "are" in ids
    assert all(tokenizer.encode(word, add_special_tokens=False) == [token] for word, token in ids.items())
    assert values == pytest.approx([float(wanted[token]) for token in ids.values()], abs=1e-5)
