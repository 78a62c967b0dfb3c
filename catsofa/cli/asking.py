"""Options of the commands that send requests to a model server: address, rate and cost."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catsofa.cli.terminal import note, print_json, progress, say

if TYPE_CHECKING:
    from catsofa.builders.paraphrases.prompts import Request
    from catsofa.builders.paraphrases.replies import Completed
    from catsofa.data.servers.endpoints import Endpoint

BaseUrl = Annotated[str | None, typer.Option(help="Address of an OpenAI-compatible server. Default: OpenAI.")]
Temperature = Annotated[float | None, typer.Option(min=0, help="Sampling temperature. Default: the server's.")]
Seed = Annotated[int | None, typer.Option(help="Random seed of the sampling, for servers that take one.")]
MaxCost = Annotated[
    float | None, typer.Option(min=0, help="Most US dollars that all runs into this folder may cost together.")
]
Prices = Annotated[Path | None, typer.Option(help="Price table (TOML); its prices replace the built-in ones.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be sent and its cost, then exit.")]
Batch = Annotated[bool, typer.Option("--batch", help="Use OpenAI's Batch API: half the price, replies within a day.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Most requests at once. A server can lower the number.")]
PerMinute = Annotated[float | None, typer.Option(help="Most requests per minute.")]
Timeout = Annotated[float, typer.Option(help="Seconds to wait for one reply.")]
KeyEnv = Annotated[str, typer.Option(help="Environment variable that holds the API key.")]


def endpoint(context: typer.Context) -> "Endpoint":
    """Returns the server that the options of a call name."""
    from catsofa.data.servers.endpoints import Endpoint

    options = context.params
    names = ("base_url", "concurrency", "per_minute", "timeout")
    return Endpoint(key_name=options["key_env"], **{name: options[name] for name in names if name in options})


def asked(context: typer.Context, requests: "Sequence[Request]") -> "list[Completed] | None":
    """Sends the requests of a builder with the options of its call, and returns the results; None for a dry run."""
    from contextlib import closing
    from dataclasses import asdict
    from functools import cache

    from catsofa.builders.paraphrases.runs import Run
    from catsofa.data.servers.prices import price_of

    options = context.params
    run = Run(
        requests=requests,
        endpoint=endpoint(context),
        out=options["out"],
        max_tokens=options["max_tokens"],
        price=cache(lambda model: price_of(model, options["base_url"], options["prices"])),
        max_cost=options["max_cost"],
        batch=options.get("batch", False),
    )
    if options["dry_run"]:
        coming = run.preview()
        if options["json"]:
            print_json(asdict(coming))
        else:
            say(str(coming))
            say(
                f"`at most` counts {options['max_tokens']:,} tokens for each reply (--max-tokens cuts it off there) "
                "and the most tokens that the prompts can have; replies are usually shorter"
            )
        return None
    quiet = options["quiet"]
    with closing(run.ask(lambda message: note(message, quiet=quiet))) as ended:
        return list(progress(ended, "asking", len(requests), quiet=quiet))


def refuse_other_build(
    results: Path, kind: type[Any], parts: Callable[[Any], Iterable[str]], now: Iterable[str]
) -> None:
    """Raises a ValueError if a file has records with parts that this build lacks: the build would overwrite them."""
    from catsofa.data.files import jsonl

    if not results.exists() or not results.stat().st_size:  # nothing was kept
        return
    known, total, lost = set(now), 0, 0
    for record in jsonl.read(results, kind):
        total += 1
        lost += not known.issuperset(parts(record))
    if lost:
        raise ValueError(
            f"{results.parent} contains a different build ({lost:,} of {total:,} records of {results.name} are no part "
            f"of this one); use another --out, or delete {results} to replace it"
        )
