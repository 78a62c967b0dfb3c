"""Every result that people hold in a notebook shows itself and gives its rows to pandas, whatever its texts."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from invented import bakers, probes
from zorbs import a_cat, a_pair, said

from catsofa.data.notebook import Tabular
from catsofa.data.records import Annotation, Cat, Score
from catsofa.scoring import baselines, crows_pairs, sofa, stereoset
from catsofa.scoring.association_rows import Associations
from catsofa.scoring.cat_outcomes import outcomes
from catsofa.scoring.comparison import compare
from catsofa.scoring.protocols import named
from catsofa.scoring.results import report
from catsofa.scoring.robustness import robustness
from catsofa.scoring.robustness_report import Compared, robustness_report
from catsofa.validation.agreement import agreement
from catsofa.validation.lint import lint
from catsofa.validation.splits import split
from catsofa.validation.votes import vote

EVIL = "<img src=x onerror=alert(1)>"


def cats() -> list[Cat]:
    """CATs whose terms and domains are markup."""
    return [replace(cat, target=f"{EVIL}{n % 4}", bias_type=EVIL) for n, cat in enumerate(bakers(8))]


def scored(scores: list[Score]) -> dict[str, float | None]:
    """Scores by id."""
    return {score.item: score.score for score in scores}


def of_probes() -> sofa.Results:
    """Two probes of one category, scored."""
    given = [replace(probe, category=EVIL) for probe in probes(2)]
    more = {"identity": -1.0, "conditional": -2.0}
    return sofa.evaluate(given, [Score(item=probe.id, score=-2.0, extra=more) for probe in given], resamples=10)


def compared() -> Compared:
    """A model on CATs and on CATs that are the same."""
    ideal, turned = scored([*baselines.ideal(cats())]), scored([*baselines.stereotyped(cats())])
    return Compared(EVIL, EVIL, 0, robustness(cats(), ideal, cats(), turned, resamples=10))


def votes() -> list[Annotation]:
    """Five judgements of one item."""
    return list(said(EVIL, "x", "x", "x", EVIL, "y"))


def a_row() -> dict[str, Any]:
    """A row of an association test."""
    numbers = {"effect_size": 1.0, "p_value": 0.1, "holm": 0.1, "coverage": 1.0}
    return {"test": EVIL, "how": "exact", "intervals": {"effect_size": {"low": 0.5, "high": 1.5}}, **numbers}


RESULTS: dict[str, Callable[[], Tabular]] = {
    "report": lambda: report(cats(), [*baselines.ideal(cats())], named("catsofa"), data=EVIL, model="m", resamples=10),
    "stereoset": lambda: stereoset.results(outcomes(cats(), scored([*baselines.ideal(cats())])), resamples=10),
    "crows": lambda: crows_pairs.results(
        crows_pairs.preferences([a_pair("a", "b", bias_type=EVIL)], {"one": (1.0, 0.0)}), resamples=10
    ),
    "sofa": of_probes,
    "seat": lambda: Associations([a_row()]),
    "comparison": lambda: compare(
        {name: outcomes(cats(), scored([*baselines.ideal(cats())])) for name in ("a", EVIL)}, resamples=10
    ),
    "robustness": lambda: compared().comparison,
    "robustness report": lambda: robustness_report([compared()], named("catsofa"), data=EVIL),
    "agreement": lambda: agreement(votes(), resamples=10),
    "votes": lambda: vote(votes()),
    "lint": lambda: lint([a_cat("The the zorb BLANKed.", target=EVIL)]),
    "split": lambda: split(cats()),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_a_table_and_a_frame(name: str) -> None:
    """The table has the columns of the rows, the frame their values; markup in a text stays text."""
    found = RESULTS[name]()
    text, frame = found._repr_html_(), found.to_pandas()
    assert len(frame) == len(found.rows()) > 0
    assert all(f">{column}<" in text for column in frame if not column.endswith(("_low", "_high")))
    assert "<img" not in text


def test_what_lint_quotes_is_folded_away() -> None:
    """Findings repeat what they find."""
    assert RESULTS["lint"]()._repr_html_().startswith("<details>")
