"""The records of a data set, and its content hash: the same for a file, its conversion, a released set and a list.

The hash covers every field that a score or a measure can depend on, and the ids. It leaves out votes, provenance
(`source`) and fields of other formats (`extra`, except the severity of a probe). It does not depend on the order of
the records: the same items are the same data. The `extra` of an annotation counts, since it says which judgements
count; so does the `extra` of a score. The order of the candidates of a CAT counts, since it decides ties under some
protocols.

The records are read several times: for the hash, for the scores and for the report. A small source is read once, so
that it does not change in between. A large one is read again, probes in columns.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from itertools import chain, islice
from json.encoder import encode_basestring_ascii
from operator import attrgetter
from pathlib import Path
from typing import Any

from catsofa.data import sources
from catsofa.data.digests import hex_digest
from catsofa.data.files import stamp
from catsofa.data.files.faults import are_left_out
from catsofa.data.formats.probe_columns import ProbeFile, probe_file
from catsofa.data.judging.severities import OFFENSIVENESS
from catsofa.data.records import Annotation, Cat, Probe, Question, Score, WordSet

LEFT_OUT = ("votes", "source", "extra")
"""Fields that no score depends on: votes, notes on provenance and fields of other formats do not change an item."""
MODULUS = 2**256
REMEMBERED = 64
"""Maximum number of files and folders whose hash this process caches."""
SMALL = 1 << 24
"""The maximum bytes of a source that is held; its records take some times as many."""
HELD, MOST = 2, 1 << 16
"""The number of sources that this process holds, and the maximum number of records of each."""

Version = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Content:
    """The number of records in a data set, and their hash."""

    records: int
    digest: str
    """64 hexadecimal digits."""


def earlier_content_of(every: Iterable[Any]) -> Content:
    """The content of records as earlier versions computed it, without the order of the candidates of a CAT."""
    return content_of(replace(one, candidates=_by_label(one)) if isinstance(one, Cat) else one for one in every)


def _by_label(cat: Cat) -> Any:
    """The candidates of a CAT in the order of their labels."""
    return tuple(sorted(cat.candidates, key=attrgetter("label")))


def content_of(every: Iterable[Any]) -> Content:
    """The content of records: the sum of their SHA-256, so the order does not count and a repeated record does."""
    total = count = 0
    for counted in _counted(every):
        total += int.from_bytes(sha256(counted.encode()).digest(), "little")
        count += 1
    whole = f"{count}:{total % MODULUS:064x}"
    return Content(count, hex_digest(whole))


def _counted(every: Iterable[Any]) -> Iterator[str]:
    """The type and the values of each record as JSON; the type determines the field names, which are left out."""
    if not isinstance(every, ProbeFile):
        yield from (json.dumps([type(record).__name__, *_values_of(record)]) for record in every)
        return
    for block in every.blocks():
        columns = (map(encode_basestring_ascii, column) for column in block.columns)
        yield from (f'["{Probe.__name__}", {", ".join(values)}]' for values in zip(*columns, strict=True))


def version_of(place: Path) -> Version:
    """The stamps of a file, or of all files in a folder."""
    files = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    return tuple(map(stamp, files))


def records(source: str | Path, limit: int | None = None) -> Iterable[Any]:
    """The records of a file, a folder or a released set by name, or the first ones."""
    place = sources.resolve(source)
    if (probes := probe_file(place, limit)) is not None:
        return probes
    version = version_of(place)
    if are_left_out() or sum(size for _, size, *_ in version) > SMALL:
        return islice(sources.read(source), limit)
    key = (str(source), version)
    if key in _held:
        _held.move_to_end(key)
    else:
        reading = iter(sources.read(source))
        few = tuple(islice(reading, MOST))
        if len(few) == MOST:  # a packed file may hold millions
            return islice(chain(few, reading), limit)
        _held[key] = few
        if len(_held) > HELD:
            _held.popitem(last=False)
    return _held[key][:limit]


_held: OrderedDict[tuple[str, Version], tuple[Any, ...]] = OrderedDict()


def content_at(source: str | Path, limit: int | None = None) -> Content:
    """The content of a file, a folder or a released set by name, or of its first records.

    A process reads a file once, and again only after the file's size or a time stamp changes.
    """
    key = (str(source), limit, version_of(sources.resolve(source)))
    if key not in _known:
        _known[key] = content_of(records(source, limit))
        if len(_known) > REMEMBERED:
            _known.popitem(last=False)
    return _known[key]


_known: OrderedDict[tuple[Any, ...], Content] = OrderedDict()


def _values_of(record: Any) -> tuple[Any, ...]:
    """The values of a record that the hash covers."""
    kind = type(record)
    if kind not in _getters:
        _getters[kind] = _values(kind)
    return _getters[kind](record)


_getters: dict[type[Any], Callable[[Any], tuple[Any, ...]]] = {}


def _values(record_type: type[Any]) -> Callable[[Any], tuple[Any, ...]]:
    """A function from a record of this type to the values that the hash covers; candidates keep their order."""
    if record_type is Score:
        return lambda score: (score.item, score.task, score.score, dict(score.extra))
    if record_type is Annotation:
        return lambda one: (one.item, one.annotator, one.label, one.at, sorted(one.extra.items()))
    names = [field.name for field in fields(record_type) if field.name not in LEFT_OUT]
    get = attrgetter(*names)
    if record_type is Probe:  # a score may be weighted by severity
        return lambda probe: (*get(probe), probe.extra[OFFENSIVENESS]) if OFFENSIVENESS in probe.extra else get(probe)
    if record_type in (Cat, Question):
        return lambda record: tuple([*map(_values_of, v)] if isinstance(v, tuple) else v for v in get(record))
    if not any(field.type is WordSet for field in fields(record_type)):
        return get
    return lambda record: tuple(_values_of(value) if isinstance(value, WordSet) else value for value in get(record))
