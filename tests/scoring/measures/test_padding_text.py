"""Tests XLNet on intrasentence CATs in both directions, after a padding text that the user names."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.architectures.loop import positions_within
from helpers.records import a_cat
from tokenizers import processors

from catsofa.data.records import Cat
from catsofa.scoring.items.score import score as score_records
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.models import load
from catsofa.scoring.protocols import named

Tiny = Callable[[str], Path]

PADDING = "My neighbour is a gardener.\nShe waters <sep> the roses."
"""Contains a special token, like the released text."""


@pytest.fixture
def xlnet(tiny: Tiny) -> Backend:
    """Returns a tiny random XLNet whose tokenizer joins two texts as the released one does."""
    backend = Backend(load(str(tiny("xlnet"))))
    tokenizer = backend.model.tokenizer
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A:0 <sep>:0 <cls>:2",
        pair="$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2",
        special_tokens=[(name, tokenizer.convert_tokens_to_ids(name)) for name in ("<sep>", "<cls>")],
    )
    return backend


@pytest.fixture
def padding(tmp_path: Path) -> Path:
    """Writes the padding text to a file and returns its path."""
    (tmp_path / "padding.txt").write_text(PADDING, "utf-8")
    return tmp_path / "padding.txt"


def plainly(backend: Backend, cat: Cat) -> list[float]:
    """Returns each candidate's mean probability, one forward pass per row: padding, masked sentence, no permutation
    mask.
    """
    import torch

    tokenizer, means = backend.model.tokenizer, []

    def ids(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    sep, cls = tokenizer.sep_token_id, tokenizer.cls_token_id
    for candidate in cat.candidates:
        pieces, probabilities = ids(candidate.fill or ""), []
        for position, piece in enumerate(pieces):
            masked = ids(cat.context.replace("BLANK", tokenizer.decode(pieces[:position]) + tokenizer.mask_token))
            first, second = [*ids(PADDING), sep], [*masked, sep]
            row, types = [*first, *second, cls], [0] * len(first) + [1] * len(second) + [2]
            with torch.no_grad():
                logits = backend.model.module(torch.tensor([row]), token_type_ids=torch.tensor([types])).logits[0]
            probabilities.append(logits[row.index(tokenizer.mask_token_id)].double().softmax(-1)[piece].item())
        means.append(float(np.mean(probabilities)))
    return means


def test_attributes_are_scored_in_both_directions_after_the_padding_text(xlnet: Backend, padding: Path) -> None:
    """Scores match for fillers of one and of several tokens; another padding text changes them."""
    cats = [a_cat("The zorb was BLANK all day.", "late", "unbelievably", "purple"), a_cat("A BLANK zorb sang.")]
    scores = score_records(xlnet, cats, named(f"stereoset-code,padding_text={padding}"))
    assert [score.reason for score in scores if score.score is None] == []
    assert max(score.tokens for score in scores) > 1
    probabilities = np.exp([score.score for score in scores if score.score is not None])
    np.testing.assert_allclose(probabilities, [p for cat in cats for p in plainly(xlnet, cat)], rtol=1e-5)
    padding.write_text("Bread was asleep.", "utf-8")
    other = score_records(xlnet, cats, named(f"stereoset-code,padding_text={padding}"))
    assert other[0].score != scores[0].score


def test_the_default_protocol_hides_the_pieces_of_the_filled_sentence_after_the_text(
    xlnet: Backend, padding: Path
) -> None:
    """The score is the mean log-probability of the filler's tokens, each masked with the tokens after it hidden."""
    import torch

    cat, tokenizer = a_cat("The zorb was BLANK.", "late", "unbelievably", "purple"), xlnet.model.tokenizer
    scores = score_records(xlnet, [cat], named(f"catsofa,padding_text={padding}"))
    first = [*tokenizer(PADDING, add_special_tokens=False)["input_ids"], tokenizer.sep_token_id]
    for candidate, score in zip(cat.candidates, scores, strict=True):
        encoding = tokenizer(candidate.text, add_special_tokens=False, return_offsets_mapping=True)
        ids, places = (
            encoding["input_ids"],
            positions_within(encoding, candidate.text, 13, 13 + len(candidate.fill or "")),
        )
        logs = []
        for place in places:
            second = [*ids[:place], tokenizer.mask_token_id, *ids[places[-1] + 1 :], tokenizer.sep_token_id]
            types = [0] * len(first) + [1] * len(second) + [2]
            row = torch.tensor([[*first, *second, tokenizer.cls_token_id]])
            with torch.no_grad():
                logits = xlnet.model.module(row, token_type_ids=torch.tensor([types])).logits[0, len(first) + place]
            logs.append(logits.double().log_softmax(-1)[ids[place]].item())
        assert score.score == pytest.approx(np.mean(logs), abs=1e-5)


def test_the_released_code_without_its_padding_text_is_refused(xlnet: Backend) -> None:
    """The error says where to find the text and how to name it."""
    with pytest.raises(ValueError, match=r"stereoset-code,padding_text=FILE.*code/dataloader\.py"):
        score_records(xlnet, [a_cat()], named("stereoset-code"))


def test_the_text_counts_and_not_the_place_of_its_file(padding: Path, tmp_path: Path) -> None:
    """The name shows no folder; the digest depends on the text; without a text it equals that of stored signatures."""
    (tmp_path / "else").mkdir()
    copy = tmp_path / "else" / "padding.txt"
    copy.write_text(PADDING, "utf-8")
    one, other = (named(f"stereoset-code,padding_text={path}") for path in (padding, copy))
    assert one.name == other.name == "stereoset-code,padding_text=padding.txt"
    assert one.digest == other.digest != named("stereoset-code").digest
    with pytest.raises(ValueError, match="text for padding_text"):
        named(f"stereoset-code,padding_text={tmp_path / 'none.txt'}")
