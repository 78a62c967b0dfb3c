"""Tests files of texts with a class: the data read from each format, and the rows refused with their line."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from helpers.labelled_texts import planted_rows

from catsofa.data.files import BadInput
from catsofa.scoring.sentiment import texts


def _write(path: Path, rows: list[tuple[str, str]]) -> Path:
    """Writes rows in the format of the file name's suffix."""
    if path.suffix == ".parquet":
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table({"text": [r[0] for r in rows], "label": [r[1] for r in rows]}), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows))
    else:
        with path.open("w", newline="") as file:
            table = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            table.writerows([("text", "label"), *rows])
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_every_format_gives_the_same_texts(tmp_path: Path, ending: str) -> None:
    """200 rows have the same hash in every format, and about a tenth of them is held out."""
    rows = planted_rows(200)
    dataset = texts.read(_write(tmp_path / f"t{ending}", rows))
    assert dataset.digest() == texts.read(_write(tmp_path / "other.jsonl", rows)).digest()
    assert list(zip(dataset.texts, [dataset.classes[label] for label in dataset.labels], strict=True)) == rows
    assert dataset.classes == ("negative", "positive")
    assert 8 <= dataset.held_out.sum() <= 35


def test_copies_of_a_text_are_on_one_side(tmp_path: Path) -> None:
    """If each text occurs twice, a held-out text is never a training text."""
    dataset = texts.read(_write(tmp_path / "t.csv", planted_rows(200) * 2))
    sides = [{dataset.texts[index] for index in dataset.indices(held_out=side)} for side in (False, True)]
    assert not sides[0] & sides[1]


def test_a_folder_as_the_hub_has_it(tmp_path: Path) -> None:
    """IMDB's layout on the hub is read: class names in the file's metadata, a test set, and an unlabelled set that is
    ignored."""
    import pyarrow as pa
    from pyarrow import parquet

    about = {"info": {"features": {"label": {"names": ["neg", "pos"], "_type": "ClassLabel"}}}}
    (tmp_path / "plain_text").mkdir()
    for name, labels in (("train", [0, 1, 1]), ("test", [1, 0]), ("unsupervised", [-1])):
        table = pa.table({"text": [f"{name} {n}" for n in range(len(labels))], "label": labels})
        table = table.replace_schema_metadata({"huggingface": json.dumps(about)})
        parquet.write_table(table, tmp_path / "plain_text" / f"{name}-00000-of-00001.parquet")
    dataset = texts.read(tmp_path)
    assert dataset.classes == ("neg", "pos")
    assert list(dataset.labels) == [0, 1, 1, 1, 0]
    assert np.array_equal(dataset.held_out, [False, False, False, True, True])


def test_a_number_without_a_name_is_no_sentiment(tmp_path: Path) -> None:
    """0 and 1 become LABEL_0 and LABEL_1, for which the user must give `--negative` later."""
    rows = [(text, str(int(label == "positive"))) for text, label in planted_rows(100)]
    assert texts.read(_write(tmp_path / "t.csv", rows)).classes == ("LABEL_0", "LABEL_1")


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (("", "positive"), r"the text ''; expected a text that is not empty"),
        (("It rained.", ""), r"the label ''; expected the name of a class, or its number from 0"),
        (("It rained.", "-1"), r"the label '-1'; .* remove texts without a class"),
        (("It rained.", "0.5"), r"the label '0\.5'; expected the name of a class"),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_an_odd_row_is_refused_with_its_line(tmp_path: Path, ending: str, row: tuple[str, str], found: str) -> None:
    """The third row is refused with its line: 4 below a header, 3 without one."""
    path = _write(tmp_path / f"t{ending}", [*planted_rows(2), row, *planted_rows(2)])
    with pytest.raises(BadInput, match=rf"t\{ending}:{4 if ending == '.csv' else 3}: .*{found}"):
        texts.read(path)


def test_a_json_label_that_is_neither_text_nor_number_is_refused(tmp_path: Path) -> None:
    """`true` is refused, because it would be read as 1."""
    (tmp_path / "t.jsonl").write_text('{"text": "It rained.", "label": true}\n')
    with pytest.raises(BadInput, match=r"t\.jsonl:1: .*label True"):
        texts.read(tmp_path / "t.jsonl")


def test_files_without_the_columns_are_refused(tmp_path: Path) -> None:
    """Files are refused for other columns, for not being a table, for a missing test set, or for a set with one
    class."""
    (tmp_path / "t.csv").write_text("sentence,label\nIt rained.,neg\n")
    (tmp_path / "t.parquet").write_text("no Parquet")
    (tmp_path / "folder").mkdir()
    _write(tmp_path / "folder" / "train.csv", planted_rows(20))
    _write(tmp_path / "one.csv", [(text, "positive") for text, _ in planted_rows(100)])
    for name, message in (
        ("t.csv", r"columns"),
        ("t.parquet", r"no Parquet file of such columns"),
        ("folder", r"found no file test…; expected a folder with files train… and test…"),
        ("one.csv", r"found the classes positive to train on and positive held out; expected the same two or more"),
    ):
        with pytest.raises(BadInput, match=message):
            texts.read(tmp_path / name)
