import gc
import os
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest
from helpers.mutations import MUTATIONS
from helpers.samples import BESIDE, FILES

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.processes import uncollected
from catsofa.data.records import Probe


def fuzz(count: int, seed: int, folder: Path) -> Counter[str]:
    """Gives every reader mutated files and returns the counts of outcomes by reader. Only BadInput may be raised."""
    rng = random.Random(seed)
    came_of_it: Counter[str] = Counter()
    good = [(file, text.encode()) for file, text in FILES.values()] + [released(folder)]
    other, text = BESIDE["winobias"]
    for number in range(count):
        if number % 100 == 0:  # automatic collection could run a finalizer of another test within a deep recursion
            gc.collect()
        file, raw = rng.choice(good)
        for _ in range(rng.randint(1, 3)):
            raw = rng.choice(MUTATIONS)(raw, rng) or b"\n"
        path = folder / file
        path.write_bytes(raw)
        if file == FILES["winobias"][0]:
            (folder / other).write_text(text, "utf-8")
        for name in [*formats.MODULES, None]:
            for place in (path, folder):
                outcome = read_to_the_end(place, name, f"seed {seed}, file {number}: {raw[:500]!r}")
                came_of_it[f"{name or 'any'}: {outcome}"] += 1
        path.unlink()
        (folder / other).unlink(missing_ok=True)
    return came_of_it


def released(folder: Path) -> tuple[str, bytes]:
    """Returns a Parquet file of a release and its relative path."""
    probe = Probe(category="c", identity="Bakers", stereotype="sing", extra={"n": 1})
    formats.named("release").write([probe], folder / "release")
    (file,) = (folder / "release").rglob("*.parquet")
    raw, place = file.read_bytes(), file.relative_to(folder / "release")
    shutil.rmtree(folder / "release")
    (folder / place).parent.mkdir(exist_ok=True)
    return str(place), raw


def read_to_the_end(path: Path, name: str | None, case: str) -> str:
    """Returns whether a file was read or refused. Any exception but BadInput fails the test with its case."""
    try:
        return "read" if sum(1 for _ in formats.read(path, name)) else "nothing"
    except BadInput as error:
        if "\n" in error.found + error.expected or len(str(error)) > 1000:
            pytest.fail(f"no sentence: {error} ({name}, {case})")
        return "refused"
    except Exception as error:  # noqa: BLE001 - whatever else it is, it is what this test looks for
        pytest.fail(f"{type(error).__name__}: {error} ({name}, {case})")


def check(came_of_it: Counter[str]) -> None:
    """Asserts that every reader read some mutated files, refused others, and never returned nothing silently."""
    for name in formats.MODULES:
        assert came_of_it[f"{name}: refused"]
        assert not came_of_it[f"{name}: nothing"]
        assert came_of_it[f"{name}: read"]


def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    """1,000 mutated files (flipped bytes, dropped lines, renamed fields) and their folders are read or refused by each
    reader."""
    with uncollected():
        check(fuzz(1000, seed=7, folder=tmp_path))


@pytest.mark.slow
def test_ten_thousand_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    """10,000 other mutated files are read or refused; CATSOFA_FUZZ=100000 sets the number."""
    with uncollected():
        check(fuzz(int(os.environ.get("CATSOFA_FUZZ", "10000")), seed=20, folder=tmp_path))
