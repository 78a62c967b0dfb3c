from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.samples import CROWS, write_sample

from catsofa.data import formats
from catsofa.data.files import BadInput, jsonl
from catsofa.data.formats.pairs import crows_pairs
from catsofa.data.records import Annotation, Pair


def test_a_row_becomes_a_pair_with_its_votes(tmp_path: Path) -> None:
    """An annotator's bias types are joined by `|`; an empty list is an empty label. The writer goes to extra."""
    one, two = crows_pairs.TABLE.read(write_sample(tmp_path, "crows-pairs"))
    assert one == Pair(
        id="0",
        more="Islanders, as ever, drink tea.",
        less="Mainlanders, as ever, drink tea.",
        direction="stereo",
        bias_type="nationality",
        votes=(
            Annotation(item="0", annotator="a1", label="nationality"),
            Annotation(item="0", annotator="a2", label=""),
            Annotation(item="0", annotator="a3", label="nationality|age"),
        ),
        extra={"anon_writer": "a0"},
    )
    assert (two.direction, [vote.annotator for vote in two.votes]) == ("antistereo", ["a1", "a1", "a2"])


def test_a_released_file_is_written_byte_for_byte(tmp_path: Path) -> None:
    """Columns, quotes, Python lists and line ends equal those of the release."""
    crows_pairs.write(crows_pairs.TABLE.read(write_sample(tmp_path, "crows-pairs")), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == CROWS


def test_the_revised_file_has_tabs_and_no_votes(tmp_path: Path) -> None:
    """The revised file's index gives ids, such as LA1. Written in the release's form, the pairs read the same."""
    pairs = list(formats.read(write_sample(tmp_path, "crows-pairs revised")))
    assert [(pair.id, pair.votes) for pair in pairs] == [("0", ()), ("LA1", ())]
    assert pairs[0].more == 'Islanders "never" lie.'
    crows_pairs.write(pairs, tmp_path / "again.csv")
    assert list(crows_pairs.TABLE.read(tmp_path / "again.csv")) == pairs


def test_a_file_without_an_index_gives_pairs_the_id_of_their_content(tmp_path: Path) -> None:
    """Without an index, the id comes from the content and is the same on every machine; the votes use it."""
    path = tmp_path / "pairs.csv"
    path.write_text(
        "sent_more,sent_less,stereo_antistereo,bias_type,annotations,anon_annotators\n"
        "Bakers sing.,Painters sing.,stereo,profession,[['profession']],['a1']\n"
    )
    (pair,) = crows_pairs.TABLE.read(path)
    assert pair.id == Pair(more="Bakers sing.", less="Painters sing.", direction="stereo", bias_type="profession").id
    assert pair.votes[0].item == pair.id
    crows_pairs.write([pair], tmp_path / "again.csv")
    assert list(crows_pairs.TABLE.read(tmp_path / "again.csv")) == [pair]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("stereo,nationality", "both,nationality", ":2: found the direction 'both'; expected stereo or antistereo"),
        ("stereo,nationality", "stereo,", ":2: found nothing in the column 'bias_type'"),
        ("['a1', 'a2', 'a3']", "['a1', 'a2']", ":2: found 3 annotations by 2 annotators"),
        ("['a1', 'a2', 'a3']", "['a1', 2, 'a3']", ":2: found ['a1', 2, 'a3'] as annotators; expected a list of names"),
        ("['a1', 'a2', 'a3']", "a1 a2 a3", "'a1 a2 a3' in the column 'anon_annotators'; expected a list as Python"),
        ("['a1', 'a2', 'a3']", "__import__('os')", "in the column 'anon_annotators'; expected a list as Python"),
        ("[['nationality'], [],", "[['nationality'], 'age',", ":2: found 'age' as the annotation of one person"),
        ("[['nationality'], [],", "[['a|b'], [],", ":2: found the labels ['a|b']; expected texts without '|'"),
        ("[['nationality'], [],", "[[''], [],", ":2: found the labels ['']"),
        ("\n1,", "\n0,", ":3: found id '0' a second time (first on line 2)"),
        ("\n1,", "\n,", ":3: found nothing in the column ''"),
        (",sent_more", ",template,sent_more", ":1: found a column 'template'"),
    ],
)
def test_what_is_wrong_with_a_pair_is_said_with_its_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    """Annotation cells must be Python literals. Invalid names, directions and ids are refused with the line."""
    path = tmp_path / "pairs.csv"
    text = CROWS.replace(old, new, 1)
    path.write_text(text.replace("\n0,", "\n0,x,").replace("\n1,", "\n1,y,") if "template" in new else text)
    with pytest.raises(BadInput) as caught:
        list(crows_pairs.TABLE.read(path))
    assert said in str(caught.value)


def test_what_crows_pairs_cannot_hold_is_named_and_counted(tmp_path: Path) -> None:
    """Provenance, the time of a vote and values that are not text are reported as lost."""
    one, two = crows_pairs.TABLE.read(write_sample(tmp_path, "crows-pairs"))
    rich = replace(
        one,
        language="fr",
        source={"set": "x"},
        votes=(replace(one.votes[0], at="noon"), *one.votes[1:]),
        extra={"anon_writer": "a0", "round": 2, "note": "kept"},
    )
    lost = {"source: set", "votes: at", "extra: round (kept as text)"}
    assert set(crows_pairs.loses(rich)) == lost
    jsonl.write([rich, two], tmp_path / "pairs.jsonl")
    done = formats.convert(tmp_path / "pairs.jsonl", tmp_path / "again.csv", target_format="crows-pairs")
    assert done.lost == Counter(lost)
    back, _ = crows_pairs.TABLE.read(tmp_path / "again.csv")
    assert (back.language, back.extra) == ("fr", {"anon_writer": "a0", "round": "2", "note": "kept"})


def test_what_reading_would_refuse_is_not_written(tmp_path: Path) -> None:
    """A repeated id and a pair without a bias type are refused with the line they would have."""
    one, _ = crows_pairs.TABLE.read(write_sample(tmp_path, "crows-pairs"))
    for pairs, message in (
        ([one, one], r":3: found id '0' a second"),
        ([replace(one, bias_type="")], ":2: found nothing"),
    ):
        with pytest.raises(BadInput, match=message):
            crows_pairs.write(pairs, tmp_path / "again.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.csv"]


def test_the_released_pairs_come_back_as_they_were(shared: Path, tmp_path: Path) -> None:
    """The 1,508 pairs with 5 annotators each (287 workers, 77 writers, 666 empty lists) are written byte for byte.

    Number of annotators who chose the gold bias type: 5 for 631 pairs, 4 for 478, 3: 237, 2: 121, 1: 31, 0: 10.
    """
    source = shared / "data/crows/crows_pairs_anonymized.csv"
    pairs: list[Pair] = list(formats.read(source))
    votes = [vote for pair in pairs for vote in pair.votes]
    assert (len(pairs), len(votes)) == (1508, 7540)
    assert len({vote.annotator for vote in votes}) == 287
    assert len({pair.extra["anon_writer"] for pair in pairs}) == 77
    assert sum(not vote.label for vote in votes) == 666
    agreeing = Counter(sum(pair.bias_type in vote.label.split("|") for vote in pair.votes) for pair in pairs)
    assert agreeing == {5: 631, 4: 478, 3: 237, 2: 121, 1: 31, 0: 10}
    crows_pairs.write(iter(pairs), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == source.read_bytes()


def test_the_revised_pairs_come_back_equal(shared: Path, tmp_path: Path) -> None:
    """The 1,677 revised pairs, 1,466 stereo and 211 antistereo, are equal after a round trip."""
    pairs: list[Pair] = list(formats.read(shared / "data/crows/crows_pairs_EN_revised+210_corrections.csv"))
    assert Counter(pair.direction for pair in pairs) == {"stereo": 1466, "antistereo": 211}
    crows_pairs.write(iter(pairs), tmp_path / "again.csv")
    assert list(formats.read(tmp_path / "again.csv")) == pairs


def test_the_released_templates_are_not_taken_for_pairs(shared: Path) -> None:
    """mask_split.csv has the columns of pairs but contains words, and is refused."""
    with pytest.raises(BadInput, match="column 'template'"):
        list(formats.read(shared / "data/crows/mask_split.csv"))
