"""Tests that releases and shard folders list the SHA-256 of their files, and that changed files are refused."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from helpers.records import bakers, probes

from catsofa.builders.probes import shards as probe_shards
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.files.checksums import LIST, MANIFEST, read_list, sha256_of
from catsofa.data.records import Annotation, Identity, Stereotype
from catsofa.data.release import write_release
from catsofa.data.release.dataset_card import CardFacts
from catsofa.share import release as validated_release

IDENTITIES = [Identity(category="job", identity=f"Zorbs of room {n}", form="noun") for n in range(6)]
STEREOTYPES = [Stereotype(text=f"polish {n} blickets") for n in range(20)]


def shards(folder: Path) -> Path:
    """Writes 120 probes in three shards."""
    probe_shards.write(IDENTITIES, STEREOTYPES, folder, rows=40)
    return folder


def release(folder: Path) -> Path:
    """Writes 40 probes in two splits."""
    write_release({"dev": probes(20), "test": probes(40)[20:]}, folder, CardFacts(pretty_name="Zorbs"))
    return folder


MADE = pytest.mark.parametrize("make", [shards, release])
Make = Callable[[Path], Path]


def flip(path: Path, bit: int) -> None:
    """Flips one bit of a file."""
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


@MADE
def test_every_data_file_is_listed_as_sha256sum_reads_it(make: Make, tmp_path: Path) -> None:
    """The list has the SHA-256 of each data file and of croissant.json, and the sha256sum tool agrees."""
    folder = make(tmp_path / "set")
    files = [*folder.glob("data/*.parquet"), *folder.glob("croissant.json")]
    assert read_list(folder) == {str(file.relative_to(folder)): sha256_of(file) for file in files}
    if tool := shutil.which("sha256sum"):
        assert subprocess.run([tool, "--check", "--quiet", LIST], cwd=folder, check=False).returncode == 0


@MADE
def test_a_file_that_is_not_listed_is_refused_with_what_to_do(make: Make, tmp_path: Path) -> None:
    """The error names the file, the list and both remedies. Without the list, it names the manifest."""
    folder = make(tmp_path / "set")
    first = sorted(folder.glob("data/*.parquet"))[0]
    extra = folder / "data" / "extra.parquet"
    shutil.copy(first, extra)
    lists = (LIST, MANIFEST) if (folder / MANIFEST).exists() else (LIST,)
    for name in lists:
        with pytest.raises(BadInput) as refused:
            list(formats.read(extra))
        assert refused.value.path == extra
        assert str(folder / name) in refused.value.found
        assert "remove this file" in refused.value.expected
        assert "again" in refused.value.expected
        (folder / LIST).unlink(missing_ok=True)


@MADE
def test_no_flipped_bit_of_a_file_is_read(make: Make, tmp_path: Path) -> None:
    """Each of 30 single bit flips in the first file is refused with the file's name."""
    folder = make(tmp_path / "set")
    file = sorted(folder.glob("data/*.parquet"))[0]
    whole, rng = file.read_bytes(), Random(1)
    for bit in rng.sample(range(8 * len(whole)), 30):
        flip(file, bit)
        for place in (folder, file):
            with pytest.raises(BadInput, match="SHA-256") as refused:
                list(formats.read(place))
            assert refused.value.path == file
        file.write_bytes(whole)
    assert list(formats.read(folder))


def test_a_flipped_bit_within_the_pages_of_a_lone_file_is_not_read(tmp_path: Path) -> None:
    """Without a list, the Parquet page checksums detect every bit flip that changes a record."""
    file = shutil.copy(sorted(shards(tmp_path / "set").glob("data/*.parquet"))[0], tmp_path / "alone.parquet")
    records, whole, rng = list(formats.read(file)), file.read_bytes(), Random(2)
    pages = 8 * whole.rindex(b"ARROW:schema") // 2
    refused = 0
    for bit in rng.sample(range(32, pages), 60):
        flip(file, bit)
        try:
            assert list(formats.read(file)) == records, bit
        except BadInput:
            refused += 1
        file.write_bytes(whole)
    assert refused > 30


@MADE
def test_a_swapped_missing_or_unlisted_file_is_refused(make: Make, tmp_path: Path) -> None:
    """Two swapped files, an extra file, a missing listed file and a damaged list are refused."""
    folder = make(tmp_path / "set")
    one, two = sorted(folder.glob("data/*.parquet"))[:2]
    contents = one.read_bytes(), two.read_bytes()
    one.write_bytes(contents[1])
    two.write_bytes(contents[0])
    with pytest.raises(BadInput, match="SHA-256"):
        list(formats.read(folder))
    one.write_bytes(contents[0])
    two.write_bytes(contents[1])
    sums = (folder / LIST).read_bytes()
    two.unlink()
    with pytest.raises(BadInput, match=r"all of them|every file"):
        list(formats.read(folder))
    two.write_bytes(contents[1])
    (folder / "data" / "more.parquet").write_bytes(contents[0])
    with pytest.raises(BadInput):
        list(formats.read(folder))
    (folder / "data" / "more.parquet").unlink()
    for damaged in (b"x" + sums[1:], sums[1:], sums.replace(b"data/", b"../../", 1)):
        (folder / LIST).write_bytes(damaged)
        with pytest.raises(BadInput, match=LIST):
            list(formats.read(folder))
    (folder / LIST).unlink()
    assert list(formats.read(folder)), "a folder without a list, as other tools write it"


def test_a_damaged_shard_is_not_passed_over(tmp_path: Path) -> None:
    """A resumed run refuses a damaged shard by name. After its deletion, the same bytes are written again."""
    whole, folder = shards(tmp_path / "whole"), shards(tmp_path / "set")
    file = sorted(folder.glob("data/*.parquet"))[1]
    flip(file, 999)
    with pytest.raises(BadInput, match="SHA-256") as refused:
        shards(folder)
    assert refused.value.path == file
    file.unlink()
    shards(folder)
    assert {f.name: f.read_bytes() for f in folder.rglob("*") if f.is_file()} == {
        f.name: f.read_bytes() for f in whole.rglob("*") if f.is_file()
    }


def test_shards_of_an_earlier_version_are_made_again(tmp_path: Path) -> None:
    """Shards without checksums in their manifest cannot be checked, so they are written again."""
    folder = shards(tmp_path / "set")
    manifest, file = folder / "manifest.json", sorted(folder.glob("data/*.parquet"))[1]
    content, lines = file.read_bytes(), manifest.read_bytes()
    manifest.write_bytes(lines.splitlines(keepends=True)[0])
    (folder / LIST).unlink()
    file.write_bytes(sorted(folder.glob("data/*.parquet"))[0].read_bytes())
    shards(folder)
    assert (file.read_bytes(), manifest.read_bytes()) == (content, lines)


def test_a_release_lists_its_second_form_and_leaves_the_card_to_its_authors(tmp_path: Path) -> None:
    """The StereoSet JSON is listed. A README completed by hand leaves the set readable."""
    cats = bakers(4)
    votes = [
        Annotation(item=candidate.id, annotator=f"worker-{n}", label=candidate.label)
        for cat in cats
        for candidate in cat.candidates
        for n in range(5)
    ]
    validated_release.release({"test": cats}, votes, tmp_path / "set", CardFacts(pretty_name="Bakers"))
    assert set(read_list(tmp_path / "set") or ()) == {"croissant.json", "data/test.parquet", "stereoset-test.json"}
    card = tmp_path / "set" / "README.md"
    card.write_text(card.read_text() + "Made in spring.")
    assert len(list(formats.read(tmp_path / "set"))) == 4
