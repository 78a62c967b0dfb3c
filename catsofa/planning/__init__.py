"""Plans: models, data, protocols, hypotheses and margins, frozen before a run and read again only as they were."""

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
"""How a plan names itself and the version of its form."""
EXPECTED = "a plan of `catsofa plan`"
REMEDY = "the plan as it was written: restore it; a plan that changed after the runs is none"
HEAD = """\
# A plan of catsofa: what is measured and tested, written before the runs.
# `catsofa report RUN --plan FILE` holds runs against it. The checksum covers every value below: a file with another
# value is refused. Commit this file, or deposit it where others see its date.
# A model without @ is known by its name alone.
"""
MODEL = ("config.json", MODULES)
"""The files by which a folder is known as a model."""
VECTORS = (*WORD_ENDINGS, *ENDINGS)
COMMIT = re.compile(r"[0-9a-f]{12,64}")


@dataclass(frozen=True, slots=True)
class Test:
    """One test of a plan: a hypothesis about named models, on one data set by one protocol."""

    hypothesis: Hypothesis
    data: str
    protocol: str
    """Both as the plan names them, with their hashes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Tabular):
    """What is measured and tested, written before the runs."""

    made: str
    """When it was written, in UTC."""
    version: str
    """Of catsofa."""
    models: tuple[str, ...]
    """Each with the digest of its weights, or by its name alone."""
    data: tuple[str, ...]
    protocols: tuple[str, ...]
    """Both with their hashes."""
    hypotheses: tuple[str, ...]
    margins: Mapping[str, float]
    tests: tuple[Test, ...]

    @property
    def cells(self) -> list[tuple[str, str, str]]:
        """Every planned run: its model, data and protocol."""
        return list(product(self.models, self.data, self.protocols))

    def margin(self, of: Hypothesis) -> float:
        """The difference that counts as none."""
        return margin_of(of, self.margins)

    @property
    def several(self) -> dict[str, tuple[str, ...]]:
        """The data sets and the protocols, where there are several, so that a row of a table has to name its own."""
        parts = {"data": self.data, "protocol": self.protocols}
        return {part: labels for part, labels in parts.items() if len(labels) > 1}

    def to_dict(self) -> dict[str, Any]:
        """The plan as it lies in its file, without the checksum."""
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
        """The plan as its file: every value on lines of its own, and the checksum last."""
        values = json_files.sealed(self.to_dict())
        return HEAD + "".join(f"{name} = {_toml(value)}\n" for name, value in values.items())

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each test."""
        return [{"hypothesis": str(one.hypothesis), "data": one.data, "protocol": one.protocol} for one in self.tests]

    def heading(self) -> str:
        """When the plan was made."""
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
    """Freeze what will be measured and tested: every model on every data set by every protocol, and the hypotheses.

    A folder of a model enters by the digest of its weights, a hub id by its name, or by its commit (`gpt2@607a…`).
    `margins` are the differences that count as none (`ss`, or `ss/gender` for one set). With `out`, the plan is
    written there; a file that is there is never replaced.
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
    for what, known in (("model", labels), ("data set", sets), ("protocol", how)):
        _refuse_alike(what, known)
    stated = [parse(text) for text in hypotheses]
    _once("hypothesis", map(str, stated))
    if not (labels and sets and how and stated):
        raise ValueError("found no model, data set, protocol or hypothesis; a plan needs one of each")
    called = dict(zip(models, names, strict=True)) | {name: name for name in names}
    tests = [
        Test(about, on, protocol)
        for one in stated
        for on in _sets_of(one, sets)
        for protocol in how
        for about in _about(one, called, names)
    ]
    _once("test", (f"{test.hypothesis} on {test.data} by {test.protocol}" for test in tests))
    _refuse_margins(margins or {}, stated)
    made = Plan(
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
            file.write(made.to_toml().encode())
    return made


def margin_of(one: Hypothesis, margins: Mapping[str, float]) -> float:
    """The margin of a hypothesis: that of its set goes before that of its measure; 0 without one."""
    return next((float(margins[name]) for name in one.names if name in margins), 0.0)


def read(path: Path | str) -> Plan:
    """The plan in a file; one that was changed since is refused."""
    document = toml_files.read(path, EXPECTED)
    if not str(document.get("form")).startswith("catsofa plan"):
        raise BadInput(path, "TOML that is no plan", EXPECTED)
    try:
        json_files.check_seal(document, path, REMEDY)
    except (TypeError, RecursionError):  # a date or a time, which no plan has
        raise BadInput(path, "values that no plan has", REMEDY) from None
    if document["form"] != FORM:
        raise BadInput(path, f"a plan of another version ({document['form']})", f"one of this version ({FORM})")
    lists: dict[str, Any] = {name: tuple(document[name]) for name in ("models", "data", "protocols", "hypotheses")}
    tests = tuple(Test(parse(row["hypothesis"]), row["data"], row["protocol"]) for row in document["tests"])
    rest = {name: document[name] for name in ("made", "version", "margins")}
    return Plan(**lists, **rest, tests=tests)


def name_in(label: str) -> str:
    """The name of a model without its digest."""
    name, _, digest = label.rpartition("@")
    return name if name and COMMIT.fullmatch(digest) else label


def shown(label: str, known: Sequence[str]) -> str:
    """The name of data or of a protocol; with its hash where others have the same name."""
    return name_in(label) if sum(name_in(other) == name_in(label) for other in known) == 1 else label


def _label(model: str) -> str:
    """A model in a plan: a folder by its name and the digest of its weights, anything else as it is named."""
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


def _once(what: str, values: Iterable[str]) -> tuple[str, ...]:
    """The values, of which none may be there twice."""
    found = tuple(values)
    if twice := [value for at, value in enumerate(found) if value in found[:at]]:
        raise ValueError(f"found the {what} {twice[0]!r} twice; expected it once")
    return found


def _refuse_alike(what: str, labels: Iterable[str]) -> None:
    """Refuse one hash under two names: it would be tested twice, and its run would pass for either."""
    first: dict[str, str] = {}
    for label in labels:
        digest = label.removeprefix(name_in(label))
        if digest and (other := first.setdefault(digest, label)) != label:
            raise ValueError(f"found the {what} {label!r}, which is {other!r} under another name; expected it once")


def _sets_of(one: Hypothesis, sets: Mapping[str, tuple[str, set[str]]]) -> list[str]:
    """The data sets that a hypothesis is about: those with its measure and its set."""
    alike = {name: held for name, (kind, held) in sets.items() if kind == one.kind}
    if not alike:
        has = {name: ", ".join(MEASURES.get(kind, ())) or "none" for name, (kind, _) in sets.items()}
        told = "; ".join(f"{name}: {measures}" for name, measures in has.items())
        raise ValueError(f"found the hypothesis {str(one)!r}, and no data with {one.measure}; measures are {told}")
    if not (found := [name for name, held in alike.items() if one.set in held]):
        known = sorted(set(chain.from_iterable(alike.values())))
        raise ValueError(f"found the set {one.set!r} in {str(one)!r}; expected one of {', '.join(known)}")
    return found


def _about(one: Hypothesis, called: Mapping[str, str], names: Sequence[str]) -> list[Hypothesis]:
    """The hypothesis about each model that it is about."""
    if unknown := [model for model in one.models if model not in called]:
        raise ValueError(f"found the model {unknown[0]!r} in {str(one)!r}; expected one of {', '.join(names)}")
    every = [tuple(called[model] for model in one.models)] if one.models else [(name,) for name in names]
    return [replace(one, models=models) for models in every]


def _refuse_margins(margins: Mapping[str, float], stated: Sequence[Hypothesis]) -> None:
    """Refuse a margin of no hypothesis, one that is no number from 0, and an equality without one."""
    known = list(dict.fromkeys(name for one in stated for name in one.names))
    for name, number in margins.items():
        refuse_margin(f"{name}={number}", number)
        if name not in known:
            raise ValueError(f"the margin {name!r} is of no hypothesis here; they are about {', '.join(known)}")
    for one in stated:
        margin = margin_of(one, margins)
        if one.sign == "=" and not margin:
            raise ValueError(f"{str(one)!r} needs a margin above 0; give --margin {one.measure}=NUMBER")
        refuse_certain(one, margin)


def _toml(value: Any) -> str:
    """A value in TOML: texts, numbers, lists with a line for each member, and tables on one line."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_toml(name)} = {_toml(one)}' for name, one in value.items())} }}"
    if isinstance(value, list):
        return "".join(["[\n", *(f"  {_toml(one)},\n" for one in value), "]"])
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
