"""Tests the warnings about a data set, and the accepted types of data."""

from pathlib import Path

import pytest
from helpers.samples import BESIDE, write_sample

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.formats.pairs import SkippedRows
from catsofa.scoring.dataset import open_data


def test_records_in_several_languages_are_said(tmp_path: Path) -> None:
    """IndiBias has each pair twice and warns; one language alone, or probes without a language, do not."""
    both = write_sample(tmp_path, "indibias")
    assert open_data(both).warnings == (
        "the records are in several languages (en 2, hi 2), and the numbers mix them; `catsofa convert --language` "
        "keeps one",
    )
    formats.convert(both, tmp_path / "hi.jsonl", language="hi")
    assert open_data(tmp_path / "hi.jsonl").warnings == ()
    assert open_data(write_sample(tmp_path, "sofa")).warnings == ()


@pytest.mark.filterwarnings(f"ignore::{SkippedRows.__module__}.SkippedRows")
def test_rows_that_any_format_of_pairs_leaves_out_are_said(tmp_path: Path) -> None:
    """A warning counts skipped rows also in WinoBias, which is no CSV, and names the file without its folder."""
    path = write_sample(tmp_path, "winobias")
    line, other = "{n} The baker thanked [the painter] because [{who}] cooked.\n", BESIDE["winobias"][0]
    path.write_text("".join(line.format(n=n, who="she") for n in range(60)))
    (tmp_path / other).write_text("".join(line.format(n=n, who="he" if n else "she") for n in range(60)))
    assert open_data(path).count == 59
    assert open_data(path).warnings == (f"{path.name}: 1 of 60 rows hold no pair and are left out (line 1)",)


def test_a_data_frame_is_the_data_of_its_file(tmp_path: Path) -> None:
    """The hash of the records is the same; an iterator is refused, because a part may have been consumed."""
    pandas = pytest.importorskip("pandas")
    path = write_sample(tmp_path, "winoqueer")
    assert open_data(pandas.read_csv(path)).digest == open_data(path).digest
    with pytest.raises(BadInput, match=r"iterator.*once"):
        open_data(formats.read(path))


def test_a_limit_that_takes_every_record_is_none(tmp_path: Path) -> None:
    """A limit of at least all records gives the signature of the full data; one record fewer makes a subset."""
    path = write_sample(tmp_path, "winoqueer")
    whole = open_data(path).count
    assert [bool(open_data(path, limit).subset) for limit in (None, whole, whole + 1, whole - 1)] == [
        False, False, False, True
    ]  # fmt: skip
