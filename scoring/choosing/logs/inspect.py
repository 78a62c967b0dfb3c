"""JSON logs of Inspect as recorded replies."""

from collections.abc import Iterator, Mapping
from typing import Any

CUT = ("max_tokens", "model_length")
"""Inspect's reasons to stop where a limit of tokens was reached."""


def is_log(value: Any) -> bool:
    """Returns True if a JSON document is a log of Inspect with its samples."""
    return isinstance(value, dict) and "eval" in value and isinstance(value.get("samples"), list)


def replies(log: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The fields of the reply in each sample; epochs are samples of one prompt."""
    for sample in log["samples"]:
        asked = _object(_object(sample).get("metadata"))
        epoch = _object(sample).get("epoch")
        number = {"sample": epoch - 1} if isinstance(epoch, int) else {}
        yield {**asked, **said(_object(_object(sample).get("output"))), **number}


def said(output: Mapping[str, Any]) -> dict[str, Any]:
    """What a model's output in Inspect says: the text, the reasoning, why it ended; or the error in its place."""
    choice = _object(next(iter(output.get("choices") or ()), None))
    if not choice:
        return {"reply": None, "error": str(output.get("error") or "no output")}
    content = _object(choice.get("message")).get("content") or ()
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else [_object(part) for part in content]
    reason = str(choice.get("stop_reason") or "")
    return {
        "reply": "".join(str(part.get("text") or "") for part in parts if part.get("type") == "text"),
        "reasoning": "".join(str(part.get("reasoning") or "") for part in parts) or None,
        "finish_reason": "length" if reason in CUT else reason or None,
    }


def _object(value: Any) -> Mapping[str, Any]:
    """A JSON object, or the empty one."""
    return value if isinstance(value, dict) else {}
