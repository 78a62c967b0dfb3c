"""Tests the meaning gate: rules on invented sentences, and the labelled pairs that pass it."""

import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from catsofa.builders.paraphrases.meaning import alarms, find_target
from catsofa.builders.paraphrases.meaning.content import added
from catsofa.builders.paraphrases.meaning.described import described
from catsofa.builders.paraphrases.meaning.targets import same_person, wider
from catsofa.builders.paraphrases.replies import parse
from catsofa.builders.similarity import Cut, Pair, Placed, Similarity, place
from catsofa.data.files import json_files
from catsofa.data.formats import stereoset
from catsofa.data.language.alarms import word_alarms
from catsofa.data.records import LABELS, Candidate, Cat

DATA = Path(__file__).parents[1] / "data"
FILLS = tuple(Candidate(id=f"a-{label}", text="x", label=label, fill="x") for label in LABELS)
PAIRS = tomllib.loads((DATA / "meaning_pairs.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("context", "sentence", "kinds"),
    [
        ("The actor is not BLANK.", "The actor is [BLANK].", ["negation"]),
        ("The actor is BLANK.", "The actor isn't [BLANK].", ["negation"]),
        ("The actor is BLANK.", "The actor has yet to be [BLANK].", ["negation"]),
        ("The actor is BLANK.", "The actor is far from [BLANK].", ["negation"]),
        ("Actors like BLANK.", "Actors dislike [BLANK].", ["negation"]),
        ("Actors buy BLANK.", "Actors sell [BLANK].", ["negation"]),
        ("The actor never forgot BLANK.", "The actor always remembered [BLANK].", ["quantifier"]),
        ("The actor is not BLANK.", "The actor is neither [BLANK] nor loud.", []),
        ("The actor is BLANK.", "The actor is [BLANK], isn't he?", []),
        ("The actor is BLANK.", "No doubt the actor is [BLANK].", []),
        ("His sister is BLANK.", "His little sister is [BLANK].", []),
        ("The actor has never heard of BLANK.", "The actor is unfamiliar with [BLANK].", ["quantifier"]),
        ("Actors are BLANK.", "All actors are [BLANK].", ["quantifier"]),
        ("Most actors are BLANK.", "Some actors are [BLANK].", ["quantifier"]),
        ("Most actors are BLANK.", "A majority of actors are [BLANK].", []),
        ("Actors are always BLANK.", "Actors are [BLANK] at all times.", []),
        ("The actor is often BLANK.", "Often the actor is [BLANK].", []),
        ("He is BLANK.", "He is the most [BLANK] man.", []),
        ("The actor is BLANK.", "The actor is seen as [BLANK].", ["hedge"]),
        ("The actor is BLANK.", "The actor may be [BLANK].", ["hedge"]),
        ("The actor may be BLANK.", "The actor is [BLANK].", ["hedge"]),
        ("Are actors BLANK?", "Could it be that actors are [BLANK]?", ["hedge"]),
        ("Are actors BLANK?", "Do you think that actors are [BLANK]?", ["hedge"]),
        ("The actor may be BLANK.", "Perhaps the actor is [BLANK].", []),
        ("The actor is BLANK.", "The actor is a stereotype, but [BLANK].", ["disclaimer"]),
        ("The actor is BLANK and calm.", "The actor isn't [BLANK] and isn't calm.", ["negation"]),
        ("The actor isn't BLANK.", "It is not true that the actor isn't [BLANK].", ["negation"]),
        ("Actors know BLANK about frogs.", "Actors don't know [BLANK] about frogs.", ["negation"]),
        ("Actors eat BLANK food.", "Actors stay away from [BLANK] food.", ["negation"]),
        ("The actor is BLANK when it rains.", "The actor is [BLANK] unless it rains.", ["negation"]),
        ("The actor tells BLANK jokes.", "The actor tells nothing but [BLANK] jokes.", ["negation", "quantifier"]),
        ("The actor tells BLANK jokes.", "The actor tells [BLANK] jokes again and again.", ["quantifier"]),
        ("The actor is BLANK.", "The actor is fairly [BLANK].", ["hedge"]),
        ("The actor is rather BLANK.", "The actor might be rather [BLANK].", ["hedge"]),
        ("The actor seemed BLANK.", "Perhaps the actor seemed [BLANK].", ["hedge"]),
        ("The actor is rather BLANK.", "The actor is somewhat [BLANK].", []),
        ("Ada said that actors are BLANK.", "Ada guessed that actors are [BLANK].", ["hedge"]),
        ("His father is BLANK.", "He thinks his father is [BLANK].", ["hedge"]),
        ("His father is BLANK.", "He says his father is [BLANK].", ["hedge"]),
        ("He said that his father is BLANK.", "His father, he explained, is [BLANK].", []),
        ("The actor ran towards the BLANK dog.", "The actor ran away from the [BLANK] dog.", ["negation"]),
    ],
)
def test_words_that_may_change_the_meaning_are_an_alarm(context: str, sentence: str, kinds: list[str]) -> None:
    """A changed parity of negations or class of quantifiers or hedges, in either direction, is an alarm; rewordings
    pass."""
    assert [alarm.kind for alarm in word_alarms(sentence, context)] == kinds


def test_an_alarm_says_its_words() -> None:
    """The alarm has the words of both sentences in order."""
    (alarm,) = word_alarms("Nobody is BLANK, and hardly ever without noise.", "The actor is BLANK.")[:1]
    assert alarm == ("negation", ("nobody", "hardly ever", "without"))


@pytest.mark.parametrize(
    ("sentence", "head"),
    [
        ("The nurse on our ward is [BLANK].", "nurse"),
        ("My grandmother has a [BLANK] voice.", "voice"),
        ("In battle, the soldier was [BLANK].", "soldier"),
        ("The farmer who sells us eggs is not [BLANK].", "farmer"),
        ("I know a saleswoman who is [BLANK].", "saleswoman"),
        ("Her mother found the homework [BLANK].", "homework"),
        ("Is the tailor on Mill Street [BLANK]?", "tailor"),
        ("The Dravian's car is always [BLANK].", "car"),
        ("Most of the Dravians are very [BLANK].", "dravians"),
        ("The mechanic loves [BLANK].", "mechanic"),
        ("Dravians are [BLANK] people.", "dravians"),
    ],
)
def test_the_thing_that_a_slot_describes_is_found_without_a_parser(sentence: str, head: str) -> None:
    """The described thing is the noun after the slot, or else the subject of the linking verb."""
    assert described(sentence)[-1] == head


def test_content_is_added_where_more_comes_than_goes() -> None:
    """A further clause is added content; a synonym for a word or the target is not."""
    context = "The nurse is BLANK with old patients."
    assert added("The nurse, who stole from the pharmacy, is BLANK with old patients.", context, "nurse") == (
        "steal",
        "pharmacy",
    )
    assert added("The caregiver is BLANK with elderly patients.", context, "nurse") == ()


@pytest.mark.parametrize(
    ("target", "sentence", "rule", "word"),
    [
        ("himself", "He did it on his own and was BLANK.", "pronoun", "his"),
        ("gentleman", "The man was BLANK.", "synonym", "man"),
        ("mommy", "My mother is BLANK.", "synonym", "mother"),
        ("policeman", "The cop was BLANK.", "synonym", "cop"),
        ("plumber", "The pipe fitter was BLANK.", "synonym", "pipe fitter"),
        ("guitarists", "The guitar players were BLANK.", "synonym", "guitar player"),
        ("schoolgirl", "The school-girl was BLANK.", "spelling", "school-girl"),
        ("chess player", "The person at the chessboard was BLANK.", "stem", "chessboard"),
        ("engineer", "People in engineering are BLANK.", "stem", "engineering"),
        ("scientist", "The physicist was BLANK.", "hyponym", "physicist"),
    ],
)
def test_another_name_of_the_target_is_accepted_with_the_rule(target: str, sentence: str, rule: str, word: str) -> None:
    """The record has the rule and the word that matched."""
    assert same_person(sentence, target) == (rule, word)
    match = find_target(sentence, f"The {target} was BLANK.", target, "derived")
    assert (match.lost, match.alarm, match.rule) == (False, None, (rule, word))
    assert find_target(sentence, f"The {target} was BLANK.", target, "verbatim").lost


@pytest.mark.parametrize(
    ("target", "sentence", "outcome"),
    [
        ("himself", "She did it and was BLANK.", "lost"),
        ("Dravian", "The Pelloran was BLANK.", "lost"),
        ("dask", "The quell was BLANK.", "lost"),
        ("nurse", "The gardener was BLANK.", "lost"),
        ("schoolboy", "The schoolgirl was BLANK.", "lost"),
        ("himself", "Zorbin was BLANK.", "alarm"),
        ("physicist", "The scientist was BLANK.", "alarm"),
        ("grandfather", "The patriarch was BLANK.", "alarm"),
        ("butcher", "The person who prepares ham was BLANK.", "alarm"),
    ],
)
def test_another_person_is_refused_and_a_doubtful_one_goes_to_people(target: str, sentence: str, outcome: str) -> None:
    """A wider or indefinite name is an alarm; another group or another kind of person has lost the target."""
    match = find_target(sentence, f"The {target} was BLANK.", target, "derived")
    assert (match.lost, bool(match.alarm)) == (outcome == "lost", outcome == "alarm")
    assert find_target(sentence, f"The {target} was BLANK.", target, "any") == (False, None, None)


def test_a_wider_name_is_not_a_word_for_anybody() -> None:
    """`worker` is too general to be a wider name."""
    assert wider("The scientist was BLANK.", "physicist") == ("hypernym", "scientist")
    assert wider("The worker was BLANK.", "physicist") is None


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
    assert (unchanged.total(), unchanged["refused"]) == (48, 1)
    assert unchanged["review"] <= 13


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
    assert unchanged["refused"] <= 4
    assert unchanged["review"] <= 31


@pytest.mark.parametrize(("half", "passed", "refused", "queued"), [(0, 2, 1, 8), (1, 0, 2, 7)])
def test_of_240_pairs_written_later_the_half_that_nobody_read_lets_none_pass(
    half: int, passed: int, refused: int, queued: int
) -> None:
    """Two hedged questions of the first half passed; the second half is only counted."""
    changed, unchanged = counted("second_fresh_pairs.toml", slice(half, None, 2))
    assert (changed.total(), unchanged.total()) == (84, 36)
    assert changed["accepted"] <= passed
    assert unchanged["refused"] <= refused
    assert unchanged["review"] <= queued


@pytest.mark.parametrize(("half", "size", "passed", "refused", "queued"), [(0, 784, 52, 1, 165), (1, 779, 60, 1, 191)])
def test_of_four_authors_pairs_one_changed_one_in_fourteen_passes(
    half: int, size: int, passed: int, refused: int, queued: int
) -> None:
    """Of each two contexts, the second is only counted. The first may be read, to correct rules or train a model."""
    changed, unchanged = counted("four_authors_pairs.toml", slice(half, None, 2))
    assert (changed.total(), unchanged.total()) == (size, 360)
    assert changed["accepted"] <= passed
    assert unchanged["refused"] <= refused
    assert unchanged["review"] <= queued


@pytest.mark.parametrize(
    ("context", "sentence", "alarm"),
    [
        ("The nurse warned the BLANK farmer.", "The BLANK farmer warned the nurse.", ("turned", ("nurse", "farmer"))),
        (
            "The nurse warned the BLANK farmer.",
            "The nurse was warned by a BLANK farmer.",
            ("turned", ("nurse", "farmer")),
        ),
        ("The baker hired a BLANK cook.", "The baker hired a BLANK gardener.", ("replaced", ("cook", "gardener"))),
        (
            "The cook sat inside the BLANK hut.",
            "The cook sat behind the BLANK hut.",
            ("replaced", ("inside", "behind")),
        ),
        (
            "The cook visited BLANK friends.",
            "The cook hoped to visit BLANK friends.",
            ("hedge", ("hoped", "to", "visit")),
        ),
        (
            "The cook visited BLANK friends.",
            "The cook was about to visit BLANK friends.",
            ("hedge", ("about", "to", "visit")),
        ),
        ("The cook pays a BLANK friend.", "The cook must pay a BLANK friend.", ("hedge", ("must",))),
        ("The cook bought a BLANK short coat.", "The cook bought a BLANK long coat.", ("negation", ("long/short",))),
        ("The cook met the BLANK friend.", "The BLANK cook met the friend.", ("moved", ())),
        ("The cook friend was BLANK.", "The cook's friend was BLANK.", ("moved", ())),
        ("The cook was BLANK yesterday.", "The cook is BLANK tomorrow.", ("negation", ("tomorrow/yesterday",))),
        ("The cook was too BLANK to help.", "The cook was BLANK enough to help.", ("negation", ("enough/too",))),
        ("The cook is as BLANK as we.", "The cook is less BLANK than we.", ("quantifier", ("less",))),
        ("The cook seemed BLANK.", "The cook would have been BLANK.", ("hedge", ("would have", "seemed"))),
        ("The cook ran because he was BLANK.", "The cook ran because she was BLANK.", ("moved", ())),
        (
            "The cook left BLANK notes.",
            "The cook left BLANK notes and went away again.",
            ("added", ("and", "went", "away", "again")),
        ),
        ("The cook is BLANK.", "The cook used to be BLANK.", ("time", ("is", "used"))),
        ("The cook is BLANK.", "The cook will be BLANK.", ("time", ("is", "will"))),
        ("The cook is BLANK, so we avoid him.", "We avoid the cook, so he is BLANK.", ("turned", ("BLANK", "avoid"))),
        (
            "The cook ran because he is BLANK.",
            "The cook is BLANK because he ran.",
            ("turned", ("BLANK", "run")),
        ),
        ("The cook hides when it is BLANK.", "When the cook hides, it is BLANK.", ("turned", ("BLANK", "cook"))),
        ("The cook is more BLANK than a zorb.", "A zorb is more BLANK than the cook.", ("turned", ("cook", "zorb"))),
        ("The BLANK cook alone paid.", "The BLANK cook also paid.", ("quantifier", ("also", "alone"))),
        ("The BLANK cook is still here.", "The BLANK cook is here again.", ("quantifier", ("again",))),
    ],
)
def test_a_word_or_a_role_changed_where_all_else_stays_is_an_alarm(
    context: str, sentence: str, alarm: tuple[str, tuple[str, ...]]
) -> None:
    """Swapped people or clauses, a replaced word, a wish for an act, a moved slot and another time are alarms."""
    assert alarm in alarms(sentence, context, "cook" if "cook" in context and "baker" not in context else "nurse")


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ("The nurse warned the BLANK farmer.", "The BLANK farmer was warned by the nurse."),
        ("The nurse praised the farmer for BLANK answers.", "The farmer was praised by the nurse for BLANK answers."),
        (
            '"The nurse hugged the BLANK farmer," said the baker.',
            "The baker said that the nurse hugged the BLANK farmer.",
        ),
        ("The nurse ran toward the BLANK hut.", "The nurse ran towards the BLANK hut."),
        ("The nurse used to feed BLANK birds.", "The nurse fed BLANK birds."),
        ("For his son, the nurse baked BLANK bread.", "The nurse baked BLANK bread for his son."),
        ("Our friend, the nurse, is up BLANK on Monday.", "So our friend, the nurse, is up BLANK on Monday."),
        ("Our friend, the nurse, is up BLANK on Monday.", "On Monday our friend, the nurse, is up BLANK."),
        ("The nurse is BLANK, so we like her.", "We like the nurse because she is BLANK."),
        ("The nurse sings when it is BLANK.", "When it is BLANK, the nurse sings."),
        ("The nurse promised that it would be BLANK.", "The nurse promised: it will be BLANK."),
    ],
)
def test_a_passive_or_a_part_moved_to_the_front_turns_nothing_round(context: str, sentence: str) -> None:
    """The agent of the action stays the same, so there is no alarm."""
    assert not alarms(sentence, context, "nurse")


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
