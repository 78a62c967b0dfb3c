"""Warnings of finished runs: caveats of the scores that apply to every measure computed from them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from catsofa.scoring.likelihood import half_precision, self_check
from catsofa.scoring.likelihood.self_check import Batching
from catsofa.scoring.run.manifest import UNUSED, is_checked, read_manifest
from catsofa.scoring.run.origins import scored_by
from catsofa.scoring.run.reports import read_report
from catsofa.scoring.run.rows import unchecked
from catsofa.scoring.run.store import Run

MASKED = ("ForMaskedLM", "ForPreTraining")
"""Ends of the class names of masked models; models behind servers are asked from left to right and have none."""


def self_checks(run: Path) -> dict[str, Batching]:
    """The stored self-check findings of a run; empty for runs of earlier versions, which stored none."""
    findings = defaultdict[str, Batching](Batching)
    if is_checked(read_manifest(run)):
        with Run.open(run) as held:
            self_check.restore(findings, held.self_checks())
    return findings


def unused(run: Path) -> tuple[str, ...]:
    """The warning about weights that the model of a run does not use; empty without one."""
    warning = read_manifest(run).get("about", {}).get(UNUSED)
    return (str(warning),) if warning else ()


def of_run(path: Path) -> Iterator[str]:
    """The warnings of a finished run, in the words that the run printed; none for a file of scores."""
    if not path.is_dir():
        return
    manifest = read_manifest(path)
    yield from unused(path)
    yield from self_check.warnings(self_checks(path))
    if not is_checked(manifest):
        yield unchecked(Path(path.resolve().name))
    elif precision := read_report(path).get("precision"):
        yield half_precision.sentence(precision)


def is_masked(manifest: Mapping[str, Any]) -> bool:
    """True if the model of a run is a masked one, by its manifest."""
    return str(manifest.get("identity", {}).get("model", {}).get("architecture", "")).endswith(MASKED)


def of_masked(manifests: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The caution about masked models beside others on pairs, by the manifest of each model; empty without both."""
    masked, others = list[str](), list[str]()
    ways = dict[str, None]()
    for model, manifest in manifests.items():
        identity = manifest.get("identity", {})
        if is_masked(manifest):
            masked.append(model)
            ways[f"crows={identity.get('protocol', {}).get('crows', '')}"] = None
        elif identity:
            others.append(model)
    if not masked or not others:
        return ()
    return (
        f"masked models ({', '.join(masked)}) are scored by the pseudo-log-likelihood of tokens ({', '.join(ways)}), "
        f"other models ({', '.join(others)}) by the log-likelihood of whole sentences: two different measurements",
    )


def of_precisions(dtypes: Iterable[str]) -> tuple[str, ...]:
    """The caution about models computed in different precisions; empty if fewer than two are known."""
    known = [dtype for dtype in dict.fromkeys(dtypes) if dtype]
    if len(known) < 2:
        return ()
    return (f"models computed in {' and '.join(known)}: a part of each difference may come from the precision",)


def of_runs(paths: Sequence[Path]) -> tuple[str, ...]:
    """The warnings of several runs without repeats; a warning that some runs lack begins with its model's name."""
    each = {path: list(of_run(path)) for path in paths}
    warnings: dict[str, None] = {}
    for path, sentences in each.items():
        for sentence in sentences:
            shared = all(sentence in other for other in each.values()) or sentence.startswith(
                f"{path.resolve().name} was"
            )
            warnings[sentence if shared else f"{scored_by(path)}: {sentence}"] = None
    return tuple(warnings)
