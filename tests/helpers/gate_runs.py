"""Finished runs with planted outcomes, for the regression gate and for plans."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.content import content_of
from catsofa.data.digests import json_digest
from catsofa.data.files import jsonl
from catsofa.data.records import Cat, Score
from catsofa.planning.outcome import Outcome
from catsofa.scoring.dataset import SCHEME
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.protocols import DEFAULT, Protocol
from catsofa.scoring.results import report
from catsofa.scoring.run.store import Run
from helpers.records import PAIRS, PROBES, TEST, a_cat
from helpers.tiny_models import BUILDERS

ORDERS = {"+": (-1.0, -2.0, -3.0), "-": (-2.0, -1.0, -3.0), "u": (-2.0, -3.0, -1.0), "=": (-2.0, -2.0, -3.0)}
"""Scores by preference: the stereotype, the anti-stereotype, the unrelated candidate, or a tie."""
BEFORE, AFTER = "2001-01-01T00:00:00+00:00", "2099-01-01T00:00:00+00:00"
"""Times long before and long after every run."""


def runs_of_two(root: Path) -> Path:
    """Writes two tiny models, and runs of both on pairs, probes and association tests."""
    formats.named("jsonl").write(PAIRS, root / "pairs.jsonl")
    formats.named("jsonl").write(PROBES, root / "probes.jsonl")
    formats.named("seat").write([TEST], root / "tests")
    for name in ("gpt2", "llama"):
        (root / name).mkdir()
        BUILDERS[name](root / name)
        for data in ("pairs.jsonl", "probes.jsonl", "tests"):
            evaluate(str(root / name), root / data, out=root / "runs" / name / data.split(".")[0], resamples=20)
    return root


def cats(terms: int = 20, items: int = 10, domains: Sequence[str] = ("trade", "planet")) -> list[Cat]:
    """Returns CATs about invented groups, with the terms of each domain in turn."""
    return [
        a_cat(f"Dravian {term} is BLANK on day {item}.", target=f"dravian {term}", id=f"{term}-{item}",
              ids=f"{term}-{item}/", bias_type=domains[term % len(domains)])
        for term in range(terms)
        for item in range(items)
    ]  # fmt: skip


def planted(
    folder: Path,
    data: Path,
    prefers: Callable[[Cat], str],
    *,
    model: str = "dravian-lm",
    protocol: Protocol = DEFAULT,
    model_digest: str = "",
    without: str = "",
) -> Path:
    """Writes a finished run on the CATs of a file, of a model with these preferences and no score in one domain."""
    records = list(jsonl.read(data, Cat))
    scores = [
        Score(item=candidate.id, task=cat.kind, score=score)
        for cat in records
        if cat.bias_type != without
        for candidate, score in zip(cat.candidates, ORDERS[prefers(cat)], strict=True)
    ]
    digest = content_of(records).digest
    named = f"{data.name}@{digest[:12]}"
    digest_of_model = model_digest or json_digest([score.score for score in scores], 12)
    about = {"model": model, "data": named, "on": str(data), "protocol": protocol.name}
    identity = {"model": {"name": model}, "data": SCHEME + digest, "protocol": {"masked": protocol.stereoset.masked}}
    with Run.begin(folder, identity, about) as run:
        run.add(scores)
        result = report(
            records,
            scores,
            protocol,
            data=named,
            model=f"{model}@{digest_of_model}",
            resamples=50,
            with_terms=True,
        )
        run.finish(result.to_dict())
    return folder


def even(cat: Cat) -> str:
    """Prefers the stereotype of every other item: ss 50."""
    return "+-"[sum(number(cat)) % 2]


def number(cat: Cat) -> tuple[int, int]:
    """Returns the number of the term of a CAT, and the number of the CAT."""
    term, _, item = cat.id.partition("-")
    return int(term), int(item)


def worse(cat: Cat) -> str:
    """Prefers with ss 70 in the domain of trades, whose terms are even, and 50 elsewhere."""
    term, item = number(cat)
    return "+" if term % 2 == 0 and item in (0, 1, 2, 3) else even(cat)


def more(cat: Cat) -> str:
    """Returns a preference with ss 60, and 70 in the domain of trades, whose terms are even."""
    term, item = number(cat)
    return "+" if item < (7 if term % 2 == 0 else 5) + (term % 3 - 1) else "-"


def ran(*arguments: object) -> tuple[int, str]:
    """Returns the exit code and the output of `catsofa`; 2 and the message for an error."""
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exception is None or isinstance(done.exception, SystemExit | ValueError), done.exception
    if isinstance(done.exception, ValueError):
        return 2, str(done.exception)
    return done.exit_code, done.output


def checked(*arguments: object) -> tuple[int, dict[str, Any]]:
    """Returns the exit code and the JSON of `check --json`."""
    done = CliRunner().invoke(app, ["check", *map(str, arguments), "--json"])
    return done.exit_code, json.loads(done.stdout)


def by_name(found: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Returns the tests of the first run by measure and set."""
    return {(test["measure"], test["set"]): test for test in found["runs"][0]["tests"]}


def by_test(found: Outcome) -> dict[str, Any]:
    """Returns the tests by their hypothesis."""
    return {str(one.test.hypothesis): one for one in found.tests}


def departures(found: Outcome) -> list[tuple[str, str]]:
    """Returns each departure from the plan with its model."""
    return [(one.what, one.cell[0].partition("@")[0]) for one in found.departures]
