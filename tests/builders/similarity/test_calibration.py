"""Tests of thresholds from judged pairs of sentences."""

from pathlib import Path

import numpy as np
import pytest

from catsofa.builders.similarity.calibration import calibrate, read_judged, threshold_for
from catsofa.data.files import BadInput


def test_threshold_by_hand() -> None:
    """From 0.7 on, 3 of 4 pairs have the same meaning, and all 3 such pairs are kept."""
    cosine = np.array([0.9, 0.8, 0.75, 0.7, 0.6, 0.5])
    same = np.array([True, False, True, True, False, False])
    assert threshold_for(cosine, same, 0.75) == (0.7, 1.0)
    assert threshold_for(cosine, same, 1.0) == (0.9, pytest.approx(1 / 3))
    assert threshold_for(cosine, ~same, 0.9) == (None, None)
    tied = np.array([0.9, 0.9, 0.8, 0.8, 0.8, 0.8])
    assert threshold_for(tied, same, 0.9) == (None, None), "the first 0.9 alone would be right, but it has a twin"


def test_calibration_says_how_sure_it_is() -> None:
    """The interval contains ρ. Judgements that do not differ are refused."""
    cosine, judged = np.linspace(0, 1, 30), [n + n % 3 for n in range(30)]
    calibration = calibrate(cosine, judged, same_from=20, precision=0.9)
    assert calibration.interval[0] <= calibration.spearman <= calibration.interval[1] <= 1
    assert (calibration.pairs, calibration.same) == (30, 11)
    with pytest.raises(ValueError, match="judgements that differ"):
        calibrate(cosine, [1.0] * 30, same_from=1, precision=0.9)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("sentence1\tsentence2\na\tb\n", "no column 'score'"),
        ("sentence1\tsentence2\tscore\na\tb\n", ":2: found 2 cells"),
        ("sentence1\tsentence2\tscore\na\tb\thigh\n", ":2: found the score 'high'"),
        ("sentence1,sentence2,score\na,b,nan\n", ":2: found the score 'nan'"),
    ],
)
def test_a_table_of_judgements_that_is_none(tmp_path: Path, text: str, complaint: str) -> None:
    """An invalid table of judgements is refused with its line and the expected format."""
    (tmp_path / "t.tsv").write_text(text)
    with pytest.raises(BadInput, match=complaint):
        read_judged(tmp_path / "t.tsv")


def test_sts_tables_are_read_as_they_are(tmp_path: Path) -> None:
    """In a TSV, a quotation mark is a character and further columns are ignored. A CSV has quoted cells."""
    (tmp_path / "t.tsv").write_text('index\tsentence1\tsentence2\tscore\n0\tHe said "hi.\tHe greeted.\t3.5\n')
    (tmp_path / "t.csv").write_text('sentence1,sentence2,score\n"a, b",c,1\n')
    assert read_judged(tmp_path / "t.tsv") == [('He said "hi.', "He greeted.", 3.5)]
    assert read_judged(tmp_path / "t.csv") == [("a, b", "c", 1.0)]
