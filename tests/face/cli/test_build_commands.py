import json
import re
from pathlib import Path
from typing import Any

import pytest
from helpers.commands import run_catsofa
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.records import Cat, Pair

STATEMENTS = "statement\ttarget\nwomen cannot cook\twomen\nare always late\t\nwere late\t\ncannot cook\t\nlove tea\t\n"


def catsofa(*arguments: str) -> str:
    """Returns the output of a command, run in this process because a new process takes seconds to import libraries."""
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def lines(path: Path) -> list[dict[str, Any]]:
    """Returns the records of a JSONL file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Changes into a folder with statements and a custom lexicon."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "said.tsv").write_text(STATEMENTS)
    lexicon = tmp_path / "lexicon"
    lexicon.mkdir()
    (lexicon / "gender.csv").write_text("TERM,POS\ntrans woman,n\nFTM,adj\nstray,\n")
    (lexicon / "religion.csv").write_text("TERM,POS,SEM\nSikh,n,person\nTaoism,n,religion\n")
    return tmp_path


def test_statements_become_probes_by_four_commands(workplace: Path) -> None:
    """The four commands of the issue run one after another in the user's own folder."""
    output = catsofa(
        *("build", "stereotypes", "--on", "said.tsv", "--text", "statement", "--target", "target", "--parser", "none"),
        *("--out", "kept.jsonl", "--refused", "refused.jsonl"),
    )
    assert "2 kept, 3 refused: kept.jsonl" in output
    kept, refused = lines(workplace / "kept.jsonl"), lines(workplace / "refused.jsonl")
    assert [list(record) for record in kept] == [["id", "text", "notes", "source"]] * 2
    assert [(r["text"], r["source"]["row"], r["notes"]) for r in kept] == [
        *(("cannot cook", 1, ["subject: women"]),),
        ("are always late", 2, ["as written"]),
    ]
    assert [(r["reason"], r["text"], r["source"]["row"]) for r in refused] == [
        *(("past_tense", "were late", 3), ("duplicate", "cannot cook", 4)),
        ("needs_parse", "love tea", 5),
    ]
    summary = catsofa("build", "identities", "--on", "lexicon", "--out", "identities.jsonl", "--json")
    assert json.loads(summary)["refused"] == {"no_part_of_speech": 1, "religion_not_people": 1}
    identities = lines(workplace / "identities.jsonl")
    assert [(i["category"], i["identity"], i["form"]) for i in identities] == [
        *(("gender", "Trans women", "noun"), ("gender", "FTM people", "adjective people")),
        ("religion", "Sikhs", "noun"),
    ]
    assert set(identities[0]) == {"id", "category", "identity", "form", "source"}
    files = ("--identities", "identities.jsonl", "--stereotypes", "kept.jsonl", "--out", "probes.jsonl")
    catsofa("build", "probes", *files)
    assert [probe["text"] for probe in lines(workplace / "probes.jsonl")][:3] == [
        *("Trans women cannot cook", "FTM people cannot cook"),
        "Sikhs cannot cook",
    ]


def test_the_paper_style_and_intersections_by_option(workplace: Path) -> None:
    """`--style paper` is naive; two `--cross` options join two categories."""
    catsofa("build", "identities", "--on", "lexicon", "--style", "paper", "--out", "paper.jsonl")
    assert [i["identity"] for i in lines(workplace / "paper.jsonl")] == ["Trans women", "Ftm people", "Sikhs"]
    crossed = ("--cross", "gender", "--cross", "religion", "--out", "crossed.jsonl", "--refused", "refused.jsonl")
    catsofa("build", "identities", "--on", "lexicon", *crossed)
    assert [i["identity"] for i in lines(workplace / "crossed.jsonl")] == ["FTM Sikhs"]


def test_terms_without_a_file_are_the_papers(workplace: Path) -> None:
    """321 terms are written, in the papers' spelling or the usual one."""
    catsofa("build", "terms", "--out", "terms.jsonl")
    catsofa("build", "terms", "--from", "stereoset-v2", "--corrected", "--out", "v2.jsonl")
    assert len(lines(workplace / "terms.jsonl")) == 321
    assert "Norwegian" in {term["term"] for term in lines(workplace / "v2.jsonl")}


def test_seat_tests_are_a_folder_of_files_that_can_be_read(workplace: Path) -> None:
    """The tests come from a bundled word test, and the output reports what is cut."""
    assert (
        catsofa("build", "seat", "--words", "weat9", "--out", "tests")
        == "sent-weat9: 18 + 18 sentences; 55 cut from PhysicalDisease\n"
    )
    (test,) = formats.read(workplace / "tests")
    assert (test.id, len(test.y.items), len(test.a.items)) == ("sent-weat9", 18, 21)


def test_cats_from_associations_and_continuations(workplace: Path) -> None:
    """Exactly one of the two inputs is required; refused rows are reported with their reason."""
    header = "target,bias_type,stereotype,anti-stereotype,unrelated"
    (workplace / "pairs.csv").write_text(
        f"{header}\ntailor,profession,honest,rude,wooden\ntailor,profession,kind,kind,flat\n"
    )
    assert "same_candidates" in catsofa("build", "cats", "--associations", "pairs.csv", "--out", "cats.jsonl")
    cats = list(formats.read_as(workplace / "cats.jsonl", Cat))
    assert cats[0]["stereotype"].text == "The tailor next door is honest."
    assert cats[2]["stereotype"].text == "A tailor is usually an honest person."
    with pytest.raises(ValueError, match="one of the two"):
        catsofa("build", "cats", "--out", "cats.jsonl")


def test_an_unrelated_word_that_fits_no_slot_is_replaced_and_counted(workplace: Path) -> None:
    """The word is replaced by one of the pool, unless --pool none; a fitting word stays."""
    rows = ["tailor,profession,honest,rude,teapot", "tailor,profession,kind,sly,wooden", "tailor,profession,brave,shy,"]
    header = "target,bias_type,stereotype,anti-stereotype,unrelated"
    (workplace / "pairs.csv").write_text("\n".join([header, *rows]))
    build = ("build", "cats", "--associations", "pairs.csv", "--out", "cats.jsonl", "--json")
    report = json.loads(catsofa(*build))
    assert report["unrelated_chosen"] == {"associations": 2, "cats": report["kept"] * 2 // 3}
    cats = list(formats.read_as(workplace / "cats.jsonl", Cat))
    assert {cat.source.get("unrelated_given") for cat in cats} == {"teapot", None, ""}
    assert {cat["unrelated"].fill == "wooden" for cat in cats if "unrelated_given" not in cat.source} == {True}
    assert {cat.source["pool"] for cat in cats} == {"bundled"}
    refused = json.loads(catsofa(*build, "--pool", "none"))
    assert refused["refused"] == {"no_template_fits": 1, "empty_candidate": 1}
    assert "unrelated_chosen" not in refused


def test_shares_of_refusals_are_of_the_rows_of_the_input(workplace: Path) -> None:
    """One row makes three CATs and one makes two refusals: half of the rows are refused, not two items of five."""
    header = "target,bias_type,stereotype,anti-stereotype,unrelated"
    (workplace / "pairs.csv").write_text(
        f"{header}\ntailor,profession,honest,rude,wooden\nquell,pastime,snob,snobs,hour\n"
    )
    build = ("build", "cats", "--associations", "pairs.csv", "--pool", "none", "--out", "cats.jsonl")
    output = catsofa(*build).split("\n")
    assert output[2].split() == ["reason", "%", "of", "2", "rows"]
    assert output[3].split() == ["same_candidates", "2", "50.00"]
    assert json.loads(catsofa(*build, "--json"))["rows"] == {"read": 2, "kept": 1, "same_candidates": 1}


def test_minimal_pairs_of_templates_and_of_swapped_sentences(workplace: Path) -> None:
    """The sentences of a pair differ only in the group."""
    (workplace / "groups.csv").write_text("target,other,bias_type,stereotype\ntailor,umpire,profession,rude\n")
    catsofa("build", "minimal-pairs", "--associations", "groups.csv", "--frame", "past", "--out", "pairs.jsonl")
    first = next(iter(formats.read_as(workplace / "pairs.jsonl", Pair)))
    assert (first.more, first.less) == (
        "The tailor we met last year was rude.",
        "The umpire we met last year was rude.",
    )
    with pytest.raises(ValueError, match=r"'future'.*statement"):
        catsofa("build", "minimal-pairs", "--associations", "groups.csv", "--frame", "future", "--out", "pairs.jsonl")
    (workplace / "said.csv").write_text("text,bias_type\nAn actress sang.,gender\nNobody sang.,gender\n")
    output = catsofa("build", "swaps", "--sentences", "said.csv", "--swap", "gender", "--out", "pairs.jsonl")
    assert "names_no_group" in output
    (pair,) = formats.read_as(workplace / "pairs.jsonl", Pair)
    assert (pair.more, pair.less) == ("An actress sang.", "An actor sang.")


def test_pairs_from_a_folder_of_texts(workplace: Path) -> None:
    """Pairs are written as three JSONL files, split by document."""
    (workplace / "texts").mkdir()
    for number in range(8):
        text = " ".join(f"Sentence {i} of text {number} stands here." for i in range(4))
        (workplace / "texts" / f"{number}.txt").write_text(text)
    done = run_catsofa(
        "build", "pairs", "--on", "texts", "--out", "pairs", "--held-out", "0.4", "--json", cwd=workplace
    )
    counts = json.loads(done.stdout)["counts"]
    assert counts["train"] + counts["held-out"] == 48
    assert len(lines(workplace / "pairs" / "train.jsonl")) == counts["train"]


def test_the_perplexity_filter_writes_what_it_kept_and_a_figure(workplace: Path) -> None:
    """Of ten stereotypes, the one outlier is refused."""
    predicates = [{"id": f"s{i}", "text": f"bake {i} loaves"} for i in range(10)]
    scores = [{"item": f"s{i}", "score": 10.0 + i if i < 9 else 10000.0} for i in range(10)]
    for name, records in (("kept.jsonl", predicates), ("gpt2.jsonl", scores)):
        (workplace / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    options = ("--scores", "gpt2.jsonl", "--keep", "0.9", "--draw", "ppl.svg", "--out", "plain.jsonl", "--json")
    report = json.loads(catsofa("filter", "perplexity", "kept.jsonl", *options))
    assert (report["kept"], report["refused"]) == (9, {"high_perplexity": 1})
    assert sum(report["histograms"][0]["counts"]) == 10
    assert "<svg" in (workplace / "ppl.svg").read_text()


MISTAKES = [
    (("stereotypes", "--on", "nowhere.tsv", "--out", "o"), "nowhere.tsv: found no such file"),
    (
        ("minimal-pairs", "--associations", "nowhere.csv", "--out", "o"),
        "nowhere.csv: found no such file; expected the input of build minimal-pairs, in the form that its --help",
    ),
    (("cats", "--associations", "nowhere.csv", "--out", "o"), "nowhere.csv: found no such file; expected the input"),
    (("stereotypes", "--on", "said.tsv", "--text", "said", "--out", "o", "--parser", "none"), "no column 'said'"),
    (
        ("stereotypes", "--on", "said.tsv", "--text", "statement", "--spacy-model", "none_such", "--out", "o"),
        "--parser none",
    ),
    (
        ("stereotypes", "--on", "said.tsv", "--text", "statement", "--parser", "none", "--allow", "rude", "--out", "o"),
        "rude",
    ),
    (("stereotypes", "--on", "empty.tsv", "--text", "statement", "--parser", "none", "--out", "o"), "an empty file"),
    (("identities", "--on", "said.tsv", "--out", "o"), "said.tsv: found"),
    (("identities", "--on", "lexicon", "--cross", "gender", "--out", "o"), "two different categories"),
    (("probes", "--identities", "said.tsv", "--stereotypes", "said.tsv", "--out", "o"), "said.tsv"),
    (("seat", "--words", "weat99", "--out", "o"), "no bundled test 'weat99'"),
    (("terms", "--from", "wikidata", "--out", "o"), "--contact"),
    (("pairs", "--out", "o"), "--on"),
    (("cats", "--associations", "said.tsv", "--language", "es", "--pool", "none", "--out", "o"), "found --pool with"),
    (("stereotypes", "--on", "judged.jsonl", "--language", "es", "--out", "o"), "found associations and --language"),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES)
def test_a_mistake_is_one_sentence_and_leaves_no_file(
    workplace: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    """The error says what was found and what was expected."""
    (workplace / "empty.tsv").write_text("")
    (workplace / "judged.jsonl").write_text('{"identity": "Dravians", "attribute": "lazy"}')
    with pytest.raises(ValueError, match=re.escape(sentence)) as error:
        catsofa("build", *arguments)
    assert "\n" not in str(error.value)
    assert not (workplace / "o").exists()


def test_a_mistake_ends_with_exit_code_2_and_no_traceback(workplace: Path) -> None:
    """The command runs in its own process, as for a user."""
    done = run_catsofa("build", "terms", "--from", "wikidata", "--out", "o", cwd=workplace)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("catsofa: Wikidata asks for a way to reach you")


def test_a_build_that_keeps_nothing_ends_with_exit_code_1(workplace: Path) -> None:
    """Every statement is refused, and the refusals are still written."""
    (workplace / "said.tsv").write_text("statement\nwere late\n")
    command = [
        "build",
        "stereotypes",
        "--on",
        "said.tsv",
        "--text",
        "statement",
        "--parser",
        "none",
        "--out",
        "kept.jsonl",
    ]
    done = CliRunner().invoke(app, [*command, "--refused", "refused.jsonl"])
    assert (done.exit_code, "0 kept, 1 refused: kept.jsonl" in done.stdout) == (1, True)
    assert len(lines(workplace / "refused.jsonl")) == 1
