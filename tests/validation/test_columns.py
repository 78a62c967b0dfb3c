"""Tests columns: a column of people groups judgements, a column of items groups items, others are refused."""

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.records import Annotation
from catsofa.validation.agreement import agreement, agreement_by
from catsofa.validation.annotation_files import Collected
from catsofa.validation.columns import column
from catsofa.validation.json_reports import agreement_report

GROUPS = {"p0": "A", "p1": "A", "p2": "A", "p3": "B", "p4": "B", "p5": "B"}


def planted() -> list[Annotation]:
    """Returns sixty items by six people; groups A and B agree within themselves and never with each other."""
    return [
        Annotation(item=f"i{n}", annotator=person, label="xy"[(group == "B") ^ (n % 2)], extra={"rater_group": group})
        for n in range(60)
        for person, group in list(GROUPS.items())[:: 1 if n % 2 else -1]
    ]


def with_column(rows: list[tuple[str, str, str]]) -> list[Annotation]:
    """Returns judgements (item, person, value of column k), all with the label x."""
    return [Annotation(item=i, annotator=p, label="x", extra={"k": value} if value else {}) for i, p, value in rows]


def test_a_column_of_people_groups_judgements() -> None:
    """In the planted data, kappa within A and within B is 1 on all 60 items with 180 judgements, though all six
    disagree."""
    parts = agreement_by(planted(), column(planted(), "rater_group"), resamples=0)
    assert {v: (p.fleiss_kappa, p.percent, p.items, p.judged, p.annotations) for v, p in parts.items()} == {
        "A": (1, 1, 60, 60, 180),
        "B": (1, 1, 60, 60, 180),
    }
    assert agreement(planted(), resamples=0).percent == pytest.approx(0.4)


def test_a_column_of_items_groups_items() -> None:
    """If each item has one value, all six judgements of the item belong to its group."""
    rows = [
        Annotation(item=a.item, annotator=a.annotator, label=a.label, extra={"half": a.item[-1]}) for a in planted()
    ]
    described = column(rows, "half")
    assert described.describes == "items"
    parts = agreement_by(rows, described, resamples=0)
    assert {(p.items, p.annotations, round(p.percent, 4)) for p in parts.values()} == {(6, 36, 0.4)}


def test_a_column_of_neither_is_refused_with_the_counts() -> None:
    """The error counts the varying items and annotators: one of three and two of three."""
    rows = with_column(
        [("i", "p", "a"), ("i", "q", "b"), ("j", "p", "b"), ("j", "r", "b"), ("j", "q", "b"), ("k", "q", "a")]
    )
    with pytest.raises(ValueError, match=r"'k'.*1 of 3 items.*2 of 3 annotators"):
        column(rows, "k")


def test_a_column_of_both_describes_items_and_the_numbers_do_not_depend_on_it() -> None:
    """If a column fits both, the groups have the same judgements either way, so it describes items."""
    assert column(with_column([("i", "p", "a"), ("j", "p", "b")]), "k").describes == "items"
    alone = with_column([("i", "p", "a"), ("i", "q", "a"), ("j", "r", "b"), ("j", "s", "b")])
    described = column(alone, "k")
    assert described.describes == "items"
    assert [described.value(a) for a in alone] == [a.extra["k"] for a in alone]


def test_empty_cells_take_the_value_of_the_person_or_item_and_others_are_counted() -> None:
    """An empty cell takes the person's other value. A person without any value is in no group and is counted."""
    rows = with_column([("i", "p", "a"), ("i", "q", "b"), ("i", "r", ""), ("j", "p", ""), ("j", "q", "b")])
    described = column(rows, "k")
    assert [described.value(a) for a in rows] == ["a", "b", None, "a", "b"]
    assert agreement_report(Collected(annotations=rows), by=["k"], resamples=0)["columns"] == {
        "k": {"describes": "annotators", "left_out": 1}
    }


def test_items_with_fewer_than_two_people_of_a_group_are_counted_beside() -> None:
    """Two of A's three items have two people of A; one person twice is no agreement."""
    rows = with_column([("i", "p", "a"), ("i", "q", "a"), ("i", "s", "b"), ("j", "p", "a"), ("j", "q", "a"),
                        ("k", "p", "a"), ("k", "p", "a"), ("k", "s", "b")])  # fmt: skip
    part = agreement_by(rows, column(rows, "k"), resamples=0)["a"]
    assert (part.items, part.judged) == (2, 3)


def test_a_domain_that_differs_within_an_item_is_refused() -> None:
    """The columns that are used by default (domain, target, CAT) must describe items."""
    for name in ("domain", "target", "cat"):
        rows = [Annotation(item="i", annotator=p, label="x", extra={name: p}) for p in "pq"]
        with pytest.raises(ValueError, match=rf"1 of 1 items.*{name}.*'i': p, q"):
            agreement_report(Collected(annotations=rows))


def test_the_command_names_the_kind(tmp_path: Path) -> None:
    """Terminal and JSON name what the column describes, and how many items two people of a group judged."""
    file = tmp_path / "planted.csv"
    formats.named("annotations").write(planted(), file)
    arguments = ["validate", "agreement", "--on", str(file), "--by", "rater_group", "--resamples", "10"]
    printed = CliRunner().invoke(app, arguments).output
    assert "rater_group (describes annotators" in printed
    rows = [line.split() for line in printed.splitlines() if line.startswith(("A ", "B "))]
    assert [(row[0], row[1], row[-1]) for row in rows] == [("A", "1.000", "60"), ("B", "1.000", "60")]
    report = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert report["columns"]["rater_group"] == {"describes": "annotators", "left_out": 0}
    assert [report["by"]["rater_group"][value]["fleiss_kappa"] for value in "AB"] == [1, 1]


def popquorn(path: Path) -> Iterator[Annotation]:
    """Yields the released ratings with each person's demographic answers."""
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            extra = {name: row[name] for name in ("gender", "race", "age")}
            yield Annotation(item=row["instance_id"], annotator=row["user_id"], label=row["offensiveness"], extra=extra)


def test_released_ratings_by_gender_and_race_are_those_of_krippendorff(shared: Path) -> None:
    """In POPQUORN, each group's alpha equals krippendorff's on that group's ratings alone."""
    rows = list(popquorn(shared / "data/popquorn/offensiveness.csv"))
    for name in ("gender", "race"):
        described = column(rows, name)
        assert described.describes == "annotators"
        for value, part in agreement_by(rows, described, resamples=0).items():
            own = [a for a in rows if a.extra[name] == value]
            items = {item: n for n, item in enumerate(dict.fromkeys(a.item for a in own))}
            people = {person: n for n, person in enumerate(dict.fromkeys(a.annotator for a in own))}
            matrix = np.full((len(people), len(items)), np.nan)
            for a in own:
                matrix[people[a.annotator], items[a.item]] = float(a.label)
            pairable = int(((~np.isnan(matrix)).sum(axis=0) > 1).sum())
            assert (part.items, part.judged, part.annotations >= 2 * pairable) == (pairable, len(items), True)
            if pairable > 1:
                expected = krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal")
                assert part.krippendorff_alpha == pytest.approx(expected, abs=1e-9)


def test_released_labels_by_a_bit_of_the_worker(shared: Path) -> None:
    """In StereoSet, percent agreement within one half of the workers equals a count by hand."""
    released = formats.read(shared / "data/stereoset/annotations_long.csv")
    rows = [
        Annotation(item=a.item, annotator=a.annotator, label=a.label, extra={"half": half(a.annotator)})
        for a in released
    ]
    labels: dict[tuple[str, str], list[str]] = defaultdict(list)
    for a in rows:
        labels[a.extra["half"], a.item].append(a.label)
    for value, part in agreement_by(rows, column(rows, "half"), resamples=0).items():
        many = [item_labels for (group, _), item_labels in labels.items() if group == value and len(item_labels) > 1]
        agree = [np.mean([one == other for one, other in combinations(item_labels, 2)]) for item_labels in many]
        # one worker labelled 216 sentences twice, which is no agreement if they are alone in the group
        assert len(many) - 216 <= part.items <= len(many)
        assert part.percent == pytest.approx(float(np.mean(agree)), abs=2e-3)
    assert Counter(half(a.annotator) for a in rows).keys() == {"0", "1"}


def half(person: str) -> str:
    """Returns one bit of the hash of a worker's id."""
    return str(sha256(person.encode()).digest()[0] & 1)
