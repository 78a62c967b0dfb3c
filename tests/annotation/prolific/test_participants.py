"""Tests of who may take part: filters of a simulated Prolific, qualifications, and nobody of the pilot."""

from pathlib import Path
from typing import Any

import pytest
from helpers.annotation.prolific_commands import ADDRESS, TOML, published, run, said
from helpers.records import bakers
from helpers.servers import prolific_server

from catsofa.annotation.crowd import settings
from catsofa.annotation.crowd.http import service
from catsofa.annotation.crowd.screening import Screening
from catsofa.annotation.results.data_statement import work_of
from catsofa.annotation.study import Study, create
from catsofa.data.files import BadInput


def test_who_may_take_part_is_asked_of_prolific_and_told_in_the_statement(
    there: prolific_server.Prolific, study: Study
) -> None:
    """Countries use Prolific's own ids, approvals are ranges, beside the other filters; the statement has the words."""
    wanted = 'countries = { US = "United States" }\napproval_rate = 95\napproved_tasks = 100\n'
    (study.folder / "study.toml").write_text(TOML + wanted)
    assert run("create", study, "--address", ADDRESS).exit_code == 0
    assert there.studies["study1"]["filters"][1:] == [
        {"filter_id": "current-country-of-residence", "selected_values": ["1"]},
        {"filter_id": "approval_rate", "selected_range": {"lower": 95, "upper": 100}},
        {"filter_id": "approval_numbers", "selected_range": {"lower": 100, "upper": 10000}},
    ]
    words = "living in United States, 95 % or more of earlier tasks approved, 100 or more tasks approved"
    assert work_of(study).screened == words


def test_a_country_or_filter_that_prolific_lacks_makes_no_draft(
    there: prolific_server.Prolific, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unknown country, or a filter that Prolific no longer offers, is refused before a draft exists."""
    (study.folder / "study.toml").write_text(TOML + 'countries = { ZZ = "Dravia" }\n')
    assert "'Dravia'" in said(run("create", study, "--address", ADDRESS))
    (study.folder / "study.toml").write_text(TOML + "approved_tasks = 100\n")
    monkeypatch.setattr(prolific_server, "FILTERS", prolific_server.FILTERS[:2])
    assert "approval_numbers" in said(run("create", study, "--address", ADDRESS))
    assert not there.studies


@pytest.mark.parametrize(
    ("name", "more", "found"),
    [
        ("prolific", 'countries = { usa = "United States" }', "platform.countries.usa"),
        ("prolific", "approval_rate = 101", "platform.approval_rate = 101"),
        ("prolific", "approved_tasks = 0", "platform.approved_tasks = 0"),
        ("connect", "approval_rate = 95", "'connect'"),
    ],
)
def test_what_no_platform_checks_is_refused(name: str, more: str, found: str, study: Study) -> None:
    """A requirement that a data statement would print but no platform checks is an error."""
    (study.folder / "study.toml").write_text(TOML.replace('"prolific"', f'"{name}"') + more)
    with pytest.raises(BadInput, match=found):
        settings.read(study)


def test_mechanical_turk_gets_the_same_as_qualifications(study: Study) -> None:
    """Ids of the system qualifications; above 97 % is 98 % or more, since the qualification is a whole number."""
    chosen = Screening(countries={"US": "United States"}, approval_rate=98, approved_tasks=100)
    guarded = {"ActionsGuarded": "DiscoverPreviewAndAccept"}
    least = {"Comparator": "GreaterThanOrEqualTo"} | guarded
    assert chosen.on_mturk() == [
        {"QualificationTypeId": "00000000000000000071", "Comparator": "EqualTo", "LocaleValues": [{"Country": "US"}]}
        | guarded,
        {"QualificationTypeId": "000000000000000000L0", "IntegerValues": [98]} | least,
        {"QualificationTypeId": "00000000000000000040", "IntegerValues": [100]} | least,
    ]
    two = Screening(countries={"US": "United States", "GB": "United Kingdom"})
    assert two.on_mturk()[0]["Comparator"] == "In"
    (study.folder / "study.toml").write_text('[platform]\nname = "mturk"\napproval_rate = 98\n')
    with service.serving(study, "127.0.0.1", 0, "http://127.0.0.1:1", owner="off") as server:
        assert any("000000000000000000L0" in line for line in server.says)


def test_the_study_after_a_pilot_is_shown_to_nobody_of_the_pilot(
    there: prolific_server.Prolific, study: Study, tmp_path: Path
) -> None:
    """The filter names the pilot's study on Prolific, beside the filters of study.toml."""
    published(study)
    known: dict[str, Any] = {"items": bakers(8), "checks": bakers(6, "miller"), "contact": "a@example.org", "pay": 12.0}
    main = create(tmp_path / "main", kind="validate-cats", after_pilot=study.folder, **known)
    (main.folder / "study.toml").write_text(TOML)
    assert run("create", main, "--address", ADDRESS).exit_code == 0
    filters = there.studies["study2"]["filters"]
    assert filters[1:] == [{"filter_id": "previous_studies_blocklist", "selected_values": ["study1"]}]
