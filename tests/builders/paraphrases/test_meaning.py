"""The gate of meaning: rules on made sentences, and what they let pass of the labelled pairs."""

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
    """The parity of negations, the classes of quantifiers and hedges, in both directions; what says the same passes."""
    assert [alarm.kind for alarm in word_alarms(sentence, context)] == kinds


def test_an_alarm_says_its_words() -> None:
    """Of both sentences, in their order."""
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
    """The noun after it, else what a linking verb says it of."""
    assert described(sentence)[-1] == head


def test_content_is_added_where_more_comes_than_goes() -> None:
    """A clause of its own is added; another word for the same, or for the target, is not."""
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
    """The rule and the word that show it go into the record."""
    assert same_person(sentence, target) == (rule, word)
    found = find_target(sentence, f"The {target} was BLANK.", target, "derived")
    assert (found.lost, found.alarm, found.rule) == (False, None, (rule, word))
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
    """A wider name, or nobody in particular, is an alarm; another group or another kind of person is not the target."""
    found = find_target(sentence, f"The {target} was BLANK.", target, "derived")
    assert (found.lost, bool(found.alarm)) == (outcome == "lost", outcome == "alarm")
    assert find_target(sentence, f"The {target} was BLANK.", target, "any") == (False, None, None)


def test_a_wider_name_is_not_a_word_for_anybody() -> None:
    """A worker may be anything."""
    assert wider("The scientist was BLANK.", "physicist") == ("hypernym", "scientist")
    assert wider("The worker was BLANK.", "physicist") is None


def outcomes(half: int) -> dict[str, Counter[str]]:
    """What becomes of each class of the labelled pairs: the half that tuned the gate (0), or the other (1)."""
    found: dict[str, Counter[str]] = {}
    for name, context, sentence, target in pairs(half):
        told = find_target(sentence, context, target, "derived")
        review = told.alarm or alarms(sentence, context, target)
        outcome = "refused" if told.lost else "review" if review else "accepted"
        found.setdefault(name, Counter())[outcome] += 1
    return found


def pairs(half: int) -> Iterator[tuple[str, str, str, str]]:
    """Each pair: class, original, sentence, target."""
    for about in PAIRS["contexts"][half::2]:
        for name in (*PAIRS["keeps"], *PAIRS["changes"]):
            for sentence in [about[name]] if isinstance(about[name], str) else about[name]:
                yield name, about["original"], sentence, about["target"]


@pytest.mark.parametrize("half", [0, 1])
def test_of_the_labelled_pairs_hardly_one_that_changes_the_meaning_passes(half: int) -> None:
    """At most 3 % of them and one of a class; no true paraphrase is refused, and at most 35 % are queued."""
    found = outcomes(half)
    changed = sum((found[name] for name in PAIRS["changes"]), Counter[str]())
    assert changed["accepted"] / changed.total() <= 0.03
    assert all(found[name]["accepted"] <= 1 for name in PAIRS["changes"])
    kept = sum((found[name] for name in PAIRS["keeps"]), Counter[str]())
    assert kept["refused"] == 0
    assert kept["review"] / kept.total() <= 0.35


def test_over_both_halves_no_class_passes_in_more_than_six_of_a_hundred_pairs() -> None:
    """459 pairs, 307 of them with a changed meaning."""
    both = {name: sum((half[name] for half in map(outcomes, (0, 1))), Counter[str]()) for name in PAIRS["changes"]}
    assert sum(one.total() for one in both.values()) == 307
    assert all(one["accepted"] / one.total() <= 0.06 for one in both.values()), both


def test_with_a_model_of_inference_that_is_right_one_true_paraphrase_in_twelve_goes_to_people() -> None:
    """12 of 152; 10 more that it misses make the 22 that are 15 %. Of the 307 changed ones none is accepted."""
    went = {True: Counter[str](), False: Counter[str]()}
    for half in (0, 1):
        for name, context, sentence, target in pairs(half):
            told, keeps = find_target(sentence, context, target, "derived"), name in PAIRS["keeps"]
            raised = [*filter(None, [told.alarm]), *alarms(sentence, context, target)]
            one = Cat(id="a", kind="intrasentence", bias_type="x", target=target, context=context, candidates=FILLS)
            noted = replace(one, context=sentence, extra={"alarms": [alarm._asdict() for alarm in raised]})
            reads = Similarity(mean=0.9, least=0.9, chrf=40, entailment=float(keeps), contradiction=0.0)
            (placed,) = place([(Pair(1, noted, one), reads)], Cut(), "right")
            assert isinstance(placed, Placed)
            went[keeps]["refused" if told.lost else placed.queue] += 1
    assert went[True] == {"partition": 140, "review": 12}
    assert went[False] == {"review": 265, "refused": 42}


def test_two_labellers_agree_on_what_keeps_its_meaning() -> None:
    """Cohen's kappa is 0.985; each pair on which they differ has the class of one of them."""
    stands = {sentence: name for half in (0, 1) for name, _, sentence, _ in pairs(half)}
    keep = {name: name in PAIRS["keeps"] for name in (*PAIRS["keeps"], *PAIRS["changes"])}
    given = {sentence: [name, name] for sentence, name in stands.items()}
    for one in PAIRS["differed"]:
        assert stands[one["sentence"]] in (one["first"], one["second"])
        given[one["sentence"]] = [one["first"], one["second"]]
    both = [[keep[first], keep[second]] for first, second in given.values()]
    assert len(both) == 459
    assert cohens_kappa(to_table(both)[0]).kappa == pytest.approx(0.985, abs=0.0005)


def counted(file: str, contexts: slice = slice(None)) -> tuple[Counter[str], Counter[str]]:
    """What becomes of the pairs that change the meaning, and of those that keep it, in a file of blind pairs."""
    changed, kept = Counter[str](), Counter[str]()
    no_class = {"set", "author", "style", "target", "fillers", "original", "keeps", "target_synonym"}
    for about in tomllib.loads((DATA / file).read_text("utf-8"))["contexts"][contexts]:
        sentences = dict.fromkeys([*about["keeps"], *about.get("target_synonym", ())], True)
        classes = about.keys() - no_class
        for sentence, keeps in (sentences | {about[name]: False for name in classes}).items():
            told = find_target(sentence, about["original"], about["target"], "derived")
            review = told.alarm or alarms(sentence, about["original"], about["target"])
            (kept if keeps else changed)["refused" if told.lost else "review" if review else "accepted"] += 1
    return changed, kept


def test_of_the_half_of_the_blind_pairs_that_made_the_rules_no_changed_one_passes() -> None:
    """144 pairs, 96 of them with a changed meaning, antonyms and turned roles among them."""
    changed, kept = counted("fresh_pairs.toml")
    assert (changed.total(), changed["accepted"]) == (96, 0)
    assert (kept.total(), kept["refused"]) == (48, 1)
    assert kept["review"] <= 13


def test_of_the_pairs_that_tuned_hedges_opposites_and_roles_two_pass() -> None:
    """84 changed ones: *could push*, and *hid from* for *told*; of 34 that keep the meaning none is refused."""
    changed, kept = counted("tuning_pairs.toml")
    assert (changed.total(), changed["accepted"]) == (84, 2)
    assert (kept.total(), kept["refused"]) == (34, 0)
    assert kept["review"] <= 7


def test_of_pairs_that_nobody_tuned_on_one_changed_one_in_twenty_passes() -> None:
    """270 pairs that are only counted: a gate that gets worse fails here, and nobody reads which pair it was."""
    changed, kept = counted("held_out_pairs.toml")
    assert (changed.total(), kept.total()) == (180, 90)
    assert changed["accepted"] <= 7
    assert kept["refused"] <= 4
    assert kept["review"] <= 31


@pytest.mark.parametrize(("half", "passed", "refused", "queued"), [(0, 2, 1, 8), (1, 0, 2, 7)])
def test_of_240_pairs_written_later_the_half_that_nobody_read_lets_none_pass(
    half: int, passed: int, refused: int, queued: int
) -> None:
    """The first half showed two hedged questions that passed; the second is only counted."""
    changed, kept = counted("second_fresh_pairs.toml", slice(half, None, 2))
    assert (changed.total(), kept.total()) == (84, 36)
    assert changed["accepted"] <= passed
    assert kept["refused"] <= refused
    assert kept["review"] <= queued


@pytest.mark.parametrize(("half", "size", "passed", "refused", "queued"), [(0, 784, 52, 1, 165), (1, 779, 60, 1, 191)])
def test_of_four_authors_pairs_one_changed_one_in_fourteen_passes(
    half: int, size: int, passed: int, refused: int, queued: int
) -> None:
    """The second context of each two is only counted; the first may be read, to mend rules or to train a model."""
    changed, kept = counted("four_authors_pairs.toml", slice(half, None, 2))
    assert (changed.total(), kept.total()) == (size, 360)
    assert changed["accepted"] <= passed
    assert kept["refused"] <= refused
    assert kept["review"] <= queued


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
    """People or clauses turned round, one word for another, a wish for a deed, the slot elsewhere, a time."""
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
    """Who does it stays."""
    assert not alarms(sentence, context, "nurse")


def test_of_real_paraphrases_that_were_read_the_changed_ones_are_queued(shared: Path) -> None:
    """320 of GPT-4's sentences, read by two labellers: all but one of the 57 that changed go to people.

    Of those that the rules queue, a third or more are changed; the encoder of the filter then clears some more. No
    sentence without the target is accepted.
    """
    items = {cat.id: cat for cat in stereoset.read(shared / "data/stereoset/dev.json")}
    file = shared / "data/paraphrase/history/data_gpt4_raw_298a94a.json"
    replies = {entry["id"]: entry.get("response", "") for entry in json_files.read(file, "replies")}
    lines = (Path(__file__).parents[1] / "data" / "read_gpt4.tsv").read_text("utf-8").splitlines()
    found: Counter[tuple[str, bool]] = Counter()
    for name, number, read, _ in (line.split("\t") for line in lines[5:]):
        cat = items[name]
        sentence = parse(replies[name]).sentences[int(number) - 1]
        told = find_target(sentence, cat.context, cat.target, "derived")
        found[read, bool(told.lost or told.alarm or alarms(sentence, cat.context, cat.target))] += 1
    assert found.total() == 320
    assert not found["lost", False] + found["wider", False]
    assert found["changed", False] <= 1
    assert found["changed", True] / (found["changed", True] + found["same", True]) >= 0.33
