"""Commands for candidate stereotypes: ask models for associations, and have a jury of models judge them."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli import asking
from catsofa.cli.build import build
from catsofa.cli.terminal import Json, Quiet, examples, note, print_json, say, table

if TYPE_CHECKING:
    from collections import Counter

Seeds = Annotated[
    Path,
    typer.Option(
        help="Seeds: a CSV with the column identity; attribute, region and language if known; bias_type "
        "for CATs. Or associations."
    ),
]
Models = Annotated[list[str], typer.Option("--model", help="Name of a model to ask; repeat for several.")]
Jurors = Annotated[
    list[str], typer.Option("--model", help="Name of a juror; repeat for several. Three or more are best.")
]
Out = Annotated[
    Path,
    typer.Option(
        help="Output folder for associations.jsonl, refused.jsonl, report.json and the journal; rerun the "
        "same command to resume."
    ),
]
JuryOut = Annotated[
    Path,
    typer.Option(
        help="Output folder for associations.jsonl, jury.jsonl, refused.jsonl and the journal; rerun the "
        "same command to resume."
    ),
]
PromptNames = Annotated[
    list[str],
    typer.Option(
        "--prompt",
        help="Prompt: report, slots, counter or complete for attributes; triplet or scene for CATs; or a "
        "Jinja text file. Repeat for several.",
    ),
]
Count = Annotated[int, typer.Option("--count", "-n", min=1, max=50, help="Attributes or CATs per request.")]
Samples = Annotated[int, typer.Option(min=1, help="Requests per group, prompt and model, each with its own seed.")]
Most = Annotated[int, typer.Option(min=1, help="Associations to keep per group.")]
Region = Annotated[str, typer.Option(help="Region whose people make the associations, if the seeds name none.")]
Language = Annotated[str, typer.Option(help="Language of the attributes (ISO 639), if the seeds name none.")]
EncoderName = Annotated[
    str,
    typer.Option(
        "--encoder",
        help="Encoder that finds equal meanings: all-MiniLM-L6-v2, another model, or `none` to compare words only.",
    ),
]
MaxTokens = Annotated[int, typer.Option(min=1, help="Most tokens in a reply.")]
AltTest = Annotated[
    Path | None,
    typer.Option(
        help="Result of `validate alt-test --out`. If the jury passed it, associations that the jury "
        "denies are dropped."
    ),
]
On = Annotated[Path, typer.Option(help="Associations to judge, in any format.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module to the group `build`."""
    build.command(
        epilog=examples(
            "catsofa build candidates --seeds groups.csv --model gpt-4.1-mini --out proposed --max-cost 2 --dry-run",
            "catsofa build candidates --seeds groups.csv --model A --model B --prompt slots --out proposed",
            "catsofa build candidates --seeds groups.csv --model A --prompt triplet --prompt scene --out proposed",
            "catsofa build candidates --seeds stereotypes_global_v2.csv --prompt complete --model A --out proposed",
        )
    )(candidates)
    build.command(
        epilog=examples(
            "catsofa build jury --on associations.jsonl --model A --model B --model C --out judged --dry-run",
            "catsofa build jury --on proposed/associations.jsonl --model A --model B --model C --out judged",
            "catsofa build jury --on more.jsonl --model A --model B --model C --alt-test passed.json --out fewer",
        )
    )(jury)


def candidates(
    context: typer.Context,
    seeds: Seeds,
    model: Models,
    out: Out,
    prompt: PromptNames = ["report", "slots", "counter"],  # noqa: B006 - typer copies it
    count: Count = 10,
    samples: Samples = 1,
    most: Most = 20,
    region: Region = "",
    language: Language = "en",
    encoder: EncoderName = "",
    base_url: asking.BaseUrl = None,
    temperature: asking.Temperature = None,
    seed: asking.Seed = None,
    max_tokens: MaxTokens = 400,
    max_cost: asking.MaxCost = None,
    prices: asking.Prices = None,
    dry_run: asking.DryRun = False,
    batch: asking.Batch = False,
    concurrency: asking.Concurrency = 8,
    per_minute: asking.PerMinute = None,
    timeout: asking.Timeout = 60,
    key_env: asking.KeyEnv = "OPENAI_API_KEY",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Ask models which associations people make about groups. Content warning: replies hold hurtful stereotypes.

    Nobody has confirmed these associations: ask people with `annotate create --kind judge-associations`. Rerun the same
    command to resume: a reply in OUT/journal.jsonl is never paid for again.
    """
    from catsofa.builders import refusals
    from catsofa.builders.candidates import Rules, associations, questions, read_replies
    from catsofa.builders.candidates import seeds as seeding
    from catsofa.builders.candidates.diversity import diversity
    from catsofa.builders.candidates.prompts import load
    from catsofa.builders.provenance import provenance
    from catsofa.builders.similarity.encoders import sentence_encoder
    from catsofa.data.files import json_files
    from catsofa.data.languages.texts import meaning_of
    from catsofa.data.records import Association

    targets = seeding.read(seeds, region, language)
    prompts = [load(name, count) for name in dict.fromkeys(prompt)]
    settings = {"temperature": temperature, "seed": seed, "max_completion_tokens": max_tokens}
    wanted = questions(targets, prompts, list(dict.fromkeys(model)), settings, samples)
    results, requests = out / "associations.jsonl", [question.request for question in wanted]
    keys = {request.key for request in requests}
    asking.refuse_other_build(results, Association, lambda one: one.source.get("requests", ()), keys)
    ended = asking.asked(context, requests)
    if ended is None:
        return
    rules = Rules(most=most, encoder=None if encoder == "none" else sentence_encoder(encoder))
    signature = rules.encoder.signature if rules.encoder else "words alone"
    made_by = provenance("candidates", seeds, **settings, most=most, meaning=signature)
    outcomes = list(associations(read_replies(wanted, ended), targets, rules, made_by))
    counts = refusals.write(outcomes, results, out / "refused.jsonl")
    spoken = sorted({target.language for target in targets} - {"en"})
    unread = [f"{code!r}: repeats are found by their words alone; the encoder's rules read English" for code in spoken]
    unread += [f"{code!r}: no list of harm and prescriptions" for code in spoken if "harm" not in meaning_of(code)]
    for sentence in unread:
        note(sentence, quiet=quiet or json)
    made_by |= {"not_applied": unread} if unread else {}
    rows = [asdict(row) for row in diversity(wanted, outcomes)]
    json_files.write(json_files.finite({"made_by": made_by, "counts": counts, "prompts": rows}), out / "report.json")
    if json:
        print_json({"counts": counts, "prompts": rows})
    elif not quiet:
        table("What was said, unconfirmed", list(rows[0]), [list(row.values()) for row in rows])
        _say_counts(counts, out)
    _end(counts, out, quiet)


def jury(
    context: typer.Context,
    on: On,
    model: Jurors,
    out: JuryOut,
    alt_test: AltTest = None,
    base_url: asking.BaseUrl = None,
    temperature: asking.Temperature = 0,
    seed: asking.Seed = None,
    max_tokens: MaxTokens = 8,
    max_cost: asking.MaxCost = None,
    prices: asking.Prices = None,
    dry_run: asking.DryRun = False,
    concurrency: asking.Concurrency = 8,
    per_minute: asking.PerMinute = None,
    timeout: asking.Timeout = 60,
    key_env: asking.KeyEnv = "OPENAI_API_KEY",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Ask models whether people make these associations. Their answers are stored next to those of people.

    The jury drops nothing unless --alt-test shows that it agrees with people of that region and language.
    """
    from collections import Counter

    from catsofa.builders import refusals
    from catsofa.builders.candidates.jury import Jury, apply, may_drop
    from catsofa.data import formats
    from catsofa.data.files import jsonl
    from catsofa.data.records import Association

    proposed = list(formats.read_as(on, Association))
    asking.refuse_other_build(
        out / "associations.jsonl", Association, lambda one: [one.id], {one.id for one in proposed}
    )
    bench = Jury(model, {"temperature": temperature, "seed": seed, "max_completion_tokens": max_tokens})
    droppers = may_drop(alt_test, {bench.name(one) for one in proposed}) if alt_test else set()
    ended = asking.asked(context, bench.requests(proposed))
    if ended is None:
        return
    annotations = list(bench.annotations(proposed, ended))
    if annotations:
        jsonl.write(annotations, out / "jury.jsonl")
    else:  # a file of an earlier run is from other jurors
        (out / "jury.jsonl").unlink(missing_ok=True)
    counts = refusals.write(apply(proposed, annotations, droppers), out / "associations.jsonl", out / "refused.jsonl")
    counts.update(f"failed_{one.reason}" for one in ended if one.reply is None)
    labels = Counter((one.annotator, one.label) for one in annotations)
    unanswered = Counter(bench.name(one, juror) for one in proposed for juror in (*bench.models, ""))
    unanswered.subtract(one.annotator for one in annotations)
    labels.update({(name, "no answer"): number for name, number in unanswered.items() if number})
    if json:
        print_json({"counts": counts, "labels": [[*key, number] for key, number in sorted(labels.items())]})
    elif not quiet:
        table("What the jury says", ["juror", "label", "number"], [[*key, n] for key, n in sorted(labels.items())])
        _say_counts(counts, out)
    _end(counts, out, quiet)


def _say_counts(counts: "Counter[str]", out: Path) -> None:
    """Prints the counts of kept and refused associations."""
    say(f"{counts['kept']:,} associations, not confirmed by people: {out / 'associations.jsonl'}")
    refused = [(reason, number) for reason, number in counts.most_common() if reason != "kept"]
    if refused:
        table("Refused", ["reason", "number"], refused)


def _end(counts: "Counter[str]", out: Path, quiet: bool) -> None:
    """Exits with 1 if a request failed, since a rerun can repair that, or if no association was kept."""
    if failed := sum(number for reason, number in counts.items() if reason.startswith("failed_")):
        note(f"{failed:,} requests failed; run the same command again to ask only those", quiet=quiet)
        raise typer.Exit(1)
    if not counts["kept"]:
        note(f"no association was kept; {out / 'refused.jsonl'} has the reasons", quiet=quiet)
        raise typer.Exit(1)
