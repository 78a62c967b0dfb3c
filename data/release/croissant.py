"""The Croissant metadata (JSON-LD) of a release: its files with checksums, and the fields of its records."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from catsofa.data.files import json_files, parquet_columns
from catsofa.data.release.dataset_card import CardFacts, Split

FILE = "croissant.json"
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The JSON-LD context of Croissant 1.0, from its specification."""
TYPES = {"string": "sc:Text", "int64": "sc:Integer", "double": "sc:Float"}
"""Maps Arrow types to schema.org types."""


def write(folder: Path, facts: CardFacts, kind: type[Any], splits: Sequence[Split], canary: str) -> None:
    """Write the metadata beside the card, one record set per split; without a date, same data give same bytes."""
    about = f"{facts.summary} " if facts.summary else ""
    metadata = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": facts.pretty_name,
        "description": f"{about}Content warning: stereotypes. Benchmark data, not for training; canary GUID {canary}",
        "license": facts.licence,
        "inLanguage": list(facts.language),
        "keywords": [*facts.tags, "catsofa"],
        **({"citeAs": facts.citation} if facts.citation else {}),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": split.file,
                "name": split.file,
                "contentUrl": split.file,
                "contentSize": f"{split.bytes} B",
                "encodingFormat": "application/x-parquet",
                "sha256": split.sha256,
            }
            for split in splits
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": split.name,
                "name": split.name,
                "description": f"{split.rows} records",
                "field": list(_fields(kind, split)),
            }
            for split in splits
        ],
    }
    json_files.write(metadata, folder / FILE)


def _fields(kind: type[Any], split: Split) -> Iterator[Mapping[str, Any]]:
    """One field per column of text or numbers, and one per column of records, with subfields for texts and numbers."""

    def field(name: str, arrow: pa.DataType, column: str, **transform: Any) -> dict[str, Any]:
        """A field with its source column."""
        listed = pa.types.is_list(arrow)
        return {
            "@type": "cr:Field",
            "@id": f"{split.name}/{name}",
            "name": name,
            "dataType": TYPES[str(arrow.value_type if listed else arrow)],
            **({"repeated": True} if listed else {}),
            "source": {"fileObject": {"@id": split.file}, "extract": {"column": column}, **transform},
        }

    for column in parquet_columns.schema(kind):
        listed = pa.types.is_list(column.type)
        inner = column.type.value_type if listed else column.type
        if str(inner) in TYPES:
            yield field(column.name, column.type, column.name)
        elif pa.types.is_struct(inner):
            parts = [
                field(f"{column.name}/{part.name}", part.type, column.name, transform={"jsonPath": part.name})
                for part in inner
                if str(part.type) in TYPES
            ]
            about = {"@id": f"{split.name}/{column.name}", "name": column.name}
            yield {"@type": "cr:Field", **about, **({"repeated": True} if listed else {}), "subField": parts}
