"""Formats percentages and counts for people: only exactly 100 % is written as 100 %, and only 0 % as 0 %."""

from math import floor, isfinite, log10

NOISE = 1e-9
"""A distance from 0 or 100 up to which the difference is a rounding error of a sum."""


def decimals(*percentages: float | None, digits: int = 1) -> int:
    """The number of decimals for numbers shown together, at least `digits`: only 0 and 100 are written as 0 and 100.

    Three numbers are a value and its limits: a narrow interval gets three significant digits of its width. Limits
    much nearer to 0 or 100 than the last digit are rounded to 0 or 100.
    """
    least = NOISE
    if len(percentages) == 3 and None not in percentages[1:]:
        width = (percentages[2] or 0.0) - (percentages[1] or 0.0)
        if NOISE < width < 10.0**-digits:
            digits = 2 - floor(log10(width))
        least = 10.0 ** -(digits + 2)
    for place, percentage in enumerate(percentages):
        near = least if place else NOISE
        if percentage is not None and isfinite(percentage) and min(abs(percentage), abs(percentage - 100)) >= near:
            while float(f"{percentage:.{digits}f}") in (0, 100):
                digits += 1
    return digits


def written(*numbers: float, digits: int = 1) -> tuple[str, ...]:
    """Percentages shown together, such as a value and its limits; drops NaN and the sign of a zero."""
    values = [number for number in numbers if number == number]
    digits = decimals(*values, digits=digits)
    return tuple(unsigned(f"{number:.{digits}f}") for number in values)


def unsigned(number: str) -> str:
    """A written number; a zero loses its minus sign."""
    return number.removeprefix("-") if float(number) == 0 else number


def in_percent(share: float, digits: int = 1) -> str:
    """A share as text: `99.95 %` for 2,089 / 2,090; `100 %` only for all, `0 %` only for none."""
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    return f"{100 * share:.{decimals(100 * share, digits=digits)}f} %"


def quantity(count: int, noun: str) -> str:
    """A count with its noun: `1 text`, `2,106 texts`, `2 more people`."""
    if count == 1:
        return f"{count:,} {noun}"
    return f"{count:,} {noun.removesuffix('person')}people" if noun.endswith("person") else f"{count:,} {noun}s"
