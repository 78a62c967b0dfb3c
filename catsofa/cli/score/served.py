"""Commands for models behind a server: check whether a model can be scored, and score it."""

from pathlib import Path
from typing import Annotated

import typer

from catsofa.cli.asking import Concurrency, KeyEnv, Timeout
from catsofa.cli.data import local
from catsofa.cli.options import Limit
from catsofa.cli.score.tables import show
from catsofa.cli.terminal import DATA, Bar, Json, Quiet, examples, print_json, say

Name = Annotated[str, typer.Argument(metavar="MODEL", help="Model, by the name that its server knows.")]
BaseUrl = Annotated[
    str | None, typer.Option(help="Address of the server, such as http://127.0.0.1:8000/v1. Default: OPENAI_BASE_URL.")
]
Start = Annotated[str, typer.Option(help="Start token of the model (<s>, <|endoftext|>), for servers that add none.")]
On = Annotated[str, typer.Option(metavar=DATA, help="Data to score.")]
Out = Annotated[Path | None, typer.Option(help="Output folder for all replies; rerun the same command to resume.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    served = typer.Typer(name="served", no_args_is_help=True, help="Score models behind an OpenAI-compatible server.")
    served.command(
        epilog=examples(
            "catsofa served check llama --base-url http://127.0.0.1:8000/v1",
            "OPENAI_BASE_URL=https://host/v1 OPENAI_API_KEY=… catsofa served check llama --start '<s>' --json",
        )
    )(check)
    served.command(
        epilog=examples(
            "catsofa served score llama --base-url http://127.0.0.1:8000/v1 --on stereoset:dev --out runs/llama",
            "catsofa served score llama --on probes.jsonl --out runs/llama-sofa --concurrency 32 --json",
        )
    )(score)
    anything = {"ignore_unknown_options": True, "allow_extra_args": True}
    served.command(hidden=True, context_settings=anything)(choose)
    app.add_typer(served)


def check(
    model: Name,
    base_url: BaseUrl = None,
    key_env: KeyEnv = "OPENAI_API_KEY",
    start: Start = "",
    timeout: Timeout = 60.0,
    json: Json = False,
) -> None:
    """Check whether a server gives the log-probabilities of prompts, and whether they are real."""
    from dataclasses import asdict

    from catsofa.scoring.served import endpoint_from_environment, probe

    result = probe(model, endpoint_from_environment(base_url, key_env, timeout=timeout), start)
    if json:
        print_json(asdict(result))
        return
    first = "conditioned on a start token" if result.leading else "not scored (name the start token with --start)"
    say(f"{model} can be scored, asked by {result.dialect}; a text's first token is {first}")
    if result.space is None:
        say("  what follows a context cannot be scored: alone it is cut into other tokens")
    say(f"  two answers to one question differ by {result.drift:.4f} nats a token at most")
    say(f"  a request can hold {'several texts' if result.lists else 'one text'}")


def score(
    model: Name,
    on: On,
    base_url: BaseUrl = None,
    key_env: KeyEnv = "OPENAI_API_KEY",
    start: Start = "",
    protocol: Annotated[str, typer.Option(help="Protocol, as in `catsofa protocols list`.")] = "catsofa",
    out: Out = None,
    limit: Limit = None,
    concurrency: Concurrency = 8,
    timeout: Timeout = 60.0,
    terms: Annotated[bool, typer.Option("--terms", help="Also show one row per target term.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score a served model by its server's log-probabilities; association tests, by its vectors."""
    from catsofa.scoring.evaluate import evaluate
    from catsofa.scoring.executors.texts import Served
    from catsofa.scoring.served import endpoint_from_environment

    endpoint = endpoint_from_environment(base_url, key_env, concurrency=concurrency, timeout=timeout)
    report = evaluate(
        model,
        local(on),
        protocol=protocol,
        executor=Served(endpoint, start),
        out=out,
        limit=limit,
        with_terms=terms,
        progress=Bar("asked", quiet=quiet or json),
    )
    if json:
        print_json(report.to_dict())
    elif not quiet:
        show(report)


def choose(model: Name) -> None:
    """Moved: `catsofa choose` asks chat models."""
    raise ValueError(f"`served choose` is now `catsofa choose {model} --base-url URL --on DATA --out RUN`; use that")
