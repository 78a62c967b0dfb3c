"""The command that runs a recipe after checking every step."""

from pathlib import Path
from typing import Annotated, Any

import typer

from catsofa.cli.terminal import DATA, NEW_FOLDER, Quiet, examples, note
from catsofa.data.percentages import quantity

OUTPUTS = {"out", "refused", "target", "figures"}
"""Parameters of commands that name output files or folders."""

UsageError: type[Exception] = typer.BadParameter.__bases__[0]  # typer does not export the class it raises


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""

    @app.command(
        epilog=examples(
            "catsofa run recipe.toml --check", "catsofa run recipe.toml", "catsofa run recipe.toml --set model=gpt2"
        )
    )
    def run(
        recipe: Annotated[Path, typer.Argument(help="Recipe: a TOML file with one \\[\\[step]] table per command.")],
        values: Annotated[
            list[str] | None, typer.Option("--set", help="Replacement of a value of the recipe, as name=value.")
        ] = None,
        check: Annotated[bool, typer.Option("--check", help="Check every step and exit.")] = False,
        again: Annotated[bool, typer.Option("--again", help="Run finished steps again.")] = False,
        quiet: Quiet = False,
    ) -> None:
        """Run a whole pipeline from a TOML recipe; every step is checked before the first one starts."""
        from catsofa import recipes

        steps = recipes.read(recipe, dict(_pair(value) for value in values or []))
        tree = typer.main.get_command(app)
        checked = check_steps(tree, steps)
        journal = recipes.Journal(recipe)
        for step, (inputs, outputs) in zip(steps, checked, strict=True):
            if check:
                note(f"step {step.number}: {step}", quiet=quiet)
            elif not again and journal.has(step, inputs, outputs):
                note(f"step {step.number} is already finished: {step}", quiet=quiet)
            else:
                note(f"step {step.number}: {step}", quiet=quiet)
                code = tree.main([*step.command, *step.arguments], prog_name="catsofa", standalone_mode=False)
                if code:
                    raise typer.Exit(code)
                journal.add(step, inputs)

        if check:
            note(f"checked {quantity(len(steps), 'step')} and found no error; nothing was run", quiet=quiet)
        if not (check or quiet or any("--json" in step.arguments for step in steps)):
            _show_runs([path for _, outputs in checked for path in outputs if path.is_dir()])


def _show_runs(folders: list[Path]) -> None:
    """Prints one table of the runs in the output folders of a recipe, if they hold several runs."""
    from catsofa.cli.score.tables import show_overview
    from catsofa.report.inputs import read
    from catsofa.scoring.run.manifest import MANIFEST

    runs = sorted({path.parent for folder in folders for path in folder.rglob(MANIFEST)})
    if len(runs) > 1:
        show_overview([read(run) for run in runs])


def _pair(text: str) -> tuple[str, str]:
    """Returns the name and the value of `name=value`."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"--set takes name=value; found {text!r}")
    return name, value


def check_steps(tree: Any, steps: list[Any]) -> list[tuple[list[Path], list[Path]]]:
    """Returns the input and output files of each step.

    Raises a ValueError with the number of the step for a wrong word, a wrong option or a missing input.
    """
    checked = []
    earlier: set[Path] = set()
    for step in steps:
        try:
            inputs, outputs = _files(tree, step)
        except UsageError as error:
            raise ValueError(f"step {step.number} ({' '.join(step.command)}): {error}") from None
        for path in inputs:
            if not path.exists() and not any(path == other or other in path.parents for other in earlier):
                raise ValueError(f"step {step.number} reads {path}, which does not exist and no earlier step writes")
        earlier.update(outputs)
        checked.append((inputs, outputs))
    return checked


def _files(tree: Any, step: Any) -> tuple[list[Path], list[Path]]:
    """Returns the input and output paths of a step, from its parsed arguments."""
    from catsofa.data.sources import released

    command = tree
    for word in step.command:
        inner = getattr(command, "commands", {}).get(word)
        if inner is None:
            known = ", ".join(getattr(command, "commands", {})) or "no further words"
            raise ValueError(f"step {step.number}: no command {' '.join(step.command)!r}; after catsofa comes {known}")
        command = inner
    if getattr(command, "commands", None):
        raise ValueError(f"step {step.number}: {' '.join(step.command)!r} needs one of {', '.join(command.commands)}")
    parsed = command.make_context(" ".join(step.command), list(step.arguments)).params
    inputs: list[Path] = []
    outputs: list[Path] = []
    for parameter in command.params:
        values = parsed.get(parameter.name)
        for value in values if isinstance(values, list | tuple) else [values]:
            if isinstance(value, Path):
                is_output = parameter.name in OUTPUTS or parameter.metavar == NEW_FOLDER
                (outputs if is_output else inputs).append(value)
            elif isinstance(value, str) and parameter.metavar == DATA and value not in released.table():
                inputs.append(Path(value))
    return inputs, outputs
