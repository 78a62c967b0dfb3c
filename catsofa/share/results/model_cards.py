"""Finished runs for the card of a model on the Hub: `model-index`, and a file of `.eval_results`."""

from collections.abc import Sequence
from datetime import datetime

from catsofa.data.percentages import in_percent
from catsofa.report.inputs import Finished, begun
from catsofa.scoring.signature import without_hashes
from catsofa.share.results import OVERALL, Measured, called, measured


def model_index(runs: Sequence[Finished], dataset: str = "") -> str:
    """Returns the `model-index` of a card as YAML: the numbers over all items of each run, with its signature.

    Raises ValueError for runs of several models, and for two runs of one configuration. `dataset` is the name of the
    data on the Hub, if they are there.
    """
    from huggingface_hub import EvalResult, ModelCardData

    results = [
        EvalResult(
            task_type="text-generation",
            task_name="Stereotypes",
            dataset_type=dataset or without_hashes(run.signature.data),
            dataset_name=without_hashes(run.signature.data),
            dataset_config=config,
            dataset_args={"signature": str(run.signature)},
            metric_type=_task(run, number),
            metric_value=number.value,
            metric_name=_said(number),
        )
        for config, configured in _configs(runs).items()
        for run, number in _whole([configured])
    ]
    return str(ModelCardData(model_name=_one_model(runs), eval_results=results).to_yaml())


def _configs(runs: Sequence[Finished]) -> dict[str, Finished]:
    """Maps kind, data, subset and protocol to the run, because a card groups all numbers of one configuration."""
    by_config = dict[str, Finished]()
    for run in runs:
        signature = run.signature
        parts = (run.kind, without_hashes(signature.data), without_hashes(signature.subset), signature.protocol)
        config = ", ".join(filter(None, parts))
        if (other := by_config.setdefault(config, run)) is not run:
            raise ValueError(f"{other.folder} and {run.folder} are two runs of {config}; give one of them")
    return by_config


def eval_results(runs: Sequence[Finished], dataset: str) -> str:
    """Returns a file of `.eval_results` as YAML: the numbers over all items; `dataset` is the data's Hub name."""
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    from huggingface_hub.utils._fixes import yaml_dump

    if dataset.count("/") != 1:
        problem = f"found {dataset!r}" if dataset else "found no name"
        raise ValueError(
            f"{problem} of the data on the Hub; expected --dataset OWNER/NAME, to which such results belong"
        )
    _one_model(runs)
    entries = [
        EvalResultEntry(
            dataset_id=dataset,
            task_id=_task(run, number),
            value=number.value,
            date=datetime.fromisoformat(begun(run)).isoformat(timespec="seconds") if begun(run) else None,
            notes=f"{_said(number)}; {run.signature}",
        )
        for run, number in _whole(runs)
    ]
    names = [entry.task_id for entry in entries]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"two of these runs have {twice} on {dataset}; give the runs on one set of each kind")
    return str(yaml_dump(eval_result_entries_to_yaml(entries), sort_keys=False))


def _whole(runs: Sequence[Finished]) -> list[tuple[Finished, Measured]]:
    """Returns the numbers over all items; for association tests, which have no total, those of each test."""
    return [(run, number) for run in runs for number in measured(run) if run.kind == "seat" or number.set == OVERALL]


def _task(run: Finished, number: Measured) -> str:
    """Returns a name of a number that is unique among all numbers of a model."""
    return "_".join([run.kind, number.name, *([number.set] if number.set != OVERALL else [])])


def _said(number: Measured) -> str:
    """Describes a number with its interval, ideal and coverage, because a card has no field for them."""
    limits = (
        "" if number.low is None or number.high is None else f", 95 % interval {number.low:.4g} to {number.high:.4g}"
    )
    used = "" if number.coverage is None else f", coverage {in_percent(number.coverage)}"
    return f"{number.scale.about} (ideal {number.scale.ideal:g}{limits}{used})"


def _one_model(runs: Sequence[Finished]) -> str:
    """Returns the model of all runs; refuses several models. For association tests, ignores the part after ` kind=`."""
    if len(models := dict.fromkeys(run.signature.model.partition(" kind=")[0] for run in runs)) > 1:
        raise ValueError(f"a card is of one model; found runs of {', '.join(models)}")
    return called(runs[0])
