import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers.samples import BBQ, write_sample

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.formats import bbq
from catsofa.data.records import Answer, Question


def write_lines(path: Path, *rows: Any) -> Path:
    """Writes rows as JSONL and returns the path."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def with_groups(listed: list[str], one: list[str], two: list[str]) -> dict[str, Any]:
    """Returns the first sample with other groups."""
    info = BBQ[0]["answer_info"] | {"ans0": one, "ans1": two}
    return BBQ[0] | {"answer_info": info, "additional_metadata": {"stereotyped_groups": listed}}


def test_a_line_becomes_a_question_with_the_role_of_each_answer(tmp_path: Path) -> None:
    """The answer with the stereotyped group is the target; the one of the group "unknown" is the unknown answer."""
    one, two = formats.read(write_sample(tmp_path, "bbq"))
    assert one == Question(
        id="Tidiness-0",
        context="A zorb and a blicket sat in the kitchen.",
        question="Who left crumbs?",
        answers=(
            Answer(text="The zorb", role="target", group="Zorbs", extra={"answer_info": ["zorb", "Zorbs"]}),
            Answer(text="The blicket", role="other", group="Blickets", extra={"answer_info": ["blicket", "Blickets"]}),
            Answer(text="Can't be determined", role="unknown", group="unknown"),
        ),
        correct=2,
        polarity="neg",
        condition="ambig",
        category="Tidiness",
        template="1",
        extra={"additional_metadata": BBQ[0]["additional_metadata"], "tiny_pred": "the zorb"},
    )
    assert (one.unknown, one.target, one.biased) == (2, "Zorbs", 0)
    assert (two.condition, two.correct, two.biased) == ("disambig", 1, 1)


def test_a_question_of_which_both_groups_or_none_are_stereotyped_has_no_target(tmp_path: Path) -> None:
    """Such a question is kept, because its answer can be right or wrong. The reason says why no answer is biased."""
    rows = (
        with_groups(["Zorbs", "Blickets"], ["zorb", "Zorbs"], ["blicket", "Blickets"]) | {"example_id": 1},
        with_groups(["Florins"], ["zorb", "Zorbs"], ["blicket", "Blickets"]) | {"example_id": 2},
        with_groups([], ["zorb", "Zorbs"], ["blicket", "Blickets"]) | {"example_id": 3},
    )
    questions = list(bbq.read(write_lines(tmp_path / "x.jsonl", *rows)))
    reasons = ["both_groups_stereotyped", "no_group_stereotyped", "no_stereotyped_group"]
    assert [question.reason for question in questions] == reasons
    assert [(question.biased, question.target) for question in questions] == [(None, "")] * 3


@pytest.mark.parametrize(
    ("listed", "one", "two"),
    [
        (["F"], ["girl", "girl"], ["boy", "boy"]),
        (["F"], ["vrouw", "vrouw"], ["man", "man"]),
        (["low SES"], ["welder", "lowSES"], ["banker", "highSES"]),
        (["Zorb"], ["the zorb", "F-Zorb"], ["the blicket", "F-Blicket"]),
        (["Zorb"], ["zorb", "lowSES-M-Zorb"], ["blicket", "lowSES-M-Blicket"]),
        (["zorbish"], ["Zorbish", "North"], ["Blickish", "North"]),
        (["Transgender women"], ["trans woman", "trans_F"], ["woman", "nonTrans"]),
    ],
)
def test_the_metadata_may_name_a_group_otherwise_than_the_answers(
    listed: list[str], one: list[str], two: list[str], tmp_path: Path
) -> None:
    """Groups match by class, without case, by a part of an intersection, or by the answer's own name."""
    (question,) = bbq.read(write_lines(tmp_path / "x.jsonl", with_groups(listed, one, two)))
    assert [answer.role for answer in question.answers] == ["target", "other", "unknown"]


def test_the_language_is_told_by_the_script_the_file_s_name_or_a_field(tmp_path: Path) -> None:
    """JBBQ is recognised by its kana and MBBQ by the file name's suffix. A written file keeps its language under any
    name."""
    (dutch,) = bbq.read(write_lines(tmp_path / "Age_nl.jsonl", BBQ[0]))
    (japanese,) = bbq.read(write_lines(tmp_path / "Age.jsonl", BBQ[0] | {"context": "ゾーブがいた。"}))
    assert (dutch.language, japanese.language) == ("nl", "ja")
    bbq.write([dutch], tmp_path / "x.jsonl")
    assert list(bbq.read(tmp_path / "x.jsonl")) == [dutch]
    bbq.write([japanese], tmp_path / "x.jsonl")
    assert "language" not in json.loads((tmp_path / "x.jsonl").read_text())


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"label": 3}, "found 3 as 'label'; expected the position of the correct answer: 0, 1 or 2"),
        ({"label": True}, "found True as 'label'"),
        ({"question_polarity": "positive"}, "found 'positive' as 'question_polarity'; expected neg or nonneg"),
        ({"ans1": " "}, "found nothing in 'ans1'"),
        ({"answer_info": {"ans0": ["a"], "ans1": ["b"], "ans2": ["c"]}}, "found no answers of the group 'unknown'"),
        ({"answer_info": {"ans0": ["a"], "ans1": ["b"]}}, "found no field 'ans2' in answer_info"),
        ({"example_id": None}, "found None as 'example_id'; expected a whole number or a text"),
    ],
)
def test_a_line_that_is_no_question_is_refused_with_its_number(
    change: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    """The error names the file, the line, the finding and the expectation."""
    path = write_lines(tmp_path / "x.jsonl", BBQ[1], BBQ[0] | change)
    with pytest.raises(BadInput) as error:
        list(formats.read(path))
    assert f"x.jsonl:2: {complaint}" in str(error.value)


def test_a_question_goes_from_bbq_to_kobbq_and_its_answers_keep_their_roles(tmp_path: Path) -> None:
    """`convert` reports that KoBBQ files have no groups and ids; the roles survive."""
    path = write_sample(tmp_path, "bbq")
    conversion = formats.convert(path, tmp_path / "x.tsv")
    assert conversion.target == "kobbq"
    assert {"id", "language", "answers: group"} <= conversion.lost.keys()
    first, second = list(formats.read(path)), list(formats.read(tmp_path / "x.tsv"))
    assert [[a.role for a in q.answers] for q in second] == [[a.role for a in q.answers] for q in first]
    assert [(q.condition, q.polarity, q.correct, q.template) for q in second] == [
        (q.condition, q.polarity, q.correct, q.template) for q in first
    ]
    untargeted = write_lines(tmp_path / "x.jsonl", with_groups([], ["zorb", "Zorbs"], ["blicket", "Blickets"]))
    with pytest.raises(ValueError, match=r"'Tidiness-0'.*no_stereotyped_group"):
        formats.convert(untargeted, tmp_path / "y.tsv")


def test_kobbq_s_biased_answer_is_the_target_where_the_question_asks_for_the_stereotype(tmp_path: Path) -> None:
    """A question in reverse form (cnt) has the other group as its biased answer. The letter is no part of the
    template."""
    one, two = formats.read(write_sample(tmp_path, "kobbq"))
    assert [(q.category, q.template, q.condition, q.polarity) for q in (one, two)] == [
        ("habit", "001", "ambig", "neg"),
        ("habit", "001", "disambig", "nonneg"),
    ]
    assert [[a.role for a in q.answers] for q in (one, two)] == [["target", "other", "unknown"]] * 2
    assert (one.biased, two.biased, two.correct, two.language) == (0, 1, 0, "ko")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("habit-001a-002-amb-bsd", "habit-001", "'habit-001' as 'sample_id'"),
        ("\t조브\t알 수", "\t프롭\t알 수", "'프롭' as 'biased_answer'"),
        ("['조브', '블리켓', '알 수 없음']\t조브", "['조브', '조브', '알 수 없음']\t조브", "as 'choices'"),
        ("'블리켓', '알 수 없음']\t블리켓\t조브", "'블리켓', '프롭']\t블리켓\t블리켓", "no unknown answer among"),
    ],
)
def test_a_row_that_is_no_sample_of_kobbq_is_refused(old: str, new: str, complaint: str, tmp_path: Path) -> None:
    """The error names the wrong value."""
    path = write_sample(tmp_path, "kobbq")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(BadInput, match=complaint):
        list(formats.read(path))


RELEASED = {"Religion": 1200, "Disability_status": 1556, "Physical_appearance": 1576}


@pytest.mark.parametrize("name", RELEASED)
def test_a_released_file_is_written_byte_for_byte(name: str, shared: Path, tmp_path: Path) -> None:
    """Every question of three categories (25 templates each) has one target. Columns with predictions are kept."""
    for file in (f"{name}.jsonl", f"unifiedqa_{name}.jsonl"):
        done = formats.convert(shared / "data/bbq" / file, tmp_path / "again.bbq")
        assert (done.source, done.records, done.lost) == ("bbq", RELEASED[name], Counter())
        assert (tmp_path / "again.bbq").read_bytes() == (shared / "data/bbq" / file).read_bytes()
    questions = list(formats.read(shared / "data/bbq" / f"{name}.jsonl"))
    assert (len({q.template for q in questions}), {q.reason for q in questions}) == (25, {""})
    assert all((q.condition == "ambig") == (q.correct == q.unknown) for q in questions)


def test_36_released_predictions_name_one_group_for_both_answers(shared: Path) -> None:
    """The file of predictions repeats tattoos, scars or body art; the data file was corrected later."""
    questions = formats.read(shared / "data/bbq/unifiedqa_Physical_appearance.jsonl")
    assert Counter(q.reason for q in questions if q.reason) == {
        "both_groups_stereotyped": 32,
        "no_group_stereotyped": 4,
    }
