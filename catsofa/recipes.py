"""Recipes: a whole pipeline in one TOML file, each step a catsofa command with its options as keys.

    out = "study"                              # a value: {out} below
    [[step]]
    run = "build identities"
    on = "lexicon"
    out = "{out}/identities.jsonl"

    [[step]]
    run = "score"
    args = ["gpt2"]
    on = "{out}/probes.jsonl"
    json = true

`true` sets a flag, `false` leaves it out, and a list repeats an option. `args` are the positional arguments. `{value}`
is replaced by the value of a key at the top, which the command line may override.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

from catsofa.data.digests import json_digest
from catsofa.data.files import BadInput, atomic_write, json_files, toml_files
from catsofa.data.files.checksums import known_sha256_of
from catsofa.scoring.run import history, manifest, reports, rows, store

EXPECTED = "a recipe (TOML with [[step]] tables)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command of a recipe: its words (`build`, `probes`) and its arguments."""

    number: int
    command: tuple[str, ...]
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        """Returns the step as a command line."""
        return " ".join(["catsofa", *self.command, *[json.dumps(a) if " " in a else a for a in self.arguments]])


def read(path: Path | str, values: Mapping[str, str] | None = None) -> list[Step]:
    """Returns the steps of a recipe with its values inserted; `values` override those at the top of the recipe."""
    recipe = toml_files.read(path, EXPECTED)
    steps = recipe.pop("step", None)
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        raise BadInput(path, "no [[step]] table", EXPECTED)
    unknown = (values or {}).keys() - recipe.keys()
    if unknown:
        raise BadInput(
            path, f"no value {', '.join(sorted(unknown))} at its top", f"one of {', '.join(recipe) or 'none'}"
        )
    available = {key: str(value) for key, value in recipe.items()} | dict(values or {})
    return [_step(path, number, step, available) for number, step in enumerate(steps, start=1)]


def _step(path: Path | str, number: int, table: dict[str, Any], values: Mapping[str, str]) -> Step:
    """Returns one step from its table."""
    run = table.pop("run", None)
    if not isinstance(run, str) or not run.split():
        raise BadInput(path, f"step {number} without a command", 'run = "build probes" or another command')
    if run.split()[0] == "run":
        raise BadInput(path, f"a recipe run by step {number}", "its steps in this one: a recipe could run itself")
    words = table.pop("args", [])
    arguments = [str(word) for word in (words if isinstance(words, list) else [words])]
    for key, value in table.items():
        arguments += _option(path, number, key, value)
    filled = tuple(_filled(path, number, argument, values) for argument in arguments)
    return Step(number=number, command=tuple(run.split()), arguments=filled)


def _filled(path: Path | str, number: int, argument: str, values: Mapping[str, str]) -> str:
    """Returns an argument with the values inserted; braces may contain only the name of a value."""
    try:
        for _, name, _, _ in Formatter().parse(argument):
            if name is not None and name not in values:
                problem, names = f"{{{name}}} in step {number}", ", ".join(values) or "which does not exist"
                raise BadInput(path, problem, f"a value named at the top: {names}")
        return argument.format_map(values)
    except BadInput:
        raise
    except ValueError:
        problem = f"a lone brace in step {number}"
        raise BadInput(path, problem, "{{ and }} for literal braces") from None


def _option(path: Path | str, number: int, key: str, value: Any) -> list[str]:
    """Returns a key and its value as arguments of a command."""
    name = "--" + key.replace("_", "-")
    match value:
        case True:
            return [name]
        case False:
            return []
        case str() | int() | float():
            return [name, str(value)]
        case list():
            return [word for item in value for word in _option(path, number, key, item)]
        case _:
            raise BadInput(
                path, f"a {type(value).__name__} as {key!r} in step {number}", "text, a number, true or a list"
            )


class Journal:
    """The completed steps of a recipe, stored beside the recipe, so that a second run resumes after them."""

    def __init__(self, recipe: Path) -> None:
        self._path = recipe.with_name(f".{recipe.stem}.done.json")
        expected = "the journal of a recipe; remove it to run every step again"
        done = json_files.read(self._path, expected) if self._path.exists() else {}
        if not isinstance(done, dict):
            raise BadInput(self._path, "JSON that is no object", expected)
        self._done: dict[str, str] = done

    def has(self, step: Step, inputs: list[Path], outputs: list[Path]) -> bool:
        """Returns True if this step completed, its inputs have not changed since, and its outputs exist."""
        return self._done.get(str(step)) == _state(inputs) and all(path.exists() for path in outputs)

    def add(self, step: Step, inputs: list[Path]) -> None:
        """Records that a step completed."""
        self._done[str(step)] = _state(inputs)
        with atomic_write(self._path) as file:
            file.write(json.dumps(self._done, indent=1).encode())


def _state(paths: list[Path]) -> str:
    """Returns a hash of the names and contents of files, and of all files in folders.

    Logs do not count, because they contain times. For the same reason, only the identity and the scores of a finished
    run count.
    """
    files = [f for path in paths for f in (sorted(path.rglob("*")) if path.is_dir() else [path]) if f.is_file()]
    return json_digest([(str(f), _content(f)) for f in files if not _tells_times(f)])


def _tells_times(file: Path) -> bool:
    """Returns True for a log, and for a file of a finished run other than its report."""
    return file.name == history.JOURNAL or (_is_finished_run(file.parent) and file.name != store.REPORT)


def _content(file: Path) -> object:
    """Returns the hash of a file; for the report of a run, the hashes of the run's identity and scores."""
    if file.name == store.REPORT and _is_finished_run(file.parent):
        with suppress(ValueError):
            return reports.read_report(file.parent)[store.MADE_FROM]
    return known_sha256_of(file)


def _is_finished_run(folder: Path) -> bool:
    """Returns True if a folder contains a run with its report."""
    return all((folder / name).is_file() for name in (manifest.MANIFEST, rows.SCORES, store.REPORT))
