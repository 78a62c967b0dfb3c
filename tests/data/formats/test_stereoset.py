import copy
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.samples import STEREOSET, write_sample

from catsofa.data import formats
from catsofa.data.files import BadInput, jsonl
from catsofa.data.formats import stereoset
from catsofa.data.records import Annotation, Cat

Edit = Callable[[dict[str, Any]], object]


def write_json(value: Any, path: Path) -> Path:
    """Writes a value as a JSON file and returns its path."""
    path.write_text(json.dumps(value))
    return path


def test_a_cluster_becomes_a_cat_with_everything_the_file_says(tmp_path: Path) -> None:
    """A CAT keeps the file's order, ids, gold labels, all annotator labels (also `related`), `harm`, unknown fields and
    version."""
    inter, intra = stereoset.read(write_sample(tmp_path, "stereoset"))
    assert [inter.kind, intra.kind] == ["intersentence", "intrasentence"]
    assert (intra.id, intra.target, intra.bias_type, intra.language) == ("c1", "islander", "race", "en")
    assert intra.source == inter.source == {"stereoset": {"version": "1.1"}}
    assert intra.extra == {"id_status": "original"}
    tea, tired, umbrella = intra.candidates
    assert (tea.id, tea.text, tea.label) == ("s1", "The Islander is very fond of tea.", "stereotype")
    assert [tea.fill, tired.fill, umbrella.fill] == ["fond of tea", "tired of tea", "umbrella"]
    assert [vote.label for vote in tea.votes] == [
        "stereotype",
        "stereotype",
        "related",
        "stereotype",
        "anti-stereotype",
    ]
    assert tea.votes[2] == Annotation(item="s1", annotator="h3", label="related")
    assert (tea.extra, umbrella.votes) == ({"harm": "low"}, ())
    assert [candidate.fill for candidate in inter.candidates] == [None] * 3


def test_the_written_file_says_what_the_read_one_said(tmp_path: Path) -> None:
    """A file with all documented fields gives the same JSON after a round trip."""
    source = write_sample(tmp_path, "stereoset")
    assert stereoset.write(stereoset.read(source), tmp_path / "again.json") == 2
    assert json.loads((tmp_path / "again.json").read_text()) == STEREOSET


@pytest.mark.parametrize("task", ["intrasentence", "intersentence"])
def test_a_file_may_lack_a_task_or_its_labels(task: str, tmp_path: Path) -> None:
    """A file may lack a task, like the test set, or the annotators, like some copies of the set."""
    document = copy.deepcopy(STEREOSET)
    del document["data"][task]
    for clusters in document["data"].values():
        for sentence in clusters[0]["sentences"]:
            del sentence["labels"]
    (cat,) = stereoset.read(write_json(document, tmp_path / "half.json"))
    assert cat.kind != task
    assert not any(candidate.votes for candidate in cat.candidates)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda d: d.pop("data"), "no field 'data'"),
        (lambda d: d.update(data=[]), "a list in data; expected an object"),
        (lambda d: d["data"].update(both=[]), "the task 'both' in data"),
        (lambda d: d.update(data={"intrasentence": [], "intersentence": []}), "not one cluster in data"),
        (lambda d: cluster(d).pop("target"), "no field 'target' in data.intrasentence[0] (cluster 'c1')"),
        (lambda d: cluster(d).update(context=7), "the number 7 in data.intrasentence[0].context (cluster 'c1')"),
        (lambda d: cluster(d).update(id=""), "an empty id in data.intrasentence[0]"),
        (
            lambda d: cluster(d)["sentences"].pop(),
            "the gold labels stereotype, anti-stereotype in data.intrasentence[0]",
        ),
        (lambda d: sentence(d).update(gold_label="unrelated"), "expected three sentences, one stereotype"),
        (
            lambda d: sentence(d).update(gold_label="neutral"),
            "the gold label 'neutral' in data.intrasentence[0].sentences[0] (cluster 'c1')",
        ),
        (lambda d: sentence(d).update(gold_label=0), "the number 0 in data.intrasentence[0].sentences[0].gold_label"),
        (lambda d: sentence(d).update(sentence=" "), "an empty sentence in data.intrasentence[0].sentences[0]"),
        (lambda d: sentence(d).update(labels={}), "an object in data.intrasentence[0].sentences[0].labels"),
        (
            lambda d: sentence(d)["labels"][1].pop("human_id"),
            "no field 'human_id' in data.intrasentence[0].sentences[0].",
        ),
        (lambda d: sentence(d).update(id="s4"), "id 's4' a second time (first at data.intersentence[0].sentences[0])"),
        (lambda d: cluster(d).update(id="c2"), "id 'c2' a second time (first at data.intersentence[0])"),
    ],
)
def test_a_cluster_that_is_wrong_is_named_with_its_place(edit: Edit, said: str, tmp_path: Path) -> None:
    """The error gives the place in the document and the cluster's id, because JSON has no useful line numbers."""
    document = copy.deepcopy(STEREOSET)
    edit(document)
    with pytest.raises(BadInput) as caught:
        list(stereoset.read(write_json(document, tmp_path / "bad.json")))
    assert said in str(caught.value)


def cluster(document: dict[str, Any]) -> dict[str, Any]:
    """Returns the intrasentence cluster of the sample."""
    first: dict[str, Any] = document["data"]["intrasentence"][0]
    return first


def sentence(document: dict[str, Any]) -> dict[str, Any]:
    """Returns the cluster's first sentence."""
    first: dict[str, Any] = cluster(document)["sentences"][0]
    return first


def test_what_stereoset_cannot_hold_is_named_and_counted(tmp_path: Path) -> None:
    """Language, provenance, a fill that alignment cannot find, the time of a vote and a reserved field name are
    reported as lost."""
    inter, intra = stereoset.read(write_sample(tmp_path, "stereoset"))
    tea = replace(intra.candidates[0], votes=(Annotation(item="s1", annotator="h1", label="stereotype", at="noon"),))
    rich = replace(
        intra,
        language="pt",
        source=dict(intra.source) | {"prompt": "p1"},
        extra={"context": "other"},
        candidates=(tea, replace(intra.candidates[1], fill="weary"), intra.candidates[2]),
    )
    lost = {"language", "source: prompt", "extra: context", "candidates: fill", "candidates: votes: at"}
    assert set(stereoset.loses(rich)) == lost
    assert list(stereoset.loses(intra)) == []
    jsonl.write([inter, rich], tmp_path / "cats.jsonl")
    done = formats.convert(tmp_path / "cats.jsonl", tmp_path / "cats.json")
    assert (done.source, done.target, done.records, done.lost) == ("jsonl", "stereoset", 2, Counter(lost))


def test_files_of_two_versions_do_not_become_one(tmp_path: Path) -> None:
    """CATs of two versions are refused, because a file has only one version field."""
    one, two = stereoset.read(write_sample(tmp_path, "stereoset"))
    with pytest.raises(ValueError, match=r"'c1'.*'1\.2'.*file for each"):
        stereoset.write([one, replace(two, source={"stereoset": {"version": "1.2"}})], tmp_path / "both.json")
    assert not (tmp_path / "both.json").exists()


@pytest.mark.parametrize(
    ("name", "clusters", "labels"), [("dev", (2106, 2123), 19_440), ("test_intrasentence", (6391, 0), 25_830)]
)
def test_released_files_come_back_as_they_were(
    name: str, clusters: tuple[int, int], labels: int, shared: Path, tmp_path: Path
) -> None:
    """The 4,229 clusters of dev and 6,391 of test, with 45,270 labels together, give the same JSON after a round
    trip."""
    source = shared / f"data/stereoset/{name}.json"
    cats: list[Cat] = list(formats.read(source))
    kinds = Counter(cat.kind for cat in cats)
    assert (kinds["intrasentence"], kinds["intersentence"]) == clusters
    assert sum(len(candidate.votes) for cat in cats for candidate in cat.candidates) == labels
    assert not any(loss for cat in cats for loss in stereoset.loses(cat))
    stereoset.write(iter(cats), tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(source.read_text())
    assert list(stereoset.read(tmp_path / "again.json")) == cats
    assert jsonl.write(cats, tmp_path / "cats.jsonl") == sum(clusters)
    assert list(jsonl.read(tmp_path / "cats.jsonl", Cat)) == cats
