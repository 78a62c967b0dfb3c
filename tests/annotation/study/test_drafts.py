"""Tests of texts that people write: what becomes a CAT, what is refused, and neutral sentences."""

import json
from collections import Counter
from pathlib import Path

import pytest
from helpers.annotation.pulled_answers import answered
from helpers.records import bakers, neutral, terms

from catsofa.annotation.results import answers as judged
from catsofa.annotation.results import drafts
from catsofa.annotation.study import create, rows
from catsofa.data.records import LABELS, Cat, Refused
from catsofa.validation.annotation_files import collect
from catsofa.validation.decide.confirmed import confirm

TEXTS = {
    "context": "Our neighbour, the baker, is very BLANK.",
    "stereotype": "early",
    "anti_stereotype": "late",
    "unrelated": "cubic",
}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, ""),
        ({"context": "The baker is early."}, "the sentence has 0 BLANK, not exactly one as a separate word"),
        ({"context": "The baker is BLANK and BLANK."}, "the sentence has 2 BLANK, not exactly one as a separate word"),
        ({"context": "The baker is BLANKish."}, "the sentence has 1 BLANK, not exactly one as a separate word"),
        ({"context": "The florist is BLANK."}, "the sentence does not name the target 'baker'"),
        ({"context": "The bakery is BLANK, as bakers are."}, ""),
        ({"unrelated": "Early"}, "two of the three answers are the same"),
        ({"unrelated": "a BLANK"}, "an answer has a BLANK"),
    ],
)
def test_texts_make_a_cat_or_are_refused_with_the_reason(changed: dict[str, str], reason: str, tmp_path: Path) -> None:
    """Label Studio does not check that BLANK occurs once and alone, the target is named, and the answers differ."""
    study = create(tmp_path / "s", kind="write-intrasentence", items=terms(1))
    token = next(iter(study.keys))
    rows.append([answered(study, token, "ls-1", TEXTS | changed)], study.folder / "raw.jsonl")
    ((_, draft),) = drafts.drafts(study)
    if reason:
        assert isinstance(draft, Refused)
        assert draft.reason == reason
    else:
        assert isinstance(draft, Cat)
        assert draft["stereotype"].fill == "early"
        assert draft.source["writer"] == "ls-1"


def test_long_words_are_kept_with_a_warning_and_copies_are_refused(tmp_path: Path) -> None:
    """Several words for a BLANK give a warning; the same CAT by a second writer is refused."""
    study = create(tmp_path / "s", kind="write-intrasentence", items=terms(1), overlap=3)
    token = next(iter(study.keys))
    duplicates = [answered(study, token, f"ls-{n}", TEXTS | {"unrelated": "very cubic indeed"}) for n in (1, 2)]
    rows.append([*duplicates, answered(study, token, "ls-3", {}, skipped=True)], study.folder / "raw.jsonl")
    assert drafts.write_drafts(study) == (1, 1)
    (first, _) = drafts.drafts(study)
    assert isinstance(first[1], Cat)
    assert first[1].extra == {"warnings": ["unrelated has 3 words"]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [("tall", ""), ("a BLANK", "an answer has a BLANK"), ("Cubic.", "somebody wrote 'Cubic.' already")],
)
def test_a_neutral_text_stands_beside_its_cat_or_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    """The writer sees only the context; the three candidates and their ids do not change."""
    (cat,) = bakers(1)
    study = create(tmp_path / "s", kind="write-neutral", items=[cat])
    ((token, key),) = study.keys.items()
    (task,) = study.tasks()
    assert (key.item, task.data.keys()) == (cat.id, {"item", "target", "context"})
    rows.append([answered(study, token, "ls-1", {"neutral": text})], study.folder / "raw.jsonl")
    ((_, draft),) = drafts.drafts(study)
    if reason:
        assert isinstance(draft, Refused)
        assert draft.reason == reason
        return
    assert isinstance(draft, Cat)
    assert draft.extra["neutral"] == {"text": cat.context.replace("BLANK", text), "fill": text, "cat": cat.id}
    assert (draft.candidates, draft.id != cat.id, draft.source["writer"]) == (cat.candidates, True, "ls-1")


def test_four_sentences_are_judged_by_what_they_were_written_as(tmp_path: Path) -> None:
    """Order is blind and random; each annotation has the written label of its sentence, and votes need
    no CAT of four.
    """
    study = create(tmp_path / "s", kind="validate-neutral", items=neutral(40))
    tasks = list(study.tasks())
    assert {*tasks[0].data} == {"item", "target", "context", *(f"option_{k}" for k in (1, 2, 3, 4))}
    assert not any(word in json.dumps([task.data for task in tasks]) for word in (*LABELS, "neutral"))
    places = Counter(task.key.order.index(f"{task.key.item}/neutral") for task in tasks)
    assert all(places[place] for place in range(4))
    for task in tasks:
        reply = {f"label_{k}": item.rpartition("/")[2] for k, item in enumerate(task.key.order, start=1)}
        rows.append([answered(study, task.key.token, "ls-1", reply)], study.folder / "raw.jsonl")
    judgements = list(judged.annotations(study))
    assert len(judgements) == 160
    assert all(a.label == a.extra["written"] == a.item.rpartition("/")[2] for a in judgements)
    assert not confirm(collect(judgements)).cats
    assert judged.tokens_of(study, [judgements[0].item]) == [judgements[0].extra["task"]]


def test_a_study_of_neutral_sentences_takes_the_drafts_of_one_that_writes_them(tmp_path: Path) -> None:
    """A CAT without a neutral sentence is refused, and the error names the right file."""
    with pytest.raises(ValueError, match="write-neutral study"):
        create(tmp_path / "s", kind="validate-neutral", items=bakers(1))
