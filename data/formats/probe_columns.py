"""Probes in columns: a large file of probes is read in blocks, without an object for each probe.

Such a file has one JSON object a line with the five fields of a probe, all of them filled. Arrow parses it in a fifth
of the time. Any other file, and any with a fault, is read line by line, which names the line of the fault.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, overload

from catsofa.data import formats
from catsofa.data.files import MAX_LINE, BadInput, jsonl, stamp
from catsofa.data.files.faults import are_left_out
from catsofa.data.records import Probe
from catsofa.data.set_names import TakenName, refuse_taken_name

FIELDS = ("id", "category", "identity", "stereotype", "text")
BLOCK = 1 << 22
"""Bytes that are parsed at once."""
AT_ONCE = 1 << 14
"""Probes of another source in a block."""
REMEMBERED = 64
"""The maximum number of files whose form this process remembers."""


@dataclass(frozen=True, slots=True)
class Probes(Sequence[Probe]):
    """Probes without `source` and `extra`; as a sequence, one record for each."""

    ids: Sequence[str]
    categories: Sequence[str]
    identities: Sequence[str]
    stereotypes: Sequence[str]
    texts: Sequence[str]

    @classmethod
    def of(cls, probes: Sequence[Probe]) -> "Probes":
        """Returns probes in columns."""
        if isinstance(probes, Probes):
            return probes
        rows = ((one.id, one.category, one.identity, one.stereotype, one.text) for one in probes)
        return cls(*zip(*rows, strict=True)) if probes else cls((), (), (), (), ())

    def __len__(self) -> int:
        """The number of probes."""
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Probe: ...
    @overload
    def __getitem__(self, place: slice) -> "Probes": ...
    def __getitem__(self, place: int | slice) -> "Probe | Probes":
        """One probe as a record, or some in columns."""
        if isinstance(place, slice):
            return Probes(*(column[place] for column in self.columns))
        one, category, identity, stereotype, text = (column[place] for column in self.columns)
        return Probe(id=one, category=category, identity=identity, stereotype=stereotype, text=text)

    @classmethod
    def joined(cls, parts: Sequence["Probes"]) -> "Probes":
        """The probes of several blocks in one."""
        if len(parts) == 1:
            return parts[0]
        columns = zip(*(part.columns for part in parts), strict=True)
        return cls(*([*chain.from_iterable(column)] for column in columns)) if parts else cls.of(())

    def only(self, places: Sequence[int]) -> "Probes":
        """The probes at these places."""
        if len(places) < 2:
            return Probes.of([self[place] for place in places])
        return Probes(*map(itemgetter(*places), self.columns))

    @property
    def columns(self) -> tuple[Sequence[str], ...]:
        """All columns, in the order of the fields."""
        return self.ids, self.categories, self.identities, self.stereotypes, self.texts


class ProbeFile(Iterable[Probe]):
    """A large file of probes, or its first ones; it was checked when it had this stamp."""

    def __init__(self, path: Path, version: tuple[Any, ...], limit: int | None) -> None:
        self._path, self._version, self._limit = path, version, limit

    def __iter__(self) -> Iterator[Probe]:
        """Each probe as a record."""
        return chain.from_iterable(self.blocks())

    def blocks(self) -> Iterator[Probes]:
        """The probes in columns, some thousand in each block."""
        remaining = self._limit
        for block in self._every():
            some = block if remaining is None else block[:remaining]
            if some:
                yield some
            if remaining is not None and (remaining := remaining - len(some)) <= 0:
                return

    def _every(self) -> Iterator[Probes]:
        """All probes of the file, whatever the limit; raises BadInput if the file has changed."""
        import pyarrow as pa

        try:
            for lines in _lines(self._path):
                table = _parsed(lines)
                self._refuse_change()  # before anything of these lines is used
                yield Probes(*(_texts(table.column(name)) for name in FIELDS))
        except (OSError, _OtherForm, pa.ArrowException):
            raise self._changed() from None

    def _refuse_change(self) -> None:
        """Raise BadInput if somebody wrote or replaced the file."""
        if stamp(self._path) != self._version:
            raise self._changed()

    def _changed(self) -> BadInput:
        """The error for a file that has changed since it was checked."""
        return BadInput(self._path, "a file that changed while it was read", "one that stays as it is; begin again")

    def cut(self, sizes: Iterator[int] | None) -> Iterator[Probes]:
        """The probes in blocks of these sizes, or in one block without sizes."""
        blocks, held = self.blocks(), Probes.of(())
        while True:
            size = None if sizes is None else next(sizes)
            parts, count = [held], len(held)
            while (size is None or count < size) and (block := next(blocks, None)) is not None:
                parts.append(block)
                count += len(block)
            together = Probes.joined([part for part in parts if part])
            if not together:
                return
            yield together if size is None else together[:size]
            held = Probes.of(()) if size is None else together[size:]


def blocks_of(probes: Iterable[Probe]) -> Iterator[Sequence[Probe]]:
    """The blocks of a file of probes, or as many of other probes at a time."""
    if isinstance(probes, ProbeFile):
        yield from probes.blocks()
        return
    remaining = iter(probes)
    while block := [*islice(remaining, AT_ONCE)]:
        yield block


def probe_file(path: Path, limit: int | None = None) -> ProbeFile | None:
    """A large file of probes that can be read in columns; None for any other file, and for a file with a fault."""
    if are_left_out() or not path.is_file() or path.stat().st_size <= jsonl.LARGE:
        return None
    version = stamp(path)
    if version not in _in_columns:
        _in_columns[version] = _can_be_read_in_columns(path)
        if len(_in_columns) > REMEMBERED:
            _in_columns.popitem(last=False)
    return ProbeFile(path, version, limit) if _in_columns[version] else None


_in_columns: OrderedDict[tuple[Any, ...], bool] = OrderedDict()


class _OtherForm(ValueError):
    """The error for a block that must be read line by line."""


def _can_be_read_in_columns(path: Path) -> bool:
    """Returns True if a file has only whole probes in our own form, each id once."""
    import numpy as np
    import pyarrow as pa

    try:
        if formats.format_of(path).name != formats.LAST or jsonl.record_type_of(path) is not Probe:
            return False
        hashes = [np.array([*map(hash, _checked(lines).column("id").to_pylist())]) for lines in _lines(path)]
    except (BadInput, _OtherForm, pa.ArrowException):
        return False
    every = np.concatenate(hashes)
    return len(np.unique(every)) == len(every)  # if two ids had one hash, the reader of lines would tell them apart


def _texts(column: Any) -> list[str]:
    """The texts of a column; equal ones are one object."""
    import pyarrow.compute as pc

    coded = pc.dictionary_encode(column.combine_chunks())
    texts: list[str] = coded.dictionary.to_pylist()
    return texts if len(texts) == len(column) else [texts[number] for number in coded.indices.to_pylist()]


def _lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a file, many at once; raises `_OtherForm` for a line that is too long for a record."""
    rest = b""
    with path.open("rb") as file:
        while part := file.read(BLOCK):
            end = part.rfind(b"\n") + 1
            if end:
                yield rest + part[:end]
                rest = b""
            rest += part[end:]
            if len(rest) > MAX_LINE:
                raise _OtherForm
    if rest:
        yield rest + b"\n"


def _parsed(lines: bytes) -> Any:
    """The probes in some lines, as an Arrow table."""
    import pyarrow as pa
    from pyarrow import json

    return json.read_json(
        pa.BufferReader(lines),
        read_options=json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
        parse_options=_options(),
    )


def _checked(lines: bytes) -> Any:
    """The same, or `_OtherForm` for lines that are read one by one.

    Each line begins and ends with a brace, and the only values are texts. So each is one object, or Arrow finds another
    number of objects than lines.
    """
    count = lines.count(b"\n")
    if not (lines.startswith(b"{") and lines.endswith(b"}\n") and lines.count(b"}\n{") == count - 1):
        raise _OtherForm
    try:
        lines.decode()
    except UnicodeDecodeError:
        raise _OtherForm from None
    table = _parsed(lines)
    if len(table) != count or any(table.column(name).null_count for name in FIELDS):
        raise _OtherForm
    _refuse_others(table)
    return table


@cache
def _options() -> Any:
    """Arrow's options for lines with texts in the five fields and nothing else."""
    import pyarrow as pa
    from pyarrow import json

    schema = pa.schema([(name, pa.string()) for name in FIELDS])
    return json.ParseOptions(explicit_schema=schema, newlines_in_values=False, unexpected_field_behavior="error")


def _refuse_others(table: Any) -> None:
    """Raise `_OtherForm` for an empty id or text, which a record would fill, and for a category that is refused."""
    import pyarrow.compute as pc

    if not all(pc.min(pc.binary_length(table.column(name))).as_py() for name in ("id", "text")):
        raise _OtherForm
    for category in pc.unique(table.column("category")).to_pylist():
        try:
            refuse_taken_name(category)
        except TakenName:
            raise _OtherForm from None
