"""Tests that data frames and Datasets give the same records as their file."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.records import cats
from helpers.samples import BBQ, STEREOSET, write_sample

import catsofa
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.records import Pair

PAIRS = [
    Pair(id="a", more="Zorbs hum.", less="Blickets hum.", direction="stereo", bias_type="place", extra={"n": "1"}),
    Pair(id="b", more="Zorbs sing.", less="Blickets sing.", direction="antistereo", bias_type="place", language="nl"),
]


def frame(path: Path) -> Any:
    """Returns a CSV as a pandas data frame."""
    return pytest.importorskip("pandas").read_csv(path, sep=None, engine="python")


def dataset(path: Path) -> Any:
    """Returns a CSV as a Dataset."""
    return pytest.importorskip("datasets").Dataset.from_pandas(frame(path), preserve_index=False)


@pytest.mark.parametrize("read", [frame, dataset])
@pytest.mark.parametrize("name", ["crows-pairs", "winoqueer", "indibias", "bhed", "sofa"])
def test_a_table_in_memory_holds_the_records_of_its_file(
    name: str, read: Callable[[Path], Any], tmp_path: Path
) -> None:
    """The columns determine the format, and the index of pandas is the unnamed column."""
    path = write_sample(tmp_path, name)
    records = list(formats.read(path))
    records_read = list(catsofa.read(read(path)))
    if name == "bhed":  # the domain comes from the file name, which a table in memory does not have
        assert [pair.more for pair in records_read] == [pair.more for pair in records]
    else:
        assert records_read == records


def test_rows_with_objects_in_them_are_read_as_lines_of_json() -> None:
    """BBQ's rows with nested groups are read from a list of dictionaries and from a Dataset."""
    questions = list(catsofa.read(BBQ))
    assert [question.id for question in questions] == ["Tidiness-0", "Tidiness-1"]
    datasets = pytest.importorskip("datasets")
    assert list(catsofa.read(datasets.Dataset.from_list([json.loads(json.dumps(row)) for row in BBQ]))) == questions


def test_class_labels_are_read_by_their_names() -> None:
    """The Hub's CrowS-Pairs has numbers for directions, types and annotations; they are read by their names."""
    datasets = pytest.importorskip("datasets")
    direction = datasets.ClassLabel(names=["stereo", "antistereo"])
    types = datasets.ClassLabel(names=["place", "habit"])
    features = datasets.Features(
        {
            "id": datasets.Value("int32"),
            "sent_more": datasets.Value("string"),
            "sent_less": datasets.Value("string"),
            "stereo_antistereo": direction,
            "bias_type": types,
            "annotations": [[types]],
            "anon_annotators": [datasets.Value("string")],
        }
    )
    row = {"id": 7, "sent_more": "Zorbs hum.", "sent_less": "Blickets hum.", "stereo_antistereo": 1, "bias_type": 0}
    held = datasets.Dataset.from_list([{**row, "annotations": [[0, 1], []], "anon_annotators": ["x", "y"]}], features)
    (pair,) = catsofa.read(held)
    assert (pair.id, pair.direction, pair.bias_type) == ("7", "antistereo", "place")
    assert [(vote.annotator, vote.label) for vote in pair.votes] == [("x", "place|habit"), ("y", "")]


def hub_clusters() -> tuple[list[dict[str, Any]], Any]:
    """Returns StereoSet's clusters as the Hub has them, columns of sentences with numbers as labels, and the types."""
    datasets = pytest.importorskip("datasets")
    names = ["anti-stereotype", "stereotype", "unrelated", "related"]

    def columns(rows: list[dict[str, Any]], *names: str) -> dict[str, list[Any]]:
        return {name: [row[name] for row in rows] for name in names}

    def numbered(sentence: dict[str, Any]) -> dict[str, Any]:
        votes = [{**vote, "label": names.index(vote["label"])} for vote in sentence["labels"]]
        return {
            **sentence,
            "gold_label": names.index(sentence["gold_label"]),
            "labels": columns(votes, "label", "human_id"),
        }

    text, label = datasets.Value("string"), datasets.ClassLabel(names=names)
    votes = datasets.Sequence({"label": label, "human_id": text})
    part = {"sentence": text, "id": text, "labels": votes, "gold_label": datasets.ClassLabel(names=names[:3])}
    features = dict.fromkeys(("id", "target", "bias_type", "context"), text)
    rows = [
        {**cluster, "sentences": columns([numbered(sentence) for sentence in cluster["sentences"]], *part)}
        for task in STEREOSET["data"].values()
        for cluster in task
    ]
    return rows, datasets.Features({**features, "sentences": datasets.Sequence(part)})


@pytest.mark.parametrize("form", ["dataset", "parquet", "folder", "pandas", "json lines", "clusters"])
def test_stereoset_of_the_hub_holds_the_records_of_its_file(form: str, tmp_path: Path) -> None:
    """Rows as the Hub has them give the CATs of the released file with all votes, however they are stored."""
    datasets, (rows, features) = pytest.importorskip("datasets"), hub_clusters()
    held = datasets.Dataset.from_list(rows, features)
    place = tmp_path / "data" / "validation-00000-of-00001.parquet"
    held.to_parquet(place)
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    data = {
        "dataset": held,
        "parquet": place,
        "folder": tmp_path,
        "pandas": held.to_pandas(),
        "json lines": tmp_path / "rows.jsonl",
        "clusters": [cluster for task in STEREOSET["data"].values() for cluster in task],
    }

    def told(cats: Iterable[Any]) -> dict[str, Any]:
        """Returns what the Hub stores of CATs: a file can have more columns."""
        return {
            cat.id: (
                (cat.kind, cat.bias_type, cat.target, cat.context),
                [(one.id, one.label, one.text, one.fill, [(vote.annotator, vote.label) for vote in one.votes])
                 for one in cat.candidates],
            )
            for cat in cats
        }  # fmt: skip

    of_file = list(formats.read(write_sample(tmp_path, "stereoset")))
    assert told(catsofa.read(data[form])) == told(of_file)
    assert any(candidate.votes for cat in of_file for candidate in cat.candidates)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": ["s1"]}, r"columns of several lengths \(sentence 3, id 1, "),
        ({"gold_label": [1, 0, -1]}, "the number -1"),
        ({"labels": 3}, "int"),
        ({"sentence": None}, "no field 'sentence'"),
    ],
)
def test_a_faulty_cluster_is_refused(change: dict[str, Any], said: str) -> None:
    """Columns of unequal length, a label without a name, and a wrong type are refused."""
    rows, _ = hub_clusters()
    with pytest.raises(BadInput, match=said):
        list(catsofa.read([{**rows[0], "sentences": {**rows[0]["sentences"], **change}}]))


def test_a_cluster_may_have_no_votes() -> None:
    """Without votes, or with null in their place, the CATs are the same but for the votes."""
    rows, _ = hub_clusters()
    without = [{**row, "sentences": {**row["sentences"], "labels": None}} for row in rows]
    nulls = [{**row, "sentences": {**row["sentences"], "labels": [None] * 3}} for row in rows]
    wanted = [
        replace(cat, candidates=tuple(replace(one, votes=()) for one in cat.candidates)) for cat in catsofa.read(rows)
    ]
    assert list(catsofa.read(without)) == list(catsofa.read(nulls)) == wanted


def test_our_own_records_come_back_from_their_release(tmp_path: Path) -> None:
    """A release loaded with `datasets` has `extra` as JSON text, and gives the same records."""
    datasets = pytest.importorskip("datasets")
    formats.named("release").write(PAIRS, tmp_path / "release")
    held = datasets.Dataset.from_parquet(str(next((tmp_path / "release/data").iterdir())), cache_dir=str(tmp_path))
    assert list(catsofa.read(held)) == PAIRS


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (iter(PAIRS), "list_iterator: found an iterator, which can be read only once; expected a list of records"),
        ((pair for pair in PAIRS), "generator: found an iterator"),
        ({"train": [], "test": []}, "dict: found the splits train, test; expected one of them"),
        (3, "int: found 3; expected records, a data frame, or a Dataset"),
        ([{}, {"more": None, "less": float("nan")}], "list: found rows without values"),
        ([{"a": 1, "b": 2}], "list: found a table with the columns a, b.*more, less, bias_type.*of a format"),
        ([{"sent_more": "a", "sent_less": "b", "bias_type": "c"}], "found no column 'stereo_antistereo' among"),
        ([{"more": "a", "less": "b", "bias_type": "c"}, PAIRS[0]], "list:2: found Pair.*among rows; expected only"),
        ([PAIRS[0], {"more": "a", "less": "b", "bias_type": "c"}], "list:1: found Pair.*among rows; expected only"),
    ],
)
def test_what_is_no_table_of_records_is_refused(data: Any, said: str) -> None:
    """An iterator is refused, because it may be partly consumed; of several splits, one must be named."""
    with pytest.raises(BadInput, match=said):
        list(catsofa.read(data))


def test_records_are_what_they_are() -> None:
    """A list, a tuple or a Series of records is returned unchanged, each time."""
    assert list(catsofa.read(PAIRS)) == list(catsofa.read(tuple(PAIRS))) == PAIRS
    assert list(catsofa.read(pytest.importorskip("pandas").Series(PAIRS))) == PAIRS
    assert list(catsofa.read([])) == []


@pytest.mark.parametrize("form", ["arrow", "numpy", "pandas", "torch"])
def test_the_format_of_a_dataset_does_not_matter(form: str) -> None:
    """A Dataset that gives tensors or tables holds the same CATs, and so does its stream."""
    rows, features = hub_clusters()
    held = pytest.importorskip("datasets").Dataset.from_list(rows, features)
    wanted = list(catsofa.read(held))
    assert list(catsofa.read(held.with_format(form))) == wanted
    assert list(catsofa.read(held.to_iterable_dataset().with_format(form))) == wanted


def test_an_arrow_table_has_each_column_once() -> None:
    """A table with two columns `more` is refused, since a row holds one of them; so is a column alone."""
    pa = pytest.importorskip("pyarrow")
    names = ["more", "less", "bias_type", "more"]
    with pytest.raises(BadInput, match="Table: found the column 'more' twice"):
        list(catsofa.read(pa.table([["a"], ["b"], ["c"], ["d"]], names=names)))
    with pytest.raises(BadInput, match=r"ChunkedArray: found .*expected records, a data frame"):
        list(catsofa.read(pa.chunked_array([["a"]])))


@pytest.mark.parametrize("name", ["crows-pairs", "winoqueer", "indibias"])
def test_rows_in_parquet_and_in_json_lines_are_read_too(name: str, tmp_path: Path) -> None:
    """Rows in Parquet and in JSON lines are read like the CSV. A line that is no object is refused."""
    path = write_sample(tmp_path, name)
    records = list(formats.read(path))
    frame(path).to_parquet(tmp_path / "rows.parquet")
    frame(path).to_json(tmp_path / "rows.jsonl", orient="records", lines=True, force_ascii=False)
    assert list(formats.read(tmp_path / "rows.parquet")) == list(formats.read(tmp_path / "rows.jsonl")) == records
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write("[1]\n")
    with pytest.raises(BadInput, match=r"JSON list.*JSON object"):
        list(formats.read(tmp_path / "rows.jsonl"))


@pytest.mark.parametrize("form", ["frame", "dataset", "dictionaries"])
def test_pairs_need_four_columns(form: str) -> None:
    """`id, more, less, bias_type` are enough. The direction is stereo, and other columns go to extra."""
    rows = [{"id": n, "more": f"Dravians {n}.", "less": f"Pellorans {n}.", "bias_type": "x", "by": "me"} for n in "ab"]
    make: dict[str, Callable[[Any], Any]] = {
        "frame": lambda rows: pytest.importorskip("pandas").DataFrame(rows),
        "dataset": lambda rows: pytest.importorskip("datasets").Dataset.from_list(rows),
        "dictionaries": lambda rows: rows,
    }
    assert list(catsofa.read(make[form](rows))) == [
        Pair(id=n, more=f"Dravians {n}.", less=f"Pellorans {n}.", direction="stereo", bias_type="x", extra={"by": "me"})
        for n in "ab"
    ]


FOUR = {"id": ["a", "b", "c"], "more": ["A x.", "B x.", "C x."], "less": ["A y.", "B y.", "C y."], "bias_type": "z"}


def test_ids_may_be_whole_numbers() -> None:
    """Whole-number ids, as from a data frame's index, become text."""
    pd = pytest.importorskip("pandas")
    assert [pair.id for pair in catsofa.read(pd.DataFrame({**FOUR, "id": range(3)}))] == ["0", "1", "2"]


@pytest.mark.parametrize("empty", ["nan", "None", "NaT", "NA"])
def test_an_empty_cell_is_refused_with_its_row_and_is_never_text(empty: str) -> None:
    """A missing value in a required column is refused with its row and never becomes the text `NaT`."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(FOUR).astype(object)
    frame.loc[2, "more"] = {"nan": float("nan"), "None": None, "NaT": pd.NaT, "NA": pd.NA}[empty]
    with pytest.raises(BadInput, match=r"DataFrame:3: .*no field 'more'"):
        list(catsofa.read(frame))


def test_columns_of_one_name_and_bytes_are_refused() -> None:
    """A repeated column name is refused, because pandas would drop one; bytes are refused, because their encoding is
    unknown."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(FOUR)
    with pytest.raises(BadInput, match="'more' twice"):
        list(catsofa.read(pd.concat([frame, frame[["more"]]], axis=1)))
    with pytest.raises(ValueError, match=r"bytes.*b'A x\.'"):
        list(catsofa.read(frame.assign(more=[text.encode() for text in frame.more])))


def test_cats_come_back_from_their_table() -> None:
    """CATs of both tasks, fills of a BLANK and sentences after a context, are equal after a round trip by table."""
    pytest.importorskip("pandas")
    assert list(catsofa.read(catsofa.table(cats()).to_pandas())) == cats()
    [cat] = catsofa.read([{"context": "A dravian is BLANK.", "target": "dravian", "bias_type": "x",
                           "stereotype": "old", "anti-stereotype": "young", "unrelated": "blue"}])  # fmt: skip
    assert (cat.kind, cat["anti-stereotype"].text) == ("intrasentence", "A dravian is young.")


def test_a_row_without_one_of_its_texts_is_refused() -> None:
    """A CAT without its unrelated words is refused."""
    rows = [{"context": "A dravian is BLANK.", "target": "dravian", "bias_type": "x", "stereotype": "old",
             "anti-stereotype": "young", "unrelated": float("nan")}]  # fmt: skip
    with pytest.raises(BadInput, match="not be empty"):
        list(catsofa.read([{**rows[0], "id": "a", "unrelated": "blue"}, rows[0]]))


def test_a_named_index_is_a_column_and_another_index_is_none() -> None:
    """Ids in the index of pandas stay the ids, and an index without a name changes nothing."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(FOUR)
    pairs = list(catsofa.read(frame))
    assert [pair.id for pair in pairs] == ["a", "b", "c"]
    assert list(catsofa.read(frame.set_index("id"))) == list(catsofa.read(frame.set_index(["id", "more"]))) == pairs
    assert list(catsofa.read(frame.iloc[::-1])) == pairs[::-1]


def test_a_table_of_arrow_gives_the_records_of_its_rows() -> None:
    """An Arrow table, and any data frame that exports itself to Arrow, is read like the list of its rows."""
    import pyarrow as pa

    rows = [{"id": n, "more": f"Dravians {n}.", "less": f"Pellorans {n}.", "bias_type": "x"} for n in "ab"]

    class Frame:
        """A data frame as polars has one: it exports an Arrow stream, and is no iterable of rows."""

        columns = ("id", "more", "less", "bias_type")

        def to_dict(self) -> dict[str, list[str]]:
            """Returns the columns."""
            return {name: [row[name] for row in rows] for name in self.columns}

        def __arrow_c_stream__(self, schema: Any = None) -> Any:
            """Exports the rows to Arrow."""
            return pa.Table.from_pylist(rows).__arrow_c_stream__(schema)

    read = catsofa.read(rows)
    assert list(catsofa.read(pa.Table.from_pylist(rows))) == list(catsofa.read(Frame())) == list(read)
