"""Prints the tables of docs/speed.md from the stored results: python -m benchmarks.tables."""

import json
import statistics
from collections.abc import Sequence
from typing import Any

from benchmarks.machine import RESULTS

GOALS = (
    ("StereoSet intrasentence, GPT-2 size", "StereoSet, causal, GPT-2 size", "loop", 13, 24),
    ("StereoSet intrasentence, GPT-2 size", "StereoSet, causal, GPT-2 size", "lm_eval", 4.2, 4.2),
    ("the same on all cores, wall clock", "StereoSet, causal, GPT-2 size, wall clock of all cores", "loop", 16, 30),
    ("SoFa grid, 4 layers, 256 wide", "SoFa grid, 4 layers, 256 wide", "evaluate", 36, 60),
    ("SoFa grid, 1,000 stereotypes, GPT-2 size", "SoFa grid of 1,000 stereotypes, GPT-2 size", "evaluate", 12, 22),
    ("StereoSet, masked, 4 layers, 256 wide", "StereoSet, masked, 4 layers, 256 wide", "loop", 22, 40),
    ("StereoSet, masked, BERT-base size", "StereoSet, masked, BERT-base size", "loop", 10, 20),
    ("CrowS-Pairs, shared tokens, BERT-base size", "CrowS-Pairs on shared tokens, BERT-base size", "loop", 6, 11),
    ("CrowS-Pairs, all tokens, BERT-base size", "CrowS-Pairs on all tokens, BERT-base size", "minicons", 3.5, 6.5),
)
"""Title, work, the other tool, and the goals in float32 and bfloat16."""
AGAINST = {
    "loop": "batch-1 loop",
    "lm_eval": "lm_eval, best batch",
    "evaluate": "evaluate perplexity",
    "minicons": "minicons, best batch",
}
SEAT = "SEAT encoding, 15 sentence tests, BERT-base size"
MISSING = "not measured"
PRECISIONS = ("float32", "bfloat16")


def kept(name: str, machine: str = "") -> dict[str, Any]:
    """Returns a stored result, of another machine if `machine` names one; empty without a file."""
    file = RESULTS / machine / f"{name}.json"
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}


def times(value: float | None) -> str:
    """Returns a ratio as text."""
    if value is None:
        return MISSING
    return f"{value:.0f}×" if value >= 100 else f"{value:.1f}×"


def verdict(value: float | None, goal: float) -> str:
    """Returns a ratio with its goal, as met or missed."""
    met = "" if value is None else ", met" if value >= goal else ", missed"
    return f"{times(value)} (goal {goal:g}×{met})"


def ratios() -> list[str]:
    """Returns a row per goal: the measured ratio, and its factors from the algorithm and from the kernels.

    "This machine allows" is the ratio with all necessary operations at the peak of the same run.
    """
    works = {name: fair(name, figures) for name, figures in kept("scoring").items()}
    lines = [
        "| work | against | float32 | of it algorithm × kernels | this machine allows | bfloat16 | allows |",
        "|---" * 7 + "|",
    ]
    for title, work, other, exact, half in GOALS:
        ratio = works.get(work, {}).get("times", {}).get(other, {})
        apart = f"{ratio['plain']:.1f} × {ratio['fp32'] / ratio['plain']:.2f}" if "plain" in ratio else MISSING
        full, bf16 = verdict(ratio.get("fp32"), exact), verdict(ratio.get("bf16"), half)
        most = [allowed(works.get(work, {}), other, part) for part in ("fp32", "bf16")]
        lines.append(f"| {title} | {AGAINST[other]} | {full} | {apart} | {most[0]} | {bf16} | {most[1]} |")
    return lines + others()


def fair(work: str, figures: dict[str, Any]) -> dict[str, Any]:
    """Returns a result without the ratios of unequal comparisons.

    Older results, whose rates do not count the tokens of the loop, compare bfloat16 with other tools in float32. Their
    samples of CrowS-Pairs give other tools longer pairs.
    """
    if "loop_tokens_a_cpu_second" in figures:
        return figures
    kept_ways = () if work.startswith("CrowS") else ("fp32", "plain")
    times = {
        other: {way: by_way[way] for way in kept_ways if way in by_way}
        for other, by_way in figures.get("times", {}).items()
    }
    return figures | {"times": times}


def elsewhere(machine: str) -> list[str]:
    """Returns the rows of the float32 goals on another machine."""
    works = {name: fair(name, figures) for name, figures in kept("scoring", machine).items()}
    lines = ["| work | against | float32 | of the peak | this machine allows |", "|---" * 5 + "|"]
    for title, work, other, goal, _ in GOALS:
        result = works.get(work, {})
        ratio, share = result.get("times", {}).get(other, {}).get("fp32"), result.get("percent_of_peak", {}).get("fp32")
        lines.append(_row(title, AGAINST[other], ratio, goal, share))
    seat = kept("seat", machine).get("encoding, base, float32", {})
    return [*lines, _row(SEAT, AGAINST["loop"], seat.get("ratio"), 12, seat.get("percent_of_peak"))]


def _row(title: str, against: str, ratio: float | None, goal: float, share: float | None) -> str:
    """Returns a row: a ratio with its goal, the share of the peak, and the ratio at the peak."""
    reached = MISSING if share is None else f"{share:.0f} %"
    return f"| {title} | {against} | {verdict(ratio, goal)} | {reached} | {at_peak(ratio, share)} |"


def allowed(figures: dict[str, Any], other: str, part: str) -> str:
    """Returns the ratio at the peak."""
    return at_peak(figures.get("times", {}).get(other, {}).get(part), figures.get("percent_of_peak", {}).get(part))


def others() -> list[str]:
    """Returns the rows of other scripts."""
    seat, bootstrap = kept("seat"), kept("bootstrap")
    p = seat.get("p-values", {}).get("ratio", {})
    encoded = [seat.get(f"encoding, base, {dtype}", {}) for dtype in PRECISIONS]
    encoded[1] = encoded[1] if "loop" in encoded[1] else {}  # the loop was in float32
    vectors = kept("sentences").get("all-MiniLM-L6-v2", {})
    pairs = [[vectors.get(key, {}).get(dtype) for key in ("times", "percent_of_peak")] for dtype in PRECISIONS]
    pairs[1] = pairs[1] if "settings" in vectors else [None, None]  # the other tool was in float32, at its defaults
    return [
        f"| {SEAT} | batch-1 loop {beside([(of.get('ratio'), of.get('percent_of_peak')) for of in encoded], (12, 20))}",
        f"| SEAT p-values, sampled | loop over 10⁵ splits | {verdict(p.get('sampled'), 10)} | | | | |",
        f"| SEAT p-values, without sampling | loop over 10⁵ splits | {verdict(p.get('without sampling'), 200)} |"
        " | | | |",
        f"| the similarity gate's sentences, MiniLM | sentence_transformers {beside(pairs, (3.2, 5))}",
        f"| bootstrap, 10,000 × dev, clustered | naive loop | {verdict(bootstrap.get('times'), 200)} | | | | |",
    ]


def beside(pairs: Sequence[Sequence[float | None]], goals: tuple[float, float]) -> str:
    """Returns the cells of ratios in two precisions, each with the ratio at the peak."""
    (full, of_full), (half, of_half) = pairs
    cells = verdict(full, goals[0]), "", at_peak(full, of_full), verdict(half, goals[1]), at_peak(half, of_half)
    return f"| {' | '.join(cells)} |"


def at_peak(ratio: float | None, share: float | None) -> str:
    """Returns the ratio with all operations at the machine's peak; `share` is the reached percentage of the peak."""
    return MISSING if ratio is None or share is None else times(ratio / share * 100)


def shares() -> list[str]:
    """Returns the rows of FLOP/s on the minimum necessary tokens, with the peak of the same run."""
    lines = ["| work | float32 GFLOP/s | of the peak | bfloat16 GFLOP/s | of the peak |", "|---" * 5 + "|"]
    for name, figures in kept("scoring").items():
        cells = [name]
        for part in ("fp32", "bf16"):
            speed, peak = figures["gflops"][part], max(figures["peak_gflops"][part].values())
            cells += [f"{speed:.0f}", f"{100 * speed / peak:.0f} % of {peak:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def growth() -> list[str]:
    """Returns the rows of CPU seconds and memory by the number of probes."""
    rows = kept("growth").get("causal, 1 layer, 64 wide", {}).get("rows", [])
    lines = [
        "| probes | CPU seconds | peak memory, MiB | bytes read a probe | bytes kept a probe |",
        "|---|---|---|---|---|",
    ]
    return lines + [
        f"| {row['probes']:,} | {row['cpu_s']:.0f} | {row['peak_mib']:.0f} "
        f"| {row['bytes_in']:.0f} | {row['bytes_kept']:.0f} |"
        for row in rows
    ]


def host() -> list[str]:
    """Returns the rows of what a probe and a CAT cost the processor beside the model."""
    rows = kept("host").get("a model that does nothing", {}).get("rows", [])
    lines = ["| records | engine | CPU seconds | µs a record | peak memory, MiB |", "|---" * 5 + "|"]
    names = {"probes": "probes", "cats": "CATs"}
    return lines + [
        f"| {row[kind]:,} {name} | {row['way']} | {row['cpu_s']:.1f} | {row['us_each']:.0f} | {row['peak_mib']:.0f} |"
        for row in rows
        for kind, name in names.items()
        if kind in row
    ]


def commands() -> list[str]:
    """Returns the rows of whole commands: the CPU seconds of both, their ratio, and the seconds of a second command."""
    lines = ["| command | precision | catsofa, CPU seconds | lm_eval | ratio | catsofa again |", "|---" * 6 + "|"]
    for part, figures in kept("commands").items():
        for dtype in PRECISIONS:
            medians = [statistics.median(figures[dtype]["seconds"][way]) for way in ("catsofa", "lm_eval")]
            seconds = " | ".join(f"{median:.1f}" for median in medians)
            row = f"| {part} | {dtype} | {seconds} | {times(figures[dtype]['times'])} | {figures[dtype]['again']:.1f} |"
            lines.append(row)
    return lines if len(lines) > 2 else []


def main() -> None:
    for lines in (ratios(), shares(), growth(), host(), elsewhere("intel"), commands()):
        print("\n".join(lines), end="\n\n")


if __name__ == "__main__":
    main()
