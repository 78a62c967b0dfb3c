"""The sections of a report, by the measure that they show."""

from collections.abc import Callable, Sequence

from catsofa import report_crows, report_seat, report_sofa, report_stereoset
from catsofa.report_cells import Row, Words
from catsofa.report_document import Section
from catsofa.report_inputs import ASKED

MAKE: dict[str, tuple[Words, Callable[[str, Sequence[Row]], Section]]] = {
    "stereoset": (report_stereoset.WORDS, report_stereoset.stereoset),
    "crows": (report_crows.WORDS, report_crows.crows),
    "sofa": (report_sofa.WORDS, report_sofa.sofa),
    "seat": (report_seat.WORDS, report_seat.seat),
    f"{ASKED}stereoset": (report_stereoset.ASKED, report_stereoset.asked),
    f"{ASKED}crows": (report_crows.ASKED, report_crows.asked),
}
"""Kind of results to what is said of it and what makes a section of it, in the order of a report."""
