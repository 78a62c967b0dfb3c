"""Plans: models, data, protocols, hypotheses and margins, fixed before a run and protected by a checksum."""

__all__ = ["Plan", "plan"]

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain, product
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, atomic_write, json_files, toml_files
from catsofa.data.files.checksums import sha256_of
from catsofa.data.tables import Tabular
from catsofa.gate.margins import refuse_margin
from catsofa.planning.hypotheses import MEASURES, OVERALL, SETS, Hypothesis, parse, refuse_certain
from catsofa.scoring.dataset import open_data
from catsofa.scoring.measures.registry import measure_of
from catsofa.scoring.models.computed_vectors import ENDINGS
from catsofa.scoring.models.files import MODULES, digest_of
from catsofa.scoring.models.static_vectors import WORD_ENDINGS
from catsofa.scoring.protocols import named
from catsofa.scoring.run.history import now
from catsofa.scoring.signature import data_label, model_label

FORM = "catsofa plan 1"
"""The format name and version in a plan."""
EXPECTED = "a plan of `catsofa plan`"
REMEDY = "the plan as it was written: restore it; a plan that changed after the runs is none"
HEAD = """\
# A plan of catsofa: what is measured and tested, written before the runs.
# `catsofa report RUN --plan FILE` holds runs against it. The checksum covers every value below: a file with another
# value is refused. Commit this file, or deposit it where others see its date.
# A model without @ is known by its name alone.
"""
MODEL = ("config.json", MODULES)
"""Files that identify a folder as a model."""
VECTORS = (*WORD_ENDINGS, *ENDINGS)
COMMIT = re.compile(r"[0-9a-f]{12,64}")


@dataclass(frozen=True, slots=True)
class Test:
    """One test of a plan: a hypothesis about named models, on one data set by one protocol."""

    hypothesis: Hypothesis
    data: str
    protocol: str
    """Data and protocol by the names in the plan, with their hashes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Tabular):
    """The runs and tests to perform, written before the runs."""

    made: str
    """Time of writing, in UTC."""
    version: str
    """Version of catsofa."""
    models: tuple[str, ...]
    """Each with the digest of its weights, or by its name only."""
    data: tuple[str, ...]
    protocols: tuple[str, ...]
    """Data and protocols with their hashes."""
    hypotheses: tuple[str, ...]
    margins: Mapping[str, float]
    tests: tuple[Test, ...]

    @property
    def cells(self) -> list[tuple[str, str, str]]:
        """Every planned run: its model, data and protocol."""
        return list(product(self.models, self.data, self.protocols))

    def margin(self, one: Hypothesis) -> float:
        """Returns the largest difference that counts as none."""
        return margin_of(one, self.margins)

    @property
    def several(self) -> dict[str, tuple[str, ...]]:
        """The data sets and the protocols, each only if the plan has several; table rows then name their own."""
        parts = {"data": self.data, "protocol": self.protocols}
        return {part: labels for part, labels in parts.items() if len(labels) > 1}

    def to_dict(self) -> dict[str, Any]:
        """Returns the plan in the format of its file, without the checksum."""
        return {
            "form": FORM,
            "made": self.made,
            "version": self.version,
            "models": list(self.models),
            "data": list(self.data),
            "protocols": list(self.protocols),
            "hypotheses": list(self.hypotheses),
            "margins": dict(self.margins),
            "tests": self.rows(),
        }

    def to_toml(self) -> str:
        """Returns the plan as the text of its file, with the checksum last."""
        values = json_files.sealed(self.to_dict())
        return HEAD + "".join(f"{name} = {_toml(value)}\n" for name, value in values.items())

    def rows(self) -> list[dict[str, Any]]:
        """Returns a flat row for each test."""
        return [{"hypothesis": str(one.hypothesis), "data": one.data, "protocol": one.protocol} for one in self.tests]

    def heading(self) -> str:
        """Returns when the plan was made."""
        return f"plan of {self.made}"


def plan(
    models: Sequence[str],
    data: Sequence[str | Path] | str | Path,
    hypotheses: Sequence[str],
    *,
    protocols: Sequence[str] = ("catsofa",),
    margins: Mapping[str, float] | None = None,
    out: str | Path | None = None,
) -> Plan:
    """Fixes the planned runs and tests: every model on every data set by every protocol, and the hypotheses.

    The plan identifies a model folder by the digest of its weights, and a hub id by its name, or by its commit
    (`gpt2@607a…`). `margins` maps a measure (`ss`), or a measure and a set (`ss/gender`), to the largest difference
    that counts as none. With `out`, the plan is written to this file; an existing file is never replaced.
    """
    if out is not None and Path(out).exists():
        raise BadInput(out, "a file that is there", "a new name: a plan is never replaced")
    labels = _once("model", map(_label, models))
    names = _once("name of a model", (name_in(label) for label in labels))
    sets: dict[str, tuple[str, set[str]]] = {}
    for place in [data] if isinstance(data, str | Path) else data:
        dataset = open_data(place)
        kind = measure_of(dataset.kind).name
        held = {str(getattr(record, SETS[kind])) for record in dataset.records()} if kind in SETS else set()
        _once("data set", [*sets, dataset.name])
        sets[dataset.name] = kind, held if kind == "seat" else held | {OVERALL}
    how = [data_label(protocol.name, protocol.digest) for protocol in map(named, protocols)]
    for part, listed in (("model", labels), ("data set", sets), ("protocol", how)):
        _refuse_alike(part, listed)
    stated = [parse(text) for text in hypotheses]
    _once("hypothesis", map(str, stated))
    if not (labels and sets and how and stated):
        raise ValueError("found no model, data set, protocol or hypothesis; a plan needs one of each")
    called = dict(zip(models, names, strict=True)) | {name: name for name in names}
    tests = [
        Test(about, data_name, protocol)
        for one in stated
        for data_name in _sets_of(one, sets)
        for protocol in how
        for about in _about(one, called, names)
    ]
    _once("test", (f"{test.hypothesis} on {test.data} by {test.protocol}" for test in tests))
    _refuse_margins(margins or {}, stated)
    frozen = Plan(
        made=now(),
        version=version("catsofa"),
        models=labels,
        data=tuple(sets),
        protocols=_once("protocol", how),
        hypotheses=tuple(map(str, stated)),
        margins={name: float(number) for name, number in (margins or {}).items()},
        tests=tuple(tests),
    )
    if out is not None:
        with atomic_write(out) as file:
            file.write(frozen.to_toml().encode())
    return frozen


def margin_of(one: Hypothesis, margins: Mapping[str, float]) -> float:
    """Returns the margin of a hypothesis: that of its set, else that of its measure, else 0."""
    return next((float(margins[name]) for name in one.names if name in margins), 0.0)


def read(path: Path | str) -> Plan:
    """Returns the plan in a file; refuses a file that was changed after it was written."""
    document = toml_files.read(path, EXPECTED)
    if not str(document.get("form")).startswith("catsofa plan"):
        raise BadInput(path, "TOML that is no plan", EXPECTED)
    try:
        json_files.check_seal(document, path, REMEDY)
    except (TypeError, RecursionError):  # no plan contains a date or a time
        raise BadInput(path, "values that no plan has", REMEDY) from None
    if document["form"] != FORM:
        raise BadInput(path, f"a plan of another version ({document['form']})", f"one of this version ({FORM})")
    lists: dict[str, Any] = {name: tuple(document[name]) for name in ("models", "data", "protocols", "hypotheses")}
    tests = tuple(Test(parse(row["hypothesis"]), row["data"], row["protocol"]) for row in document["tests"])
    rest = {name: document[name] for name in ("made", "version", "margins")}
    return Plan(**lists, **rest, tests=tests)


def name_in(label: str) -> str:
    """Returns the name of a model without its digest."""
    name, _, digest = label.rpartition("@")
    return name if name and COMMIT.fullmatch(digest) else label


def shown(label: str, labels: Sequence[str]) -> str:
    """Returns the name of data or of a protocol, with its hash if others have the same name."""
    return name_in(label) if sum(name_in(other) == name_in(label) for other in labels) == 1 else label


def _label(model: str) -> str:
    """Returns the label of a model: the name with the digest of a folder's weights or of a file, else the hub id."""
    if (place := Path(model)).exists():
        if not (place.name.endswith(VECTORS) if place.is_file() else any((place / name).is_file() for name in MODEL)):
            expected = f"a folder with {' or '.join(MODEL)}, a file of vectors ({', '.join(VECTORS)}), or a hub id"
            raise BadInput(place, "no model", expected)
        label = model_label(model, digest_of(place) if place.is_dir() else sha256_of(place))
    else:
        name, _, commit = model.partition("@")
        if commit and not COMMIT.fullmatch(commit):
            raise ValueError(f"found the model {model!r}; expected a commit after @, of 12 digits or more, or none")
        label = model_label(name, commit) if commit else model
    if set("()<>=!") & set(name_in(label)):
        raise ValueError(f"found the model {model!r}; expected a name without ( ) < > = !, which hypotheses use")
    return label


def _once(part: str, values: Iterable[str]) -> tuple[str, ...]:
    """Returns the values; raises a ValueError for a duplicate."""
    unique = tuple(values)
    if twice := [value for place, value in enumerate(unique) if value in unique[:place]]:
        raise ValueError(f"found the {part} {twice[0]!r} twice; expected it once")
    return unique


def _refuse_alike(part: str, labels: Iterable[str]) -> None:
    """Refuses one hash under two names, because it would be tested twice and its run would match either name."""
    first: dict[str, str] = {}
    for label in labels:
        digest = label.removeprefix(name_in(label))
        if digest and (other := first.setdefault(digest, label)) != label:
            raise ValueError(f"found the {part} {label!r}, which is {other!r} under another name; expected it once")


def _sets_of(one: Hypothesis, sets: Mapping[str, tuple[str, set[str]]]) -> list[str]:
    """Returns the data sets that a hypothesis applies to: those with its measure and its set."""
    alike = {name: held for name, (kind, held) in sets.items() if kind == one.kind}
    if not alike:
        has = {name: ", ".join(MEASURES.get(kind, ())) or "none" for name, (kind, _) in sets.items()}
        listing = "; ".join(f"{name}: {measures}" for name, measures in has.items())
        raise ValueError(f"found the hypothesis {str(one)!r}, and no data with {one.measure}; measures are {listing}")
    if not (fitting := [name for name, held in alike.items() if one.set in held]):
        set_names = sorted(set(chain.from_iterable(alike.values())))
        raise ValueError(f"found the set {one.set!r} in {str(one)!r}; expected one of {', '.join(set_names)}")
    return fitting


def _about(one: Hypothesis, called: Mapping[str, str], names: Sequence[str]) -> list[Hypothesis]:
    """Returns the hypothesis for each model that it applies to."""
    if unknown := [model for model in one.models if model not in called]:
        raise ValueError(f"found the model {unknown[0]!r} in {str(one)!r}; expected one of {', '.join(names)}")
    every = [tuple(called[model] for model in one.models)] if one.models else [(name,) for name in names]
    return [replace(one, models=models) for models in every]


def _refuse_margins(margins: Mapping[str, float], stated: Sequence[Hypothesis]) -> None:
    """Refuses a margin of no hypothesis, a margin that is no valid number, and an equality without a margin."""
    names = list(dict.fromkeys(name for one in stated for name in one.names))
    for name, number in margins.items():
        refuse_margin(f"{name}={number}", number)
        if name not in names:
            raise ValueError(f"the margin {name!r} is of no hypothesis here; they are about {', '.join(names)}")
    for one in stated:
        margin = margin_of(one, margins)
        if one.sign == "=" and not margin:
            raise ValueError(f"{str(one)!r} needs a margin above 0; give --margin {one.measure}=NUMBER")
        refuse_certain(one, margin)


def _toml(value: Any) -> str:
    """Returns a value in TOML: texts, numbers, lists with a line for each member, and tables on one line."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_toml(name)} = {_toml(one)}' for name, one in value.items())} }}"
    if isinstance(value, list):
        return "".join(["[\n", *(f"  {_toml(one)},\n" for one in value), "]"])
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
