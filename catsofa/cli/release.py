"""The command that releases validated items."""

from pathlib import Path
from typing import Annotated

import typer

from catsofa.cli.terminal import Json, Quiet, doing, examples, note, print_json, say


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command(
        epilog=examples(
            "catsofa release drafts.jsonl --study study --out release --name 'Bakers' --licence cc-by-sa-4.0",
            "catsofa release dev.jsonl test.jsonl --annotations annotations.csv --out release --name 'Bakers' --need 4",
            "catsofa release drafts.jsonl --study study --out release --name 'Bakers' --by age_band --by gender",
            "catsofa release made.jsonl --unjudged --out release --name 'Bakers, as made'",
            "catsofa release paraphrases/review_1.jsonl --study review --out release-1 --name 'Bakers, rephrased'",
        )
    )(release)


def release(
    items: Annotated[
        list[Path],
        typer.Argument(help="CATs, paraphrased CATs or probes. Each file becomes a split with the file's name."),
    ],
    out: Annotated[Path, typer.Option(help="Output folder.")],
    name: Annotated[str, typer.Option(help="Name of the set.")],
    study: Annotated[
        list[Path] | None, typer.Option(help="Study in which people judged or wrote the items; repeat for several.")
    ] = None,
    annotations: Annotated[Path | None, typer.Option(help="Judgements. Default: those of the studies.")] = None,
    licence: Annotated[str, typer.Option(help="Licence, in the Hub's spelling.")] = "other",
    summary: Annotated[str, typer.Option(help="Description of the set, in a sentence or two.")] = "",
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="Question of the study's questionnaire: adds each judgement with its annotator's answer, k-suppressed."
        ),
    ] = None,
    canary: Annotated[str, typer.Option(help="Canary GUID. Default: derived from the data.")] = "",
    need: Annotated[int, typer.Option(help="Votes that a label needs.")] = 3,
    of: Annotated[int, typer.Option(help="Judgements to count per item: the first ones.")] = 5,
    unjudged: Annotated[
        bool, typer.Option("--unjudged", help="Release all items without judgements; the card says that nobody judged.")
    ] = False,
    refused: Annotated[Path | None, typer.Option(help="Write the items held back, with the reason (JSONL).")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Release the items that people confirmed: Parquet, StereoSet JSON for CATs, a card with data statement, canary.

    Annotators and writers get pseudonyms: with --study a hash keyed with the study's secret, else numbers. The same
    input gives the same bytes. All files are read back before the folder is in place. Each study notes the release, so
    that `annotate forget` can name it.

    An item that the votes leave undecided is released if the owner of the study decided it (on the page of `annotate
    open`). Its `extra` has the label and the reason under `adjudicated`, next to the votes.

    With --by, judgements.csv holds each judgement that counts, with its annotator's answers about themselves. k people
    or more share each combination of answers, also together with earlier releases. Rare answers to the first question
    are merged into wider ones first, then withheld. The card says how many.
    """
    from dataclasses import asdict

    from catsofa.annotation.results.adjudications import adjudicated
    from catsofa.annotation.study import open_study
    from catsofa.data.files import jsonl
    from catsofa.data.formats import read_as
    from catsofa.data.records import Annotation
    from catsofa.data.release.dataset_card import CardFacts
    from catsofa.share.release import NothingConfirmed, items_of, judgements_of, judging
    from catsofa.share.release import release as write
    from catsofa.validation.judgements import Rule

    studies = [open_study(folder) for folder in study or ()]
    judging_studies = judging(studies)
    judged = [annotations] if annotations else [judgements_of(one) for one in judging_studies]
    splits = {file.name.partition(".")[0].replace("-", "_"): items_of(file) for file in items}
    if len(splits) < len(items):
        raise ValueError("two files of the same name would be the same split; rename one")
    languages = dict.fromkeys(getattr(item, "language", "en") for some in splits.values() for item in some)
    facts = CardFacts(pretty_name=name, licence=licence, language=tuple(languages), summary=summary, canary=canary)
    votes = [vote for file in judged for vote in read_as(file, Annotation)]
    doing(f"counting {len(votes):,} judgements, writing, and reading all back")
    rulings = {item: ruling for one in judging_studies for item, ruling in adjudicated(one).items()}
    rule = Rule(need=need, of=of)
    try:
        released = write(
            splits, votes, out, facts, rule=rule, studies=studies, by=by or (), rulings=rulings, unjudged=unjudged
        )
    except NothingConfirmed as error:
        if refused:
            jsonl.write(error.refused, refused)
        raise
    if refused:
        jsonl.write(released.refused, refused)
    if json:
        print_json(
            asdict(released.validated) | {"refused": {r.id: r.reason for r in released.refused}, "folder": str(out)}
        )
        return
    if quiet:
        return
    by_whom = "without judgements" if unjudged else f"by {released.validated.judges:,} judges"
    say(f"{released.release.records:,} of {released.validated.items:,} items in {out}, {by_whom}")
    if released.refused:
        note(f"{len(released.refused):,} were not confirmed" + ("" if refused else "; --refused FILE writes them all"))
    if ruled := released.validated.adjudicated:
        note(f"{ruled:,} of them by what the owner of the study decided, where votes did not")
    if missing := released.validated.missing:
        counted = ", ".join(f"{n} for {items:,} items" for n, items in released.validated.counted)
        note(f"{missing:,} judgements of them are missing; valid ones: {counted}")
    if by:
        say(f"judgements.csv: {released.validated.labels:,} rows by {', '.join(by)}; the card says what was suppressed")
    if released.without_fill:
        note(
            f"{released.without_fill:,} have no clear words at their BLANK; they can be scored as whole sentences only"
        )
