"""Tests of verdicts on SoFa that another normalisation of perplexity changes."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from catsofa.data.content import content_of
from catsofa.data.files import jsonl
from catsofa.data.records import Probe, Score
from catsofa.report import document
from catsofa.report.elements import Number
from catsofa.report.summary import Standing
from catsofa.report.summary.pairs import Pair
from catsofa.report.summary.standings import SHOWN
from catsofa.scoring.dataset import SCHEME
from catsofa.scoring.measures import sofa
from catsofa.scoring.measures.sofa.sanity import of_probes
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.results import report
from catsofa.scoring.run.store import Run

PEOPLES = ("zorbs", "florins", "glimmers", "dravians")


def grid(categories: tuple[str, ...]) -> list[Probe]:
    """Returns probes of four identities and 40 stereotypes in each category."""
    return [
        Probe(category=category, identity=who, stereotype=f"lose {number} keys of {category}")
        for category in categories
        for number in range(40)
        for who in PEOPLES
    ]


def scores(probes: list[Probe], whole: float, alone: float) -> list[Score]:
    """Returns scores whose log PPL(i + s) and log PPL(i) differ between identities by these steps."""
    rng = np.random.default_rng(5)
    return [
        Score(
            item=probe.id,
            task="probe",
            score=-5.0 - whole * (place := PEOPLES.index(probe.identity)) + rng.normal(0, 0.02),
            extra={"identity": -4.0 - alone * place, "conditional": None},
        )
        for probe in probes
    ]


def run(folder: Path, data: Path, whole: float, alone: float) -> None:
    """Writes a finished run on the probes of a file."""
    probes = list(jsonl.read(data, Probe))
    given = scores(probes, whole, alone)
    digest = content_of(probes).digest
    about = {"model": folder.name, "data": f"{data.name}@{digest[:12]}", "on": str(data), "protocol": DEFAULT.name}
    identity = {"model": {"name": folder.name}, "data": SCHEME + digest, "protocol": {}}
    with Run.begin(folder, identity, about) as store:
        store.add(given)
        store.finish(report(probes, given, DEFAULT, data=about["data"], model=f"{folder.name}@1").to_dict())


@pytest.mark.parametrize(("alone", "sentence"), [(0.4, True), (0.0, False)])
def test_a_report_says_that_another_normalisation_reverses_the_best_model(
    tmp_path: Path, alone: float, sentence: bool
) -> None:
    """Model b varies with the identity before the division by PPL(i) alone, so only the division makes b the best."""
    jsonl.write(grid(("invented",)), tmp_path / "probes.jsonl")
    run(tmp_path / "runs/a", tmp_path / "probes.jsonl", 0.2, 0.0)
    run(tmp_path / "runs/b", tmp_path / "probes.jsonl", 0.4, alone)
    found = document([tmp_path / "runs"])
    assert found.summary
    assert [model for model, cell in found.summary.rows if "★" in str(cell)] == ["b" if sentence else "a"]
    said = [text for text in found.summary.notes if "by PPL(i + s), the difference between a and b is reversed" in text]
    assert bool(said) is sentence
    assert all(text in found.findings[0].sentences for text in said)


def pairs_of(values: Mapping[str, float], p: float) -> dict[tuple[str, str], Pair]:
    """Returns every pair of models with this p."""
    return {
        (one, other): Pair(difference=values[one] - values[other], decided=1.0, apart=p, nearer=p, lead=0.0)
        for one, other in combinations(values, 2)
    }


def test_a_verdict_changes_if_its_direction_or_its_significance_does() -> None:
    """Of three pairs, one is reversed, one is no longer shown, and one stays; an undefined test changes nothing."""
    here, there = {"a": 50.0, "b": 51.0, "c": 52.0}, {"a": 51.0, "b": 50.0, "c": 52.0}
    values = {model: Number(value) for model, value in here.items()}
    one = Standing(kind="sofa", about="", of=SHOWN["sofa"][0], values=values, pairs=pairs_of(here, 0.01))
    assert not list(one.otherwise())
    less = pairs_of(there, 0.01)
    less["b", "c"] = replace(less["b", "c"], apart=0.3)
    (sentence,) = replace(one, other_ways={"PPL(s | i)": less}).otherwise()
    assert "by PPL(s | i), the difference between a and b is reversed and" in sentence
    assert "the difference between b and c is not shown" in sentence
    assert not list(replace(one, other_ways={"PPL(s | i)": pairs_of(there, float("nan"))}).otherwise())


@pytest.mark.parametrize("alone", [0.4, 0.0])
def test_a_result_warns_of_categories_in_the_opposite_order_by_another_normalisation(alone: float) -> None:
    """Category x varies more than y without a normalisation; with the division by PPL(i) less, if PPL(i) varies."""
    x, y = grid(("x",)), grid(("y",))
    found = sofa.results([*x, *y], [*scores(x, 0.4, alone), *scores(y, 0.2, 0.0)])
    warned = [text for text in of_probes(found) if "depends on the normalisation: by identity y is above x" in text]
    assert len(warned) == bool(alone)


@pytest.mark.parametrize(("alone", "warned"), [(0.4, True), (0.0, False)])
def test_a_result_warns_if_another_identity_is_most_often_lowest(alone: float, warned: bool) -> None:
    """Zorbs have the lowest perplexity, and dravians after the division by a PPL(i) that grows twice as fast."""
    probes = grid(("x",))
    found = sofa.results(probes, scores(probes, 0.2, alone))
    sentences = [text for text in of_probes(found) if text.startswith("the identity most often lowest")]
    assert len(sentences) == warned
    assert all("identity or none: x (dravians; zorbs)" in text for text in sentences)
