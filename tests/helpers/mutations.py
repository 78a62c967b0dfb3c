"""Mutations of a file: bytes flipped, lines lost or doubled, fields renamed, values of another kind."""

import random
import re
from collections.abc import Callable

from helpers.samples import FILES

Mutation = Callable[[bytes, random.Random], bytes]


def flip(raw: bytes, rng: random.Random) -> bytes:
    """Replaces some bytes by random ones."""
    changed = bytearray(raw)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def truncate(raw: bytes, rng: random.Random) -> bytes:
    """Removes the end."""
    return raw[: rng.randrange(len(raw))]


def behead(raw: bytes, rng: random.Random) -> bytes:
    """Removes the start."""
    return raw[rng.randrange(len(raw)) :]


def drop_line(raw: bytes, rng: random.Random) -> bytes:
    """Removes a line."""
    lines = raw.splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def repeat_line(raw: bytes, rng: random.Random) -> bytes:
    """Repeats a line at a random place."""
    lines = raw.splitlines(keepends=True)
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"".join(lines)


def swap_separators(raw: bytes, rng: random.Random) -> bytes:
    """Replaces all of one separator by another."""
    one, other = rng.sample([b",", b";", b"\t", b"|", b":", b'"', b"'", b"\n", b"\r\n", b"{", b"}", b"[", b"]"], 2)
    return raw.replace(one, other)


def rename_field(raw: bytes, rng: random.Random) -> bytes:
    """Replaces a word everywhere by another word of the file."""
    words = re.findall(rb"[A-Za-z_]{2,}", raw) or [b"x"]
    return raw.replace(rng.choice(words), rng.choice([*words, b"", b"id", b"\xc3\xa9"]))


def change_value(raw: bytes, rng: random.Random) -> bytes:
    """Replaces a word, number or quoted text by a value of another kind."""
    matches = list(re.finditer(rb'"[^"\n]*"|[A-Za-z0-9_.-]+', raw))
    if not matches:
        return raw
    start, end = rng.choice(matches).span()
    return raw[:start] + rng.choice(VALUES) + raw[end:]


def insert(raw: bytes, rng: random.Random) -> bytes:
    """Inserts a value that does not belong there."""
    position = rng.randrange(len(raw) + 1)
    return raw[:position] + rng.choice(VALUES) + raw[position:]


def splice(raw: bytes, rng: random.Random) -> bytes:
    """Replaces the rest by that of another file."""
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
        b"9" * 400,
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
