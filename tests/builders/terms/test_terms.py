import json
from collections import Counter
from pathlib import Path

import pytest

from catsofa.builders.terms import (
    choose,
    frequent,
    merged,
    read_merge_map,
    read_terms,
    stereoset_terms,
)
from catsofa.data.files import BadInput
from catsofa.data.records import Refused, Term


def test_the_papers_321_terms_and_24_of_religion() -> None:
    """arXiv v1, Table 9 has 40, 120, 149 and 12 terms. The ACL paper's Table 10 has 24 on religion, so 333."""
    assert Counter(t.category for t in stereoset_terms()) == {
        "gender": 40,
        "profession": 120,
        "race": 149,
        "religion": 12,
    }
    assert Counter(t.category for t in stereoset_terms("v2"))["religion"] == 24
    assert len({t.term for t in stereoset_terms("v2")}) == 333


def test_the_mean_agreement_of_the_terms_is_the_papers() -> None:
    """The terms of Table 10 have a mean agreement of .779."""
    agreements = [t.extra["agreement"] for t in stereoset_terms("v2")]
    assert round(sum(agreements) / len(agreements), 3) == 0.779


def test_spellings_are_the_papers_unless_corrected() -> None:
    """The default keeps the paper's spellings: Norweigan, Eriteria, attourney, Argentian, Columbian, Columbia, Sierra
    Leon, and a curly apostrophe."""
    paper = {t.term for t in stereoset_terms()}
    corrected = {t.term for t in stereoset_terms(corrected=True)}
    assert paper - corrected == {
        *("Norweigan", "Eriteria", "attourney", "Argentian", "Columbian", "Columbia", "Sierra Leon", "ma’am"),
    }


def test_siblings_share_a_group() -> None:
    """Siblings share a group, so that no split separates Ethiopia from Ethiopian."""
    pairs = [("Ethiopia", "Ethiopian"), ("Italy", "Italian"), ("Norweigan", "Norway"), ("Dutch people", "Netherlands"),
             ("he", "himself"), ("mommy", "mother"), ("Eriteria", "Eritrean"), ("Britain", "British")]  # fmt: skip
    group = {term.term: term.group for corrected in (False, True) for term in stereoset_terms(corrected=corrected)}
    assert [pair for pair in pairs if group[pair[0]] != group[pair[1]]] == []
    assert group["Italy"] != group["Ireland"]


def test_every_target_of_the_released_sets_is_among_them(shared: Path) -> None:
    """The term lists contain StereoSet's 79 dev targets and 242 test targets; one of them (Trinity) is only in the
    later table."""
    data = json.loads((shared / "data" / "stereoset" / "dev.json").read_text())["data"]
    dev = {cat["target"].lower().replace("'", "’") for cats in data.values() for cat in cats}
    test = set((shared / "data" / "stereoset" / "test_terms.txt").read_text().lower().replace("'", "’").split("\n")) - {
        ""
    }
    v1, v2 = ({t.term.lower() for t in stereoset_terms(edition)} for edition in ("v1", "v2"))
    assert (len(dev), len(test)) == (79, 242)
    assert dev <= v1
    assert test - v1 == {"trinity"}
    assert dev | test <= v2


def term(name: str, uses: int) -> Term:
    """Returns a profession with this number of uses."""
    return Term(category="profession", term=name, extra={"uses": uses})


def test_terms_too_fine_are_merged_and_their_uses_summed() -> None:
    """A merged term adds its uses to its target; a term mapped to "" is excluded. Every term is kept or refused."""
    terms = [term("producer", 10), term("assistant producer", 3), term("executive producer", 2), term("duke", 9)]
    into = {"assistant producer": "producer", "executive producer": "producer", "duke": ""}
    records = list(merged(terms, into))
    assert [(t.term, t.extra["uses"]) for t in records if isinstance(t, Term)] == [("producer", 15)]
    assert [(t.text, t.reason) for t in records if isinstance(t, Refused)] == [
        *(("assistant producer", "merged"), ("executive producer", "merged")),
        ("duke", "excluded"),
    ]


def test_a_rare_term_is_refused_with_its_count() -> None:
    """A rare term is refused with its count. A term with an unknown count has another reason."""
    records = list(frequent([term("baker", 12), term("fletcher", 2), Term(category="profession", term="ghost")], 5))
    assert [(r.text, r.reason, r.score) for r in records if isinstance(r, Refused)] == [
        *(("fletcher", "infrequent", 2),),
        ("ghost", "unknown_frequency", None),
    ]


def test_merging_comes_before_the_count() -> None:
    """Merging precedes the count: three rare spellings of one term are one frequent term."""
    terms = [term("smith", 2), term("black smith", 2), term("blacksmith", 2)]
    records = choose(terms, least=5, into={"smith": "blacksmith", "black smith": "blacksmith"})
    assert [(t.term, t.extra["uses"]) for t in records if isinstance(t, Term)] == [("blacksmith", 6)]


def test_a_merge_map_must_end(tmp_path: Path) -> None:
    """A term merged into a term that is itself merged is refused, because the result would depend on the order."""
    path = tmp_path / "merge.toml"
    path.write_text('"a" = "b"\n"b" = "c"\n')
    with pytest.raises(BadInput, match=r"'a'.*'b'.*merged itself"):
        read_merge_map(path)
    path.write_text('"a" = "b"\n"c" = ""\n')
    assert read_merge_map(path) == {"a": "b", "c": ""}


def test_terms_are_read_from_a_table(tmp_path: Path) -> None:
    """The exported table of the query service has a label and a count per row."""
    path = tmp_path / "jobs.tsv"
    path.write_text("itemLabel\tuses\nbaker\t12\n\t3\nsmith\t4\n")
    terms = list(read_terms(path, "itemLabel", "uses", "profession"))
    assert [(t.category, t.term, t.extra["uses"]) for t in terms] == [
        ("profession", "baker", 12),
        ("profession", "smith", 4),
    ]
    path.write_text("itemLabel\tuses\nbaker\tmany\n")
    with pytest.raises(BadInput, match="'many' as uses"):
        list(read_terms(path, "itemLabel", "uses"))
