from collections import Counter
from pathlib import Path

import pytest
from helpers.samples import BESIDE, FILES, write_sample

import catsofa
from catsofa.data import formats
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import RECORDS, Annotation, Cat, Pair, Probe


def test_every_format_is_where_its_name_says() -> None:
    """Each module contains the format of its name, and each format holds known record types."""
    for name in formats.MODULES:
        assert formats.named(name).name == name
        assert set(formats.named(name).holds) <= set(RECORDS.values())
    with pytest.raises(ValueError, match=r"format 'excel'.*stereoset, predictions"):
        formats.named("excel")


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_known_by_its_content_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    """Each sample is recognised as its own format, with its file name and without."""
    path = write_sample(tmp_path, name)
    assert formats.format_of(path).name == name.split()[0]
    if name in BESIDE:  # these two files are recognised by their names
        return
    bare = path.rename(tmp_path / "data")
    assert formats.format_of(bare).name == name.split()[0]
    assert sum(1 for _ in catsofa.read(bare)) == sum(1 for _ in formats.read(bare, name.split()[0]))


@pytest.mark.parametrize("name", FILES)
def test_no_two_formats_claim_one_file(name: str, tmp_path: Path) -> None:
    """Each sample is claimed by its own format alone. jsonl is asked last and claims any line of JSON."""
    path = write_sample(tmp_path, name)
    claims = [one for one in formats.MODULES if formats.named(one).matches(path, path.read_bytes())]
    assert [one for one in claims if one != "jsonl"] == [name.split()[0]] * (name != "jsonl")


@pytest.mark.parametrize("name", [name for name in FILES if formats.named(name.split()[0]).suffix is not None])
def test_a_sample_goes_through_jsonl_and_comes_back(name: str, tmp_path: Path) -> None:
    """A sample converted to JSONL and back is equal, and no loss is reported in either direction."""
    path = write_sample(tmp_path, name)
    chosen = formats.format_of(path)
    back = tmp_path / "back" / path.name if chosen.suffix else tmp_path / "back"
    conversion = formats.convert(path, tmp_path / "records.jsonl")
    again = formats.convert(tmp_path / "records.jsonl", back, target_format=chosen.name)
    assert conversion.lost == again.lost == Counter()
    assert conversion.records == again.records > 0
    assert list(formats.read(back)) == list(formats.read(path))


def test_records_of_another_type_are_said_when_one_type_is_asked_for(tmp_path: Path) -> None:
    """A command that needs CATs refuses pairs in any format, and accepts CATs in any format."""
    pairs = write_sample(tmp_path, "crows-pairs")
    with pytest.raises(BadInput, match=r"pairs\.csv: .*CrowS-Pairs.*cats"):
        list(formats.read_as(pairs, Cat))
    probes = write_sample(tmp_path, "jsonl")
    with pytest.raises(BadInput, match=r"probes\.jsonl: .*probes.*pairs"):
        list(formats.read_as(probes, Pair))
    assert [probe.id for probe in formats.read_as(probes, Probe)] == ["p1", "p2"]
    assert len(list(formats.read_as(write_sample(tmp_path, "stereoset"), Cat))) == 2


def test_the_target_s_format_is_told_by_its_ending_or_must_be_named(tmp_path: Path) -> None:
    """Probes in .csv can only be SoFa's. For a folder of tests or an unknown suffix, several formats are possible, so
    --to is required."""
    path = write_sample(tmp_path, "jsonl")
    assert formats.convert(path, tmp_path / "a.csv").target == "sofa"
    assert formats.convert(path, tmp_path / "folder").target == "release"
    with pytest.raises(ValueError, match=r"sofa, release, jsonl.*--to"):
        formats.convert(path, tmp_path / "a.xml")
    with pytest.raises(ValueError, match=r"seat, release, jsonl.*--to"):
        formats.convert(write_sample(tmp_path, "seat"), tmp_path / "tests")
    for source in (path, tmp_path / "a.csv"):
        with pytest.raises(ValueError, match=r"crows-pairs.* pairs.* probes"):
            formats.convert(source, tmp_path / "b.csv", target_format="crows-pairs")
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(ValueError, match="file to read"):
        formats.convert(path, tmp_path / "link", target_format="jsonl")


def test_an_annotation_file_is_no_crows_pairs_file_and_the_other_way_round(tmp_path: Path) -> None:
    """CrowS-Pairs has a column of annotations, and an annotation file may have a column of bias types."""
    path = tmp_path / "labels.csv"
    path.write_text("item,annotator,label,bias_type,sent_more\ns1,h1,related,age,Tea.\n")
    assert list(formats.read(path)) == [
        Annotation(item="s1", annotator="h1", label="related", extra={"bias_type": "age", "sent_more": "Tea."})
    ]
    jsonl.write(formats.read(path), tmp_path / "labels.jsonl")
    assert formats.convert(tmp_path / "labels.jsonl", tmp_path / "again.csv").lost == Counter()
