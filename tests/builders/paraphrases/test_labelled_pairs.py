"""Tests the meaning gate on labelled pairs: how many pass, are refused or go to people."""

import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from catsofa.builders.paraphrases.meaning import alarms, find_target
from catsofa.builders.paraphrases.replies import parse
from catsofa.builders.similarity import Cut, Pair, Placed, Similarity, place
from catsofa.data.files import json_files
from catsofa.data.formats import stereoset
from catsofa.data.records import LABELS, Candidate, Cat

DATA = Path(__file__).parents[1] / "data"
FILLS = tuple(Candidate(id=f"a-{label}", text="x", label=label, fill="x") for label in LABELS)
PAIRS = tomllib.loads((DATA / "meaning_pairs.toml").read_text("utf-8"))


def outcomes(half: int) -> dict[str, Counter[str]]:
    """Returns the outcomes of each class of labelled pairs, for the tuning half (0) or the other (1)."""
    by_class: dict[str, Counter[str]] = {}
    for name, context, sentence, target in pairs(half):
        match = find_target(sentence, context, target, "derived")
        review = match.alarm or alarms(sentence, context, target)
        outcome = "refused" if match.lost else "review" if review else "accepted"
        by_class.setdefault(name, Counter())[outcome] += 1
    return by_class


def pairs(half: int) -> Iterator[tuple[str, str, str, str]]:
    """Yields each pair: class, original, sentence, target."""
    for about in PAIRS["contexts"][half::2]:
        for name in (*PAIRS["keeps"], *PAIRS["changes"]):
            for sentence in [about[name]] if isinstance(about[name], str) else about[name]:
                yield name, about["original"], sentence, about["target"]


@pytest.mark.parametrize("half", [0, 1])
def test_of_the_labelled_pairs_hardly_one_that_changes_the_meaning_passes(half: int) -> None:
    """At most 3 % of changed pairs and one per class pass. No true paraphrase is refused, and at most 35 % are
    queued."""
    by_class = outcomes(half)
    changed = sum((by_class[name] for name in PAIRS["changes"]), Counter[str]())
    assert changed["accepted"] / changed.total() <= 0.03
    assert all(by_class[name]["accepted"] <= 1 for name in PAIRS["changes"])
    keeping = sum((by_class[name] for name in PAIRS["keeps"]), Counter[str]())
    assert keeping["refused"] == 0
    assert keeping["review"] / keeping.total() <= 0.35


def test_over_both_halves_no_class_passes_in_more_than_six_of_a_hundred_pairs() -> None:
    """Over both halves, 459 pairs with 307 changed ones, at most 6 % of a class pass."""
    both = {name: sum((half[name] for half in map(outcomes, (0, 1))), Counter[str]()) for name in PAIRS["changes"]}
    assert sum(one.total() for one in both.values()) == 307
    assert all(one["accepted"] / one.total() <= 0.06 for one in both.values()), both


def test_with_a_model_of_inference_that_is_right_one_true_paraphrase_in_twelve_goes_to_people() -> None:
    """With a correct inference model, 12 of 152 go to review; 10 more that it misses make the 22 that are 15 %. None of
    the 307 changed pairs is accepted."""
    went = {True: Counter[str](), False: Counter[str]()}
    for half in (0, 1):
        for name, context, sentence, target in pairs(half):
            match, keeps = find_target(sentence, context, target, "derived"), name in PAIRS["keeps"]
            raised = [*filter(None, [match.alarm]), *alarms(sentence, context, target)]
            one = Cat(id="a", kind="intrasentence", bias_type="x", target=target, context=context, candidates=FILLS)
            noted = replace(one, context=sentence, extra={"alarms": [alarm._asdict() for alarm in raised]})
            reads = Similarity(mean=0.9, least=0.9, chrf=40, entailment=float(keeps), contradiction=0.0)
            (placed,) = place([(Pair(1, noted, one), reads)], Cut(), "right")
            assert isinstance(placed, Placed)
            went[keeps]["refused" if match.lost else placed.queue] += 1
    assert went[True] == {"partition": 140, "review": 12}
    assert went[False] == {"review": 265, "refused": 42}


def test_two_labellers_agree_on_what_keeps_its_meaning() -> None:
    """Cohen's kappa is 0.985. Each pair with different labels has the class of one of the two labellers."""
    classes = {sentence: name for half in (0, 1) for name, _, sentence, _ in pairs(half)}
    keep = {name: name in PAIRS["keeps"] for name in (*PAIRS["keeps"], *PAIRS["changes"])}
    labels = {sentence: [name, name] for sentence, name in classes.items()}
    for one in PAIRS["differed"]:
        assert classes[one["sentence"]] in (one["first"], one["second"])
        labels[one["sentence"]] = [one["first"], one["second"]]
    both = [[keep[first], keep[second]] for first, second in labels.values()]
    assert len(both) == 459
    assert cohens_kappa(to_table(both)[0]).kappa == pytest.approx(0.985, abs=0.0005)


def counted(file: str, contexts: slice = slice(None)) -> tuple[Counter[str], Counter[str]]:
    """Returns the outcomes of the changed and of the unchanged pairs in a file of blind pairs."""
    changed, unchanged = Counter[str](), Counter[str]()
    no_class = {"set", "author", "style", "target", "fillers", "original", "keeps", "target_synonym"}
    for about in tomllib.loads((DATA / file).read_text("utf-8"))["contexts"][contexts]:
        sentences = dict.fromkeys([*about["keeps"], *about.get("target_synonym", ())], True)
        classes = about.keys() - no_class
        for sentence, keeps in (sentences | {about[name]: False for name in classes}).items():
            match = find_target(sentence, about["original"], about["target"], "derived")
            review = match.alarm or alarms(sentence, about["original"], about["target"])
            (unchanged if keeps else changed)["refused" if match.lost else "review" if review else "accepted"] += 1
    return changed, unchanged


def test_of_the_half_of_the_blind_pairs_that_made_the_rules_no_changed_one_passes() -> None:
    """Of 144 pairs, none of the 96 changed ones passes, including antonyms and swapped roles."""
    changed, unchanged = counted("fresh_pairs.toml")
    assert (changed.total(), changed["accepted"]) == (96, 0)
    assert (unchanged.total(), unchanged["refused"]) == (48, 0)
    assert unchanged["review"] <= 14


def test_of_the_pairs_that_tuned_hedges_opposites_and_roles_two_pass() -> None:
    """Two of 84 changed pairs pass: *could push*, and *hid from* for *told*. None of 34 unchanged ones is refused."""
    changed, unchanged = counted("tuning_pairs.toml")
    assert (changed.total(), changed["accepted"]) == (84, 2)
    assert (unchanged.total(), unchanged["refused"]) == (34, 0)
    assert unchanged["review"] <= 7


def test_of_pairs_that_nobody_tuned_on_one_changed_one_in_twenty_passes() -> None:
    """The 270 pairs are only counted, never read or tuned on, so a worse gate fails here."""
    changed, unchanged = counted("held_out_pairs.toml")
    assert (changed.total(), unchanged.total()) == (180, 90)
    assert changed["accepted"] <= 7
    assert unchanged["refused"] <= 1
    assert unchanged["review"] <= 35


@pytest.mark.parametrize(("half", "passed", "refused", "queued"), [(0, 2, 1, 8), (1, 0, 0, 9)])
def test_of_240_pairs_written_later_the_half_that_nobody_read_lets_none_pass(
    half: int, passed: int, refused: int, queued: int
) -> None:
    """Two hedged questions of the first half passed; the second half is only counted."""
    changed, unchanged = counted("second_fresh_pairs.toml", slice(half, None, 2))
    assert (changed.total(), unchanged.total()) == (84, 36)
    assert changed["accepted"] <= passed
    assert unchanged["refused"] <= refused
    assert unchanged["review"] <= queued


@pytest.mark.parametrize(("half", "size", "passed", "refused", "queued"), [(0, 784, 52, 1, 166), (1, 779, 60, 1, 192)])
def test_of_four_authors_pairs_one_changed_one_in_fourteen_passes(
    half: int, size: int, passed: int, refused: int, queued: int
) -> None:
    """Of each two contexts, the second is only counted. The first may be read, to correct rules or train a model."""
    changed, unchanged = counted("four_authors_pairs.toml", slice(half, None, 2))
    assert (changed.total(), unchanged.total()) == (size, 360)
    assert changed["accepted"] <= passed
    assert unchanged["refused"] <= refused
    assert unchanged["review"] <= queued


@pytest.mark.parametrize(("half", "sizes", "passed", "refused"), [(0, (1038, 720), 105, 15), (1, (1022, 714), 80, 23)])
def test_of_hard_pairs_one_changed_one_in_twelve_passes(
    half: int, sizes: tuple[int, int], passed: int, refused: int
) -> None:
    """The first of each two contexts was read, to correct rules; the second is only counted."""
    changed, unchanged = counted("hard_pairs.toml", slice(half, None, 2))
    assert (changed.total(), unchanged.total()) == sizes
    assert changed["accepted"] <= passed
    assert unchanged["refused"] <= refused


def test_of_real_paraphrases_that_were_read_the_changed_ones_are_queued(shared: Path) -> None:
    """Two labellers read 320 of GPT-4's sentences: all but one of the 57 changed ones go to review.

    Of those queued by rules, a third or more are changed; the filter's encoder then clears more. No sentence without
    the target is accepted.
    """
    items = {cat.id: cat for cat in stereoset.read(shared / "data/stereoset/dev.json")}
    file = shared / "data/paraphrase/history/data_gpt4_raw_298a94a.json"
    replies = {entry["id"]: entry.get("response", "") for entry in json_files.read(file, "replies")}
    lines = (Path(__file__).parents[1] / "data" / "read_gpt4.tsv").read_text("utf-8").splitlines()
    counts: Counter[tuple[str, bool]] = Counter()
    for name, number, verdict, _ in (line.split("\t") for line in lines[5:]):
        cat = items[name]
        sentence = parse(replies[name]).sentences[int(number) - 1]
        match = find_target(sentence, cat.context, cat.target, "derived")
        counts[verdict, bool(match.lost or match.alarm or alarms(sentence, cat.context, cat.target))] += 1
    assert counts.total() == 320
    assert not counts["lost", False] + counts["wider", False]
    assert counts["changed", False] <= 1
    assert counts["changed", True] / (counts["changed", True] + counts["same", True]) >= 0.33
