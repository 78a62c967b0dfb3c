from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from catsofa.builders.probes.perplexity_filter import build, cut, draw, histogram, mean_over_models, read_scores
from catsofa.data.files import jsonl
from catsofa.data.records import Refused, Score, Stereotype


def test_the_mean_is_over_all_models_or_there_is_none() -> None:
    """10 and 30 give 20. An item with a missing or infinite score of one model has no mean."""
    scores = {"a": {"x": 10.0, "y": 10.0, "z": 5.0}, "b": {"x": 30.0, "y": None, "z": float("inf")}}
    assert mean_over_models(scores) == {"x": 20.0}


def test_freedman_and_diaconis_give_the_bins() -> None:
    """0…99: the quartiles are 24.75 and 74.25, so h = 2·49.5/100^(1/3) = 21.3, and 99/21.3 = 4.6 means 5 bins."""
    values = [float(value) for value in range(1, 101)]
    drawn = histogram(values, scale="linear", keep=1.0)
    assert drawn.counts == (20, 20, 20, 20, 20)
    assert (drawn.edges[0], drawn.edges[-1]) == (1, 100)
    assert len(drawn.edges) == len(np.histogram_bin_edges(values, "fd"))


def test_bins_are_on_the_logarithm_unless_asked_otherwise() -> None:
    """10, 100 and 1000 fill three bins on a logarithmic scale, and two on a linear one."""
    values = [10.0, 100.0, 1000.0]
    assert histogram(values, bins=3, keep=3).counts == (1, 1, 1)
    assert histogram(values, bins=3, keep=3, scale="linear").counts == (2, 0, 1)


def test_the_cut_is_a_number_of_bins_or_the_share_they_hold() -> None:
    """For counts 5, 3, 2, the first bin has half of the values, and two bins have 80 %."""
    values = [1.0] * 5 + [2.0] * 3 + [3.0] * 2
    by_cut = {keep: histogram(values, bins=3, keep=keep, scale="linear").kept for keep in (1, 2, 0.5, 0.51, 0.8, 0.9)}
    assert by_cut == {1: 5, 2: 8, 0.5: 5, 0.51: 8, 0.8: 8, 0.9: 10}
    assert (cut("2"), cut("0.5")) == (2, 0.5)
    with pytest.raises(ValueError, match="4 of 3 bins"):
        histogram(values, bins=3, keep=4)
    with pytest.raises(ValueError, match="number of bins"):
        cut("most")


def test_each_category_has_its_own_histogram_and_every_stereotype_an_end() -> None:
    """A perplexity can be high for one category and low for another. An unscored stereotype is refused as unscored."""
    stereotypes = [Stereotype(id=f"{c}{i}", text=f"bake {i}", category=c) for c in "ab" for i in range(10)]
    perplexity = {f"{c}{i}": (10.0 if c == "a" else 1000.0) * (1 + i) for c in "ab" for i in range(10)} | {"stray": 1.0}
    del perplexity["a0"]
    drawn, outcomes = build(stereotypes, perplexity, bins=4, keep=2, scale="linear")
    records = list(outcomes)
    assert [(h.category, sum(h.counts)) for h in drawn] == [("a", 9), ("b", 10)]
    assert [r.id for r in records if isinstance(r, Stereotype)] == [f"a{i}" for i in range(1, 5)] + [
        f"b{i}" for i in range(5)
    ]
    reasons = Counter(r.reason for r in records if isinstance(r, Refused))
    assert reasons == {"unscored": 1, "high_perplexity": 10}
    assert sum(h.kept for h in drawn) == 9, "the histogram counts what is kept"


def test_a_value_on_the_last_edge_is_kept_with_all_bins() -> None:
    """The highest value belongs to the last bin."""
    stereotypes = [Stereotype(id=str(i), text=f"bake {i}") for i in range(3)]
    _, outcomes = build(stereotypes, {"0": 1.0, "1": 2.0, "2": 3.0}, bins=2, keep=2, scale="linear")
    assert all(isinstance(record, Stereotype) for record in outcomes)


def test_one_value_only_is_one_bin() -> None:
    """Equal values have no spread and form one bin."""
    assert histogram([7.0] * 5, bins=None, keep=1.0).kept == 5
    with pytest.raises(ValueError, match="above 0"):
        histogram([0.0, 1.0])
    with pytest.raises(ValueError, match="no perplexities"):
        histogram([])


def test_scores_are_read_a_file_a_model(tmp_path: Path) -> None:
    """Scores are read by item and file; the same file twice is refused, because its model would count twice."""
    for name, value in (("a", 10.0), ("b", None)):
        jsonl.write([Score(item="x", score=value, tokens=3)], tmp_path / f"{name}.jsonl")
    scores = read_scores([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    assert list(scores.values()) == [{"x": 10.0}, {"x": None}]
    with pytest.raises(ValueError, match="named twice"):
        read_scores([tmp_path / "a.jsonl", tmp_path / "a.jsonl"])


def test_the_figure_is_the_same_file_for_the_same_numbers(tmp_path: Path) -> None:
    """The figure is an SVG without a date, with one panel per category that shows the number kept."""
    drawn = [histogram([float(v) for v in range(1, 40)], name, keep=0.5) for name in ("gender", "religion")]
    for name in ("a.svg", "b.svg"):
        draw(drawn, tmp_path / name)
    picture = (tmp_path / "a.svg").read_text()
    assert picture == (tmp_path / "b.svg").read_text()
    assert picture.startswith("<?xml")
    assert picture.count('id="axes_') == 2
