from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catsofa.scoring.likelihood import batches

Lengths = st.lists(st.integers(1, 60), max_size=200)


@given(Lengths, st.integers(1, 400))
def test_every_row_stands_in_one_batch_within_the_budget(lengths: list[int], budget: int) -> None:
    """Each row is in exactly one batch. A batch of several rows, padding included, never exceeds the token budget."""
    planned = batches.plan(lengths, budget)
    assert sorted(row for batch in planned for row in batch) == list(range(len(lengths)))
    for batch in planned:
        assert len(batch) == 1 or len(batch) * max(lengths[row] for row in batch) <= budget


@given(Lengths, st.integers(100, 4000))
def test_padding_stays_small_and_the_longest_come_first(lengths: list[int], budget: int) -> None:
    """At most 3 % of a batch is padding, unless the batch is tiny. The longest rows come first, so that a lack of
    memory shows in the first batch."""
    planned = batches.plan(lengths, budget)
    longest = [max(lengths[row] for row in batch) for batch in planned]
    assert longest == sorted(longest, reverse=True)
    for batch, top in zip(planned, longest, strict=True):
        size = top * len(batch)
        assert size <= batches.SMALL or size - sum(lengths[row] for row in batch) <= batches.WASTE * size


def run(lengths: list[int], budget: int, forward: Callable[[list[int]], None]) -> int:
    """Forwards the rows of each batch and returns the budget at the end."""
    pending = batches.Batches(lengths, budget)
    for rows in pending:
        try:
            forward(rows)
        except (MemoryError, RuntimeError) as error:
            pending.halve(error)
    return pending.budget


@given(Lengths)
def test_without_waste_a_batch_holds_one_length(lengths: list[int]) -> None:
    """Models that do not support padding get batches of rows of equal length."""
    for batch in batches.plan(lengths, 500, batches.NONE):
        assert len({lengths[row] for row in batch}) == 1


@given(Lengths, st.integers(1, 60))
def test_out_of_memory_halves_the_budget_and_loses_no_row(lengths: list[int], room: int) -> None:
    """If memory runs out, the budget is halved; every row is forwarded once, as long as one row fits."""
    room = max([room, *lengths])
    done: list[int] = []

    def forward(rows: list[int]) -> None:
        if len(rows) * max(lengths[row] for row in rows) > room:
            raise MemoryError("out of memory")
        done.extend(rows)

    budget = run(lengths, 2000, forward)
    assert sorted(done) == list(range(len(lengths)))
    assert budget <= 2000


def test_a_row_that_does_not_fit_at_all_is_a_sentence() -> None:
    """If a single row does not fit in memory, the error names its number of tokens."""

    def forward(rows: list[int]) -> None:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")

    with pytest.raises(ValueError, match=r"memory.*7 tokens"):
        run([7, 3], 100, forward)


def test_another_error_is_not_taken_for_lack_of_memory() -> None:
    """An error other than a lack of memory, such as a wrong shape, is raised and not retried."""

    def forward(rows: list[int]) -> None:
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes"):
        run([7, 3], 100, forward)
