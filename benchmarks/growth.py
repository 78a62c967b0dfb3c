"""Tests if cost grows linearly in constant memory: python -m benchmarks.growth [--counts 1000 10000 100000].

The whole command, `catsofa score MODEL --on probes.jsonl --out RUN`, scores more and more probes, each time in its own
process. The figures are CPU seconds, peak memory and bytes on disk. The model is causal with 1 layer, so that the
figures show the work around the model: reading, planning, storing, reporting.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine, shapes, texts
from benchmarks.formats import IDENTITIES
from benchmarks.tables import kept
from catsofa.data.files import jsonl
from catsofa.data.records import Probe

VOCABULARY = 2000
PROGRAM = """
import atexit, sys
from pathlib import Path
last = Path(sys.argv.pop())
# not ru_maxrss, which begins with the memory of whoever started us
atexit.register(lambda: last.write_text(Path("/proc/self/status").read_text()))
from catsofa.cli import main
main()
"""
"""Runs the command, and stores the memory figures of the system at its end."""


def model(folder: Path) -> Path:
    """Saves a GPT-2 of one layer with a tokenizer trained on words of the probes, and returns its folder."""
    import transformers
    from tokenizers import ByteLevelBPETokenizer

    end = "<|endoftext|>"
    tokenizer = ByteLevelBPETokenizer()
    sentences = [probe.text for probe in texts.grid(texts.identities(100), texts.stereotypes(Path("/nowhere"), 700))]
    tokenizer.train_from_iterator(sentences, vocab_size=VOCABULARY, special_tokens=[end], show_progress=False)
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY, n_layer=1, n_embd=64, n_head=2, bos_token_id=0, eos_token_id=0
    )
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer._tokenizer, bos_token=end, eos_token=end)
    return shapes.saved(transformers.GPT2LMHeadModel(config), fast, folder)


def probes(count: int, file: Path) -> None:
    """Writes `count` distinct probes: every identity with each numbered habit in turn."""
    habits = [f"{verb} {thing} {when}" for when in texts.WHEN for verb in texts.VERBS for thing in texts.THINGS]

    def made() -> Any:
        for number in range(count):
            habit, identity = divmod(number, min(IDENTITIES, count))
            kind = ("nationality", "religion", "gender", "disability")[identity % 4]
            yield Probe(
                category=kind,
                identity=f"people of island {identity}",
                stereotype=f"{habits[habit % len(habits)]} and more than {habit // len(habits) + 1} times",
            )

    jsonl.write(made(), file)


def spent(command: list[str], folder: Path) -> dict[str, float]:
    """Runs a command of catsofa with one thread, and returns its CPU seconds and its peak memory."""
    status = folder / "status"
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, "-c", PROGRAM, *command, str(status)],
        os.environ | {"OMP_NUM_THREADS": "1"},
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, code, used = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(code) not in (0, 1):  # 1: done, and the answer is no
        raise ValueError(f"catsofa {command[0]} {command[1]} failed")
    return {"cpu_s": used.ru_utime + used.ru_stime, "peak_mib": machine.peak_mib(status.read_text())}


def measured(count: int, folder: Path, weights: Path) -> dict[str, Any]:
    """Returns the figures of one run of the command."""
    data, out = folder / f"{count}.jsonl", folder / f"run-{count}"
    probes(count, data)
    figures = spent(["score", str(weights), "--on", str(data), "--out", str(out), "--json"], folder)
    stored = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    return {
        "probes": count,
        **figures,
        "bytes_in": data.stat().st_size / count,
        "bytes_kept": stored / count,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        weights = model(Path(name) / "model")
        rows = []
        for count in options.counts:
            rows.append(row := measured(count, Path(name), weights))
            print(json.dumps(machine.rounded(row)), flush=True)
    name = "causal, 1 layer, 64 wide"
    earlier = [row for row in kept("growth").get(name, {}).get("rows", []) if row["probes"] not in options.counts]
    rows = sorted(earlier + rows, key=lambda row: int(row["probes"]))
    first, last = rows[0], rows[-1]
    slope = (last["cpu_s"] - first["cpu_s"]) / (last["probes"] - first["probes"]) if len(rows) > 1 else None
    machine.save("growth", name, {"rows": rows, "cpu_s_each": slope, "machine": machine.facts()})


if __name__ == "__main__":
    main()
