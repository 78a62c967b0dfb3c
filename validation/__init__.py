"""Decide from judgements, measure agreement, check sets, split them."""
