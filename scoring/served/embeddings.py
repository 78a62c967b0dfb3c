"""Vectors of texts from the embeddings endpoint of a server; each reply is stored before it is used."""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.data.percentages import quantity
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.data.servers.requests import Request, fetch
from catsofa.scoring.served.replies import REPLIES

Matrix = NDArray[np.float32]

TEXTS = 32
"""Number of texts per request."""


@dataclass(eq=False)
class ServedVectors:
    """Vectors of texts from a server, for a model by its name on the server."""

    name: str
    endpoint: Endpoint
    folder: Path | None = None
    """Folder in which replies are stored."""

    def keep(self, folder: Path | None) -> None:
        """Stores the replies in the folder of a run from now on."""
        self.folder = folder

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Returns one row per text; raises ValueError if the server has no vector for a text."""
        parts = [list(texts[start : start + TEXTS]) for start in range(0, len(texts), TEXTS)]
        requests = [
            Request("embeddings", {"model": self.name, "input": part, "encoding_format": "float"}) for part in parts
        ]
        vectors, failures = dict[str, Matrix](), list[str]()
        path, server = self.folder and self.folder / REPLIES, self.endpoint.base_url or ""
        with ReplyStore(path, self.endpoint.hide, server=server) as replies:
            for answer in fetch(requests, self.endpoint, replies, packed):
                part = answer.request.body["input"]
                if answer.reply is None:
                    failures.append(f"no vectors for {quantity(len(part), 'text')}: {answer.failure}")
                elif len(rows := unpacked(answer.reply)) != len(part):
                    failures.append(f"{quantity(len(rows), 'vector')} for {quantity(len(part), 'text')}")
                else:
                    vectors |= zip(part, rows, strict=True)
        if failures:
            raise ValueError(f"{self.name} gave {failures[0]}; run the same command again when the server is well")
        if len({len(row) for row in vectors.values()}) > 1:
            raise ValueError(f"the vectors of {self.name} are of different lengths")
        return np.stack([vectors[text] for text in texts])


def packed(body: Any) -> dict[str, Any]:
    """Encodes a reply's vectors as text, in the order of their texts; raises ValueError if the JSON has none."""
    data: Any = body.get("data") if isinstance(body, dict) else None
    try:
        with np.errstate(over="ignore"):
            by_index = {int(row["index"]): np.asarray(row["embedding"], dtype="<f4") for row in data or ()}
        rows = np.stack([by_index[n] for n in range(len(by_index))])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ValueError("the server's JSON has no vectors") from None
    if rows.ndim != 2 or rows.shape[1] < 2 or len(rows) != len(data) or not np.isfinite(rows).all():
        raise ValueError("the server's JSON has no finite vector for each text")
    return {"vectors": b64encode(rows.tobytes()).decode(), "width": rows.shape[1], "model": body.get("model")}


def unpacked(reply: Mapping[str, Any]) -> Matrix:
    """Decodes the vectors of a stored reply."""
    return np.frombuffer(b64decode(reply["vectors"]), dtype="<f4").reshape(-1, reply["width"])
