"""Tests warnings on meaningless numbers: constant models, unknown tokens, inverted scores, sets of few terms."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from math import isnan, nan
from pathlib import Path

import numpy as np
import pytest
from helpers.records import PAIRS, PROBES, TEST, cat, cats, scores

from catsofa.data.files.json_files import sealed
from catsofa.data.records import Cat, Probe, Score
from catsofa.scoring.compare import compare
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.measures import sofa
from catsofa.scoring.measures.cat_outcomes import outcomes
from catsofa.scoring.measures.seat.sanity import of_associations
from catsofa.scoring.measures.sofa.sanity import of_probes
from catsofa.scoring.protocols import named
from catsofa.scoring.results import Report, report
from catsofa.scoring.run.manifest import MANIFEST
from catsofa.scoring.run.score_files import report_on
from catsofa.scoring.run.store import read_scores

Tiny = Callable[[str], Path]
CATS = [
    cat(f"{term}-{kind}-{n}", target=f"t{term}", kind=kind)
    for term in range(20)
    for n in range(5)
    for kind in ("intrasentence", "intersentence")
]


def measured(cats: list[Cat], values: dict[str, tuple[float | None, ...]], protocol: str = "catsofa") -> Report:
    """Returns the report of CATs with these scores of stereotype, anti-stereotype and unrelated."""
    by_id = scores(values)  # type: ignore[arg-type]  # three each
    records = [Score(item=item, score=score) for item, score in by_id.items()]
    return report(cats, records, named(protocol), data="d", model="m", resamples=500)


def drawn(seed: int = 0, lms: float = 0.9) -> dict[str, tuple[float, float, float]]:
    """Returns scores of a model that prefers the meaningful candidates with rate `lms`, and neither of the two."""
    rng = np.random.default_rng(seed)
    side = np.where(rng.random(len(CATS)) < lms, 1, -1)
    return {record.id: (*rng.random(2) * 0.5, -s) for record, s in zip(CATS, side, strict=True)}


def test_a_constant_model_has_no_number_and_a_warning() -> None:
    """With equal scores everywhere, lms, ss and icat are undefined and the coverage is 0; a preset counts the ties."""
    result = measured(CATS, {record.id: (-3.0, -3.0, -3.0) for record in CATS})
    whole = result.to_dict()["results"]["overall"]
    assert all(isnan(whole[name]) for name in ("lms", "ss", "icat"))
    assert (whole["coverage"], whole["lms_coverage"], whole["ss_coverage"], whole["ties"]) == (0, 0, 0, 200)
    assert any("equal scores in 100 of 100 CATs (100 %, intrasentence)" in line for line in result.warnings)
    by_code = measured(CATS, {record.id: (1, 1, 1) for record in CATS}, "stereoset-code")
    assert (by_code.to_dict()["results"]["overall"]["ss"], by_code.to_dict()["results"]["overall"]["ties"]) == (0, 200)
    assert any("counts them as lost" in line for line in by_code.warnings)


def test_a_task_without_a_decided_ss_is_named_beside_both() -> None:
    """If all intersentence CATs tie, ss of both tasks is that of intrasentence alone, and a warning reports this."""
    by_id = {record.id: (3, 2, 1) if record.kind == "intrasentence" else (2, 2, 1) for record in CATS}
    (warning,) = [line for line in measured(CATS, by_id).warnings if line.startswith("both tasks: ss")]
    assert "rests on intrasentence only" in warning
    whole = measured(CATS, {record.id: (3, 2, 1) for record in CATS})
    assert not any("only" in line for line in whole.warnings)


@pytest.mark.parametrize(("name", "norm"), [("gpt2", "transformer.ln_f"), ("llama", "model.norm")])
def test_a_network_that_gives_all_tokens_one_probability_decides_nothing(
    tiny: Tiny, tmp_path: Path, name: str, norm: str
) -> None:
    """Sentences of different lengths tie exactly, also in the scores that the run stores."""
    import transformers as t

    folder, run = tmp_path / "flat", tmp_path / "run"
    shutil.copytree(tiny(name), folder)
    module = t.AutoModelForCausalLM.from_pretrained(folder)
    for weight in module.get_submodule(norm).parameters():
        weight.data.zero_()
    module.save_pretrained(folder)
    result = evaluate(str(folder), INSIDE, out=run, resamples=0)
    for each in (result, report(INSIDE, read_scores(run), named("catsofa"), data="d", model="m", resamples=0)):
        whole = each.to_dict()["results"]["overall"]
        assert (whole["ties_all"], whole["coverage"], isnan(whole["ss"])) == (len(INSIDE), 0, True)
    assert len({score.tokens for score in read_scores(run)}) > 3


def test_a_healthy_model_has_no_warning() -> None:
    """A model with lms 90 on 200 CATs of 20 terms without ties has no warning."""
    result = measured(CATS, drawn())
    assert result.warnings == ()
    assert result.to_dict()["results"]["overall"]["coverage"] == 1


@pytest.mark.parametrize(("share", "warned"), [(0.04, False), (0.06, True)])
def test_ties_are_worth_a_warning_above_five_in_a_hundred(share: float, warned: bool) -> None:
    """Stereotype and anti-stereotype tie in 8 or 12 of 200 CATs: the JSON holds both counts, but only 12 warn."""
    values, count = drawn(), round(share * len(CATS))
    values |= {record.id: (0.5, 0.5, values[record.id][2]) for record in CATS[:count]}
    result = measured(CATS, values)
    whole = result.to_dict()["results"]["overall"]
    assert (whole["ties"], whole["ss_coverage"]) == (count, 1 - share)
    assert any(f"{count // 2} of 100 CATs" in line for line in result.warnings) == warned


def test_inverted_scores_and_an_lms_of_chance_are_named() -> None:
    """The whole interval of lms 10 lies below chance; that of lms 50 contains chance."""
    inverted = measured(CATS, drawn(lms=0.1))
    assert sum("below chance (50.0)" in line and "inverted" in line for line in inverted.warnings) == 2
    random = measured(CATS, drawn(lms=0.5))
    assert sum("may be chance (50.0)" in line for line in random.warnings) == 2
    best = measured(CATS, drawn(lms=0.5), "repro-004")
    assert any("(66.7)" in line for line in best.warnings), "chance of the best of three"


def test_few_terms_and_sets_without_a_score_are_named() -> None:
    """Warnings name a domain of three terms, and a domain without scores."""
    few = [cat(f"few{n}", target=f"f{n}", bias_type="craft") for n in range(3)]
    none = [cat(f"none{n}", target=f"n{n}", bias_type="weather") for n in range(9)]
    result = measured([*CATS, *few, *none], drawn() | {record.id: (3.0, 2.0, 1.0) for record in few})
    assert [line for line in result.warnings if "craft (3)" in line and "fewer than 8 target terms" in line]
    assert [line for line in result.warnings if "weather (9 CATs)" in line and "nothing is scored" in line]


def unread(of: Cat) -> Cat:
    """Returns a CAT whose three fillers are words in letters that no tokenizer here has seen."""
    one, two, three = (
        replace(c, id=f"unread {c.id}", fill=fill, text=of.context.replace("BLANK", fill))
        for c, fill in zip(of.candidates, "雨雪風", strict=True)
    )
    return replace(of, id=f"unread {of.id}", candidates=(one, two, three))


INSIDE = [of for of in cats() if of.kind == "intrasentence"]


@pytest.mark.parametrize(("name", "known"), [("bert", False), ("llama", False), ("gpt2", True)])
def test_a_model_that_cannot_read_the_fillers(tiny: Tiny, tmp_path: Path, name: str, known: bool) -> None:
    """Words in letters unknown to a tokenizer all become one <unk>: ss is undefined; by bytes they are words."""
    result = evaluate(str(tiny(name)), [unread(record) for record in INSIDE], out=tmp_path / "run", resamples=100)
    whole = result.to_dict()["results"]["overall"]
    if known:
        assert (whole["unknown"], whole["ties"]) == (0, 0)
        return
    assert whole["unknown"] == len(INSIDE)
    assert any("unknown tokens in 9 of 9 CATs (100 %" in line for line in result.warnings)
    assert (whole["ties_all"], whole["ss_coverage"]) == (len(INSIDE), 0)
    assert isnan(whole["ss"])


def test_half_of_the_items_unknown(tiny: Tiny, tmp_path: Path) -> None:
    """ss, its interval and its coverage use the half without unknown tokens; the run counts unknown candidates."""
    half = [unread(record) if number % 2 else record for number, record in enumerate(INSIDE)]
    run = tmp_path / "run"
    overall = evaluate(str(tiny("bert")), half, out=run, resamples=100).to_dict()["results"]["overall"]
    alone = evaluate(str(tiny("bert")), INSIDE[::2], resamples=100).to_dict()["results"]["overall"]
    assert (overall["ss"], overall["intervals"]["ss"]) == (alone["ss"], alone["intervals"]["ss"])
    assert (overall["unknown"], overall["ties"], overall["ss_coverage"]) == (4, 4, 5 / 9)
    assert sum("unknown" in score.extra for score in read_scores(run)) == 12


def test_a_run_of_an_earlier_version_says_that_nobody_counted(tiny: Tiny, files: Path, tmp_path: Path) -> None:
    """If the manifest of a run does not record unknown-token counting, the count is null, not 0."""
    run = tmp_path / "run"
    evaluate(str(tiny("bert")), files / "cats.json", out=run, resamples=0)
    assert report_on(run, files / "cats.json").to_dict()["results"]["overall"]["unknown"] == 0
    manifest = json.loads((run / MANIFEST).read_text())
    del manifest["about"]["unknown_tokens"], manifest["checksum"]
    (run / MANIFEST).write_text(json.dumps(sealed(manifest)))
    assert report_on(run, files / "cats.json").to_dict()["results"]["overall"]["unknown"] is None


def test_pairs_that_tie_and_that_cannot_be_read(tiny: Tiny) -> None:
    """Two of four pairs have unknown words and tie: the score uses the other two."""
    pairs = [
        replace(record, id=f"u{number}", more="The 雨 sang.", less="The 雪 sang.")
        for number, record in enumerate(PAIRS[:2])
    ]
    result = evaluate(str(tiny("bert")), [*pairs, *PAIRS[2:4]], resamples=100)
    whole = result.to_dict()["results"]["overall"]
    assert (whole["neutral"], whole["unknown"], whole["coverage"]) == (2, 2, 0.5)
    assert any("2 of 4 pairs (50 %)" in line and "left out" in line for line in result.warnings)
    alike = [Score(item=record.id, score=1.0, task=side) for record in PAIRS for side in ("more", "less")]
    constant = report(PAIRS, alike, named("catsofa"), data="d", model="m", resamples=0).to_dict()
    assert isnan(constant["results"]["overall"]["score"])
    assert constant["results"]["overall"]["coverage"] == 0


def test_identities_that_are_unknown_and_stereotypes_that_divide_nobody(tiny: Tiny) -> None:
    """One of four identities is unknown, and nine stereotypes have no extremes; a constant model has only ties."""
    unknown = [
        Probe(category="invented", identity="雨", stereotype=stereotype)
        for stereotype in dict.fromkeys(probe.stereotype for probe in PROBES)
    ]
    result = evaluate(str(tiny("bert")), [*PROBES, *unknown], resamples=100)
    part = result.to_dict()["results"]["categories"]["invented"]
    assert (part["unknown_identities"], part["unknown"], part["ties"]) == (1, 9, 0)
    assert any("unknown tokens in 1 of 4 identities" in line for line in result.warnings)
    assert any("extreme" in line and "invented (9)" in line for line in result.warnings)
    alike = [Score(item=probe.id, score=-2.0, extra={"identity": -1.0, "conditional": -2.0}) for probe in PROBES]
    constant = sofa.results(PROBES, alike)
    assert constant.categories["invented"].ties == constant.categories["invented"].stereotypes
    assert any("equal scores on 9 of 9 stereotypes" in line for line in of_probes(constant))


def test_texts_of_association_tests_that_cannot_be_read(tiny: Tiny) -> None:
    """One sentence of eight holds an unknown word: a warning reports 12 %."""
    test = replace(TEST, x=replace(TEST.x, items=("A 雨 sang.", *TEST.x.items[1:])))
    result = evaluate(str(tiny("bert-encoder")), [test])
    assert result.to_dict()["results"][0]["unknown"] == 1
    assert any("unknown tokens in 1 of 8 texts (12 %, invented)" in line for line in result.warnings)


def test_scores_under_the_other_task_are_counted() -> None:
    """If every task is swapped, 600 of 600 are counted, and numbers stay; own tasks or no tasks give no warning."""
    by_id = scores(drawn())  # type: ignore[arg-type]  # three each
    kinds = {c.id: record.kind for record in CATS for c in record.candidates}
    other = {"intrasentence": "intersentence", "intersentence": "intrasentence"}
    reports = {
        name: report(
            CATS,
            [Score(item=i, score=s, task=task(i)) for i, s in by_id.items()],
            named("catsofa"),
            data="d",
            model="m",
        )
        for name, task in {
            "own": kinds.__getitem__,
            "none": lambda item: "",
            "swapped": lambda item: other[kinds[item]],
            "one": lambda item: "intersentence" if item == next(iter(by_id)) else kinds[item],
        }.items()
    }
    warnings = {name: [line for line in each.warnings if "another task" in line] for name, each in reports.items()}
    assert (warnings["own"], warnings["none"]) == ([], [])
    assert [warnings[name][0].partition(" are")[0] for name in ("swapped", "one")] == [
        "600 of 600 scores",
        "1 of 600 scores",
    ]
    assert reports["swapped"].results == reports["own"].results


@pytest.mark.parametrize(("targets", "warned"), [(8, True), (19, True), (20, False)])
def test_few_targets_of_an_association_test_are_named(targets: int, warned: bool) -> None:
    """Skewed associations need 20 targets in X and Y; a test with fewer is named with its number of targets."""
    row = {"test": "zorbs", "p_value": 0.5, "unknown": 0, "sizes": {"x": 30, "y": targets, "a": 8, "b": 8}}
    warnings = of_associations([row | {"intervals": {"effect_size": {"low": 0.1, "high": 0.9}}}])
    assert [f"zorbs ({targets})" in line for line in warnings] == [True] * warned
    assert not of_associations([row | {"intervals": {"effect_size": {"low": nan, "high": nan}}}])


@pytest.mark.parametrize(("largest", "warned"), [(4.5, False), (12.0, True)])
def test_a_sofa_score_that_few_stereotypes_decide_is_named(largest: float, warned: bool) -> None:
    """Of forty stereotypes, the largest variance is 4.5 or 12 times the median: above 5 the category is named."""
    spread = [1.0] * 20 + [1.1, 0.9] * 9 + [largest, 1.0]
    probes, probe_scores = [], []
    for number, variance in enumerate(spread):
        for identity, place in zip("abc", (-1, 0, 1), strict=True):
            probes.append(Probe(category="invented", identity=identity, stereotype=f"bakes {number}"))
            extra = {"identity": -1.0, "conditional": place * variance**0.5}
            probe_scores.append(Score(item=probes[-1].id, score=place * variance**0.5, extra=extra))
    warnings = [line for line in of_probes(sofa.results(probes, probe_scores)) if "power law" in line]
    assert [f"invented (the largest variance is {largest:.1f} times" in line for line in warnings] == [True] * warned


def test_comparisons_count_ties_too() -> None:
    """Against a constant model, the difference of ss is undefined, and a warning reports the number of ties."""
    healthy, other = (outcomes(CATS, scores(each)) for each in (drawn(), {c.id: (1, 1, 1) for c in CATS}))
    comparison = compare({"m": healthy, "constant": other}, resamples=100)
    assert [isnan(row.change.by.value) for row in comparison.differences] == [True] * 3
    assert comparison.to_dict()["disagreement"]["constant"]["coverage"] == 0
    assert any("200 of 200 CATs (100 %, constant)" in line for line in comparison.warnings)


def test_a_report_of_old_scores_with_nan_stays_defined() -> None:
    """A NaN score is unscored, not a tie."""
    result = measured(CATS[:2], {CATS[0].id: (nan, nan, nan), CATS[1].id: (3, 2, 1)})
    assert result.to_dict()["results"]["overall"]["ties"] == 0
