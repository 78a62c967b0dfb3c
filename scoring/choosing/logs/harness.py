"""Samples that lm-evaluation-harness logged as recorded replies."""

from collections.abc import Mapping
from typing import Any


def is_sample(value: Any) -> bool:
    """Returns True if a line is a sample that lm-evaluation-harness logged with `--log_samples`."""
    return isinstance(value, dict) and isinstance(value.get("doc"), dict) and "resps" in value


def reply(sample: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the reply in a logged sample: the first response to its one request."""
    (response, *_), *_ = sample["resps"] or [[None]]
    return {**sample["doc"], "reply": response}
