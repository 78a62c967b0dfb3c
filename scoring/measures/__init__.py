"""The measures: formulas on scores, and their results."""
