"""Reports of answers: the position effect has its own column."""

from typing import Any

from catsofa.report.sections import crows_pairs, stereoset
from catsofa.scoring.signature import Signature


def test_a_row_of_answers_has_a_cell_for_every_column() -> None:
    """A row of answers has a cell for every column: the effect 0.25, then 3 ties; scores have no such column."""
    limits = {"low": 40.0, "high": 60.0}
    pairs = {"score": 50.0, "pairs": 10, "neutral": 3, "coverage": 0.7, "unknown": None, "intervals": {"score": limits}}
    signature = Signature(data="pairs@1", model="m@2", protocol="catsofa")
    effect = {"value": 0.25, "low": 0.1, "high": 0.4}
    for words, more in ((crows_pairs.ASKED, {"position": effect}), (crows_pairs.WORDS, {})):
        results = {"overall": pairs | more, "directions": {}, "types": {"pastime": pairs | more}}
        report = {"results": results, "signature": signature.to_dict(), "unscored": {}, "protocol": "catsofa"}
        (table,) = crows_pairs.crows("crows", [("m", report, signature)], words).tables
        for row in table.rows:
            cells = dict(zip(table.columns, row, strict=True))
            assert cells["ties"] == 3
            assert ("position" in cells) == bool(more)
            assert not more or "0.25" in str(cells["position"])


def test_a_report_of_answers_does_not_say_that_no_scores_tie() -> None:
    """Nobody counted ties or unknown tokens of answers, and no `catsofa score` would keep their terms."""
    interval = {"low": 40.0, "high": 60.0}
    effect = {"value": 0.25, "low": 0.1, "high": 0.4}
    of = {"lms": 90.0, "ss": 50.0, "icat": 90.0, "intervals": dict.fromkeys(("lms", "ss", "icat"), interval)}
    of |= {"position": effect, "lms_position": effect, "items": 10, "terms": 3, "coverage": 1.0, "unknown": None}
    signature = Signature(data="cats@1", model="m@2", protocol="forced-choice")

    def notes(measures: dict[str, Any]) -> str:
        results = {"overall": measures, "intrasentence": {"overall": measures}}
        return " ".join(stereoset._notes([("m", {"results": results}, signature)]))

    assert "No scores tie" in notes({name: value for name, value in of.items() if "position" not in name})
    assert "tie" not in notes(of)
    assert "catsofa score" not in notes(of)
