from collections import Counter
from pathlib import Path

import pytest
from helpers.samples import SEEGULL, write_sample

from catsofa.data import formats
from catsofa.data.files import BadInput, jsonl
from catsofa.data.formats import seegull
from catsofa.data.records import Association, Votes


def test_a_row_becomes_an_association_with_the_votes_of_each_group_of_raters(tmp_path: Path) -> None:
    """Votes come from the region and from North America. An empty rating is missing, and the mean keeps the file's
    text."""
    tidy, loud = formats.read(write_sample(tmp_path, "seegull"))
    assert tidy == Association(
        identity="Dravians",
        attribute="tidy",
        votes=(Votes(raters="region", yes=2, no=1), Votes(raters="NA", no=3)),
        offensiveness=(-1.0, -1.0, 0.5),
        extra={"mean offensiveness_score": "-0.5"},
    )
    assert loud.offensiveness == (None, None, None)
    assert (loud.votes_of("NA").yes, loud.votes_of("elsewhere").yes) == (2, 0)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("Dravians,tidy,2", "Dravians,tidy,-2", 2),
        ("Dravians,tidy,2", "Dravians,tidy,two", 2),
        (",0.5,-0.5", ",5,-0.5", 2),
        (",0.5,-0.5", ",NA,-0.5", 2),
        ('Pellorans,"loud, at times"', "Dravians,tidy", 3),
        ("Pellorans,", " ,", 3),
        ("Pellorans,", '".,",', 3),
    ],
)
def test_a_cell_that_is_no_vote_and_no_rating_is_refused(old: str, new: str, line: int, tmp_path: Path) -> None:
    """A repeated pair and half a pair are refused too; the error names the line."""
    path = tmp_path / "x.csv"
    path.write_text(SEEGULL.replace(old, new))
    with pytest.raises(BadInput) as error:
        list(seegull.read(path))
    assert error.value.line == line


@pytest.mark.parametrize("written", ["Pellorans", ".Pellorans", '",Pellorans"', "PelloransPEL"])
def test_a_broken_identity_is_repaired_and_comes_back_as_it_was(written: str, tmp_path: Path) -> None:
    """Leading punctuation and an appended abbreviation are removed; `extra` keeps the original cell."""
    path = tmp_path / "x.csv"
    path.write_bytes(SEEGULL.replace("Pellorans", written).replace("\n", "\r\n").encode())
    repaired = list(seegull.read(path))
    assert repaired[1].identity == "Pellorans"
    assert repaired[1].extra.get("identity_as_written", "Pellorans") == written.strip('"')
    seegull.write(repaired, tmp_path / "back.csv")
    assert [one.extra for one in seegull.read(tmp_path / "back.csv")] == [one.extra for one in repaired]


def test_an_association_without_a_mean_gets_that_of_its_ratings(tmp_path: Path) -> None:
    """The written mean of 4 and 1 is 2.5. Fields without a column are reported as lost."""
    one = Association(identity="Zorbs", attribute="late", region="Upper Zorbia", offensiveness=(4, None, 1))
    assert set(seegull.loses(one)) == {"id", "region"}
    seegull.write([one], tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_bytes().splitlines()[1] == b"Zorbs,late,0,0,0,4,NA,1,2.5"


@pytest.mark.parametrize("name", ["global_v2", "us_states"])
def test_a_released_file_comes_back_byte_by_byte(name: str, shared: Path, tmp_path: Path) -> None:
    """CSV to JSONL and back gives the same bytes, including line ends."""
    path = shared / "data" / "seegull" / f"stereotypes_{name}.csv"
    formats.convert(path, tmp_path / "a.jsonl")
    formats.convert(tmp_path / "a.jsonl", tmp_path / "back.csv")
    assert (tmp_path / "back.csv").read_bytes() == path.read_bytes()
    assert len(list(jsonl.read(tmp_path / "a.jsonl", Association))) == {"global_v2": 6781, "us_states": 468}[name]


def test_the_counts_of_the_released_files_are_found(shared: Path) -> None:
    """The counts equal independent counts of the CSV: identities, attributes, votes, rows of two votes or more,
    ratings."""
    world = list(seegull.read(shared / "data" / "seegull" / "stereotypes_global_v2.csv"))
    assert len({one.identity for one in world}) == 176
    assert len({one.attribute for one in world}) == 1994
    region = [one.votes_of("region") for one in world]
    assert [sum(v.yes for v in region), sum(v.no for v in region), sum(v.unsure for v in region)] == [10068, 11112, 123]
    assert [sum(v.yes >= least for v in region) for least in (1, 2, 3)] == [5588, 3084, 1087]
    assert [sum(one.votes_of("NA").yes >= least for one in world) for least in (1, 2, 3)] == [5957, 3251, 1154]
    ratings = Counter(rating for one in world for rating in one.offensiveness)
    assert (ratings[-1], ratings[0], ratings[4], ratings[None]) == (9951, 122, 1179, 3 * 1197)
    states = list(seegull.read(shared / "data" / "seegull" / "stereotypes_us_states.csv"))
    assert (len({one.identity for one in states}), len({one.attribute for one in states})) == (53, 224)
    assert Counter(one.identity for one in [*world, *states] if "identity_as_written" in one.extra) == {
        "United Kingdom": 10,
        "New Hampshirite": 2,
    }
    assert sum(one.votes_of("region").yes >= 2 for one in states) == 71
