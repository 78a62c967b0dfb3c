"""Tests of the matrix of effect sizes in a report."""

from pathlib import Path

from helpers.report_runs import association, run

from catsofa.report import document, figures

NAMES = [f"sent-angry_zorbish_baker_stereotype_{number}" for number in (1, 2, 10)]
MODEL = "an-encoder-of-zorbish-texts-v0.3"


def test_a_matrix_has_whole_names_and_effects_of_two_decimals(tmp_path: Path) -> None:
    """Names of 40 letters are not cut, and an effect with a narrow interval has no more decimals than others."""
    rows = [association(name, 0.3)[0] for name in NAMES]
    narrow = {"effect_size": {"low": 0.33331, "high": 0.33339}}
    for letter in "ab":
        run(tmp_path / letter, [{**row, "effect_size": 0.33335, "intervals": narrow} for row in rows], MODEL + letter)
    (figure,) = document([tmp_path]).sections[0].figures
    axes = figures.draw(figure.draw).axes[0]
    assert {text.get_text() for text in axes.texts} == {"0.33"}
    assert [label.get_text() for label in axes.get_yticklabels()] == NAMES
    assert [label.get_text() for label in axes.get_xticklabels()] == [f"{MODEL}a", f"{MODEL}b"]
