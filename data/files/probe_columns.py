"""Probes in columns: a block of a large file, without an object for each probe."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import overload

from catsofa.data.records import Probe


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
            return Probes(*(column[place] for column in self._columns))
        one, category, identity, stereotype, text = (column[place] for column in self._columns)
        return Probe(id=one, category=category, identity=identity, stereotype=stereotype, text=text)

    def only(self, places: Sequence[int]) -> "Probes":
        """The probes at these places."""
        if len(places) < 2:
            return Probes.of([self[place] for place in places])
        return Probes(*map(itemgetter(*places), self._columns))

    @property
    def _columns(self) -> tuple[Sequence[str], ...]:
        """All columns, in the order of the fields."""
        return self.ids, self.categories, self.identities, self.stereotypes, self.texts
