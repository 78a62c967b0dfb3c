"""The origins of scores: the model and data of a score file or run, and the options in which two runs differ."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from catsofa.data import sources
from catsofa.data.content import content_at, content_of, earlier_content_of
from catsofa.data.digests import DIGITS
from catsofa.data.files import BadInput
from catsofa.data.runs.manifests import differences
from catsofa.scoring.dataset import SCHEME, place_of
from catsofa.scoring.measures.registry import Measure
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.run.manifest import read_manifest
from catsofa.scoring.run.reports import read_report, subset_in
from catsofa.scoring.signature import data_label, model_label, name_of, predictions_label

RECORDS = "records="
"""The prefix of the option that gives the number of records of a run."""


def scored_by(path: Path | str) -> str:
    """The label of the model of a run, as in signatures; a score file gets a label of its own."""
    return label_in(read_manifest(path), Path(path)) if Path(path).is_dir() else predictions_label(path)


def precision_of(paths: Sequence[Path | str]) -> str:
    """The common precision of runs, as a signature names it; empty for score files and if the runs differ."""
    about = [read_manifest(path).get("about", {}) if Path(path).is_dir() else {} for path in paths]
    precisions = {str(one.get("precision", "")) for one in about}
    return precisions.pop() if len(precisions) == 1 else ""


def label_in(manifest: Mapping[str, Any], folder: Path) -> str:
    """The model label in the manifest of a run, or one made from its name and digest for earlier versions."""
    about, model = manifest.get("about", {}), manifest["identity"].get("model", {})
    if label := about.get("label"):
        return str(label)
    called = str(about.get("model", folder.resolve().name))
    return model_label(called, str(model["digest"])) if model.get("digest") else called


def labels(paths: Sequence[Path]) -> list[str]:
    """One distinct model label per path; runs of the same model also show the options in which they differ."""
    plain = [scored_by(path) for path in paths]
    called = [
        " ".join([label, *_apart(path, _same(path, paths, plain))]) for path, label in zip(paths, plain, strict=True)
    ]
    for number, label in enumerate(called):
        if (first := called.index(label)) < number:
            raise ValueError(f"{paths[first]} and {paths[number]} are scores of one model ({label}); name one of them")
    return called


def by_protocol(paths: Sequence[Path]) -> dict[str, list[Path]]:
    """Protocol name to its runs, in the same order of models; empty if no model was scored in several ways.

    Every model must have a run by every protocol. Runs of one protocol with other options get names with options.
    """
    plain = [scored_by(path) for path in paths]
    apart = [list(_apart(path, _same(path, paths, plain))) for path in paths]
    if not any(apart):
        return {}
    for path, label, options in zip(paths, plain, apart, strict=True):
        if any(option.startswith(RECORDS) for option in options):
            problem = f"found runs of one model ({label}) on several numbers of records, one of them {path}"
            raise ValueError(f"{problem}; expected one number, since a model counts once. Leave the others out")
    names = [str(read_manifest(path).get("about", {}).get("protocol")) if path.is_dir() else "files" for path in paths]
    if max(Counter(zip(plain, names, strict=True)).values()) > 1:
        names = [" ".join([name, *options]) for name, options in zip(names, apart, strict=True)]
    runs: dict[str, dict[str, Path]] = {}
    for path, label, name in zip(paths, plain, names, strict=True):
        if (first := runs.setdefault(name, {}).setdefault(label, path)) != path:
            raise ValueError(f"{first} and {path} are scores of one model ({label}) by {name}; name one of them")
    models = list(dict.fromkeys(plain))
    if any(len(by_model) < len(models) for by_model in runs.values()):
        under = [f"{model} by {' and '.join(name for name in runs if model in runs[name])}" for model in models]
        lacking = [name for name, by_model in runs.items() if len(by_model) < len(models)]
        raise ValueError(
            f"found {', '.join(under)}; expected every model by every protocol. Score what is missing, or leave out "
            f"the runs by {' and '.join(lacking)}"
        )
    return {name: [by_model[model] for model in models] for name, by_model in runs.items()}


def _same(path: Path, paths: Sequence[Path], plain: Sequence[str]) -> list[Path]:
    """The other paths whose model has the same label."""
    mine = plain[paths.index(path)]
    return [other for other, label in zip(paths, plain, strict=True) if label == mine and other != path]


def _apart(path: Path, runs: Iterable[Path]) -> Iterator[str]:
    """The options, as `name=value`, in which a run differs from other runs of the same model."""
    if path.is_dir():
        mine = _options(path)
        theirs = [_options(other) for other in runs if other.is_dir()]
        yield from (f"{k}={v}" for k, v in mine.items() if any(v != other.get(k) for other in theirs))


def _options(run: Path) -> dict[str, Any]:
    """The options in which runs of one model may differ: the identity, and the requested number of records."""
    manifest = read_manifest(run)
    return {**_flat(manifest["identity"]), RECORDS.removesuffix("="): manifest.get("about", {}).get("records")}


def _flat(identity: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an identity as one flat dictionary, without the data and the version."""
    options: dict[str, Any] = {}
    for name, value in identity.items():
        options |= value if isinstance(value, Mapping) else {name: value}
    return {name: value for name, value in options.items() if name not in ("data", "catsofa")}


def refuse_other_ways(path: Path | str, protocol: Protocol) -> None:
    """Refuse a protocol that scores texts differently from the run; score files are not checked."""
    if not Path(path).is_dir():
        return
    manifest = read_manifest(path)
    identity = manifest["identity"]
    ignored = ("causal_pair", "masked_pair") if "nsp" in identity else ()
    before = {option: way for option, way in identity.get("protocol", {}).items() if option not in ignored}
    chosen = protocol.options()
    now = {option: chosen.get(option) for option in before}
    if changed := list(differences(before, now)):
        name = manifest.get("about", {}).get("protocol", "another protocol")
        raise ValueError(
            f"{path} was scored by {name}, and {protocol.name} scores texts otherwise ({'; '.join(changed)}); "
            f"measure it with --protocol {name}, or score again"
        )


def refuse_other_measures(path: Path | str, measure: Measure, protocol: Protocol) -> None:
    """Refuse to compare a run by a measure other than that of its report; score files are not checked."""
    if not Path(path).is_dir():
        return
    own, name = read_report(path).get("results"), read_manifest(path).get("about", {}).get("protocol")
    if own is not None and not measure.recognises(own):
        raise ValueError(
            f"{path} was measured by {name}, and {protocol.name} has the measure {measure.name}; compare its runs with "
            f"--protocol {name}, or score again"
        )


def refuse_other_models(original: Path, paraphrase: Path) -> None:
    """Refuse two runs whose identities differ in more than the data; score files are not checked."""
    if original.is_dir() and paraphrase.is_dir():
        one, other = (_apart_from_data(path) for path in (original, paraphrase))
        if changed := list(differences(one, other)):
            raise ValueError(
                f"{original} and {paraphrase} were not scored alike ({'; '.join(changed)}); only then is a change "
                "one of the texts"
            )


def _apart_from_data(run: Path) -> dict[str, Any]:
    """The identity of a run without its data."""
    return {name: value for name, value in read_manifest(run)["identity"].items() if name != "data"}


def data_of(path: Path | str) -> str:
    """The place of a run's data, which must be unchanged; a score file is refused, since it names no data."""
    if not Path(path).exists():
        raise BadInput(path, "no such file or folder", "the folder of a run of catsofa, or a file of scores")
    if not Path(path).is_dir():
        raise BadInput(path, "scores, which do not name their data", "the data, by --on")
    manifest = read_manifest(path)
    about = manifest.get("about", {})
    if (data_path := place_of(path, about.get("on"))) is None:
        raise BadInput(path, "a run that does not name the place of its data", "the data, by --on")
    if not is_data(data_path, manifest):
        if is_earlier_data(data_path, manifest):
            problem = f"the data of {path}, which an earlier version hashed without the order of the candidates"
            raise BadInput(
                data_path, problem, f"--on {data_path} if that order did not change, or a new run with another --out"
            )
        raise BadInput(
            data_path, f"other data than {path} was scored on ({about.get('data')})", "the data of the run, by --on"
        )
    return data_path


def refuse_other_data(path: Path | str, data_path: str | Path, records: Sequence[Any]) -> None:
    """Refuse to measure a run on records that it did not score; score files are not checked."""
    if not Path(path).is_dir():
        return
    manifest, data = read_manifest(path), content_of(records).digest[:DIGITS]
    if is_data(data_path, manifest) or subset_in(path).endswith(f"@{data}") or is_earlier_data(data_path, manifest):
        return
    about = manifest.get("about", {})
    place = place_of(path, about.get("on"))
    if place and (Path(place).exists() or not Path(place).is_absolute()) and is_data(place, manifest):
        scored = {content_of([record]).digest for record in sources.read(place)}
        if all(content_of([record]).digest in scored for record in records):
            return
    problem = f"other data ({data_label(Path(data_path).name, data)}) than {path} was scored on ({about.get('data')})"
    raise BadInput(data_path, problem, "the data of the run, or some of its records; or score again on this data")


def is_earlier_data(data_path: str | Path, manifest: Mapping[str, Any]) -> bool:
    """True if this is the data of a run by the hash of earlier versions, which ignored the order of candidates."""
    return bool(SCHEME + earlier_content_of(sources.read(data_path)).digest == manifest["identity"].get("data"))


def is_data(data_path: str | Path, manifest: Mapping[str, Any]) -> bool:
    """True if this is the data of a run: by a hash of the content, or of the bytes for runs of earlier versions."""
    held = str(manifest["identity"].get("data"))
    if held.startswith(SCHEME):
        return held == SCHEME + content_at(data_path).digest
    return bool(name_of(sources.resolve(data_path)) == manifest.get("about", {}).get("data"))
