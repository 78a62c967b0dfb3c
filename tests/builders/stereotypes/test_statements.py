import re
from collections import Counter
from pathlib import Path

import pytest
from helpers.statement_cases import REVISED, RULES, cases, record, recorded, recorded_parser

from catsofa.builders.languages.text import clean
from catsofa.builders.stereotypes import PRESCRIPTIVE, build
from catsofa.builders.stereotypes.dictionary_parsing import dictionary_parser
from catsofa.builders.stereotypes.exclusions import Names
from catsofa.builders.stereotypes.files import read_statements
from catsofa.builders.stereotypes.parsing import Parser, spacy_parser
from catsofa.data.files import BadInput
from catsofa.data.language.wordlists import slurs
from catsofa.data.records import Refused, Statement, Stereotype


def outcome(statement: Statement, parser: Parser, **options: object) -> str:
    """Returns the predicate of one statement, or `!reason`."""
    (outcome_record,) = build([statement], parser, **options)  # type: ignore[arg-type] # the options of build
    return f"!{outcome_record.reason}" if isinstance(outcome_record, Refused) else outcome_record.text


def agrees(found: str, expected: str) -> bool:
    """True if an outcome is the expected one; a form like "burned" may be a past tense or a participle."""
    return found == expected or (expected == "!past_or_participle" and found in ("!past_tense", "!participle_only"))


@pytest.fixture(scope="session")
def parser(shared: Path) -> Parser:
    """Returns the parser of the small pipeline in the shared folder."""
    return spacy_parser(str(shared / "models" / "spacy-en-small"))


def test_188_statements_come_out_as_the_rules_say() -> None:
    """Every authored case has the expected predicate (no subject, plural verb) or the expected reason."""
    outcomes = [(s.statement, expected, outcome(s, recorded_parser, rules="paper")) for s, expected in cases()]
    assert len(outcomes) == 188
    assert [case for case in outcomes if not agrees(case[2], case[1])] == []


def test_the_pipeline_parses_as_recorded(parser: Parser) -> None:
    """The small pipeline gives exactly the recorded parses that other tests use."""
    assert record(parser) == recorded()


def test_the_dictionary_alone_decides_many_and_errs_on_none() -> None:
    """Without a parser, each outcome is the expected one or needs_parse. Most cases need no parse."""
    outcomes = [(s.statement, expected, outcome(s, dictionary_parser, rules="paper")) for s, expected in cases()]
    decided = [case for case in outcomes if case[2] != "!needs_parse"]
    assert [case for case in decided if not agrees(case[2], case[1])] == []
    assert len(decided) >= 110


@pytest.mark.parametrize(("statement", "target", "expected"), RULES)
def test_rules_beyond_the_list(statement: str, target: str, expected: str) -> None:
    """Pronouns follow the number, and broken predicates are refused, as the released statements require."""
    assert outcome(Statement(statement=statement, target=target), recorded_parser, rules="paper") == expected


@pytest.mark.parametrize(("statement", "paper", "revised"), REVISED)
def test_the_revised_rules_mend_what_readers_found_wrong(statement: str, paper: str, revised: str) -> None:
    """The paper's preset does not change. The revised rules restore good predicates and refuse bad ones."""
    assert outcome(Statement(statement=statement), recorded_parser, rules="paper") == paper
    assert outcome(Statement(statement=statement), recorded_parser) == revised


def test_what_one_person_has_becomes_what_many_have_behind_a_modal_too() -> None:
    """`A zorb will sell his hat` becomes plural under the revised rules; the paper's preset does not change it."""
    one = Statement(statement="A zorb will sell his own hat", target="zorb")
    assert outcome(one, dictionary_parser) == "will sell their own hat"
    assert outcome(one, dictionary_parser, rules="paper") == "will sell his own hat"


def test_a_slur_names_a_target_though_a_sign_stands_for_a_letter() -> None:
    """The revised rules recognise a slur with a masked letter. The list is stored in rot13 against accidental
    reading."""
    slur = max((slur for slur in slurs() if slur.isalpha()), key=len)
    masked = slur[0] + "*" + slur[2:]
    for text in (f"are {slur}", f"are '{slur}'", f"are {masked}"):
        assert Names().first(text, "paper") is None
        assert Names().first(text, "revised") in (slur, masked)
    assert Names().first("are b*d", "revised") is None


def test_a_predicate_that_says_what_people_should_do_is_noted() -> None:
    """A prescriptive predicate gets a note, so a study can exclude such harms that are no traits."""
    records = build([Statement(statement=text) for text in ("should stay home", "cannot cook")], recorded_parser)
    assert [record.notes for record in records if isinstance(record, Stereotype)] == [(PRESCRIPTIVE,), ("as written",)]


def test_every_row_is_kept_or_refused_and_says_where_it_comes_from() -> None:
    """Each row gives one record, in order. A duplicate names the earlier row."""
    rows = ["cannot cook", "women cannot cook", "   ", "cannot cook"]
    records = list(build([Statement(id=str(i), statement=row) for i, row in enumerate(rows)], dictionary_parser))
    assert [record.source["row"] for record in records] == [1, 2, 3, 4]
    assert [record.reason for record in records if isinstance(record, Refused)] == ["duplicate", "empty", "duplicate"]
    assert [record.source.get("of") for record in records] == [None, "0", None, "0"]
    assert isinstance(records[0], Stereotype)
    assert (records[0].notes, records[0].source["statement"]) == (("as written",), "cannot cook")


def test_the_same_predicate_of_two_categories_is_two_stereotypes() -> None:
    """The same predicate in two categories is two stereotypes, because probes are built by category."""
    statements = [Statement(statement="cannot cook", category=category) for category in ("gender", "race")]
    assert [type(stereotype) for stereotype in build(statements, dictionary_parser)] == [Stereotype, Stereotype]


def test_what_sofa_keeps_all_the_same_can_be_allowed() -> None:
    """Leading adverbs and past tenses are refused by the paper's text, but can be allowed because SoFa contains
    some."""
    late, burned = Statement(statement="always complain"), Statement(statement="burned the toast")
    assert outcome(late, recorded_parser) == "!leading_adverb"
    assert outcome(late, recorded_parser, allow=["leading_adverb"]) == "always complain"
    assert outcome(burned, recorded_parser, allow=["past_tense", "participle_only"]) == "burned the toast"


@pytest.mark.parametrize(("label", "expected"), [("0.0", "!not_abusive"), ("0.5", "cannot cook"), ("", "cannot cook")])
def test_posts_that_sbics_judges_found_harmless_are_refused(label: str, expected: str) -> None:
    """Statements that SBIC labels as harmless are refused; statements without a label are kept."""
    assert outcome(Statement(statement="cannot cook", extra={"offensiveYN": label}), dictionary_parser) == expected


def test_names_of_the_user_are_targets_too() -> None:
    """A user's lexicon adds names that a predicate must not contain."""
    statement = Statement(statement="envy florists")
    assert outcome(statement, recorded_parser) == "envy florists"
    assert outcome(statement, recorded_parser, names=Names(["florist"])) == "!names_target"


CLEANED = [
    ("  “Cannot cook.” ", "Cannot cook"),
    ("1. CANNOT COOK!!", "cannot cook"),
    ("Cannot Cook At All", "cannot cook at all"),
    ("dont cook", "don't cook"),
    ('say "yes" too often', 'say "yes" too often'),
    ('are "loud', "are loud"),
    ("'Cannot cook'", "Cannot cook"),
    ("…", ""),
]


@pytest.mark.parametrize(("typed", "cleaned"), CLEANED)
def test_a_statement_is_cleaned_of_what_is_not_its_words(typed: str, cleaned: str) -> None:
    """Outer quotes, numbering, final stops, capitals and missing apostrophes are cleaned; inner quotes stay."""
    assert clean(typed) == cleaned


def test_statements_are_read_from_tables_lines_and_json(tmp_path: Path) -> None:
    """Statements come from a table column, a text line or a JSON field. A wrong column is named in the error."""
    (tmp_path / "a.tsv").write_text("said\tof\ncannot cook\ttailors\ncannot cook\ttailors\n")
    (tmp_path / "a.txt").write_text("cannot cook\n\ncannot bake\n")
    (tmp_path / "a.jsonl").write_text('{"said": "cannot cook", "id": "x"}\n{"said": null}\n')
    table = list(read_statements(tmp_path / "a.tsv", "said", "of"))
    assert [(s.statement, s.target) for s in table] == [("cannot cook", "tailors")] * 2
    assert table[1].id == f"{table[0].id}-2"
    assert [s.statement for s in read_statements(tmp_path / "a.txt")] == ["cannot cook", "cannot bake"]
    assert [s.id for s in read_statements(tmp_path / "a.jsonl", "said")][:1] == ["x"]
    with pytest.raises(BadInput, match="column 'saying'"):
        list(read_statements(tmp_path / "a.tsv", "saying"))


def test_a_missing_pipeline_is_one_sentence_that_says_how_to_get_one() -> None:
    """The error names the download command and the option to run without a parser."""
    with pytest.raises(BadInput, match=r"spacy download en_core_web_sm.*--parser none"):
        spacy_parser("no_such_pipeline")


def sofa_strings(paper: str) -> list[str]:
    """Returns the distinct stereotypes of SoFa's Table 8."""
    table, strings = paper[paper.index("| Model | Religion St.") :], []
    for line in table.splitlines()[2:]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        strings += cells[1:] if re.match("BLOOM|GPT2|XLNET|BART|LLAMA", cells[0]) else cells
    return list(dict.fromkeys(cell for cell in strings if cell))


def test_64_of_sofas_80_printed_stereotypes_pass_its_own_rules(shared: Path, parser: Parser) -> None:
    """design/linguistics 2.3: sixteen printed stereotypes of the paper violate its own Appendix A."""
    strings = sofa_strings((shared / "sources" / "002_social_bias_probing_sofa.txt").read_text())
    outcomes = [outcome(Statement(statement=text), parser, rules="paper") for text in strings]
    assert len(strings) == 80
    reasons = Counter(text for text in outcomes if text.startswith("!"))
    assert sum(reasons.values()) == 16
    assert reasons == {
        "!past_tense": 5, "!no_verb": 3, "!leading_adverb": 2, "!historical_event": 2, "!offence_or_joke": 1,
        "!expects_no_subject": 1, "!first_or_second_person": 1, "!names_target": 1,
    }  # fmt: skip
    predicates = [text for text in outcomes if not text.startswith("!")]
    assert set(predicates) <= {text.replace("’", "'") for text in strings}, "none of them needed another word"


@pytest.mark.slow
def test_biasaskers_7343_statements_are_kept_or_refused_with_known_reasons(shared: Path, parser: Parser) -> None:
    """Most statements are kept, and each reason has about the count of design/linguistics 2.3."""
    statements = read_statements(shared / "data" / "sbic" / "biasasker" / "bias_annotation.csv")
    counts = Counter(
        outcome_record.reason if isinstance(outcome_record, Refused) else "kept"
        for outcome_record in build(statements, parser, rules="paper")
    )
    assert sum(counts.values()) == 7343
    assert 5250 < counts["kept"] < 5450
    near = {
        "names_target": 739,
        "historical_event": 175,
        "past_tense": 174,
        "leading_adverb": 170,
        "offence_or_joke": 141,
    }
    assert all(abs(counts[reason] - count) < 0.1 * count for reason, count in near.items()), counts


@pytest.mark.slow
def test_the_revised_rules_keep_as_many_of_biasaskers_statements(shared: Path, parser: Parser) -> None:
    """The revised rules keep predicates that keyword rules lost, and refuse groups, slurs and religions (samples were
    read)."""
    statements = read_statements(shared / "data" / "sbic" / "biasasker" / "bias_annotation.csv")
    records = list(build(statements, parser))
    counts = Counter(record.reason if isinstance(record, Refused) else "kept" for record in records)
    assert 5050 < counts["kept"] < 5300
    assert counts["first_or_second_person"] < 15
    assert counts["offence_or_joke"] < 130
    noted = [record for record in records if isinstance(record, Stereotype) and PRESCRIPTIVE in record.notes]
    assert 550 < len(noted) < 700
