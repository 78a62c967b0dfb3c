"""The order test: what is permuted, when the test is refused, and its values against a plain loop."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.choice_runs import questions
from helpers.contaminated import planted
from scipy import stats

from catsofa.data.records import Probe
from catsofa.scoring import models
from catsofa.scoring.contamination.order import FEWEST, compared, designs, order_test, shards_of
from catsofa.scoring.contamination.texts import ItemText, log_likelihoods, text_of
from catsofa.scoring.likelihood.backend import Backend


@pytest.fixture(scope="module")
def backend(tiny: Callable[[str], Path]) -> Backend:
    """Returns a tiny GPT-2 with random weights, which has seen no data."""
    return Backend(models.load(str(tiny("gpt2")), device="cpu"))


def lines(count: int, seed: int = 0) -> list[ItemText]:
    """Returns items of one short line about three targets, in random order."""
    rng = random.Random(seed)
    days = rng.sample(range(100, 100 + count), count)
    words = ("bread", "roses", "long meetings", "tomatoes", "the kitchen", "rain")
    return [
        text_of(
            Probe(
                id=str(number),
                category="land",
                identity=rng.choice(("Zorbs", "Florins", "Glimmers")),
                stereotype=f"love {rng.choice(words)} on day {days[number]}",
            )
        )
        for number in range(count)
    ]


def sorted_by(items: Sequence[ItemText], label: str) -> list[ItemText]:
    """Returns the items, sorted by one label."""
    return sorted(items, key=lambda item: item.labels[label])


def plain(backend: Backend, text: str) -> float:
    """Returns the log-likelihood of a text after the start token, from one plain forward pass of transformers."""
    import torch

    tokenizer, module = backend.model.tokenizer, backend.model.module
    ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]])
    with torch.inference_mode():
        logits = module(ids).logits.double().log_softmax(-1)[0]
    return float(logits[:-1].gather(-1, ids[0, 1:, None]).sum())


def test_log_likelihoods_equal_a_plain_loop(backend: Backend) -> None:
    """Batches and prefix trees do not change log-likelihoods; a text that is too long has none."""
    texts = [item.text for item in lines(6)] + ["Zorbs bake.\nFlorins sing.", "Zorbs bake.\nGlimmers sing.", "a " * 200]
    values = log_likelihoods(backend, texts)
    assert values[:-1] == pytest.approx([plain(backend, text) for text in texts[:-1]], abs=1e-3)
    assert np.isnan(values[-1])


def test_a_value_is_the_file_s_own_order_less_the_mean_of_random_orders(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a likelihood that is the number of the order, the value of each shard is known."""
    calls: list[Sequence[str]] = []

    def counted(_: Backend, texts: Sequence[str]) -> np.ndarray:
        calls.append(texts)
        return np.arange(len(texts), dtype=float) * (1 + len(calls) % 2)

    monkeypatch.setattr("catsofa.scoring.contamination.order.log_likelihoods", counted)
    result = order_test(backend, lines(60))
    assert result.counts == {"items": 60, "used": 60, "cut": 20, "shards": 20, "permutations": 25}
    # 0 minus the mean of 1 … 25, and twice that: -13 and -26
    assert result.value.value == pytest.approx(-19.5)
    assert result.p > 0.999
    assert calls[0][0] == "\n".join(item.text for item in lines(60)[:3])


def test_shards_are_contiguous_hold_few_tokens_and_stay_in_their_stretch() -> None:
    """A shard has at least two units, at most so many tokens, and never crosses the end of a stretch."""
    units = [(number,) for number in range(10)]
    shards = shards_of(units, [0] * 4 + [1] * 6, [10] * 9 + [100], 25)
    assert shards == [[(0,), (1,)], [(2,), (3,)], [(4,), (5,)], [(6,), (7,)]]


def test_neighbours_that_share_a_label_are_found() -> None:
    """Holm's p is at chance in a random order, and small if equal targets are all neighbours, or never."""
    items, label = [replace(item, labels={"target": item.labels["target"]}) for item in lines(90)], "target"
    for together in (False, True):
        some = sorted_by(items, label) if together else items
        (_, units, stretch), *_ = designs(some)
        shards = shards_of(units, stretch, [5] * 90, 200)
        result = compared(some, shards, dict.fromkeys(range(90), 0), np.random.default_rng(0))
        assert (result[label]["holm"] <= 0.05) == together
        assert (result[label]["file"] > result[label]["permuted"] + 0.1) == together
    turns = [replace(item, labels={"target": "ABC"[number % 3]}) for number, item in enumerate(items)]
    result = compared(turns, shards, dict.fromkeys(range(90), 0), np.random.default_rng(0))
    assert result["target"]["file"] == 0
    assert result["target"]["holm"] <= 0.05


def test_two_items_of_a_target_whose_first_is_always_of_one_kind_are_found() -> None:
    """A question without its answer precedes the one with it: length and text rise only in the file's order."""
    items = [text_of(one) for one in questions(40)]
    permuted, units, stretches = list(designs(items))[1]
    assert permuted == "items within stretches of one target"
    shards = shards_of(units, stretches, [10] * len(items), 100)
    within = {unit[0]: stretch for unit, stretch in zip(units, stretches, strict=True)}
    result = compared(items, shards, within, np.random.default_rng(0))
    broken = {name for name, one in result.items() if one["holm"] <= 0.05}
    assert broken == {"rising condition", "rising length", "rising text"}


def test_items_of_one_domain_that_stand_together_are_permuted_within_it(backend: Backend) -> None:
    """If domains are contiguous, items are permuted within each domain, not over the whole file."""
    items = lines(120, seed=3)
    blocks = [replace(item, labels={**item.labels, "domain": str(number // 3)}) for number, item in enumerate(items)]
    result = order_test(backend, [replace(one, labels={"domain": one.labels["domain"]}) for one in blocks])
    assert result.facts["permuted"] == "items within stretches of one domain"
    assert result.p == result.p


def test_a_file_whose_order_says_something_at_every_level_is_refused(backend: Backend) -> None:
    """A file sorted by text has no p, but a reason: neighbours share words and length at every level."""
    items = [replace(item, labels={"domain": ""}) for item in sorted(lines(90), key=lambda item: item.text)]
    result = order_test(backend, items)
    assert result.p != result.p
    assert result.shown is None
    assert "items: neighbours differ" in result.reason
    assert result.facts["refused"]["items"]["neighbours"]["words"]["holm"] <= 0.05


def test_a_short_file_is_refused(backend: Backend) -> None:
    """A file with fewer than ten shards is refused, because Student's t is unreliable for so few."""
    result = order_test(backend, lines(3 * FEWEST - 3))
    assert result.p != result.p
    assert "9 shards" in result.reason


def test_texts_are_the_lines_of_an_item() -> None:
    """A CAT's text is its sentences in the order of its candidates; a paraphrase uses the order of its original."""
    cat = planted(1, 0)[0]
    turned = replace(cat, candidates=tuple(reversed(cat.candidates)))
    assert text_of(cat).text == "\n".join(candidate.text for candidate in cat.candidates)
    assert text_of(turned, [candidate.label for candidate in cat.candidates]).text == text_of(cat).text


@pytest.mark.slow
def test_p_is_uniform_for_a_model_that_has_seen_nothing(backend: Backend) -> None:
    """Over random orders of the same items, p ≤ x has the frequency x, within the middle 99.9 % of the binomial."""
    items, rng = lines(30, seed=5), random.Random(0)
    p_values = [order_test(backend, rng.sample(items, len(items)), number).p for number in range(40)]
    defined = np.array([p for p in p_values if p == p])
    assert len(defined) >= stats.binom.ppf(0.001, 40, 0.95)  # Holm refuses 5 % of random orders by chance
    for share in (0.05, 0.25, 0.5, 0.75):
        low, high = stats.binom.interval(0.999, len(defined), share)
        assert low <= np.sum(defined <= share) <= high
