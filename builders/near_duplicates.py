"""Drops near-duplicates of earlier records: by the rule of lint L20, and for short texts by an encoder."""

from collections.abc import Iterable, Iterator
from typing import Any

from catsofa.builders.similarity.encoders import Encoder
from catsofa.data.language.near_duplicates import NEAR, content, copies
from catsofa.data.languages.texts import language_of
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import Refused


def without_near_duplicates(
    records: Iterable[Any], threshold: float = NEAR, progress: Progress = SILENT, encoder: Encoder | None = None
) -> Iterator[Any]:
    """Yields each record to keep, and a refusal for each near-duplicate of an earlier record.

    The encoder compares short English texts. It is not loaded if no record is English.
    """
    listed = list(records)
    texts = [content(record) for record in listed]
    languages = [language_of(record) for record in listed]
    encode = encoder.encode if encoder and "en" in languages else None
    repeats = {pair.second: pair for pair in copies(texts, threshold, progress, encode, languages)}
    for place, record in enumerate(listed):
        if pair := repeats.get(place):
            source = {"of": listed[pair.first].id}
            yield Refused(
                id=record.id, reason="near_duplicate", text=texts[place], score=pair.similarity, source=source
            )
        else:
            yield record
