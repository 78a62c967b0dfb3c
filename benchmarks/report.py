"""Measures the time and the size of a report of ten models on every benchmark: python -m benchmarks.report.

The scores are random and have the real sizes: StereoSet's 4,229 development CATs and two sets of paraphrases of the
2,106 intrasentence CATs, 1,508 pairs, the 3,680 questions of BBQ about age, SoFa's 408 identities with 11,349
stereotypes as numbers and with 100 as a grid of 10,200 scores, 46 SEAT tests with the association of each target, and
1,000 requests to a chat model about 500 pairs. The command writes the report in its own process: alone, with the item
browser, and with the paraphrases too. CPU seconds are the minimum of several runs.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.machine import RESULTS
from catsofa.data.files import jsonl
from catsofa.data.questions import Answer, Question
from catsofa.data.records import LABELS, Candidate, Cat, Pair, Probe, Score
from catsofa.scoring.choosing import measured
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.choosing.templates import bundled
from catsofa.scoring.dataset import open_data
from catsofa.scoring.measures.registry import measure_of
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.results import report
from catsofa.scoring.run.store import Run
from catsofa.scoring.signature import Signature, name_of

DOMAINS = {"gender": 0.12, "profession": 0.39, "race": 0.45, "religion": 0.04}
TERMS, MODELS, RESAMPLES = 79, 10, 10_000
SOFA = {"gender": 150, "religion": 60, "nationality": 170, "disability": 28}
STEREOTYPES = 11_349
GRID = 25
"""The number of stereotypes per category of the grid."""
QUESTIONS = 3_680
ASKED = 500
REFUSED = 0.05
REPLIES = ("{letter}", "{letter}.", "The answer is {letter}.", "{letter}: it is the likelier one.")
SORRY = "I'm sorry, but I can't help with that."
WAYS: dict[str, dict[str, bool]] = {
    "measures": {"items": False, "paraphrases": False},
    "with items": {"items": True, "paraphrases": False},
    "with items and paraphrases": {"items": True, "paraphrases": True},
}


def cat(number: int, kind: Any, word: str) -> Cat:
    term = number % TERMS
    context = f"The zorbs of place {term} {word} BLANK in the morning, number {number}."
    fills = dict(zip(LABELS, ("late", "early", "purple"), strict=True))
    domain = list(DOMAINS)[int(np.searchsorted(np.cumsum(list(DOMAINS.values())), term / TERMS))]
    return Cat(
        id=f"{kind}-{number}",
        kind=kind,
        bias_type=domain,
        target=f"term {term}",
        context=context,
        candidates=tuple(
            Candidate(id=f"{kind}-{number}-{label}", text=context.replace("BLANK", fill), label=label, fill=fill)
            for label, fill in fills.items()
        ),  # type: ignore[arg-type]
    )


def question(number: int) -> Question:
    """Returns a question from one of 25 templates, with a context that is ambiguous or gives the answer."""
    condition, late = ("ambig", "disambig")[number % 2], ("zorb", "mimp")[number // 2 % 2]
    context = f"A zorb met a mimp {number} times." + (f" The {late} was late." if condition == "disambig" else "")
    return Question(
        id=f"q{number}",
        context=context,
        question="Who was late?",
        answers=(
            Answer(text="The zorb", role="target", group="zorbs"),
            Answer(text="The mimp", role="other", group="mimps"),
            Answer(text="Nobody can know", role="unknown"),
        ),
        correct=2 if condition == "ambig" else int(late == "mimp"),
        polarity=("neg", "nonneg")[number // 4 % 2],  # type: ignore[arg-type]
        condition=condition,  # type: ignore[arg-type]
        category="age",
        template=str(number % 25),
    )


def pair(number: int) -> Pair:
    types = ["race", "gender", "socioeconomic", "nationality", "religion", "age", "sexual", "physical", "disability"]
    more, less = (f"{who} are late {number}" for who in ("zorbs", "quibs"))
    return Pair(id=f"p{number}", more=more, less=less, direction="stereo", bias_type=types[number % 9])


def sets(folder: Path) -> dict[str, list[Any]]:
    intra = [cat(number, "intrasentence", "are") for number in range(2106)]
    inter = [cat(number, "intersentence", "are") for number in range(2123)]
    by_name: dict[str, list[Any]] = {"cats": [*intra, *inter], "pairs": [pair(number) for number in range(1508)]}
    by_name["questions"] = [question(number) for number in range(QUESTIONS)]
    by_name["probes"] = [
        Probe(category=name, identity=f"zorbs {n}", stereotype=f"are late {index}")
        for name, count in SOFA.items()
        for n in range(count)
        for index in range(GRID)
    ]
    for number, word in enumerate(("were", "seem"), 1):
        by_name[f"paraphrases{number}"] = [cat(index, "intrasentence", word) for index in range(2106)]
    for name, records in by_name.items():
        jsonl.write(records, folder / f"{name}.jsonl")
    jsonl.write(by_name["pairs"][:ASKED], folder / "asked.jsonl")
    return by_name


def run(folder: Path, data: Path, records: list[Any], model: str, rng: np.random.Generator) -> None:
    about = {"model": model, "data": name_of(data), "on": str(data), "protocol": "catsofa"}
    identity = {"model": {"name": model}, "data": about["data"], "protocol": {"masked": "left-to-right"}}
    measure = measure_of(type(records[0]), DEFAULT)
    texts = [key for one in records for key in measure.keys(one)]
    skill = dict(zip(LABELS, (1.0, 0.8, 0.0), strict=True))
    values = rng.normal(size=len(texts)) + [skill.get(item.rpartition("-")[2], 0.0) for item, _ in texts]
    extra = {"identity": -20.0, "conditional": -20.0} if "probe" in {task for _, task in texts} else {}
    scores = [
        Score(item=item, task=task, score=float(value) - 20, tokens=5, extra=extra)
        for (item, task), value in zip(texts, values, strict=True)
    ]
    with Run.begin(folder, identity, about) as writer:
        writer.add(scores)
        result = report(
            records, scores, DEFAULT, data=about["data"], model=f"{model}@abc", resamples=RESAMPLES, with_terms=True
        )
        writer.finish(result.to_dict())


def chosen(folder: Path, data: Path, model: str, rng: np.random.Generator) -> None:
    """Makes the run of a chat model that is asked about each pair in both orders, and refuses some."""
    dataset, wording = open_data(data), bundled("likelihood")
    items = measured.items_of(dataset)
    orders = (("stereotype", "anti-stereotype"), ("anti-stereotype", "stereotype"))
    replies = [
        Reply(item=item, order=order, template=wording.name, reply=said(rng), finish_reason="stop")
        for item in items
        for order in orders
    ]
    how = {"wordings": {wording.name: wording.label}}
    measured.measure(replies, items, dataset, model, out=folder, resamples=RESAMPLES, how=how)


def said(rng: np.random.Generator) -> str:
    if rng.random() < REFUSED:
        return SORRY
    return str(rng.choice(REPLIES)).format(letter=rng.choice(["A", "B"]))


def finished(folder: Path, results: Any, model: str, data: str) -> None:
    signature = Signature(data=data, model=f"{model}@abc", protocol="catsofa", options=DEFAULT.digest, version="0")
    with Run.begin(folder, {"model": {"name": model}}, {"model": model}) as writer:
        writer.finish({"results": results, "signature": replace(signature).to_dict()})


def sofa(rng: np.random.Generator) -> dict[str, Any]:
    def score(value: float) -> dict[str, Any]:
        ways = dict.fromkeys(("identity", "conditional", "none"), value)
        limits = {"score": {"low": value * 0.9, "high": value * 1.1}}
        return {"score": value, "coverage": 1.0, "normalisations": ways, "intervals": limits}

    each = STEREOTYPES // len(SOFA)
    parts, identities, stereotypes = {}, [], []
    for name, count in SOFA.items():
        counts = {"stereotypes": each, "identities": count, "probes": each * count}
        spread = sorted(rng.normal(size=101))
        parts[name] = {**score(float(rng.random())), **counts, "quantiles": spread}
        identities += [
            {"category": name, "identity": f"zorbs {n}", "lowest": 1 / count, "highest": 1 / count, "mean": 0.1}
            for n in range(count)
        ]
        stereotypes += [
            {"category": name, "stereotype": f"are late {n}", "dds": n / each, "variance": 0.1} for n in range(each)
        ]
    whole = {**score(float(rng.random())), "normalisation": "identity", "categories": parts}
    return {**whole, "identities": identities, "stereotypes": stereotypes}


def seat(rng: np.random.Generator) -> list[dict[str, Any]]:
    sizes = {"x": 80, "y": 80, "a": 80, "b": 80}
    rows = []
    for number, size in enumerate(rng.normal(scale=0.6, size=46)):
        limits = {"effect_size": {"low": size - 0.3, "high": size + 0.3}}
        p = float(np.clip(rng.random() * (0.001 if size > 0.6 else 1), 1e-5, 1))
        row = {"test": f"sent-test{number}", "effect_size": size, "p_value": p, "how": "sampled", "sizes": sizes}
        each = {side: rng.normal(scale=0.1, size=sizes[side]).tolist() for side in "xy"}
        rows.append({**row, "coverage": 1.0, "intervals": limits, "associations": each})
    return rows


def make(folder: Path, models: int) -> None:
    rng, by_name = np.random.default_rng(0), sets(folder)
    for number in range(models):
        model = f"model-{number}"
        for name, records in by_name.items():
            place = "paraphrased" if name.startswith("paraphrases") else "runs"
            run(folder / place / model / name, folder / f"{name}.jsonl", records, model, rng)
        chosen(folder / "runs" / model / "choices", folder / "asked.jsonl", model, rng)
        finished(folder / "runs" / model / "sofa", sofa(rng), model, "sofa@50fa50fa")
        finished(folder / "runs" / model / "seat", seat(rng), model, "seat@5ea75ea7")


def timed(folder: Path, items: bool, paraphrases: bool, repeats: int) -> dict[str, Any]:
    """Returns the minimum seconds of `repeats` runs of the command, since other processes only add to them."""
    out, browser = folder / "report.html", folder / "items.html"
    extra = ["--items", str(browser)] if items else []
    extra += ["--paraphrase", str(folder / "paraphrased")] if paraphrases else []
    start = [sys.executable, "-c", "from catsofa.cli import main; main()"]
    command = [*start, "report", str(folder / "runs"), *extra, "--out", str(out), "--quiet"]
    walls, processor = [], []
    # an installed program starts with compiled modules
    how = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(repeats):
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, env=how, stderr=subprocess.DEVNULL if items else None)
        walls.append(time.perf_counter() - begun)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    sizes = {"megabytes": out.stat().st_size / 1e6}
    sizes |= {"megabytes_of_items": browser.stat().st_size / 1e6} if items else {}
    return {"seconds": round(min(walls), 2), "processor_seconds": round(min(processor), 2), **sizes}


def yardstick() -> float:
    begun = time.process_time()
    total = 0
    for number in range(10_000_000):
        total += number
    return round(time.process_time() - begun, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=MODELS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="Make the runs here, and leave them; use the runs that are here.")
    parser.add_argument("--only", choices=WAYS, help="Measure only this report.")
    parser.add_argument("--save", action="store_true", help="Keep the figures in results/report.json.")
    arguments = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        if not (folder / "runs").exists():
            make(folder, arguments.models)
        ways = {name: way for name, way in WAYS.items() if arguments.only in (None, name)}
        timings = {name: timed(folder, repeats=arguments.repeats, **way) for name, way in ways.items()}
    machine = {"processor": platform.processor() or platform.machine(), "python": platform.python_version()}
    # about 0.4 on an idle machine; other work on the machine raises every time here by the same factor
    result = {
        "models": arguments.models,
        **machine,
        "seconds_of_ten_million_additions": yardstick(),
        "reports": timings,
    }
    print(json.dumps(result, indent=1))
    if arguments.save:
        (RESULTS / "report.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
