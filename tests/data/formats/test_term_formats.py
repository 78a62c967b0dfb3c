import json
from collections import Counter
from pathlib import Path

import pytest
from helpers.strategies import extras, names, texts, words
from hypothesis import given, settings
from hypothesis import strategies as st

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.formats import holisticbias, identity_lexicon, named
from catsofa.data.formats.losses import lost
from catsofa.data.records import Term

terms = st.builds(Term, category=names, term=words, pos=texts, group=texts, source=extras, extra=extras)
FORMATS = {"identities": "lexicons", "holisticbias": "descriptors.json"}


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=20, deadline=None)
@given(drawn=st.lists(terms, min_size=1, max_size=4, unique_by=lambda term: (term.category, term.group, term.term)))
def test_what_a_lexicon_gives_back_differs_only_in_what_it_says_it_loses(
    name: str, drawn: list[Term], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """For any terms, a round trip loses only the fields that `loses` names."""
    chosen, path = named(name), tmp_path_factory.mktemp("trip") / FORMATS[name]
    assert chosen.write(iter(drawn), path) == len(drawn)
    back = {(term.category, term.group, term.term): term for term in chosen.read(path)}
    for term in drawn:
        assert set(lost(term, back[term.category, term.group, term.term])) == set(chosen.loses(term))


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=20, deadline=None)
@given(drawn=st.lists(terms, min_size=1, max_size=4))
def test_what_came_out_of_a_lexicon_goes_back_in_unchanged(
    name: str, drawn: list[Term], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A second round trip changes nothing, including repeated terms, and reports no loss."""
    chosen, folder = named(name), tmp_path_factory.mktemp("trips")
    chosen.write(iter(drawn), folder / "once" / FORMATS[name])
    once = list(chosen.read(folder / "once" / FORMATS[name]))
    assert len({term.id for term in once}) == len(drawn)
    assert [loss for term in once for loss in chosen.loses(term)] == []
    chosen.write(iter(once), folder / "twice" / FORMATS[name])
    assert list(chosen.read(folder / "twice" / FORMATS[name])) == once


def test_the_released_identity_lexicon_is_read_and_written_whole(shared: Path, tmp_path: Path) -> None:
    """The lexicon has 465 rows in 7 files, including SoFa's 14 religious persons. Every cell is the same after a round
    trip."""
    released = shared / "data/lexicon/czarnowska/identity_terms"
    terms_read = list(formats.read(released))
    counts = {"age": 29, "countries": 195, "disability": 57, "gender": 89, "race": 11, "religion": 47, "sexuality": 37}
    assert Counter(term.category for term in terms_read) == counts
    assert [term.category for term in terms_read] == sorted(term.category for term in terms_read)
    assert sum(term.extra.get("SEM") == "person" for term in terms_read) == 14
    identity_lexicon.write(terms_read, tmp_path / "lexicon")
    assert list(formats.read(tmp_path / "lexicon")) == terms_read
    for category in counts:
        content = (tmp_path / "lexicon" / f"{category}.csv").read_text("utf-8")
        assert (
            content.replace('"', "").strip()
            == (released / f"{category}.csv").read_text("utf-8").replace('"', "").strip()
        )


def test_a_country_is_a_term_with_its_adjectives(shared: Path) -> None:
    """Tuvalu keeps its adjectives Tuvaluan and Polynesian in extra, because demonyms are built from them."""
    tuvalu = next(formats.read(shared / "data/lexicon/czarnowska/identity_terms/countries.csv"))
    assert (tuvalu.category, tuvalu.term, tuvalu.pos, tuvalu.group) == ("countries", "Tuvalu", "", "")
    assert (tuvalu.extra["COUNTRY_ADJ"], tuvalu.extra["REGION_ADJ"]) == ("Tuvaluan", "Polynesian")


def test_a_term_listed_twice_has_two_ids(tmp_path: Path) -> None:
    """The second `gardener` has the id `…-2`, and the lexicon's JSONL can be read."""
    path = tmp_path / "hobbies.csv"
    path.write_text("TERM,POS\ngardener,n\npotter,n\ngardener,n\n")
    first, _, second = formats.read(path)
    assert second.id == f"{first.id}-2"
    formats.convert(path, tmp_path / "terms.jsonl")
    assert list(formats.read(tmp_path / "terms.jsonl")) == list(formats.read(path))


def test_one_category_may_be_a_file_of_its_name(tmp_path: Path) -> None:
    """A CSV's file name is its category, so another name or a second category is refused."""
    potter = Term(category="hobbies", term="potter", pos="n")
    assert identity_lexicon.write([potter], tmp_path / "hobbies.csv") == 1
    assert list(formats.read(tmp_path / "hobbies.csv")) == [potter]
    with pytest.raises(ValueError, match=r"'crafts'.*folder.*hobbies\.csv"):
        identity_lexicon.write([potter], tmp_path / "crafts.csv")
    with pytest.raises(ValueError, match="cannot be the name"):
        identity_lexicon.write([Term(category="a/b", term="potter")], tmp_path / "lexicon")
    assert not (tmp_path / "crafts.csv").exists()
    assert not (tmp_path / "lexicon").exists()


def test_a_lexicon_replaces_a_lexicon_and_nothing_else(tmp_path: Path) -> None:
    """An older lexicon is replaced completely. A folder with another CSV is refused unchanged."""
    folder = tmp_path / "lexicon"
    identity_lexicon.write([Term(category="hobbies", term="potter")], folder)
    identity_lexicon.write([Term(category="crafts", term="weaver")], folder)
    assert [path.name for path in folder.iterdir()] == ["crafts.csv"]
    (folder / "results.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadInput, match=r"results\.csv.*lost"):
        identity_lexicon.write([Term(category="hobbies", term="potter")], folder)
    assert sorted(path.name for path in folder.iterdir()) == ["crafts.csv", "results.csv"]


@pytest.mark.parametrize("name", FORMATS)
def test_no_terms_are_no_lexicon(name: str, tmp_path: Path) -> None:
    """An empty lexicon and an empty term are refused, and no file is left."""
    for drawn, complaint in (([], "nothing to write"), ([Term(category="a", term=" ")], "is empty")):
        with pytest.raises(ValueError, match=complaint):
            named(name).write(iter(drawn), tmp_path / FORMATS[name])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("version", "descriptors"), [("v1.0", 524), ("v1.1", 583)])
def test_released_descriptors_are_read_and_written_whole(
    version: str, descriptors: int, shared: Path, tmp_path: Path
) -> None:
    """Every descriptor keeps its axis, bucket, preference, article and gender: the JSON is the same after a round
    trip."""
    released = shared / f"data/lexicon/holisticbias/{version}/descriptors.json"
    descriptor_terms = list(formats.read(released))
    assert len(descriptor_terms) == descriptors
    assert len({term.category for term in descriptor_terms}) == 13
    assert holisticbias.write(descriptor_terms, tmp_path / "descriptors.json") == descriptors
    assert json.loads((tmp_path / "descriptors.json").read_text()) == json.loads(released.read_text())
    assert list(formats.read(tmp_path / "descriptors.json")) == descriptor_terms


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"hobby": {"drinks": ["tea", 7]}}', r"found the number 7 in hobby\.drinks\[1\]; expected an object"),
        ('{"hobby": {"drinks": [{"article": "a"}]}}', r"no field 'descriptor' in hobby\.drinks\[0\]"),
        ('{"hobby": {"drinks": [{"descriptor": 5}]}}', r"the number 5 in hobby\.drinks\[0\]\.descriptor"),
        ('{"hobby": {"drinks": ["tea", " "]}}', "an empty descriptor"),
        ('{"hobby": {"drinks": []}}', r"found nothing in hobby\.drinks"),
        ('{"hobby": {}}', "found nothing in hobby"),
        ('{"hobby": ["tea"]}', "found a list in hobby; expected an object"),
        ('{"hobby": {"drinks": ["tea"', "text that is not JSON"),
        ("{}", "found nothing"),
        ("[]", "found a list|found nothing"),
    ],
)
def test_bad_descriptors_are_refused_with_their_place(text: str, complaint: str, tmp_path: Path) -> None:
    """An invalid descriptor, an empty list and a truncated file are refused with the place and the expectation."""
    path = tmp_path / "descriptors.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=complaint):
        list(holisticbias.read(path))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("TERM;POS\ntea;n\n", "semicolons between the columns"),
        ("WORD,POS\ntea,n\n", "no column 'TERM'"),
        ("TERM,POS\ntea\n", r":2: found 1 cell; expected 2"),
        ("TERM,POS\n ,n\n", ":2: found nothing in the column 'TERM'"),
        ("TERM,POS\n", "a header and no rows"),
        ("", "an empty file"),
    ],
)
def test_bad_lexicons_are_refused_with_their_line(text: str, complaint: str, tmp_path: Path) -> None:
    """Another separator, no TERM column, a short row, an empty term, no rows and an empty file are refused."""
    path = tmp_path / "hobbies.csv"
    path.write_text(text)
    for place in (path, tmp_path):
        with pytest.raises(BadInput, match=complaint):
            list(identity_lexicon.read(place))


def test_a_folder_without_lexicons_is_refused(tmp_path: Path) -> None:
    """An empty folder is not a lexicon and has no known format."""
    with pytest.raises(BadInput, match="without a CSV"):
        list(identity_lexicon.read(tmp_path))
    with pytest.raises(BadInput, match="no known format"):
        list(formats.read(tmp_path))
