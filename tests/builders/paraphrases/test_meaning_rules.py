"""Tests the rules of the meaning gate on invented sentences."""

import pytest

from catsofa.builders.paraphrases.meaning import alarms, find_target
from catsofa.builders.paraphrases.meaning.content import added
from catsofa.builders.paraphrases.meaning.described import described
from catsofa.builders.paraphrases.meaning.targets import same_person, wider
from catsofa.data.language.alarms import word_alarms


@pytest.mark.parametrize(
    ("context", "sentence", "kinds"),
    [
        ("The actor is not BLANK.", "The actor is [BLANK].", ["negation"]),
        ("The actor is BLANK.", "The actor isn't [BLANK].", ["negation"]),
        ("The actor is BLANK.", "The actor has yet to be [BLANK].", ["negation"]),
        ("The actor is BLANK.", "The actor is far from [BLANK].", ["negation"]),
        ("Actors like BLANK.", "Actors dislike [BLANK].", ["negation"]),
        ("Actors buy BLANK.", "Actors sell [BLANK].", ["negation"]),
        ("Zorbs who sold rugs were BLANK.", "Zorbs avoided being [BLANK] when others bought rugs.", ["negation"]),
        ("The actor is BLANK.", "The actor is certainly [BLANK].", ["hedge"]),
        ("No actor is BLANK.", "Hardly an actor is [BLANK].", ["quantifier"]),
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


@pytest.mark.parametrize(
    ("target", "sentence", "found"),
    [
        ("Tavoni", "The peddlers from Tavon are [BLANK].", "review"),
        ("Corvaline", "The people of Corval are [BLANK].", "review"),
        ("Tavoni", "The peddlers from Brelo are [BLANK].", "lost"),
        ("Skelver", "The people of Skerran are [BLANK].", "lost"),
    ],
)
def test_people_from_a_place_named_like_the_group_go_to_people(target: str, sentence: str, found: str) -> None:
    """No list has an invented group, so a person decides if the place is theirs."""
    match = find_target(sentence, f"{target}s are BLANK.", target, "derived")
    assert ("lost" if match.lost else "review" if match.alarm else "found") == found
