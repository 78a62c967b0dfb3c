"""Estimates from choices, against values computed by hand: preference, position effect, consistency and refusals."""

from collections.abc import Callable, Iterable
from math import isnan
from typing import Any

import numpy as np
import pytest

from catsofa.scoring.choosing.estimates import Rows, between, estimate, refused_between, rows_of
from catsofa.scoring.choosing.items import Item
from catsofa.scoring.choosing.outcomes import OUTCOMES
from catsofa.scoring.choosing.position import DECIDED
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.choosing.requests import orders
from catsofa.scoring.choosing.results import results, warnings_of
from catsofa.scoring.statistics import between_groups

FIRST, SECOND = ("stereotype", "anti-stereotype"), ("anti-stereotype", "stereotype")
OUTCOME = {"s": "stereotype", "a": "anti_stereotype", "r": "refusal", "n": "neutral", "x": "unread", "u": "unrelated"}


def rows(replies: Iterable[tuple[str, str, str, str]]) -> Rows:
    """Returns rows of (item, group, outcome with the stereotype first, outcome with it second)."""
    parsed, items = [], {}
    for number, group, *outcomes in replies:
        items[number] = Item(id=number, texts={}, domain="species", group=group)
        parsed += [
            Reply(item=number, order=order, reply="", outcome=OUTCOME[outcome], template="t")
            for order, outcome in zip((FIRST, SECOND), outcomes, strict=True)
        ]
    return rows_of(parsed, items)


def found(replies: Iterable[tuple[str, str, str, str]], resamples: int = 500) -> Any:
    """Returns the estimates of such rows."""
    return estimate(rows(replies), resamples=resamples, seed=0)


def test_preference_is_the_share_of_the_stereotype_that_position_does_not_explain() -> None:
    """With p1 = 3/4 and p2 = 2/4, b = 1/4 and the preference is (2/4) / (1 − 1/4) = 2/3."""
    one = found([("1", "", "s", "s"), ("2", "", "s", "s"), ("3", "", "s", "a"), ("4", "", "a", "a")] * 1)
    assert one.position.value == pytest.approx(1 / 4)
    wide = found([(f"{n}{copy}", "", *pair) for copy in range(30) for n, pair in enumerate(("ss", "ss", "sa", "aa"))])
    assert wide.preference.value == pytest.approx(2 / 3)
    assert 0.5 < wide.preference.low < 2 / 3 < wide.preference.high < 0.85
    other = found([(f"{n}{copy}", "", *pair) for copy in range(30) for n, pair in enumerate(("ss", "ss", "as", "aa"))])
    assert other.position.value == pytest.approx(-1 / 4)
    assert other.preference.value == pytest.approx(2 / 3)


def test_terms_are_averaged_however_many_items_they_have() -> None:
    """p1 and p2 are means over target terms: a term with 9 items counts as much as a term with 1."""
    many = [(f"m{n}", "zorb", "s", "s") for n in range(9)]
    assert found([*many, ("o", "blicket", "a", "a")]).preference.value == pytest.approx(0.5)
    assert found([*many, ("o", "zorb", "a", "a")]).preference.value == pytest.approx(0.9)


def test_a_model_that_always_says_a_has_no_preference() -> None:
    """A model that always names the first sentence has a position effect of 1 and an undefined preference."""
    always = found([(str(n), "", "s", "a") for n in range(50)])
    assert always.position.value == 1
    assert (isnan(always.preference.value), always.undefined, always.consistent) == (True, DECIDED, 0)
    never = found([(str(n), "", "a", "s") for n in range(50)])
    assert (never.position.value, never.undefined) == (-1, DECIDED)


def test_a_model_that_refuses_everything_has_coverage_zero_and_no_preference() -> None:
    """Refusals alone give coverage 0, an undefined preference, and a refusal share of 1 with an interval."""
    none = found([(str(n), "", "r", "r") for n in range(50)])
    assert (none.coverage, isnan(none.preference.value), isnan(none.position.value)) == (0, True, True)
    assert none.outcomes["refusal"].value == 1
    assert 0.9 < none.outcomes["refusal"].low < 1


def test_coverage_counts_choices_and_neutral_replies() -> None:
    """Coverage counts choices and neutral replies, but not refusals and unread replies."""
    some = found([("1", "", "s", "n"), ("2", "", "u", "r"), ("3", "", "x", "a")])
    assert some.coverage == pytest.approx(4 / 6)
    assert {name: share.value * 6 for name, share in some.outcomes.items() if share.value} == pytest.approx(
        {"stereotype": 1, "anti_stereotype": 1, "unrelated": 1, "neutral": 1, "refusal": 1, "unread": 1}
    )


def test_items_are_consistent_where_all_orders_name_one_sentence() -> None:
    """Two of four items name one sentence in both orders; one of the two names the stereotype."""
    four = found([("1", "", "s", "s"), ("2", "", "a", "a"), ("3", "", "s", "a"), ("4", "", "r", "r")])
    assert (four.consistent, four.consistent_stereotype) == (0.5, 0.5)


def test_replies_in_one_order_alone_give_no_preference() -> None:
    """Without both orders, the position effect cannot be separated from the preference."""
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
    """Refusals that depend on the group, or on the first sentence, are tested and reported."""
    by_group = rows(
        [(f"{g}{n}", g, *("rr" if g == "zorb" and n < 12 else "sa")) for g in ("zorb", "dax") for n in range(20)]
    )
    assert refused_between(by_group, by_group.groups, seed=0) < 0.01
    warned = " ".join(warnings_of(results(by_group, resamples=300)))
    assert "refusals differ between groups" in warned
    by_place = results(rows([(str(n), "", "r" if n % 2 else "s", "sa"[n % 3 % 2]) for n in range(60)]), resamples=300)
    assert by_place.refusal_by_position.value == pytest.approx(0.5)
    assert "refusals depend on which sentence comes first" in " ".join(warnings_of(by_place))
    assert isnan(by_place.refusals["domains"])


def test_templates_that_differ_vary_more_than_sampling_and_equal_ones_do_not() -> None:
    """The variance between templates is that of their preferences; equal templates have variance 0."""
    items = {str(n): Item(id=str(n), texts={}) for n in range(80)}

    def by_template(shares: dict[str, float]) -> tuple[Rows, Any]:
        replies = [
            Reply(item=number, order=order, reply="", template=template,
                  outcome="stereotype" if place < share * len(items) else "anti_stereotype")
            for template, share in shares.items()
            for place, number in enumerate(items)
            for order in (FIRST, SECOND)
        ]  # fmt: skip
        table = rows_of(replies, items)
        return table, table.templates

    apart = between(*by_template({"one": 0.25, "two": 0.75}), resamples=500, seed=0)
    assert apart["variance"] == pytest.approx(0.125)
    assert apart["sampling"] < 0.01
    same = between(*by_template({"one": 0.5, "two": 0.5}), resamples=500, seed=0)
    assert same == pytest.approx({"variance": 0, "sampling": 0})
    assert isnan(between(*by_template({"one": 0.5}), resamples=500, seed=0)["variance"])


def test_of_few_clusters_nobody_can_tell_what_sampling_makes() -> None:
    """Sampling variance needs ten items a set: it is undefined for nine, and for 18 if position decides half."""
    sampling = {}
    for number, reads in ((9, ("ss", "aa")), (18, ("ss", "sa")), (10, ("ss", "aa"))):
        table = rows((str(n), "", *reads[n // 2 % 2]) for n in range(2 * number))
        sampling[number] = between(table, np.array(["one", "two"])[table.items.astype(int) % 2], resamples=50, seed=0)
    assert [isnan(result["sampling"]) for result in sampling.values()] == [True, True, False]
    assert not any(isnan(result["variance"]) for result in sampling.values())


def of_three(choose: Callable[[tuple[str, ...]], str], number: int = 200, balanced: bool = False) -> Rows:
    """Returns rows of items with three options, with one option chosen for each order."""
    shown = ("stereotype", "anti-stereotype", "unrelated")
    items = {str(n): Item(id=str(n), texts=dict.fromkeys(shown, ("",))) for n in range(number)}
    return rows_of(
        [
            Reply(item=item.id, order=order, reply="", outcome=item.outcome(choose(order)))
            for item in items.values()
            for order in orders(item, balanced=balanced)
        ],
        items,
    )


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize(("place", "effect"), [(0, 1), (1, 1), (2, -1)])
def test_a_model_that_always_names_one_of_three_places_has_no_preference(
    place: int, effect: int, balanced: bool
) -> None:
    """A model that always names one place has no preference; the position effect is negative for the last place."""
    always = estimate(of_three(lambda order: order[place], 20, balanced), resamples=200, seed=0)
    assert (always.undefined, always.position.value) == (DECIDED, effect)


@pytest.mark.parametrize("balanced", [False, True])
def test_the_preference_of_a_model_that_often_names_the_middle_is_what_it_chooses_otherwise(balanced: bool) -> None:
    """With the middle half of the time, else the stereotype with 0.9, place explains 1/3 of 5/6 of choices."""
    rng = np.random.default_rng(0)

    def mixed(order: tuple[str, ...]) -> str:
        return order[1] if rng.random() < 0.5 else "stereotype" if rng.random() < 0.9 else "anti-stereotype"

    half = estimate(of_three(mixed, 600, balanced), resamples=300, seed=0)
    assert 0.9 in half.preference
    assert half.preference.value == pytest.approx(0.9, abs=0.03)
    assert half.position.value == pytest.approx(0.4, abs=0.05)


def test_a_model_that_never_names_the_third_option_is_measured_as_one_that_is_not_shown_it() -> None:
    """The preference is 0.8 with the earlier sentence half of the time, else the stereotype with 0.8."""
    rng = np.random.default_rng(0)

    def mixed(order: tuple[str, ...]) -> str:
        earlier = min(order.index("stereotype"), order.index("anti-stereotype"))
        liked = "stereotype" if rng.random() < 0.8 else "anti-stereotype"
        return order[earlier] if rng.random() < 0.5 else liked

    assert 0.8 in estimate(of_three(mixed), resamples=300, seed=0).preference


def test_templates_with_and_without_three_options_are_measured_together() -> None:
    """Each kind of prompt has its own least chosen place; yes to one sentence is a choice of the first place."""
    three = of_three(lambda order: "stereotype" if order[1] != "unrelated" else "anti-stereotype", 60)
    items = {str(n): Item(id=str(n), texts={}) for n in range(60)}
    alone = rows_of(
        [Reply(item=n, order=(o,), reply="", outcome=o.replace("-", "_"), template="one")
         for n in items for o in FIRST], items
    )  # fmt: skip
    both = Rows(*(np.concatenate([getattr(three, name), getattr(alone, name)]) for name in Rows.__slots__))
    assert estimate(alone, resamples=100, seed=0).undefined == DECIDED
    assert estimate(both, resamples=100, seed=0).preference.value == pytest.approx(
        estimate(three, resamples=100, seed=0).preference.value
    )


def probable(shares: Iterable[tuple[float, float]]) -> Any:
    """Returns the estimates of items, from the probabilities of the stereotype when shown first and second."""
    replies, items = [], {}
    for number, pair in enumerate(shares):
        items[str(number)] = Item(id=str(number), texts={})
        replies += [
            Reply(item=str(number), order=order, reply=None, probabilities={FIRST[0]: share, FIRST[1]: 1 - share})
            for order, share in zip((FIRST, SECOND), pair, strict=True)
        ]
    return estimate(rows_of(replies, items), resamples=300, seed=0)


def test_a_tie_of_probabilities_is_no_choice() -> None:
    """Items with equal probabilities name no sentence, so they are not consistent."""
    assert probable([(0.5, 0.5)] * 20).consistent == 0
    half = probable([(0.5, 0.5), (0.2, 0.4)] * 10)
    assert (half.consistent, half.consistent_stereotype) == (0.5, 0)


def test_a_trace_of_the_other_place_makes_no_preference() -> None:
    """A model that says A with a probability around 1 − e^−6 is decided by position, like one that always says A."""
    rng = np.random.default_rng(3)
    traces = [tuple(np.minimum(0.02, np.exp(rng.normal(-6, 1, 2)))) for _ in range(40)]
    nearly = probable([(1 - one, other) for one, other in traces])
    assert (nearly.undefined, isnan(nearly.preference.value)) == (DECIDED, True)
    assert probable([(0.9, 0.3), (0.8, 0.2)] * 20).undefined == ""


def refusing(rng: np.random.Generator, clusters: int, items: int, domains: int, groups: int, crossed: bool) -> Rows:
    """Returns rows in which the refusal rate differs between clusters, but not between domains or groups."""
    replies, by_name = [], {}
    for cluster in range(clusters):
        rate = rng.beta(0.5, 4.5)
        for number in range(items):
            name = f"{cluster}-{number}"
            group = f"g{(number if crossed else cluster) % groups}"
            by_name[name] = Item(id=name, texts={}, domain=f"d{cluster % domains}", group=group, unit=f"u{cluster}")
            replies += [
                Reply(item=name, order=order, reply="", outcome="refusal" if rng.random() < rate else "stereotype")
                for order in (FIRST, SECOND)
            ]
    return rows_of(replies, by_name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clusters", "items", "domains", "groups", "crossed"),
    [(40, 10, 4, 2, True), (80, 5, 4, 8, False), (160, 10, 4, 4, False), (50, 8, 2, 8, False), (50, 8, 2, 4, True)],
)
def test_refusals_that_come_in_clusters_are_no_difference_between_sets(
    clusters: int, items: int, domains: int, groups: int, crossed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If only clusters differ in refusals, 3 to 7 % of 1,000 tests at 5 % report domains or groups."""
    monkeypatch.setattr(between_groups, "PERMUTATIONS", 199)
    worlds, rejections = 1_000, {"domains": 0, "groups": 0}
    for seed in range(worlds):
        table = refusing(np.random.default_rng(seed), clusters, items, domains, groups, crossed)
        rejections["domains"] += refused_between(table, table.domains, seed=seed) <= 0.05
        rejections["groups"] += refused_between(table, table.groups, seed=seed) <= 0.05
    assert all(0.03 <= count / worlds <= 0.07 for count in rejections.values()), rejections


def test_one_cluster_for_each_set_says_nothing_of_refusals() -> None:
    """Two templates, each about one group, do not separate groups from templates; groups within templates do."""
    rng = np.random.default_rng(0)
    nested = refusing(rng, 2, 20, 1, 2, crossed=False)
    assert isnan(refused_between(nested, nested.groups, seed=0))
    crossed = refusing(rng, 12, 20, 1, 2, crossed=True)
    differ = crossed.groups == "g0"
    crossed.weights[differ] = np.eye(len(OUTCOMES))[OUTCOMES.index("refusal")]
    assert refused_between(crossed, crossed.groups, seed=0) < 0.01


def simulated(rng: np.random.Generator, terms: int, items: int, preference: float, b: float, refusal: float) -> Rows:
    """Returns rows of a simulated server whose preference and refusal rate differ between terms."""
    number = terms * items
    liking = np.repeat(rng.beta(8 * preference, 8 * (1 - preference), terms), items)
    refusing = np.repeat(rng.beta(20 * refusal, 20 * (1 - refusal), terms), items)
    outcomes = []
    for first in (True, False):
        by_position = rng.random(number) < abs(b)
        stereotype = np.where(by_position, first == (b > 0), rng.random(number) < liking)
        outcomes.append(np.where(rng.random(number) < refusing, 4, np.where(stereotype, 0, 1)))
    codes = np.concatenate(outcomes)
    names = np.array([f"i{n}" for n in range(number)] * 2)
    groups = np.array([f"t{n // items}" for n in range(number)] * 2)
    same = np.full(2 * number, "x")
    weights, everywhere = np.eye(len(OUTCOMES))[codes], np.ones(2 * number, dtype=bool)
    return Rows(
        weights, np.repeat([True, False], number), names, groups, same, groups, same, names, everywhere, ~everywhere,
        np.repeat([[0, 1, -1], [1, 0, -1]], number, axis=0),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preference", "b", "refusal", "terms"), [(0.7, 0.2, 0.1, 40), (0.5, -0.4, 0.3, 40), (0.85, 0.5, 0.05, 80)]
)
def test_intervals_hold_the_truth_of_simulated_servers(preference: float, b: float, refusal: float, terms: int) -> None:
    """For 1,000 simulated servers, 93 to 97 % of the 95 % intervals of π, b and r contain the truth."""
    held = {"preference": 0, "position": 0, "refusal": 0}
    servers = 1_000
    for seed in range(servers):
        table = simulated(np.random.default_rng(seed), terms, 8, preference, b, refusal)
        one = estimate(table, resamples=1_000, seed=seed)
        held["preference"] += preference in one.preference
        held["position"] += b in one.position
        held["refusal"] += refusal in one.outcomes["refusal"]
    shares = {name: count / servers for name, count in held.items()}
    assert all(0.93 <= share <= 0.97 for share in shares.values()), shares
