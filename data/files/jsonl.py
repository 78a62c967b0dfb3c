"""Reads and writes catsofa's JSONL format, one record per line; errors name file and line."""

import dataclasses
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from catsofa.data.files import BadInput, atomic_write, json_files, lines, short, stamp
from catsofa.data.files.faults import are_left_out, each
from catsofa.data.id_numbers import IdNumbers
from catsofa.data.records import RECORDS, Cat, Refused, Score, kind_name

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

R = TypeVar("R")
INEXACT = 2**53
"""From this size on, a 64-bit float cannot represent every integer."""


_adapters: dict[type[Any], Any] = {}


def adapter(record_type: type[R]) -> "TypeAdapter[R]":
    """The validator and serialiser of a record type; cached, since building one is slow."""
    if record_type not in _adapters:
        from pydantic import ConfigDict, TypeAdapter, with_config

        strict = with_config(ConfigDict(extra="forbid", ser_json_inf_nan="strings"))
        for kind in [record_type, *_parts(record_type)]:
            if not hasattr(kind, "__pydantic_config__"):
                strict(kind)
        _adapters[record_type] = TypeAdapter(record_type)
    type_adapter: TypeAdapter[R] = _adapters[record_type]
    return type_adapter


def _parts(record_type: type[Any]) -> list[type[Any]]:
    """The types of the records inside a record of this type."""
    from catsofa.data.records import (
        Annotation,
        Answer,
        Association,
        AssociationTest,
        Candidate,
        Cat,
        Pair,
        Question,
        Votes,
        WordSet,
    )

    parts: dict[type[Any], list[type[Any]]] = {
        Cat: [Candidate, Annotation],
        Pair: [Annotation],
        Question: [Answer],
        Association: [Votes],
        AssociationTest: [WordSet],
    }
    return parts.get(record_type, [])


def read(path: Path | str, record_type: type[R]) -> Iterator[R]:
    """Each record of a JSONL file; refuses a repeated id.

    A large file that this process has read to its end without a fault is only validated again: a data set is read for
    its hash, for its scores and for its report.
    """
    expected = f"{kind_name(record_type)} as JSONL"
    version = record_type, _stamp_of_large(path)
    ids = None if version in _without_fault else Seen(path, expected)
    validate, repeated = adapter(record_type).validate_json, _key_counter(record_type)

    def record_of(number: int, line: str) -> R:
        record = _validated(validate, line, path, number, record_type)
        if ids is None:
            return record
        large = isinstance(record, Score) and INEXACT <= abs(record.score or 0) < math.inf
        if repeated(line) or large:
            value = json_files.parse(line, path, expected, number, nan=True)
            if large:
                json_files.Node(value, path, expected, line=number).number_or_none("score")
        ids.add_all(record, number)
        return record

    yield from each(record_of, lines(path, expected))
    if version[1] and not are_left_out():
        if len(_without_fault) == REMEMBERED:
            _without_fault.clear()
        _without_fault.add(version)


_without_fault: set[tuple[Any, ...]] = set()
LARGE, REMEMBERED = 1 << 20, 64
"""Bytes of a large file, and the maximum number of files that are known to have no fault."""


def _stamp_of_large(path: Path | str) -> tuple[Any, ...]:
    """The stamp of a large file; empty for small files and those that cannot be read."""
    try:
        return stamp(path) if os.path.getsize(path) > LARGE else ()
    except OSError:
        return ()


def write(records: Iterable[Any], path: Path | str) -> int:
    """Write records of one type without their empty fields; returns their number. Refuses what `read` would refuse."""
    count = 0
    ids = Seen(path, "records")
    kind: type[Any] | None = None
    with atomic_write(path) as file:
        for record in records:
            if type(record) is not (kind := kind or type(record)):
                raise ValueError(f"{path}: a {type(record).__name__} among {kind.__name__}s; write a file for each")
            file.write(dumps(record) + b"\n")
            count += 1
            ids.add_all(record, count)
    return count


def dumps(record: Any) -> bytes:
    """One record as one line of JSON without its empty fields; NaN, which means unscored, becomes null."""
    try:
        line = adapter(type(record)).dump_json(record, exclude_defaults=True)
    except ValueError as error:  # pydantic's error for text that cannot be encoded
        if "surrogates" not in str(error):
            raise
        name = type(record).__name__
        raise ValueError(
            f"found half a surrogate pair (bytes that are no UTF-8) in the record {name}; expected Unicode; write the "
            "option or the file in UTF-8"
        ) from None
    if b"null" in line:
        free = {name: value for name, value in dataclasses.asdict(record).items() if name != "score"}
        _refuse_infinity(free, type(record).__name__)
    return line


def _refuse_infinity(value: Any, where: str) -> None:
    """Raise a ValueError for an infinite number in a free field, which would silently become null."""
    if isinstance(value, float) and math.isinf(value):
        raise ValueError(f"{where} is {value}, which JSON cannot hold; leave it out or write it as text")
    if isinstance(value, Mapping):
        for key, item in value.items():
            _refuse_infinity(item, f"{where}: {key}")
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_infinity(item, where)


def _key_counter(record_type: type[Any]) -> Callable[[str], bool]:
    """A function that tells whether a line may repeat a key: fast, with false positives but no false negatives.

    The validator silently takes the last of two values. In a record without parts, only catsofa's own fields can
    occur outside `extra` and `source`. Records with parts are few, so each of their lines is checked.
    """
    if _parts(record_type):
        return lambda line: True
    keys = [f'"{name}"' for name in _fields(record_type)]

    def repeated(line: str) -> bool:
        for key in keys:
            if line.count(key) > 1:
                return True
        return "\\u" in line or '"extra"' in line or '"source"' in line

    return repeated


def record_type_of(path: Path | str) -> type[Any]:
    """The record type whose required fields are on the first line of a JSONL file."""
    expected = "a JSON object on each line"
    number, line = next(lines(path, "records as JSONL"))
    value = json_files.parse(line, path, expected, number, nan=True)
    if not isinstance(value, dict):
        raise BadInput(path, f"a JSON {type(value).__name__}", expected, number)
    fits = [kind for kind in RECORDS.values() if fits_fields(kind, value.keys())]
    if not fits:
        fits = [kind for kind in RECORDS.values() if _required(kind) <= value.keys()]
    if not fits:
        names = short(", ".join(value)) if value else "of an empty object"
        raise BadInput(path, f"the fields {names}", one_of_ours(), number)
    return max(fits, key=lambda kind: len(_required(kind)))


def fits_fields(record_type: type[Any], names: Set[str]) -> bool:
    """Returns whether the names are fields of the record type and include all its required fields."""
    return _required(record_type) <= names <= _fields(record_type)


def one_of_ours() -> str:
    """The list of record types for an error message."""
    return f"one of {', '.join(RECORDS)}"


def _fields(record_type: type[Any]) -> set[str]:
    """The names of a record's fields."""
    return {f.name for f in dataclasses.fields(record_type)}


def _required(record_type: type[Any]) -> set[str]:
    """The names of the required fields of a record type."""
    missing = dataclasses.MISSING
    return {f.name for f in dataclasses.fields(record_type) if f.default is missing and f.default_factory is missing}


class Seen:
    """The ids read so far; a repeated id is an error that names the line of the first one."""

    def __init__(self, path: Path | str, expected: str, what: str = "id") -> None:
        self._path, self._expected, self._what, self._lines = path, expected, what, IdNumbers()
        self._candidates: Seen | None = None

    def add_all(self, record: Any, line: int) -> None:
        """Note the ids of a record and of a Cat's candidates; a Refused has another record's id, which may repeat."""
        if not isinstance(record, Refused):
            self.add(getattr(record, "id", ""), line)
        if isinstance(record, Cat):
            self._candidates = self._candidates or Seen(self._path, self._expected, "the sentence with id")
            for candidate in record.candidates:
                self._candidates.add(candidate.id, line)

    def add(self, item: str, line: int) -> None:
        """Note an id, or refuse a repeated one; empty ids are ignored."""
        if item and (first := self._lines.setdefault(item, line)) != line:
            raise BadInput(
                self._path,
                f"{self._what} {short(item)} a second time (first on line {first})",
                f"{self._expected} with every id once",
                line,
            )


def _validated(validate: Callable[[str], R], line: str, path: Path | str, number: int, record_type: type[R]) -> R:
    """One validated record; a BadInput reports the first of pydantic's errors in one sentence."""
    from pydantic import ValidationError

    try:
        return validate(line)
    except ValidationError as error:
        problem, expected = _another_kind(line, record_type) or explain(error, record_type)
        raise BadInput(path, problem, expected, number) from None


def _another_kind(line: str, record_type: type[Any]) -> tuple[str, str] | None:
    """Found and expected for a line that is a record of another type; None for other lines."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    for kind in RECORDS.values():
        if kind is not record_type and isinstance(value, dict) and _required(kind) <= value.keys() <= _fields(kind):
            return f"one of our {kind_name(kind)}", f"only {kind_name(record_type)}, as on the lines before"
    return None


def record_of(line: str, path: Path | str, number: int, record_type: type[R]) -> R:
    """The record in one JSON line of a file; raises a BadInput for an invalid one."""
    return _validated(adapter(record_type).validate_json, line, path, number, record_type)


def explain(error: "ValidationError", record_type: type[Any]) -> tuple[str, str]:
    """Returns what was found and what was expected, for the first error of a validation."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    one = f"one of our {kind_name(record_type)}" if record_type in RECORDS.values() else record_type.__name__
    match first["type"]:
        case "json_invalid":
            complaint = first["ctx"]["error"].replace("line 1 column", "column")
            return f"a line that is not JSON ({complaint})", f"a JSON object, {one}"
        case "dataclass_type" | "dataclass_exact_type" if not where:
            return f"a JSON {type(first['input']).__name__}", f"a JSON object, {one}"
        case "missing":
            return f"no field {where!r}", f"{one}, which need {', '.join(sorted(_required(record_type)))}"
        case "unexpected_keyword_argument" | "extra_forbidden":
            return (f"an unknown field {where!r}", f"{one}, with the fields {', '.join(sorted(_fields(record_type)))}")
        case "value_error":
            return f"{first['ctx']['error']}", one
        case _:
            return f"{short(first['input'])} in field {where!r}", f"{one}: {first['msg'][0].lower()}{first['msg'][1:]}"
