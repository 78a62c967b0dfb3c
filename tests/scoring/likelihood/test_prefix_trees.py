from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catsofa.data.formats import read_as
from catsofa.data.records import Cat
from catsofa.scoring.likelihood import batches, causal
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.engine import ask
from catsofa.scoring.likelihood.prefix_trees import Tree, trees
from catsofa.scoring.likelihood.queries import Continuation
from catsofa.scoring.models import load

Tiny = Callable[[str], Path]

few = st.integers(10, 13)


@st.composite
def alike(draw: st.DrawFn) -> Continuation:
    """Draws a sequence of few different ids, so that many sequences share a prefix."""
    ids = (1, *draw(st.lists(few, min_size=1, max_size=9)))
    return Continuation(ids, draw(st.integers(1, len(ids) - 1)))


def prefix(tree: Tree, node: int) -> tuple[int, ...]:
    """Returns the ids of a node and of the nodes that it may attend to."""
    return tuple(tree.ids[j] for j in range(node + 1) if node < tree.ends[j])


def answers(tree: Tree, questions: list[Continuation]) -> list[tuple[int, list[int]]]:
    """Returns each question of a row with its requested pairs."""
    sizes = [len(questions[number].ids) - questions[number].start for number in tree.questions]
    parts = np.split(tree.wanted, np.cumsum(sizes)[:-1])
    return [(int(number), part.tolist()) for number, part in zip(tree.questions, parts, strict=True)]


@given(st.lists(alike(), max_size=40), st.integers(1, 60))
def test_a_node_attends_to_its_own_prefix_and_nothing_else(questions: list[Continuation], width: int) -> None:
    """The node of each scored token attends to exactly the tokens before it, in order, at their depths."""
    answered = []
    for tree in trees(questions, width):
        for number, wanted in answers(tree, questions):
            question = questions[number]
            answered.append(number)
            assert [tree.tokens[pair] for pair in wanted] == list(question.ids[question.start :])
            for position, pair in enumerate(wanted, question.start):
                node = tree.nodes[pair]
                assert prefix(tree, node) == question.ids[:position]
                assert tree.depths[node] == position - 1
    assert sorted(answered) == list(range(len(questions)))


@given(st.lists(alike(), max_size=40), st.integers(1, 60))
def test_a_row_holds_each_prefix_and_each_pair_once_within_its_width(questions: list[Continuation], width: int) -> None:
    """Each prefix and each pair of node and token occurs once in a row. A row exceeds the width only if a single
    question is longer."""
    for tree in trees(questions, width):
        prefixes = [prefix(tree, node) for node in range(len(tree.ids))]
        assert len(set(prefixes)) == len(prefixes)
        assert len(set(zip(tree.nodes, tree.tokens, strict=True))) == len(tree.nodes)
        longest = max(len(questions[number].ids) - 1 for number in tree.questions)
        assert len(tree.ids) <= max(width, longest)


def test_a_tree_by_hand() -> None:
    """1 2 3 4, 1 2 5 and 1 6 give three nodes in a line, because last tokens need no node, and five pairs."""
    questions = [Continuation((1, 6)), Continuation((1, 2, 3, 4)), Continuation((1, 2, 5), 2)]
    (tree,) = trees(questions, 128)
    assert tree.ids.tolist() == [1, 2, 3]
    assert tree.depths.tolist() == [0, 1, 2]
    assert tree.ends.tolist() == [3, 3, 3]
    found = [
        (number, [(int(tree.nodes[pair]), int(tree.tokens[pair])) for pair in wanted])
        for number, wanted in answers(tree, questions)
    ]
    assert found == [(1, [(0, 2), (1, 3), (2, 4)]), (2, [(1, 5)]), (0, [(0, 6)])]


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_a_tree_gives_what_plain_rows_give(tiny: Tiny, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree gives the answers of plain rows to 1e-5 nats, for any width of a row and any batch size."""
    model = load(str(tiny(name)))

    @settings(max_examples=20, deadline=None)
    @given(st.lists(alike(), min_size=1, max_size=25), st.sampled_from([3, 9, 128]), st.sampled_from([10, 4000]))
    def check(questions: list[Continuation], width: int, budget: int) -> None:
        backend = Backend(model, budget)
        monkeypatch.setattr(causal, "CPU_WIDTH", width)
        for one, other in zip(causal.answer(backend, questions), causal.plain(backend, questions), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5, rtol=0)

    check()


@pytest.mark.parametrize(
    ("name", "packs"), [("gpt2", True), ("llama", True), ("gemma2", True), ("bloom", False), ("mamba", False)]
)
def test_models_that_cannot_be_packed_are_found_out_and_asked_plainly(tiny: Tiny, name: str, packs: bool) -> None:
    """A model that cannot follow a tree's mask is not packed: BLOOM counts positions by its mask, Mamba has no
    attention."""
    backend = Backend(load(str(tiny(name))))
    ask(backend, [Continuation((1, 30, 40)), Continuation((1, 30, 50))])
    assert backend.packs is packs


@pytest.mark.parametrize("what", ["mask", "positions"])
def test_a_model_that_leaves_out_mask_or_positions_is_not_packed(
    tiny: Tiny, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that ignores the mask or the positions is not packed, because it would answer wrongly without an
    error."""
    backend = Backend(load(str(tiny("gpt2"))))
    forward = backend.model.module.transformer.forward

    def deaf(input_ids: Any, **kwargs: Any) -> Any:
        kwargs.pop("attention_mask" if what == "mask" else "position_ids", None)
        return forward(input_ids, **kwargs)

    assert causal.possible(backend)
    monkeypatch.setattr(backend.model.module.transformer, "forward", deaf)
    assert not causal.possible(backend)


def triples(shared: Path) -> list[Continuation]:
    """Returns the filled sentences of StereoSet dev, encoded with GPT-2's tokenizer."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(shared / "models/tokenizers/gpt2")
    texts = [
        candidate.text
        for cat in read_as(shared / "data/stereoset/dev.json", Cat)
        if cat.kind == "intrasentence"
        for candidate in cat.candidates
    ]
    start = tokenizer.eos_token_id
    return [Continuation((start, *encoding.ids)) for encoding in tokenizer.backend_tokenizer.encode_batch(texts)]


def test_stereoset_needs_less_than_half_a_node_a_token(shared: Path) -> None:
    """StereoSet has 63,706 scored tokens. Each needs at most 0.45 forwarded nodes, with at most 3 % padding."""
    questions = triples(shared)
    rows = trees(questions, causal.CPU_WIDTH)
    lengths = [len(tree.ids) for tree in rows]
    scored = sum(len(question.ids) - 1 for question in questions)
    assert scored == 63706
    assert sum(lengths) / scored <= 0.45
    planned = batches.plan(lengths, 2048)
    held = sum(len(batch) * max(lengths[row] for row in batch) for batch in planned)
    assert 1 - sum(lengths) / held <= 0.03


def test_a_grid_of_identities_and_stereotypes_needs_less_than_its_tokens() -> None:
    """The grid has 8 identities of 2 tokens and 50 stereotypes of 4, two stereotypes per verb. It needs exactly 1 + 8 ×
    (2 + 25 + 50 × 2) nodes."""
    grid = [
        Continuation((0, 10 + 2 * i, 11 + 2 * i, 100 + s // 2, 200 + s, 300, 400)) for i in range(8) for s in range(50)
    ]
    (row,) = trees(grid, 10**6)
    assert len(row.ids) == 1 + 8 * (2 + 25 + 50 * 2)
    assert len(row.ids) / sum(len(question.ids) - 1 for question in grid) < 0.45
