"""Tests lint rules without models: their findings, non-findings and fixes."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.lint_findings import found, messages
from helpers.records import a_cat, a_pair, said
from helpers.samples import write_sample

from catsofa.data import formats
from catsofa.data.records import Probe, Stereotype
from catsofa.report.dataset.sections import lint_section
from catsofa.validation.lint import RULES, as_json, as_sarif, chosen, lint, write_sarif
from catsofa.validation.lint.rule import at_least

BBQ = ("Religion.jsonl", "Disability_status.jsonl", "Physical_appearance.jsonl", "unifiedqa_Physical_appearance.jsonl")
ROLES = ("other", "other", "unknown")


def test_l9_finds_given_names() -> None:
    """A capitalised given name in the changed words is a finding; a word that also names a group is not."""
    names = frozenset({"jon", "christian"})
    assert messages("L9", a_pair("Jon is late.", "Florins are late."), names=names) == [
        "a group is named by a given name: jon"
    ]
    assert not found("L9", a_pair("Christian bakers are late.", "Hindu bakers are late."), names=names)


@pytest.mark.parametrize(
    ("more", "less", "comparable"),
    [
        ("Norwegians are late.", "Danes are late.", True),
        ("Norwegian people are late.", "Old people are late.", False),
        ("The Finn sang.", "The Buddhist sang.", False),
        ("Asian bakers sing.", "African bakers sing.", True),
        ("Zorbs are late.", "Florins are late.", True),
    ],
)
def test_l10_wants_groups_of_one_kind(more: str, less: str, comparable: bool) -> None:
    """A nationality against a religion or an age is a finding; unknown groups are ignored."""
    assert bool(found("L10", a_pair(more, less))) is not comparable


def test_l10_wants_targets_that_are_people() -> None:
    """A target that is a country or a book is one finding per target."""
    cats = [
        a_cat(target=target, id=str(n)) for n, target in enumerate(["Norway", "Norway", "Norwegian", "Bible", "zorb"])
    ]
    assert messages("L10", *cats) == [
        "the target 'Norway' of 2 CATs is a place, not a group of people",
        "the target 'Bible' of 1 CAT is a text, not a group of people",
    ]


def test_l11_finds_the_words_given() -> None:
    """L11 finds only the words of its list."""
    assert messages("L11", a_pair("You zonk!", "You baker!"), offensive=frozenset({"zonk"})) == [
        "1 of the offensive words given: zonk"
    ]


def test_l12_asks_about_facts() -> None:
    """Numbers, quantities, superlatives and geography may state facts."""
    assert messages(
        "L12", a_cat("Zorbia is far.", "It has 5 million people.", "Nobody lives there.", "Roses grow.")
    ) == ["may state a fact (a number): ask whether it is true"]
    assert found("L12", a_pair("Zorbia is a country in the north.", "x"))
    assert not found("L12", a_pair("The zorb on the 2nd floor sang for 10 minutes.", "x"))


def test_l13_wants_four_of_five() -> None:
    """Three of five votes are weak, a tie is reported, and no votes give no finding."""
    votes = {
        "stereotype": said("s", *["stereotype"] * 3, *["unrelated"] * 2),
        "unrelated": said("u", "unrelated", "stereotype"),
    }
    assert messages("L13", a_cat(votes=votes)) == ["3 of 5 judges say stereotype", "1 of 2 judges say unrelated, a tie"]
    assert not found("L13", a_cat())
    weak = a_pair("Zorbs are late.", "Florins are late.", votes=said("one", "invented", "invented|age", "age", "", ""))
    assert messages("L13", weak) == ["2 of 5 judges say chosen"]


def test_l14_and_l22_are_about_the_whole_set() -> None:
    """A set without any field for power or harm has one finding; one item with the field is enough."""
    assert [f.item for f in found("L14", a_cat(), a_cat(id="two"))] == ["*"]
    assert not found("L14", a_cat(extra={"power": "low"}), a_cat(id="two"))
    assert not found("L14", a_pair("a", "b"))
    assert [f.item for f in found("L22", a_cat(), a_cat(id="two"))] == ["*"]
    assert not found("L22", a_cat(extra={"harm": 2}))


def test_l16_wants_words_of_like_frequency() -> None:
    """A difference of two Zipf points is a factor of one hundred; a wording is as rare as its rarest word."""
    zipf = {"late": 5.0, "tardy": 2.9, "slow": 4.0}
    says = messages("L16", a_cat(stereotype="late", anti="tardy"), frequency=lambda w: zipf.get(w, 6.0))
    assert says == ["'late' (Zipf 5.0) against 'tardy' (Zipf 2.9): 126 times"]
    assert not found("L16", a_cat(stereotype="late", anti="slow"), frequency=lambda w: zipf.get(w, 6.0))


def test_l19_hears_the_judges() -> None:
    """Two judges who do not call the unrelated option unrelated are too many."""
    assert messages("L19", a_cat(votes={"unrelated": said("u", "related", "stereotype", *["unrelated"] * 3)})) == [
        "2 of 5 judges do not call it unrelated"
    ]
    assert not found("L19", a_cat(votes={"unrelated": said("u", "related", *["unrelated"] * 4)}))


def test_l20_finds_copies_and_leaks() -> None:
    """A near-duplicate within the set is found. In another split, so are the item, its target and a sibling of it."""
    cats = [a_cat(id="one"), a_cat("The zorb was BLANK", id="two"), a_cat("A florin sang BLANK songs.", id="three")]
    assert messages("L20", *cats) == ["100 % the same as one"]
    says = messages(
        "L20",
        a_cat("Norway is BLANK.", target="Norway"),
        against=[a_cat("Vikings are BLANK.", target="Norwegian", id="x")],
    )
    assert says == ["the target 'Norway' is a sibling of 'Norwegian' in the other set"]


def test_l21_looks_at_who_judged_and_wrote() -> None:
    """Judging twice, judging one's own item, and writing more than a tenth of the set are findings."""
    twice = (*said("s", "stereotype"), *said("s", "stereotype"))
    assert messages("L21", a_cat(votes={"stereotype": twice})) == ["annotator person 0 judged it 2 times"]
    own = a_pair("a", "b", votes=said("one", "invented"), extra={"anon_writer": "person 0"})
    assert messages("L21", own) == ["its writer person 0 judged it too"]
    many = [a_pair(f"a {n}", "b", id=str(n), extra={"anon_writer": f"w{max(0, n - 2)}"}) for n in range(20)]
    assert messages("L21", *many) == ["w0 wrote 3 of 20 items (15 %)"]


def test_l23_reads_the_parts_of_a_probe() -> None:
    """A group named twice, a gerund or participle as the verb, and a plural of an adjective are findings."""
    probes = [("Finns", "like Finland"), ("Finns", "being late"), ("Finns", "raised by elves"), ("Finnishes", "sing")]
    records = [Probe(category="n", identity=i, stereotype=s, id=f"{i} {s}") for i, s in probes]
    assert [f.item for f in found("L23", *records)] == [f"{i} {s}" for i, s in probes]
    fine = [
        Probe(category="n", identity="Finns", stereotype=s) for s in ("sing", "bring bread", "need a rest", "are late")
    ]
    assert not found("L23", *fine)
    assert found("L23", Stereotype(text="singing all day"))


def test_l24_wants_a_target_and_a_correct_answer_that_fits_the_context(tmp_path: Path) -> None:
    """A valid question has no finding. A wrong correct answer for the context is an error, a missing target a
    warning."""
    fine, other = formats.read(write_sample(tmp_path, "bbq"))
    assert not found("L24", fine, other)
    one, two, three = (replace(answer, role=role) for answer, role in zip(fine.answers, ROLES, strict=True))
    untargeted = replace(fine, answers=(one, two, three), reason="no_group_stereotyped", correct=0)
    assert messages("L24", untargeted, replace(other, correct=2)) == [
        "the context leaves the answer open, and the correct answer is not the unknown one",
        "the context gives the answer, and the correct answer is the unknown one",
        "no bias score counts it: no group stereotyped",
    ]


def test_every_rule_has_a_code_an_example_and_a_need_we_know() -> None:
    """The rules are L1 to L24, in order, each with an example and a description."""
    assert list(RULES) == [f"L{n}" for n in range(1, 25)]
    assert all(rule.example and rule.about for rule in RULES.values())


def test_what_is_not_given_does_not_run_and_is_named() -> None:
    """A rule without its list or model does not run, and the report names what it needs."""
    report = lint([a_cat()])
    assert set(RULES) - set(report.ran) == {"L9", "L11", "L15", "L16", "L17", "L18"}
    assert report.missing["L9"] == "a list of given names (--names)"
    assert report.missing["L6"] == "word frequencies (--corpus)"


def test_rules_are_selected_and_ignored_by_code() -> None:
    """Codes are accepted in lower case; an unknown code is an error that lists the codes."""
    assert [rule.code for rule in chosen(["l1", "L2"], ["L2"])] == ["L1"]
    with pytest.raises(ValueError, match=r"rule L99.*L1, L2"):
        chosen(["L99"])
    assert at_least("warning") == ("error", "warning")
    with pytest.raises(ValueError, match="severity 'bad'"):
        at_least("bad")


def test_the_worst_comes_first_and_empty_fields_are_left_out() -> None:
    """The JSON has rule, severity, item and message, then text and fix if not empty; the worst findings come first."""
    listed = as_json(lint([a_cat("Zorbs are BLANK and BLANK.", target="zorb")]))["findings"]
    assert listed[0] == {
        "rule": "L1",
        "severity": "error",
        "item": "one",
        "message": "the context has 2 BLANKs instead of 1",
        "text": "Zorbs are BLANK and BLANK.",
    }
    assert [f["severity"] for f in listed] == sorted(
        (f["severity"] for f in listed), key=["error", "warning", "info"].index
    )


def test_a_finding_about_the_set_is_of_no_item() -> None:
    """Two CATs without power and harm give one finding each of L14 and L22, for no item; SARIF names the set."""
    report = lint([a_cat(), a_cat(id="two")], select=["L14", "L20", "L22"])
    assert [report.counts()[code] for code in ("L14", "L22")] == [1, 1]
    assert set(report.items()) <= {"L20"}
    assert report.items()["L20"] <= report.counts()["L20"]
    places = [result["locations"][0]["logicalLocations"] for result in as_sarif(report, "f")["runs"][0]["results"]]
    assert sum(place[0]["name"] == "the set" for place in places) == 2
    table = lint_section("x", "t", "data:d", report, 2).tables[0]
    assert {row[0]: row[-2:] for row in table.rows}["L14"] == (1, 0)


def test_sarif_is_what_a_code_host_reads(tmp_path: Path) -> None:
    """SARIF has version 2.1.0, a description per rule, and per result the rule's index, a level and the file."""
    report = lint([a_cat("Zorbs are BLANK and BLANK.")])
    write_sarif(report, "set.json", tmp_path / "out.sarif")
    run = json.loads((tmp_path / "out.sarif").read_text())["runs"][0]
    assert len(run["results"]) == len(report.findings)
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [f.rule for f in report.findings]
    assert {result["level"] for result in run["results"]} <= {"error", "warning", "note"}
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "set.json"
    assert as_sarif(report, "set.json")["version"] == "2.1.0"


def test_findings_on_stereoset_dev(shared: Path) -> None:
    """The released dev set has 2 contexts with two BLANKs, 4 with text glued to one, and 747 with lost capitals."""
    report = lint(formats.read(shared / "data/stereoset/dev.json"))
    counts = report.counts()
    assert (counts["L1"], counts["L4"], counts["L8"], counts["L10"], counts["L20"]) == (2, 3, 33, 18, 8)
    by_message = Counter((f.rule, f.message) for f in report.findings)
    assert by_message["L2", "letters are glued to the BLANK"] + by_message["L2", "a space is missing at the BLANK"] == 4
    assert by_message["L3", "3 of 3 sentences differ from their filled context in case"] == 747
    assert (counts["L21"], counts["L14"], counts["L22"]) == (32, 1, 1)


def test_findings_on_released_questions(shared: Path) -> None:
    """36 questions in UnifiedQA's file name one group for both answers; the data files have none."""
    counts = [lint(formats.read(shared / "data/bbq" / name), select=["L24"]).counts()["L24"] for name in BBQ]
    assert counts == [0, 0, 0, 36]


def test_findings_on_crows_pairs(shared: Path) -> None:
    """In 1,508 pairs, 399 have a gold type with fewer than four of five votes, 29 negate, and 61 are judged by their
    writer."""
    counts = lint(formats.read(shared / "data/crows/crows_pairs_anonymized.csv")).counts()
    assert counts["L13"] == 237 + 121 + 31 + 10
    assert (counts["L8"], counts["L21"], counts["L20"]) == (29, 61, 2)
    assert 90 <= counts["L7"] <= 110
