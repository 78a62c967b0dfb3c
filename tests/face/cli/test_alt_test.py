import json
from pathlib import Path

from helpers.commands import run_catsofa

PEOPLE = "item,annotator,label\n" + "".join(f"{n},{who},{'xy'[n % 2]}\n" for n in range(40) for who in "abc")
JUDGES = "item,annotator,label\n" + "".join(f"{n},good,{'xy'[n % 2]}\n{n},bad,z\n" for n in range(40))


def test_a_judge_that_passes_is_told_from_one_that_does_not(tmp_path: Path) -> None:
    """The exit code is 0 if any judge passes; the JSON contains each judge's numbers and recall per label."""
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "judges.csv").write_text(JUDGES)
    common = ("validate", "alt-test", "--on", "people.csv", "--judge")
    ran = run_catsofa(*common, "judges.csv", "--out", "passed.json", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    judges = json.loads((tmp_path / "passed.json").read_text())["judges"]
    assert {name: (numbers["winning_rate"], numbers["passed"]) for name, numbers in judges.items()} == {
        "good": (1.0, True),
        "bad": (0.0, False),
    }
    assert (judges["good"]["kappa"], judges["good"]["recall"]["x"]["share"]) == (1.0, 1.0)
    (tmp_path / "bad.csv").write_text("".join(line + "\n" for line in JUDGES.splitlines() if "good" not in line))
    assert run_catsofa(*common, "bad.csv", cwd=tmp_path).returncode == 1
    (tmp_path / "twice.csv").write_text(JUDGES + "0,good,y\n")
    ran = run_catsofa(*common, "twice.csv", cwd=tmp_path)
    assert (ran.returncode, "two labels" in ran.stderr) == (2, True)
