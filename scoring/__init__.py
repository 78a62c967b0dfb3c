"""Scores models: log-likelihoods, and the measures computed from them."""
