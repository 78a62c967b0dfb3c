"""Shared parts of every training: the recipe's numbers, the loop over batches, and the state that survives a kill."""
