"""Tests of the folder of a study: status, items of another form, and files that were changed."""

import json
from pathlib import Path
from random import Random

import pytest
from helpers.annotation.pulled_answers import answered
from helpers.records import bakers, probes

from catsofa.annotation.results import answers as judged
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.results.status import status
from catsofa.annotation.study import create, open_study, read_items, rows
from catsofa.annotation.study.checks import check_study
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Association
from catsofa.validation.annotation_files import collect
from catsofa.validation.decide.confirmed import confirm


def test_status_counts_people_time_and_pay(tmp_path: Path) -> None:
    """Two items for two people, three answers of 36 s, one a minute, at 10 an hour: 0.30 paid, 0.40 expected."""
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(2), overlap=2, pay=10)
    one, two = study.keys
    labels = {f"label_{k}": "unrelated" for k in (1, 2, 3)}
    seats = [(one, "ls-1", 0), (one, "ls-2", 1), (two, "ls-1", 2)]
    rows.append(
        [answered(study, token, who, labels, at=f"2026-01-02T03:0{n}:00Z", seconds=36.0) for token, who, n in seats],
        study.folder / "raw.jsonl",
    )
    report = status(study, lambda annotations: float(len(annotations)))
    assert (report.done, report.started, report.judgements, report.wanted, report.over) == (1, 1, 3, 4, 0)
    assert (round(report.cost, 2), round(report.expected_cost, 2), report.per_hour) == (0.3, 0.4, 60)
    assert (report.ends, report.agreement) == ("2026-01-02T03:03+00:00", 9)


def test_a_sixth_judgement_is_counted_and_set_aside(tmp_path: Path) -> None:
    """When the server gives the last seat twice, `status` reports it, and the vote rule counts the first
    five by time.
    """
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(2))
    labels = {f"label_{k}": "unrelated" for k in (1, 2, 3)}
    replies = [
        answered(study, token, f"ls-{n}", labels, at=f"2026-01-02T03:04:0{n}Z")
        for token, people in zip(study.keys, (6, 5), strict=True)
        for n in reversed(range(people))
    ]
    rows.append(replies, study.folder / "raw.jsonl")
    report = status(study)
    assert (report.over, report.done, report.judgements, report.wanted) == (1, 2, 11, 10)
    votes = confirm(collect(judged.annotations(study))).votes
    assert votes.set_aside == {"after the first 5": 3}
    assert {a.annotator for a in votes.counted.set_aside} == {"ls-5"}


def test_a_study_is_made_once_and_opened_with_a_reason(tmp_path: Path) -> None:
    """A wrong folder, an existing study, half a study.json and wrong items each give one error."""
    with pytest.raises(BadInput, match=r"no study\.json"):
        open_study(tmp_path)
    create(tmp_path / "s", kind="validate-cats", items=bakers(1))
    with pytest.raises(BadInput, match="a new folder"):
        create(tmp_path / "s", kind="validate-cats", items=bakers(1))
    (tmp_path / "s" / "study.json").write_text('{"kind": "valid')
    with pytest.raises(BadInput, match="not JSON"):
        open_study(tmp_path / "s")
    with pytest.raises(ValueError, match="terms, not cats"):
        create(tmp_path / "t", kind="write-intrasentence", items=bakers(1))
    with pytest.raises(ValueError, match=r"kinds.*write-intrasentence"):
        create(tmp_path / "t", kind="rating", items=bakers(1))
    with pytest.raises(ValueError, match="3 to 50 characters"):
        create(tmp_path / "t", kind="validate-cats", items=bakers(1), title="x")
    assert not (tmp_path / "t" / "study.json").exists()
    (tmp_path / "targets.txt").write_text("baker\n\nflorist\n")
    assert [term.term for term in read_items(tmp_path / "targets.txt", "write-intrasentence")] == ["baker", "florist"]


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("judge-probes", "catsofa build probes"),
        ("judge-associations", "catsofa build candidates"),
        ("review-paraphrases", "catsofa build paraphrases"),
        ("validate-cats", "catsofa build cats"),
        ("write-intersentence", "one target per line in a .txt file"),
    ],
)
def test_items_of_another_form_are_refused_with_what_makes_the_right_ones(
    tmp_path: Path, kind: str, named: str
) -> None:
    """A missing file, an unknown table and records of another type are refused; a faulty line keeps its own error."""
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    other = [Association(identity="Dravians", attribute="tidy")] if kind != "judge-associations" else bakers(1)
    jsonl.write(other, tmp_path / "other.jsonl")
    for name, problem in (
        ("nowhere.jsonl", "no such file"),
        ("table.csv", "a table with the columns a, b"),
        ("other.jsonl", "found "),
    ):
        with pytest.raises(BadInput, match=f"{problem}.*{named}"):
            list(read_items(tmp_path / name, kind))
    jsonl.write(probes(1), tmp_path / "probes.jsonl")
    with (tmp_path / "probes.jsonl").open("a") as file:
        file.write('{"id": "p", "identity": 1}\n')
    with pytest.raises(BadInput, match=r"probes\.jsonl:2: "):
        list(read_items(tmp_path / "probes.jsonl", "judge-probes"))


def test_an_answer_that_was_changed_is_refused_with_its_line(tmp_path: Path) -> None:
    """Every appended line has a checksum: a changed label and a lost checksum are refused; older lines are read."""
    study = create(tmp_path / "s", kind="judge-probes", items=probes(1))
    token, path = next(iter(study.keys)), study.folder / "raw.jsonl"
    jsonl.write([answered(study, token, "ls-0", {})], path)
    rows.append([answered(study, token, f"ls-{number}", {}) for number in (1, 2)], path)
    assert [row.annotation.partition("/")[0] for row in rows.read(path, Raw)] == ["ls-0", "ls-1", "ls-2"]
    whole = path.read_text().splitlines()
    assert ["checksum" in json.loads(line) for line in whole] == [False, True, True]
    last = {name: value for name, value in json.loads(whole[2]).items() if name != "checksum"}
    for changed in (whole[2].replace("ls-2", "ls-3"), json.dumps(last)):
        path.write_text("\n".join([*whole[:2], changed, ""]))
        with pytest.raises(BadInput, match="checksum") as error:
            list(rows.read(path, Raw))
        assert error.value.line == 3


@pytest.mark.parametrize("name", ["study.json", "key.jsonl", "items.jsonl", "gold.jsonl"])
def test_a_changed_file_of_a_study_is_found(tmp_path: Path, name: str) -> None:
    """A changed byte, a lost or doubled line and an empty file are found; a study of an earlier version
    is unchecked.
    """
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(3), gold=bakers(2, "florist"))
    assert (verdict := check_study(study.folder))
    assert (verdict.right, verdict.checked, verdict.unchecked) == (
        True,
        ("study.json", "gold.jsonl", "items.jsonl", "key.jsonl"),
        (),
    )
    path, dice = study.folder / name, Random(name)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    places = [dice.randrange(len(whole)) for _ in range(60)]
    changed = [whole[:at] + bytes([whole[at] ^ 1 << dice.randrange(8)]) + whole[at + 1 :] for at in places]
    for content in (*changed, b"".join(lines[1:]), b"".join([*lines, lines[-1]]), b""):
        path.write_bytes(content)
        same = name == "study.json" and content.split() == whole.split()
        assert (verdict := check_study(study.folder))
        assert same or [fault.path for fault in verdict.faults] == [path]
    path.unlink()
    assert (verdict := check_study(study.folder))
    assert not verdict.right
    path.write_bytes(whole)
    old = json.loads((study.folder / "study.json").read_text())
    (study.folder / "study.json").write_text(
        json.dumps({k: v for k, v in old.items() if k not in ("files", "checksum")})
    )
    assert (verdict := check_study(study.folder))
    assert (verdict.right, len(verdict.unchecked)) == (True, 1)
