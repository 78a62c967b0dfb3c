"""Judgements of several people: as arrays, estimated by Dawid and Skene, and the answers that confirm an item."""
