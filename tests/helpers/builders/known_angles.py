"""CATs about invented groups, and an encoder whose cosines are known."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from catsofa.data.records import LABELS, Candidate, Cat


def cat(name: str, context: str) -> Cat:
    """Returns a CAT whose candidates are filled with three words."""
    words = ("patient", "hasty", "gravel")
    one, two, three = (
        Candidate(id=f"{name}-{label}", text=context.replace("BLANK", word), label=label, fill=word)
        for label, word in zip(LABELS, words, strict=True)
    )
    return Cat(id=name, kind="intrasentence", bias_type="x", target="x", context=context, candidates=(one, two, three))


class Angles:
    """An encoder with known vectors: one angle per text, in degrees."""

    signature = "angles"

    def __init__(self, angles: dict[str, float]) -> None:
        self.angles, self.asked = angles, list[str]()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns the point at each text's angle."""
        self.asked += texts
        radians = [math.radians(self.angles.get(text, 0)) for text in texts]
        return np.array([[math.cos(r), math.sin(r)] for r in radians], dtype=np.float32)
