import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from helpers.samples import write_sample
from helpers.strategies import RECORDS_OF
from hypothesis import given, settings
from hypothesis import strategies as st

from catsofa.data import formats
from catsofa.data.files import BadInput, parquet_columns
from catsofa.data.records import RECORDS, Probe, Score, Term
from catsofa.data.release import read, read_release, write_release
from catsofa.data.release.dataset_card import CardFacts, size_category

FACTS = CardFacts(pretty_name='Teas: and "soups"', licence="cc-by-sa-4.0", language=("en", "fr"))


def probes(count: int, category: str = "hobby") -> Iterator[Probe]:
    """Yields mild probes."""
    for number in range(count):
        yield Probe(category=category, identity=f"Gardeners {number}", stereotype="like rain", extra={"ID": number})


@pytest.mark.parametrize("kind", RECORDS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_release_gives_back_every_record_as_it_was(
    kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any record of any kind, with odd characters, nested extras, infinities or no score, is equal after a round
    trip."""
    drawn = data.draw(st.lists(RECORDS_OF[RECORDS[kind]], min_size=1, max_size=4))
    folder = tmp_path_factory.getbasetemp() / "release" / "set"
    assert write_release({"test": iter(drawn)}, folder, FACTS).records == len(drawn)
    assert list(formats.read(folder)) == drawn


def test_load_dataset_reads_a_release_offline(tmp_path: Path) -> None:
    """`datasets.load_dataset(folder)` in a fresh offline process gives the same splits, rows, texts and votes."""
    cats = list(formats.read(write_sample(tmp_path, "stereoset")))
    write_release({"dev": cats[:1], "test": cats[1:]}, tmp_path / "set", FACTS)
    code = (
        "import json, sys; from datasets import load_dataset;"
        "print(json.dumps({name: list(split) for name, split in load_dataset(sys.argv[1]).items()}))"
    )
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf"), "HF_DATASETS_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "set")],
        env=os.environ | offline,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = json.loads(done.stdout)
    assert loaded.keys() == {"dev", "test"}
    decode = parquet_columns.columns(type(cats[0]))
    for row, cat in zip(loaded["dev"] + loaded["test"], cats, strict=True):
        assert (row["id"], row["kind"], row["target"], row["context"]) == (cat.id, cat.kind, cat.target, cat.context)
        assert [c["text"] for c in row["candidates"]] == [c.text for c in cat.candidates]
        assert [[v["label"] for v in c["votes"]] for c in row["candidates"]] == [
            [v.label for v in c.votes] for c in cat.candidates
        ]
        extra = decode["extra"].decode
        assert extra is not None
        assert extra(row["extra"]) == cat.extra


def test_each_split_is_read_by_itself(tmp_path: Path) -> None:
    """Splits keep their names and order. One split can be read alone, also as a file."""
    dev, test = list(probes(3)), list(probes(5, "craft"))
    write_release({"dev": dev, "test": test}, tmp_path / "set", FACTS)
    splits = read_release(tmp_path / "set")
    assert list(splits["test"]) == test
    assert list(splits["dev"]) == dev
    assert list(formats.read(tmp_path / "set" / "data" / "test.parquet")) == test


def test_shards_as_the_hub_names_them_are_one_split(tmp_path: Path) -> None:
    """`train-00000-of-00002` and `train-00001-of-00002`, as `push_to_hub` writes them, form the split `train`."""
    write_release({"a": probes(2), "b": probes(2, "craft")}, tmp_path / "set", FACTS)
    (tmp_path / "set" / "SHA256SUMS").unlink()
    data = tmp_path / "set" / "data"
    (data / "a.parquet").rename(data / "train-00000-of-00002.parquet")
    (data / "b.parquet").rename(data / "train-00001-of-00002.parquet")
    splits = read_release(tmp_path / "set")
    assert {name: len(list(records)) for name, records in splits.items()} == {"train": 4}


def test_the_card_says_what_the_hub_reads(tmp_path: Path) -> None:
    """The card's YAML parses and names the licence, the languages and each split's file. 1,001 records are 1K<n<10K."""
    release = write_release({"dev": probes(1), "test": probes(1_000, "craft")}, tmp_path / "set", FACTS)
    text = (tmp_path / "set" / "README.md").read_text("utf-8")
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["pretty_name"] == FACTS.pretty_name
    assert head["license"] == "cc-by-sa-4.0"
    assert head["language"] == ["en", "fr"]
    assert head["size_categories"] == ["1K<n<10K"]
    assert head["configs"] == [
        {
            "config_name": "default",
            "data_files": [
                {"split": "dev", "path": "data/dev.parquet"},
                {"split": "test", "path": "data/test.parquet"},
            ],
        }
    ]
    assert text.count(head["canary"]) == 2
    assert all(split.sha256 in text for split in release.splits)


@pytest.mark.parametrize(
    ("records", "name"), [(1, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (1_490_120, "1M<n<10M"), (10**9, "n>100M")]
)
def test_sizes_are_named_as_the_hub_names_them(records: int, name: str) -> None:
    """Size categories have the hub's names; SoFa's 1,490,120 probes are 1M<n<10M."""
    assert size_category(records) == name


def test_the_same_records_make_the_same_bytes(tmp_path: Path) -> None:
    """Two releases of the same records are identical, so a checksum identifies them."""
    one = write_release({"test": probes(50)}, tmp_path / "one", FACTS)
    two = write_release({"test": probes(50)}, tmp_path / "two", FACTS)
    assert one.splits == two.splits
    assert (tmp_path / "one/README.md").read_bytes() == (tmp_path / "two/README.md").read_bytes()


def test_a_failure_leaves_the_old_release_as_it_was(tmp_path: Path) -> None:
    """If the records fail in the middle, the folder keeps the first release, and no partial folder is left."""
    write_release({"test": probes(3)}, tmp_path / "set", FACTS)

    def broken() -> Iterator[Probe]:
        yield from probes(2)
        raise ValueError("the source broke off")

    with pytest.raises(ValueError, match="broke off"):
        write_release({"test": broken()}, tmp_path / "set", FACTS)
    assert len(list(read(tmp_path / "set"))) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_a_release_replaces_a_release_and_nothing_else(tmp_path: Path) -> None:
    """An older release is replaced with all its splits. A folder with another file is refused."""
    write_release({"dev": probes(3)}, tmp_path / "set", FACTS)
    write_release({"test": probes(4)}, tmp_path / "set", FACTS)
    assert {name: len(list(records)) for name, records in read_release(tmp_path / "set").items()} == {"test": 4}
    (tmp_path / "set" / "thesis.tex").write_text("years of work")
    with pytest.raises(BadInput, match=r"thesis\.tex.*lost"):
        write_release({"test": probes(5)}, tmp_path / "set", FACTS)
    assert (tmp_path / "set" / "thesis.tex").read_text() == "years of work"
    (tmp_path / "set" / "thesis.tex").unlink()
    (tmp_path / "set" / "README.md").write_text("Somebody else's dataset")
    with pytest.raises(BadInput, match="would be lost"):
        write_release({"test": probes(5)}, tmp_path / "set", FACTS)


@pytest.mark.parametrize(
    ("splits", "complaint"),
    [
        ({}, "at least one split"),
        ({"test": []}, "split 'test' holds no records"),
        ({"te-st": list(probes(1))}, "'te-st' cannot name a split"),
        ({"all": list(probes(1))}, "'all' cannot name a split"),
        ({"test": [*probes(1), Term(category="a", term="b")]}, "found terms among probes in split 'test'"),
        ({"dev": list(probes(1)), "test": list(probes(1))}, "split 'test':1: found id"),
        ({"test": [Probe(category="a", identity="b", stereotype="c", extra={"x": {1}})]}, "what JSON cannot"),
        ({"test": [Probe(category="a", identity="b", stereotype="c", extra={"x": float("nan")})]}, "what JSON cannot"),
    ],
)
def test_what_cannot_be_released_is_refused(splits: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    """No split, an empty split, an invalid split name, two kinds, an id in two splits and values outside JSON are
    refused."""
    with pytest.raises(ValueError, match=complaint):
        write_release(splits, tmp_path / "set", FACTS)
    assert list(tmp_path.iterdir()) == []


def _columns(folder: Path, **columns: Any) -> Path:
    """Writes a release whose one file has these columns, and returns its folder."""
    (folder / "data").mkdir()
    pq.write_table(pa.table(columns), folder / "data" / "test.parquet")
    return folder


def test_a_file_that_is_no_release_is_refused(tmp_path: Path) -> None:
    """Other columns, invalid rows, a truncated file and a missing file are refused with the finding and the place."""
    with pytest.raises(BadInput, match=r"test\.parquet: .*'x, y'"):
        list(read(_columns(tmp_path, x=["a"], y=["b"])))
    score = {"item": ["a", None], "score": [1.0, 2.0], "tokens": [1, 1], "task": ["", ""], "reason": ["", ""]}
    path = tmp_path / "data" / "test.parquet"
    pq.write_table(pa.table(score | {"extra": ["{}", "{}"]}), path)
    with pytest.raises(BadInput, match=r"test\.parquet:2: .*None.*'item'"):
        list(read(tmp_path))
    pq.write_table(pa.table(score | {"extra": ["{", "{}"]}), path)
    with pytest.raises(BadInput, match="no scores"):
        list(read(tmp_path))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadInput, match="readable Parquet"):
        list(read(tmp_path))
    path.unlink()
    with pytest.raises(BadInput, match=r"no data/\*\.parquet"):
        list(read(tmp_path))


def test_damage_inside_a_file_is_said(tmp_path: Path) -> None:
    """Damaged bytes in the data give BadInput, not a crash and not a silent loss."""
    write_release({"test": (Score(item=f"i{n}", score=n / 7) for n in range(5_000))}, tmp_path / "set", FACTS)
    path = tmp_path / "set/data/test.parquet"
    raw = bytearray(path.read_bytes())
    raw[100:300] = bytes(200)
    path.write_bytes(raw)
    with pytest.raises(BadInput, match="SHA256SUMS"):
        list(read(path))
    (tmp_path / "set/SHA256SUMS").unlink()
    with pytest.raises(BadInput, match="damaged Parquet"):
        list(read(path))


def test_spoilt_bytes_are_never_more_than_bad_input(tmp_path: Path) -> None:
    """Each of 300 files with bytes changed, added, doubled or cut is read, or refused in one sentence."""
    cats = formats.read(write_sample(tmp_path, "stereoset"))
    write_release({"test": cats}, tmp_path / "set", FACTS)
    whole, path, rng = (tmp_path / "set/data/test.parquet").read_bytes(), tmp_path / "spoilt.parquet", Random(7)
    refused = []
    for _ in range(300):
        start, length = rng.randrange(len(whole)), rng.randint(1, 20)
        changed = rng.choice([rng.randbytes(length), whole[start : start + length] * 2, b"", whole[:start]])
        path.write_bytes(whole[:start] + changed + (b"" if rng.random() < 0.1 else whole[start + length :]))
        try:
            list(read(path))
        except BadInput as error:
            refused.append(str(error))
    assert len(refused) > 200
    assert not [sentence for sentence in refused if "\n" in sentence]


def test_convert_writes_and_reads_releases(tmp_path: Path) -> None:
    """`convert` reads and writes releases like other formats, without loss in either direction."""
    source = write_sample(tmp_path, "stereoset")
    conversion = formats.convert(source, tmp_path / "set", target_format="release")
    back = formats.convert(tmp_path / "set", tmp_path / "back.jsonl")
    assert (conversion.records, back.records) == (2, 2)
    assert not conversion.lost
    assert list(formats.read(tmp_path / "back.jsonl")) == list(formats.read(source))


@pytest.mark.slow
def test_a_million_and_a_half_probes_need_less_than_a_gigabyte(tmp_path: Path) -> None:
    """SoFa's number of probes is written and read by a subprocess with a peak memory below 1 GB."""
    code = """
import sys
from pathlib import Path
from catsofa.data.release.dataset_card import CardFacts
from catsofa.data.records import Probe
from catsofa.data.release import read, write_release
probes = (
    Probe(category="hobby", identity=f"Gardeners {n % 400}", stereotype=f"like rain of kind {n // 400}")
    for n in range(1_490_120)
)
write_release({"test": probes}, sys.argv[1], CardFacts(pretty_name="large"))
assert sum(1 for _ in read(Path(sys.argv[1]))) == 1_490_120
# not ru_maxrss, which begins with the memory of whoever started us
print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "set")], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) * 1024 < 1_000_000_000
