"""Tests decisions: which judgements count, and what they decide."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.records import a_cat

from catsofa.data import formats
from catsofa.data.records import LABELS, Annotation, Cat
from catsofa.validation.annotation_files import CHOSEN, NO_TYPE, collect, onto
from catsofa.validation.decide.confirmed import confirm
from catsofa.validation.decide.votes import compare, decide, decide_by_posterior, vote
from catsofa.validation.judgements import Rule, count


def said(item: str, *labels: str, people: str = "abcdefgh", **extra: object) -> list[Annotation]:
    """Returns one annotation per label, each by the next person."""
    return [
        Annotation(item=item, annotator=person, label=label, extra=extra)
        for person, label in zip(people, labels, strict=False)
    ]


def reasons(annotations: list[Annotation], rule: Rule) -> dict[str, str]:
    """Returns the reason for each judgement that did not count, by annotator."""
    return {a.annotator: a.extra["set_aside"] for a in count(annotations, rule).set_aside}


@pytest.mark.parametrize(
    ("labels", "label", "outcome"),
    [
        ("xxxyy", "x", "decided"),
        ("xxyyz", None, "split"),
        ("xxyy", None, "short"),
        ("xxx", "x", "decided"),
        ("", None, "short"),
    ],
)
def test_three_of_five_decide(labels: str, label: str | None, outcome: str) -> None:
    """A label needs three votes. Five judges without such a label are split; fewer are short."""
    decision = decide("i", list(labels), Rule())
    assert (decision.label, decision.outcome) == (label, outcome)


def test_a_tie_is_never_resolved() -> None:
    """Two labels with equal votes tie, however few votes are needed; crowd-kit would take the first."""
    decision = decide("i", ["x", "x", "y", "y"], Rule(need=2))
    assert (decision.label, decision.outcome, decision.reason) == (None, "tie", "tie: 2 x, 2 y")


def test_a_judge_may_name_several_labels() -> None:
    """`x|y` is one judge's vote for each of x and y."""
    assert decide("i", ["x|y", "x", "x", "y", "z"], Rule()).votes == {"x": 3, "y": 2, "z": 1}


def test_only_the_first_five_count_in_the_order_of_their_times() -> None:
    """A sixth judgement is set aside; times, not the file's order, determine which is the sixth."""
    late = [replace(a, at=f"2024-05-01T12:0{9 - n}:00Z") for n, a in enumerate(said("i", "x", "x", "x", "y", "y", "y"))]
    assert vote(late).decisions["i"].label == "y"
    assert reasons(late, Rule()) == {"a": "after the first 5"}
    assert vote([replace(a, at="") for a in late]).decisions["i"].label == "x"


def test_where_more_people_were_asked_as_many_count() -> None:
    """With two more people asked, seven judgements count at that item and five elsewhere; `need` stays the same."""
    split = said("i", *"xxxyyxx", asked=7)
    annotations = [*split, *said("j", *"xxxxxyy")]
    votes = vote(annotations, Rule(need=4))
    assert votes.decisions["i"].votes == {"x": 5, "y": 2}
    assert votes.decisions["j"].votes == {"x": 5}
    assert vote(split[:6], Rule(need=5)).decisions["i"].outcome == "short"
    assert vote(split, Rule(need=5)).decisions["i"].label == "x"
    assert vote([replace(a, extra={"asked": "7"}) for a in split], Rule(need=5)).decisions["i"].label == "x"
    with pytest.raises(ValueError, match="give a number"):
        vote([replace(a, extra={"asked": "two more"}) for a in split])


def test_times_with_and_without_a_zone_compare_as_utc() -> None:
    """12:30 at +02:00 is before 11:00 UTC, so that judgement is among the first."""
    times = ["2024-05-01T12:30:00+02:00", *["2024-05-01T11:00:00"] * 5]
    annotations = [replace(a, at=time) for a, time in zip(said("i", *"yxxxxx"), reversed(times), strict=True)]
    assert reasons(annotations, Rule()) == {"e": "after the first 5"}


def test_a_time_that_is_none_is_refused() -> None:
    """If times decide, an invalid time is an error that names the item."""
    annotations = [replace(a, at="yesterday") for a in said("i", *"xxxxxx")]
    with pytest.raises(ValueError, match=r"'i'.*'yesterday'"):
        vote(annotations)


def test_what_does_not_count_is_set_aside_with_its_reason() -> None:
    """Skipped, empty, unknown and invalid answers and the writer's own are set aside with their reasons."""
    annotations = [
        Annotation(item="i", annotator="a", label="x", extra={"skipped": "True"}),
        Annotation(item="i", annotator="b", label=""),
        Annotation(item="i", annotator="c", label="q"),
        Annotation(item="i", annotator="d", label="x", extra={"writer": "d"}),
        Annotation(item="i", annotator="e", label="x", extra={"writer": "d", "skipped": "false"}),
        Annotation(item="i", annotator="f", label="x", extra={"invalid": "two answers to one question"}),
    ]
    rule = Rule(labels=("x", "y"))
    assert reasons(annotations, rule) == {
        "a": "skipped",
        "b": "no answer",
        "c": "unknown label",
        "d": "by the writer",
        "f": "invalid",
    }
    assert vote(annotations, rule).decisions["i"].votes == {"x": 1}
    assert vote(annotations, replace(rule, writer_counts=True)).decisions["i"].votes == {"x": 2}


def test_people_who_fail_gold_do_not_count_and_gold_items_are_no_items() -> None:
    """One of two attention items right is below three quarters, so the person's votes are set aside. Gold items are not
    decided."""
    gold = [
        Annotation(item=item, annotator=person, label=label, extra={"gold": "x"})
        for item, person, label in [("g", "a", "x"), ("g", "b", "x"), ("h", "a", "x"), ("h", "b", "y")]
    ]
    votes = vote([*said("i", "x", "y", "x"), *gold])
    assert list(votes.decisions) == ["i"]
    assert votes.decisions["i"].votes == {"x": 2}
    assert votes.set_aside == {"gold item": 4, "fails gold": 1}
    assert {name: (r.right, r.answered, r.passed) for name, r in votes.counted.gold.items()} == {
        "a": (2, 2, True),
        "b": (1, 2, False),
    }


def test_one_person_is_one_vote() -> None:
    """Repeated answers of one person count once."""
    votes = vote(said("i", "x", "x", "x", "y", people="aaab"))
    assert votes.decisions["i"].votes == {"x": 1, "y": 1}
    assert votes.set_aside == {"repeat": 2}


def test_a_repeat_takes_only_the_last_seat_and_only_if_nobody_else_does() -> None:
    """As in the released StereoSet, four people and a repeat make five. The item is reported, and repeats can be
    dropped."""
    answers = said("i", "x", "y", "x", "y", "x", people="abcda")
    votes = vote(answers)
    assert (votes.decisions["i"].label, votes.hang_on_repeats) == ("x", ["i"])
    strict = vote(answers, Rule(repeats="drop"))
    assert strict.decisions["i"].outcome == "short"
    assert strict.set_aside == {"repeat": 1}
    assert vote([*answers, *said("i", "y", people="e")]).decisions["i"].label == "y"


def cat(name: str, votes: dict[str, str], **source: str) -> Cat:
    """Returns a CAT about an invented group; `votes` has one letter (s, a, u) per judge for each written label."""
    letters = {"s": "stereotype", "a": "anti-stereotype", "u": "unrelated"}
    cast = {
        written_label: tuple(said(f"{name}-{written_label}", *[letters[one] for one in codes]))
        for written_label, codes in votes.items()
    }
    return a_cat("The zorb is BLANK.", *LABELS, id=name, ids=f"{name}-", votes=cast, source=source)


def test_a_cat_is_kept_when_all_three_are_decided_as_a_permutation() -> None:
    """Protocol 19: each candidate needs three votes for a label, and the three labels must be one of each."""
    good = cat("good", {"stereotype": "sssaa", "anti-stereotype": "aaaau", "unrelated": "uuuuu"})
    split = cat("split", {"stereotype": "ssaau", "anti-stereotype": "aaaaa", "unrelated": "uuuuu"})
    twice = cat("twice", {"stereotype": "sssss", "anti-stereotype": "sssaa", "unrelated": "uuuuu"})
    confirmed = confirm(collect([good, split, twice]))
    assert [record.id for record in confirmed.kept] == ["good"]
    assert {refusal.id: refusal.reason for refusal in confirmed.refused} == {
        "split": "split: 2 stereotype, 2 anti-stereotype, 1 unrelated",
        "twice": "not one of each label: stereotype, stereotype, unrelated",
    }
    assert not confirm(collect([good]), Rule(need=4)).kept


def test_people_may_turn_a_cat_round() -> None:
    """If people swap stereotype and anti-stereotype, the CAT is kept with their labels and a note."""
    turned = cat("turned", {"stereotype": "aaaas", "anti-stereotype": "sssss", "unrelated": "uuuuu"})
    (record,) = confirm(collect([turned])).kept
    assert record["stereotype"].id == "turned-anti-stereotype"
    assert record["stereotype"].extra["written_as"] == "anti-stereotype"
    assert "written_as" not in record["unrelated"].extra


def test_the_writer_can_be_the_fifth_vote() -> None:
    """In the data statement's reading, one writer and four validators, two of four votes and the writer make three."""
    four = cat("four", {"stereotype": "ssau", "anti-stereotype": "aaaa", "unrelated": "uuuu"})
    assert not confirm(collect([four])).kept
    assert confirm(collect([four]), Rule(writer_counts=True)).kept


def test_a_judgement_of_a_cat_must_be_complete() -> None:
    """A person who answered two of the three associations counts for none of them."""
    rows = [a for item in ("p", "q", "r") for a in said(item, "x", "x", "x", cat="one")]
    votes = confirm(collect(rows[:-1])).votes
    assert votes.set_aside == {"incomplete": 2}
    assert votes.decisions["p"].votes == {"x": 2}


def test_items_of_one_cat_stand_or_fall_together() -> None:
    """With a column that names the CAT, only the items of confirmed CATs are confirmed."""
    rows = [
        a
        for name in ("one", "two")
        for label in LABELS
        for a in said(f"{name}-{label}", *[LABELS[0] if name == "two" else label] * 5, cluster=name)
    ]
    confirmed = confirm(collect(rows, "cluster"))
    assert sorted(record.item for record in confirmed.decided()) == sorted(f"one-{label}" for label in LABELS)
    assert [refusal.id for refusal in confirmed.not_decided()] == ["two"]
    with pytest.raises(ValueError, match="no 'nowhere'"):
        collect(rows, "nowhere")


def test_annotations_are_put_on_the_cats_they_judge() -> None:
    """Annotations that name associations confirm the CATs of another file. Gold items are accepted, unknown items are
    refused."""
    judged = cat("one", {"stereotype": "sssss", "anti-stereotype": "aaaaa", "unrelated": "uuuuu"})
    rows = collect([judged]).annotations
    bare = [replace(row, extra={}) for row in rows]
    blank = replace(judged, candidates=tuple(replace(c, votes=()) for c in judged.candidates))
    gold = Annotation(item="g", annotator="a", label="x", extra={"gold": "y"})
    confirmed = confirm(onto([blank], collect([*bare, gold])))
    assert confirmed.votes.set_aside == {"gold item": 1, "fails gold": 3}
    assert [record.id for record in confirmed.kept] == ["one"]
    with pytest.raises(ValueError, match="judged 'strange'"):
        onto([blank], collect([Annotation(item="strange", annotator="a", label="x")]))


def test_dawid_skene_stands_beside_the_votes() -> None:
    """With two reliable people against three who always say x, the votes say x, and Dawid-Skene follows the two."""
    truth = {f"i{n}": "xyz"[n % 3] for n in range(60)}
    rows = [a for item, right in truth.items() for a in said(item, right, right, "x", "x", "x")]
    votes = vote(rows)
    assert votes.decisions["i1"].label == "x"
    compared = compare(votes)
    assert compared is not None
    assert compared.differs == {item: right for item, right in truth.items() if right != "x"}
    assert {item: d.label for item, d in decide_by_posterior(votes).decisions.items()} == truth
    by_posterior = confirm(collect(rows), posterior=0.9).decided()
    assert {(a.item, a.annotator, a.label) for a in by_posterior} == {(i, "dawid-skene", x) for i, x in truth.items()}


def test_dawid_skene_is_estimated_for_each_question_apart() -> None:
    """Different people are reliable for each question; with one model per question, all items are decided rightly."""
    rows = []
    for n in range(60):
        fact, hurt = "xyz"[n % 3], "uvw"[n % 3]
        rows += said(f"i{n}/fact", fact, fact, "x", "x", "x", question="fact", of=f"i{n}")
        rows += said(f"i{n}/hurt", "u", "u", "u", hurt, hurt, question="hurt", of=f"i{n}")
    truth = {f"i{n}/{q}": labels[n % 3] for n in range(60) for q, labels in (("fact", "xyz"), ("hurt", "uvw"))}
    votes = vote(rows)
    assert {item: each.label for item, each in decide_by_posterior(votes).decisions.items()} == truth
    compared = compare(votes)
    assert compared is not None
    assert compared.differs == {item: right for item, right in truth.items() if right not in "xu"}


def test_no_posterior_depends_on_another_question() -> None:
    """A second question does not change the first one's posteriors."""
    rng = random.Random(1)
    first = [a for n in range(30) for a in said(f"f{n}", *rng.choices("xyz", k=5), question="f", of=f"i{n}")]
    other = [a for n in range(30) for a in said(f"o{n}", *rng.choices("uvwt", k=5), question="o", of=f"i{n}")]
    alone, both = (decide_by_posterior(vote(rows)).decisions for rows in (first, [*first, *other]))
    assert {item: both[item].label for item in alone} == {item: each.label for item, each in alone.items()}


def test_nothing_counted_is_nothing_to_compare() -> None:
    """If every answer was skipped, there is no estimate."""
    assert compare(vote(said("i", "x", skipped=True))) is None


@pytest.mark.parametrize(("need", "of"), [(0, 5), (6, 5)])
def test_a_rule_that_cannot_be_is_refused(need: int, of: int) -> None:
    """More votes needed than judges, or no votes needed, is refused."""
    with pytest.raises(ValueError, match=f"{need} of {of}"):
        Rule(need=need, of=of)


def test_stereoset_gold_is_three_of_five(shared: Path) -> None:
    """On 45,270 released labels, the rule gives 9,054 of 9,054 gold labels and 3,018 of 3,018 CATs."""
    collected = collect(formats.read(shared / "data/stereoset/annotations_long.csv"), "cluster_id")
    confirmed = confirm(collected)
    gold = {a.item: a.extra["gold_label"] for a in collected.annotations}
    assert {item: d.label for item, d in confirmed.votes.decisions.items()} == gold
    assert (len(gold), len(confirmed.cats), len(confirmed.refused)) == (9054, 3018, 0)


def test_stereoset_counted_some_people_twice(shared: Path) -> None:
    """In 72 CATs (216 sentences) one worker labelled twice, and 19 gold labels depend on it."""
    collected = collect(formats.read(shared / "data/stereoset/annotations_long.csv"))
    counted_twice = vote(collected.annotations)
    assert (len(counted_twice.counted.repeats), len(counted_twice.hang_on_repeats)) == (216, 19)
    strict = vote(collected.annotations, Rule(repeats="drop"))
    assert strict.set_aside == {"repeat": 216}
    assert Counter(d.outcome for d in strict.decisions.values()) == {"decided": 9035, "short": 19}
    gold = {a.item: a.extra["gold_label"] for a in collected.annotations}
    assert all(d.label == gold[item] for item, d in strict.decisions.items() if d.label)


def test_crows_pairs_votes_for_the_gold_type(shared: Path) -> None:
    """In 1,508 pairs with five annotators, the gold type has 5, 4, 3, 2, 1, 0 votes in 631, 478, 237, 121, 31, 10."""
    collected = collect(formats.read(shared / "data/crows/crows_pairs_anonymized.csv"))
    chosen = Counter(a.item for a in collected.agreed_on() if a.label == CHOSEN)
    votes = Counter(chosen[pair.id] for pair in collected.pairs)
    assert votes == {5: 631, 4: 478, 3: 237, 2: 121, 1: 31, 0: 10}
    decided = confirm(collected).votes
    assert sum(decided.decisions[pair.id].label == pair.bias_type for pair in collected.pairs) == 631 + 478 + 237
    assert decided.labels[NO_TYPE] == 30
