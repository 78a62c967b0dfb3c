"""Tests of templates: what their slots take, frames, and faults."""

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from helpers.builders.invented_cats import made, said

from catsofa.builders.cats import intrasentence, wrong_number
from catsofa.builders.cats.templates import FRAMES, Template, TermKind, bundled, read
from catsofa.data.files import BadInput
from catsofa.data.records import Cat

TEMPLATES = [
    ("{a target} {is|are} a BLANK person.", "adjective", "tailor", ("honest", "arrogant", "wooden"),
     ["A tailor is an honest person.", "A tailor is an arrogant person.", "A tailor is a wooden person."]),
    ("Most {targets} {is|are} BLANK.", "noun", "thief", ("snob", "hero", "hour"),
     ["Most thieves are snobs.", "Most thieves are heroes.", "Most thieves are hours."]),
    ("The {target} was a BLANK.", "noun", "umpires", ("snob", "thief", "umbrella"),
     ["The umpire was a snob.", "The umpire was a thief.", "The umpire was an umbrella."]),
    ("{targets} BLANK.", "verb", "tailor", ("gossips all day", "study", "evaporate"),
     ["Tailors gossip all day.", "Tailors study.", "Tailors evaporate."]),
    ("The {target} next door BLANK.", "verb", "tailor", ("gossip all day", "study", "evaporate"),
     ["The tailor next door gossips all day.", "The tailor next door studies.", "The tailor next door evaporates."]),
    ("BLANK {targets} are rare.", "adjective", "tailor", ("honest", "rude", "wooden"),
     ["Honest tailors are rare.", "Rude tailors are rare.", "Wooden tailors are rare."]),
]  # fmt: skip


@pytest.mark.parametrize(("context", "blank", "target", "words", "texts"), TEMPLATES)
def test_article_number_verb_and_capital_follow_target_and_words(
    context: str, blank: str, target: str, words: tuple[str, str, str], texts: list[str]
) -> None:
    """The template defines what its slots take; the rest of it does not change."""
    assert made(Template(context, blank=blank), said(target, *words)) == texts


def test_a_phrase_stands_in_no_template_that_goes_on_after_its_blank() -> None:
    """No CAT has a phrase before a noun, such as `a made of wood person`."""
    association = said("tailor", "made of wood", "full of joy", "good at chess")
    attribute, predicate = "{a target} is a BLANK person.", "The {target} is BLANK."
    (cat,) = intrasentence(
        [Template(attribute, blank="adjective"), Template(predicate, blank="adjective")], [association]
    )
    assert isinstance(cat, Cat)
    assert cat["stereotype"].text == "The tailor is made of wood."


def test_verbs_in_the_third_person_make_no_nouns() -> None:
    """`cries` is not built into `Maria is a cry`, nor `alike` into `an alike person`; "thieves" is a noun."""
    cries, thieves = said("Maria", "cries", "laughs", "boils"), said("tailor", "thieves", "heroes", "hours")
    verb, noun = "{target} BLANK.", "{target} is a BLANK."
    templates = [Template(verb, blank="verb", takes="name"), Template(noun, blank="noun", takes="name")]
    assert [cat.context for cat in intrasentence(templates, [cries]) if isinstance(cat, Cat)] == ["Maria BLANK."]
    assert made(Template("The {target} is a BLANK.", blank="noun"), thieves)[0] == "The tailor is a thief."
    alike = said("twin", "alike", "different", "loud")
    assert made(Template("{a target} is a BLANK person.", blank="adjective"), alike) == ["no_template_fits"]


def test_no_bundled_template_begins_a_sentence_with_its_blank() -> None:
    """`validate lint` reports a leading BLANK (L2), because the fill would need a capital."""
    assert [one.context for one in bundled() if re.search(r"(?:^|[.?!]\W+)BLANK", one.context)] == []


def test_the_bundled_templates_cover_six_frames() -> None:
    """There are at least 60 templates, and each frame takes every kind of target with an adjective."""
    templates = bundled()
    assert len(templates) >= 60
    covered = {(template.frame, template.takes) for template in templates if template.blank == "adjective"}
    assert covered == {(frame, kind) for frame in FRAMES for kind in get_args(TermKind)}
    of_nouns = {(template.frame, template.takes) for template in templates if template.blank in ("noun", "bare noun")}
    assert {("question", kind) for kind in get_args(TermKind)} <= of_nouns
    assert {("negation", kind) for kind in get_args(TermKind)} <= of_nouns
    assert [t.polarity for t in (templates[0], *(t for t in templates if t.context.startswith("Not all")))] == [
        *("asserts", "denies"),
    ]


def test_a_negation_takes_no_negated_words() -> None:
    """`Tailors never have no sense of humour` is not built; a statement accepts the words."""
    template = Template("{targets} never BLANK.", blank="verb", frame="negation")
    words = said("tailor", "have no sense of humour", "tell jokes", "drink sand")
    (refusal,) = intrasentence([template], [words])
    assert refusal.source["failed"] == {"stereotype": "have no sense of humour"}
    (cat,) = intrasentence([replace(template, frame="statement")], [words])
    assert cat["stereotype"].text == "Tailors never have no sense of humour."
    assert made(template, said("tailor", "complain", "never complain", "rust")) == ["no_template_fits"]


def test_a_cat_tells_its_frame_and_whether_it_asserts() -> None:
    """The source has frame and polarity, because scores of negations and questions have another meaning."""
    template = Template("The {target} is not BLANK.", blank="adjective", frame="negation")
    (cat,) = intrasentence([template], [said("tailor", "kind", "rude", "wooden")])
    assert (cat.source["frame"], cat.source["polarity"]) == ("negation", "denies")


NUMBERS = [
    ("He is a BLANK.", "snobs", True),
    ("He is BLANK.", "snob", True),
    ("He is a BLANK man.", "sports", False),
    ("He is BLANK.", "lazy", False),
    ("They are BLANK.", "snobs", False),
    ("It is BLANK.", "furniture", False),
]


@pytest.mark.parametrize(("context", "word", "wrong"), NUMBERS)
def test_a_noun_that_clashes_with_its_slot_is_seen(context: str, word: str, wrong: bool) -> None:
    """A plural after "a" and a singular without article clash; a noun before another noun does not."""
    assert wrong_number(context, word) is wrong


def test_templates_are_checked_when_they_are_read(tmp_path: Path) -> None:
    """A template needs one BLANK, a target, and slots of a known form."""
    path = tmp_path / "templates.toml"
    path.write_text('[[templates]]\ncontext = "The {target} is BLANK."\nblank = "adjective"\n')
    assert read(path) == [Template("The {target} is BLANK.", blank="adjective")]
    for context, fault in (
        ("The {target} is here.", "no blank"),
        ("They are BLANK.", "no {target}"),
        ("{tagret} {target} BLANK", "a place"),
    ):
        path.write_text(f'[[templates]]\ncontext = "{context}"\n')
        with pytest.raises(BadInput, match=fault):
            read(path)
