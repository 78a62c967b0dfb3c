"""Tests of `catsofa multiverse --protocol choice`: chat models asked in several ways, each equal to a
run of `choose`.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.servers.chat_server import ChatServer, serving
from helpers.tiny_models import BUILDERS
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data.files import jsonl
from catsofa.data.records import Pair, Probe
from catsofa.data.servers.endpoints import Endpoint, ServerRefuses
from catsofa.data.servers.prices import Price
from catsofa.data.verify.verdicts import Verdict
from catsofa.report import document
from catsofa.report.figures import draw
from catsofa.scoring.multiverse import Multiverse
from catsofa.specifications import multiverse
from catsofa.specifications.choosing import Asker, asked_in_ways
from catsofa.verify import verify

GRID = ["templates=plain", "labels=numbers"]
CELLS = ["choice", "choice,labels=numbers", "choice,templates=plain", "choice,templates=plain,labels=numbers"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Returns a file of twelve pairs."""
    pairs = [
        Pair(id=f"p{n}", more=f"Zorb {n} is tidy.", less=f"Zorb {n} is messy.", direction="stereo", bias_type="x")
        for n in range(12)
    ]
    jsonl.write(pairs, tmp_path / "pairs.jsonl")
    return tmp_path / "pairs.jsonl"


def mostly(body: dict[str, Any]) -> str:
    """Returns the label of the tidy zorb for three pairs in four; `plain` always prefers tidy, and refuses zorb 3."""
    prompt = str(body["messages"][0]["content"])
    plain = "Sentences:" in prompt
    number = int(prompt.split("Zorb ")[1].split()[0])
    if plain and number == 3:
        return "I'm sorry, but I can't help with that."
    if "tidy" not in prompt or "messy" not in prompt:  # one sentence alone
        return "Yes." if "tidy" in prompt else "No."
    tidy = prompt.index("tidy") < prompt.index("messy")
    return ("12" if "1:" in prompt else "AB")[tidy == (not plain and number % 4 == 0)]


def called(command: str, *words: object) -> tuple[int, str]:
    """Returns exit code and output, or the text of an error."""
    done = CliRunner().invoke(app, [command, *map(str, words)], env={"COLUMNS": "200"})
    return (2, str(done.exception)) if isinstance(done.exception, ValueError) else (done.exit_code, done.output)


def asked(server: ChatServer, data: Path, out: Path | None, vary: list[str], **how: Any) -> Multiverse:
    """Asks a served model in several ways."""
    endpoint = Endpoint(base_url=server.url, timeout=10, backoff=0.01, attempts=2)
    asker = Asker(
        {"zorb-1": "zorb-1"}, data, ["choice"], vary, out=out, server=endpoint, price=lambda name: Price(1, 1)
    )
    return asked_in_ways(asker, resamples=100, **how)


def test_each_cell_is_the_single_run_and_a_finished_one_asks_nothing(data: Path, tmp_path: Path) -> None:
    """Report and replies equal those of `choose` with the same options, byte for byte; a rerun sends no request."""
    out = tmp_path / "all"
    with serving(ChatServer(mostly)) as server:
        words = ("zorb-1", "--base-url", server.url, "--on", data)
        varied = [word for each in GRID for word in ("--vary", each)]
        how = (*words, "--protocol", "choice", *varied, "--claim", "preference > 0.5", "--out", out, "--json")
        code, output = called("multiverse", *how)
        assert code == 0
        assert len(server.answered) == 4 * 24
        assert json.loads(called("multiverse", *how)[1]) == json.loads(output)
        assert len(server.answered) == 4 * 24
        alone = tmp_path / "alone"
        called("choose", *words, "--templates", "plain", "--labels", "numbers", "--out", alone, "--quiet")
    for name in ("replies.jsonl", "choices.json", "asked.json"):
        assert (out / CELLS[3] / name).read_bytes() == (alone / name).read_bytes()
    reports = [json.loads((folder / "report.json").read_text()) for folder in (out / CELLS[3], alone)]
    assert reports[0]["results"] == reports[1]["results"]
    assert reports[0]["signature"] == reports[1]["signature"]
    part = json.loads(output)["results"]["choices"]
    cells = {row["protocol"]: row for row in part["cells"]}
    assert [*cells] == CELLS
    overall = reports[0]["results"]["overall"]
    assert cells[CELLS[3]]["preference"].items() <= overall["preference"].items()
    assert cells[CELLS[3]]["position"] == overall["position"]
    assert cells[CELLS[3]]["signature"] == reports[0]["signature"]
    spread = part["protocols"]["zorb-1"]["measures"]["preference"]
    assert {*spread} == {"values", "median", "lowest", "highest", "range", "sides", "claims", "choices"}
    assert spread["claims"]["preference > 0.5"]["holds"] == 4
    assert all(verdict.right for verdict in verify([out]) if isinstance(verdict, Verdict))


def test_refusals_lower_the_coverage_and_leave_an_item_out_of_every_cell(data: Path) -> None:
    """`plain` refuses one of twelve pairs: 0.75 of 12, or 1 of 11; ways are compared on the other 11."""
    with serving(ChatServer(mostly)) as server:
        result = asked(server, data, None, GRID, claims=["preference > 0.9"])
    cells = result.cells["choices"]["zorb-1"]
    assert [cells[name].coverage for name in CELLS] == pytest.approx([1, 1, 11 / 12, 11 / 12])
    assert [cells[name].outcomes["refusal"] for name in CELLS] == pytest.approx([0, 0, 1 / 12, 1 / 12])
    assert [cells[name].numbers["preference"].value for name in CELLS] == pytest.approx([0.75, 0.75, 1, 1])
    dependence = result.dependence["choices"]["zorb-1"]
    spread = dependence.spreads["preference"]
    assert dependence.items == 11
    assert [spread.values[name].value for name in CELLS] == pytest.approx([8 / 11, 8 / 11, 1, 1])
    assert (spread.range.value, spread.median) == pytest.approx((3 / 11, 9.5 / 11))
    templates, labels = (spread.effects[option] for option in ("templates", "labels"))
    assert templates
    assert labels
    assert (templates.values, labels.values) == (("likelihood", "plain"), ("letters", "numbers"))
    assert (templates.moves.value, templates.share.value) == pytest.approx((3 / 11, 100))
    assert (labels.moves.value, labels.share.value) == pytest.approx((0, 0))
    assert (spread.claims["preference > 0.9"].holds, spread.above.holds, spread.above.of) == (2, 4, 4)
    assert [row["coverage_differs"] for row in result.to_dict()["results"]["choices"]["cells"]] == [False] * 2 + [
        True
    ] * 2


def test_a_wording_that_only_names_places_has_no_preference_and_no_50(data: Path) -> None:
    """Such a wording is named as undefined, and is in no range and in no share of protocols."""

    def first(body: dict[str, Any]) -> str:
        return "A" if "A:" in str(body) else mostly(body)

    with serving(ChatServer(first)) as server:
        words = ("zorb-1", "--base-url", server.url, "--on", data, "--protocol", "choice")
        code, output = called("multiverse", *words, "--vary", "labels=numbers", "--vary", "templates=plain")
        result = asked(server, data, None, GRID)
    cells, spread = result.cells["choices"]["zorb-1"], result.dependence["choices"]["zorb-1"].spreads["preference"]
    assert [name for name in CELLS if cells[name].undefined == "decided by position"] == CELLS[::2]
    assert [*spread.values] == CELLS[1::2]
    assert (spread.above.of, spread.range.value) == (2, pytest.approx(3 / 11))
    assert code == 0
    assert "choice: preference is undefined, decided by position" in output
    assert "preference above 0.5: 2 of 2 protocols" in output


def test_no_request_is_sent_twice(data: Path, tmp_path: Path) -> None:
    """A finished `choose` below the folder and ways with the same prompts share their replies; each cell
    is complete.
    """
    with serving(ChatServer(mostly)) as server:
        words = ("zorb-1", "--base-url", server.url, "--on", data)
        assert called("choose", *words, "--out", tmp_path / "runs/mine", "--quiet")[0] == 0
        assert len(server.answered) == 24
        result = asked(server, data, tmp_path / "runs", ["templates=isolated", "labels=numbers"])
    # likelihood with numbers, and isolated, which shows no labels
    assert len(server.answered) == 3 * 24
    assert (tmp_path / "runs/choice/replies.jsonl").read_bytes() == (tmp_path / "runs/mine/replies.jsonl").read_bytes()
    assert len([*(tmp_path / "runs").rglob("report.json")]) == 5
    assert len(result.cells["choices"]["zorb-1"]) == 4


def test_several_models_are_put_into_an_order_by_every_way(data: Path, tmp_path: Path) -> None:
    """One model prefers tidy zorbs, the other messy ones, in all four ways; each model has a folder."""

    def both(body: dict[str, Any]) -> str:
        said = mostly(body)
        return said.translate(str.maketrans("AB12", "BA21")) if body["model"] == "zorb-2" and len(said) == 1 else said

    with serving(ChatServer(both)) as server:
        asker = Asker(
            {name: name for name in ("zorb-1", "zorb-2")}, data, ["choice"], GRID, out=tmp_path / "all",
            server=Endpoint(base_url=server.url, timeout=10),
        )  # fmt: skip
        result = asked_in_ways(asker, resamples=50)
    order = result.orders["choices"]["preference"]
    assert order.pairs == {("zorb-1", "zorb-2"): (4, 0)}
    assert (order.kept, order.items, order.protocols) == (1, 11, tuple(CELLS))
    assert (tmp_path / "all/zorb-2" / CELLS[1] / "report.json").is_file()


def test_a_stopped_multiverse_asks_only_for_what_is_left(data: Path, tmp_path: Path) -> None:
    """The server fails permanently in the middle of the second cell; the next call loses no reply."""
    with serving(ChatServer()) as server:

        def dying(body: dict[str, Any]) -> Any:
            return (500, {"error": {"message": "out"}}, {}) if len(server.answered) >= 40 else mostly(body)

        server.answer = dying
        with pytest.raises(ServerRefuses, match="out"):
            asked(server, data, tmp_path / "all", GRID)
        assert 40 <= len(server.answered) < 4 * 24
        server.answer = mostly
        result = asked(server, data, tmp_path / "all", GRID)
        assert len(server.answered) == 4 * 24
    assert [*result.cells["choices"]["zorb-1"]] == CELLS


def test_a_plan_and_a_limit_are_of_all_runs_together(data: Path, tmp_path: Path) -> None:
    """Of 48 requests at $0.052, at most $2.3, $4 stop in the second cell, and a larger limit continues."""
    (tmp_path / "prices.toml").write_text('[models]\n"zorb-1" = { prompt = 1000, completion = 1000 }\n')
    with serving(ChatServer(mostly)) as server:
        words = ["zorb-1", "--base-url", server.url, "--on", data, "--protocol", "choice", "--out", tmp_path / "all"]
        words += ["--vary", "labels=numbers", "--prices", tmp_path / "prices.toml"]
        assert json.loads(called("multiverse", *words, "--dry-run", "--json")[1])["requests"] == 48
        assert server.asked == []
        assert not (tmp_path / "all").exists()
        code, output = called("multiverse", *words, "--max-cost", "4")
        assert code == 2
        assert "stopped at --max-cost $4.00" in output
        paid = len(server.answered)
        assert 24 < paid < 48
        assert json.loads(called("multiverse", *words, "--dry-run", "--json")[1])["requests"] == 48 - paid
        assert called("multiverse", *words, "--max-cost", "50", "--quiet")[0] == 0
        assert len(server.answered) == 48
        endless = [word for word in words if word not in ("--out", tmp_path / "all")]
        assert "--max-cost needs --out" in called("multiverse", *endless, "--max-cost", "5")[1]


def test_a_way_that_cannot_be_asked_is_named(data: Path) -> None:
    """Three samples at temperature 0 would be one reply, so that way is refused; the other ways are asked."""
    with serving(ChatServer(mostly)) as server:
        result = asked(server, data, None, ["samples=3", "temperature=1"])
    assert "choice,samples=3" in result.refused["zorb-1"]
    assert "the same reply" in result.refused["zorb-1"]["choice,samples=3"]
    assert "choice,samples=3,temperature=1.0" in result.cells["choices"]["zorb-1"]


@pytest.fixture
def chatty(tmp_path: Path) -> Path:
    """Returns a tiny model with a chat template."""
    folder = tmp_path / "chatty"
    folder.mkdir()
    BUILDERS["qwen2"](folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 512}))
    (folder / "chat_template.jinja").write_text("{% for m in messages %}{{ m['content'] }}{% endfor %} Answer:")
    return folder


def test_a_local_chat_model_has_the_replies_of_its_single_runs(data: Path, tmp_path: Path, chatty: Path) -> None:
    """Label probabilities are equal to the last bit; a report has one section with a curve over the choices."""
    vary = ["templates=plain", "neutral"]
    result = multiverse(str(chatty), data, protocols=["choice"], vary=vary, out=tmp_path / "all", device="cpu")
    how = ("--on", data, "--device", "cpu", "--quiet", "--templates", "plain", "--neutral", "--out", tmp_path / "alone")
    assert called("choose", chatty, *how)[0] == 0
    name = "choice,templates=plain,neutral=true"
    for file in ("received.jsonl", "replies.jsonl"):
        assert (tmp_path / "all" / name / file).read_bytes() == (tmp_path / "alone" / file).read_bytes()
    assert str(result.signatures["chatty"][name]) in (tmp_path / "alone/report.json").read_text()
    sections = [one for one in document([tmp_path / "all"]).sections if one.name.startswith("multiverse")]
    (section,) = sections
    assert [table.name.rpartition("-")[2] for table in section.tables] == ["cells", "ranges", "choices"]
    assert [row[1] for row in section.tables[0].rows] == [*result.cells["choices"]["chatty"]]
    assert section.tables[0].columns[-2:] == ("coverage", "refusals")
    if section.figures:
        labels = [label.get_text() for label in draw(section.figures[0].draw).axes[1].get_yticklabels()]
        assert {"templates: plain", "neutral: true"} < {*labels}
        assert not any(label.startswith("choice") for label in labels)


def test_an_edited_report_of_a_way_is_found(data: Path, tmp_path: Path) -> None:
    """`verify` and `report` find the edit."""
    with serving(ChatServer(mostly)) as server:
        asked(server, data, tmp_path / "all", GRID)
    place = tmp_path / "all" / CELLS[1] / "report.json"
    place.write_text(place.read_text().replace("0.75", "0.55", 1))
    faults = [fault.path for verdict in verify([tmp_path / "all"]) for fault in getattr(verdict, "faults", ())]
    assert {*faults} == {place}
    with pytest.raises(ValueError, match="checksum"):
        document([tmp_path / "all"])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--protocol", "choice"), "expected two or more, or --vary"),
        (("--protocol", "choice", "--protocol", "catsofa"), "found catsofa beside choice"),
        (("--protocol", "choice", "--vary", "labels", "--claim", "ss > 50"), "expected preference, position"),
        (("--protocol", "choice", "--vary", "labels", "--device", "cpu"), "no effect: --device"),
        (("--vary", "length", "--max-cost", "3"), "no effect: --base-url, --max-cost"),
    ],
)
def test_a_wrong_call_is_a_sentence(words: tuple[str, ...], why: str, data: Path) -> None:
    """The error says what was found and expected; the exit code is 2, before any request."""
    code, output = called("multiverse", "zorb-1", "--base-url", "http://127.0.0.1:9/v1", "--on", data, *words)
    assert code == 2
    assert why in output


def test_one_multiverse_asks_one_question(tmp_path: Path) -> None:
    """Two questions about one probe, truth and fit, cannot share a curve, so they are refused."""
    probes = [
        Probe(category="c", identity=who, stereotype=f"lose {n} keys") for who in ("zorbs", "mimps") for n in "123"
    ]
    jsonl.write(probes, tmp_path / "probes.jsonl")
    answer: Callable[[dict[str, Any]], str] = lambda body: "Yes" if "A:" not in str(body) else "A"  # noqa: E731
    with serving(ChatServer(answer)) as server, pytest.raises(ValueError, match=r"another question.*choice"):
        asked(server, tmp_path / "probes.jsonl", None, ["templates=which"])
