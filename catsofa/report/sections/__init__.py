"""The sections of a report, by the measure that they show."""

from collections.abc import Callable, Sequence

from catsofa.report.cells import Row, Words
from catsofa.report.elements import Section
from catsofa.report.inputs import ASKED
from catsofa.report.sections import crows_pairs, seat, sofa, stereoset

MAKE: dict[str, tuple[Words, Callable[[str, Sequence[Row]], Section]]] = {
    "stereoset": (stereoset.WORDS, stereoset.stereoset),
    "crows": (crows_pairs.WORDS, crows_pairs.crows),
    "sofa": (sofa.WORDS, sofa.sofa),
    "seat": (seat.WORDS, seat.seat),
    f"{ASKED}stereoset": (stereoset.ASKED, stereoset.asked),
    f"{ASKED}crows": (crows_pairs.ASKED, crows_pairs.asked),
}
"""Kind of results to what is said of it and what makes a section of it, in the order of a report."""
