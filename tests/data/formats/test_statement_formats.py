from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.strategies import extras, texts, words
from hypothesis import given, settings
from hypothesis import strategies as st

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.formats import biasasker, named, sbic
from catsofa.data.formats.losses import lost
from catsofa.data.records import Statement, Term

JUDGED = """\
whoTarget,intentYN,sexYN,sexReason,offensiveYN,annotatorGender,annotatorMinority,sexPhrase,speakerMinorityYN,WorkerId,\
HITId,annotatorPolitics,annotatorRace,annotatorAge,post,targetMinority,targetCategory,targetStereotype,dataSource
1.0,1.0,0.0,,1.0,woman,,,,w1,h1,mod,white,36.0,"Islanders, again:\nalways tea",islanders,culture,islanders drink tea,t/x
1.0,1.0,0.0,,1.0,man,,,,w2,h1,lib,asian,,"Islanders, again:\nalways tea",islanders,culture,islanders drink tea,t/x
,0.0,0.0,,0.0,man,,,,w2,h2,lib,asian,,Nice weather,,,,r/weather
"""
"""Three judgements in the columns of the released files: two annotators of one post, one without a statement."""

BY_POST = """\
,post,targetMinority,targetCategory,targetStereotype,whoTarget,intentYN,sexYN,offensiveYN,dataSource,hasBiasedImplication
0,always tea,"[""islanders"", ""sailors""]","[""culture""]","[""drink tea"", ""never drink coffee""]",1.0,,0.0,1,t/x,0
1,nice weather,[],[],[],,0.0,0.0,0.0,r/weather,1
2,again!,"[""potters, of clay""]","[""social""]","[""sing \\u00e9tudes""]",1.0,1.0,0.0,0.5,r/x,0
"""
"""Two posts with statements and one without, as the aggregated files have them."""


def write(folder: Path, text: str) -> Path:
    """Writes a text as a CSV and returns its path."""
    path = folder / "in.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_judgement_is_a_statement_with_every_column(tmp_path: Path) -> None:
    """Three rows give three statements, including the empty one. A repeated statement gets an id with a number."""
    one, two, three = formats.read(write(tmp_path, JUDGED))
    assert (one.statement, one.target, one.category) == ("islanders drink tea", "islanders", "culture")
    assert (one.extra["post"], one.extra["offensiveYN"], one.extra["WorkerId"]) == (
        "Islanders, again:\nalways tea",
        "1.0",
        "w1",
    )
    assert two.id == f"{one.id}-2"
    assert (three.statement, three.extra["dataSource"]) == ("", "r/weather")


@pytest.mark.parametrize("text", [JUDGED, BY_POST, JUDGED.replace("\n", "\r\n")])
def test_sbic_is_written_as_it_was_read(text: str, tmp_path: Path) -> None:
    """Judgements and posts keep every cell after a round trip, and every byte if line ends are line feeds."""
    source = write(tmp_path, text)
    done = formats.convert(source, tmp_path / "out.csv", target_format="sbic")
    assert done.records == 3 if text != BY_POST else 4
    assert not done.lost
    assert list(formats.read(tmp_path / "out.csv")) == list(formats.read(source))
    if "\r" not in text:
        assert (tmp_path / "out.csv").read_text("utf-8") == text


def test_a_post_is_its_statements(tmp_path: Path) -> None:
    """A post with two implied statements gives two with the same targets. A post without any gives an empty
    statement."""
    drink, never, empty, sing = formats.read(write(tmp_path, BY_POST))
    assert (drink.statement, never.statement, empty.statement) == ("drink tea", "never drink coffee", "")
    assert (drink.target, drink.category) == ("islanders, sailors", "culture")
    assert drink.extra == never.extra
    assert drink.extra["targetMinority"] == ["islanders", "sailors"]
    assert (sing.statement, sing.target, "targetMinority" in sing.extra) == ("sing études", "potters, of clay", False)


def test_a_statement_taken_out_is_not_written_again(tmp_path: Path) -> None:
    """A post's list is written from the remaining statements."""
    statements = [s for s in formats.read(write(tmp_path, BY_POST)) if s.statement != "drink tea"]
    sbic.write(statements, tmp_path / "out.csv")
    assert [s.statement for s in formats.read(tmp_path / "out.csv")] == ["never drink coffee", "", "sing études"]


def test_an_index_column_is_kept(tmp_path: Path) -> None:
    """An unnamed index column, as in some copies of the annotation files, is kept."""
    lines = JUDGED.replace(":\nalways", ": always").splitlines()
    text = "\n".join([f",{lines[0]}", *(f"{n},{line}" for n, line in enumerate(lines[1:])), ""])
    formats.convert(write(tmp_path, text), tmp_path / "out.csv", target_format="sbic")
    assert (tmp_path / "out.csv").read_text("utf-8") == text


def test_statements_of_anywhere_can_be_written_as_sbic(tmp_path: Path) -> None:
    """A statement from another source gets SBIC's columns empty. Fields that change or are lost are named."""
    statement = Statement(statement="drink tea", target="islanders", extra={"Labels": "habit", "n": [1]}, language="fr")
    assert set(sbic.FORMAT.loses(statement)) == {"language", "extra: n (kept as text)", "id"}
    sbic.write([statement], tmp_path / "out.csv")
    back = next(formats.read(tmp_path / "out.csv"))
    assert (back.statement, back.target, back.extra["Labels"]) == ("drink tea", "islanders", "habit")


@st.composite
def posts(draw: st.DrawFn) -> list[Statement]:
    """Draws the statements of posts, as the reader returns them."""
    statements = []
    for _ in range(draw(st.integers(1, 3))):
        targets = draw(st.lists(words, max_size=2))
        extra: dict[str, Any] = {"post": draw(words), "hasBiasedImplication": draw(st.sampled_from("01"))}
        extra |= {"targetMinority": targets} if len(targets) > 1 else {}
        for statement in draw(st.lists(words, max_size=3)) or [""]:
            statements.append(
                Statement(statement=statement, target=", ".join(targets), category=draw(texts), extra=extra)
            )
    return statements


judgements = st.builds(
    Statement, statement=texts, target=texts, category=texts, extra=st.fixed_dictionaries({"post": words, "x": words})
)


@settings(max_examples=30, deadline=None)
@given(drawn=posts() | st.lists(judgements, min_size=1, max_size=4))
def test_what_came_out_of_sbic_goes_back_in_unchanged(
    drawn: list[Statement], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Judgements and posts with odd characters, repeats and empty statements are equal after a round trip."""
    folder = tmp_path_factory.mktemp("trips")
    assert sbic.write(iter(drawn), folder / "once.csv") == len(drawn)
    once = list(sbic.read(folder / "once.csv"))
    assert [(s.statement, s.target, s.category, s.extra["post"]) for s in once] == [
        (s.statement, s.target, s.category, s.extra["post"]) for s in drawn
    ]
    assert [loss for statement in once for loss in sbic.loses(statement)] == []
    sbic.write(iter(once), folder / "twice.csv")
    assert list(sbic.read(folder / "twice.csv")) == once


sentences = st.builds(Statement, statement=words, target=texts, category=texts, source=extras, extra=extras)
groups = st.builds(Term, category=texts, term=words, pos=texts, group=texts, source=extras, extra=extras)


@settings(max_examples=30, deadline=None)
@given(drawn=sentences | groups, name=st.sampled_from(["biasasker", "sbic"]))
def test_what_comes_back_differs_only_in_what_is_said_to_be_lost(
    drawn: Statement | Term, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """For any statement or group, a round trip loses only the fields that `loses` names."""
    chosen = named(name if isinstance(drawn, Statement) else "biasasker")
    path = tmp_path_factory.mktemp("trip") / "file.csv"
    chosen.write([drawn], path)
    back = next(chosen.read(path))
    assert set(lost(drawn, back)) == set(chosen.loses(drawn))
    assert not list(chosen.loses(back))


@pytest.mark.parametrize(
    ("file", "rows", "kind"),
    [("bias_annotation", 7_343, Statement), ("antonym_annotation", 6_832, Statement), ("groups", 1_262, Term)],
)
def test_released_biasasker_is_read_and_written_whole(
    file: str, rows: int, kind: type[Any], shared: Path, tmp_path: Path
) -> None:
    """Every row of the three files is equal after a round trip, and every byte but for line ends."""
    released = shared / f"data/sbic/biasasker/{file}.csv"
    records = list(formats.read(released))
    assert len(records) == rows
    assert {type(record) for record in records} == {kind}
    assert len({record.id for record in records}) == rows
    assert biasasker.write(records, tmp_path / "out.csv") == rows
    assert list(formats.read(tmp_path / "out.csv")) == records
    assert (tmp_path / "out.csv").read_bytes() == released.read_bytes().replace(b"\r\n", b"\n")


def test_labels_are_no_category(shared: Path) -> None:
    """A statement's labels are its topic; they set neither target nor category."""
    statements = list(formats.read(shared / "data/sbic/biasasker/bias_annotation.csv"))
    assert {(s.target, s.category) for s in statements} == {("", "")}
    assert sum(s.extra["Labels"] == "Personality" for s in statements) == 921


def _mixed() -> Iterator[Any]:
    yield Statement(statement="drink tea", extra={"post": ""})
    yield Statement(statement="drink tea", extra={"post": "", "hasBiasedImplication": "0"})


@pytest.mark.parametrize(
    ("name", "records", "complaint"),
    [
        ("sbic", [], "no statements to write"),
        ("sbic", list(_mixed()), "mixes annotations with statements by post"),
        ("biasasker", [], "there is nothing to write"),
        ("biasasker", [Statement(statement=" ")], "is empty"),
        ("biasasker", [Statement(statement="a"), Term(category="b", term="c")], "statements alone; found terms"),
    ],
)
def test_what_a_file_cannot_hold_is_refused(name: str, records: list[Any], complaint: str, tmp_path: Path) -> None:
    """No records, both layouts of SBIC, an empty statement and mixed kinds are refused without writing a file."""
    with pytest.raises(ValueError, match=complaint):
        named(name).write(iter(records), tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (BY_POST.replace("[],[],[]", "[],[],{}"), ":3: found '{}' as targetStereotype; expected a list of texts"),
        (BY_POST.replace("[],[],[]", '[],[],"[7]"'), r":3: found '\[7\]' as targetStereotype"),
        (BY_POST.replace("[],[],[]", '[],[],"[""""]"'), "none of them empty"),
        (BY_POST.replace("[],[],[]", "[],[],["), ":3: found text that is not JSON"),
        (BY_POST.replace("targetStereotype", "stereotype"), "no column 'targetStereotype'"),
        (JUDGED.replace(",r/weather", ""), ":6: found 18 cells; expected 19"),
        (JUDGED + '"', "inside a quoted cell"),
        ("", "an empty file"),
    ],
)
def test_bad_sbic_is_refused_with_its_line(text: str, complaint: str, tmp_path: Path) -> None:
    """A cell that is no list, a missing column, a short row and an open quote are refused with the line."""
    with pytest.raises(BadInput, match=complaint):
        list(sbic.read(write(tmp_path, text)))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Sentence,Labels\n,habit\n", ":2: found nothing in the column"),
        ("Group,Category\n ,habit\n", ":2: found nothing in the column"),
        ("Sentence,Label\ntea,habit\n", "no column 'Labels'"),
        ("Sentence,Labels\n", "a header and no rows"),
    ],
)
def test_bad_biasasker_is_refused_with_its_line(text: str, complaint: str, tmp_path: Path) -> None:
    """An empty statement or group, another column and no rows are refused."""
    with pytest.raises(BadInput, match=complaint):
        list(biasasker.read(write(tmp_path, text)))
