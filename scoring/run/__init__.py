"""Scoring runs: the scoring loop, the run folder, and the scores stored in it."""
