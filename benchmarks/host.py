"""Measures what a probe and a CAT cost the processor beside the model: python -m benchmarks.host [--save].

`evaluate` scores a grid, and CATs with invented words, with a model that does nothing, once with the sizes of a CPU and
once with those of a GPU. A GPU makes the masks of its rows itself, so the second way leaves them out. Each way runs in
its own process with one thread. The figures are CPU seconds from the first read of the file to the report, those of
the tokenizer alone on all texts of the CATs, and the peak memory.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import growth, growth_of_commands, machine, shapes
from catsofa.data.files import jsonl
from catsofa.data.records import Cat

WAYS = ("sizes of a CPU", "sizes of a GPU")


def do_nothing(way: str) -> None:
    """Replaces the model by one that does nothing, and the sizes of the engine by those of a device."""
    import torch

    from catsofa.scoring.executors import local
    from catsofa.scoring.likelihood import backend, causal, output_head

    def states(self: Any, inputs: Any, rows: Any, positions: Any) -> Any:
        return torch.zeros(len(rows), 1)

    def log_probabilities(self: Any, states: Any, which: Any, tokens: Any) -> Any:
        return torch.full((len(which),), -1.0)

    for name, stand_in in {"states": states, "log_probabilities": log_probabilities}.items():
        assert hasattr(output_head.Head, name)
        setattr(output_head.Head, name, stand_in)
    if way == WAYS[1]:
        local.MOST, local.WORK = local.GPU_MOST, local.GPU_TIMES * local.WORK
        causal.CPU_WIDTH, backend.CPU_TOKENS = causal.GPU_WIDTH, backend.GPU_TOKENS
        causal.inputs = lambda *_: {}


def measured(way: str, weights: Path, data: Path, out: Path) -> dict[str, Any]:
    """Returns the figures of one way in this process."""
    from catsofa.scoring.evaluate import evaluate
    from catsofa.scoring.models import load

    model = load(str(weights))
    evaluate(model, data.with_name("few.jsonl"))  # libraries are imported, and the model is packed
    do_nothing(way)
    begun = time.process_time()
    evaluate(model, data, out=out)
    spent = time.process_time() - begun
    figures = {"cpu_s": spent, "peak_mib": machine.peak_mib(Path("/proc/self/status").read_text())}
    if not data.name.startswith("cats"):
        return figures
    written = [candidate.text for cat in jsonl.read(data, Cat) for candidate in cat.candidates]
    begun = time.process_time()
    model.tokenizer.backend_tokenizer.encode_batch(written)
    return figures | {"tokenizer_s": time.process_time() - begun}


def write(kind: str, count: int, file: Path) -> None:
    """Writes `count` probes or CATs."""
    if kind == "probes":
        growth.probes(count, file)
    else:
        jsonl.write(growth_of_commands.cats(count), file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[100_000, 1_500_000])
    parser.add_argument("--cats", type=int, nargs="*", default=[20_000])
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/host.json")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        way, *places = options.one
        print(json.dumps(measured(way, *map(Path, places))))
        return
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "probes").mkdir()
        (folder / "cats").mkdir()
        weights = {"probes": growth.model(folder / "layer"), "cats": shapes.gpt2("tiny", folder / "gpt2")}
        sizes = {"probes": options.counts, "cats": options.cats}
        for kind, count in ((kind, count) for kind, counts in sizes.items() for count in counts):
            write(kind, 1000, folder / kind / "few.jsonl")
            write(kind, count, data := folder / kind / f"{kind}-{count}.jsonl")
            for way in WAYS:
                out = folder / f"{kind}-{count}-{WAYS.index(way)}"
                command = [sys.executable, "-m", "benchmarks.host", "--one", way, weights[kind], data, out]
                done = subprocess.run(
                    command, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=True, capture_output=True, text=True
                )
                figures = json.loads(done.stdout.splitlines()[-1])
                rows.append({kind: count, "way": way, **figures, "us_each": figures["cpu_s"] / count * 1e6})
                print(json.dumps(machine.rounded(rows[-1])), flush=True)
    if options.save:
        machine.save("host", "a model that does nothing", {"rows": rows, "machine": machine.facts()})


if __name__ == "__main__":
    main()
