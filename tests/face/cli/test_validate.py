"""Tests of the `catsofa validate` commands, as users and programs call them."""

import json
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from helpers.commands import run_catsofa
from helpers.records import a_cat, a_pair, said

from catsofa.annotation.study import create
from catsofa.data import formats
from catsofa.data.files import csv_files, jsonl
from catsofa.data.records import LABELS, Annotation, Association

ROWS = """item,annotator,label,bias_type
i,ann,stereotype,d
i,bob,stereotype,d
i,cid,stereotype,d
i,dan,unrelated,d
i,eve,unrelated,d
j,ann,stereotype,d
j,bob,stereotype,d
j,cid,unrelated,d
j,dan,unrelated,d
j,eve,anti-stereotype,d
"""


@pytest.fixture
def annotations(tmp_path: Path) -> Path:
    """Writes ten judgements of two items: one decided, one split."""
    path = tmp_path / "annotations.csv"
    path.write_text(ROWS)
    return path


def answer(*arguments: str, cwd: Path | None = None) -> Any:
    """Returns the JSON output of a command."""
    done = run_catsofa("validate", *arguments, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_old_name_of_the_input_works_with_a_note(annotations: Path) -> None:
    """`--in FILE` and `--in=FILE` mean `--on FILE`, and stderr names the new option; a word after `--` is no option."""
    new = run_catsofa("validate", "votes", "--on", str(annotations))
    for old in (("--in", str(annotations)), (f"--in={annotations}",)):
        done = run_catsofa("validate", "votes", *old)
        assert (done.returncode, done.stdout) == (0, new.stdout)
        assert "--in is now --on" in done.stderr
    assert "--in" not in new.stderr
    assert "--in is now" not in run_catsofa("validate", "lint", "--", "--in").stderr


def test_votes_answer_exactly_so(annotations: Path) -> None:
    """The JSON has items, decided, undecided and labels: plain items, by three of five."""
    report = answer("votes", "--on", str(annotations), "--need", "3")
    assert {key: report[key] for key in ("items", "decided", "undecided", "labels")} == {
        "items": 2,
        "decided": 1,
        "undecided": ["j"],
        "labels": {"stereotype": 1},
    }
    assert report["reasons"] == {"j": "split: 2 stereotype, 2 unrelated, 1 anti-stereotype"}


def test_votes_write_what_was_decided_and_what_not(tmp_path: Path) -> None:
    """CATs are relabelled; refused ones and set-aside annotations have reasons; all files can be read again."""
    votes = {label: said(label, *[label] * 6) for label in LABELS}
    cats = [a_cat(votes=votes), a_cat("The florin was BLANK.", id="two")]
    formats.named("stereoset").write(cats, tmp_path / "cats.json")
    done = run_catsofa(
        "validate", "votes", "--on", "cats.json",
        "--out", "kept.json", "--refused", "refused.jsonl", "--set-aside", "aside.csv",
        cwd=tmp_path,
    )  # fmt: skip
    assert "3 of 3 items decided by 3 of 5 judgements" in done.stdout
    assert [cat.id for cat in formats.read(tmp_path / "kept.json")] == ["one"]
    (refused,) = formats.read(tmp_path / "refused.jsonl")
    assert (refused.id, refused.reason) == ("two", "no votes; no votes; no votes")
    aside = list(formats.read(tmp_path / "aside.csv"))
    assert [a.extra["set_aside"] for a in aside] == ["after the first 5"] * 3


def test_agreement_answers_exactly_so(annotations: Path) -> None:
    """The JSON has four numbers by name, their intervals, and the parts by domain and annotator."""
    report = answer("agreement", "--on", str(annotations))
    assert report["percent"] == pytest.approx((0.4 + 0.2) / 2)
    for name in ("fleiss_kappa", "krippendorff_alpha", "percent", "unanimous"):
        assert set(report["intervals"][name]) == {"low", "high"}
    assert report["by"]["domain"]["d"]["percent"] == report["percent"]
    assert report["by"]["annotator"]["eve"]["percent"] == pytest.approx((1 / 4 + 0) / 2)


def test_few_items_have_no_interval_and_the_output_says_why(annotations: Path) -> None:
    """With two items, JSON has null limits and the reason; the terminal has no limits and the same reason."""
    report = answer("agreement", "--on", str(annotations))
    assert report["intervals"]["percent"] == {"low": None, "high": None}
    for part in (report, report["by"]["domain"]["d"]):
        assert "fewer than 30" in part["withheld"]
    shown = run_catsofa("validate", "agreement", "--on", str(annotations))
    assert report["withheld"] in " ".join((shown.stdout + shown.stderr).split())
    assert shown.stdout.count("0.300 –") == 2


def test_agreement_votes_and_stats_are_signed(tmp_path: Path) -> None:
    """The signature has data hash, seed, resamples and version, in JSON and in the last line; it changes with the
    labels.
    """
    rows = "item,annotator,label\na,p,x\na,q,x\nb,p,y\nb,q,y\n"
    (tmp_path / "one.csv").write_text(rows)
    (tmp_path / "other.csv").write_text(rows.replace("b,q,y", "b,q,x"))
    formats.named("crows-pairs").write([a_pair("Zorb sings.", "Florin sings.", id="1")], tmp_path / "pairs.csv")
    drawn = answer("agreement", "--on", "one.csv", "--seed", "3", "--resamples", "50", cwd=tmp_path)["signature"]
    votes = answer("votes", "--on", "one.csv", cwd=tmp_path)["signature"]
    other = answer("votes", "--on", "other.csv", cwd=tmp_path)["signature"]
    assert (drawn["seed"], drawn["resamples"], drawn["version"]) == (3, 50, version("catsofa"))
    assert drawn["data"] == votes["data"] == votes["line"].split(" | ")[0].removeprefix("data:")
    assert votes["data"].rpartition("@")[2] != other["data"].rpartition("@")[2]
    for command in (("votes", "--on", "one.csv"), ("stats", "pairs.csv")):
        last = run_catsofa("validate", *command, cwd=tmp_path).stdout.splitlines()[-1]
        assert last == answer(*command, cwd=tmp_path)["signature"]["line"]


def test_annotators_lint_split_and_leaks_are_signed(annotations: Path) -> None:
    """The signature has the data hash and the version: in JSON, in split.json and in the last line."""
    pairs = [a_pair(f"Zorb {n} sings of roses.", f"Florin {n} sleeps in woods.", id=str(n)) for n in range(8)]
    formats.named("crows-pairs").write(pairs, annotations.parent / "p.csv")
    data = answer("stats", "p.csv", cwd=annotations.parent)["signature"]["data"]
    for command, begins in {
        "annotators --on annotations.csv": "data:annotations.csv@",
        "lint p.csv --select L20,L1": f"data:{data} | rules:L1,L20 | ",
        "split p.csv --seed 3 --out parts": f"data:{data} | seed:3 | ",
        "leaks p.csv p.csv": f"data:{data} | ",
    }.items():
        line = answer(*command.split(), cwd=annotations.parent)["signature"]["line"]
        assert line.startswith(begins)
        assert line.endswith(f"version:{version('catsofa')}")
        assert run_catsofa("validate", *command.split(), cwd=annotations.parent).stdout.splitlines()[-1] == line
    assert json.loads((annotations.parent / "parts/split.json").read_text())["signature"]["seed"] == 3


def test_what_is_cut_says_how_much_is_left(tmp_path: Path) -> None:
    """For 25 shared pairs, 20 are printed with a count of the other 5; each lint rule shows its first
    three findings.
    """
    pairs = [a_pair(f"{'Zorb ' * n}sings.", f"{'Florin ' * n}sleeps.", id=str(n)) for n in range(1, 26)]
    formats.named("crows-pairs").write(pairs, tmp_path / "p.csv")
    findings = answer("leaks", "p.csv", "p.csv", cwd=tmp_path)["leaks"]
    shown = run_catsofa("validate", "leaks", "p.csv", "p.csv", cwd=tmp_path).stdout
    assert f"and {len(findings) - 20:,} more" in shown
    findings = answer("lint", "p.csv", "--select", "L22,L20", cwd=tmp_path)["findings"]
    shown = run_catsofa("validate", "lint", "p.csv", "--select", "L22,L20", cwd=tmp_path).stdout
    assert f"L20 and {sum(one['rule'] == 'L20' for one in findings) - 3} more" in shown


def test_every_statistic_of_agreement_shows_its_interval(tmp_path: Path) -> None:
    """With 40 items, half of them split, kappa, alpha, percent and unanimous show the limits of the JSON."""
    rows = [f"i{n},{who},{'xy'[n % 2 if who == 'p' else n // 2 % 2]}" for n in range(40) for who in "pq"]
    (tmp_path / "a.csv").write_text("item,annotator,label\n" + "\n".join(rows))
    report = answer("agreement", "--on", "a.csv", cwd=tmp_path)
    shown = run_catsofa("validate", "agreement", "--on", "a.csv", cwd=tmp_path).stdout
    for limits in report["intervals"].values():
        assert f"{limits['low']:.3f}–{limits['high']:.3f}" in shown
    assert shown.count("–") >= 4


def test_labels_that_differ_by_case_or_space_are_named(tmp_path: Path) -> None:
    """`Yes`, `yes` and `yes ` are three labels: a warning names them; an empty table of decisions is not printed."""
    (tmp_path / "a.csv").write_text("item,annotator,label\na,p,Yes\na,q,yes\na,r,yes \nb,p,no\nb,q,no\n")
    for command in ("agreement", "votes"):
        (warning,) = answer(command, "--on", "a.csv", cwd=tmp_path)["warnings"]
        assert all(repr(label) in warning for label in ("Yes", "yes", "yes "))
        assert "no" not in warning.split()
        shown = run_catsofa("validate", command, "--on", "a.csv", cwd=tmp_path)
        assert warning in " ".join((shown.stdout + shown.stderr).split())
        assert "Decided by\n" not in shown.stdout
    run_catsofa("report", "a.csv", "--out", "a.md", cwd=tmp_path)
    assert "'Yes', 'yes', 'yes '" in (tmp_path / "a.md").read_text()


def test_kappa_is_undefined_by_the_items_that_two_people_judged(tmp_path: Path) -> None:
    """Item a has three judges and b one person: kappa uses only a, and the note mentions items with two people."""
    (tmp_path / "a.csv").write_text("item,annotator,label\na,p,x\na,q,x\na,r,x\nb,p,y\nb,p,y\n")
    report = answer("agreement", "--on", "a.csv", cwd=tmp_path)
    assert (report["fleiss_kappa"], report["items"], report["judged"]) == (None, 1, 2)
    assert "items that two people or more judged" in report["note"]


def test_annotators_answer_by_name(annotations: Path) -> None:
    """The JSON lists everybody by name, and the effect of excluding those below a limit: here all, so no item is
    decided.
    """
    report = answer("annotators", "--on", str(annotations), "--consensus", "0.99")
    assert set(report["annotators"]) == {"ann", "bob", "cid", "dan", "eve"}
    assert (report["exclusion"]["annotations"], report["exclusion"]["lost"]) == (10, ["i"])


def test_lint_answers_exactly_so(tmp_path: Path) -> None:
    """Findings have rule, severity, item and message; SARIF is written too; exit code 1 comes only on request."""
    formats.named("stereoset").write([a_cat("The zorb was BLANK.BLANK")], tmp_path / "cats.json")
    path = str(tmp_path / "cats.json")
    (first, *_) = answer("lint", path, "--sarif", str(tmp_path / "out.sarif"))["findings"]
    assert {"rule": "L1", "severity": "error", "item": "one"}.items() <= first.items()
    assert json.loads((tmp_path / "out.sarif").read_text())["version"] == "2.1.0"
    one = answer("lint", path, "--select", "L20")
    assert (one["findings"], one["ran"]) == ([], ["L20"])
    assert run_catsofa("validate", "lint", path, "--fail-on", "error").returncode == 1
    assert run_catsofa("validate", "lint", path, "--ignore", "L1,L2", "--fail-on", "error").returncode == 0
    assert list(answer("rules")) == [f"L{n}" for n in range(1, 25)]


def test_everything_that_lint_reads_is_in_its_signature(tmp_path: Path) -> None:
    """A field that no score depends on, and another word list, each change the signature; a copy does not."""
    cat, rules = a_cat("The zorb was BLANK."), ("--select", "L1,L4")
    lists = {"one": "zorb\n", "two": "florin\n", "copy/one": "zorb\n"}
    for name, sets in (("a", [cat]), ("b", [replace(cat, extra={"harm": 3})]), ("copy/a", [cat])):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        formats.named("jsonl").write(sets, tmp_path / f"{name}.jsonl")
    for name, text in lists.items():
        (tmp_path / name).write_text(text)
    shown = [
        answer("lint", f"{data}.jsonl", *rules, "--offensive", words, cwd=tmp_path)["signature"]["line"]
        for data, words in (("a", "one"), ("copy/a", "copy/one"), ("a", "two"), ("b", "one"))
    ]
    assert shown[0] == shown[1]
    assert len({line.replace("b.jsonl", "a.jsonl") for line in shown}) == 3


def test_stats_split_and_leaks(tmp_path: Path) -> None:
    """Sizes come by kind and domain; the two split files share nothing, as `leaks` reports."""
    pairs = [a_pair(f"Zorb {n} sings of roses.", f"Florin {n} sleeps in woods.", id=str(n)) for n in range(8)]
    formats.named("crows-pairs").write(pairs, tmp_path / "pairs.csv")
    assert answer("stats", "pairs.csv", cwd=tmp_path)["sizes"]["pairs"]["invented"]["items"] == 8
    report = answer("split", "pairs.csv", "--dev", "0.25", "--seed", "0", "--out", "parts", cwd=tmp_path)
    assert (report["dev"]["items"] + report["test"]["items"], report["seed"]) == (8, 0)
    assert answer("leaks", report["files"]["dev"], report["files"]["test"], cwd=tmp_path)["leaks"] == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("votes", "--on", "nothing.csv"), "nothing.csv: found no such file"),
        (("votes", "--on", "annotations.csv", "--need", "6"), "need 6 of 5 judgements cannot be"),
        (("votes", "--on", "annotations.csv", "--group", "cluster"), "has no 'cluster'"),
        (("agreement", "--on", "annotations.csv", "--by", "colour"), "no annotation has anything in a column 'colour'"),
        (("agreement", "--on", "pairs.csv"), "there are no annotations"),
        (("lint", "annotations.csv", "--select", "L77"), "no rule L77"),
        (("lint", "pairs.csv", "--names", "empty.txt"), "empty.txt: found an empty file"),
        (("stats", "annotations.csv"), "have no sentences to count"),
        (("split", "pairs.csv", "--dev", "25", "--out", "parts"), "above 0 and below 1, not 25.0"),
        (("leaks", "pairs.csv", "half.csv"), "half.csv:2: found 1 cell; expected 4"),
    ],
)
def test_a_mistake_is_one_sentence(annotations: Path, arguments: tuple[str, ...], sentence: str) -> None:
    """The exit code is 2, and stderr has one line that says what is wrong."""
    folder = annotations.parent
    formats.named("crows-pairs").write([a_pair("Zorbs sing.", "Florins sing.", id="0")], folder / "pairs.csv")
    (folder / "empty.txt").touch()
    (folder / "half.csv").write_text("sent_more,sent_less,stereo_antistereo,bias_type\nonly half a")
    done = run_catsofa("validate", *arguments, cwd=folder)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_answers_that_nobody_can_read_confirm_nothing_and_are_counted(tmp_path: Path) -> None:
    """Two people of Mechanical Turk sent incomplete answers: no association is judged, so the exit code is 1.

    `annotate status` of such a study reads its folder, without a server.
    """
    proposed = [Association(identity="Zorbs", attribute=word) for word in ("tidy", "late")]
    jsonl.write(proposed, tmp_path / "proposed.jsonl")
    study = create(tmp_path / "study", kind="judge-associations", items=proposed)
    reply = json.dumps({token: {"answers": {"association": "perhaps"}, "seconds": 1} for token in study.keys})
    rows = ({"WorkerId": who, "AssignmentId": who, "Answer.catsofa": reply} for who in ("W0", "W1"))
    csv_files.write(rows, tmp_path / "batch.csv", ("WorkerId", "AssignmentId", "Answer.catsofa"))
    done = run_catsofa("annotate", "import-results", "study", "batch.csv", cwd=tmp_path)
    assert (done.returncode, "8 of 8 records invalid" in done.stderr) == (1, True), done.stderr
    done = run_catsofa("annotate", "import-results", "study", "batch.csv", "--json", cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["invalid"]) == (1, 8)
    command = ("validate", "associations", "proposed.jsonl", "--on", "study/annotations.jsonl")
    done = run_catsofa(*command, "--json", cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["set_aside"]) == (1, {"invalid": 8})
    done = run_catsofa(*command, cwd=tmp_path)
    assert (done.returncode, "invalid" in done.stdout) == (1, True)
    done = run_catsofa("annotate", "status", "study", LABEL_STUDIO_URL="", cwd=tmp_path)
    assert (done.returncode, "import-results" in done.stderr) == (0, True), done.stderr
    assert "0 of 2 items done" in done.stdout
    done = run_catsofa("annotate", "pull", "study", cwd=tmp_path)
    assert (done.returncode, "import-results" in done.stderr) == (2, True)


def test_neutral_sentences_without_all_judgements_are_a_no(tmp_path: Path) -> None:
    """A sentence with three judgements is decided; one with two judgements is not, and the exit code is 1."""
    about = {"cluster_id": "c", "target": "Zorbs", "written": "neutral"}
    judgements = [Annotation(item="c/neutral", annotator=f"p{n}", label="neutral", extra=about) for n in range(2)]
    third = Annotation(item="c/neutral", annotator="p2", label="stereotype", extra=about)
    jsonl.write(judgements, tmp_path / "two.jsonl")
    jsonl.write([*judgements, third], tmp_path / "three.jsonl")
    command = ("validate", "neutral", "--need", "2", "--of", "3", "--on")
    done = run_catsofa(*command, "three.jsonl", "--json", cwd=tmp_path)
    (neutral, *others) = json.loads(done.stdout)["written"]
    assert (done.returncode, neutral["items"], neutral["decided"]["neutral"]["count"]) == (0, 1, 1)
    assert all(row["decided"]["neutral"]["share"] is None for row in others)
    assert "neutral wins 1 of 1" in run_catsofa(*command, "three.jsonl", cwd=tmp_path).stdout
    done = run_catsofa(*command, "two.jsonl", cwd=tmp_path)
    assert (done.returncode, "has all 3 judgements" in done.stderr) == (1, True)


def test_votes_of_which_none_counts_are_a_no(tmp_path: Path) -> None:
    """With two invalid labels, the files are written, a sentence gives the reason, and the exit code is 1."""
    votes = [Annotation(item="t1", annotator=f"p{n}", label="maybe") for n in range(2)]
    jsonl.write(votes, tmp_path / "judged.jsonl")
    command = ("validate", "votes", "--on", "judged.jsonl", "--labels", "yes,no", "--set-aside", "aside.jsonl")
    done = run_catsofa(*command, "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert (done.returncode, report["judgements"]["counted"], report["set_aside"]) == (1, 0, {"unknown label": 2})
    assert (tmp_path / "aside.jsonl").read_bytes().count(b"\n") == 2
    done = run_catsofa(*command, cwd=tmp_path)
    assert (done.returncode, "no judgement counts" in done.stderr) == (1, True)
