"""Reports of answers: the position effect has its own column."""

from catsofa import report_crows
from catsofa.scoring.signature import Signature


def test_a_row_of_answers_has_a_cell_for_every_column() -> None:
    """A row of answers has a cell for every column: the effect 0.25, then 3 ties; scores have no such column."""
    limits = {"low": 40.0, "high": 60.0}
    pairs = {"score": 50.0, "pairs": 10, "neutral": 3, "coverage": 0.7, "unknown": None, "intervals": {"score": limits}}
    signature = Signature(data="pairs@1", model="m@2", protocol="catsofa")
    effect = {"value": 0.25, "low": 0.1, "high": 0.4}
    for words, more in ((report_crows.ASKED, {"position": effect}), (report_crows.WORDS, {})):
        results = {"overall": pairs | more, "directions": {}, "types": {"pastime": pairs | more}}
        report = {"results": results, "signature": signature.to_dict(), "unscored": {}, "protocol": "catsofa"}
        (table,) = report_crows.crows("crows", [("m", report, signature)], words).tables
        for row in table.rows:
            cells = dict(zip(table.columns, row, strict=True))
            assert cells["ties"] == 3
            assert ("position" in cells) == bool(more)
            assert not more or "0.25" in str(cells["position"])
