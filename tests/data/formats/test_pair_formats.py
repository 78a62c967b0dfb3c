"""Tests minimal pairs of WinoQueer, IndiBias, RedditBias, Indian-BhED, WinoBias and CrowS-Pairs in other languages."""

from pathlib import Path

import pytest
from helpers.samples import BHED, FILES, REDDITBIAS, WINOBIAS_ANTI, write_sample

import catsofa
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.formats.pairs import SkippedRows
from catsofa.data.records import Pair


def test_winoqueer_takes_x_for_the_more_stereotyping_sentence(tmp_path: Path) -> None:
    """The domain is the identity of x, as in the authors' code. The identity of y and the predicate go to extra."""
    one, two = formats.read(write_sample(tmp_path, "winoqueer"))
    assert (one.id, one.more, one.less, one.direction, one.bias_type) == (
        *("0", "Zorb people hum at night.", "Blicket people hum at night."),
        *("stereo", "Zorb"),
    )
    assert one.extra == {"Gender_ID_y": "Blicket", "predicate": "hum at night"}
    assert two.bias_type == "Pellor"


def test_the_first_version_of_winoqueer_is_read_without_the_spaces_behind_its_commas(tmp_path: Path) -> None:
    """Spaces after commas are removed from sentences, directions and types. The annotators are a list without
    brackets."""
    (pair,) = formats.read(write_sample(tmp_path, "crows-pairs of WinoQueer's first version"))
    assert (pair.less, pair.direction, pair.bias_type) == ("Blicket hums.", "stereo", "zorb_blicket_name")
    assert [(vote.annotator, vote.label) for vote in pair.votes] == [(f"a{number}", "") for number in range(5)]


def test_pairs_without_an_index_that_stand_twice_have_two_ids(tmp_path: Path) -> None:
    """The id comes from the content, and the second pair gets a number."""
    path = tmp_path / "w.csv"
    row = "Zorb,Blicket,Zorbs hum.,Blickets hum.\n"
    path.write_text(f"Gender_ID_x,Gender_ID_y,sent_x,sent_y\n{row}{row}")
    one, two = formats.read(path)
    assert two.id == f"{one.id}-2"


def test_a_row_of_indibias_is_a_pair_in_each_language(tmp_path: Path) -> None:
    """The id and the language field both name the language."""
    pairs = list(formats.read(write_sample(tmp_path, "indibias")))
    assert [(pair.id, pair.language, pair.direction) for pair in pairs] == [
        *(("0-en", "en", "stereo"), ("0-hi", "hi", "stereo")),
        *(("1-en", "en", "antistereo"), ("1-hi", "hi", "antistereo")),
    ]
    assert (pairs[0].more, pairs[1].less) == ("The Zorb family hums.", "ब्लिकेट परिवार गाता है।")
    assert (pairs[0].bias_type, pairs[0].extra) == ("Clan", {"index": "649"})


def test_the_id_and_the_language_of_translated_pairs_are_their_columns(tmp_path: Path) -> None:
    """A pair has the same id in every language."""
    one, two = formats.read(write_sample(tmp_path, "crows-pairs in French"))
    assert [(pair.id, pair.language, dict(pair.extra)) for pair in (one, two)] == [("0", "fr", {}), ("1", "fr", {})]


def test_redditbias_pairs_a_comment_with_its_counterfactual(tmp_path: Path) -> None:
    """The domain is the topic in the file name, or the file's stem."""
    one, _ = formats.read(write_sample(tmp_path, "redditbias"))
    assert (one.more, one.less) == ("zorb people hum all night.", "blicket people hum all night.")
    assert one.bias_type == "clan"
    assert one.extra == {"initial_demo": "['zorb']", "replaced_demo": "['blicket']", "perplexity": "104.5"}
    path = tmp_path / "mine.csv"
    path.write_text(REDDITBIAS)
    assert {pair.bias_type for pair in formats.read(path)} == {"mine"}


def test_few_comments_without_a_counterfactual_are_left_out(tmp_path: Path) -> None:
    """One of 41 rows with the same comment twice is skipped with a warning; two of four make the file invalid."""
    path = tmp_path / "r.csv"
    same = "['zorb'],[],it rains.,it rains.,1.0\n"
    header, *rows = REDDITBIAS.splitlines(keepends=True)
    path.write_text(header + "".join(rows) * 20 + same)
    with pytest.warns(SkippedRows, match=r"1 of 41.*no pair.*line 42"):
        assert len(list(formats.read(path))) == 40
    path.write_text(header + "".join(rows) + same * 2)
    with pytest.raises(BadInput, match=r"r\.csv:4: .*same comment"):
        list(formats.read(path))


def test_bhed_fills_each_mask_with_a_word_of_its_own(tmp_path: Path) -> None:
    """The domain is the topic in the file name. A row with more words than masks is refused."""
    one, two = formats.read(write_sample(tmp_path, "bhed"))
    assert (one.more, one.less, one.bias_type) == (
        *("All the humming is done by Zorbs", "All the humming is done by Blickets", "Clan"),
    )
    assert (two.more, two.less) == ("The Zorb, they say, lost his hat", "The Blicket, they say, lost her hat")
    for old, new in (
        ("by MASK", "by them"),
        ("['Blickets']", "Blickets"),
        ("0,['Zorbs']", """0,"['Zorbs', 'Dax']" """.strip()),
    ):
        (tmp_path / "x.csv").write_text(BHED.replace(old, new))
        with pytest.raises(BadInput, match=r"x\.csv:2: .*'Target_"):
            list(formats.read(tmp_path / "x.csv"))


@pytest.mark.parametrize("side", ["pro", "anti", "folder"])
def test_winobias_is_read_from_either_file_or_their_folder(side: str, tmp_path: Path) -> None:
    """Sentences are joined by number in any order, and brackets are removed."""
    path = write_sample(tmp_path, "winobias")
    anti = tmp_path / path.name.replace("pro_", "anti_")
    anti.write_text("".join(reversed(WINOBIAS_ANTI.splitlines(keepends=True))))
    one, two = catsofa.read({"pro": path, "anti": anti, "folder": tmp_path}[side])
    assert (one.id, one.more, one.less, one.bias_type) == (
        *("type1.dev-1", "The baker thanked the painter because he was glad."),
        *("The baker thanked the painter because she was glad.", "gender"),
    )
    assert (two.id, two.more) == ("type1.dev-2", "The baker thanked the painter because she cooked.")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2 The", "3 The", "found sentence 2, which anti_stereotyped_type1.txt.dev lacks"),
        ("cooked", "sang", "sentence 2, which differs from that of anti_stereotyped_type1.txt.dev in more or less"),
        ("[he]", "[she]", "sentence 2, which differs from that of anti_stereotyped_type1.txt.dev in more or less"),
        ("[", "", "found a line without number or brackets"),
    ],
)
def test_sentences_of_winobias_that_do_not_fit_are_refused(old: str, new: str, said: str, tmp_path: Path) -> None:
    """A number that one file lacks, another word, the same pronoun and missing brackets are refused."""
    path = write_sample(tmp_path, "winobias")
    anti = tmp_path / path.name.replace("pro_", "anti_")
    anti.write_text(WINOBIAS_ANTI.replace(old, new).replace("]", "]" if new else ""))
    with pytest.raises(BadInput, match=said.replace("(", r"\(")):
        list(formats.read(path, "winobias"))
    anti.unlink()
    with pytest.raises(BadInput, match=r"no such file.*pro_stereotyped_type1"):
        list(formats.read(path))


READ_ONLY = [name for name in FILES if (of := formats.named(name.split()[0])).suffix is None and of.holds == (Pair,)]


@pytest.mark.parametrize("name", READ_ONLY)
def test_formats_that_are_only_read_say_so_and_convert_to_ours(name: str, tmp_path: Path) -> None:
    """A read-only format is never chosen by suffix. JSONL and CrowS-Pairs preserve all its pairs."""
    path = write_sample(tmp_path, name)
    records = list(formats.read(path))
    formats.convert(path, tmp_path / "out.jsonl")
    assert list(formats.read(tmp_path / "out.jsonl")) == records
    assert formats.convert(path, tmp_path / "out" / "pairs.csv").target == "crows-pairs"
    assert list(formats.read(tmp_path / "out" / "pairs.csv")) == records
    with pytest.raises(ValueError, match=f"{name}.*not written"):
        formats.convert(tmp_path / "out.jsonl", tmp_path / "x.csv", target_format=name)
