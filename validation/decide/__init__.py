"""Decides items from the judgements of several people."""
