"""Lint without models: what each rule finds, what it leaves alone, what it would put instead."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from zorbs import a_cat, a_pair, said

from catsofa.data import formats
from catsofa.data.records import Probe, Stereotype
from catsofa.validation.lint import RULES, as_json, as_sarif, chosen, lint, write_sarif
from catsofa.validation.lint_contrast import changes
from catsofa.validation.lint_rule import Finding, Given, at_least


def found(rule: str, *records: Any, **given: Any) -> list[Finding]:
    """What one rule finds."""
    return list(lint(records, Given(**given), select=[rule]).findings)


def messages(rule: str, *records: Any, **given: Any) -> list[str]:
    """What one rule says."""
    return [finding.message for finding in found(rule, *records, **given)]


def fixes(rule: str, *records: Any) -> list[str]:
    """What one rule would put instead."""
    return [finding.fix for finding in found(rule, *records)]


@pytest.mark.parametrize(
    ("context", "says"),
    [
        ("The zorb was BLANK.", []),
        ("The zorb was BLANK and BLANK.", ["the context has 2 BLANKs instead of 1"]),
    ],
)
def test_l1_wants_one_blank(context: str, says: list[str]) -> None:
    """An intrasentence context has exactly one BLANK."""
    assert messages("L1", a_cat(context)) == says


def test_l1_wants_no_blank_in_an_intersentence_context() -> None:
    """A following sentence fills nothing."""
    cat = a_cat("The zorb came in BLANK.", "He was late.", "He was early.", "Roses grow.", sentences=True)
    moved = a_cat("The zorb came in.", "He was late.", "He was early.", "Roses grow.")
    assert not messages("L1", cat, moved)
    other = type(cat)(
        **{f: getattr(cat, f) for f in ("bias_type", "target", "context", "candidates")}, kind="intersentence"
    )
    assert messages("L1", other) == ["the context has 1 BLANK instead of none"]


@pytest.mark.parametrize(
    ("context", "severity", "fix"),
    [
        ("The zorb BLANKed the gate.", "error", ""),
        ("Zorbs are known.BLANK", "error", "Zorbs are known. BLANK"),
        ("A zorb is BLANK.so they say", "error", "A zorb is BLANK. so they say"),
        ("BLANK zorbs sing.", "info", ""),
        ("It rained. BLANK zorbs sang.", "info", ""),
        ('The zorb said "BLANK".', None, ""),
        ("The zorb's BLANK's roses.", "error", ""),
    ],
)
def test_l2_wants_room_around_the_blank(context: str, severity: str | None, fix: str) -> None:
    """Letters at the BLANK cannot be mended, a missing space can, and a BLANK that begins a sentence is only said."""
    findings = found("L2", a_cat(context))
    if context.endswith("BLANK's roses."):
        assert not findings
    else:
        assert [(f.severity, f.fix) for f in findings] == ([(severity, fix)] if severity else [])


def test_l3_wants_the_sentences_to_be_the_filled_context() -> None:
    """Lost capitals are one finding with the context's spelling as the fix; another sentence is an error."""
    lost = a_cat(
        "The Zorb was BLANK.", "The zorb was late.", "The zorb was early.", "The zorb was red.", sentences=True
    )
    assert messages("L3", lost) == ["3 of 3 sentences differ from their filled context in case"]
    assert fixes("L3", lost) == ["The Zorb was late."]
    other = a_cat("The zorb was BLANK.", "late", "A florin was early.", "red", sentences=True)
    assert {f.severity for f in found("L3", other)} == {"error"}
    spaced = a_cat(
        "The zorb was  BLANK.", "The zorb was late.", "The zorb was  early.", "The zorb was  red.", sentences=True
    )
    assert messages("L3", spaced) == ["1 of 3 sentences differ from their filled context in spacing or punctuation"]
    assert not found(
        "L3",
        a_cat(),
        a_cat("the zorb was BLANK.", "The zorb was x.", "The zorb was y.", "The zorb was z.", sentences=True),
    )


@pytest.mark.parametrize(
    ("target", "context", "named"),
    [
        ("zorb", "The zorbs were BLANK.", True),
        ("zorb", "The zorb's house was BLANK.", True),
        ("zorb", "The stranger was BLANK.", False),
        ("Norway", "Norwegian people are BLANK.", True),
        ("gentleman", "The gentlemen were BLANK.", True),
        ("lady", "Both ladies were BLANK.", True),
        ("chess player", "A chess-player is BLANK.", True),
        ("chess player", "A player of chess is BLANK.", False),
    ],
)
def test_l4_wants_the_target_named(target: str, context: str, named: bool) -> None:
    """In singular, plural or possessive, or by the name of its country or people."""
    assert bool(found("L4", a_cat(context, target=target))) is not named


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("The zorb is a honest baker.", "The zorb is an honest baker."),
        ("An zorb is late.", "A zorb is late."),
        ("It is an university, a hour away.", "It is a university, an hour away."),
        ("The the zorb is late.", "The zorb is late."),
        ("A European zorb, an MBA and a herb.", None),
        ("We hired a/an honest zorb.", None),
        ("He had had enough.", None),
    ],
)
def test_l6_mends_articles_and_doubled_words(text: str, fix: str | None) -> None:
    """The article follows the sound; where both are said, or neither is meant, nothing is."""
    assert fixes("L6", a_pair(text, "x")) == ([fix] if fix else [])


def test_l6_hears_disagreement() -> None:
    """A pronoun with the wrong verb, but not where another word asks for that form."""
    assert messages("L6", a_pair("They is late.", "She don't sing.")) == [
        "'They is' does not agree",
        '"She don\'t" does not agree',
    ]
    assert not found("L6", a_pair("If she were late, who would wait?", "I saw him and they do too."))


def test_l6_spells_with_frequencies() -> None:
    """A lower-case word that hardly anybody writes; names and possessives are left alone."""
    common = {"the", "zorb", "is", "very", "lazy"}
    says = messages(
        "L6", a_pair("The zorb's very lasy. Qwxz!", "The zorb is lazy."), frequency=lambda w: 5.0 * (w in common)
    )
    assert says == ["unknown words: lasy"]


@pytest.mark.parametrize(
    ("more", "less", "expected"),
    [
        ("Zorbs are late.", "Florins are late.", [("zorbs", "florins")]),
        ("Zorbs are late.", "Florins are not late.", [("zorbs", "florins"), ("", "not")]),
        ("A zorb is late.", "An elf is late.", [("a zorb", "an elf")]),
        ("Jon lost his hat, he said.", "Ann lost her hat, she said.", [("jon", "ann")]),
        ("The king loved his wife.", "The queen loved her husband.", [("king", "queen")]),
        ("Zorbs like zorbs.", "Elves like elves.", [("zorbs", "elves")]),
        ("Zorbs follow elves.", "Elves follow zorbs.", [("zorbs", "elves")]),
        ("A zorb smells of perfumes.", "A florin smells of perfume.", [("zorb", "florin")]),
        ("Zorbs are late.", "zorbs are late!", []),
    ],
)
def test_a_change_is_counted_once(more: str, less: str, expected: list[tuple[str, str]]) -> None:
    """The same change again, there and back, an agreeing pronoun, another form of a word: none is a second change."""
    assert changes(a_pair(more, less)) == expected
    assert bool(found("L7", a_pair(more, less))) == (len(expected) > 1)


def test_l5_compares_lengths() -> None:
    """Fills may differ by two words, following sentences may be twice as long."""
    assert not found("L5", a_cat(stereotype="late", anti="early in the"))
    assert messages("L5", a_cat(stereotype="late", anti="early in the morning")) == ["the options have 1 and 4 words"]
    short, long = "He was late today.", "He came so early that nobody else had come."
    assert messages("L5", a_cat("The zorb came.", short, long, "Roses grow.")) == ["the options have 4 and 9 words"]
    assert not found("L5", a_cat("The zorb came.", short, "He came early to us today.", "Roses grow."))
    assert found("L5", a_pair("Zorbs are late.", "People who come from Florin are late."))


@pytest.mark.parametrize(
    ("stereotype", "anti", "severity"),
    [
        ("Zorbs bake bread.", "Zorbs do not bake bread.", "warning"),
        ("Zorbs can't bake.", "Zorbs can bake.", "warning"),
        ("He is never late.", "He is late.", "warning"),
        ("Zorbs bake bread.", "Zorbs burn bread.", None),
        ("Zorbs do not bake.", "Zorbs never bake.", None),
    ],
)
def test_l8_finds_mere_negation(stereotype: str, anti: str, severity: str | None) -> None:
    """The same words with and without a not; an opposite of its own is none."""
    findings = found("L8", a_cat("There they are.", stereotype, anti, "Roses grow."))
    assert [f.severity for f in findings] == ([severity] if severity else [])
    assert bool(found("L8", a_pair(stereotype, anti))) is bool(severity)


def test_l8_tells_of_negating_prefixes() -> None:
    """`unkind` for `kind` is a milder case."""
    assert [f.severity for f in found("L8", a_cat(stereotype="unkind", anti="kind"))] == ["info"]


def test_l9_finds_given_names() -> None:
    """A name of the list in what changes, capitalised; words that name groups are no names."""
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
    """A nationality against a religion or an age says nothing; unknown groups are left alone."""
    assert bool(found("L10", a_pair(more, less))) is not comparable


def test_l10_wants_targets_that_are_people() -> None:
    """A country or a book is no group of people; one finding a target."""
    cats = [
        a_cat(target=target, id=str(n)) for n, target in enumerate(["Norway", "Norway", "Norwegian", "Bible", "zorb"])
    ]
    assert messages("L10", *cats) == [
        "the target 'Norway' of 2 CATs is a place, not a group of people",
        "the target 'Bible' of 1 CAT is a text, not a group of people",
    ]


def test_l11_finds_the_words_given() -> None:
    """Only a list tells what offends."""
    assert messages("L11", a_pair("You zonk!", "You baker!"), offensive=frozenset({"zonk"})) == [
        "1 of the offensive words given: zonk"
    ]


def test_l12_asks_about_facts() -> None:
    """Numbers, quantities, superlatives and geography may just be true."""
    assert messages(
        "L12", a_cat("Zorbia is far.", "It has 5 million people.", "Nobody lives there.", "Roses grow.")
    ) == ["may state a fact (a number): ask whether it is true"]
    assert found("L12", a_pair("Zorbia is a country in the north.", "x"))
    assert not found("L12", a_pair("The zorb on the 2nd floor sang for 10 minutes.", "x"))


def test_l13_wants_four_of_five() -> None:
    """Three of five is weak, a tie is said, and no votes are no finding."""
    votes = {
        "stereotype": said("s", *["stereotype"] * 3, *["unrelated"] * 2),
        "unrelated": said("u", "unrelated", "stereotype"),
    }
    assert messages("L13", a_cat(votes=votes)) == ["3 of 5 judges say stereotype", "1 of 2 judges say unrelated, a tie"]
    assert not found("L13", a_cat())
    weak = a_pair("Zorbs are late.", "Florins are late.", votes=said("one", "invented", "invented|age", "age", "", ""))
    assert messages("L13", weak) == ["2 of 5 judges say chosen"]


def test_l14_and_l22_are_about_the_whole_set() -> None:
    """One finding for a set that says nowhere who holds power and what does harm; one item that does is enough."""
    assert [f.item for f in found("L14", a_cat(), a_cat(id="two"))] == ["*"]
    assert not found("L14", a_cat(extra={"power": "low"}), a_cat(id="two"))
    assert not found("L14", a_pair("a", "b"))
    assert [f.item for f in found("L22", a_cat(), a_cat(id="two"))] == ["*"]
    assert not found("L22", a_cat(extra={"harm": 2}))


def test_l16_wants_words_of_like_frequency() -> None:
    """Two Zipf points are a hundred times; a wording is as rare as its rarest word."""
    zipf = {"late": 5.0, "tardy": 2.9, "slow": 4.0}
    says = messages("L16", a_cat(stereotype="late", anti="tardy"), frequency=lambda w: zipf.get(w, 6.0))
    assert says == ["'late' (Zipf 5.0) against 'tardy' (Zipf 2.9): 126 times"]
    assert not found("L16", a_cat(stereotype="late", anti="slow"), frequency=lambda w: zipf.get(w, 6.0))


def test_l19_hears_the_judges() -> None:
    """Two judges who find a meaning in the unrelated option are too many."""
    assert messages("L19", a_cat(votes={"unrelated": said("u", "related", "stereotype", *["unrelated"] * 3)})) == [
        "2 of 5 judges do not call it unrelated"
    ]
    assert not found("L19", a_cat(votes={"unrelated": said("u", "related", *["unrelated"] * 4)}))


def test_l20_finds_copies_and_leaks() -> None:
    """Nearly the same item in the set; and in another split the item, its target, or a sibling of it."""
    cats = [a_cat(id="one"), a_cat("The zorb was BLANK", id="two"), a_cat("A florin sang BLANK songs.", id="three")]
    assert messages("L20", *cats) == ["100 % the same as one"]
    says = messages(
        "L20",
        a_cat("Norway is BLANK.", target="Norway"),
        against=[a_cat("Vikings are BLANK.", target="Norwegian", id="x")],
    )
    assert says == ["the target 'Norway' is a sibling of 'Norwegian' in the other set"]


def test_l21_looks_at_who_judged_and_wrote() -> None:
    """Judging twice, judging one's own, and writing more than a tenth of the set."""
    twice = (*said("s", "stereotype"), *said("s", "stereotype"))
    assert messages("L21", a_cat(votes={"stereotype": twice})) == ["annotator person 0 judged it 2 times"]
    own = a_pair("a", "b", votes=said("one", "invented"), extra={"anon_writer": "person 0"})
    assert messages("L21", own) == ["its writer person 0 judged it too"]
    many = [a_pair(f"a {n}", "b", id=str(n), extra={"anon_writer": f"w{max(0, n - 2)}"}) for n in range(20)]
    assert messages("L21", *many) == ["w0 wrote 3 of 20 items (15 %)"]


def test_l23_reads_the_parts_of_a_probe() -> None:
    """The group named twice, a gerund or participle for a verb, a plural made from an adjective."""
    probes = [("Finns", "like Finland"), ("Finns", "being late"), ("Finns", "raised by elves"), ("Finnishes", "sing")]
    records = [Probe(category="n", identity=i, stereotype=s, id=f"{i} {s}") for i, s in probes]
    assert [f.item for f in found("L23", *records)] == [f"{i} {s}" for i, s in probes]
    fine = [
        Probe(category="n", identity="Finns", stereotype=s) for s in ("sing", "bring bread", "need a rest", "are late")
    ]
    assert not found("L23", *fine)
    assert found("L23", Stereotype(text="singing all day"))


def test_every_rule_has_a_code_an_example_and_a_need_we_know() -> None:
    """L1 to L23, in order, each with a mild example."""
    assert list(RULES) == [f"L{n}" for n in range(1, 24)]
    assert all(rule.example and rule.about for rule in RULES.values())


def test_what_is_not_given_does_not_run_and_is_named() -> None:
    """A rule without its list or model is no clean bill: the report says what it wants."""
    report = lint([a_cat()])
    assert set(RULES) - set(report.ran) == {"L9", "L11", "L15", "L16", "L17", "L18"}
    assert report.missing["L9"] == "a list of given names (--names)"
    assert report.missing["L6"] == "word frequencies (--corpus)"


def test_rules_are_selected_and_ignored_by_code() -> None:
    """Small letters will do; an unknown code is an error with the codes there are."""
    assert [rule.code for rule in chosen(["l1", "L2"], ["L2"])] == ["L1"]
    with pytest.raises(ValueError, match="no rule L99; the rules are L1, L2"):
        chosen(["L99"])
    assert at_least("warning") == ("error", "warning")
    with pytest.raises(ValueError, match="no severity 'bad'"):
        at_least("bad")


def test_the_worst_comes_first_and_empty_fields_are_left_out() -> None:
    """The command's shape: rule, severity, item, message, then the text and a fix where there are any."""
    listed = as_json(lint([a_cat("Zorbs are BLANK and BLANK.", target="zorb")]))
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


def test_sarif_is_what_a_code_host_reads(tmp_path: Path) -> None:
    """Version 2.1.0, every rule described, every result with its rule's index, a level and the file."""
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
    """The released dev set: 2 contexts with two BLANKs, 4 with something glued to one, 747 that lost capitals."""
    report = lint(formats.read(shared / "data/stereoset/dev.json"))
    counts = report.counts()
    assert (counts["L1"], counts["L4"], counts["L8"], counts["L10"], counts["L20"]) == (2, 3, 33, 18, 8)
    by_message = Counter((f.rule, f.message) for f in report.findings)
    assert by_message["L2", "letters are glued to the BLANK"] + by_message["L2", "a space is missing at the BLANK"] == 4
    assert by_message["L3", "3 of 3 sentences differ from their filled context in case"] == 747
    assert (counts["L21"], counts["L14"], counts["L22"]) == (32, 1, 1)


def test_findings_on_crows_pairs(shared: Path) -> None:
    """1,508 pairs: 399 whose gold type fewer than four of five chose, 29 that negate, 61 judged by their writer."""
    counts = lint(formats.read(shared / "data/crows/crows_pairs_anonymized.csv")).counts()
    assert counts["L13"] == 237 + 121 + 31 + 10
    assert (counts["L8"], counts["L21"], counts["L20"]) == (29, 61, 2)
    assert 90 <= counts["L7"] <= 110
