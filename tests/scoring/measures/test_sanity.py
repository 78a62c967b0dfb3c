"""Numbers that rest on nothing say so: constant models, texts of unknown tokens, inverted scores, sets of few terms."""

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
    """The report of CATs with these scores of stereotype, anti-stereotype and unrelated."""
    given = scores(values)  # type: ignore[arg-type]  # three each
    of = [Score(item=item, score=score) for item, score in given.items()]
    return report(cats, of, named(protocol), data="d", model="m", resamples=500)


def drawn(seed: int = 0, lms: float = 0.9) -> dict[str, tuple[float, float, float]]:
    """Scores of a model that prefers the meaningful candidates so often, and neither of them."""
    rng = np.random.default_rng(seed)
    side = np.where(rng.random(len(CATS)) < lms, 1, -1)
    return {of.id: (*rng.random(2) * 0.5, -s) for of, s in zip(CATS, side, strict=True)}


def test_a_constant_model_has_no_number_and_a_warning() -> None:
    """Equal scores everywhere: lms, ss and icat undefined, coverage 0; a preset counts them."""
    found = measured(CATS, {of.id: (-3.0, -3.0, -3.0) for of in CATS})
    whole = found.to_dict()["results"]["overall"]
    assert all(isnan(whole[name]) for name in ("lms", "ss", "icat"))
    assert (whole["coverage"], whole["lms_coverage"], whole["ss_coverage"], whole["ties"]) == (0, 0, 0, 200)
    assert any("equal scores in 100 of 100 CATs (100 %, intrasentence)" in line for line in found.warnings)
    by_code = measured(CATS, {of.id: (1, 1, 1) for of in CATS}, "stereoset-code")
    assert (by_code.to_dict()["results"]["overall"]["ss"], by_code.to_dict()["results"]["overall"]["ties"]) == (0, 200)
    assert any("counts them as lost" in line for line in by_code.warnings)


def test_a_task_without_a_decided_ss_is_named_beside_both() -> None:
    """Intersentence all ties: ss of both tasks is that of intrasentence alone, and a warning says so."""
    given = {of.id: (3, 2, 1) if of.kind == "intrasentence" else (2, 2, 1) for of in CATS}
    (warning,) = [line for line in measured(CATS, given).warnings if line.startswith("both tasks: ss")]
    assert "rests on intrasentence only" in warning
    whole = measured(CATS, {of.id: (3, 2, 1) for of in CATS})
    assert not any("only" in line for line in whole.warnings)


@pytest.mark.parametrize(("name", "norm"), [("gpt2", "transformer.ln_f"), ("llama", "model.norm")])
def test_a_network_that_gives_all_tokens_one_probability_decides_nothing(
    tiny: Tiny, tmp_path: Path, name: str, norm: str
) -> None:
    """Sentences of different lengths tie exactly; so do those in the scores that the run keeps."""
    import transformers as t

    folder, run = tmp_path / "flat", tmp_path / "run"
    shutil.copytree(tiny(name), folder)
    module = t.AutoModelForCausalLM.from_pretrained(folder)
    for of in module.get_submodule(norm).parameters():
        of.data.zero_()
    module.save_pretrained(folder)
    found = evaluate(str(folder), INSIDE, out=run, resamples=0)
    for made in (found, report(INSIDE, read_scores(run), named("catsofa"), data="d", model="m", resamples=0)):
        whole = made.to_dict()["results"]["overall"]
        assert (whole["ties_all"], whole["coverage"], isnan(whole["ss"])) == (len(INSIDE), 0, True)
    assert len({score.tokens for score in read_scores(run)}) > 3


def test_a_healthy_model_has_no_warning() -> None:
    """lms 90 of 200 CATs, 20 terms, no ties."""
    found = measured(CATS, drawn())
    assert found.warnings == ()
    assert found.to_dict()["results"]["overall"]["coverage"] == 1


@pytest.mark.parametrize(("share", "warned"), [(0.04, False), (0.06, True)])
def test_ties_are_worth_a_warning_above_five_in_a_hundred(share: float, warned: bool) -> None:
    """Of 200 CATs 8, and 12, whose stereotype and anti-stereotype tie: the count stands in the JSON of both."""
    values, count = drawn(), round(share * len(CATS))
    values |= {of.id: (0.5, 0.5, values[of.id][2]) for of in CATS[:count]}
    found = measured(CATS, values)
    whole = found.to_dict()["results"]["overall"]
    assert (whole["ties"], whole["ss_coverage"]) == (count, 1 - share)
    assert any(f"{count // 2} of 100 CATs" in line for line in found.warnings) == warned


def test_inverted_scores_and_an_lms_of_chance_are_named() -> None:
    """lms 10 lies below chance with its whole interval, lms 50 cannot be told from chance."""
    inverted = measured(CATS, drawn(lms=0.1))
    assert sum("below chance (50.0)" in line and "inverted" in line for line in inverted.warnings) == 2
    random = measured(CATS, drawn(lms=0.5))
    assert sum("may be chance (50.0)" in line for line in random.warnings) == 2
    best = measured(CATS, drawn(lms=0.5), "repro-004")
    assert any("(66.7)" in line for line in best.warnings), "chance of the best of three"


def test_few_terms_and_sets_without_a_score_are_named() -> None:
    """A domain of three terms, and one of which nothing is scored."""
    few = [cat(f"few{n}", target=f"f{n}", bias_type="craft") for n in range(3)]
    none = [cat(f"none{n}", target=f"n{n}", bias_type="weather") for n in range(9)]
    found = measured([*CATS, *few, *none], drawn() | {of.id: (3.0, 2.0, 1.0) for of in few})
    assert [line for line in found.warnings if "craft (3)" in line and "fewer than 8 target terms" in line]
    assert [line for line in found.warnings if "weather (9 CATs)" in line and "nothing is scored" in line]


def unread(of: Cat) -> Cat:
    """A CAT whose three candidates are words of letters that no tokenizer here has seen."""
    one, two, three = (
        replace(c, id=f"unread {c.id}", fill=fill, text=of.context.replace("BLANK", fill))
        for c, fill in zip(of.candidates, "雨雪風", strict=True)
    )
    return replace(of, id=f"unread {of.id}", candidates=(one, two, three))


INSIDE = [of for of in cats() if of.kind == "intrasentence"]


@pytest.mark.parametrize(("name", "known"), [("bert", False), ("llama", False), ("gpt2", True)])
def test_a_model_that_cannot_read_the_fillers(tiny: Tiny, tmp_path: Path, name: str, known: bool) -> None:
    """Words of letters that a tokenizer never saw are one <unk>, all alike: no ss; by bytes they are words."""
    found = evaluate(str(tiny(name)), [unread(of) for of in INSIDE], out=tmp_path / "run", resamples=100)
    whole = found.to_dict()["results"]["overall"]
    if known:
        assert (whole["unknown"], whole["ties"]) == (0, 0)
        return
    assert whole["unknown"] == len(INSIDE)
    assert any("unknown tokens in 9 of 9 CATs (100 %" in line for line in found.warnings)
    assert (whole["ties_all"], whole["ss_coverage"]) == (len(INSIDE), 0)
    assert isnan(whole["ss"])


def test_half_of_the_items_unknown(tiny: Tiny, tmp_path: Path) -> None:
    """ss, its interval and its coverage are of the half that can be read; the run and `report_on` count alike."""
    half = [unread(of) if at % 2 else of for at, of in enumerate(INSIDE)]
    run = tmp_path / "run"
    found = evaluate(str(tiny("bert")), half, out=run, resamples=100).to_dict()["results"]["overall"]
    alone = evaluate(str(tiny("bert")), INSIDE[::2], resamples=100).to_dict()["results"]["overall"]
    assert (found["ss"], found["intervals"]["ss"]) == (alone["ss"], alone["intervals"]["ss"])
    assert (found["unknown"], found["ties"], found["ss_coverage"]) == (4, 4, 5 / 9)
    assert sum("unknown" in score.extra for score in read_scores(run)) == 12


def test_a_run_of_an_earlier_version_says_that_nobody_counted(tiny: Tiny, files: Path, tmp_path: Path) -> None:
    """Its manifest does not promise a count, so that none is no zero; nor does a prediction file."""
    run = tmp_path / "run"
    evaluate(str(tiny("bert")), files / "cats.json", out=run, resamples=0)
    assert report_on(run, files / "cats.json").to_dict()["results"]["overall"]["unknown"] == 0
    manifest = json.loads((run / MANIFEST).read_text())
    del manifest["about"]["unknown_tokens"], manifest["checksum"]
    (run / MANIFEST).write_text(json.dumps(sealed(manifest)))
    assert report_on(run, files / "cats.json").to_dict()["results"]["overall"]["unknown"] is None


def test_pairs_that_tie_and_that_cannot_be_read(tiny: Tiny) -> None:
    """Two pairs of four of unknown words tie: the score is of the other two."""
    pairs = [replace(of, id=f"u{at}", more="The 雨 sang.", less="The 雪 sang.") for at, of in enumerate(PAIRS[:2])]
    found = evaluate(str(tiny("bert")), [*pairs, *PAIRS[2:4]], resamples=100)
    whole = found.to_dict()["results"]["overall"]
    assert (whole["neutral"], whole["unknown"], whole["coverage"]) == (2, 2, 0.5)
    assert any("2 of 4 pairs (50 %)" in line and "left out" in line for line in found.warnings)
    alike = [Score(item=of.id, score=1.0, task=side) for of in PAIRS for side in ("more", "less")]
    constant = report(PAIRS, alike, named("catsofa"), data="d", model="m", resamples=0).to_dict()
    assert isnan(constant["results"]["overall"]["score"])
    assert constant["results"]["overall"]["coverage"] == 0


def test_identities_that_are_unknown_and_stereotypes_that_divide_nobody(tiny: Tiny) -> None:
    """One identity of four is unknown, nine stereotypes show no extreme ones; a score of 0 of a constant model."""
    unknown = [
        Probe(category="invented", identity="雨", stereotype=stereotype)
        for stereotype in dict.fromkeys(of.stereotype for of in PROBES)
    ]
    found = evaluate(str(tiny("bert")), [*PROBES, *unknown], resamples=100)
    part = found.to_dict()["results"]["categories"]["invented"]
    assert (part["unknown_identities"], part["unknown"], part["ties"]) == (1, 9, 0)
    assert any("unknown tokens in 1 of 4 identities" in line for line in found.warnings)
    assert any("extreme" in line and "invented (9)" in line for line in found.warnings)
    alike = [Score(item=of.id, score=-2.0, extra={"identity": -1.0, "conditional": -2.0}) for of in PROBES]
    constant = sofa.results(PROBES, alike)
    assert constant.categories["invented"].ties == constant.categories["invented"].stereotypes
    assert any("equal scores on 9 of 9 stereotypes" in line for line in of_probes(constant))


def test_texts_of_association_tests_that_cannot_be_read(tiny: Tiny) -> None:
    """One sentence of eight holds an unknown word: 12 %, which a warning names."""
    test = replace(TEST, x=replace(TEST.x, items=("A 雨 sang.", *TEST.x.items[1:])))
    found = evaluate(str(tiny("bert-encoder")), [test])
    assert found.to_dict()["results"][0]["unknown"] == 1
    assert any("unknown tokens in 1 of 8 texts (12 %, invented)" in line for line in found.warnings)


def test_scores_under_the_other_task_are_counted() -> None:
    """Every task swapped: 600 of 600, and the same numbers; under their own tasks, or under none, no word."""
    given = scores(drawn())  # type: ignore[arg-type]  # three each
    kinds = {c.id: of.kind for of in CATS for c in of.candidates}
    other = {"intrasentence": "intersentence", "intersentence": "intrasentence"}
    found = {
        name: report(
            CATS,
            [Score(item=i, score=s, task=task(i)) for i, s in given.items()],
            named("catsofa"),
            data="d",
            model="m",
        )
        for name, task in {
            "own": kinds.__getitem__,
            "none": lambda item: "",
            "swapped": lambda item: other[kinds[item]],
            "one": lambda item: "intersentence" if item == next(iter(given)) else kinds[item],
        }.items()
    }
    said = {name: [line for line in each.warnings if "another task" in line] for name, each in found.items()}
    assert (said["own"], said["none"]) == ([], [])
    assert [said[name][0].partition(" are")[0] for name in ("swapped", "one")] == [
        "600 of 600 scores",
        "1 of 600 scores",
    ]
    assert found["swapped"].results == found["own"].results


@pytest.mark.parametrize(("targets", "warned"), [(8, True), (19, True), (20, False)])
def test_few_targets_of_an_association_test_are_named(targets: int, warned: bool) -> None:
    """Skewed associations need 20 targets in X and Y; below that the test is named with its targets."""
    row = {"test": "zorbs", "p_value": 0.5, "unknown": 0, "sizes": {"x": 30, "y": targets, "a": 8, "b": 8}}
    said = of_associations([row | {"intervals": {"effect_size": {"low": 0.1, "high": 0.9}}}])
    assert [f"zorbs ({targets})" in line for line in said] == [True] * warned
    assert not of_associations([row | {"intervals": {"effect_size": {"low": nan, "high": nan}}}])


@pytest.mark.parametrize(("largest", "warned"), [(4.5, False), (12.0, True)])
def test_a_sofa_score_that_few_stereotypes_decide_is_named(largest: float, warned: bool) -> None:
    """Forty stereotypes, the largest variance 4.5 or 12 times the median: above 5 the category is named."""
    spread = [1.0] * 20 + [1.1, 0.9] * 9 + [largest, 1.0]
    probes, given = [], []
    for number, variance in enumerate(spread):
        for identity, place in zip("abc", (-1, 0, 1), strict=True):
            probes.append(Probe(category="invented", identity=identity, stereotype=f"bakes {number}"))
            extra = {"identity": -1.0, "conditional": place * variance**0.5}
            given.append(Score(item=probes[-1].id, score=place * variance**0.5, extra=extra))
    said = [line for line in of_probes(sofa.results(probes, given)) if "power law" in line]
    assert [f"invented (the largest variance is {largest:.1f} times" in line for line in said] == [True] * warned


def test_comparisons_count_ties_too() -> None:
    """A constant model against another: the difference of ss is undefined, and a warning says on how many."""
    of, other = (outcomes(CATS, scores(each)) for each in (drawn(), {c.id: (1, 1, 1) for c in CATS}))
    found = compare({"m": of, "constant": other}, resamples=100)
    assert [isnan(row.change.by.value) for row in found.differences] == [True] * 3
    assert found.to_dict()["disagreement"]["constant"]["coverage"] == 0
    assert any("200 of 200 CATs (100 %, constant)" in line for line in found.warnings)


def test_a_report_of_old_scores_with_nan_stays_defined() -> None:
    """NaN is unscored, and no tie."""
    found = measured(CATS[:2], {CATS[0].id: (nan, nan, nan), CATS[1].id: (3, 2, 1)})
    assert found.to_dict()["results"]["overall"]["ties"] == 0
