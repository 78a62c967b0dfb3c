"""What every training shares: the recipe's numbers, the loop over batches, and the state that outlives a kill."""
