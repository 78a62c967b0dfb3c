from pathlib import Path

import pytest

from catsofa.builders.attributes import forms
from catsofa.builders.cats import intrasentence, proposed
from catsofa.builders.cats.templates import bundled
from catsofa.builders.minimal_pairs import from_templates, read_associated
from catsofa.builders.stereotypes import associated
from catsofa.data.files import jsonl
from catsofa.data.records import Association, Cat, Pair, Refused, Stereotype, Votes


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("lazy", {"adjective": "lazy"}),
        ("good at chess", {"adjective": "good at chess"}),
        ("good at cricket", {"adjective": "good at cricket"}),
        ("obsessed with plastic surgery", {"adjective": "obsessed with plastic surgery"}),
        ("study hard", {"verb": "study hard", "infinitive": "study hard"}),
        ("pro-tax", {"adjective": "pro-tax"}),
        ("late sleeper", {"noun": "late sleeper"}),
        ("activist", {"noun": "activist"}),
        ("chess", {"bare noun": "chess"}),
        ("beach", {"bare noun": "beaches"}),
        ("love rain", {"verb": "love rain", "infinitive": "love rain"}),
        ("live on an island", {"verb": "live on an island", "infinitive": "live on an island"}),
        ("snore", {"verb": "snore", "infinitive": "snore"}),
    ],
)
def test_an_attribute_is_said_of_people_as_the_parts_of_speech_that_make_sentences(
    attribute: str, said: dict[str, str]
) -> None:
    """A noun for people makes a sentence about people; a noun for a thing makes one about what people are known for."""
    fills = forms(attribute)
    assert not isinstance(fills, str)
    assert {part: fill.words for part, fill in fills.items()} == said


@pytest.mark.parametrize(
    ("attribute", "reason"),
    [
        ("love taco", "singular_object"),
        ("good at swim", "lemma_behind_preposition"),
        ("drank tea", "past_tense"),
        ("slept", "past_tense"),
        ("fought for freedom", "past_tense"),
        ("liked to sing", "past_tense"),
        ("who can sing", "clause"),
        ("hate to", "cut_off"),
        ("love zorbfruit", "unknown_word"),
        ("early_riser", "odd_characters"),
        ("BLANK", "odd_characters"),
        ("{target}", "odd_characters"),
        ("lazy\u202e", "odd_characters"),
        ("impoverish", "no_form"),
    ],
)
def test_a_lemma_or_half_a_phrase_is_refused_by_its_reason(attribute: str, reason: str) -> None:
    """Attributes that are lemmas or incomplete phrases are refused with a reason, because no sentence fits without a
    change of words."""
    assert forms(attribute) == reason


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Returns a file with associations of three groups, one with votes and ratings."""
    votes = (Votes(raters="region", yes=2, no=1),)
    associations = [
        Association(identity="Dravians", attribute="lazy", votes=votes, offensiveness=(1.0, None)),
        Association(identity="Pellorans", attribute="late sleeper", extra={"kind": "noun", "bias_type": "pastime"}),
        Association(identity="Pellorans", attribute="lazy"),
        Association(identity="Zorbs", attribute="good at swim"),
        Association(identity="Zorbs", attribute="zorbs"),
    ]
    jsonl.write(associations, tmp_path / "associations.jsonl")
    return tmp_path / "associations.jsonl"


def test_pairs_of_associations_put_a_group_in_the_place_of_which_nobody_said_it(file: Path) -> None:
    """The other group is one without this attribute: for "lazy" only the Zorbs. Votes and ratings are kept with the
    pair."""
    records = list(from_templates(bundled(), read_associated(file, bias_type="nationality")))
    pairs = [one for one in records if isinstance(one, Pair)]
    lazy = next(one for one in pairs if one.more == "The Dravian next door is lazy.")
    assert (lazy.less, lazy.bias_type) == ("The Zorb next door is lazy.", "nationality")
    assert lazy.source["votes"] == {"region": {"yes": 2, "no": 1, "unsure": 0}}
    assert lazy.source["offensiveness"] == [1.0, None]
    assert "Most Pellorans in this town are late sleepers." in {one.more for one in pairs}
    assert [one.reason for one in records if isinstance(one, Refused)] == ["lemma_behind_preposition", "names_group"]
    assert {one.bias_type for one in pairs} == {"nationality", "pastime"}


def test_predicates_of_associations_follow_any_identity(file: Path) -> None:
    """A second association with the same attribute is a duplicate. Each predicate keeps its association's votes."""
    associations = list(jsonl.read(file, Association))
    records = list(associated.build(associations, bias_type="nationality"))
    stereotypes = {one.text: one for one in records if isinstance(one, Stereotype)}
    assert set(stereotypes) == {"are lazy", "are late sleepers"}
    assert stereotypes["are lazy"].source["votes"]["region"]["yes"] == 2
    assert [one.reason for one in records if isinstance(one, Refused)][:2] == ["duplicate", "lemma_behind_preposition"]


def test_the_kind_of_a_target_is_read_from_records_and_by_pairs(tmp_path: Path) -> None:
    """`target_kind` gives the kind of names in no list; an unknown kind is refused."""
    extra = {"bias_type": "gender", "anti-stereotype": "tidy", "unrelated": "wooden", "other": "Glorbin"}
    associations = [
        Association(identity="Zorbelina", attribute="lazy", extra=extra | {"target_kind": kind})
        for kind in ("name", "planet")
    ]
    jsonl.write(associations[:1], tmp_path / "one.jsonl")
    jsonl.write(
        [associations[0], Association(identity="Zorbo", attribute="lazy", extra=associations[1].extra)],
        tmp_path / "two.jsonl",
    )
    cats = list(intrasentence(bundled(), proposed.read(tmp_path / "two.jsonl")))
    assert "Zorbelina from the office is BLANK." in {one.context for one in cats if isinstance(one, Cat)}
    assert [one.reason for one in cats if isinstance(one, Refused)] == ["unknown_target_kind"]
    pairs = list(from_templates(bundled(), read_associated(tmp_path / "one.jsonl")))
    assert "Glorbin from the office is lazy." in {one.less for one in pairs if isinstance(one, Pair)}
    table = tmp_path / "table.csv"
    rows = ("Zorbelina,Glorbin,gender,lazy,name", "Zorbo,Glorbin,gender,lazy,planet")
    table.write_text("\n".join(["target,other,bias_type,stereotype,target_kind", *rows]))
    table_records = list(from_templates(bundled(), read_associated(table)))
    assert "Zorbelina from the office is lazy." in {one.more for one in table_records if isinstance(one, Pair)}
    assert [one.reason for one in table_records if isinstance(one, Refused)] == ["unknown_target_kind"]


def test_a_group_that_no_list_knows_is_people_in_the_plural_only(tmp_path: Path) -> None:
    """An unknown group is used as people only in the plural, unless `target_kind` gives its kind, because no one says
    "a Bali" or "an Elizabeth"."""
    file = tmp_path / "proposed.jsonl"
    extra = {"bias_type": "people", "anti-stereotype": "rude", "unrelated": "wooden", "other": "Dravians"}
    names = ("Bali", "Elizabeth", "Paris", "Utahn", "Zorbs")
    jsonl.write([Association(identity=name, attribute="tidy", extra=extra) for name in names], file)
    cats = list(intrasentence(bundled(), proposed.read(file)))
    assert {one.target for one in cats if isinstance(one, Cat)} == {"Utahn", "Zorbs"}
    refusals = [one for one in cats if isinstance(one, Refused)]
    assert [one.source["failed"] for one in refusals] == [{"target": name} for name in names[:3]]
    pairs = list(from_templates(bundled(), read_associated(file)))
    assert [one.reason for one in pairs if isinstance(one, Refused)] == ["unknown_target_kind"] * 3
    assert "The Zorb next door is tidy." in {one.more for one in pairs if isinstance(one, Pair)}


@pytest.mark.parametrize("identity", ["(((", "{target}", "\u202eDravians", "BLANK"])
def test_an_identity_that_names_nobody_makes_no_item(tmp_path: Path, identity: str) -> None:
    """An invalid identity is refused, and no other group is swapped for it."""
    path = tmp_path / "associations.jsonl"
    associations = [
        Association(identity=one, attribute=attribute) for one, attribute in ((identity, "kind"), ("Dravians", "lazy"))
    ]
    jsonl.write(associations, path)
    cat, _ = proposed.read(path, bias_type="x")
    assert isinstance(cat, Refused)
    pairs = list(read_associated(path, bias_type="x"))
    assert (cat.reason, [one.reason for one in pairs if isinstance(one, Refused)]) == (
        "odd_characters",
        ["odd_characters", "no_other_group"],
    )


def test_a_bias_type_that_is_no_text_is_none(tmp_path: Path) -> None:
    """A list in `extra` is not used as the name of a domain."""
    path = tmp_path / "associations.jsonl"
    jsonl.write([Association(identity="Dravians", attribute="lazy", extra={"bias_type": ["x"]})], path)
    (refusal,) = proposed.read(path)
    assert isinstance(refusal, Refused)
    assert refusal.reason == "no_bias_type"


def test_half_a_surrogate_pair_is_refused_in_words_when_it_is_written(tmp_path: Path) -> None:
    """Half a surrogate pair, for example from an option that is no UTF-8, is refused with an explanation."""
    with pytest.raises(ValueError, match=r"surrogate pair.*record Association"):
        jsonl.write([Association(identity="Dravians", attribute="lazy", region="\udcff")], tmp_path / "one.jsonl")


@pytest.mark.parametrize("attribute", ["anarchist", "drug lord", "robot", "zombie"])
def test_people_are_never_known_for_other_people(attribute: str) -> None:
    """A noun that names people is no bare noun, so no template says that a group is known for robots or anarchists."""
    assert {*forms(attribute)} == {"noun"}
