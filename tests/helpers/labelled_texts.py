"""Texts whose planted sentiment depends on one word."""

import json
import random
from pathlib import Path

WORDS = {"positive": ("kind", "happy"), "negative": ("asleep", "rude")}


def planted_rows(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Returns texts about people with random names, with the class of each."""
    rng, rows = random.Random(seed), []
    for _ in range(count):
        label = rng.choice(list(WORDS))
        name = "".join(rng.choice("aeiklnorst") for _ in range(6))
        rows.append((f"The {rng.choice(('baker', 'gardener'))} {name} was {rng.choice(WORDS[label])}.", label))
    return rows


def write_texts(path: Path, count: int, seed: int = 0) -> Path:
    """Writes such texts as a file of JSON lines."""
    rows = planted_rows(count, seed)
    path.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows))
    return path
