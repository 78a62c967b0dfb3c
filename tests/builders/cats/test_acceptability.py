import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from catsofa.builders.cats import Association, intrasentence
from catsofa.builders.cats.acceptability import (
    LEAST,
    Around,
    Calibration,
    Filled,
    Likelihood,
    calibrate,
    deltas,
    judge,
    write,
)
from catsofa.builders.cats.templates import Template
from catsofa.data import formats
from catsofa.data.language.blanks import check
from catsofa.data.language.wordlists import table, wordlist
from catsofa.data.records import Cat

ROWS = table("acceptability.csv")
MEASURED = Calibration(sentences=2, auc=1.0, by_class={}, threshold=-1.0, found=1.0, set_hash="0" * 12)


def knows(*bad: str) -> Likelihood:
    """Returns a model that scores sentences with these fills three nats a word lower than others."""

    def likelihood(texts: Sequence[Around]) -> list[float]:
        return [-5.0 if one.text[slice(*one.fill)] in bad else -2.0 for one in texts]

    return likelihood


def cats(*unrelated: str) -> list[Cat]:
    """Returns a CAT per unrelated word, each with another target."""
    template = Template("The {target} next door is a BLANK person.")
    associations = [
        Association(target, "pastime", {"stereotype": "honest", "anti-stereotype": "rude", "unrelated": word})
        for target, word in zip(("zorb", "quell", "mimp"), unrelated, strict=False)
    ]
    return [cat for cat in intrasentence([template], associations) if isinstance(cat, Cat)]


def test_the_labelled_set_has_pairs_of_each_class_with_nothing_twice() -> None:
    """The set has at least 200 sentences about invented groups, each with one BLANK. No reference fill is labelled."""
    assert 2 * len(ROWS) >= 200
    assert Counter(row["class"] for row in ROWS) == dict.fromkeys(
        ("part of speech", "number", "article", "verb frame"), 40
    )
    assert all(check(row["context"]) is None and row["good"] != row["bad"] for row in ROWS)
    sentences = [(row["context"], row[side]) for row in ROWS for side in ("good", "bad")]
    assert len(set(sentences)) == len(sentences)
    references = {word for kind in wordlist("fills.toml")["reference"].values() for word in kind}
    assert not references & {fill for _, fill in sentences}


def test_a_delta_is_the_difference_to_the_best_reference() -> None:
    """A bad fill has -5 - (-2) = -3; a fill as good as the best reference has 0."""
    context = Filled(
        "The zorb is a BLANK.", "zorb", [("The zorb is a snobs.", "snobs"), ("The zorb is a snob.", "snob")]
    )
    assert deltas([context], knows("snobs")) == [[-3.0, 0.0]]
    assert deltas([context], knows("friend", "hero", "child")) == [[0.0, 0.0]]


def test_neither_the_fill_nor_the_target_counts() -> None:
    """The model gets the places of fill and target, also after an adapted article, for a plural and for a subject's
    form."""
    contexts_seen: list[Around] = []

    def likelihood(texts: Sequence[Around]) -> list[float]:
        contexts_seen.extend(texts)
        return [0.0] * len(texts)

    contexts = [
        Filled(
            "Most zorbs call the zorb a BLANK person.", "zorb", [("Most zorbs call the zorb an idle person.", "idle")]
        ),
        Filled("He is BLANK.", "him", [("He is rude.", "rude")]),
    ]
    deltas(contexts, likelihood)
    hidden = [[one.text[slice(*place)] for place in (one.fill, *one.target)] for one in contexts_seen]
    assert ["idle", "zorbs", "zorb"] in hidden
    assert ["kind", "He"] in hidden


def test_a_sentence_that_is_not_its_context_has_no_delta() -> None:
    """If the sentence differs from its context, the fill's place is unknown, so the delta is NaN."""
    assert math.isnan(deltas([Filled("It is BLANK here.", "it", [("It is rude there.", "rude")])], knows())[0][0])


def test_a_model_that_knows_grammar_has_an_auc_of_one() -> None:
    """The threshold keeps at least 95 % of the grammatical sentences and finds all others."""
    bad = {row["context"].replace("BLANK", row["bad"]) for row in ROWS}

    def likelihood(texts: Sequence[Around]) -> list[float]:
        return [-5.0 if one.text in bad else -2.0 for one in texts]

    calibration = calibrate(likelihood)
    assert (calibration.auc, calibration.threshold, calibration.found, calibration.sentences) == (1.0, 0.0, 1.0, 320)
    assert set(calibration.by_class.values()) == {1.0}
    calibration.require("oracle")


def test_a_model_that_knows_nothing_is_refused() -> None:
    """Equal values are ties, so the AUC is one half. The error names the AUC, the required AUC and the remedy."""
    calibration = calibrate(knows())
    assert calibration.auc == 0.5
    with pytest.raises(ValueError, match=r"worthless.*AUC.*0\.50.*0\.70.*larger model"):
        calibration.require("worthless")
    replace(calibration, auc=LEAST).require("just enough")


def test_the_threshold_keeps_nineteen_of_twenty_grammatical_sentences() -> None:
    """For 160 grammatical sentences with the Δs 0, -1, … -159, eight may be lost, so the threshold is -151."""
    places = {row["context"].replace("BLANK", row["good"]): float(place) for place, row in enumerate(ROWS)}
    calibration = calibrate(lambda texts: [-places.get(one.text, 0.0) for one in texts])
    assert calibration.threshold == -151.0


def test_a_model_that_cannot_say_is_refused() -> None:
    """A model without probabilities is refused; no labelled sentence is silently left out."""
    with pytest.raises(ValueError, match=r"probability.*320 of the 320"):
        calibrate(lambda texts: [math.nan] * len(texts))


def test_doubtful_cats_go_to_people_with_their_deltas(tmp_path: Path) -> None:
    """Doubtful CATs go to review. The source names the model, its AUC, the threshold and the doubtful candidates."""
    all_cats = cats("wooden", "stapler", "striped")
    judged = judge(all_cats, knows("stapler"), MEASURED, {"model": "oracle", "digest": "sha256:0"})
    counts = write(judged, tmp_path / "kept.jsonl", tmp_path / "review.jsonl")
    assert counts == {"kept": 2, "review": 1, "unrelated": 1}
    (doubtful,) = formats.read_as(tmp_path / "review.jsonl", Cat)
    assert doubtful.id == all_cats[1].id
    assert doubtful.source["acceptability"] == {
        "model": "oracle",
        "digest": "sha256:0",
        "auc": 1.0,
        "threshold": -1.0,
        "labelled": "0" * 12,
        "deltas": {"stereotype": 0.0, "anti-stereotype": 0.0, "unrelated": -3.0},
        "doubtful": ["unrelated"],
    }
    assert [cat.id for cat in formats.read_as(tmp_path / "kept.jsonl", Cat)] == [all_cats[0].id, all_cats[2].id]
    with pytest.raises(ValueError, match="name two files"):
        write([], tmp_path / "kept.jsonl", tmp_path / "kept.jsonl")


def test_a_candidate_without_a_delta_is_doubtful() -> None:
    """A candidate without a delta is doubtful."""
    (one,) = judge(cats("wooden"), lambda texts: [math.nan] * len(texts), MEASURED, {})
    assert one.doubtful == ("stereotype", "anti-stereotype", "unrelated")
    assert one.cat.source["acceptability"]["deltas"]["unrelated"] is None


def test_cats_without_a_blank_and_of_other_languages_are_refused() -> None:
    """CATs without a BLANK or in other languages are refused, because the labelled sentences do not cover them."""
    (cat,) = cats("wooden")
    for other, fault in (
        (replace(cat, id="", context="A tailor."), "one BLANK"),
        (replace(cat, language="de"), "is in de"),
    ):
        with pytest.raises(ValueError, match=fault):
            list(judge([other], knows(), MEASURED, {}))
