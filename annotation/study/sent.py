"""What a page sends as the answer to one question."""

from typing import Any


def is_answer(value: Any) -> bool:
    """Whether this is an answer as pages send it: a text, or several."""
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))
