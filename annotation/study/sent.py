"""The form in which a page sends the answer to one question."""

from typing import Any


def is_answer(value: Any) -> bool:
    """Returns True if a value is an answer as pages send it: a text or a list of texts."""
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))
