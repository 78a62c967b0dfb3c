"""Options of the commands that ask models at a server: where, how fast, and for how much money."""

from pathlib import Path
from typing import Annotated

import typer

BaseUrl = Annotated[str | None, typer.Option(help="Address of an OpenAI-compatible server, if not OpenAI's own.")]
Temperature = Annotated[float | None, typer.Option(min=0, help="Sampling temperature, if not the server's own.")]
Seed = Annotated[int | None, typer.Option(help="Seed of the sampling, where the server has one.")]
MaxCost = Annotated[float | None, typer.Option(min=0, help="US dollars the model may cost in OUT, all runs together.")]
Prices = Annotated[Path | None, typer.Option(help="Price table (TOML) that comes before ours.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be sent and cost, and stop.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests under way at once.")]
PerMinute = Annotated[float | None, typer.Option(help="Requests a minute, at most.")]
Timeout = Annotated[float, typer.Option(help="Seconds for one reply.")]
KeyEnv = Annotated[str, typer.Option(help="Environment variable that holds the key.")]
