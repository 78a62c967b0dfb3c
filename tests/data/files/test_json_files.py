import math
from pathlib import Path

import pytest

from catsofa.data.files import BadInput, json_files


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "an empty file"),
        (" \n ", "nothing but blank space"),
        ('{"a": 1', r"doc\.json:1: found text that is not JSON \(expecting ',' delimiter at column 8\)"),
        ('{"a": 1}\n\n  {"b": 2}', r"doc\.json:3: found text that is not JSON \(extra data at column 3\)"),
        ('{"a": 1, "b": 2, "a": 3}', "found the key 'a' twice in one object"),
        ('[{"a": {"b": 1, "b": 1}}]', "found the key 'b' twice in one object"),
        ('["\\ud800"]', "found half a surrogate pair"),
        ("[" * 100_000, "found JSON nested too deeply"),
        (f"[{'9' * 5000}]", "found a number with thousands of digits"),
        ('["half', r"unterminated string starting at column 2\)"),
        ("[NaN]", "found NaN, which is not JSON"),
        ("[-Infinity]", "found -Infinity, which is not JSON"),
    ],
)
def test_what_is_no_json_is_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    """Input that Python's parser accepts is refused too: a repeated key, half a surrogate pair, NaN."""
    path = tmp_path / "doc.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=said):
        json_files.read(path, "a document")


def test_a_byte_order_mark_and_a_whole_surrogate_pair_are_no_harm(tmp_path: Path) -> None:
    """Windows' byte-order mark and JavaScript's surrogate pairs are read; an escaped backslash before u is plain
    text."""
    path = tmp_path / "doc.json"
    path.write_bytes(b'\xef\xbb\xbf["\\ud83c\\udf75", "\\\\ud800"]\r\n')
    assert json_files.read(path, "a document") == ["\N{TEACUP WITHOUT HANDLE}", "\\ud800"]


def test_nan_is_read_and_written_only_where_it_is_asked_for(tmp_path: Path) -> None:
    """NaN is read only with nan=True, because StereoSet's code writes its predictions with NaN."""
    path = tmp_path / "doc.json"
    path.write_text("[NaN, Infinity]")
    nan, infinity = json_files.read(path, "a document", nan=True)
    assert math.isnan(nan)
    assert infinity == math.inf
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_files.write([math.nan], path)
    assert path.read_text() == "[NaN, Infinity]"


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    """Half a surrogate pair and too deep nesting are refused, and no file is left."""
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (["\ud800"], deep):
        with pytest.raises(ValueError, match=r"surrogates|nested"):
            json_files.write(value, tmp_path / "doc.json")
    assert list(tmp_path.iterdir()) == []


def test_a_file_too_large_to_be_read_whole_is_refused_unread(tmp_path: Path) -> None:
    """A document of 2 GB (a sparse file) is refused without reading it."""
    path = tmp_path / "doc.json"
    with path.open("wb") as file:
        file.truncate(2 * 1024**3)
    with pytest.raises(BadInput, match="536,870,912 bytes"):
        json_files.read(path, "a document")
