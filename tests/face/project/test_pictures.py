"""Tests that the pictures of README and docs still match the pages of the program in words and size."""

import re
import struct
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from helpers.pictures import FOLDER, SHOWN, taken

from catsofa.data.files import json_files
from catsofa.data.files.checksums import sha256_of

WRITTEN: dict[str, Any] = json_files.read(SHOWN, "what pictures show")
"""The recorded words and size of each picture."""


@pytest.mark.parametrize("name", WRITTEN)
def test_a_picture_is_the_one_that_was_taken(name: str) -> None:
    """The checksum and the size in the header equal those recorded beside the picture's words."""
    place = FOLDER / f"{name}.png"
    assert sha256_of(place) == WRITTEN[name]["sha256"]
    assert list(struct.unpack(">II", place.read_bytes()[16:24])) == WRITTEN[name]["size"]


def test_every_picture_is_shown_with_a_sentence_for_those_who_cannot_see_it() -> None:
    """Each PNG was taken by the command, and is used in README or docs with an alternative text of some words."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    images = [image for page in pages for image in re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", page.read_text("utf-8"))]
    assert {Path(target).stem for _, target in images} == {path.stem for path in FOLDER.glob("*.png")} == set(WRITTEN)
    assert all(len(text.split()) > 4 for text, _ in images)


@pytest.mark.slow
@pytest.mark.browser
def test_pages_still_say_what_their_pictures_show(browser: Any, tmp_path: Path) -> None:
    """The words of each page and the size of each picture are unchanged; otherwise `make pictures` takes new ones."""
    now = {name: content for name, _, content in taken(browser, tmp_path)}
    before = {name: {key: facts[key] for key in ("size", "words")} for name, facts in WRITTEN.items()}
    assert now == before, "a page says something else than its picture: run `make pictures`, and look at them"
