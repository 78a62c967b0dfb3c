import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from samples import FILES

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.records import Probe

Mutation = Callable[[bytes, random.Random], bytes]


def flip(raw: bytes, rng: random.Random) -> bytes:
    """Some bytes become any other."""
    changed = bytearray(raw)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def truncate(raw: bytes, rng: random.Random) -> bytes:
    """The end is missing."""
    return raw[: rng.randrange(len(raw))]


def behead(raw: bytes, rng: random.Random) -> bytes:
    """The start is missing."""
    return raw[rng.randrange(len(raw)) :]


def drop_line(raw: bytes, rng: random.Random) -> bytes:
    """A line is missing."""
    lines = raw.splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def repeat_line(raw: bytes, rng: random.Random) -> bytes:
    """A line stands twice, perhaps elsewhere."""
    lines = raw.splitlines(keepends=True)
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"".join(lines)


def swap_separators(raw: bytes, rng: random.Random) -> bytes:
    """All of one sign become another."""
    one, other = rng.sample([b",", b";", b"\t", b"|", b":", b'"', b"'", b"\n", b"\r\n", b"{", b"}", b"[", b"]"], 2)
    return raw.replace(one, other)


def rename_field(raw: bytes, rng: random.Random) -> bytes:
    """A word is another word of the file wherever it stands."""
    words = re.findall(rb"[A-Za-z_]{2,}", raw) or [b"x"]
    return raw.replace(rng.choice(words), rng.choice([*words, b"", b"id", b"\xc3\xa9"]))


def change_value(raw: bytes, rng: random.Random) -> bytes:
    """A word, number or quoted text becomes a value of another kind."""
    found = list(re.finditer(rb'"[^"\n]*"|[A-Za-z0-9_.-]+', raw))
    if not found:
        return raw
    start, end = rng.choice(found).span()
    return raw[:start] + rng.choice(VALUES) + raw[end:]


def insert(raw: bytes, rng: random.Random) -> bytes:
    """Something that does not belong there."""
    at = rng.randrange(len(raw) + 1)
    return raw[:at] + rng.choice(VALUES) + raw[at:]


def splice(raw: bytes, rng: random.Random) -> bytes:
    """The rest is another file's."""
    other = rng.choice(list(FILES.values()))[1].encode()
    return raw[: rng.randrange(len(raw))] + other[rng.randrange(len(other)) :]


VALUES = [
    *(
        b"null",
        b"true",
        b"-1",
        b"1e999",
        b"NaN",
        b"Infinity",
        b"0.5",
        b"9" * 30,
        b"9" * 5000,
        b"[]",
        b"{}",
        b'""',
        b'"',
    ),
    *(b"[" * 2000, b'{"a":' * 2000, b'"\\ud800"', b'"\\u0000"', b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n\n", b" "),
    *(b"[['a'], ['b']]", b"'a' * 10**9", b"((((", b"\xe2\x80\xa8", b"=cmd|' /C calc'!A0", b"id", b"label", b"..", b"/"),
]
MUTATIONS: list[Mutation] = [
    flip,
    truncate,
    behead,
    drop_line,
    repeat_line,
    swap_separators,
    rename_field,
    change_value,
    insert,
    splice,
]


def fuzz(count: int, seed: int, folder: Path) -> Counter[str]:
    """Give every reader so many mutated files; what came of it, by reader, where only BadInput may be raised."""
    rng = random.Random(seed)
    came_of_it: Counter[str] = Counter()
    good = [(file, text.encode()) for file, text in FILES.values()] + [released(folder)]
    for number in range(count):
        file, raw = rng.choice(good)
        for _ in range(rng.randint(1, 3)):
            raw = rng.choice(MUTATIONS)(raw, rng) or b"\n"
        path = folder / file
        path.write_bytes(raw)
        for name in [*formats.MODULES, None]:
            for place in (path, folder):
                outcome = read_to_the_end(place, name, f"seed {seed}, file {number}: {raw[:500]!r}")
                came_of_it[f"{name or 'any'}: {outcome}"] += 1
        path.unlink()
    return came_of_it


def released(folder: Path) -> tuple[str, bytes]:
    """A Parquet file of a release, and its place in the folder."""
    probe = Probe(category="c", identity="Bakers", stereotype="sing", extra={"n": 1})
    formats.named("release").write([probe], folder / "release")
    (file,) = (folder / "release").rglob("*.parquet")
    raw, place = file.read_bytes(), file.relative_to(folder / "release")
    shutil.rmtree(folder / "release")
    (folder / place).parent.mkdir(exist_ok=True)
    return str(place), raw


def read_to_the_end(path: Path, name: str | None, case: str) -> str:
    """Whether a file was read or refused; any exception but BadInput fails the test with the case that raised it."""
    try:
        return "read" if sum(1 for _ in formats.read(path, name)) else "nothing"
    except BadInput as error:
        if "\n" in error.found + error.expected or len(str(error)) > 1000:
            pytest.fail(f"no sentence: {error} ({name}, {case})")
        return "refused"
    except Exception as error:  # noqa: BLE001 - whatever else it is, it is what this test looks for
        pytest.fail(f"{type(error).__name__}: {error} ({name}, {case})")


def check(came_of_it: Counter[str]) -> None:
    """Every reader read some mutated files and refused others, and never gave nothing without a word."""
    for name in formats.MODULES:
        assert came_of_it[f"{name}: refused"]
        assert not came_of_it[f"{name}: nothing"]
        assert came_of_it[f"{name}: read"]


def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    """1,000 files and their folders for each of the readers: bytes flipped, lines dropped, fields renamed."""
    check(fuzz(1000, seed=2, folder=tmp_path))


@pytest.mark.slow
def test_ten_thousand_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    """The same with 10,000 others."""
    check(fuzz(10_000, seed=20, folder=tmp_path))
