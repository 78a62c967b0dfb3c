"""Printed tables: whether an icat can come from the lms and ss beside it, given that all three are rounded."""

from collections.abc import Iterable
from dataclasses import dataclass

from catsofa.scoring.measures.stereoset import icat_limits


@dataclass(frozen=True, slots=True)
class Slip:
    """A printed icat that its lms and ss cannot give, and the range that they can."""

    row: str
    printed: str
    low: float
    high: float


def icat_range(lms: str, ss: str) -> tuple[float, float]:
    """The least and the greatest icat of any lms and ss that are printed so."""
    of_lms, of_ss = ((float(text) - half_unit(text), float(text) + half_unit(text)) for text in (lms, ss))
    return icat_limits(of_lms, of_ss)


def half_unit(printed: str) -> float:
    """Half a unit of the last printed digit: 0.05 for "62.5"."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


def slips(rows: Iterable[tuple[str, str, str, str]]) -> list[Slip]:
    """Of rows (name, lms, ss, icat) as printed, those whose icat cannot come from their lms and ss."""
    found = []
    for name, lms, ss, printed in rows:
        low, high = icat_range(lms, ss)
        # 1e-9, since 0.1 + 0.2 is not 0.3
        if not low - half_unit(printed) - 1e-9 <= float(printed) <= high + half_unit(printed) + 1e-9:
            found.append(Slip(row=name, printed=printed, low=low, high=high))
    return found
