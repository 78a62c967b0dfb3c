"""How fast statements become stereotypes and how large a grid of probes is: python -m benchmarks.builders [--read 200].

Statements: BiasAsker's, by the small pipeline of the shared folder; CPU seconds of one thread, refusals by reason.
Round trip: a group of BiasAsker's before a kept predicate must give it back, with the row's target and without.
Probes: SoFa's own size, 408 identities and 11,349 stereotypes in four categories, with the peak memory.
`--read` prints so many of the kept, chosen by the seed, for a person to count the malformed ones.
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
"""Identities and stereotypes of each category; the paper prints their sums, 408 and 11,349."""
PAIRS = 1500


def statements(parser: Parser) -> tuple[dict[str, object], list[Stereotype]]:
    said = list(formats.read_as(BIASASKER / "bias_annotation.csv", Statement))
    began = time.process_time()
    made = list(stereotypes.build(said, parser))
    seconds = time.process_time() - began
    counts = Counter(record.reason if isinstance(record, Refused) else "kept" for record in made)
    kept = [record for record in made if isinstance(record, Stereotype)]
    return {"statements": len(said), "cpu_s": seconds, "outcomes": dict(counts.most_common())}, kept


def round_trip(parser: Parser, kept: list[Stereotype], seed: int) -> dict[str, float]:
    rng = random.Random(seed)
    plain = [record.text for record in kept if record.notes == (stereotypes.AS_WRITTEN,)]
    groups = [term.term for term in formats.read_as(BIASASKER / "groups.csv", Term)]
    pairs = [(rng.choice(groups), rng.choice(plain)) for _ in range(PAIRS)]
    found = {}
    for name, known in (("with_target", True), ("without_target", False)):
        said = [
            Statement(statement=f"{group} {text}", target=group if known else "", category=str(number))
            for number, (group, text) in enumerate(pairs)
        ]
        same = sum(
            isinstance(made, Stereotype) and made.text == text
            for made, (_, text) in zip(stereotypes.build(said, parser), pairs, strict=True)
        )
        found[name] = 100 * same / PAIRS
    return found


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
    measured, kept = statements(pipeline)
    if options.read:
        for record in random.Random(options.seed).sample(kept, options.read):
            print(
                record.text, "" if record.notes == (stereotypes.AS_WRITTEN,) else f"   < {record.source['statement']}"
            )
        return
    with get_context("spawn").Pool(1) as pool:
        probes_of_sofa = pool.apply(grid)
    found = {
        "biasasker": measured,
        "round_trip_percent": round_trip(pipeline, kept, options.seed),
        "sofa": probes_of_sofa,
    }
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
