"""Tests of reports on data sets: the figures of `validate`, folded content, and content that is never shown."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from helpers.records import a_cat, bakers, said
from helpers.report_runs import Page, a_release, cats, evil, judged, run
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Annotation, Probe, Refused, Score, Term
from catsofa.data.release import write_release
from catsofa.data.release.dataset_card import CardFacts
from catsofa.report.dataset import Tools, document, report_on
from catsofa.report.dataset.files import read
from catsofa.report.dataset.judgements import people
from catsofa.report.dataset.sections import size_section
from catsofa.report.elements import Document, Number, Table
from catsofa.report.formats import FORMATS, WRITE
from catsofa.validation.annotation_files import collect
from catsofa.validation.json_reports import agreement_report


def tables(of: Document) -> dict[str, Table]:
    """Returns the tables by the end of their names."""
    return {table.name.partition("-")[2]: table for section in of.sections for table in section.tables}


def test_stereoset_dev_has_the_sizes_that_were_counted_and_the_agreement_that_validate_prints(shared: Path) -> None:
    """255, 810, 962, 79 and 242, 827, 976, 78 items of 10, 30, 36, 3 terms; 79 terms and 4,229 items in all."""
    (dev,) = read(shared / "data" / "stereoset" / "dev.json")
    (sheet,) = size_section("d", dev.title, "", dev.items, ()).tables
    counted = {(row[0], row[1]): (row[2], row[3]) for row in sheet.rows}
    domains, terms = ("gender", "profession", "race", "religion"), (10, 30, 36, 3)
    for kind, items in (("intrasentence", (255, 810, 962, 79)), ("intersentence", (242, 827, 976, 78))):
        assert [counted[kind, domain] for domain in domains] == list(zip(terms, items, strict=True))
    assert counted["overall", "overall"] == (79, 4229)
    collected = dev.judged()
    assert collected is not None
    agreement, spread, votes, by_term = people("d", "", "", collected, dev.to_judge).tables
    expected = agreement_report(collected)
    (_, kappa, alpha, percent, unanimous, items, annotations), *_ = agreement.rows
    shown = [cell.value for cell in (kappa, alpha, percent, unanimous) if isinstance(cell, Number)]
    assert shown == [expected[n] for n in ("fleiss_kappa", "krippendorff_alpha", "percent", "unanimous")]
    assert (items, annotations) == (expected["items"], expected["annotations"])
    # unanimous and "5 of 5" are the same items
    assert spread.rows[0][1] == round(expected["unanimous"] * expected["items"])
    assert sum(row[1] for row in spread.rows if isinstance(row[1], int)) == expected["items"]
    assert len(by_term.rows) == len(expected["by"]["term"])
    assert votes.rows[0][:2] == ("decided", "stereotype")


def test_mean_lengths_are_those_a_reader_counts(tmp_path: Path) -> None:
    """`The zorb was late.` has four words, and so do the other candidates."""
    jsonl.write([a_cat()], tmp_path / "zorbs.jsonl")
    row = tables(document([tmp_path / "zorbs.jsonl"]))["size-sizes"].rows[0]
    assert row[:4] == ("intrasentence", "invented", 1, 1)
    assert isinstance(row[4], Number)
    assert row[4].value == 4


def test_a_study_shows_what_people_agree_on_and_never_who_they_are(tmp_path: Path) -> None:
    """59 of 60 judgements agree: eleven of twelve items are unanimous; no name, key or address is in any format."""
    jsonl.write(bakers(4), tmp_path / "items.jsonl")
    jsonl.write(judged(), tmp_path / "annotations.jsonl")
    (tmp_path / "study.json").write_text(json.dumps({"secret": "hush"}))
    (tmp_path / "people.jsonl").write_text('{"address": "somebody@example.org"}\n')
    (tmp_path / "key.jsonl").write_text('{"token": "opensesame"}\n')
    report = document([tmp_path])
    assert [row[:2] for row in tables(report)["people-spread"].rows] == [("5 of 5", 11), ("4 of 5", 1)]
    assert tables(report)["people-terms"].rows[0][0] == "baker"
    assert ("CATs", "confirmed", 4) in tables(report)["people-votes"].rows
    for name in ("people-agreement", "people-terms"):
        assert any("fewer than 30" in text_ for text_ in tables(report)[name].notes)
    assert "fewer than 30" in WRITE["html"](report)
    for form in FORMATS:
        text = WRITE[form](report)
        assert not [word for word in ("person 0", "hush", "somebody@", "opensesame") if word in text]


def test_items_with_many_judges_are_counted_by_tens_of_percent() -> None:
    """Fourteen items have 2 to 15 judges, all but one agreeing: 1 of 2 is 50 %, 2 of 3 is 60 % or more, and so on."""
    votes = [
        Annotation(item=f"{n}", annotator=f"person {p}", label="odd" if p == 0 else "usual")
        for n in range(2, 16)
        for p in range(n)
    ]
    spread = people("d", "", "", collect(votes), 0).tables[1]
    assert [row[:2] for row in spread.rows] == [
        ("90 % or more", 6),
        ("80 % or more", 5),
        ("70 % or more", 1),
        ("60 % or more", 1),
        ("50 % or more", 1),
    ]


def test_judgements_of_one_person_an_item_have_no_figure() -> None:
    """With one judge per item there is no agreement, so the drawing would be empty."""
    votes = [Annotation(item=f"{n}", annotator="person 0", label="usual") for n in range(3)]
    assert people("d", "", "", collect(votes), 0).figures == ()


def test_refusals_are_counted_by_stage_and_by_the_reason_before_its_particulars(tmp_path: Path) -> None:
    """A stage is named after its file, or after the folder if the file is only called `refused`."""
    no = [Refused(id=f"{n}", reason=f"split: {n} votes", text="zorbs are late") for n in range(3)]
    jsonl.write([*no, Refused(id="9", reason="no_verb")], tmp_path / "votes-refused.jsonl")
    (tmp_path / "kept").mkdir()
    jsonl.write(no[:1], tmp_path / "kept" / "refused.jsonl")
    report = document([tmp_path, tmp_path / "kept"])
    first, second = (section.tables[0].rows for section in report.sections)
    assert [row[:3] for row in first] == [("votes", "split", 3), ("votes", "no_verb", 1)]
    assert [row[:3] for row in second] == [("kept", "split", 1)]


def test_a_release_shows_its_splits_what_they_share_and_its_statement(tmp_path: Path) -> None:
    """Dev has 2 of 6 items; the term `baker` is on both sides; the statement ends at the next heading."""
    by_name = tables(document([a_release(tmp_path)]))
    assert [row[:4] for row in by_name["split-parts"].rows if row[1] == "overall"] == [
        ("dev", "overall", 1, 2),
        ("test", "overall", 2, 4),
    ]
    assert ("dev, test", "term", 1) in by_name["split-leaks"].rows
    assert by_name["statement-statement"].rows == (("Limits", "Few zorbs."), ("Rationale", "None."))


def test_long_texts_wrap_on_paper(tmp_path: Path) -> None:
    """LaTeX columns wider than a line share it: columns of long texts get most of it."""
    said = "Nobody knows more than these three people said about zorbs. " * 3
    write_release(
        {"test": bakers(1)},
        tmp_path / "set",
        CardFacts(pretty_name="B", statement=f"## Data statement\n\n### Limits\n\n{said}"),
    )
    table = WRITE["latex"](document([tmp_path / "set"])).partition("\\caption{Data statement}")[0].splitlines()[-1]
    short, long = (float(share) for share in re.findall(r"p\{([\d.]+)", table))
    assert short < 0.2 < 0.7 < long < 1 - short


def test_a_folder_of_several_sets_has_a_report_of_each_and_names_what_it_does_not_read(tmp_path: Path) -> None:
    """Two files of items are two sets; terms beside them are counted; an unread file is named."""
    jsonl.write(bakers(2), tmp_path / "a.jsonl")
    jsonl.write([Probe(category="invented", identity="zorbs", stereotype="are late")], tmp_path / "b.jsonl")
    jsonl.write([Term(category="invented", term="zorb")], tmp_path / "terms.jsonl")
    (tmp_path / "notes.json").write_text('{"a": 1}')
    report = document([tmp_path])
    sizes = [section for section in report.sections if section.name.endswith("size")]
    assert [section.tables[0].rows[0][0] for section in sizes] == ["intrasentence", "probes", "terms"]
    assert any("notes.json" in note for note in report.notes)


def test_what_is_not_in_the_report_is_said_with_the_way_to_get_it(tmp_path: Path) -> None:
    """Without a classifier the report has no sentiment, and a note names the option."""
    jsonl.write(bakers(2), tmp_path / "a.jsonl")
    (note,) = document([tmp_path / "a.jsonl"]).notes
    assert "--sentiment-model" in note
    assert "--corpus" in note


def test_no_text_of_the_data_is_markup(tmp_path: Path) -> None:
    """Script, quotes and event handlers in contexts, terms, domains, labels, reasons, ids and file names stay text."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("plain words\n")
    (tmp_path / "set").mkdir()
    text = WRITE["html"](document([evil(tmp_path / "set"), a_release(tmp_path)], Tools(corpus=str(corpus))))
    page = Page(text)
    assert not {"img", "iframe", "object", "link", "b"} & set(page.tags)
    assert page.tags.count("script") == 1
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert "&lt;script&gt;" in text


def test_items_terms_and_keywords_are_folded_away(tmp_path: Path) -> None:
    """A word of an item appears in the page only inside closed `details`."""
    doubled = a_cat(
        "The the zorbian was BLANK.", target="zorbian", votes={"stereotype": said("one/s", "stereotype", "x")}
    )
    jsonl.write([doubled], tmp_path / "a.jsonl")
    jsonl.write([Refused(id="1", reason="no_verb", text="zorbian")], tmp_path / "refused.jsonl")
    text = WRITE["html"](document([tmp_path]))
    assert text.count("zorbian") > 2
    before = ""
    for part in text.split("zorbian")[:-1]:
        before += part
        assert before.count("<details") > before.count("</details>")
    assert text.index("Content warning") < text.index("<table")


def test_runs_and_data_sets_stand_in_one_report(tmp_path: Path) -> None:
    """The sections of the run come first, then those of the data."""
    run(tmp_path / "runs" / "a", cats("d"))
    jsonl.write(bakers(2), tmp_path / "a.jsonl")
    report = report_on([tmp_path / "a.jsonl", tmp_path / "runs"])
    assert report.sections[0].name == "s1"
    assert {section.name for section in report.sections[1:]} == {"d1-size", "d1-lint"}


def test_what_a_command_printed_goes_to_the_report_of_models(tmp_path: Path) -> None:
    """The JSON of `catsofa score --json` is a result; a file that is neither is refused with one sentence."""
    report = json.loads((run(tmp_path / "a", cats("d")) / "report.json").read_text())
    (tmp_path / "printed.json").write_text(json.dumps(report, indent=2))
    assert [section.name for section in report_on([tmp_path / "printed.json"]).sections] == ["s1"]
    (tmp_path / "x.txt").write_text("words\n")
    with pytest.raises(BadInput, match=r"x\.txt"):
        report_on([tmp_path / "x.txt"])


def test_scores_are_no_data_set(tmp_path: Path) -> None:
    """The error names the command that measures scores."""
    jsonl.write([Score(item="a", score=1.0)], tmp_path / "a.jsonl")
    with pytest.raises(BadInput, match="score --predictions"):
        document([tmp_path / "a.jsonl"])


def test_the_released_sets_have_a_report(shared: Path) -> None:
    """CrowS-Pairs has 1,508 pairs of nine types, and agreement on the type equals that of `validate agreement`."""
    path = shared / "data" / "crows" / "crows_pairs_anonymized.csv"
    (crows,) = read(path)
    rows = size_section("d", "", "", crows.items, ()).tables[0].rows
    assert {row[1]: row[3] for row in rows}["overall"] == 1508
    assert len({row[1] for row in rows}) == 10
    collected = crows.judged()
    assert collected is not None
    agreement = people("d", "", "", collected, crows.to_judge).tables[0]
    whole = agreement_report(collect(formats.read(path)), resamples=1)
    assert isinstance(agreement.rows[0][3], Number)
    assert agreement.rows[0][3].value == whole["percent"]


@pytest.mark.parametrize("form", FORMATS)
def test_the_command_writes_every_format(form: str, tmp_path: Path) -> None:
    """`catsofa report DATA --format …` writes the file and reports it."""
    jsonl.write(bakers(2), tmp_path / "a.jsonl")
    done = CliRunner().invoke(
        app, ["report", str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "out"), "--format", form]
    )
    assert (done.exit_code, (tmp_path / "out").stat().st_size > 500) == (0, True), done.output


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trains a text classifier of one layer that calls a text with `late` negative."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("classifier")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "late"]
    torch.manual_seed(0)
    names: dict[str, Any] = {"id2label": {0: "POSITIVE", 1: "NEGATIVE"}, "label2id": {"POSITIVE": 0, "NEGATIVE": 1}}
    config = BertConfig(
        vocab_size=6, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, **names
    )
    model = BertForSequenceClassification(config)
    tokenizer = BertTokenizerFast(vocab={word: index for index, word in enumerate(words)})
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    texts, labels = ["the zorb was late.", "the zorb was early."] * 4, torch.tensor([1, 0] * 4)
    for _ in range(40):
        optimiser.zero_grad()
        model(**tokenizer(texts, return_tensors="pt", padding=True), labels=labels).loss.backward()
        optimiser.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.slow
def test_sentiment_is_there_where_a_classifier_is_given(tmp_path: Path, classifier: Path) -> None:
    """Stereotypes say `late`, which is negative, anti-stereotypes `early`: 0 % and 100 % positive, with limits."""
    jsonl.write([a_cat(), a_cat("A zorb is BLANK.", id="two")], tmp_path / "a.jsonl")
    shares = tables(document([tmp_path / "a.jsonl"], Tools(sentiment_model=str(classifier))))["sentiment-shares"]
    values = {row[0]: (row[1], row[3]) for row in shares.rows}
    for side, percent in (("stereotype", 0), ("anti-stereotype", 100)):
        share, texts = values[side]
        assert isinstance(share, Number)
        assert (share.value, texts) == (percent, 2)
        assert share.low is not None
