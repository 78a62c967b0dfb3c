"""The command that tests whether a model has seen a data set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.data import local
from catsofa.cli.numbers import UNDEFINED, adjusted, chance
from catsofa.cli.options import AllowPickle, BatchTokens, Device, Dtype, TrustRemoteCode
from catsofa.cli.terminal import DATA, Bar, Json, Quiet, doing, examples, print_json, say, table, warn

if TYPE_CHECKING:
    from catsofa.scoring.contamination.result import Contamination
    from catsofa.scoring.statistics.intervals import Interval


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command(
        epilog=examples(
            "catsofa contamination gpt2 --on release",
            "catsofa contamination models/mine --on stereoset:dev --dtype bf16 --json",
            "catsofa contamination gpt2-xl --on dev.json --paraphrases paraphrases/partition_1.jsonl "
            "--reference models/older-1 --reference models/older-2 --reference models/older-3",
        )
    )(contamination)


def contamination(
    model: Annotated[str, typer.Argument(help="Model: a folder or hub id (gpt2, gpt2@revision).")],
    on: Annotated[str, typer.Option(metavar=DATA, help="CATs, pairs, probes or questions, in the released order.")],
    paraphrases: Annotated[
        list[Path] | None, typer.Option(help="Paraphrased CATs of equal meaning; repeat for several sets.")
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL", help="A model that has not seen the data; three or more for a verdict on wording."
        ),
    ] = None,
    device: Device = None,
    dtype: Dtype = "float32",
    trust_remote_code: TrustRemoteCode = False,
    allow_pickle: AllowPickle = False,
    batch_tokens: BatchTokens = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of permutations and random strings.")] = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Test whether a model has seen a data set: order of items, wording, completion of second halves, canary.

    Order: are the items likelier in the order of their file than in random orders? The test is refused if
    neighbours share targets, domains, lengths or words, unless permutation within parts of the file is possible.
    Wording: does the model prefer the known text to paraphrases more than three or more reference models do?
    Completion: does it write second halves word for word more often than references? Canary: is the canary of a
    release likelier than random GUIDs?

    Exit code 0: contamination is not shown, which does not show that the model has not seen the data. 1: a test
    shows it, Holm's p ≤ 0.05. 2: no test could be made.
    """
    from catsofa.scoring.contamination import contamination as run

    doing("loading the model")
    result = run(
        model,
        local(on),
        paraphrases=paraphrases or (),
        references=reference or (),
        seed=seed,
        progress=Bar("shards", quiet=quiet or json, then="wording, completion and canary"),
        device=device,
        dtype=dtype,
        trust_remote_code=trust_remote_code,
        allow_pickle=allow_pickle,
        batch_tokens=batch_tokens,
    )
    if json:
        print_json(result.to_dict())
    elif not quiet:
        show(result)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def show(result: "Contamination") -> None:
    """Prints the tests with their numbers, then the reasons for missing verdicts."""
    from catsofa.scoring.contamination.result import basis

    rows = [
        [test.name, _number(test.value), _number(test.change), chance(test.p), chance(test.holm), _verdict(test.shown)]
        for test in result.tests
    ]
    table("contamination", ["test", "value", "above references", "p", "Holm's p", "verdict"], rows)
    for test in result.tests:
        counted = ", ".join(basis(test.counts))
        permuted = f"; permuted: {test.facts['permuted']}" if "permuted" in test.facts else ""
        if counted:
            say(f"{test.name}: {test.unit}; {counted}{permuted}")
        if test.reason:
            say(f"{test.name}: no verdict: {test.reason}")
    say(adjusted(test.p for test in result.tests))
    warn(result.warnings)
    say(result.sentence)
    say(str(result.signature))


def _number(value: "Interval") -> str:
    """Formats a number with its interval."""
    return UNDEFINED if value.value != value.value else f"{value:.2f}"


def _verdict(shown: bool | None) -> str:
    """Formats the verdict of a test."""
    return {None: "none", True: "shown", False: "not shown"}[shown]
