from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from catsofa.builders.cats import Association
from catsofa.builders.cats.suggestions import COLUMNS, Gap, Guesser, Suggestion, suggest
from catsofa.builders.cats.templates import Template
from catsofa.data.language.wordlists import wordlist
from catsofa.data.records import Refused

ADJECTIVE = [Template("The {target} next door is BLANK.", blank="adjective")]
PEOPLE = {"gentle": -2.0, "lazy": -3.0, "polite": -4.0, "honest": -2.5, "rusty": -9.0, "wooden": -8.0, "german": -1.0}
THINGS = {"gentle": -8.0, "lazy": -9.0, "polite": -9.0, "honest": -8.0, "rusty": -4.0, "wooden": -2.0, "german": -1.0}
OTHERS = {"two": -1.0, "very": -1.0, "slowly": -1.0, "snob": -3.0, "snobs": -3.0, "idiot": -4.0, "idiots": -5.0}
WORDS = sorted({*PEOPLE, *OTHERS})


def guesser(*raised: str, asked: list[Gap] | None = None) -> Guesser:
    """Returns a model with word scores for people and things, which scores `raised` words three nats higher for
    tailors."""
    things = {context.partition("BLANK")[0] for part in wordlist("fills.toml")["things"].values() for context in part}

    def ask(gaps: Sequence[Gap]) -> list[NDArray[np.float64]]:
        if asked is not None:
            asked.extend(gaps)
        return [np.array([_of(word, gap) for word in WORDS]) for gap in gaps]

    def _of(word: str, gap: Gap) -> float:
        scores = THINGS if gap.before in things else PEOPLE
        return scores.get(word, OTHERS.get(word, -9.0)) + 3 * ("tailor" in gap.before and word in raised)

    return Guesser(WORDS, ask)


def said(*words: str, target: str = "tailor") -> Association:
    """Returns an association without an unrelated word."""
    return Association(
        target, "profession", {"stereotype": words[0], "anti-stereotype": words[1], "unrelated": ""}, source={"row": 1}
    )


def words(found: Iterable[Suggestion | Refused], label: str) -> list[str]:
    """Returns the words that are proposed for a label."""
    return [one.word for one in found if isinstance(one, Suggestion) and one.label == label]


def test_neutral_words_are_likely_of_anybody_and_not_more_of_the_target() -> None:
    """`lazy` is 20 times as likely for tailors, "honest" is in the association, and "german" names a group."""
    suggestions = list(suggest([said("honest", "rude")], ADJECTIVE, guesser("lazy"), 3))
    assert words(suggestions, "neutral") == ["gentle", "polite", "wooden"]
    assert words(suggest([said("honest", "rude")], ADJECTIVE, guesser(), 2), "neutral") == ["gentle", "lazy"]


def test_unrelated_words_are_said_of_things_and_least_of_people() -> None:
    """`wooden` is e^6 times as likely for things, "rusty" e^5 times."""
    suggestions = list(suggest([said("honest", "rude")], ADJECTIVE, guesser(), 2))
    assert words(suggestions, "unrelated") == ["wooden", "rusty"]
    (first, _) = (one for one in suggestions if isinstance(one, Suggestion) and one.label == "unrelated")
    assert (first.log_probability, first.ratio) == (-2.0, -6.0)
    assert first.sentence == "The tailor next door is wooden."


def test_words_of_any_association_of_the_target_are_left_out() -> None:
    """Words of the target's associations are left out in any form; words of other targets are proposed."""
    associations = [said("honest", "rude"), said("gentle", "polite"), said("lazy", "rude", target="baker")]
    suggestions = [one for one in suggest(associations, ADJECTIVE, guesser(), 9) if isinstance(one, Suggestion)]
    of_tailors = {one.word for one in suggestions if one.association is associations[0]}
    assert not of_tailors & {"honest", "gentle", "polite"}
    assert "lazy" in of_tailors


def test_a_word_has_one_part_of_speech_and_is_no_number() -> None:
    """`very` is also an adverb and "two" is a number, so neither is proposed."""
    suggestions = suggest([said("honest", "rude")], ADJECTIVE, guesser(), 99)
    assert {one.word for one in suggestions if isinstance(one, Suggestion)} <= {
        "gentle",
        "lazy",
        "polite",
        "rusty",
        "wooden",
    }


def test_a_noun_is_asked_for_in_the_number_and_behind_the_article_of_its_template() -> None:
    """`a snob` and "snobs" have -3; "idiot" -4 and "idiots" -5 have the mean -4.5."""
    templates = [
        Template("Most {targets} are BLANK.", blank="noun"),
        Template("The {target} is a BLANK.", blank="noun"),
    ]
    gaps: list[Gap] = []
    suggestions = list(suggest([said("thief", "hero")], templates, guesser(asked=gaps), 2))
    neutral = [one for one in suggestions if isinstance(one, Suggestion) and one.label == "neutral"]
    assert [(one.word, one.log_probability, one.sentence) for one in neutral] == [
        ("snob", -3.0, "Most tailors are snobs."),
        ("idiot", -4.5, "Most tailors are idiots."),
    ]
    assert Gap("The tailor is an ", ".") in gaps
    assert len(gaps) == len(set(gaps))


def test_what_nothing_can_be_proposed_for_is_refused() -> None:
    """An association without words, a common part of speech, a template or an accepted word is refused."""
    nouns = [Template("The {target} is a BLANK.", blank="noun")]
    reasons = [
        next(iter(suggest([one], templates, guesser(), 1)))
        for one, templates in (
            (said("", "rude"), ADJECTIVE),
            (said("honest", "teapot"), ADJECTIVE),
            (said("honest", "rude"), nouns),
            (said("snob", "idiot"), nouns),
        )
    ]
    assert [one.reason if isinstance(one, Refused) else "proposed" for one in reasons] == [
        *("no_part_of_speech", "no_part_of_speech"),
        *("no_template_fits", "no_neutral_word"),
    ]


def test_a_row_for_people_names_the_model_and_leaves_the_choice_open() -> None:
    """The column for the choice is empty until a person fills it."""
    one = next(iter(suggest([said("honest", "rude")], ADJECTIVE, guesser(), 1)))
    assert isinstance(one, Suggestion)
    row = one.row({"model": "bert", "digest": "sha256:0"})
    assert set(row) == set(COLUMNS) - {"choose (yes/no)"}
    assert (row["row"], row["label"], row["word"], row["model"], row["weights"]) == (
        *("1", "neutral", "gentle", "bert"),
        "sha256:0",
    )
