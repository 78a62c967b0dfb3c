"""Validation of data sets: decisions from judgements, agreement, lint, splits."""
