import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from catsofa.data.tables import SHOWN, Tabular

EVIL = "<script>alert(1)</script>"


@dataclass(frozen=True, slots=True)
class Found(Tabular):
    """Tabular results with given rows."""

    given: list[dict[str, Any]]

    def rows(self) -> list[dict[str, Any]]:
        """Returns the rows."""
        return self.given

    def heading(self) -> str:
        """Returns a heading with markup."""
        return EVIL


@dataclass(frozen=True, slots=True)
class Quoting(Found):
    """Results that quote items."""

    offensive: ClassVar[bool] = True


@pytest.mark.parametrize(("p", "shown"), [(0.0001, "1e-04"), (0.0004, "4e-04"), (0.0312, "0.031"), (0.0, "0.000")])
def test_a_small_p_is_never_shown_as_zero(p: float, shown: str) -> None:
    """A p of 0.0001 is not shown as 0, in print and in a notebook."""
    results = Found([{"set": "all", "p": p}])
    assert str(results).split()[3] == shown
    assert f"<td>{shown}</td>" in results._repr_html_()


@pytest.mark.parametrize(
    ("part", "shown"), [(0.9998, "0.9998"), (0.9994, "0.999"), (1.0, "1.000"), (99.98, "99.98"), (100.0, "100.0")]
)
def test_a_part_is_never_shown_as_the_whole(part: float, shown: str) -> None:
    """A share below 1, or below 100 %, is not rounded up to it, in print and in a notebook."""
    results = Found([{"set": "all", "coverage": part}])
    assert str(results).split()[3] == shown
    assert f"<td>{shown}</td>" in results._repr_html_()


@pytest.mark.parametrize("model", ["tiny-bert", "predictions:tiny-bert.json@39e35a1d4e89"])
def test_the_columns_that_name_the_rows_tell_them_apart_in_every_block(model: str) -> None:
    """A wide table repeats each column without which two rows would look alike, even if the names are long."""
    sets = ("overall", "a domain with a name of many words")
    names = [{"model": model, "measure": measure, "set": name} for name in sets for measure in ("lms", "ss")]
    numbers = {f"number {n}": 61.25 for n in range(12)}
    blocks = str(Found([{**row, **numbers} for row in names])).split("\n\n")[:-1]
    assert len(blocks) > 1
    assert all(len({*block.splitlines()}) == 1 + len(names) for block in blocks)


def test_no_text_of_a_result_is_markup() -> None:
    """Column names, values and the heading are escaped."""
    text = Found([{EVIL: EVIL, "b": None}])._repr_html_()
    assert "<script" not in text
    assert text.count("&lt;script&gt;") == 3


def test_a_number_has_its_limits_beside_it_and_what_is_unscored_is_called_so() -> None:
    """A number and its limits share a cell and have the same decimals. NaN is "unscored", and missing limits have no
    brackets."""
    nan = float("nan")
    row = {"ss": 61.25, "ss_low": 55.0, "ss_high": 67.06, "d": 0.5, "d_low": nan, "d_high": nan, "p": nan, "n": 4}
    text = Found([row])._repr_html_()
    assert "<td>61.2 [55.0, 67.1]</td><td>0.500</td><td>unscored</td><td>4</td>" in text
    assert "ss_low" not in text


def test_the_frame_has_every_row_and_column() -> None:
    """The page shows the first hundred rows and the number of the others. The frame has all rows, with limits in
    columns."""
    rows = [{"a": float(n), "a_low": 0.0, "a_high": 9.0} for n in range(SHOWN + 5)]
    results = Found(rows)
    assert results._repr_html_().count("<tr>") == SHOWN + 1
    assert "5 more rows" in results._repr_html_()
    assert (len(results.to_pandas()), list(results.to_pandas())) == (SHOWN + 5, ["a", "a_low", "a_high"])


def test_what_quotes_items_is_folded_away() -> None:
    """A table that quotes items is inside a closed details element."""
    assert Quoting([{"a": "x"}])._repr_html_().startswith("<details><summary>")
    assert Quoting([])._repr_html_().endswith("</details>")


def test_without_pandas_a_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas, to_pandas raises a helpful error, and the HTML still works."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pandas .*pip install"):
        Found([]).to_pandas()
    assert "<table>" in Found([{"a": 1}])._repr_html_()
