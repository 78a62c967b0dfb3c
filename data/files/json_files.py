"""Reads whole JSON documents and checks them; errors name the place inside the document."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from catsofa.data.digests import FIELD, json_digest
from catsofa.data.files import BadInput, atomic_write, read_text, short

_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_NAMES = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}


def read(path: Path | str, expected: str, *, nan: bool = False) -> Any:
    """The value of a JSON file; NaN and Infinity, which are not JSON, are accepted only if `nan` is true."""
    return parse(read_text(path, expected), path, expected, nan=nan)


def parse(text: str, path: Path | str, expected: str, line: int | None = None, *, nan: bool = False) -> Any:
    """The value of a JSON text; refuses a repeated key, half a surrogate pair and very deep nesting."""
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=float if nan else _no_constant)
        if _HALF_PAIR.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise BadInput(path, "JSON nested too deeply to read", expected, line) from None
    except json.JSONDecodeError as error:
        problem = f"text that is not JSON ({error.msg.lower().removesuffix(' at')} at column {error.colno})"
        raise BadInput(path, problem, expected, line or error.lineno) from None
    except UnicodeEncodeError:
        raise BadInput(path, "half a surrogate pair (\\ud800 to \\udfff)", f"{expected} in Unicode", line) from None
    except _Refused as error:
        raise BadInput(path, str(error), expected, line) from None
    except ValueError:
        raise BadInput(path, "a number with thousands of digits", expected, line) from None
    return value


class _Refused(ValueError):
    """JSON content that the parser refuses."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object with these pairs; refuses a repeated key, whose last value would silently win."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Refused(f"the key {short(twice)} twice in one object")
    return mapping


def _no_constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities."""
    raise _Refused(f"{name}, which is not JSON")


def write(value: Any, path: Path | str, *, nan: bool = False) -> None:
    """Write a value as an indented JSON file; without `nan`, NaN or an infinity raises a ValueError."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=nan)
    except RecursionError:
        raise ValueError(f"{path}: what is to be written is nested too deeply for JSON") from None
    with atomic_write(path) as file:
        file.write(text.encode() + b"\n")


def finite(value: Any) -> Any:
    """The value with NaN and the infinities, which are not JSON, replaced by None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list | tuple) else value


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with its checksum."""
    held = json.loads(json.dumps(document))  # as a reader sees the document: keys are texts, tuples are lists
    return {**held, FIELD: json_digest(held)}


def check_seal(document: Mapping[str, Any], path: Path | str, remedy: str) -> None:
    """Refuse a document whose content does not match its checksum; `remedy` says what to do."""
    held = {name: value for name, value in document.items() if name != FIELD}
    if document.get(FIELD) != json_digest(held):
        raise BadInput(path, "content that does not match its checksum: it was changed after it was written", remedy)


class Node:
    """A value of a document with its file and its place in the document, so that errors can name both."""

    __slots__ = ("_expected", "_line", "_path", "of", "value", "where")

    def __init__(
        self,
        value: Any,
        path: Path | str,
        expected: str,
        where: str = "",
        item: str = "",
        line: int | None = None,
    ) -> None:
        """`where` is the place (`data.intrasentence[17].sentences[2]`), `item` the enclosing one (`cluster 'a1'`)."""
        self.value, self.where, self.of = value, where, item
        self._path, self._expected, self._line = path, expected, line

    def refuse(self, problem: str, expected: str = "") -> NoReturn:
        """Raise a BadInput about this value."""
        place = (f" in {self.where}" if self.where else "") + (f" ({self.of})" if self.of else "")
        raise BadInput(self._path, problem + place, expected or self._expected, self._line)

    def fields(self) -> dict[str, Any]:
        """The value as an object."""
        if not isinstance(self.value, dict):
            self.refuse(f"{_kind(self.value)}", f"an object, in {self._expected}")
        members: dict[str, Any] = self.value
        return members

    def has(self, name: str) -> bool:
        """Returns whether the object has a field."""
        return name in self.fields()

    def child(self, name: str) -> "Node":
        """A required field of the object."""
        if name not in self.fields():
            self.refuse(f"no field {name!r}")
        where = f"{self.where}.{name}" if self.where else name
        return Node(self.value[name], self._path, self._expected, where, self.of, self._line)

    def items(self, name: str) -> Iterator["Node"]:
        """The members of the list in a field."""
        child = self.child(name)
        if not isinstance(child.value, list):
            child.refuse(_kind(child.value), f"a list, in {self._expected}")
        for number, member in enumerate(child.value):
            yield Node(member, self._path, self._expected, f"{child.where}[{number}]", self.of, self._line)

    def text(self, name: str) -> str:
        """The text in a field."""
        return self.child(name).as_text()

    def as_text(self) -> str:
        """The value as a text."""
        if not isinstance(self.value, str):
            self.refuse(_kind(self.value), f"a text, in {self._expected}")
        text: str = self.value
        return text

    def number_or_none(self, name: str) -> float | None:
        """The number in a field; null and NaN are None."""
        value = (child := self.child(name)).value
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            child.refuse(_kind(value), f"a number or null, in {self._expected}")
        try:
            number = float(value)
        except OverflowError:
            child.refuse(_kind(value), f"a number that fits 64 bits, in {self._expected}")
        if isinstance(value, int) and int(number) != value:
            child.refuse(f"{value}, which a 64-bit number would round to {number:.0f}", "an integer below 2^53 in size")
        return None if math.isnan(number) else number

    def others(self, *known: str) -> dict[str, Any]:
        """The fields of the object that are not `known`."""
        return {name: value for name, value in self.fields().items() if name not in known}


def _kind(value: Any) -> str:
    """The type of a JSON value for an error; a number is shown itself."""
    return _NAMES.get(type(value)) or f"the number {short(value)}"
