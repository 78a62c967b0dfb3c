"""Tests of a disaggregated release: each judgement has its annotator's group, which at least k people share."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from helpers.asked import asked_study
from helpers.records import bakers
from helpers.releases import FACTS
from typer.testing import CliRunner

from catsofa.annotation.crowd.people import arrivals
from catsofa.annotation.results.pseudonyms import pseudonym
from catsofa.annotation.study import Study
from catsofa.cli import app
from catsofa.data.files import jsonl
from catsofa.data.formats import read_as
from catsofa.data.records import Annotation, Cat
from catsofa.share.release import release
from catsofa.validation.judgements import Rule


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Writes a study of fifteen people of four countries and two genders, and their CATs."""
    jsonl.write(bakers(2), tmp_path / "cats.jsonl")
    return asked_study(tmp_path / "study")


def run(study: Study, out: str, *more: str) -> str:
    """Returns the output of `catsofa release --by`."""
    call = ["release", str(study.folder.parent / "cats.jsonl"), "--study", str(study.folder), "--name", "Bakers",
            "--of", "15", "--need", "8", "--out", str(study.folder.parent / out), *more]  # fmt: skip
    done = CliRunner().invoke(app, call, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


BY = ("--by", "country", "--by", "gender")


def content(folder: Path) -> dict[str, bytes]:
    """Returns every file of a folder with its bytes."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_each_judgement_has_its_annotators_group(study: Study) -> None:
    """Fifteen people and six sentences give 90 rows with release pseudonyms and groups of at least five,
    without texts.
    """
    run(study, "out", *BY)
    folder = study.folder.parent / "out"
    with (folder / "judgements.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [*table[0]] == ["item", "annotator", "label", "country", "gender"]
    assert len(table) == 90
    groups = {row["annotator"]: (row["country"], row["gender"]) for row in table}
    assert groups[pseudonym("p0", study.settings.secret)] == ("Fiji", "woman")
    assert min(Counter(groups.values()).values()) >= 5
    assert {row["label"] for row in table} == {"stereotype", "anti-stereotype", "unrelated"}
    voters = {vote.annotator for cat in read_as(folder, Cat) for c in cat.candidates for vote in c.votes}
    assert voters == groups.keys()
    card = (folder / "README.md").read_text()
    assert "`judgements.csv` holds the 90 judgements that count" in card
    assert "shared by 5 of the 15 people or more" in card
    assert "- country: 5 answers are wider, 5 withheld" in card
    assert card.count("config_name") == 1  # `datasets` reads one kind of file in a folder
    votes = ["validate", "votes", "--on", str(folder / "judgements.csv"), "--of", "15", "--by", "country"]
    assert "items with another label in another country" in CliRunner().invoke(app, votes).output


def test_the_same_input_gives_the_same_bytes(study: Study) -> None:
    """The bytes are equal, although the second release knows the first publication."""
    for name in ("one", "two"):
        run(study, name, *BY)
    assert content(study.folder.parent / "one") == content(study.folder.parent / "two")


def test_verify_finds_a_judgement_that_was_changed_or_is_lost(study: Study) -> None:
    """The file of judgements is in the list of checksums; the study's notes are checked too."""
    run(study, "out", *BY)
    out = study.folder.parent / "out"
    assert CliRunner().invoke(app, ["verify", str(out), str(study.folder)]).exit_code == 0
    path = out / "judgements.csv"
    path.write_text(path.read_text().replace("Fiji", "Peru", 1))
    assert "judgements.csv" in CliRunner().invoke(app, ["verify", str(out)]).output
    path.unlink()
    assert CliRunner().invoke(app, ["verify", str(out)]).exit_code == 1


def test_a_release_without_groups_replaces_one_with_them(study: Study) -> None:
    """The new release has no file of judgements."""
    run(study, "out", *BY)
    run(study, "out")
    assert not (study.folder.parent / "out" / "judgements.csv").exists()


def test_forget_names_the_releases_that_hold_the_person(study: Study) -> None:
    """Both releases are named, the person's pseudonym leaves the notes, and the next release excludes the person."""
    arrivals.Arrivals(study.folder)
    run(study, "one")
    run(study, "two", *BY)
    done = CliRunner().invoke(app, ["annotate", "forget", str(study.folder), "p14", "--json"])
    assert done.exit_code == 0, done.output
    assert done.output.count("Bakers (") == 2
    name = pseudonym("p14", study.settings.secret)
    assert name.encode() in (study.folder.parent / "two" / "judgements.csv").read_bytes()
    assert name not in (study.folder / "releases.jsonl").read_text()
    run(study, "three", *BY)
    assert not [part for part in content(study.folder.parent / "three").values() if name.encode() in part]


def test_a_label_that_is_no_choice_is_refused(study: Study) -> None:
    """Free text is never published beside a person's group; no file or note is written."""
    votes = list(read_as(study.folder / "annotations.jsonl", Annotation))
    free = [Annotation(item=v.item, annotator=v.annotator, label="I am Ana" if n == 0 else v.label, extra=v.extra)
            for n, v in enumerate(votes)]  # fmt: skip
    rule, out = Rule(need=8, of=15), study.folder.parent / "out"
    with pytest.raises(ValueError, match=r"'I am Ana'.*validate-cats"):
        release({"test": bakers(2)}, free, out, FACTS, rule=rule, studies=[study], by=["country"])
    assert not out.exists()
    assert not (study.folder / "releases.jsonl").exists()


def test_groups_need_a_study_that_asked(study: Study) -> None:
    """Without a study there are no answers about people, so the release is refused."""
    call = ["release", str(study.folder.parent / "cats.jsonl"), "--name", "B", "--by", "country", "--out", "out",
            "--annotations", str(study.folder / "annotations.jsonl"), "--need", "3", "--of", "5"]  # fmt: skip
    with pytest.raises(ValueError, match=r"groups.*one study.* 0"):
        CliRunner().invoke(app, call, catch_exceptions=False)


def test_the_statement_counts_who_had_their_answers_erased(study: Study) -> None:
    """The card has the number of people and answers, not who; it also has the review board and the provenance."""
    with (study.folder / "study.toml").open("a") as file:
        file.write('[ethics]\ninstitution = "Example University"\nprotocol = "2027-014"\n')
    CliRunner().invoke(app, ["annotate", "forget", str(study.folder), "p14"])
    run(study, "out")
    card = (study.folder.parent / "out" / "README.md").read_text()
    assert "Ethics review: Example University, 2027-014. 1 person had their answers erased (2 in all)." in card
    assert "Genre: short texts made for the set" in card
    assert "### Provenance" in card
