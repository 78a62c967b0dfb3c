"""Tests that a running server does not read the program's files again, because they may change meanwhile."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
SCRIPT = """
import re, sys
from pathlib import Path
from dataclasses import replace
from helpers.records import bakers
from helpers.servers.crowd_owner import served
from helpers.servers.crowd_server import Visitor, shown_truth
from catsofa.annotation.study import create
from catsofa.data.files import jsonl

root, opened, noting = Path(sys.argv[2]).resolve(), [], []

def noted(event, about):
    if noting and event == "open" and isinstance(about[0], str):
        path = Path(about[0]).resolve()
        if path.is_relative_to(root) and not {"tests", ".venv"} & {*path.relative_to(root).parts}:
            opened.append(str(path.relative_to(root)))

sys.addaudithook(noted)
about = {"overlap": 2, "contact": "a@example.org", "language": "de"}
study = create(Path(sys.argv[1]), kind="validate-cats", items=bakers(2), **about)
(study.folder / "study.toml").write_text('[platform]\\nname = "prolific"\\ncodes = { completed = "C" }\\n'
    '[questionnaire]\\nbundled = ["age_band", "country"]\\n[practice]\\nfile = "practice.jsonl"\\n')
taught = [replace(cat, extra={"reason": "Cubic is no trait."}) for cat in bakers(1, "weaver")]
jsonl.write(taught, study.folder / "practice.jsonl")
truth = shown_truth(study)
with served(study) as owner:
    noting.append(True)
    assert owner.browser.get("/").status_code == 400
    for name, judge in (("A", truth), ("B", lambda shown: dict.fromkeys(truth(shown), "unrelated"))):
        person = Visitor(owner.address, name)
        person.come()
        person.browser.post("/about-you", data={})
        given, words = person.next(), (" early ", " late ", " cubic ")
        options = [given["task"][f"option_{n}"] for n in (1, 2, 3)]
        found = [next(place for place, word in enumerate(words) if word in option) for option in options]
        labels = ("stereotype", "anti-stereotype", "unrelated")
        answers = {f"label_{n}": labels[place] for n, place in enumerate(found, 1)}
        person.post("/answer", {"nonce": given["nonce"], "answers": answers})
        person.work(judge)
        for path in ("/work", "/done", "/page.css", "/work.js", "/nothing"):
            person.browser.get(path)
    owner.enter()
    owner.page("/owner/item/" + re.search(r"/owner/item/(\\w+)", owner.page())[1])
    owner.page("/owner/person/" + re.search(r"/owner/person/(\\w+)", owner.page())[1])
    noting.clear()
print(*sorted(set(opened)), sep="\\n")
"""


@pytest.mark.slow
def test_nothing_of_the_program_is_read_while_people_work(tmp_path: Path) -> None:
    """Consent, questions, practice, work and end in German, and all owner's pages, open no file of the program."""
    program = TESTS.parent
    run = [sys.executable, "-c", SCRIPT, str(tmp_path / "study"), str(program)]
    done = subprocess.run(
        run, capture_output=True, text=True, cwd=TESTS, env={**os.environ, "PYTHONPATH": str(TESTS)}, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
