import json
from pathlib import Path

import pytest

from catsofa.builders.association_tests import KINDS, WordTest, build, bundled, kind_of, read, sentences
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.languages import codes, find
from catsofa.data.records import AssociationTest, WordSet

SIZES = {
    "name": 8,
    "person": 13,
    "noun": 14,
    "mass": 4,
    "adjective": 3,
    "verb": 8,
    "subject": 5,
    "object": 3,
    "possessive": 7,
}


def test_each_kind_of_word_has_its_sentences() -> None:
    """SEAT's templates give 8 sentences for names, 3 for adjectives, 4 for mass nouns, 8 for verbs, 6 + 2 and 5 + 1 for
    things, …"""
    assert {kind: len(sentences("tea", kind)) for kind in KINDS} == SIZES


def test_a_word_stands_in_the_right_number_article_and_case() -> None:
    """A plural becomes singular where needed, and "An" starts its sentence with a capital."""
    person_sentences = sentences("aunts", "person")
    assert person_sentences[0] == "This is an aunt."
    assert person_sentences[6] == "An aunt is a person."
    assert person_sentences[-1] == "Aunts are people."
    assert sentences("woman of colour", "person")[7] == "These are women of colour."
    assert sentences("European", "person")[0] == "This is a European."
    assert sentences("he", "subject")[2] == "Here he is."


def word_test(x: list[str], y: list[str]) -> WordTest:
    """Returns a test of things against things, with adjectives as attributes."""
    sets = [
        WordSet(name=name, items=tuple(items)) for name, items in (("X", x), ("Y", y), ("A", ["calm"]), ("B", ["loud"]))
    ]
    test = AssociationTest(id="mine", **dict(zip("xyab", sets, strict=True)))
    return WordTest(test, dict.fromkeys([*x, *y], "noun"))


@pytest.mark.parametrize(
    ("word", "one", "many"),
    [
        ("zorb", "This is a zorb.", "Zorbs are people."),
        ("people from Zorbia", "This is a person from Zorbia.", "People from Zorbia are people."),
        ("elderly", "This is an elderly person.", "Elderly people are people."),
        ("homeless", "This is a homeless person.", "Homeless people are people."),
        ("French", "This is a French person.", "French people are people."),
        ("adult", "This is an adult.", "Adults are people."),
        ("Norwegian", "This is a Norwegian.", "Norwegians are people."),
    ],
)
def test_a_group_that_no_noun_names_is_persons_with_its_adjective(word: str, one: str, many: str) -> None:
    """An adjective or "people from X" is not used as a noun, so no sentence says "an elderly" or "a people"."""
    group_sentences = sentences(word, "person")
    assert (group_sentences[0], group_sentences[-1]) == (one, many)


def test_the_longer_target_set_is_cut_by_the_seed_and_keeps_its_order() -> None:
    """With 14 sentences a thing, 28 against 14 are cut to 14. Attributes stay whole, and the source records the cut."""
    (test,) = build([word_test(["cup", "spoon"], ["fork"])], seed=1)
    whole = [sentence for word in ("cup", "spoon") for sentence in sentences(word, "noun")]
    assert (len(test.x.items), len(test.y.items), len(test.a.items)) == (14, 14, 3)
    assert list(test.x.items) == [sentence for sentence in whole if sentence in test.x.items]
    assert (test.id, test.source["cut"], test.source["seed"]) == ("sent-mine", {"X": 14}, 1)
    (again,), (other,) = (build([word_test(["cup", "spoon"], ["fork"])], seed=seed) for seed in (1, 2))
    assert again.x == test.x != other.x


def test_a_test_is_the_same_whatever_stands_beside_it() -> None:
    """Each test draws from its own generator, so other tests do not change it."""
    mine = word_test(["cup", "spoon"], ["fork"])
    (alone,) = build([mine], seed=3)
    assert list(build([*bundled("weat9"), mine], seed=3))[1] == alone


def test_what_a_word_is_is_known_or_asked() -> None:
    """The kind of a word comes from the list, a capital, or a single reading in the dictionary. "light" has three
    readings."""
    assert [kind_of(word) for word in ("poetry", "Ada", "nurses", "teaspoon", "wooden")] == [
        *("mass", "name", "person"),
        *("noun", "adjective"),
    ]
    assert kind_of("light") is None
    light = WordSet(name="Light", items=("light",))
    test = WordTest(AssociationTest(id="l", x=light, y=light, a=light, b=light), {})
    with pytest.raises(ValueError, match=r"light of Light.*--kind"):
        list(build([test]))
    assert len(next(build([test], otherwise="mass")).x.items) == 4


def test_word_sets_are_read_from_toml(tmp_path: Path) -> None:
    """A TOML file has tests, sets and kinds, like the bundled file."""
    path = tmp_path / "mine.toml"
    path.write_text(
        '[tests]\ncutlery = ["Cups", "Forks", "Calm", "Loud"]\n[sets]\nCups = ["cup"]\nForks = ["fork"]\n'
        'Calm = ["calm"]\nLoud = ["loud"]\n[kinds]\nnoun = ["cup", "fork"]\nadjective = ["calm", "loud"]\n'
    )
    (test,) = build(read(path))
    assert (test.id, len(test.x.items), len(test.a.items)) == ("sent-cutlery", 14, 3)
    path.write_text('[tests]\ncutlery = ["Cups", "Forks", "Calm", "Lout"]\n[sets]\nCups = ["cup"]\n')
    with pytest.raises(BadInput, match="Forks"):
        list(read(path))


def test_the_bundled_word_sets_are_the_released_ones(shared: Path) -> None:
    """WEAT 1 to 10, the b-versions, angry black woman and double bind have every word in order in its set."""
    tests = {word_test.test.id: word_test.test for word_test in bundled() if "religion" not in word_test.test.id}
    assert len(tests) == 19
    for name, test in tests.items():
        (released,) = formats.read_as(shared / "data" / "seat" / f"{name}.jsonl", AssociationTest)
        for ours, theirs in zip(
            (test.x, test.y, test.a, test.b), (released.x, released.y, released.a, released.b), strict=True
        ):
            assert (ours.name, ours.items) == (theirs.name, theirs.items), name


def test_the_religion_tests_of_bias_bench_have_sentences_of_their_kinds_of_words() -> None:
    """Six words against six give 14 sentences for a thing, 13 for a person, 4 for a mass noun, 3 for an adjective. The
    longer side is cut."""
    by_name = {
        test.id: test for word_test in bundled() if "religion" in word_test.test.id for test in build([word_test])
    }
    sizes = {name: (len(test.x.items), test.source.get("cut")) for name, test in by_name.items()}
    assert sizes == {
        "sent-religion1": (72, None),
        "sent-religion1b": (62, {"ChristianityTerms": 10}),
        "sent-religion2": (72, None),
        "sent-religion2b": (62, {"ChristianityTerms": 10}),
    }
    assert {"These are stars of david.", "This is jewish.", "There is judaism."} <= {
        *by_name["sent-religion2b"].y.items
    }


OTHER_PLURALS = {"banjos": "banjoes", "knifes": "knives", "mosquitos": "mosquitoes"}
"""Plurals that the released tests spell differently from inflect, one of them wrongly."""


def test_the_sentences_are_the_released_ones_but_for_three_plurals(shared: Path) -> None:
    """Every released sentence is built, in the same order. Fewer are released only where the release cut a target
    set."""
    written_otherwise = set()
    for word_test in bundled():
        name, sets = word_test.test.id, word_test.test
        if "religion" in name:
            continue  # this other release treats every word as a thing
        (released,) = formats.read_as(shared / "data" / "seat" / f"sent-{name}.jsonl", AssociationTest)
        for part in "xyab":
            whole = [s for word in getattr(sets, part).items for s in sentences(word, word_test.kinds[word])]
            theirs = []
            for sentence in getattr(released, part).items:
                plain = sentence
                for theirs_plural, our_plural in OTHER_PLURALS.items():
                    plain = plain.replace(theirs_plural, our_plural).replace(theirs_plural.title(), our_plural.title())
                written_otherwise |= {sentence} if plain != sentence else set()
                theirs.append(plain)
            assert theirs == [sentence for sentence in whole if sentence in set(theirs)], (name, part)
            assert len(theirs) == len(whole) or part in "xy", (name, part)
        (ours,) = build([word_test])
        assert len(ours.x.items) == len(ours.y.items) == len(released.x.items) == len(released.y.items), name
    assert len(written_otherwise) == 18


def test_a_released_word_file_gives_its_sentence_file(shared: Path, tmp_path: Path) -> None:
    """The words of WEAT 6 are known and nothing is cut, so the sets equal the released ones."""
    (ours,) = build(read(shared / "data" / "seat" / "weat6.jsonl"))
    released = json.loads((shared / "data" / "seat" / "sent-weat6.jsonl").read_text())
    assert [list(part.items) for part in (ours.x, ours.y, ours.a, ours.b)] == [
        released[part]["examples"] for part in ("targ1", "targ2", "attr1", "attr2")
    ]


@pytest.mark.parametrize("code", codes())
def test_no_target_set_shares_a_sentence_with_an_attribute_set(code: str) -> None:
    """A shared sentence would be as near to its own set as possible, whatever the encoder."""
    language = find(code)
    for test in build(bundled("", language), language=language):
        targets, attributes = {*test.x.items, *test.y.items}, {*test.a.items, *test.b.items}
        assert not targets & attributes, test.id
