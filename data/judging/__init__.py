"""Judgements of several people: arrays, the models that estimate labels, and the answers that confirm an item."""
