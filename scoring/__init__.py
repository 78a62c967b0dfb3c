"""Measure models: likelihoods, and the numbers made from them."""
