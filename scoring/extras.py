"""Keys of additional data in scores, and the prefix of failures that the next run retries."""

UNKNOWN = "unknown"
"""Key in a score's `extra`: the number of unknown tokens in its text, if any."""
UNKNOWN_IDENTITY = "unknown_identity"
"""Key in the `extra` of a probe's score: the number of unknown tokens in its identity, if any."""
NO_REPLY = "no reply from the server"
"""Prefix of the failure reason of a text that the next run asks for again."""
