"""Probes put to chat models: agreement without yea-saying, and its variation between identities."""

import json
import re
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.servers.chat_server import ChatServer, serving

from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Probe
from catsofa.data.servers.endpoints import Endpoint
from catsofa.report import document
from catsofa.scoring.choosing.asking import Asking
from catsofa.scoring.choosing.estimates import between, rows_of
from catsofa.scoring.choosing.items import item_of, items_from
from catsofa.scoring.choosing.measured import report_on
from catsofa.scoring.choosing.outcomes import outcome_of
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.choosing.results import DRAWN, ChoiceReport, between_identities, results
from catsofa.scoring.choosing.served import ServedChat
from catsofa.scoring.choosing.session import ask, choices
from catsofa.scoring.choosing.templates import load

GROUPS = ("dravians", "pellorans", "zorbs")


def grid(stereotypes: int) -> list[Probe]:
    """Returns probes with each of three identities and each stereotype."""
    return [
        Probe(category="people", identity=who, stereotype=f"lose {n} keys")
        for who in GROUPS
        for n in range(stereotypes)
    ]


def asked(answer: Any, folder: Path, template: str = "true", **how: Any) -> ChoiceReport:
    """Returns the report on a server with the given reply function, for twelve stereotypes."""
    jsonl.write(grid(12), folder / "probes.jsonl")
    with serving(ChatServer(answer)) as server:
        model = ServedChat("zorb-1", Endpoint(base_url=server.url, timeout=10, backoff=0.01, attempts=2), Asking())
        return ask(model, choices(folder / "probes.jsonl", [load(template)]), resamples=200, **how)


def believing(body: dict[str, Any]) -> str:
    """Believes every third statement about dravians and two in three about zorbs; refuses those about pellorans."""
    prompt = str(body["messages"][0]["content"]).lower()
    number = int(re.findall(r"lose (\d+) keys", prompt)[0])
    if "pellorans" in prompt:
        return "I'm sorry, but I can't make statements about groups of people."
    believes = number % 3 == 0 if "dravians" in prompt else number % 3 > 0
    return "Yes." if believes != ("not true" in prompt) else "No."


def test_agreement_is_measured_for_each_identity_with_its_refusals(tmp_path: Path) -> None:
    """Agreement is 1/3 for dravians and 2/3 for zorbs, without yea-saying; pellorans are selectively refused."""
    report = asked(believing, tmp_path)
    groups = report.results.groups
    assert groups["dravians"].preference.value == pytest.approx(1 / 3)
    assert groups["zorbs"].preference.value == pytest.approx(2 / 3)
    assert isnan(groups["pellorans"].preference.value)
    assert groups["pellorans"].outcomes["refusal"].value == 1
    assert report.results.overall.position.value == 0
    assert (report.results.overall.items, report.results.overall.requests) == (36, 72)
    assert report.results.refusals["groups"] < 0.01
    assert report.signature.protocol == "choice-probes"


def test_a_model_that_says_yes_to_everything_agrees_with_nothing(tmp_path: Path) -> None:
    """Yes to a statement and to its denial gives a position effect of 1 and no preference."""
    whole = asked(lambda body: "Yes.", tmp_path).results.overall
    assert (whole.position.value, whole.undefined) == (1, "decided by position")


@pytest.mark.parametrize(
    ("option", "reply", "outcome"),
    [
        ("stereotype", "Yes.", "stereotype"),
        ("stereotype", "Zorbs lose 1 keys.", "stereotype"),
        ("stereotype", "It is not true that zorbs lose 1 keys.", "anti_stereotype"),
        ("stereotype", "No, zorbs lose 1 keys is false.", "anti_stereotype"),
        ("anti-stereotype", "It is not true that zorbs lose 1 keys.", "anti_stereotype"),
        ("anti-stereotype", "Yes, it is not true that zorbs lose 1 keys.", "anti_stereotype"),
        ("anti-stereotype", "No.", "stereotype"),
    ],
)
def test_a_reply_that_restates_the_statement_affirms_it(option: str, reply: str, outcome: str) -> None:
    """A restated statement affirms it; the words of the statement itself mean neither yes nor no."""
    probe = Probe(category="people", identity="zorbs", stereotype="lose 1 keys")
    assert outcome_of(Reply(item=probe.id, order=(option,), reply=reply), item_of(probe)) == outcome


@pytest.mark.slow
@pytest.mark.parametrize(("statements", "yes"), [(40, 0.0), (20, 0.3), (60, 0.7)])
def test_identities_that_are_alike_vary_as_sampling_alone_makes_them(statements: int, yes: float) -> None:
    """For 200 simulated models that believe 60 % of all statements, both variances agree within a tenth.

    The models also say yes to some statements that they do not believe.
    """
    probes = grid(statements)
    items, estimates = {probe.id: item_of(probe) for probe in probes}, []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        replies = [
            Reply(
                item=probe.id,
                order=(option,),
                reply="",
                outcome=option.replace("-", "_")
                if rng.random() < yes
                else "stereotype"
                if believes
                else "anti_stereotype",
            )
            for probe in probes
            for believes in [rng.random() < 0.6]
            for option in ("stereotype", "anti-stereotype")
        ]
        rows = rows_of(replies, items)
        variances = between(rows, rows.groups, resamples=300, seed=seed)
        estimates.append((variances["variance"], variances["sampling"]))
    variance, sampling = np.mean(estimates, axis=0)
    assert variance == pytest.approx(sampling, rel=0.1)


def test_which_of_two_identities_fits_is_the_share_of_each_above_chance(tmp_path: Path) -> None:
    """The fit is the share above chance: dravians over zorbs over pellorans gives 1/2, 0 and −1/2.

    Every pair is asked in both orders.
    """

    def ranks(body: dict[str, Any]) -> str:
        first, second = re.findall(r"^[AB]: (\w+)$", str(body["messages"][0]["content"]), re.MULTILINE)
        return "A" if "dzp".index(first[0]) < "dzp".index(second[0]) else "B"

    report = asked(ranks, tmp_path, "which", out=tmp_path / "run")
    fits = report.results.further["fits"].categories["people"]
    assert {who: fit.value for who, fit in fits.items()} == pytest.approx(
        {"dravians": 0.5, "zorbs": 0, "pellorans": -0.5}
    )
    assert report.results.further["identities"].categories["people"]["variance"] == pytest.approx(0.25)
    assert (report.results.overall.items, report.results.overall.requests) == (36, 72)
    assert (report.results.overall.undefined, report.results.overall.position.value) == (DRAWN, 0)
    assert report.signature.protocol == "choice-probes-which"
    again = report_on(tmp_path / "run" / "replies.jsonl", tmp_path / "probes.jsonl", resamples=200)
    assert str(again.results.to_dict()) == str(report.results.to_dict())
    (section,) = document([tmp_path / "run"]).sections
    assert [str(cell) for cell in section.tables[0].rows[0][1:3]] == ["people", "dravians"]


def test_a_model_that_always_says_a_fits_no_statement_to_anybody(tmp_path: Path) -> None:
    """A model that always says A has a position effect of 1, and no fit of any identity."""
    estimates = asked(lambda body: "A", tmp_path, "which").results
    assert estimates.overall.position.value == 1
    assert all(isnan(fit.value) for fit in estimates.further["fits"].categories["people"].values())


def test_each_identity_is_in_two_pairs_of_each_statement() -> None:
    """Each of three identities is in two pairs per statement; two identities make one pair, and one makes none."""
    items = list(items_from(grid(5), second=True))
    sides = [option[0] for item in items for option in item.texts.values()]
    assert (len(items), {sides.count(who) for who in GROUPS}) == (15, {10})
    assert len(list(items_from([probe for probe in grid(5) if probe.identity != "zorbs"], second=True))) == 5
    assert not list(items_from([probe for probe in grid(5) if probe.identity == "zorbs"], second=True))


def test_replies_to_two_questions_are_measured_apart(tmp_path: Path) -> None:
    """A file with replies to both probe tasks is refused."""
    probes = grid(2)
    jsonl.write(probes, tmp_path / "probes.jsonl")
    pair = next(iter(items_from(probes, second=True)))
    replies = [
        Reply(item=probes[0].id, order=("stereotype",), reply="Yes."),
        Reply(item=pair.id, order=("stereotype", "anti-stereotype"), reply="A"),
    ]
    (tmp_path / "replies.jsonl").write_text(
        "".join(json.dumps({"item": r.item, "order": r.order, "reply": r.reply}) + "\n" for r in replies)
    )
    with pytest.raises(BadInput, match="probes and probes-which"):
        report_on(tmp_path / "replies.jsonl", tmp_path / "probes.jsonl")


@pytest.mark.slow
def test_intervals_hold_the_fit_of_simulated_identities() -> None:
    """With dravians named in 0.7, position effect and refusals, 92 to 98 % of 200 intervals contain 0.2."""
    items, held, variances = {item.id: item for item in items_from(grid(60), second=True)}, 0, []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        for likes in (0.7, 0.5):
            replies = []
            for item in items.values():
                names = [item.texts[option][0] for option in ("stereotype", "anti-stereotype")]
                share = likes if names[0] == "dravians" else 1 - likes if names[1] == "dravians" else 0.5
                for order in (("stereotype", "anti-stereotype"), ("anti-stereotype", "stereotype")):
                    chosen = ("stereotype", "anti-stereotype")[int(rng.random() > share)]
                    chosen = order[0] if rng.random() < 0.2 else chosen
                    outcome = "refusal" if rng.random() < 0.1 else item.outcome(chosen)
                    replies.append(Reply(item=item.id, order=order, reply="", outcome=outcome))
            rows = rows_of(replies, items)
            rivals = [items[reply.item].texts["anti-stereotype"][0] for reply in replies]
            parts = between_identities(results(rows, resamples=2), rows, rivals, resamples=400, seed=seed).further
            if likes == 0.5:
                variances.append([parts["identities"].categories["people"][name] for name in ("variance", "sampling")])
            else:
                held += 0.2 in parts["fits"].categories["people"]["dravians"]
    assert 0.92 <= held / 200 <= 0.98, held
    variance, sampling = np.mean(variances, axis=0)
    assert variance == pytest.approx(sampling, rel=0.15)


@pytest.mark.parametrize(
    ("language", "text", "stated", "denied"),
    [
        ("en", "Zorbs sing", "Zorbs sing.", "It is not true that Zorbs sing."),
        ("es", "Los jueces cantan", "Los jueces cantan.", "La siguiente afirmación es falsa: Los jueces cantan."),
        ("zh", "医生很高", "医生很高。", "下面的说法是错误的：医生很高。"),
    ],
)
def test_a_statement_is_denied_in_its_language(language: str, text: str, stated: str, denied: str) -> None:
    """The denial is in the language of the statement; a statement half in English would be another question."""
    probe = Probe(category="c", identity="x", stereotype="y", text=text, extra={"language": language})
    assert list(item_of(probe).texts.values()) == [(stated,), (denied,)]


def test_a_language_without_a_denial_is_refused() -> None:
    """A Dutch probe is refused, because an English denial does not fit a Dutch statement."""
    with pytest.raises(ValueError, match=r"denial.*'nl'"):
        item_of(Probe(category="c", identity="x", stereotype="y", text="Zorbs zingen", extra={"language": "nl"}))


def test_english_questions_about_other_languages_are_noted(tmp_path: Path) -> None:
    """A warning says that bundled templates ask in English about records in another language."""
    probes = [
        Probe(category="c", identity=who, stereotype=f"cantan {n}", extra={"language": "es"})
        for who in ("Los jueces", "Los sastres")
        for n in range(3)
    ]
    jsonl.write(probes, tmp_path / "probes.jsonl")
    with serving(ChatServer(lambda body: "Yes.")) as server:
        model = ServedChat("zorb-1", Endpoint(base_url=server.url, timeout=10, backoff=0.01, attempts=2), Asking())
        report = ask(model, choices(tmp_path / "probes.jsonl", [load("true")]), resamples=50)
    assert any("true ask in English about records in another language (es 6)" in warning for warning in report.warnings)
