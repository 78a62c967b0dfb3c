"""Tests of a study after its pilot: other people take part, and the pay follows the pilot's pace."""

import json
from pathlib import Path

import pytest
from helpers.crowds import come
from helpers.records import bakers
from helpers.servers.crowd_server import Visitor, opened, shown_truth
from typer.testing import CliRunner

from catsofa.annotation.crowd.people import arrivals, pilots
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.study import Study, create, open_study
from catsofa.cli import app
from catsofa.data.files import BadInput, jsonl

TOML = '[platform]\nname = "prolific"\ncodes = { completed = "DONE1", failed_checks = "FAIL3" }\n[quality]\nfirst = 3\n'


def a_study(folder: Path, after: Path | None = None) -> Study:
    """Returns a study of eight CATs for five people, with checks."""
    settings = {"items": bakers(8), "checks": bakers(6, "miller"), "contact": "a@example.org"}
    study = create(folder, kind="validate-cats", after_pilot=after, **settings)  # type: ignore[arg-type]
    (study.folder / "study.toml").write_text(TOML + "checks_every = 3\n")
    return study


def test_the_pace_of_the_pilot_is_what_the_study_pays_for(tmp_path: Path) -> None:
    """At 12 seconds an answer, without careless people, reward and instructions use 12 seconds;
    --seconds overrides it.
    """
    pilot = a_study(tmp_path / "pilot")
    rules = Rules(session=10, first=3, check_every=3)
    come(pilot, rules, {"all": (10, 3, True), "more": (10, 3, True)}, seconds=12)
    come(pilot, rules, {"fails": (10, 0, False)}, seconds=1)
    jsonl.write(bakers(5, "tailor"), tmp_path / "items.jsonl")
    words = ["annotate", "create", str(tmp_path / "main"), "--kind", "validate-cats", "--contact", "a@example.org"]
    words += ["--items", str(tmp_path / "items.jsonl"), "--pay", "12", "--after-pilot", str(pilot.folder)]
    shown = CliRunner().invoke(app, words)
    assert "20 answers" in shown.output
    main = open_study(tmp_path / "main")
    assert main.settings.seconds == 12
    assert main.settings.cents(10) == 40
    assert "12 seconds" in main.instructions()
    words[2] = str(tmp_path / "other")
    CliRunner().invoke(app, [*words, "--seconds", "40"])
    assert open_study(tmp_path / "other").settings.seconds == 40


def test_a_pilot_to_which_nobody_came_has_no_pace(tmp_path: Path) -> None:
    """The error names the command that opens the pilot."""
    pilot = a_study(tmp_path / "pilot")
    with pytest.raises(BadInput, match="annotate open"):
        pilots.pace(pilot.folder)
    come(pilot, Rules(session=10, first=3, check_every=3), {"all": (10, 3, True)})
    with pytest.raises(BadInput, match="--seconds"):
        pilots.pace(pilot.folder)


def test_nobody_of_the_pilot_takes_part_again(tmp_path: Path) -> None:
    """People who finished, failed or withdrew are refused in the main study and the study after it; others work."""
    pilot = a_study(tmp_path / "pilot")
    with opened(pilot) as address:
        for name, kinds in (("ANA", "item gold check"), ("BAD", "item gold"), ("OUT", "item gold check")):
            visitor = Visitor(address, name)
            visitor.come()
            visitor.work(shown_truth(pilot, kinds))
            if name == "OUT":
                visitor.browser.post("/withdraw", data={"sure": "yes"})
        Visitor(address, "NAY").come(agree="no")
    main = a_study(tmp_path / "main", pilot.folder)
    last = a_study(tmp_path / "last", main.folder)
    with opened(main) as address:
        for name in ("ANA", "BAD", "OUT"):
            assert Visitor(address, name).come().status_code == 403
        for name in ("NEW", "NAY"):
            assert Visitor(address, name).come().headers["location"] == "work"
    assert "ANA" not in (main.folder / "identity.jsonl").read_text()
    with opened(last) as address:
        assert [Visitor(address, name).come().status_code for name in ("ANA", "NEW")] == [403, 403]


def test_who_joins_an_open_pilot_later_is_turned_away_too_and_reads_why(tmp_path: Path) -> None:
    """The server of the main study already runs; the page names the earlier part, and no time to try again."""
    pilot = a_study(tmp_path / "pilot")
    main = a_study(tmp_path / "main", pilot.folder)
    with opened(pilot) as first, opened(main) as second:
        assert Visitor(first, "ANA").come().headers["location"] == "work"
        turned = Visitor(second, "ANA").come()
        assert turned.status_code == 403
        assert "earlier part" in turned.text
        assert "ten minutes" not in turned.text
        assert Visitor(second, "BEN").come().headers["location"] == "work"
        again = Visitor(second, "BEN", "S-other").come()
        assert "another submission" in again.text
    assert "ANA" not in (main.folder / "identity.jsonl").read_text()


def test_a_pilot_with_other_pseudonyms_than_same_as_is_refused(tmp_path: Path) -> None:
    """Different pseudonyms are refused, because one person would have two names."""
    pilot, writing = a_study(tmp_path / "pilot"), a_study(tmp_path / "writing")
    arrivals.key_of(writing, "")
    main = a_study(tmp_path / "main", pilot.folder)
    with pytest.raises(BadInput, match="same_as"):
        arrivals.key_of(main, "../writing")
    assert arrivals.key_of(main, "") == arrivals.key_of(pilot, "")


def test_settings_of_before_have_no_pilot(tmp_path: Path) -> None:
    """The pilot's path is relative to the study's folder, so that both can move together."""
    pilot = a_study(tmp_path / "pilot")
    main = a_study(tmp_path / "deep" / "main", pilot.folder)
    assert json.loads((main.folder / "study.json").read_text())["after_pilot"] == "../../pilot"
    assert open_study(pilot.folder).settings.after_pilot == ""
