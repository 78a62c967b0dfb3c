import json
from pathlib import Path
from typing import Any

import pytest

from catsofa.data.files import BadInput
from catsofa.data.formats.sentence_pairs import SentencePair, SentencePairs


def _line(**fields: Any) -> str:
    return json.dumps({"first": "It rained.", "second": "The roses were happy.", "follows": True} | fields) + "\n"


def _file(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines))
    return path


def test_pairs_are_read_at_random_places(tmp_path: Path) -> None:
    """Random access works after a byte-order mark, blank lines and accented characters."""
    lines = [_line(first=f"Été {k}.", follows=k % 2 == 0, split="train" if k else "held-out") for k in range(5)]
    path = tmp_path / "p.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + "\n".join(lines).encode() + b"\n")
    pairs = SentencePairs(path)
    assert len(pairs) == 5
    assert [pairs[k].first for k in (3, 0, 4)] == ["Été 3.", "Été 0.", "Été 4."]
    assert pairs.follows.tolist() == [True, False, True, False, True]
    assert pairs.held_out.tolist() == [True, False, False, False, False]


def test_a_folder_holds_both_sides(tmp_path: Path) -> None:
    """`train.jsonl` and `held-out.jsonl` of `catsofa build pairs` are read; refused.jsonl is not."""
    for side in ("train", "held-out"):
        _file(tmp_path / f"{side}.jsonl", _line(split=side), _line(split=side, follows=False, other="d2", id="x"))
    (tmp_path / "refused.jsonl").write_text('{"id": "d", "reason": "duplicate"}\n')
    pairs = SentencePairs(tmp_path)
    assert [list(pairs.indices(held_out=side)) for side in (False, True)] == [[0, 1], [2, 3]]
    assert pairs[3] == SentencePair(
        id="x", first="It rained.", second="The roses were happy.", follows=False, split="held-out", other="d2"
    )


def test_without_a_split_whole_documents_are_held_out(tmp_path: Path) -> None:
    """About the requested share of 500 documents is held out, with all pairs of a document on one side,
    reproducibly."""
    lines = [_line(document=f"d{k // 2}", follows=k % 2 == 0) for k in range(1000)]
    path = _file(tmp_path / "p.jsonl", *lines)
    held_out = SentencePairs(path, held_out_share=0.2).held_out
    assert (held_out[::2] == held_out[1::2]).all()
    assert 0.15 < held_out.mean() < 0.25
    assert (SentencePairs(path, held_out_share=0.2).held_out == held_out).all()


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ((_line(), '{"first": "A.", "second": "B."}\n'), "p.jsonl:2: found no field 'follows'"),
        ((_line(second=" "),), "p.jsonl:1: found an empty sentence in a pair"),
        ((_line(follows="maybe"),), "p.jsonl:1: found 'maybe' in field 'follows'"),
        (('{"first": "A."\n',), "p.jsonl:1: found a line that is not JSON"),
        ((_line(split="train"), _line()), "found a split on 1 of 2 lines; expected one on every line or on none"),
        ((), "an empty file"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_before_training(tmp_path: Path, lines: tuple[str, ...], says: str) -> None:
    """Every line is checked when the file is opened."""
    with pytest.raises(BadInput, match=says):
        SentencePairs(_file(tmp_path / "p.jsonl", *lines))


def test_both_answers_are_needed_on_either_side(tmp_path: Path) -> None:
    """A side without pairs of both answers is refused, because a head cannot learn or be measured on it."""
    pairs = SentencePairs(_file(tmp_path / "p.jsonl", _line(split="train"), _line(split="train", follows=False)))
    assert len(pairs.indices(held_out=False)) == 2
    with pytest.raises(BadInput, match=r"0 pairs held out.*0 follow"):
        pairs.indices(held_out=True)


def test_the_digest_is_of_the_bytes(tmp_path: Path) -> None:
    """Files with the same pairs have the same digest; another pair changes it."""
    one, same, other = (
        SentencePairs(_file(tmp_path / f"{name}.jsonl", _line(first=first))).digest()
        for name, first in (("a", "It rained."), ("b", "It rained."), ("c", "It snowed."))
    )
    assert one == same != other
