"""Tiny GPT-2s trained on a data set in the order of its file, and twins that never saw it."""

import random
import string
from collections.abc import Sequence
from pathlib import Path

from catsofa.data.digests import hex_digest
from catsofa.data.records import Candidate, Cat
from catsofa.scoring.contamination.texts import text_of
from catsofa.scoring.models.model import Model

GROUPS = ("Dravians", "Pellorans", "Vortines", "Quillans", "Mirrish", "Tovalans")
ADJECTIVES = ("kind", "tidy", "late", "loud", "calm", "shy", "brave", "slow", "fond", "wise")
PLACES = ("market", "bakery", "harbour", "library", "garden", "station", "kitchen", "meadow", "bridge", "mill")
THINGS = ("bread", "plums", "clocks", "boats", "songs", "maps", "lamps", "chairs", "roses", "soup")
FORMS = ("{place} {group} {word} {thing}", "{group} {thing} {place} {word}")
"""A wording and its paraphrase: the same words in another order."""
WINDOW, BATCH, STEPS = 96, 5, 800
"""Tokens that the models read, windows of a batch, and batches: a set of 40 CATs is memorised."""


def planted(items: int, seed: int, form: int = 0) -> list[Cat]:
    """Returns CATs in random order, identified by their places and things; `form` selects the wording."""
    rng = random.Random(seed)
    cats = []
    for number in range(items):
        group, place, thing = rng.choice(GROUPS), rng.choice(PLACES), rng.choice(THINGS)
        words = rng.sample(ADJECTIVES, 3)
        of = {"group": group, "place": place, "thing": thing}
        first, second, third = (
            Candidate(id=f"{number}/{label}", text=FORMS[form].format(word=word, **of), label=label, fill=word)
            for label, word in zip(("stereotype", "anti-stereotype", "unrelated"), words, strict=True)
        )
        cats.append(
            Cat(
                id=str(number),
                kind="intrasentence",
                bias_type="land",
                target=group,
                context=FORMS[form].format(word="BLANK", **of),
                candidates=(first, second, third),
            )
        )
    return cats


def document(cats: Sequence[Cat]) -> str:
    """Returns the data set as a corpus may contain it: a line for each text, in the order of the file."""
    return "\n".join(text_of(cat).text for cat in cats)


def background(seed: int, items: int = 60) -> str:
    """Returns other texts of the same language: both wordings, other items."""
    rng = random.Random(seed)
    cats = [cat for form in (0, 1) for cat in planted(items, rng.randrange(10**9), form)]
    rng.shuffle(cats)
    return document(cats)


def tokenizer_into(folder: Path) -> None:
    """Writes a byte-level BPE with the words of both wordings as tokens, and the letters of a canary."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    end = "<|endoftext|>"
    texts = [string.printable, *(document(planted(60, 0, form)) for form in (0, 1))]
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=290, special_tokens=[end]))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=end, eos_token=end, unk_token=end).save_pretrained(
        folder
    )


def trained(tokenizer: Path, corpus: Sequence[str], seed: int, steps: int = STEPS) -> Model:
    """Trains a GPT-2 of two layers on windows of the documents; longer documents are sampled more often."""
    import torch
    import transformers as t

    fast = t.AutoTokenizer.from_pretrained(tokenizer)
    torch.manual_seed(seed)
    size = {"n_embd": 40, "n_layer": 2, "n_head": 2, "n_positions": WINDOW}
    dropout = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    config = t.GPT2Config(vocab_size=len(fast), activation_function="relu", **ends, **size, **dropout)
    model = t.GPT2LMHeadModel(config)
    text = torch.tensor([0, *(token for each in corpus for token in [*fast(each)["input_ids"], 0])])
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 1e-2, total_steps=max(1, steps))
    draws = torch.Generator().manual_seed(seed)
    model.train()
    for _ in range(steps):
        lows = torch.randint(0, len(text) - WINDOW, (BATCH, 1), generator=draws)
        rows = text[lows + torch.arange(WINDOW)]
        model(input_ids=rows, labels=rows).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
    model.eval().requires_grad_(False)
    digest = f"{seed} {hex_digest(' '.join(corpus))}"
    return Model(
        name=f"trained-{seed}",
        kind="causal",
        module=model,
        tokenizer=fast,
        device="cpu",
        dtype="float32",
        digest=digest,
        answers=frozenset(["left-to-right"]),
    )
