"""Tests of the release of validated CATs: only confirmed items, no names, and both formats can be read again."""

import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from helpers import ROOT
from helpers.records import bakers, paraphrased, probes
from helpers.releases import FACTS, PEOPLE, REVIEW, judged, reviewed
from typer.testing import CliRunner

from catsofa.annotation.results.pseudonyms import pseudonym
from catsofa.annotation.study import create
from catsofa.cli import app
from catsofa.data.files import BadInput, jsonl
from catsofa.data.formats import read_as
from catsofa.data.judging.adjudicated import Adjudicated
from catsofa.data.records import Annotation, Cat, Probe
from catsofa.data.release import write_release
from catsofa.data.release.dataset_card import CardFacts
from catsofa.data.visible import visible
from catsofa.report.dataset.files import statement
from catsofa.share.release import release
from catsofa.validation.judgements import Rule


def test_only_confirmed_cats_are_released_and_nobody_is_named(tmp_path: Path) -> None:
    """One of four CATs has 2 of 5 votes: three are released, with five pseudonymous votes each and a pseudonymous
    writer.
    """
    cats = bakers(4, writer="worker-9")
    result = release({"test": cats}, judged(cats, 3), tmp_path / "out", FACTS, secret="s")
    assert [r.id for r in result.refused] == [cats[0].id]
    assert result.release.records == 3
    published = b"".join(file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert not re.search(rb"worker-\d", published)
    assert b"2026-01-02T" not in published
    for form in (tmp_path / "out", tmp_path / "out" / "stereoset-test.json"):
        released_cats = list(read_as(form, Cat))
        assert {cat.id for cat in released_cats} == {cat.id for cat in cats[1:]}
        assert {v.annotator for cat in released_cats for c in cat.candidates for v in c.votes} == {
            pseudonym(p, "s") for p in PEOPLE
        }
    parquet = next(iter(read_as(tmp_path / "out", Cat)))
    assert parquet.source["writer"] == pseudonym("worker-9", "s")


def test_a_pseudonym_depends_on_the_secret() -> None:
    """A person has different names in releases with different secrets, and no plain hash equals a name."""
    assert pseudonym("worker-1", "s") == pseudonym("worker-1", "s")
    assert len({pseudonym("worker-1", "s"), pseudonym("worker-1", "t"), pseudonym("worker-2", "s")}) == 3


def test_the_statement_and_the_canary_stand_on_the_card(tmp_path: Path) -> None:
    """The card has every heading of a data statement, the numbers of this run, and the requested canary."""
    cats, canary = bakers(4), "11111111-2222-3333-4444-555555555555"
    release({"test": cats}, judged(cats, 0), tmp_path / "out", CardFacts(pretty_name="B", canary=canary), secret="s")
    card = (tmp_path / "out" / "README.md").read_text()
    for heading in ("Curation rationale", "Language variety", "Speaker demographic", "Annotator demographic",
                    "Speech situation", "Text characteristics", "Recording quality", "Ethics", "Limits",
                    "Provenance"):  # fmt: skip
        assert f"### {heading}" in card
    assert "5 people gave the 20 judgements that count (60 answers)" in card
    assert canary in card


EVIL = "<img src=x onerror=alert(1)> [a](javascript:b) *c* | `d` a_b \x1b[31m\u202e"


def test_names_on_the_card_are_no_markup(tmp_path: Path) -> None:
    """The name of the set, its languages and its domains stay text, and the card's reader gets them unchanged."""
    cats = [replace(cat, bias_type=EVIL) for cat in bakers(4)]
    facts = CardFacts(pretty_name=EVIL, language=("en", EVIL))
    release({"test": cats}, judged(cats, 0), tmp_path / "out", facts, secret="s")
    card = (tmp_path / "out" / "README.md").read_text()
    assert not set("\x1b\u202e") & set(card)
    head, body = card.removeprefix("---\n").split("\n---\n", 1)
    assert (yaml.safe_load(head)["pretty_name"], yaml.safe_load(head)["language"]) == (EVIL, ["en", EVIL])
    for sign in ("<img", "[a", "*c", "`d`", "_b"):
        assert not re.search(rf"(?<!\\){re.escape(sign)}", body), sign
    text = dict(statement(card))["Text characteristics"]
    assert visible(EVIL) in text


def test_the_labels_that_cats_carry_are_judgements_too(tmp_path: Path) -> None:
    """StereoSet's own files need no separate annotations; CATs without judgements are refused in one sentence."""
    cats = bakers(2)
    votes = judged(cats, 0)
    carried = []
    for cat in cats:
        one, two, three = (replace(c, votes=tuple(v for v in votes if v.item == c.id)) for c in cat.candidates)
        carried.append(replace(cat, candidates=(one, two, three)))
    result = release({"test": carried}, [], tmp_path / "out", FACTS, secret="s")
    assert result.release.records == 2
    with pytest.raises(ValueError, match="are no annotations"):
        release({"test": cats}, [], tmp_path / "other", FACTS, secret="s")
    with pytest.raises(ValueError, match="people confirmed no item"):
        release({"test": cats[:1]}, judged(cats[:1], 5), tmp_path / "other", FACTS, secret="s")
    assert not (tmp_path / "other").exists()


def test_the_command_releases_splits_and_replaces_its_own_folder(tmp_path: Path) -> None:
    """Two files are two splits; a rerun replaces its own output; refused items are written to the given file."""
    cats = bakers(6)
    jsonl.write(cats[:2], tmp_path / "dev.jsonl")
    jsonl.write(cats[2:], tmp_path / "test.jsonl")
    jsonl.write(judged(cats, 4), tmp_path / "annotations.jsonl")
    command = ["release", str(tmp_path / "dev.jsonl"), str(tmp_path / "test.jsonl"), "--name", "Bakers", "--json",
               "--annotations", str(tmp_path / "annotations.jsonl"), "--out", str(tmp_path / "out"),
               "--refused", str(tmp_path / "refused.jsonl")]  # fmt: skip
    for _ in range(2):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        report = json.loads(done.stdout)
        assert (report["items"], report["kept"], list(report["refused"])) == (6, 5, [cats[0].id])
    files = sorted(str(f.relative_to(tmp_path / "out")) for f in (tmp_path / "out").rglob("*") if f.is_file())
    assert files == ["README.md", "SHA256SUMS", "croissant.json", "data/dev.parquet", "data/test.parquet",
                     "stereoset-dev.json", "stereoset-test.json"]  # fmt: skip


def test_where_nothing_is_confirmed_the_reasons_are_written_all_the_same(tmp_path: Path) -> None:
    """The command ends with the refusal and no release, and --refused has each item."""
    cats = bakers(2)
    jsonl.write(cats, tmp_path / "test.jsonl")
    jsonl.write([vote for cat in cats for vote in judged([cat], 5)], tmp_path / "annotations.jsonl")
    command = ["release", str(tmp_path / "test.jsonl"), "--annotations", str(tmp_path / "annotations.jsonl"),
               "--name", "Bakers", "--out", str(tmp_path / "out"),
               "--refused", str(tmp_path / "refused.jsonl")]  # fmt: skip
    done = CliRunner().invoke(app, command)
    assert "people confirmed no item" in str(done.exception)
    assert not (tmp_path / "out").exists()
    assert {row["id"] for row in map(json.loads, (tmp_path / "refused.jsonl").read_text().splitlines())} == {
        cat.id for cat in cats
    }


def test_a_study_whose_answers_have_not_come_home_is_said(tmp_path: Path) -> None:
    """Before the first pull, and after an empty one, the release is refused with the command that helps."""
    jsonl.write(bakers(2), tmp_path / "cats.jsonl")
    study = create(tmp_path / "study", kind="validate-cats", items=bakers(2))
    command = ["release", str(tmp_path / "cats.jsonl"), "--study", str(study.folder), "--name", "B", "--out", "out"]
    for _ in range(2):
        with pytest.raises(BadInput, match=r"study: .*no judgements.*catsofa annotate pull"):
            CliRunner().invoke(app, command, catch_exceptions=False)
        (study.folder / "annotations.jsonl").touch()


def test_only_confirmed_paraphrases_are_released_and_they_can_be_scored(tmp_path: Path) -> None:
    """One of four paraphrases differs in meaning: three are released by their originals' ids, and can be scored."""
    items = paraphrased(4)
    result = release({"test": items}, reviewed(items, "same_meaning"), tmp_path / "out", FACTS, secret="s")
    assert [(r.id, r.reason) for r in result.refused] == [(items[0].id, "same_meaning: 3 different, 2 same")]
    said = b"".join(file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert not re.search(rb"worker-\d", said)
    assert b"2026-01-02T" not in said
    released_cats = list(read_as(tmp_path / "out", Cat))
    assert [(cat.id, cat.context) for cat in released_cats] == [(cat.id, cat.context) for cat in items[1:]]
    review = released_cats[0].extra["review"]
    assert {name: said["label"] for name, said in review.items()} == REVIEW
    assert {v["annotator"] for said in review.values() for v in said["votes"]} == {pseudonym(p, "s") for p in PEOPLE}
    card = (tmp_path / "out" / "README.md").read_text()
    assert "at least 3 of the first 5 valid judgements confirm it (asked: same meaning, grammatical, about" in card
    predictions = [
        {"id": c.id, "score": {"stereotype": 3.0, "anti-stereotype": 2.0, "unrelated": 1.0}[c.label]}
        for cat in items[1:]
        for c in cat.candidates
    ]
    (tmp_path / "scores.json").write_text(json.dumps({"intrasentence": predictions}))
    command = ["score", "--predictions", str(tmp_path / "scores.json"), "--on", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    overall = json.loads(done.stdout)["results"]["intrasentence"]["overall"]
    assert (overall["items"], overall["lms"], overall["ss"], overall["coverage"]) == (3, 100, 100, 1)


def test_probes_are_released_with_what_people_said_of_them(tmp_path: Path) -> None:
    """A probe plausible to four of five is released, to two it is not; severity is published and decides nothing."""
    items = probes(2)
    judgements = [
        Annotation(
            item=f"{item.id}/{question}", annotator=who, label=label, extra={"of": item.id, "question": question}
        )
        for item, implausible in zip(items, (1, 3), strict=True)
        for n, who in enumerate(PEOPLE)
        for question, label in (
            ("plausible", "implausible" if n < implausible else "plausible"),
            ("severity", ("not at all", "a little", "much", "much", "a little")[n]),
        )
    ]
    result = release({"test": items}, judgements, tmp_path / "out", FACTS, secret="s")
    assert [(r.id, r.reason) for r in result.refused] == [(items[1].id, "plausible: 3 implausible, 2 plausible")]
    (probe,) = read_as(tmp_path / "out", Probe)
    assert probe.text == items[0].text
    assert probe.extra["review"]["plausible"]["label"] == "plausible"
    assert probe.extra["review"]["severity"]["label"] is None
    assert not list((tmp_path / "out").glob("stereoset-*.json"))
    with pytest.raises(ValueError, match=r"no people.*these probes"):
        release({"test": items}, [], tmp_path / "other", FACTS, secret="s")
    with pytest.raises(ValueError, match="none of these"):
        release({"test": items[:1]}, judgements, tmp_path / "other", FACTS, secret="s")


def test_a_ruling_confirms_a_paraphrase_that_votes_leave_undecided(tmp_path: Path) -> None:
    """With four of five needed, the first is undecided; the owner's label releases it, and votes and agreement do not
    change.
    """
    items, rule = paraphrased(4), Rule(need=4)
    about = {
        "at": "2026-01-03T00:00:00Z",
        "token": "0",
        "item": f"{items[0].id}/same_meaning",
        "reason": "as in line 2",
    }
    results = {}
    for label in ("different", "same"):
        ruling = Adjudicated(label=label, **about)
        votes, out = reviewed(items, "same_meaning"), tmp_path / label
        results[label] = release({"test": items}, votes, out, FACTS, rule=rule, rulings={ruling.item: ruling})
    assert [r.reason for r in results["different"].refused] == ["same_meaning: split: 3 different, 2 same"]
    assert not results["same"].refused
    assert (results["same"].validated.adjudicated, results["different"].validated.adjudicated) == (1, 0)
    assert results["same"].validated.agreement == results["different"].validated.agreement == 1.0
    first, second, *_ = read_as(tmp_path / "same", Cat)
    review = first.extra["review"]["same_meaning"]
    assert (review["label"], review["adjudicated"]) == (None, {"label": "same", "reason": "as in line 2"})
    assert len(review["votes"]) == 5
    assert "adjudicated" not in second.extra["review"]["same_meaning"]


def test_items_that_nobody_judged_are_released_with_a_card_that_says_so(tmp_path: Path) -> None:
    """All items are released; the top of the card, its tags and the statement say so; votes or a study are refused."""
    jsonl.write(bakers(3), tmp_path / "made.jsonl")
    jsonl.write(judged(bakers(3), 0), tmp_path / "votes.jsonl")
    command = ["release", str(tmp_path / "made.jsonl"), "--unjudged", "--name", "Made", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, "3 of 3 items" in done.output, "without judgements" in done.output) == (0, True, True)
    card = (tmp_path / "out/README.md").read_text()
    assert card.index("**Nobody judged these items.**") < card.index("## Splits")
    assert '- "unjudged"' in card
    assert "Nobody judged the items." in card.partition("### Annotator demographic")[2][:40]
    assert len(list(read_as(tmp_path / "out", Cat))) == 3
    done = CliRunner().invoke(app, [*command, "--annotations", str(tmp_path / "votes.jsonl")])
    assert "Leave out --unjudged" in str(done.exception)


def test_croissant_lists_files_and_fields_and_names_no_split_file_twice(tmp_path: Path) -> None:
    """Each split is a file with its checksum and a record set; the candidates of a CAT are sub-fields."""
    cats = bakers(4)
    result = release({"dev": cats[:2], "test": cats[2:]}, judged(cats, 0), tmp_path / "out", FACTS)
    found = json.loads((tmp_path / "out/croissant.json").read_text())
    files = {one["contentUrl"]: one["sha256"] for one in found["distribution"]}
    assert files == {split.file: split.sha256 for split in result.release.splits}
    assert [one["name"] for one in found["recordSet"]] == ["dev", "test"]
    parts = {one["name"]: [part["name"] for part in one.get("subField", ())] for one in found["recordSet"][0]["field"]}
    assert {"id", "context", "candidates"} <= parts.keys()
    assert "candidates/text" in parts["candidates"]


@pytest.mark.slow
def test_mlcroissant_reads_every_record(tmp_path: Path) -> None:
    """mlcroissant reports no error, and reads the texts of a release of CATs and of one of probes."""
    python = Path(os.environ.get("SHARING_PYTHON", ROOT / ".venv-sharing/bin/python"))
    if not python.exists():
        pytest.skip("no .venv-sharing; `make sharing` installs mlcroissant")
    write_release({"test": bakers(3)}, tmp_path / "cats", FACTS)
    write_release({"test": probes(3)}, tmp_path / "probes", FACTS)
    code = (
        "import sys, mlcroissant; found = mlcroissant.Dataset(jsonld=sys.argv[1] + '/croissant.json');"
        "assert not found.metadata.ctx.issues.errors; print(*found.records(record_set='test'), sep='\\n')"
    )
    for name, text in (("cats", "is up early on day 0"), ("probes", probes(3)[0].text)):
        done = subprocess.run([python, "-c", code, tmp_path / name], capture_output=True, text=True, check=False)
        assert (done.returncode, len(done.stdout.splitlines()), text in done.stdout) == (0, 3, True), done.stderr
