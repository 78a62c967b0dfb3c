"""Tests probes as a folder of shards: the same probes as in one file, after any interruption."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers import ROOT
from typer.testing import CliRunner

from catsofa.builders import refusals
from catsofa.builders.probes import build, shards
from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.records import Identity, Stereotype

HERE = Path(__file__).parent
IDENTITIES = [
    *(Identity(category="gender", identity=f"Tailors of room {n}", form="noun") for n in range(6)),
    *(Identity(category="religion", identity=f"Gardeners of plot {n}", form="noun") for n in range(5)),
    Identity(category="sexuality", identity="Tailors of room 1", form="noun"),
    Identity(category="disability+gender", identity="Tall tailors", form="adjective noun"),
]
STEREOTYPES = [
    *(Stereotype(text=f"bake {n} loaves", category="gender") for n in range(7)),
    *(Stereotype(text=f"bake {n} cakes", category="culture") for n in range(3)),
    Stereotype(text="bake at noon", category="disabled, culture"),
    Stereotype(text="bake at night"),
    Stereotype(text="bake rye", category="body"),
    Stereotype(text="bake buns", category="race"),
]


def lines(place: Path) -> list[str]:
    """Returns the records of a file or folder as sorted texts."""
    return sorted(map(str, formats.read(place)))


def test_shards_hold_the_probes_of_one_file(tmp_path: Path) -> None:
    """For any shard length, the records, counts and refusals equal those of `build`. No shard exceeds its length."""
    counts = refusals.write(build(IDENTITIES, STEREOTYPES), tmp_path / "one.jsonl", tmp_path / "refused.jsonl")
    for rows in (1, 20, 1000):
        folder, refused = tmp_path / f"by {rows}", tmp_path / f"refused by {rows}"
        assert shards.write(IDENTITIES, STEREOTYPES, folder, refused, rows=rows) == counts
        assert lines(folder) == lines(tmp_path / "one.jsonl")
        assert refused.read_bytes() == (tmp_path / "refused.jsonl").read_bytes()
    sizes = [len(list(formats.read(file))) for file in (tmp_path / "by 20" / "data").iterdir()]
    assert len(sizes) > 1
    assert max(sizes) <= 20
    assert len(list((tmp_path / "by 1" / "data").iterdir())) == 12, "distinct identities"


def test_what_is_missing_is_made_and_nothing_else(tmp_path: Path) -> None:
    """Readers refuse a folder without one of its shards, and the next call writes only that shard."""
    shards.write(IDENTITIES, STEREOTYPES, tmp_path / "probes", rows=20)
    files = sorted((tmp_path / "probes/data").iterdir())
    content, modified = files[1].read_bytes(), files[0].stat().st_mtime_ns
    files[1].unlink()
    with pytest.raises(BadInput, match=files[1].name):
        lines(tmp_path / "probes")
    shards.write(IDENTITIES, STEREOTYPES, tmp_path / "probes", rows=20)
    assert files[1].read_bytes() == content
    assert files[0].stat().st_mtime_ns == modified


def test_other_files_are_refused_with_the_difference(tmp_path: Path) -> None:
    """Changed stereotypes in a folder with probes are refused with the difference, and so is a folder of other
    files."""
    shards.write(IDENTITIES, STEREOTYPES, tmp_path / "probes")
    with pytest.raises(ValueError, match=r"stereotypes: \S+ → \S+"):
        shards.write(IDENTITIES, STEREOTYPES[1:], tmp_path / "probes")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "one.txt").write_text("Dear baker")
    with pytest.raises(BadInput, match="other files"):
        shards.write(IDENTITIES, STEREOTYPES, tmp_path / "letters")


MAKE = """
import sys
from test_shards import many
many(sys.argv[1])
"""


def many(folder: str) -> None:
    """Writes 40,000 probes in 100 shards."""
    identities = [Identity(category="job", identity=f"Weavers of room {n}", form="noun") for n in range(100)]
    shards.write(identities, [Stereotype(text=f"get up at {n}") for n in range(400)], folder, rows=400)


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killed_at_any_instant_the_same_shards_are_made_at_last(sent: signal.Signals, tmp_path: Path) -> None:
    """After kills at different numbers of shards, a rerun gives the same files as an uninterrupted run, byte for
    byte."""
    many(str(tmp_path / "whole"))
    data = tmp_path / "killed" / "data"
    for wanted in (1, 20, 60):
        process = subprocess.Popen(
            [sys.executable, "-c", MAKE, str(tmp_path / "killed")],
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), str(ROOT / "tests")])},
            stderr=subprocess.DEVNULL,
        )
        while len(list(data.glob("*.parquet"))) < wanted:
            assert process.poll() is None
            time.sleep(0.001)
        process.send_signal(sent)
        assert process.wait() != 0
    assert len(list(data.glob("*.parquet"))) < 100
    many(str(tmp_path / "killed"))
    whole, killed = (
        {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        for folder in (tmp_path / "whole", tmp_path / "killed")
    )
    assert killed == whole, "the folder's hash, which signatures hold, is that of its bytes"


def test_a_second_process_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    """The second process gets one sentence; the first keeps the folder."""
    with shards._held(tmp_path / "probes", {}), pytest.raises(BadInput, match=r"another run.*writing"):
        shards.write(IDENTITIES, STEREOTYPES, tmp_path / "probes")


def test_the_ending_of_the_name_says_whether_it_is_a_file_or_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--out probes` writes shards, which every command reads.

    Workers with a single output file are refused with a reason. 82 probes: 7 × 7 of gender, 3 × 5 of religion, 6 of
    disability or religion, 12 of any category.
    """
    monkeypatch.chdir(tmp_path)
    formats.named("jsonl").write(IDENTITIES, "i.jsonl")
    formats.named("jsonl").write(STEREOTYPES, "s.jsonl")
    command = ("build", "probes", "--identities", "i.jsonl", "--stereotypes", "s.jsonl", "--out")
    for name in ("probes", "probes.jsonl"):
        done = CliRunner().invoke(app, [*command, name], catch_exceptions=False)
        assert f"82 kept, 2 refused: {name}" in done.stdout
    assert lines(Path("probes")) == lines(Path("probes.jsonl"))
    with pytest.raises(ValueError, match=r"shards.*--out other$"):
        CliRunner().invoke(app, [*command, "other.jsonl", "--engine", "ray"], catch_exceptions=False)
