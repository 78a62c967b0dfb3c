"""Estimates the cost of 10⁹ probes × 100 models from measured rates: python -m benchmarks.plan [--price 2.5].

Measured: bytes per probe, CPU time per probe around the model, and nodes per probe. Assumed: the peak in the data sheet
of a GPU, the reached share of this peak, and the price of a GPU hour.
"""

import argparse

from benchmarks.tables import kept

PROBES, MODELS = 10**9, 100
SHEET_TFLOPS = 989.0
"""Dense bfloat16 peak of an H100 SXM in its data sheet; no figure of this plan was measured on an H100."""
SHARE = {"GPT-2 size": 0.25, "3B": 0.4, "7B": 0.5}
"""The assumed share of the data-sheet peak that a model reaches; small models use a GPU badly."""
GFLOP = {"GPT-2 size": 0.247, "3B": 6.0, "7B": 13.2}
"""GFLOP per forwarded token, body and head: 2 × the multiplied parameters."""
MIX = {"GPT-2 size": 40, "3B": 40, "7B": 20}
"""The number of models of each size among the 100 models."""
CPU_PRICE = 0.05
"""Dollars per hour of one core."""


def nodes_each() -> float:
    """Returns the forwarded nodes per probe, in a grid of 1,000 stereotypes."""
    tally = kept("scoring")["SoFa grid of 1,000 stereotypes, GPT-2 size"]
    return float(tally["tally"]["forwarded"]) / 1000


def lines(price: float) -> list[str]:
    """Returns the table, each number with its arithmetic."""
    grown = kept("growth")["causal, 1 layer, 64 wide"]
    last = grown["rows"][-1]
    nodes, around = nodes_each(), float(grown["cpu_s_each"])
    loaded, stored = PROBES * last["bytes_in"] / 1e9, PROBES * MODELS * last["bytes_kept"] / 1e12
    cores = PROBES * MODELS * around / 3600
    rows = [
        "| what | arithmetic | result |",
        "|---|---|---|",
        f"| probes on disk | 10⁹ × {last['bytes_in']:.0f} B, read once a model | {loaded:,.0f} GB |",
        f"| scores on disk | 10⁹ × 100 × {last['bytes_kept']:.0f} B | {stored:,.1f} TB |",
        f"| work around the models | 10⁹ × 100 × {1e6 * around:.0f} µs | {cores:,.0f} core-hours |",
        f"| | × {CPU_PRICE} $ | {cores * CPU_PRICE:,.0f} $ |",
    ]
    total = 0.0
    for name, count in MIX.items():
        exaflop = PROBES * nodes * GFLOP[name] / 1e9
        hours = exaflop * 1e6 / (SHEET_TFLOPS * SHARE[name]) / 3600
        total += count * hours
        sums = f"10⁹ × {nodes:.2f} nodes × {GFLOP[name]} GFLOP ÷ ({SHEET_TFLOPS:.0f} TFLOP/s × {SHARE[name]:.0%})"
        rows.append(f"| one model, {name} | {sums} | {hours:,.1f} GPU-hours |")
    mixed = " + ".join(f"{count} {name}" for name, count in MIX.items())
    feeding = PROBES * around / 3600 / (PROBES * nodes * GFLOP["GPT-2 size"] / 1e3 / (SHEET_TFLOPS * 0.25) / 3600)
    return [
        *rows,
        f"| 100 models | {mixed} | {total:,.0f} GPU-hours |",
        f"| | × {price:g} $ | {total * price:,.0f} $ |",
        f"| on 64 GPUs | {total:,.0f} ÷ 64 ÷ 24 | {total / 64 / 24:,.1f} days |",
        f"| cores that keep one GPU fed, GPT-2 size | CPU time ÷ GPU time of one probe | {feeding:,.0f} cores |",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--price", type=float, default=2.5, help="dollars for an hour of one GPU, an assumption")
    print("\n".join(lines(parser.parse_args().price)))


if __name__ == "__main__":
    main()
