"""Fuzz tests of other external inputs: tables, replies, recipes, prices, runs, results of crowds."""

import json
import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.labelled_texts import planted_rows
from helpers.mutations import MUTATIONS
from helpers.records import bakers

from catsofa import planning, recipes
from catsofa.annotation import study
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.study import rows
from catsofa.builders import association_tests, cats, terms
from catsofa.builders.cats import proposed, templates
from catsofa.builders.paraphrases import recorded, replies
from catsofa.builders.probes import perplexity_filter
from catsofa.builders.similarity import calibration
from catsofa.builders.stereotypes import files
from catsofa.builders.terms import wikidata
from catsofa.data.files import jsonl
from catsofa.data.files.append_log import AppendLog
from catsofa.data.language import word_numbers
from catsofa.data.servers import prices
from catsofa.data.servers.requests import completion
from catsofa.planning.hypotheses import parse
from catsofa.scoring.choosing import replies as choices
from catsofa.scoring.models import static_vectors
from catsofa.scoring.run import manifest as run_manifest
from catsofa.scoring.run import score_files
from catsofa.scoring.sentiment import texts as labelled
from catsofa.scoring.served import replies as served_replies

RECIPE = 'out = "study"\n[[step]]\nrun = "build probes"\nidentities = "{out}/i.jsonl"\nargs = ["a"]\njson = true\n'
TEMPLATES = '[[templates]]\ncontext = "The {target} is BLANK."\nblank = "adjective"\ntakes = "person"\n'
WORDS = """
[sets]
Birds = ["wren", "robin"]
Fish = ["trout", "carp"]
Kind = ["kind", "gentle"]
Rude = ["rude", "harsh"]
[tests]
birds = ["Birds", "Fish", "Kind", "Rude"]
[kinds]
adjective = ["kind", "gentle", "rude", "harsh"]
"""
REPLY = {"choices": [{"message": {"content": "The zorb was BLANK."}, "finish_reason": "stop"}], "usage": {"x": 1}}
ECHO = {"choices": [{"logprobs": {"tokens": ["a", " b"], "token_logprobs": [None, -1.5]}}], "usage": {}}
VLLM = {"choices": [{"prompt_logprobs": [None, {"7": {"logprob": -1.5, "decoded_token": "b"}}]}]}
RAW = Raw(annotation="a", updated="2026-01-01", token="t", annotator="ls-1", at="2026-01-01", result=[{"x": 1}])
CATS = bakers(2)
LABELLED = planted_rows(60)
DUMP = (
    "<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P106> "
    "<http://www.wikidata.org/entity/Q2> .\n"
    '<http://www.wikidata.org/entity/Q2> <http://www.w3.org/2000/01/rdf-schema#label> "baker"@en .\n'
)


def as_json(read: Callable[[Any], Any]) -> Callable[[Path], Any]:
    """Returns a reader of a reply in a JSON file, because clients check for JSON before."""

    def of(path: Path) -> Any:
        try:
            reply = json.loads(path.read_bytes())
        except (ValueError, RecursionError):
            raise ValueError("no JSON") from None
        return read(reply)

    return of


def vllm(reply: Any) -> Any:
    """Reads a reply of a server in vLLM's format, with a list of choices as the client ensures."""
    if not isinstance(reply, dict) or not isinstance(reply.get("choices"), list):
        raise ValueError("no choices")
    return served_replies.read(reply, "prompt_logprobs")


def echoed(reply: Any) -> Any:
    """Reads a reply in OpenAI's format."""
    if not isinstance(reply, dict) or not isinstance(reply.get("choices"), list):
        raise ValueError("no choices")
    return served_replies.read(reply, "echo")


def log(path: Path) -> Any:
    """Reads a journal as the next run opens it."""
    with AppendLog(path, "a journal") as opened:
        return list(opened.read("key"))


def a_study(path: Path) -> Any:
    """Opens a study by its settings."""
    (path.parent / "study.json").write_bytes(path.read_bytes())
    return study.open_study(path.parent)


def manifest(path: Path) -> Any:
    """Reads the manifest of a run."""
    (path.parent / "manifest.json").write_bytes(path.read_bytes())
    return run_manifest.read_manifest(path.parent)


def text(path: Path) -> str:
    """Reads a reply as text."""
    return path.read_bytes().decode("utf-8", "replace")


STUDY = {"kind": "validate-cats", "title": "Bakers", "url": "u", "secret": "s", "overlap": 5, "seconds": 9, "pay": 15}
PLAN = planning.Plan(
    made="2026-01-01T00:00:00+00:00",
    version="0.2.0",
    models=("a@0123456789ab", "b"),
    data=("cats.jsonl@0123456789ab",),
    protocols=("catsofa@0123456789ab",),
    hypotheses=("ss > 50",),
    margins={"ss": 1.0},
    tests=(planning.Test(parse("ss(b) > 50"), "cats.jsonl@0123456789ab", "catsofa@0123456789ab"),),
).to_toml()
PARSERS: dict[str, tuple[str, str | bytes, Callable[[Path], Any]]] = {
    "recipe": ("r.toml", RECIPE, recipes.read),
    "templates": ("t.toml", TEMPLATES, templates.read),
    "associations": (
        "a.csv",
        "target,bias_type,stereotype,anti-stereotype,unrelated\nbaker,job,early,late,cubic\n",
        lambda p: list(cats.read_associations(p)),
    ),
    "proposed associations": (
        "a.jsonl",
        json.dumps({"identity": "bakers", "attribute": "early", "extra": {"bias_type": "job"}}) + "\n",
        lambda p: list(proposed.read(p)),
    ),
    "zipf values": ("f.tsv", "early\t5.2\nlate\t3\n", word_numbers.read_zipf),
    "word counts": ("c.tsv", "early\t12\nlate\t3\n", word_numbers.read_counts),
    "words": ("w.txt", "early\nlate\n", cats.read_words),
    "word tests": ("w.toml", WORDS, lambda p: list(association_tests.read(p))),
    "judged pairs": ("j.tsv", "sentence1\tsentence2\tscore\nA baker.\tThe baker.\t4.5\n", calibration.read_judged),
    "perplexities": (
        "p.jsonl",
        '{"item": "a", "task": "ppl", "score": 3.5, "tokens": 2}\n',
        lambda p: perplexity_filter.read_scores([p]),
    ),
    "prices": (
        "p.toml",
        '[models]\n"m" = { prompt = 1.0, completion = 2.0 }\n',
        lambda p: prices.price_of("m", None, p),
    ),
    "recorded replies": (
        "r.json",
        json.dumps([{"id": CATS[0].id, "response": "x"}]),
        lambda p: list(recorded.read(p, CATS)),
    ),
    "replies": ("r.txt", "1. The zorb was BLANK.\n2. A zorb is BLANK.\n", lambda p: replies.parse(text(p))),
    "chat": ("c.json", json.dumps(REPLY), as_json(lambda body: replies.reply_of(completion(body)))),
    "choices": ("c.jsonl", '{"item": "i", "order": ["stereotype"], "reply": "A"}', lambda p: list(choices.read(p))),
    "vllm": ("v.json", json.dumps(VLLM), as_json(vllm)),
    "echo": ("e.json", json.dumps(ECHO), as_json(echoed)),
    "statements": (
        "s.tsv",
        "statement\ttarget\nbakers are early\tbakers\n",
        lambda p: list(files.read_statements(p, "statement", "target")),
    ),
    "terms": ("t.csv", "term,uses\nbaker,10\n", lambda p: list(terms.read_terms(p, "term", "uses"))),
    "merge map": ("m.toml", '"assistant baker" = "baker"\n', terms.read_merge_map),
    "wikidata": ("d.nt", DUMP, lambda p: list(wikidata.dump_terms(p, "P106"))),
    "scores": ("s.jsonl", '{"item": "a", "task": "more", "score": -1.5, "tokens": 2}\n', score_files.read_scores),
    "vectors": (
        "v.txt",
        "2 3\nearly 0.1 0.2 0.3\nlate 1 2 3\n",
        lambda p: static_vectors.read_word_vectors(p, {"early", "late"}),
    ),
    "journal": ("j.jsonl", '{"key": "a", "reply": {}}\n{"key": "b", "reply": {}}\n', log),
    "answers": ("raw.jsonl", jsonl.dumps(RAW) + b"\n", lambda p: list(rows.read(p, Raw))),
    "study": ("given.json", json.dumps(STUDY), a_study),
    "plan": ("p.toml", PLAN, planning.read),
    "classes": ("l.csv", "text,label\n" + "".join(f"{text},{label}\n" for text, label in LABELLED), labelled.read),
    "classes by line": (
        "l.jsonl",
        "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in LABELLED),
        labelled.read,
    ),
    "manifest": ("given.json", json.dumps({"identity": {"a": 1}, "about": {}}), manifest),
}
TAKES_ALL = ("replies", "wikidata")
"""Any text is a reply, and the value reports the invalid parts; a dump may have lines about anything."""


def fuzz(count: int, seed: int, folder: Path) -> Counter[str]:
    """Gives each parser so many mutations of its file and returns the counts of outcomes."""
    rng, came = random.Random(seed), Counter[str]()
    for name, (file, sample, read) in PARSERS.items():
        good = sample if isinstance(sample, bytes) else sample.encode()
        (folder / file).write_bytes(good)
        came[f"{name}: sample {outcome(read, folder / file, name)}"] += 1
        for number in range(count):
            raw = good
            for _ in range(rng.randint(1, 3)):
                raw = rng.choice(MUTATIONS)(raw, rng) or b"\n"
            (folder / file).write_bytes(raw)
            came[f"{name}: {outcome(read, folder / file, f'{name}, seed {seed}, {number}: {raw[:300]!r}')}"] += 1
    return came


def outcome(read: Callable[[Path], Any], path: Path, case: str) -> str:
    """Returns "read" or "refused"; any other exception than catsofa's own error fails the test."""
    try:
        read(path)
    except ValueError as error:
        if type(error) is not ValueError and not type(error).__module__.startswith("catsofa."):
            pytest.fail(f"{type(error).__name__}: {error} ({case})")
        if len(str(error)) > 1000 or "\n" in str(error):
            pytest.fail(f"no sentence: {error} ({case})")
        return "refused"
    except Exception as error:  # noqa: BLE001 - whatever else it is, it is what this test looks for
        pytest.fail(f"{type(error).__name__}: {error} ({case})")
    return "read"


def test_whatever_is_read_from_outside_is_read_or_refused(tmp_path: Path) -> None:
    """60 mutations of a good file for each parser give a value or one sentence; the good file is read."""
    came = fuzz(60, seed=3, folder=tmp_path)
    for name in PARSERS:
        assert came[f"{name}: sample read"]
        assert came[f"{name}: refused"] or name in TAKES_ALL


@pytest.mark.slow
def test_many_mutations_are_read_or_refused(tmp_path: Path) -> None:
    """The same test runs with 2,000 other mutations, or as many as CATSOFA_FUZZ says."""
    fuzz(int(os.environ.get("CATSOFA_FUZZ", "2000")), seed=30, folder=tmp_path)
