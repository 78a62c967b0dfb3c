"""Tests of every writing command under every fault: signals, full disk, unwritable folder; then a rerun.

The commands run as copies of this process, whose imports are done, so that a signal meets work and not an import.
"""

import importlib
import json
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from chaos.killing import ENDS, Ended, Made, Target, differences, run
from chaos.targets import _copy, made
from helpers.commands import little_room, word_vectors
from helpers.crowds import come
from helpers.grammarian import grammarian
from helpers.records import baker, bakers, probes
from helpers.servers import prolific_server

from catsofa import slot_models
from catsofa.annotation.crowd import home
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.prolific import client
from catsofa.annotation.prolific.journal import Entry, Journal
from catsofa.annotation.study import create
from catsofa.data import formats
from catsofa.data.files import jsonl
from catsofa.data.records import Annotation, Association, Identity, Score, Stereotype

COMMANDS = {
    "convert": "convert probes.jsonl out/probes.csv",
    "build terms": "build terms --from terms.csv --term term --uses uses --out out/terms.jsonl",
    "build identities": "build identities --on lexicon --out out/identities.jsonl --refused out/refused.jsonl",
    "build stereotypes": "build stereotypes --on said.tsv --text said --target of --parser none --out out/kept.jsonl "
    "--refused out/refused.jsonl",
    "build probes": "build probes --identities who.jsonl --stereotypes habits.jsonl --out out/probes.jsonl",
    "build probes, shards": "build probes --identities who.jsonl --stereotypes habits.jsonl --out out",
    "build cats": "build cats --associations pairs.csv --out out/cats.jsonl",
    "build fills": "build fills --associations few.csv --model bert --out out/fills.csv --refused out/refused.jsonl",
    "build minimal-pairs": "build minimal-pairs --associations groups.csv --out out/pairs.jsonl",
    "build swaps": "build swaps --sentences women.csv --swap gender --out out/pairs.jsonl",
    "build language-check": "build language-check zh --sheet out/sheet.csv",
    "build seat": "build seat --words weat6 --out out",
    "build pairs": "build pairs --on articles --out out",
    "build paraphrases": "build paraphrases --on few.jsonl --replies replies.json --out out",
    "filter perplexity": "filter perplexity habits.jsonl --scores scores.jsonl --out out/kept.jsonl",
    "filter similarity": "filter similarity rewritten --original few.jsonl --out out --model ./static",
    "filter acceptability": "filter acceptability cats.jsonl --model m --out out/kept.jsonl --review out/review.jsonl",
    "filter near-duplicates": "filter near-duplicates habits.jsonl --out out/kept.jsonl --refused out/twice.jsonl",
    "controls": "controls --on cats.jsonl --out out",
    "baseline stereotyped": "baseline stereotyped --on cats.jsonl --out out/stereotyped.json",
    "plan": "plan early --on cats.jsonl --hypothesis ss>50 --out out/plan.toml",
    "validate votes": "validate votes --on judged.jsonl --cats cats.jsonl --out out/kept.jsonl",
    "validate associations": "validate associations proposed.jsonl --on answers.jsonl --out out/kept.jsonl",
    "validate alt-test": "validate alt-test --on people.csv --judge judges.csv --out out/passed.json",
    "validate split": "validate split cats.jsonl --out out",
    "release": "release few.jsonl --annotations judged.jsonl --out out --name Bakers --licence cc-by-sa-4.0",
    "annotate create": "annotate create out --kind validate-cats --items cats.jsonl --pay 15",
    "annotate forget": "annotate forget out guest03",
    "annotate prolific create": "annotate prolific create out --address https://study.example.org",
    "annotate prolific settle": "annotate prolific settle out --yes",
    "run": "run recipe.toml --set place=out",
    "leaderboard": "leaderboard out --on few.jsonl",
}
CHANGED = {
    "leaderboard": "board",
    "annotate forget": "study",
    "annotate prolific create": "unpublished",
    "annotate prolific settle": "study",
}
"""Commands that change an existing folder."""
DRAWN = ("release", "annotate create", "plan", *CHANGED)
"""Commands that draw a secret or record the time, so that two calls do not write the same bytes."""
ONCE = {
    "annotate create": "found a study",
    "annotate forget": "nobody in",
    "annotate prolific create": "on Prolific already",
    "plan": "never replaced",
}
"""Messages of commands that refuse to repeat finished work."""
ALONE = ("build fills", "filter similarity")
"""Commands that start as programs, because torch's threads do not survive a fork."""
RECIPE = """
place = "here"
[[step]]
run = "convert"
args = ["probes.jsonl", "{place}/probes.csv"]
[[step]]
run = "build probes"
identities = "who.jsonl"
stereotypes = "habits.jsonl"
out = "{place}/probes.jsonl"
"""
IMPORTS = ("inflect", "lemminflect", "spacy", "pyarrow.parquet", "catsofa.scoring.evaluate")
"""Modules that take long to import, and are imported once."""
OPENING = """
[people]
session = 10
[quality]
first = 3
checks_every = 4
[platform]
name = "prolific"
codes = { completed = "DONE1", failed_checks = "FAIL3" }
"""
PEOPLE = 20
"""Number of people of the study that is settled."""
NOWHERE = "/proc/sys/nowhere"
SOON = 0.03
"""Seconds within which a copy becomes the command."""
LITTLE = 512
"""Bytes that a file may have on the simulated full disk."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes the input of the commands: mild items about bakers."""
    folder = tmp_path_factory.mktemp("given")
    cats, ours = [baker(n, f"baker of street {n % 20}") for n in range(400)], formats.named("jsonl")
    ours.write(cats, folder / "cats.jsonl")
    ours.write(cats[:60], folder / "few.jsonl")
    ours.write(probes(8000), folder / "probes.jsonl")
    who = [Identity(category="job", identity=f"Weavers of {n}", form="noun") for n in range(40)]
    ours.write(who, folder / "who.jsonl")
    habits = [Stereotype(text=f"get up at {n} for the bus to town {n * n}", category="job") for n in range(300)]
    ours.write(habits, folder / "habits.jsonl")
    jsonl.write([Score(item=h.id, score=1.0 + n, tokens=3) for n, h in enumerate(habits)], folder / "scores.jsonl")
    replies = [{"id": cat.id, "response": f"1. So {cat.context}\n2. Well, {cat.context}"} for cat in cats[:60]]
    (folder / "replies.json").write_text(json.dumps(replies))
    votes = [(cat, c, n) for cat in cats[:60] for c in cat.candidates for n in range(5)]
    jsonl.write(
        [Annotation(item=c.id, annotator=f"p{n}", label=c.label, extra={"cat": cat.id}) for cat, c, n in votes],
        folder / "judged.jsonl",
    )
    associations(folder)
    lines = "".join(f"zorbs cannot catch bus {n}\tzorbs\n" for n in range(2000))
    (folder / "said.tsv").write_text(f"said\tof\n{lines}")
    (folder / "terms.csv").write_text("term,uses\n" + "".join(f"baker {n},{n}\n" for n in range(1, 2000)))
    (folder / "lexicon").mkdir()
    (folder / "lexicon/planet.csv").write_text("TERM,POS\n" + "".join(f"zorb{n},n\n" for n in range(400)))
    rows = "".join(f"baker {n},job,early,late,cubic\n" for n in range(60))
    (folder / "groups.csv").write_text(
        "target,other,bias_type,stereotype\n" + "".join(f"baker {n},tailor,job,rude\n" for n in range(60))
    )
    (folder / "women.csv").write_text("text,bias_type\n" + "".join(f"She sings {n}.,gender\n" for n in range(2000)))
    (folder / "pairs.csv").write_text(f"target,bias_type,stereotype,anti-stereotype,unrelated\n{rows}")
    (folder / "few.csv").write_text((folder / "pairs.csv").read_text()[:200])
    (folder / "articles").mkdir()
    for number in range(60):
        text = " ".join(f"The baker of street {number} sold {n} loaves today." for n in range(20))
        (folder / f"articles/{number}.txt").write_text(text)
    (folder / "recipe.toml").write_text(RECIPE)
    studies(folder)
    submitted = [{"id": c.id, "score": len(c.label)} for cat in cats[:60] for c in cat.candidates]
    (folder / "board/submissions").mkdir(parents=True)
    for number in range(20):
        predictions = json.dumps({"intrasentence": submitted, "intersentence": []})
        (folder / f"board/submissions/model-{number}.json").write_text(predictions)
    rewritten(folder)
    return folder


def associations(folder: Path) -> None:
    """Writes proposed associations of sixty groups with three answers each, and the labels of three
    people and judges.
    """
    proposals = [Association(identity=f"Bakers of street {n}", attribute="get up early") for n in range(60)]
    jsonl.write(proposals, folder / "proposed.jsonl")
    questions = [(f"{one.id}/association", {"of": one.id, "question": "association"}) for one in proposals]
    jsonl.write(
        [Annotation(item=i, annotator=f"p{n}", label="yes", extra=extra) for i, extra in questions for n in range(3)],
        folder / "answers.jsonl",
    )
    for name, names_ in (("people", "abc"), ("judges", "xyz")):
        rows = "".join(f"{n},{who},{('early', 'late')[n % 2]}\n" for n in range(40) for who in names_)
        (folder / f"{name}.csv").write_text(f"item,annotator,label\n{rows}")


def studies(folder: Path) -> None:
    """Writes a study before its draft on Prolific, and one in which twenty people failed the checks and returned."""
    for name, people in (("unpublished", 0), ("study", PEOPLE)):
        settings = {"items": bakers(40), "checks": bakers(6, "miller"), "contact": "a@example.org"}
        study = create(folder / name, kind="validate-cats", pay=12.0, **settings)
        (study.folder / "study.toml").write_text(OPENING)
        if people:
            answered = {f"guest{n:02}": (10, 0, False) for n in range(people)}
            come(study, Rules(session=10, first=3, check_every=4), answered)
            home.pull(study)
            Journal(study).note(Entry(step="study", id="study1"))


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Iterator[prolific_server.Prolific]:
    """Starts a Prolific on this machine."""
    with prolific_server.serving() as server:
        monkeypatch.setattr(client, "API", server.url)
        monkeypatch.setenv(client.TOKEN, prolific_server.TOKEN)
        yield server


def rewritten(folder: Path) -> None:
    """Writes paraphrases, and a sentence-transformers model with random word vectors that compares them."""
    words = ["the", "baker", "of", "street", "is", "so", "early", "late", *map(str, range(20))]
    word_vectors(folder / "static", words)
    build = COMMANDS["build paraphrases"].removesuffix("out") + "rewritten"
    program = str(Path(sys.executable).with_name("catsofa"))
    subprocess.run([program, *build.split()], cwd=folder, check=True)
    assert (folder / "rewritten/partition_1.jsonl").stat().st_size


def changed(work: Path) -> Made:
    """Returns the content of the folder `out`."""
    return {name: content for name, content in made(work).items() if name.startswith("out")}


def names(work: Path) -> Made:
    """Returns the names of the files, with empty contents."""
    return dict.fromkeys(changed(work), b"")


def finished(
    target: Target,
    work: Path,
    kill: tuple[signal.Signals, float] | None = None,
    *,
    there: prolific_server.Prolific,
    anew: bool,
) -> Ended:
    """Runs the command; if it asks about a lost payment, runs it again with the answer from Prolific."""
    ended = run(target, work, kill, anew)
    if "--lost-payment" in ended.said:
        answer = ("--lost-payment", "paid" if there.paid else "unpaid")
        ended = run(replace(target, arguments=(*target.arguments, *answer)), work, kill, anew)
    return ended


def sentence(ended: Ended, name: str) -> None:
    """Checks for exit code 2 and one sentence at the end of the output."""
    assert ended.code == 2, f"{name} ends with {ended.code}: {ended.said}"
    assert ended.said.splitlines()[-1].startswith("catsofa: "), f"{name} says {ended.said}"
    assert "Traceback" not in ended.said, f"{name} says {ended.said}"


@pytest.mark.parametrize("name", COMMANDS)
def test_whatever_happens_to_a_command_it_is_run_again_and_ends_the_same(
    name: str,
    given: Path,
    tmp_path: Path,
    there: prolific_server.Prolific,
    request: pytest.FixtureRequest,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A full disk and a read-only place give one sentence; signals at random moments leave no incomplete file and the
    same end.
    """
    monkeypatch.setattr(slot_models, "around", grammarian)
    if name == "build fills":
        shutil.copytree(request.getfixturevalue("shared") / "models/tiny-bert", given / "bert", dirs_exist_ok=True)
    for module in IMPORTS:
        importlib.import_module(module)
    with capfd.disabled():
        disturbed(name, given, tmp_path, there)


def disturbed(name: str, given: Path, tmp_path: Path, there: prolific_server.Prolific) -> None:
    """Runs a command under each fault, and again without it."""

    def prepare(work: Path) -> None:
        _copy(given, work)
        if name in CHANGED:
            (work / CHANGED[name]).rename(work / "out")
        for table in (there.studies, there.submissions, there.payments, there.paid, there.times):
            table.clear()
        there.studies["study1"] = {"id": "study1", "status": "ACTIVE"}
        for n in range(PEOPLE):
            there.hand_in(f"S-guest{n:02}", f"PID-guest{n:02}", "RETURNED")

    def left(work: Path) -> Made:
        files = names(work) if name in DRAWN else changed(work)
        return {**files, "bonuses": sorted(there.times.items())}

    target = Target(name, tuple(COMMANDS[name].split()), prepare, left)

    def fresh(which: str) -> Path:
        (tmp_path / which).mkdir()
        target.prepare(tmp_path / which)
        return tmp_path / which

    once = partial(finished, there=there, anew=name in ALONE)
    usual = once(target, fresh("usual"))
    assert usual.code == 0, usual.said
    expected = target.made(tmp_path / "usual")
    assert len(expected) > 1

    nowhere = (re.sub(r"(?<![^=])out(?![^/])", NOWHERE, word) for word in target.arguments)
    sentence(once(replace(target, arguments=tuple(nowhere)), fresh("nowhere")), f"{name} in a place that takes nothing")
    shutil.rmtree(tmp_path / "nowhere")

    work = fresh("full")
    with little_room(LITTLE):
        sentence(once(target, work), f"{name} without room")
    assert once(target, work).code == 0
    assert differences(expected, target.made(work)) == []

    def whole(ended: Ended) -> bool:
        """Returns True if a command says that its work is done: the earlier signal came after the last file."""
        return name in ONCE and ONCE[name] in ended.said

    rng = random.Random(name)
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        work = fresh(sent.name)
        for _ in range(2):
            ended = once(target, work, (sent, rng.uniform(SOON, usual.took)))
            done = ended.code == 0 or whole(ended)
            assert done or ended.code in ENDS[sent], f"{name} after {sent.name} ends with {ended.code}: {ended.said}"
            assert "Traceback" not in ended.said, ended.said
            if done:
                shutil.rmtree(work)
                fresh(sent.name)
        ended = once(target, work)
        assert ended.code == 0 or whole(ended), ended.said
        assert differences(expected, target.made(work)) == [], f"{name} after {sent.name}"
