"""The measures: how they compute results from scores."""

MODULES = {
    "stereoset": ".stereoset.registered",
    "crows_pairs": ".crows_pairs.registered",
    "sofa": ".sofa.registered",
    "seat": ".seat.registered",
    "bbq": ".bbq.registered",
}
"""Measure name to the module with its `MEASURE` object, in the order of a report."""
