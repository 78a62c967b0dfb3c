"""Checksums inside JSON documents.

They find mistakes, swapped files and flipped bits. Whoever changes a file on purpose can write a new checksum too:
this is no signature.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catsofa.data.digests import json_digest
from catsofa.data.files import BadInput

FIELD = "checksum"
"""The field of a document that holds the checksum of all its other fields."""


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with its checksum."""
    held = json.loads(json.dumps(document))  # as a reader will see it: texts as keys, lists for tuples
    return {**held, FIELD: json_digest(held)}


def check_seal(document: Mapping[str, Any], path: Path | str, remedy: str) -> None:
    """Refuse a sealed document whose content is not what was sealed; `remedy` says what to do."""
    held = {name: value for name, value in document.items() if name != FIELD}
    if document.get(FIELD) != json_digest(held):
        raise BadInput(path, "content that its checksum does not fit: it was changed after it was written", remedy)
