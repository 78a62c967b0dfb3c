import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from catsofa.data import formats
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import AssociationTest, Candidate, Cat, Pair, Probe, Refused, Score

PROBE = {"id": "p1", "category": "profession", "identity": "Bakers", "stereotype": "sing"}


def read_text(text: str, record_type: type[Any], tmp_path: Path) -> list[Any]:
    """Returns the records of a file with this text."""
    path = tmp_path / "records.jsonl"
    path.write_text(text)
    return list(jsonl.read(path, record_type))


def probe(**fields: Any) -> str:
    """Returns a line with a probe that has these fields changed."""
    return json.dumps(PROBE | fields)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([probe()[:-5]], ":1: found a line that is not JSON"),
        ([probe() + probe(id="p2")], ":1: found a line that is not JSON (trailing characters"),
        (["[1]"], ":1: found a JSON list; expected a JSON object, one of our probes"),
        (['"tea"'], ":1: found a JSON str; expected a JSON object"),
        (["null"], ":1: found a JSON NoneType"),
        (
            [probe(), probe(id="p2", color="red")],
            ":2: found an unknown field 'color'; expected one of our probes, with",
        ),
        ([probe(identity=None)], ":1: found None in field 'identity'; expected one of our probes"),
        ([probe(extra=[1])], ":1: found [1] in field 'extra'"),
        (
            ['{"identity":"Bakers","stereotype":"sing"}'],
            ":1: found no field 'category'; expected one of our probes, which",
        ),
        (
            [probe(), probe()],
            ":2: found id 'p1' a second time (first on line 1); expected probes as JSONL with every id",
        ),
        (
            [probe(), '{"more":"a","less":"b","direction":"stereo","bias_type":"c"}'],
            ":2: found one of our pairs; expected only probes, as on the lines before",
        ),
        ([probe()[:-1] + ', "identity": "Cooks"}'], ":1: found the key 'identity' twice in one object"),
        ([probe()[:-1] + ', "\\u0069dentity": "Cooks"}'], ":1: found the key 'identity' twice in one object"),
        ([probe()[:-1] + ', "extra": {"a": 1, "a": 2}}'], ":1: found the key 'a' twice in one object"),
        ([probe(identity="\ud800")], ":1: found a line that is not JSON"),
        ([probe(extra={"n": 7})[:-3] + "9" * 5000 + "}}"], ":1: found a line that is not JSON (number out of range"),
        ([probe()[:-1] + ', "extra": {"a": ' + "[" * 5000 + "]" * 5000 + "}}"], "(recursion limit exceeded"),
    ],
)
def test_what_is_wrong_with_a_line_is_one_sentence(lines: list[str], said: str, tmp_path: Path) -> None:
    """The error has the file, the line, the finding and the expectation."""
    with pytest.raises(BadInput) as caught:
        read_text("\n".join(lines) + "\n", Probe, tmp_path)
    assert said in str(caught.value)


def test_a_key_twice_in_a_part_of_a_record_is_refused(tmp_path: Path) -> None:
    """A repeated key in a nested object is refused, because the second value would silently win."""
    word_set = '{"name": "n", "items": ["i"]}'
    line = f'{{"x": {word_set}, "y": {word_set}, "a": {word_set}, "b": {word_set[:-1]}, "items": ["j"]}}}}'
    with pytest.raises(BadInput, match="key 'items' twice"):
        read_text(line, AssociationTest, tmp_path)


def test_a_key_in_a_text_or_in_two_objects_is_no_key_twice(tmp_path: Path) -> None:
    """The same key in a text or in another object is allowed."""
    line = probe(identity='"identity" "identity"', extra={"id": 1, "extra": {"id": 2}})
    assert read_text(line, Probe, tmp_path)[0].extra == {"id": 1, "extra": {"id": 2}}


def test_line_ends_and_byte_order_marks_of_windows_are_no_harm(tmp_path: Path) -> None:
    """A file with Windows line ends and a byte-order mark has the same records."""
    path = tmp_path / "records.jsonl"
    path.write_bytes(f"\ufeff{probe()}\r\n\r\n{probe(id='p2')}\r\n".encode())
    assert [record.id for record in formats.read(path)] == ["p1", "p2"]


def test_an_unscored_text_is_null_and_an_infinite_score_survives(tmp_path: Path) -> None:
    """NaN (unscored) becomes null; an infinite score is kept."""
    path = tmp_path / "scores.jsonl"
    scores = [Score(item="a", score=math.nan), Score(item="b", score=-math.inf), Score(item="c", score=0.1)]
    jsonl.write(scores, path)
    assert path.read_text().splitlines()[0] == '{"item":"a","score":null}'
    assert [score.score for score in jsonl.read(path, Score)] == [None, -math.inf, 0.1]
    assert [score.score for score in read_text('{"item":"a","score":NaN}', Score, tmp_path)] == [None]


def test_an_infinite_number_in_a_free_field_is_refused(tmp_path: Path) -> None:
    """An infinite number in `extra` is refused, because JSON cannot express it. NaN becomes null."""
    record = Probe(category="NaN", identity="Infinity", stereotype="null", extra={"a": [1.0, {"b": math.nan}, "NaN"]})
    jsonl.write([record], tmp_path / "probes.jsonl")
    (back,) = jsonl.read(tmp_path / "probes.jsonl", Probe)
    assert back.extra == {"a": [1.0, {"b": None}, "NaN"]}
    with pytest.raises(ValueError, match=r"Probe: extra: a: b.*inf"):
        jsonl.write([replace(record, extra={"a": [1.0, {"b": math.inf}]})], tmp_path / "inf.jsonl")
    assert [file.name for file in tmp_path.iterdir()] == ["probes.jsonl"]


def test_what_reading_would_refuse_is_not_written(tmp_path: Path) -> None:
    """Mixed kinds, a repeated id and half a surrogate pair are refused at writing."""
    one = Probe(id="p1", category="c", identity="Bakers", stereotype="sing")
    pair = Pair(id="p2", more="a", less="b", direction="stereo", bias_type="c")
    broken = Probe(category="c", identity="\ud800", stereotype="sing")
    for records, message in (
        ([one, pair], "a Pair among Probes"),
        ([one, one], "id 'p1' a second"),
        ([broken], "surrog"),
    ):
        with pytest.raises(ValueError, match=message):
            jsonl.write(records, tmp_path / "records.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_candidate_stands_in_one_cat_alone(tmp_path: Path) -> None:
    """A candidate id in two CATs is refused, because scores are joined by candidate id."""

    def cat(item: str, first: str) -> Cat:
        one, two, three = (
            Candidate(id=f"{item}{label}", text=label, label=label)  # the label serves as the text
            for label in ("stereotype", "anti-stereotype", "unrelated")
        )
        shared = Candidate(id=first, text="tea", label="stereotype")
        return Cat(
            id=item,
            kind="intersentence",
            bias_type="b",
            target="t",
            context="c",
            candidates=(shared if first else one, two, three),
        )

    path = tmp_path / "cats.jsonl"
    assert jsonl.write([cat("a", ""), cat("b", "")], path) == 2
    with pytest.raises(BadInput, match=r"cats\.jsonl:2: .*'s'.*line 1"):
        jsonl.write([cat("a", "s"), cat("b", "s")], path)


def test_an_item_may_be_refused_twice(tmp_path: Path) -> None:
    """Two refusals may have the same id, because two filters can refuse one item."""
    refused = [Refused(id="p1", reason="too long"), Refused(id="p1", reason="too rude")]
    jsonl.write(refused, tmp_path / "refused.jsonl")
    assert list(jsonl.read(tmp_path / "refused.jsonl", Refused)) == refused


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{}", "found the fields of an empty object; expected one of annotations, cats, pairs"),
        ('{"color": 1}', "found the fields 'color'; expected one of"),
        ("[1]", "found a JSON list; expected a JSON object on each line"),
        ('{"item": 1, "item": 2}', "found the key 'item' twice"),
        ("[" * 100_000, "found JSON nested too deeply"),
    ],
)
def test_a_first_line_that_tells_no_kind_is_said(line: str, said: str, tmp_path: Path) -> None:
    """The kind of a file is that of its first line; an unknown first line is refused."""
    path = tmp_path / "records.jsonl"
    path.write_text(line)
    with pytest.raises(BadInput) as caught:
        list(formats.read(path))
    assert said in str(caught.value)
