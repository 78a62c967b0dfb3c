"""Measures the builders of stereotypes and of probe grids: python -m benchmarks.builders [--read 200].

Statements: those of BiasAsker, with the small pipeline of the shared folder; CPU seconds of one thread, refusals by
reason. Round trip: a BiasAsker group before an accepted predicate must give the predicate back, with and without the
target of the row. Probes: the size of SoFa, 408 identities and 11,349 stereotypes in four categories; peak memory.
`--read` prints this many accepted stereotypes, chosen by the seed, so that a person can count the malformed ones.
"""

import argparse
import json
import os
import random
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

from benchmarks.machine import RESULTS
from catsofa.builders import probes, refusals, stereotypes
from catsofa.builders.stereotypes.parsing import Parser, spacy_parser
from catsofa.data import formats
from catsofa.data.records import Identity, Refused, Statement, Stereotype, Term

FILE = RESULTS / "builders.json"
SHARED = Path(os.environ.get("CATSOFA_SHARED", Path(__file__).parent.parent.parent / "shared"))
BIASASKER = SHARED / "data" / "sbic" / "biasasker"
SOFA = {"religion": (14, 2500), "gender": (115, 3400), "nationality": (224, 4600), "disability": (55, 849)}
"""Numbers of identities and stereotypes per category; the paper prints their sums, 408 and 11,349."""
PAIRS = 1500


def statements(parser: Parser) -> tuple[dict[str, object], list[Stereotype]]:
    rows = list(formats.read_as(BIASASKER / "bias_annotation.csv", Statement))
    began = time.process_time()
    built = list(stereotypes.build(rows, parser))
    seconds = time.process_time() - began
    counts = Counter(record.reason if isinstance(record, Refused) else "kept" for record in built)
    accepted = [record for record in built if isinstance(record, Stereotype)]
    return {"statements": len(rows), "cpu_s": seconds, "outcomes": dict(counts.most_common())}, accepted


def round_trip(parser: Parser, accepted: list[Stereotype], seed: int) -> dict[str, float]:
    rng = random.Random(seed)
    plain = [record.text for record in accepted if record.notes == (stereotypes.AS_WRITTEN,)]
    groups = [term.term for term in formats.read_as(BIASASKER / "groups.csv", Term)]
    pairs = [(rng.choice(groups), rng.choice(plain)) for _ in range(PAIRS)]
    shares = {}
    for name, with_target in (("with_target", True), ("without_target", False)):
        sentences = [
            Statement(statement=f"{group} {text}", target=group if with_target else "", category=str(number))
            for number, (group, text) in enumerate(pairs)
        ]
        same = sum(
            isinstance(result, Stereotype) and result.text == text
            for result, (_, text) in zip(stereotypes.build(sentences, parser), pairs, strict=True)
        )
        shares[name] = 100 * same / PAIRS
    return shares


def grid() -> dict[str, float]:
    def subjects() -> Iterator[Identity]:
        for category, (count, _) in SOFA.items():
            yield from (Identity(category=category, identity=f"Guests of table {i}", form="noun") for i in range(count))

    def predicates() -> Iterator[Stereotype]:
        for category, (_, count) in SOFA.items():
            for number in range(count):
                yield Stereotype(text=f"are always {number} minutes late for their tea", category=category)

    with tempfile.TemporaryDirectory() as folder:
        began, file = time.process_time(), Path(folder) / "probes.jsonl"
        counts = refusals.write(probes.build(list(subjects()), predicates()), file)
        megabytes = file.stat().st_size / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"probes": counts["kept"], "cpu_s": time.process_time() - began, "file_mb": megabytes, "peak_mb": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--read", type=int, default=0, help="kept stereotypes to print instead, to be read")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    pipeline = spacy_parser(str(SHARED / "models" / "spacy-en-small"))
    measured, accepted = statements(pipeline)
    if options.read:
        for record in random.Random(options.seed).sample(accepted, options.read):
            print(
                record.text, "" if record.notes == (stereotypes.AS_WRITTEN,) else f"   < {record.source['statement']}"
            )
        return
    with get_context("spawn").Pool(1) as pool:
        probes_of_sofa = pool.apply(grid)
    figures = {
        "biasasker": measured,
        "round_trip_percent": round_trip(pipeline, accepted, options.seed),
        "sofa": probes_of_sofa,
    }
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
