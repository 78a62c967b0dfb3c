"""Tests that the documentation's figures of speed and scale are those that the scripts print from stored results."""

import subprocess
import sys
from pathlib import Path
from statistics import mean

import pytest

from benchmarks import shapes, texts
from benchmarks.works import NEAR, sample, works

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("script", "pages"), [("tables", ["speed", "scale"]), ("plan", ["scale"]), ("cluster --table", ["scale"])]
)
def test_every_printed_row_stands_in_the_documentation(script: str, pages: list[str]) -> None:
    """Every printed row occurs in the documentation, so a new measurement requires a change of the page."""
    command = [sys.executable, "-m", *f"benchmarks.{script}".split()]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    documentation = "".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8") for page in pages)
    rows = [line for line in printed.splitlines() if line]
    assert len(rows) > 4
    assert [row for row in rows if row not in documentation] == []


def test_results_name_no_place_on_the_machine() -> None:
    """A stored result contains figures and facts about the machine, never a path."""
    for file in (ROOT / "benchmarks" / "results").rglob("*.json"):
        text = file.read_text(encoding="utf-8")
        assert not any(place in text for place in ("/tmp", "/work", "/home", "/root")), file.name


def test_a_sample_of_a_benchmark_has_the_mean_work_of_its_set() -> None:
    """Two long pairs among ten do not represent the set: the sample grows until its mean is within 5 %."""
    work = [2736, 240, 179, 311, 198, 336, 448, 286, 286, 363]
    chosen = sample(work, 2)
    assert sum(work[index] for index in chosen) / len(chosen) == pytest.approx(sum(work) / 10, rel=NEAR)
    assert len(sample([7] * 30, 4)) == 4


@pytest.mark.slow
def test_what_is_timed_stands_for_the_released_sets(shared: Path) -> None:
    """The timed units, and the samples of slow methods, have the mean work of the whole set within 5 %."""
    from transformers import AutoTokenizer

    whole = {"StereoSet": texts.cats(shared, 10**6), "CrowS-Pairs": texts.pairs(shared)}
    for work in works(shared, 1):
        tokenizer = AutoTokenizer.from_pretrained(
            shared / "models/tokenizers" / ("gpt2" if work.shape is shapes.gpt2 else "bert-base-uncased")
        )
        tokens = work.tokens(tokenizer, work.units)
        if (every := whole.get(work.name.split(",")[0].split(" on ")[0])) is not None:
            assert mean(tokens) == pytest.approx(mean(work.tokens(tokenizer, every)), rel=NEAR), work.name
        timed = sample(tokens, work.count) if work.count else range(len(tokens))
        drawn = [tokens[index] for index in timed]
        assert mean(drawn) == pytest.approx(mean(tokens), rel=NEAR), work.name
        for count in filter(None, (work.loop_units, work.peer_units)):
            assert mean([drawn[index] for index in sample(drawn, count)]) == pytest.approx(mean(drawn), rel=NEAR), (
                work.name
            )
