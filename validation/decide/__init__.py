"""Decisions about items from the judgements of several people."""
