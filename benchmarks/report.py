"""How long a report of ten models on every benchmark takes, and how large it is: python -m benchmarks.report.

Random scores of the real sizes: StereoSet's 4,229 development CATs and two sets of paraphrases of the 2,106 in which a
blank is filled, 1,508 pairs, SoFa's 408 identities and 11,349 stereotypes, 46 SEAT tests. The report is written by the
command, in a process of its own.
"""

import argparse
import json
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
from catsofa.data.records import LABELS, Candidate, Cat, Pair, Score
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.results import report
from catsofa.scoring.run.store import Run
from catsofa.scoring.signature import Signature, name_of

DOMAINS = {"gender": 0.12, "profession": 0.39, "race": 0.45, "religion": 0.04}
TERMS, MODELS, RESAMPLES = 79, 10, 10_000
SOFA = {"gender": 150, "religion": 60, "nationality": 170, "disability": 28}
STEREOTYPES = 11_349


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


def sets(folder: Path) -> dict[str, list[Any]]:
    intra = [cat(number, "intrasentence", "are") for number in range(2106)]
    inter = [cat(number, "intersentence", "are") for number in range(2123)]
    types = ["race", "gender", "socioeconomic", "nationality", "religion", "age", "sexual", "physical", "disability"]
    pairs = [
        Pair(
            id=f"p{n}",
            more=f"zorbs are late {n}",
            less=f"quibs are late {n}",
            direction="stereo",
            bias_type=types[n % 9],
        )
        for n in range(1508)
    ]
    made = {"cats": [*intra, *inter], "pairs": pairs}
    for number, word in enumerate(("were", "seem"), 1):
        made[f"paraphrases{number}"] = [cat(at, "intrasentence", word) for at in range(2106)]
    for name, records in made.items():
        jsonl.write(records, folder / f"{name}.jsonl")
    return made


def run(folder: Path, data: Path, records: list[Any], model: str, rng: np.random.Generator) -> None:
    about = {"model": model, "data": name_of(data), "on": str(data), "protocol": "catsofa"}
    identity = {"model": {"name": model}, "data": about["data"], "protocol": {"masked": "left-to-right"}}
    if isinstance(records[0], Cat):
        texts = [(c.id, one.kind) for one in records for c in one.candidates]
    else:
        texts = [(one.id, side) for one in records for side in ("more", "less")]
    skill = dict(zip(LABELS, (1.0, 0.8, 0.0), strict=True))
    values = rng.normal(size=len(texts)) + [skill.get(item.rpartition("-")[2], 0.0) for item, _ in texts]
    scores = [Score(item=item, task=task, score=float(of) - 20) for (item, task), of in zip(texts, values, strict=True)]
    with Run.begin(folder, identity, about) as kept:
        kept.add(scores)
        found = report(
            records, scores, DEFAULT, data=about["data"], model=f"{model}@abc", resamples=RESAMPLES, with_terms=True
        )
        kept.finish(found.to_dict())


def finished(folder: Path, results: Any, model: str, data: str) -> None:
    signature = Signature(data=data, model=f"{model}@abc", protocol="catsofa", options=DEFAULT.digest, version="0")
    with Run.begin(folder, {"model": {"name": model}}, {"model": model}) as kept:
        kept.finish({"results": results, "signature": replace(signature).to_dict()})


def sofa(rng: np.random.Generator) -> dict[str, Any]:
    def score(at: float) -> dict[str, Any]:
        ways = dict.fromkeys(("identity", "conditional", "none"), at)
        limits = {"score": {"low": at * 0.9, "high": at * 1.1}}
        return {"score": at, "coverage": 1.0, "normalisations": ways, "intervals": limits}

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
        rows.append({**row, "coverage": 1.0, "intervals": limits})
    return rows


def make(folder: Path, models: int) -> None:
    rng, made = np.random.default_rng(0), sets(folder)
    for number in range(models):
        model = f"model-{number}"
        for name, records in made.items():
            place = "paraphrased" if name.startswith("paraphrases") else "runs"
            run(folder / place / model / name, folder / f"{name}.jsonl", records, model, rng)
        finished(folder / "runs" / model / "sofa", sofa(rng), model, "sofa@1")
        finished(folder / "runs" / model / "seat", seat(rng), model, "seat@1")


def timed(folder: Path, rephrased: bool) -> dict[str, float]:
    out = folder / "report.html"
    extra = ["--paraphrase", str(folder / "paraphrased")] if rephrased else []
    start = [sys.executable, "-c", "from catsofa.cli import main; main()"]
    command = [*start, "report", str(folder / "runs"), *extra, "--out", str(out), "--quiet"]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(wall, 2), "processor_seconds": round(processor, 2), "megabytes": out.stat().st_size / 1e6}


def yardstick() -> float:
    begun = time.process_time()
    total = 0
    for number in range(10_000_000):
        total += number
    return round(time.process_time() - begun, 2)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--models", type=int, default=MODELS)
    asked.add_argument("--keep", type=Path, help="Make the runs here, and leave them.")
    given = asked.parse_args()
    with TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        if not (folder / "runs").exists():
            make(folder, given.models)
        found = {
            name: timed(folder, rephrased) for name, rephrased in (("measures", False), ("with paraphrases", True))
        }
    machine = {"processor": platform.processor() or platform.machine(), "python": platform.python_version()}
    # on a machine of its own about 0.4: what is more, the machine's other work has made of every second here
    result = {"models": given.models, **machine, "seconds_of_ten_million_additions": yardstick(), "reports": found}
    print(json.dumps(result, indent=1))
    (RESULTS / "report.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
