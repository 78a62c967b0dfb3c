"""Intervals and tests that measures share."""
