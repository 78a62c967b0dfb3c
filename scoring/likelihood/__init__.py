"""Log-probabilities: queries to a model, and the ways to answer them."""
