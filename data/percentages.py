"""Percentages and counts as people read them: no share below 100 % is written as 100 %, none above 0 % as 0 %."""

NOISE = 1e-9
"""A distance from 0 or 100 that is the rounding error of a sum."""


def decimals(percentage: float, digits: int = 1) -> int:
    """The decimals that a percentage needs, at least `digits`, so that only 0 and 100 are written as 0 and 100."""
    if any(abs(percentage - end) < NOISE for end in (0, 100)):
        return digits
    while float(f"{percentage:.{digits}f}") in (0, 100):
        digits += 1
    return digits


def in_percent(share: float, digits: int = 1) -> str:
    """A share for people: `99.95 %` of 2,089 / 2,090; `100 %` only of all, `0 %` only of none."""
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    return f"{100 * share:.{decimals(100 * share, digits)}f} %"


def quantity(count: int, noun: str) -> str:
    """A count with its noun: `1 text`, `2,106 texts`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
