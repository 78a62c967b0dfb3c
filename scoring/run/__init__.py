"""Runs: the scoring loop, its folder, and the scores kept there."""
