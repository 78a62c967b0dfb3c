"""Confidence intervals and tests that several measures use."""
