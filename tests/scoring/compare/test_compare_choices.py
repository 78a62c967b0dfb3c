"""Comparison of chat models: paired changes over the requests that both decide."""

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.choice_runs import Said, association, pairs, questions, run

from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Probe
from catsofa.scoring.choosing.estimates import choice_columns, rows_of
from catsofa.scoring.choosing.items import items_from
from catsofa.scoring.choosing.position import SHARE
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.compare.choosing import compare_choices
from catsofa.scoring.statistics.changes import paired_changes

FIRST, SECOND = ["stereotype", "anti-stereotype"], ["anti-stereotype", "stereotype"]


def every(number: int) -> Said:
    """Returns a model that names the anti-stereotype of every pair whose number is a multiple of `number`."""
    return lambda item, order: FIRST[int(item.id[1:]) % number == 0]


def test_a_change_of_preference_is_paired_over_the_requests_that_both_decide(tmp_path: Path) -> None:
    """0.75 and 0.5 of 40 pairs become 29/36 and 19/36, without the four pairs that the second model refuses."""
    half = every(2)
    one = run(tmp_path / "one", pairs(), every(4))
    other = run(
        tmp_path / "other",
        pairs(),
        lambda item, order: "" if item.id in ("p0", "p4", "p8", "p3") else half(item, order),
    )
    comparison = compare_choices([one, other], tmp_path / "data.jsonl")
    preference, position = comparison.differences
    assert (comparison.items, comparison.whole, comparison.kind) == (80, 80, "requests")
    assert preference.first == pytest.approx(29 / 36)
    assert preference.other == pytest.approx(19 / 36)
    assert preference.decided == pytest.approx(0.9)
    assert preference.change.by.value == pytest.approx(-10 / 36)
    assert preference.change.by.high < 0
    assert preference.change.p < preference.holm < 0.01
    assert (position.measure, position.change.by.value) == ("position", 0)
    (share,) = comparison.disagreement.values()
    assert share.value == pytest.approx(100 * 10 / 36)


def test_a_model_that_always_names_the_first_has_no_change_of_preference(tmp_path: Path) -> None:
    """The position effect rises by 1; the change of preference is undefined, and a warning says so."""
    runs = [run(tmp_path / "one", pairs(), every(4)), run(tmp_path / "other", pairs(), lambda item, order: order[0])]
    comparison = compare_choices(runs, tmp_path / "data.jsonl")
    preference, position = comparison.differences
    assert isnan(preference.change.by.value)
    assert isnan(preference.first)
    assert position.change.by.value == 1
    assert "the change of preference is undefined" in comparison.warnings[0]


def test_runs_of_other_questions_and_of_one_model_are_refused(tmp_path: Path) -> None:
    """Another template, a neutral option, other labels, other data and the same replies are refused."""
    one = run(tmp_path / "one", pairs(), every(4))
    for name, how, message in (
        ("plain", {"template": "plain"}, "other templates"),
        ("neutral", {"neutral": True}, "other protocol"),
        ("numbers", {"labels": "numbers"}, "other labels"),
    ):
        other = run(tmp_path / name, pairs(), lambda item, order: order[0], **how)
        with pytest.raises(BadInput, match=message):
            compare_choices([one, other], tmp_path / "data.jsonl")
    other = run(tmp_path / "fewer", pairs(39), every(3))
    with pytest.raises(BadInput, match="other data"):
        compare_choices([one, other], tmp_path / "data.jsonl")
    jsonl.write(pairs(), tmp_path / "data.jsonl")
    with pytest.raises(ValueError, match="two models"):
        compare_choices([one, one], tmp_path / "data.jsonl")


def test_the_association_of_each_test_is_compared(tmp_path: Path) -> None:
    """A model that follows the test has bias 1; one that gives X all words has 0, or 0.5 for decisions."""
    test = [association(8)]
    for second, values in ((False, (1, 0)), (True, (1, 0.5))):
        runs = [
            run(tmp_path / f"one{second}", test, lambda item, order: "stereotype", second=second, template="w"),
            run(
                tmp_path / f"other{second}",
                test,
                lambda i, o: FIRST[i.group.startswith("B")],
                second=second,
                template="w",
            ),
        ]
        (bias,) = compare_choices(runs, tmp_path / "data.jsonl").differences
        assert bias.measure == "bias of tidy"
        assert (bias.first, bias.other) == pytest.approx(values)


def test_of_which_identity_fits_the_position_alone_is_compared(tmp_path: Path) -> None:
    """Only position is compared, because a random draw decides which of two identities counts as the stereotype."""
    probes = [Probe(category="c", identity=who, stereotype=f"lose {n}") for who in ("zorbs", "mimps") for n in range(9)]
    runs = [
        run(tmp_path / "one", probes, lambda item, order: order[0], second=True),
        run(tmp_path / "other", probes, lambda item, order: order[1], second=True),
    ]
    (position,) = compare_choices(runs, tmp_path / "data.jsonl").differences
    assert (position.measure, position.first, position.other) == ("position", 1, -1)


def test_bias_and_accuracy_of_answers_are_compared_over_templates(tmp_path: Path) -> None:
    """One model is always right; the other names the zorb in three of four ambiguous contexts."""

    def right(item: Any, order: Sequence[str]) -> str:
        return f"ans{item.record.correct}"

    def biased(item: Any, order: Sequence[str]) -> str:
        number = int(item.record.template) % 4
        return right(item, order) if item.record.condition == "disambig" else ("ans0", "ans0", "ans0", "ans2")[number]

    sample = questions()
    runs = [
        run(tmp_path / "one", sample, right, template="question"),
        run(tmp_path / "other", sample, biased, template="question"),
    ]
    changes = {each.measure: each for each in compare_choices(runs, tmp_path / "data.jsonl").differences}
    assert (changes["acc_amb"].first, changes["acc_amb"].other) == (1, 0.25)
    assert (changes["s_amb"].first, changes["s_amb"].other) == (0, 0.75)
    assert changes["s_amb"].change.by.high > changes["s_amb"].change.by.low > 0
    assert changes["acc_dis"].change.by.value == 0
    assert changes["s_dis"].change.by.value == 0
    assert isnan(changes["preference"].change.by.value)


@pytest.mark.slow
def test_changes_between_simulated_models_hold_the_truth() -> None:
    """With preferences 0.7 and 0.55 and position effects 0.2 and −0.1, 92 to 98 % of 200 intervals contain −0.15."""
    items = {item.id: item for item in items_from(pairs(150))}
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        columns = []
        for preference, effect in ((0.7, 0.2), (0.55, -0.1)):
            replies = []
            for item in items.values():
                for order in (FIRST, SECOND):
                    fixed = order[0] if effect > 0 else order[1]
                    chosen = fixed if rng.random() < abs(effect) else FIRST[int(rng.random() > preference)]
                    replies.append(Reply(item=item.id, order=tuple(order), reply="", outcome=item.outcome(chosen)))
            rows = rows_of(replies, items)
            columns.append(choice_columns(rows, rows.clusters))
        change = paired_changes(columns[0], columns[1], {"p": SHARE}, resamples=1000, seed=seed)["p"]
        held += -0.15 in change.by
    assert 0.92 <= held / 200 <= 0.98, held
