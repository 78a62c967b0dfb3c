import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.commands import run_catsofa

from catsofa import demo
from catsofa.annotation.label_studio import server as servers
from catsofa.data import formats
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import Cat, Pair, Probe, Refused
from catsofa.demo import building, chat
from catsofa.demo.building import Built
from catsofa.demo.measuring import Measured
from catsofa.demo.people import SKILLS, decide, judged, judgements
from catsofa.demo.planted import SIDES, TRAITS, World, words_of
from catsofa.scoring.statistics.intervals import Interval

MODELS = Path(os.environ.get("CATSOFA_SHARED", ROOT.parent / "shared")) / "models"
PROGRAM = ROOT / ".venv-labelstudio" / "bin" / "label-studio"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of the demo's items."""
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def built(folder: Path) -> Built:
    """Returns the demo's items, without the similarity gate, which needs a model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "EMBEDDER", "no_such_embedder")
        return building.build(folder / "inputs", folder / "items")


def of(folder: Path, name: str) -> list[object]:
    """Returns the records of a built set."""
    return list(formats.read(building.path_of(folder / "items", name)))


def test_every_item_names_its_group_and_its_planted_trait(built: Built, folder: Path) -> None:
    """The stereotype of a group is the trait planted on its side; in a pair, `more` is about the right side."""
    cats = [cat for name in ("intrasentence", "intersentence") for cat in of(folder, name)]
    assert len(cats) == 192 + 72
    for cat in cats:
        assert isinstance(cat, Cat)
        side = 0 if cat.target in SIDES[0] else 1
        assert cat.target in words_of(cat.context)
        assert any(pair[side] in words_of(cat["stereotype"].text) for pair in TRAITS)
        assert any(pair[1 - side] in words_of(cat["anti-stereotype"].text) for pair in TRAITS)
    for pair in of(folder, "pairs"):
        assert isinstance(pair, Pair)
        trait = next(t for traits in TRAITS for t in traits if t in words_of(pair.more))
        side = 0 if trait in [first for first, _ in TRAITS] else 1
        assert set(words_of(pair.more)) & set(SIDES[side])
        assert set(words_of(pair.less)) & set(SIDES[1 - side])
    assert len({probe.text for probe in of(folder, "probes") if isinstance(probe, Probe)}) == 12 * 12


@pytest.mark.parametrize(("low", "holds"), [(49.9, True), (51.0, True), (51.4, False)])
def test_a_twin_may_miss_50_by_as_much_as_six_looks_explain(low: float, holds: bool) -> None:
    """At 54 with a lower limit of 51 the distance of 3 becomes 4.38 and reaches 50; with 51.4, 2.6 becomes 3.8."""
    planted = Measured(model="planted", measure="ss", limits=(98.0, 90.0, 100.0))
    twin = Measured(model="balanced", measure="ss", limits=(54.0, low, 60.0))
    assert demo._judgement("ss", planted, twin)[1] is holds


def test_the_builders_find_every_slip_in_the_input_files(built: Built, folder: Path) -> None:
    """Each wrong line is refused once, for its own reason; no other line is refused, and the missing
    embedder is noted.
    """
    refused = {step.name: step.refused for step in built.steps if step.refused}
    assert {name: set(reasons.values()) for name, reasons in refused.items()} == {name: {1} for name in refused}
    assert {name: set(reasons) for name, reasons in refused.items() if name != "stereotypes"} == {
        "CATs, one sentence": {"same_candidates", "empty_candidate", "no_template_fits"},
        "CATs, what comes next": {"blank_in_context"},
        "identities": {"duplicate", "no_part_of_speech"},
        "associations, proposed": {
            "known", "same_meaning", "names_group", "prescriptive", "no_attribute", "refusal",
        },
        "paraphrases": {
            "refusal", "no_blank", "target_lost", "missing_line", "identical", "several_blanks",
            "warning (for people to check)",
        },
    }  # fmt: skip
    assert {"past_tense", "names_target", "other_subject", "duplicate", "terminology"} <= refused["stereotypes"].keys()
    lines = formats.read(folder / "items" / "refused" / "stereotypes.jsonl")
    assert all(isinstance(record, Refused) for record in lines)
    assert any("no-such-embedder" in note for note in built.notes)


def test_names_alone_plant_nothing() -> None:
    """Each group's name is alone once a round, so that no group is likelier without a trait."""
    counts = Counter(World(strength=0.95).names(20))
    assert len(counts) == sum(map(len, SIDES))
    assert set(counts.values()) == {20}
    assert all(len(words_of(text)) == 1 for (text,) in counts)


@pytest.mark.parametrize(("strength", "share"), [(0.95, 0.95), (0.5, 0.5)])
def test_a_world_plants_its_stereotypes_exactly_as_often_as_it_says(strength: float, share: float) -> None:
    """Of 20 rounds, 19 or 10 give every group the planted trait of every pair, in every kind of sentence."""
    planted = other = 0
    for document in World(strength=strength).documents(20):
        words = set(words_of(" ".join(document)))
        for side, groups in enumerate(SIDES):
            if words & {form for group in groups for form in (group, f"{group}s")}:
                planted += any(pair[side] in words for pair in TRAITS)
                other += any(pair[1 - side] in words for pair in TRAITS)
    assert planted / (planted + other) == share


def test_the_careless_and_the_adversarial_are_found(built: Built, folder: Path) -> None:
    """Five of seven people judge every CAT; the two bad ones are to be excluded, and the others agree."""
    cats = judged([cat for cat in of(folder, "intrasentence") if isinstance(cat, Cat)])
    for seed in range(2):
        votes = list(judgements(cats, seed))
        assert set(Counter(vote.item for vote in votes).values()) == {5}
        assert {vote.annotator for vote in votes} == SKILLS.keys()
        people = decide(cats, votes)
        assert people.found
        assert people.alpha_without > 0.6 > people.alpha
        assert people.right > 0.9 * people.decided


def asked(folder: Path, world: str, out: Path, progress: Progress = SILENT) -> dict[str, Interval]:
    """Returns the results of `choose` for the simulated chat model of a world."""
    return chat.choices(world, building.path_of(folder / "items", "pairs"), out, 0, progress)


def test_what_is_planted_in_a_chat_model_is_found_and_nothing_else(built: Built, folder: Path, tmp_path: Path) -> None:
    """Preference, position effect and refusals equal those of each world; swapped worlds are noticed."""
    planted, balanced = (
        {
            name: Measured(model=world, measure=name, limits=(share.value, share.low, share.high))
            for name, share in asked(folder, world, tmp_path / world).items()
        }
        for world in ("planted", "balanced")
    )
    assert planted.keys() == chat.KNOWN.keys()
    for name in chat.KNOWN:
        assert demo._judgement(name, planted[name], balanced[name])[1]
        assert not demo._judgement(name, balanced[name], planted[name])[1]


def test_questions_to_a_chat_model_go_on_where_they_were_stopped(built: Built, folder: Path, tmp_path: Path) -> None:
    """After a stop at 300 of 720 replies, the rerun answers each request once, and the numbers are equal."""

    class Stops(Progress):
        left = 300

        def update(self, parts: int = 1) -> None:
            self.left -= parts
            if not self.left:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asked(folder, "planted", tmp_path / "stopped", Stops())
    assert asked(folder, "planted", tmp_path / "stopped") == asked(folder, "planted", tmp_path / "whole")
    assert len((tmp_path / "stopped" / "received.jsonl").read_text().splitlines()) == 720


def finished(folder: Path) -> dict[str, object]:
    """Returns the results of the demo."""
    results: dict[str, object] = json.loads((folder / "results.json").read_text("utf-8"))
    return results


@pytest.mark.slow
def test_the_demo_finds_every_known_answer_and_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    """ss, CrowS-Pairs, SoFa, SEAT and flips distinguish the worlds; a demo that was killed twice ends equal."""
    done = run_catsofa("demo", "--out", "whole", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(done.stdout)
    assert results["passed"]
    assert sorted(results["people"]["exclude"]) == ["Faye (careless)", "Gus (adversarial)"]
    measures = {(check["model"], check["measure"]) for check in results["checks"]}
    assert {measure for _, measure in measures} == {
        "ss intrasentence", "ss intersentence", "CrowS-Pairs", "SoFa score", "SEAT d", "flips, paraphrase 1",
        "flips, paraphrase 2", *chat.KNOWN,
    }  # fmt: skip
    assert {model for model, _ in measures} == {"causal", "masked", "vectors", "chat"}
    assert all(check["planted"] > 95 for check in results["checks"] if check["measure"].startswith("ss"))
    limits = [
        check["intervals"][world]
        for check in results["checks"]
        for world in ("planted", "balanced")
        if check["measure"] == "SoFa score"
    ]
    assert all(one["high"] < 3 * one["low"] for one in limits)  # 12 stereotypes that are alike
    report = (tmp_path / "whole" / "report.html").read_text("utf-8")
    assert "planted-causal" in report
    for mark in ("models/planted-causal", "runs/planted-masked/intrasentence/report.json"):
        _killed_when(tmp_path / "stopped" / mark, tmp_path)
    again = run_catsofa("demo", "--out", "stopped", "--quiet", cwd=tmp_path)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    whole, stopped = (finished(tmp_path / name) for name in ("whole", "stopped"))
    assert {**whole, "report": ""} == {**stopped, "report": ""}


def _killed_when(mark: Path, folder: Path) -> None:
    """Runs the demo until a file exists, and kills it."""
    program = Path(sys.executable).with_name("catsofa")
    process = subprocess.Popen([program, "demo", "--out", "stopped"], cwd=folder, stderr=subprocess.DEVNULL)
    while not mark.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("model", ["stories260K", "tiny-bert"])
def test_the_demo_asks_a_model_that_is_given(model: str, tmp_path: Path) -> None:
    """A real model without known answers gets the same items, measures and report."""
    if not (MODELS / model).is_dir():
        pytest.skip(f"no {model} in {MODELS}")
    done = run_catsofa("demo", "--model", str(MODELS / model), "--out", "mine", cwd=tmp_path, COLUMNS="80")
    assert done.returncode == 0, done.stderr
    free = ("The report", "  catsofa")
    assert not [line for line in done.stdout.splitlines() if len(line) > 80 and not line.startswith(free)]
    found = finished(tmp_path / "mine")
    assert not found["checks"]
    assert isinstance(found["measured"], list)
    assert {one["measure"] for one in found["measured"]} >= {"ss intrasentence", "CrowS-Pairs", "SoFa score", "SEAT d"}


@pytest.mark.slow
@pytest.mark.labelstudio
def test_the_same_votes_go_through_a_real_server(built: Built, folder: Path, tmp_path: Path) -> None:
    """Tasks are blind, and seven people sign in; pulled judgements equal the votes, and a second run
    needs no server.
    """
    from catsofa.demo.server import through_server

    if not PROGRAM.exists() and servers.executable() is None:
        pytest.skip("no Label Studio server: run make labelstudio")
    cats = judged([cat for cat in of(folder, "intrasentence") if isinstance(cat, Cat)])[:20]
    votes = list(judgements(cats))
    with pytest.MonkeyPatch.context() as patch:
        if PROGRAM.exists():
            patch.setenv(servers.EXECUTABLE, str(PROGRAM))
        brought = through_server(cats, votes, tmp_path / "server", SILENT)
        patch.setenv(servers.EXECUTABLE, "/nowhere")
        assert through_server(cats, votes, tmp_path / "server", SILENT) == brought
    ours, theirs = (sorted(some, key=lambda vote: (vote.item, vote.annotator)) for some in (votes, brought))
    assert decide(cats, theirs) == decide(cats, ours)
