"""Command for paraphrases: ask a model or read recorded replies, check them, and write one CAT file per partition."""

from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from catsofa.cli import asking
from catsofa.cli.build import build
from catsofa.cli.data import local
from catsofa.cli.terminal import Json, Quiet, examples, note, print_json, progress, table

if TYPE_CHECKING:
    from catsofa.builders.paraphrases import Rules, Summary

Target = Literal["verbatim", "derived", "any"]

OUTCOMES = ("kept", "review", "refused")

On = Annotated[str, typer.Option(help="CATs to paraphrase: a file, or a released set by name.")]
Out = Annotated[
    Path,
    typer.Option(
        help="Output folder for partition_1.jsonl, review_1.jsonl and so on, and for the journal; rerun "
        "the same command to resume."
    ),
]
Replies = Annotated[Path | None, typer.Option(help="Recorded replies to parse and check, instead of asking a model.")]
Model = Annotated[str | None, typer.Option(help="Name of the model to ask.")]
RefusedFile = Annotated[
    Path | None, typer.Option(help="Output file for refused paraphrases, with the reason. Default: OUT/refused.jsonl.")
]
PromptName = Annotated[str, typer.Option(help="Prompt: default, paper-004, or a Jinja text file.")]
Count = Annotated[int, typer.Option("--count", "-n", min=1, max=20, help="Paraphrases per CAT.")]
TargetRule = Annotated[
    Target,
    typer.Option(
        help="Form of the target that a paraphrase must keep: its own word, another name of the same person, or none."
    ),
]
Pipeline = Annotated[
    str | None, typer.Option(help="Pipeline of spaCy that also checks the slots. Default: patterns only.")
]
MaxTokens = Annotated[int, typer.Option(min=1, help="Most tokens in a reply.")]
Limit = Annotated[
    int | None,
    typer.Option(min=1, help="Number of CATs to sample, stratified by domain and target; the same sample each time."),
]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    build.command(
        epilog=examples(
            "catsofa build paraphrases --on dev.json --replies data_gpt4.json --out gpt4 --refused refused.jsonl",
            "catsofa build paraphrases --on stereoset:dev --model gpt-4.1-mini --out mini --max-cost 1 --dry-run",
            "catsofa build paraphrases --on stereoset:dev --model gpt-4.1-mini --out mini --max-cost 1 --batch",
            "catsofa build paraphrases --on dev.json --base-url http://127.0.0.1:8000/v1 --model NAME --out local",
        )
    )(paraphrases)


def paraphrases(
    context: typer.Context,
    on: On,
    out: Out,
    replies: Replies = None,
    model: Model = None,
    base_url: asking.BaseUrl = None,
    refused: RefusedFile = None,
    prompt: PromptName = "default",
    count: Count = 2,
    target: TargetRule = "derived",
    spacy_model: Pipeline = None,
    temperature: asking.Temperature = None,
    seed: asking.Seed = None,
    max_tokens: MaxTokens = 300,
    max_cost: asking.MaxCost = None,
    prices: asking.Prices = None,
    limit: Limit = None,
    dry_run: asking.DryRun = False,
    batch: asking.Batch = False,
    concurrency: asking.Concurrency = 8,
    per_minute: asking.PerMinute = None,
    timeout: asking.Timeout = 60,
    key_env: asking.KeyEnv = "OPENAI_API_KEY",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Paraphrase CATs with a model, or read recorded replies; check every sentence; write one CAT file per partition.

    A paraphrase that may mean something else goes to OUT/review_1.jsonl and so on, with the words that show this.

    Rerun the same command to resume: a reply in OUT/journal.jsonl is never paid for again.
    """
    from catsofa.builders import paraphrases as builder
    from catsofa.builders.paraphrases import prompts, runs
    from catsofa.builders.paraphrases import recorded as recorded_replies
    from catsofa.builders.provenance import provenance
    from catsofa.data.files import existing_file
    from catsofa.data.records import Cat
    from catsofa.data.samples import stratified

    file = local(on)
    originals, aside = builder.read_originals(file)
    if limit and replies:
        raise ValueError("--limit is for a model that is paid; recorded replies are read whole")
    if limit:
        originals, aside = stratified(originals, limit, lambda cat: (cat.bias_type, cat.target)), []
    asking.refuse_other_build(out / "partition_1.jsonl", Cat, lambda one: [one.id], {cat.id for cat in originals})
    choices = {"target": target, "slot": Path(spacy_model).name if spacy_model else "patterns"}
    if replies and not model:
        recorded = recorded_replies.read(existing_file(replies, recorded_replies.EXPECTED), originals)
        answers = progress(recorded, "checking", len(originals), quiet=quiet)
        made_by = provenance("paraphrases", file, replies, **choices)
    elif model and not replies:
        languages = sorted({cat.language for cat in originals})
        if len(languages) > 1 and prompt == "default":
            raise ValueError(f"the CATs are in {', '.join(languages)}; paraphrase those of each language alone")
        wording = prompts.load(prompt, count, languages[0])
        settings = {"temperature": temperature, "seed": seed}
        requests = builder.requests(originals, wording, model, settings | {"max_completion_tokens": max_tokens})
        ended = asking.asked(context, requests)
        if ended is None:
            return
        answers = runs.answers(originals, ended)
        made_by = provenance("paraphrases", file, prompt=wording.name, prompt_hash=wording.hash, **settings, **choices)
    else:
        raise ValueError("name a --model to ask, or a file of recorded --replies to read: one of the two")
    results = builder.build(chain(aside, answers), _rules(spacy_model, count, target), made_by)
    _show(builder.write(results, out, count, refused or out / "refused.jsonl"), out, json, quiet)


def _rules(spacy_model: str | None, count: int, target: Target) -> "Rules":
    """Returns the rules that judge replies."""
    from catsofa.builders.paraphrases import Rules
    from catsofa.builders.paraphrases.slots import Slots
    from catsofa.builders.stereotypes.parsing import spacy_parser

    return Rules(slot=Slots(spacy_parser(spacy_model) if spacy_model else None), count=count, target=target)


def _show(summary: "Summary", out: Path, json: bool, quiet: bool) -> None:
    """Prints the counts of kept and refused paraphrases; exits with 1 if nothing was kept or a request failed."""
    failed = sum(count for reason, count in summary.refused.items() if reason.startswith("failed_"))
    if json:
        print_json({part.name: getattr(summary, part.name) for part in fields(summary)})
    elif not quiet:
        rows = [(f"kept in partition {number}", kept) for number, kept in sorted(summary.kept.items())]
        rows += [(f"for people in review {number}", count) for number, count in sorted(summary.review.items())]
        rows += [(f"refused: {reason}", count) for reason, count in summary.refused.most_common()]
        rows += [(f"for people because of: {alarm}", count) for alarm, count in summary.alarms.most_common()]
        table(str(out), ("sentences", "number"), rows)
        types = [(name, *(counts[one] for one in OUTCOMES)) for name, counts in sorted(summary.by_type.items())]
        table("by bias type", ("bias type", *OUTCOMES), types)
    if failed:
        note(f"{failed:,} requests failed; run the same command again to ask only those", quiet=quiet)
        raise typer.Exit(1)
    if not summary.kept.total():
        note(f"no paraphrase was kept; {out} has the reasons", quiet=quiet)
        raise typer.Exit(1)
