"""Analyses of whole sets: sizes, splits, leakage, keywords, sentiment."""
