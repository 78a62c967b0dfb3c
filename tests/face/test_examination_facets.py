"""Tests that runs of one model by several protocols, prompts or samples are a facet, never more models."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.choice_runs import pairs
from helpers.records import cats
from helpers.tiny_models import BUILDERS

from catsofa.data.files import BadInput, jsonl
from catsofa.examination import examine
from catsofa.scoring.choosing.measured import items_of, measure
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.choosing.requests import orders
from catsofa.scoring.dataset import open_data
from catsofa.scoring.evaluate import evaluate


def asked(
    folder: Path,
    model: str,
    templates: Sequence[str] = ("likelihood",),
    *,
    samples: int = 1,
    seed: int = 0,
    refused: int = 0,
    **how: Any,
) -> Path:
    """Writes a run of a guessing model, with more stereotypes the later its name comes in the alphabet.

    The model refuses the first `refused` items.
    """
    if not (folder.parent / "pairs.jsonl").exists():
        jsonl.write(pairs(24), folder.parent / "pairs.jsonl")
    data = open_data(folder.parent / "pairs.jsonl")
    items, rng = items_of(data), np.random.default_rng([seed, ord(model[0])])
    rate = 0.2 + 0.1 * (ord(model[0]) - ord("a"))
    replies = [
        Reply(
            item=item.id, order=order, template=template, sample=sample,
            reply="AB"[order.index("stereotype" if rng.random() < rate else "anti-stereotype")] + "."
            if index >= refused else "I can't help with that.",
        )
        for index, item in enumerate(items.values())
        for template in templates for order in orders(item) for sample in range(samples)
    ]  # fmt: skip
    measure(replies, items, data, model, out=folder, resamples=10, subset=how.pop("subset", ""), how=how)
    return folder


MODELS = "abcd"


def test_several_prompts_of_each_run_are_a_facet(tmp_path: Path) -> None:
    """With four models and two prompts, items have the mean of both, and the study lists the prompts by name."""
    runs = [asked(tmp_path / name, name, ("likelihood", "plain"), seed=1) for name in MODELS]
    part = examine(runs, tmp_path / "pairs.jsonl", resamples=20).parts["choices"]
    assert part.models == 4
    assert list(part.facets) == ["prompt"]
    assert part.facets["prompt"].levels == ("likelihood", "plain")


def test_runs_of_one_model_by_other_prompts_are_that_model(tmp_path: Path) -> None:
    """A folder for each prompt gives the numbers of one folder with both."""
    both = ("likelihood", "plain")
    runs = [asked(tmp_path / f"{name}-{one}", name, (one,), seed=at) for name in MODELS for at, one in enumerate(both)]
    result = examine(runs, tmp_path / "pairs.jsonl", resamples=20)
    part = result.parts["choices"]
    assert result.models == ("a", "b", "c", "d")
    assert part.facets["prompt"].levels == both
    assert str(result.signature).count("model:a b c d |") == 1


def test_samples_of_a_run_and_runs_of_other_seeds_are_samples(tmp_path: Path) -> None:
    """Three samples in one folder, or one in each of three folders, are a facet of three samples."""
    runs = [asked(tmp_path / name, name, samples=3) for name in MODELS]
    one = examine(runs, tmp_path / "pairs.jsonl", resamples=20).parts["choices"]
    several = [asked(tmp_path / f"{name}{seed}", name, seed=seed) for name in MODELS for seed in range(3)]
    other = examine(several, tmp_path / "pairs.jsonl", resamples=20).parts["choices"]
    for part in (one, other):
        assert part.facets["sample"].levels == ("1", "2", "3")
        assert part.facets["sample"].components == ("model", "item", "model_item", "residual")


def test_prompts_and_samples_are_studied_each(tmp_path: Path) -> None:
    """With two prompts of two samples each, the shares of one facet are over both levels of the other."""
    runs = [asked(tmp_path / name, name, ("likelihood", "plain"), samples=2) for name in MODELS]
    part = examine(runs, tmp_path / "pairs.jsonl", resamples=20).parts["choices"]
    assert {name: one.levels for name, one in part.facets.items()} == {
        "prompt": ("likelihood", "plain"),
        "sample": ("1", "2"),
    }


def test_one_prompt_and_one_sample_are_no_facet(tmp_path: Path) -> None:
    """Only models and items vary."""
    runs = [asked(tmp_path / name, name) for name in MODELS]
    assert "facets" not in examine(runs, tmp_path / "pairs.jsonl", resamples=20).parts["choices"].to_dict()


def test_a_prompt_that_some_models_lack_is_refused(tmp_path: Path) -> None:
    """The error lists each model with its prompts and samples, and the next step."""
    runs = [asked(tmp_path / "a", "a", ("likelihood", "plain")), asked(tmp_path / "b", "b")]
    with pytest.raises(ValueError, match=r"every model.*every prompt") as refused:
        examine(runs, tmp_path / "pairs.jsonl")
    assert "(1 sample), plain@" in str(refused.value)
    runs[0] = asked(tmp_path / "a2", "a", samples=2)
    with pytest.raises(ValueError, match=r"a: likelihood@\w+ \(2 samples\); b: likelihood@\w+ \(1 sample\)"):
        examine(runs, tmp_path / "pairs.jsonl")


def test_prompts_with_other_numbers_of_samples_are_refused(tmp_path: Path) -> None:
    """The first sample would be of two prompts, the others of one, so they are no replicates."""
    runs = [asked(tmp_path / f"{name}1", name) for name in MODELS]
    runs += [asked(tmp_path / f"{name}3", name, ("plain",), samples=3, seed=1) for name in MODELS]
    with pytest.raises(ValueError, match=r"a: likelihood@\w+ \(1 sample\), plain@\w+ \(3 samples\)"):
        examine(runs, tmp_path / "pairs.jsonl")


def test_an_item_that_one_prompt_lacks_has_no_mean_of_the_others(tmp_path: Path) -> None:
    """Model a refuses half of the items under one prompt: they are unscored, not taken from the other prompt."""
    runs = [asked(tmp_path / name, name, seed=1) for name in MODELS]
    runs += [asked(tmp_path / f"{name}2", name, ("plain",), seed=2) for name in MODELS[1:]]
    refused = asked(tmp_path / "a2", "a", ("plain",), seed=2, refused=12)
    part = examine([*runs, refused], tmp_path / "pairs.jsonl", resamples=20).parts["choices"]
    assert part.coverage == (4 * 24 - 12) / (4 * 24)
    assert part.facets["prompt"].items == 12


def test_a_prompt_that_copies_another_counts_once_in_the_means(tmp_path: Path) -> None:
    """Two prompts with the same answers and a third one give the numbers of two prompts."""
    runs = [asked(tmp_path / f"{name}{index}", name, (one,), seed=index) for name in MODELS
            for index, one in enumerate(("likelihood", "plain"))]  # fmt: skip
    copies = [asked(tmp_path / f"{name}2", name, ("agreement",), seed=0) for name in MODELS]
    two, three = (examine(run_set, tmp_path / "pairs.jsonl", resamples=20) for run_set in (runs, [*runs, *copies]))
    assert any("counted once" in sentence for sentence in three.warnings)
    assert two.parts["choices"].numbers == three.parts["choices"].numbers


def test_a_wording_of_one_name_and_another_text_is_another_prompt(tmp_path: Path) -> None:
    """Two versions of `own` are two levels, distinguished by the hash of their text."""
    runs = [
        asked(tmp_path / f"{name}{version}", name, ("own",), seed=version, wordings={"own": f"own@{version}ab"})
        for name in MODELS
        for version in (1, 2)
    ]
    part = examine(runs, tmp_path / "pairs.jsonl", resamples=20).parts["choices"]
    assert part.facets["prompt"].levels == ("own@1ab", "own@2ab")


def test_replies_that_are_there_twice_are_no_second_sample(tmp_path: Path) -> None:
    """A copy of a run is refused; a single model is no examination, however many runs it has."""
    one, copy, other = (asked(tmp_path / name, "a", seed=name == "other") for name in ("one", "copy", "other"))
    with pytest.raises(ValueError, match=r"same replies of a\b"):
        examine([one, copy, asked(tmp_path / "b", "b")], tmp_path / "pairs.jsonl")
    with pytest.raises(ValueError, match=r"2 runs.*\(a\)"):
        examine([one, other], tmp_path / "pairs.jsonl")


def test_runs_of_one_model_about_other_items_are_refused(tmp_path: Path) -> None:
    """Prompts are compared on the same sample of the data."""
    runs = [asked(tmp_path / "one", "a"), asked(tmp_path / "two", "a", ("plain",), subset="stratified 24@0a1b")]
    with pytest.raises(BadInput, match="other items"):
        examine(runs, tmp_path / "pairs.jsonl")


PROTOCOLS = ("catsofa", "stereoset-code", "catsofa,length=sum")


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes runs of two tiny models by three protocols, in a folder of each model."""
    folder = tmp_path_factory.mktemp("protocols")
    jsonl.write(cats(), folder / "cats.jsonl")
    for name in ("bloom", "gpt2"):
        (folder / name).mkdir()
        BUILDERS[name](folder / name)
        for protocol in PROTOCOLS:
            out = folder / "runs" / name / protocol.replace(",", "-")
            evaluate(str(folder / name), folder / "cats.jsonl", out=out, protocol=protocol, resamples=5)
    return folder / "runs"


@pytest.mark.slow
def test_runs_by_several_protocols_are_a_facet(scored: Path) -> None:
    """Each run of two models is read by its own protocol. For intersentence CATs one protocol equals another."""
    result = examine([scored], resamples=20)
    assert len(result.models) == 2
    part = result.parts["intrasentence"]
    assert (part.models, part.facets["protocol"].levels) == (2, ("catsofa", "catsofa,length=sum", "stereoset-code"))
    alone = [examine([*scored.glob(f"*/{name.replace(',', '-')}")], protocol=name, resamples=5) for name in PROTOCOLS]
    assert {one.parts["intrasentence"].models for one in alone} == {2}
    assert f"protocol:{' '.join(sorted(PROTOCOLS))}" in str(result.signature)


@pytest.mark.slow
def test_protocols_that_cannot_be_a_facet_are_refused(scored: Path) -> None:
    """A protocol that one model lacks, one model alone, a protocol other than the runs', and margins are refused."""
    both, code = [*scored.glob("*/catsofa")], scored / "gpt2/stereoset-code"
    cases: dict[str, tuple[list[Path], dict[str, Any]]] = {
        "leave out the runs by stereoset-code": ([*both, code], {}),
        "found 1 model, by catsofa and": ([scored / "gpt2"], {}),
        "found the protocol stereoset-acl": ([scored], {"protocol": "stereoset-acl"}),
        "several units": ([scored], {"margins": True}),
    }
    for message, (paths, how) in cases.items():
        with pytest.raises(ValueError, match=message):
            examine(paths, **how)


@pytest.mark.slow
def test_runs_of_one_model_on_other_numbers_of_records_are_one_too_many(scored: Path, tmp_path: Path) -> None:
    """A model counts once: the run on four records is refused beside the run on all."""
    evaluate(str(scored.parent / "gpt2"), scored.parent / "cats.jsonl", out=tmp_path / "four", limit=4, resamples=5)
    with pytest.raises(ValueError, match="numbers of records"):
        examine([*scored.glob("*/catsofa"), tmp_path / "four"])
