"""Judgements of several people: arrays, models that estimate labels, and the answers that confirm an item."""
