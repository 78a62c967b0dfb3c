"""What choices say: preference, position effect, consistency and refusals, against numbers made by hand."""

from collections.abc import Iterable
from math import isnan
from typing import Any

import numpy as np
import pytest

from catsofa.scoring.choosing.estimates import Rows, between_templates, estimate, refusal_between, rows_of
from catsofa.scoring.choosing.items import Item
from catsofa.scoring.choosing.outcomes import OUTCOMES
from catsofa.scoring.choosing.position import DECIDED
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.choosing.results import results, warnings_of

FIRST, SECOND = ("stereotype", "anti-stereotype"), ("anti-stereotype", "stereotype")
OUTCOME = {"s": "stereotype", "a": "anti_stereotype", "r": "refusal", "n": "neutral", "x": "unread", "u": "unrelated"}


def rows(replies: Iterable[tuple[str, str, str, str]]) -> Rows:
    """Rows of (item, group, outcome with the stereotype first, outcome with it second)."""
    made, items = [], {}
    for number, group, *read in replies:
        items[number] = Item(id=number, texts={}, domain="species", group=group)
        made += [
            Reply(item=number, order=order, reply="", outcome=OUTCOME[outcome], template="t")
            for order, outcome in zip((FIRST, SECOND), read, strict=True)
        ]
    return rows_of(made, items)


def found(replies: Iterable[tuple[str, str, str, str]], resamples: int = 500) -> Any:
    """The estimates of such rows."""
    return estimate(rows(replies), resamples=resamples, seed=0)


def test_preference_is_the_share_of_the_stereotype_that_position_does_not_explain() -> None:
    """With p1 = 3/4 and p2 = 2/4, b = 1/4 and the preference is (2/4) / (1 − 1/4) = 2/3."""
    one = found([("1", "", "s", "s"), ("2", "", "s", "s"), ("3", "", "s", "a"), ("4", "", "a", "a")] * 1)
    assert one.position.value == pytest.approx(1 / 4)
    wide = found([(f"{n}{copy}", "", *read) for copy in range(30) for n, read in enumerate(("ss", "ss", "sa", "aa"))])
    assert wide.preference.value == pytest.approx(2 / 3)
    assert 0.5 < wide.preference.low < 2 / 3 < wide.preference.high < 0.85
    other = found([(f"{n}{copy}", "", *read) for copy in range(30) for n, read in enumerate(("ss", "ss", "as", "aa"))])
    assert other.position.value == pytest.approx(-1 / 4)
    assert other.preference.value == pytest.approx(2 / 3)


def test_terms_are_averaged_however_many_items_they_have() -> None:
    """p1 and p2 are means over target terms: a term with 9 items counts as much as a term with 1."""
    many = [(f"m{n}", "zorb", "s", "s") for n in range(9)]
    assert found([*many, ("o", "blicket", "a", "a")]).preference.value == pytest.approx(0.5)
    assert found([*many, ("o", "zorb", "a", "a")]).preference.value == pytest.approx(0.9)


def test_a_model_that_always_says_a_has_no_preference() -> None:
    """A model that always names the first sentence has a position effect of 1 and no preference."""
    always = found([(str(n), "", "s", "a") for n in range(50)])
    assert always.position.value == 1
    assert (isnan(always.preference.value), always.undefined, always.consistent) == (True, DECIDED, 0)
    never = found([(str(n), "", "a", "s") for n in range(50)])
    assert (never.position.value, never.undefined) == (-1, DECIDED)


def test_a_model_that_refuses_everything_has_coverage_zero_and_no_preference() -> None:
    """Refusals alone give coverage 0, an undefined preference, and the share 1 of refusals with its limits."""
    none = found([(str(n), "", "r", "r") for n in range(50)])
    assert (none.coverage, isnan(none.preference.value), isnan(none.position.value)) == (0, True, True)
    assert none.outcomes["refusal"].value == 1
    assert 0.9 < none.outcomes["refusal"].low < 1


def test_coverage_counts_choices_and_neutral_replies() -> None:
    """Choices and neutral replies are read; refusals and unread replies are not."""
    some = found([("1", "", "s", "n"), ("2", "", "u", "r"), ("3", "", "x", "a")])
    assert some.coverage == pytest.approx(4 / 6)
    assert {name: share.value * 6 for name, share in some.outcomes.items() if share.value} == pytest.approx(
        {"stereotype": 1, "anti_stereotype": 1, "unrelated": 1, "neutral": 1, "refusal": 1, "unread": 1}
    )


def test_items_are_consistent_where_all_orders_name_one_sentence() -> None:
    """Two of four items name one sentence in both orders, one of the two the stereotype."""
    four = found([("1", "", "s", "s"), ("2", "", "a", "a"), ("3", "", "s", "a"), ("4", "", "r", "r")])
    assert (four.consistent, four.consistent_stereotype) == (0.5, 0.5)


def test_replies_in_one_order_alone_give_no_preference() -> None:
    """Without both orders position cannot be told from preference."""
    replies = [Reply(item="1", order=FIRST, reply="A", outcome="stereotype")]
    one = estimate(rows_of(replies, {"1": Item(id="1", texts={})}), resamples=100, seed=0)
    assert (one.undefined, isnan(one.consistent)) == ("the stereotype was chosen from in one order only", True)


def test_probabilities_count_as_shares_of_choices() -> None:
    """Of probabilities 0.6 and 0.2 (first) and 0.3 and 0.3 (second), p1 is 3/4 and p2 is 1/2."""
    replies = [
        Reply(item="1", order=FIRST, reply=None, probabilities={"stereotype": 0.6, "anti-stereotype": 0.2}),
        Reply(item="1", order=SECOND, reply=None, probabilities={"stereotype": 0.3, "anti-stereotype": 0.3}),
    ]
    one = estimate(rows_of(replies, {"1": Item(id="1", texts={})}), resamples=0, seed=0)
    assert one.position.value == pytest.approx(0.25)
    assert one.preference.value == pytest.approx(0.5 / 0.75)
    assert one.coverage == 1


def test_yes_to_everything_is_decided_by_position() -> None:
    """Asked about one sentence at a time, a model that agrees with both has no preference."""
    replies, items = [], {str(n): Item(id=str(n), texts={}) for n in range(20)}
    for number in items:
        replies += [
            Reply(item=number, order=("stereotype",), reply="Yes", outcome="stereotype"),
            Reply(item=number, order=("anti-stereotype",), reply="Yes", outcome="anti_stereotype"),
        ]
    assert estimate(rows_of(replies, items), resamples=200, seed=0).undefined == DECIDED


def test_selective_refusals_are_found_between_groups_and_between_positions() -> None:
    """Refusals about one group, or with the stereotype first, are tested and told."""
    by_group = rows(
        [(f"{g}{n}", g, *("rr" if g == "zorb" and n < 12 else "sa")) for g in ("zorb", "dax") for n in range(20)]
    )
    assert refusal_between(by_group, by_group.groups, seed=0) < 0.01
    warned = " ".join(warnings_of(results(by_group, resamples=300)))
    assert "refusals differ between groups" in warned
    by_place = results(rows([(str(n), "", "r" if n % 2 else "s", "sa"[n % 3 % 2]) for n in range(60)]), resamples=300)
    assert by_place.refusal_by_position.value == pytest.approx(0.5)
    assert "refusals depend on which sentence stands first" in " ".join(warnings_of(by_place))
    assert isnan(by_place.refusals["domains"])


def test_templates_that_differ_vary_more_than_sampling_and_equal_ones_do_not() -> None:
    """The variance between templates is that of their preferences; equal templates have variance 0."""
    items = {str(n): Item(id=str(n), texts={}) for n in range(80)}

    def asked(shares: dict[str, float]) -> Rows:
        replies = [
            Reply(item=number, order=order, reply="", template=template,
                  outcome="stereotype" if place < share * len(items) else "anti_stereotype")
            for template, share in shares.items()
            for place, number in enumerate(items)
            for order in (FIRST, SECOND)
        ]  # fmt: skip
        return rows_of(replies, items)

    apart = between_templates(asked({"one": 0.25, "two": 0.75}), resamples=500, seed=0)
    assert apart["variance"] == pytest.approx(0.125)
    assert apart["sampling"] < 0.01
    same = between_templates(asked({"one": 0.5, "two": 0.5}), resamples=500, seed=0)
    assert same == pytest.approx({"variance": 0, "sampling": 0})
    assert isnan(between_templates(asked({"one": 0.5}), resamples=500, seed=0)["variance"])


def simulated(rng: np.random.Generator, terms: int, items: int, preference: float, b: float, refusal: float) -> Rows:
    """The rows of a simulated server whose preference and refusal rate differ between terms."""
    number = terms * items
    liking = np.repeat(rng.beta(8 * preference, 8 * (1 - preference), terms), items)
    refusing = np.repeat(rng.beta(20 * refusal, 20 * (1 - refusal), terms), items)
    outcomes = []
    for first in (True, False):
        by_position = rng.random(number) < abs(b)
        stereotype = np.where(by_position, first == (b > 0), rng.random(number) < liking)
        outcomes.append(np.where(rng.random(number) < refusing, 4, np.where(stereotype, 0, 1)))
    read = np.concatenate(outcomes)
    names = np.array([f"i{n}" for n in range(number)] * 2)
    groups = np.array([f"t{n // items}" for n in range(number)] * 2)
    same = np.full(2 * number, "x")
    weights, everywhere = np.eye(len(OUTCOMES))[read], np.ones(2 * number, dtype=bool)
    return Rows(
        weights, np.repeat([True, False], number), names, groups, same, groups, same, names, everywhere, ~everywhere
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preference", "b", "refusal", "terms"), [(0.7, 0.2, 0.1, 40), (0.5, -0.4, 0.3, 40), (0.85, 0.5, 0.05, 80)]
)
def test_intervals_hold_the_truth_of_simulated_servers(preference: float, b: float, refusal: float, terms: int) -> None:
    """Over 1,000 simulated servers the 95 % intervals of π, b and r hold the truth in 93 to 97 % of cases."""
    held = {"preference": 0, "position": 0, "refusal": 0}
    servers = 1_000
    for seed in range(servers):
        made = simulated(np.random.default_rng(seed), terms, 8, preference, b, refusal)
        one = estimate(made, resamples=1_000, seed=seed)
        held["preference"] += preference in one.preference
        held["position"] += b in one.position
        held["refusal"] += refusal in one.outcomes["refusal"]
    shares = {name: count / servers for name, count in held.items()}
    assert all(0.93 <= share <= 0.97 for share in shares.values()), shares
