from math import nan

import pytest

from catsofa.data.percentages import decimals, in_percent, quantity, written


@pytest.mark.parametrize("whole", [1, 3, 200, 2090, 4229, 1_000_003])
@pytest.mark.parametrize("digits", [0, 1, 2])
def test_only_all_is_100_percent_and_only_none_is_0_percent(whole: int, digits: int) -> None:
    """One missing item of a million is not rounded to 100 %, and one of a million not to 0 %."""
    for part in {0, 1, whole - 1, whole}:
        number = float(in_percent(part / whole, digits).removesuffix(" %"))
        assert (number == 100) == (part == whole)
        assert (number == 0) == (part == 0)
        assert number == pytest.approx(100 * part / whole, abs=0.5 * 10**-digits)


def test_a_percentage_has_the_decimals_that_it_needs() -> None:
    """2,089 of 2,090 is 99.95 %. Rounding errors of a sum and NaN get no more decimals."""
    assert in_percent(2089 / 2090) == "99.95 %"
    assert in_percent(0.3333) == "33.3 %"
    assert decimals(100 - 1e-13) == decimals(1e-13) == decimals(nan) == 1


def test_a_narrow_interval_is_never_shown_with_zero_width() -> None:
    """A narrow interval shows three significant digits of its width. A wide one keeps the requested decimals."""
    assert written(0.00071, 0.0007, 0.00072, digits=4) == ("0.0007100", "0.0007000", "0.0007200")
    assert written(61.2, 55.0, 67.1) == ("61.2", "55.0", "67.1")
    assert written(50.0, 50.0, 50.0) == ("50.0", "50.0", "50.0")
    assert written(50.0, 1e-9, 100 - 1e-9) == ("50.0", "0.0", "100.0")
    assert written(99.5, 98.2, 99.97) == ("99.50", "98.20", "99.97")


def test_a_count_has_the_plural_of_its_noun() -> None:
    """A count of one has the singular; "person" has the plural "people", also after another word."""
    assert [quantity(count, "text") for count in (0, 1, 2106)] == ["0 texts", "1 text", "2,106 texts"]
    assert [quantity(count, "person") for count in (1, 2)] == ["1 person", "2 people"]
    assert [quantity(count, "more person") for count in (1, 2)] == ["1 more person", "2 more people"]
