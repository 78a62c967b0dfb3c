from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.samples import ANNOTATIONS, write_sample

from catsofa.data import formats
from catsofa.data.files import BadInput, jsonl
from catsofa.data.formats import annotations
from catsofa.data.records import Annotation, Cat


def test_a_row_becomes_a_judgement(tmp_path: Path) -> None:
    """A missing label is empty, several are joined by `|`, and further columns go to extra."""
    judgements = list(annotations.read(write_sample(tmp_path, "annotations")))
    assert judgements == [
        Annotation(item="s1", annotator="h1", label="stereotype", at="2024-05-01T10:00:00Z", extra={"seconds": "12"}),
        Annotation(item="s1", annotator="h2", label=""),
        Annotation(item="s2", annotator="h1", label="stereotype|unrelated", extra={"seconds": "3.5"}),
    ]
    annotations.write(judgements, tmp_path / "again.csv")
    assert list(formats.read(tmp_path / "again.csv")) == judgements


@pytest.mark.parametrize(
    ("header", "extra"),
    [
        ("item_id,annotator_id,label", {}),
        ("sentence_id,human_id,label", {}),
        ("task,worker,label", {}),
        ("task_id\tworker_id\tlabel", {}),
        ("item,human_id,label,task,worker", {"task": "intra", "worker": "w"}),
    ],
)
def test_columns_are_known_by_the_names_others_use(header: str, extra: dict[str, str], tmp_path: Path) -> None:
    """Column names of StereoSet's long table and crowd-kit are recognised. catsofa's names take precedence; others go
    to extra."""
    separator = "\t" if "\t" in header else ","
    path = tmp_path / "labels.csv"
    path.write_text(f"{header}\n{separator.join(['s1', 'h1', 'related', *extra.values()])}\n")
    assert list(formats.read(path)) == [Annotation(item="s1", annotator="h1", label="related", extra=extra)]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("item,", "thing,", ":1: found no column 'item' among 'thing, annotator, label, at, seconds'"),
        ("annotator,", "who,", ":1: found no column 'annotator'"),
        ("label,", "choice,", ":1: found no column 'label'"),
        ("s1,h2", ",h2", ":3: found nothing in the column 'item'"),
        ("s1,h2", "s1,", ":3: found nothing in the column 'annotator'"),
    ],
)
def test_what_is_wrong_with_judgements_is_said_with_the_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    """A row without item or annotator is refused; an empty label is allowed."""
    path = tmp_path / "labels.csv"
    path.write_text(ANNOTATIONS.replace(old, new, 1))
    with pytest.raises(BadInput) as caught:
        list(annotations.read(path))
    assert said in str(caught.value)


def test_what_annotations_cannot_hold_is_named_and_counted(tmp_path: Path) -> None:
    """Numbers are kept as text; an extra field with a reserved name is lost."""
    one, *rest = annotations.read(write_sample(tmp_path, "annotations"))
    rich = replace(one, extra={"seconds": 12, "label": "other"})
    assert set(annotations.loses(rich)) == {"extra: seconds (kept as text)", "extra: label"}
    jsonl.write([rich, *rest], tmp_path / "labels.jsonl")
    done = formats.convert(tmp_path / "labels.jsonl", tmp_path / "labels.csv")
    assert done.lost == Counter(["extra: seconds (kept as text)", "extra: label"])


def test_the_released_labels_are_those_of_the_clusters(shared: Path, tmp_path: Path) -> None:
    """The 45,270 released labels (five for each of 9,054 sentences, 1,082 people) equal those in the two JSON files.

    72 clusters have one person twice, which makes 216 sentences.
    """
    labels: list[Annotation] = list(formats.read(shared / "data/stereoset/annotations_long.csv"))
    assert len(labels) == 45_270
    assert set(Counter(label.item for label in labels).values()) == {5}
    assert len({label.item for label in labels}) == 9054
    assert len({label.annotator for label in labels}) == 1082
    assert Counter(label.label for label in labels) == {
        "stereotype": 14_590,
        "unrelated": 14_357,
        "anti-stereotype": 14_075,
        "related": 2248,
    }
    twice = Counter((label.item, label.annotator) for label in labels)
    assert len({item for (item, _), count in twice.items() if count > 1}) == 216
    cats: list[Cat] = [
        cat for name in ("dev", "test_intrasentence") for cat in formats.read(shared / f"data/stereoset/{name}.json")
    ]
    votes = Counter((v.item, v.annotator, v.label) for cat in cats for c in cat.candidates for v in c.votes)
    assert votes == Counter((label.item, label.annotator, label.label) for label in labels)
    annotations.write(iter(labels), tmp_path / "again.csv")
    assert list(formats.read(tmp_path / "again.csv")) == labels
