"""Separates the reasoning inside a reply from the answer."""

import re

_NAMES = r"think|thinking|thought|reasoning|reflection|analysis|scratchpad"
_BLOCKS = [
    re.compile(rf"<({_NAMES})\b[^>]*>.*?</\1>", re.DOTALL | re.IGNORECASE),
    re.compile(r"\[THINK\].*?\[/THINK\]", re.DOTALL),
    re.compile(r"◁think▷.*?◁/think▷", re.DOTALL),
    re.compile(r"^\s*analysis(?=[A-Z]).*?assistant\s*final", re.DOTALL),
    re.compile(r"<\|channel\|>\s*(?:analysis|commentary).*?<\|end\|>", re.DOTALL),
]
_END = re.compile(rf"</(?:{_NAMES})>|\[/THINK\]|◁/think▷", re.IGNORECASE)
"""End marker of reasoning that the chat template began."""
_OPEN = re.compile(rf"<(?:{_NAMES})\b[^>]*>|\[THINK\]|◁think▷|<\|channel\|>\s*(?:analysis|commentary)", re.IGNORECASE)
_CONTROL = re.compile(r"<\|channel\|>\s*final|<\|[a-z_]+\|>(?:assistant\b)?", re.IGNORECASE)
"""Control marks of the chat format that a server left in the reply."""


def without_reasoning(text: str) -> tuple[str, bool]:
    """Returns the answer in a reply, and True if its reasoning has no end."""
    for block in _BLOCKS if _END.search(text) or "<|end|>" in text or "assistantfinal" in text else ():
        text = block.sub("", text)
    ends = list(_END.finditer(text))
    if ends:
        text = text[ends[-1].end() :]
    if opening := _OPEN.search(text):
        return text[: opening.start()], True
    return _CONTROL.sub("", text), False
