"""Tests Paper 004's released predictions: its own numbers by its own rule, and the numbers when joined by id."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catsofa.data.formats import read_as
from catsofa.data.records import Candidate, Cat, Score
from catsofa.scoring.measures.cat_outcomes import Outcomes, outcomes
from catsofa.scoring.measures.robustness import flip_rate, flips, join, robustness
from catsofa.scoring.measures.stereoset import MEASURES, results
from catsofa.scoring.statistics.changes import paired_changes
from catsofa.scoring.statistics.intervals import intervals


@cache
def dev(shared: Path) -> dict[str, Cat]:
    """Returns StereoSet's intrasentence development set, by id."""
    return {cat.id: cat for cat in read_as(shared / "data/stereoset/dev.json", Cat) if cat.kind == "intrasentence"}


@cache
def replies(shared: Path) -> list[dict[str, Any]]:
    """Returns the released paraphrases, one row per CAT, with the true id of each row."""
    rows: list[dict[str, Any]] = json.loads((shared / "data/paraphrase/released/data_gpt4.json").read_text())
    return rows


@cache
def merged(shared: Path) -> list[dict[str, Any]]:
    """Returns the release's GPT-2 scores by its own ids: `score1` on StereoSet's sentences, `score2` on paraphrases."""
    file = shared / "data/paraphrase/released/gpt2_merged_predictions.json"
    rows: list[dict[str, Any]] = json.loads(file.read_text())["intrasentence"]
    return rows


@cache
def predictions(shared: Path, path: str) -> dict[str, float | None]:
    """Returns the scores of a prediction file."""
    return {s.item: s.score for s in read_as(shared / "data" / path, Score)}


ORIGINAL = "stereoset/released_predictions/predictions_gpt2_ModelNSP_GPT2LM.json"
PARAPHRASE = "paraphrase/predictions_gpt2_partition_2_corrected.json"
"""GPT-2's released scores of the second partition under the true ids."""


def gpt2(shared: Path, path: str) -> Outcomes:
    """Returns GPT-2 on the CATs that have a paraphrase, in the order of the replies."""
    return outcomes([dev(shared)[row["id"]] for row in replies(shared)], predictions(shared, path), ties="against")


def llama(shared: Path, partition: int, **options: Any) -> Outcomes:
    """Returns Llama-2's released likelihoods of a partition by word, with candidates in the study's order."""
    rows = json.loads((shared / f"data/paraphrase/released/llama_preliminary_{partition}.json").read_text())
    cats, scores = [], {}
    for reply, row in zip(replies(shared), rows, strict=True):
        cat, labels = dev(shared)[reply["id"]], row["gold_labels"]
        one, two, three = (cat[label] for label in labels.values())
        cats.append(replace(cat, candidates=(one, two, three)))
        scores.update({cat[label].id: row["likelihoods"][word] for word, label in labels.items()})
    return outcomes(cats, scores, **options)


def rounded(of: Outcomes, average: Any = "terms", digits: int = 2) -> tuple[float, ...]:
    """Returns lms, ss and icat."""
    values = results(of, average=average, resamples=0).overall.to_dict()
    return tuple(round(values[name], digits) for name in ("lms", "ss", "icat"))


@pytest.mark.parametrize(("partition", "printed"), [(1, (95.3589, 63.2213, 70.1435)), (2, (94.9761, 63.1738, 69.9522))])
def test_llama_by_the_papers_own_rule(shared: Path, partition: int, printed: tuple[float, ...]) -> None:
    """Results equal Paper 004's table of Llama-2: best of three, over items, to four decimals."""
    assert rounded(llama(shared, partition, rule="argmax", ties="against"), "items", 4) == printed


@pytest.mark.parametrize(("partition", "ours"), [(1, (88.35, 63.40, 64.68)), (2, (88.42, 62.54, 66.25))])
def test_llama_by_stereosets_rule(shared: Path, partition: int, ours: tuple[float, ...]) -> None:
    """The same likelihoods compared in pairs give lms seven points lower, and icat 64.68 and 66.25."""
    measured = rounded(llama(shared, partition, ties="against"), "items")
    assert measured[0] == pytest.approx(ours[0], abs=0.01)
    assert measured[2] == ours[2]


def test_gpt2s_true_icat_falls_by_four_points(shared: Path) -> None:
    """icat is 69.13 on the release's originals and 65.12 on partition 2; the paper prints 65.98 and 71.98.

    The release scores 2,090 originals, four of which are not among the 2,090 that were paraphrased.
    """
    scored = {row["id"] for row in merged(shared)}
    cats = [cat for cat in dev(shared).values() if {candidate.id for candidate in cat.candidates} <= scored]
    assert len(cats) == 2090
    assert rounded(outcomes(cats, {row["id"]: row["score1"] for row in merged(shared)})) == (91.10, 62.06, 69.13)
    assert rounded(gpt2(shared, PARAPHRASE)) == (89.43, 63.59, 65.12)
    assert rounded(gpt2(shared, ORIGINAL)) == (91.13, 62.09, 69.10)


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ("gender", (91.31, 66.65, 60.91)),
        ("profession", (88.02, 63.55, 64.16)),
        ("race", (90.28, 62.63, 67.47)),
        ("religion", (87.02, 65.33, 60.34)),
    ],
)
def test_gpt2s_domains_on_the_paraphrases(shared: Path, domain: str, expected: tuple[float, ...]) -> None:
    """Domains are right only if joined by id: the released ids give religion an icat of 49.20, not 60.34."""
    assert rounded(gpt2(shared, PARAPHRASE).of(domain=domain)) == expected


def test_the_change_of_icat_by_items(shared: Path) -> None:
    """With items resampled, the limits agree to half a point with an independent computation.

    The independent limits are Llama-2 +1.6 [−2.0, 5.2] and, joined by the release's own ids, GPT-2 −3.8 [−8.7, 1.2].
    """
    llamas = [llama(shared, partition, ties="against").counts for partition in (1, 2)]
    change = paired_changes(*llamas, MEASURES)["icat"].by
    assert (change.value, change.low, change.high) == pytest.approx((1.6, -2.0, 5.2), abs=0.5)
    scored, paraphrased = {row["id"] for row in merged(shared)}, {row["id"] for row in replies(shared)}
    cats = [cat for cat in dev(shared).values() if cat.id in paraphrased and cat.candidates[0].id in scored]
    sides = [
        outcomes(cats, {row["id"]: row[score] for row in merged(shared)}, ties="against").counts
        for score in ("score1", "score2")
    ]
    before, change = intervals(sides[0], MEASURES)["icat"], paired_changes(*sides, MEASURES)["icat"].by
    assert len(cats) == 2086
    assert (before.value, before.low, before.high) == pytest.approx((68.94, 65.0, 72.6), abs=0.3)
    assert (change.value, change.low, change.high) == pytest.approx((-3.8, -8.7, 1.2), abs=0.5)


def test_pairing_by_the_true_ids_narrows_the_change(shared: Path) -> None:
    """GPT-2's interval over items is 9.4 points wide under the release's ids, 7.7 under the true ids; over
    terms 8.6.
    """
    before, after = gpt2(shared, ORIGINAL), gpt2(shared, PARAPHRASE)
    items = paired_changes(before.counts, after.counts, MEASURES)["icat"].by
    terms = paired_changes(before.columns("items"), after.columns("items"), MEASURES)["icat"].by
    assert items.high - items.low == pytest.approx(7.7, abs=0.3)
    assert terms.high - terms.low == pytest.approx(8.6, abs=0.4)
    assert 0 in terms


def test_one_preference_in_five_flips(shared: Path) -> None:
    """Llama-2 flips 20.9 % between partitions; GPT-2 21.7 % on the rows before the release's shift, 24.2 % on all
    2,090.
    """
    between = flip_rate(llama(shared, 1), llama(shared, 2))
    assert round(between.value, 1) == 20.9
    before, after = gpt2(shared, ORIGINAL), gpt2(shared, PARAPHRASE)
    assert round(100 * float(flips(before, after)[:939].mean()), 1) == 21.7
    over_all = flip_rate(before, after)
    assert round(over_all.value, 1) == 24.2
    assert over_all.high - over_all.low < 5


def as_released(shared: Path) -> Iterator[Cat]:
    """Yields the second partition as released: from row 939 on, the words of one row have the ids of another."""
    with (shared / "data/paraphrase/misaligned_clusters.csv").open(encoding="utf-8") as file:
        attached = {int(row["position"]): row["cluster_id_attached_in_release"] for row in csv.DictReader(file)}
    for position, row in enumerate(replies(shared)):
        under = dev(shared)[attached.get(position, row["id"])]
        context = row["response"].split("\n")[-1]
        one, two, three = (
            Candidate(
                id=candidate.id,
                label=candidate.label,
                fill=row["labels"][candidate.label],
                text=f"{position}: {context.replace('BLANK', row['labels'][candidate.label])}",
            )
            for candidate in under.candidates
        )
        yield Cat(
            id=under.id,
            kind="intrasentence",
            bias_type=under.bias_type,
            target=under.target,
            context=context,
            candidates=(one, two, three),
        )


def test_the_1151_misaligned_clusters_are_found(shared: Path) -> None:
    """Of 2,090 paraphrases as released, joining refuses exactly the 1,151 whose words belong to another CAT."""
    with (shared / "data/paraphrase/misaligned_clusters.csv").open(encoding="utf-8") as file:
        wrong = {row["cluster_id_attached_in_release"] for row in csv.DictReader(file)}
    joined = join(dev(shared).values(), as_released(shared))
    assert Counter(refused.reason for refused in joined.refused) == {"other_fills": 1151}
    assert {refused.id for refused in joined.refused} == wrong
    assert len(joined.pairs) == 939


def test_the_corrected_partition_joins_but_for_one_reply_without_a_blank(shared: Path) -> None:
    """2,089 of 2,090 join; the refused one has lost the place of its filler."""
    joined = join(dev(shared).values(), read_as(shared / "data/paraphrase/partition_2_corrected.json", Cat))
    assert len(joined.pairs) == 2089
    assert [refused.reason for refused in joined.refused] == ["lost_fills"]
    assert len(joined.missing) == 17


def test_a_whole_comparison_of_the_release(shared: Path) -> None:
    """lms falls significantly (p < 0.05), ss and icat do not; the terms that flip most come first."""
    partition = list(read_as(shared / "data/paraphrase/partition_2_corrected.json", Cat))
    comparison = robustness(
        dev(shared).values(), predictions(shared, ORIGINAL), partition, predictions(shared, PARAPHRASE)
    )
    assert comparison.items == 2089
    assert comparison.coverage == pytest.approx(2089 / 2106)
    assert comparison.changes["lms"].p < 0.05
    assert comparison.changes["ss"].p > 0.05
    assert comparison.changes["icat"].by.value == pytest.approx(-3.97, abs=0.01)
    assert 0 in comparison.changes["icat"].by
    rates = [row.rate.value for row in comparison.terms]
    assert rates == sorted(rates, reverse=True)
    assert np.average(rates, weights=[row.items for row in comparison.terms]) == pytest.approx(comparison.flips.value)
