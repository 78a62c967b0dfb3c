"""Types of protocol options that several folders share, and functions that parse option values."""

import re
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from catsofa.data.files import read_text

FirstToken = Literal["bos", "skip", "uncond"]
Length = Literal["mean", "sum"]
Pseudo = Literal["within-word", "plain"]
Ties = Literal["excluded", "half", "against"]
Rule = Literal["pairwise", "argmax"]
Average = Literal["terms", "items"]
Pooling = Literal["mean", "max", "cls", "last"]


def refuse_outside(option: str, value: float | None, allowed: bool, expected: str) -> None:
    """Raises ValueError for a numeric option whose value is outside its allowed range."""
    if not allowed:
        raise ValueError(f"{option} cannot be {value!r}; it can be {expected}")


def without_folders(name: str) -> str:
    """Returns a protocol name in which each file named by an option has no folder."""
    return re.sub(r"=[^,]*/", "=", name)


def _kinds(kind: Any) -> tuple[Any, ...]:
    """Returns the members of a union type, or the type itself."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def every_choice(option: str, kind: Any) -> list[str]:
    """Returns all values of an option of this type as users write them; raises ValueError for numbers and texts."""
    if {int, float, str} & {*_kinds(kind)}:
        description, values = ("a text", "FILE,FILE") if str in _kinds(kind) else ("a number", "1,2")
        raise ValueError(f"{option} is {description}; name its values ({option}={values})")
    plain = {bool: ["true", "false"], NoneType: ["none"]}
    return [word for each in _kinds(kind) for word in plain.get(each, get_args(each))]


def read_choice(option: str, text: str, kind: Any) -> Any:
    """Parses an option's value as written in a protocol name; a text is read from the file that the value names."""
    kinds = _kinds(kind)
    words = [word for each in kinds for word in get_args(each)]
    if text in words:
        return text
    if text == "none" and NoneType in kinds:
        return None
    if str in kinds:
        return read_text(text, f"a text for {option}")
    if bool in kinds and text in ("true", "false"):
        return text == "true"
    try:
        return next(each(text) for each in (int, float) if each in kinds)
    except (StopIteration, ValueError):
        plain = {int: "a whole number", float: "a number", bool: "true or false", NoneType: "none"}
        allowed = [*words, *(plain[each] for each in kinds if each in plain)]
        raise ValueError(f"{option} cannot be {text!r}; it can be {' or '.join(allowed)}") from None
