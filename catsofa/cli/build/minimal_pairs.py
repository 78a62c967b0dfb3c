"""Commands that build minimal pairs: from templates with two groups, and from sentences by swapping the group."""

from pathlib import Path
from typing import Annotated

import typer

from catsofa.cli.build.kept import (
    BiasType,
    Frames,
    LanguageName,
    Out,
    RefusedFile,
    Templates,
    data_of,
    draft,
    report,
    templates_in,
)
from catsofa.cli.terminal import Json, Quiet, examples, lines_in, note, progress


def register(build: typer.Typer) -> None:
    """Adds the commands of this module to the group `build`."""
    build.command(
        "minimal-pairs",
        epilog=examples(
            "catsofa build minimal-pairs --associations groups.csv --out pairs.jsonl",
            "catsofa build minimal-pairs --associations groups.csv --frame past --out pairs.jsonl",
            "catsofa build minimal-pairs --associations confirmed.jsonl --bias-type nationality --out pairs.jsonl",
            "catsofa build minimal-pairs --associations grupos.csv --language es --out pairs.jsonl",
        ),
    )(minimal_pairs)
    build.command(
        epilog=examples(
            "catsofa build swaps --sentences said.csv --swap gender --out pairs.jsonl",
            "catsofa build swaps --sentences said.csv --swap groups.csv --out pairs.jsonl --refused refused.jsonl",
        )
    )(swaps)


def minimal_pairs(
    associations: Annotated[
        Path,
        typer.Option(
            help="CSV: target, other (the group in its place), bias_type, stereotype; if known, its context "
            "and the target_kind. Or associations (JSONL, or SeeGULL's CSV); then another group of the "
            "file takes the place."
        ),
    ],
    out: Out,
    templates: Templates = None,
    frame: Frames = None,
    bias_type: BiasType = "",
    language: LanguageName = "en",
    refused: RefusedFile = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build CrowS-style pairs: a stereotype of one group in templates, and the same sentence about another group."""
    from catsofa.builders import minimal_pairs as builder
    from catsofa.builders import refusals
    from catsofa.builders.cats import agreeing
    from catsofa.builders.provenance import provenance
    from catsofa.data.languages import find

    spoken = find(language)
    source = provenance("minimal-pairs", associations, *data_of(spoken))
    associated = builder.read_associated(associations, spoken.code, bias_type)
    rows = progress(associated, "rows", lines_in(associations), quiet=quiet)
    if spoken.code == "en":
        outcomes = builder.from_templates(templates_in(templates, frame), rows, source)
    else:
        fitting = agreeing.templates_of(spoken, templates, frame or ())
        outcomes = agreeing.pairs(draft(spoken, quiet), fitting, rows, source)
    kept_of = refusals.Rows()
    report(refusals.write(kept_of.counting(outcomes), out, refused), out, json, quiet, rows=kept_of)


def swaps(
    sentences: Annotated[Path, typer.Option(help="CSV: text, bias_type. The text is the more stereotypical sentence.")],
    swap: Annotated[
        str,
        typer.Option(
            help="CSV of words and their replacements (columns from, to); or gender, which swaps women and men."
        ),
    ],
    out: Out,
    language: LanguageName = "en",
    refused: RefusedFile = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build CrowS-style pairs from sentences: each sentence, and the same sentence with the group swapped."""
    from catsofa.builders import minimal_pairs as builder
    from catsofa.builders import refusals
    from catsofa.builders.provenance import provenance
    from catsofa.data.languages import find

    spoken = find(language)
    if swap == "gender" and spoken.code != "en":
        raise ValueError(f"the swaps of women and men are English; give a CSV of {spoken.name} words (--swap FILE)")
    chosen = builder.bundled() if swap == "gender" else builder.read_swaps(swap, spoken.code)
    if spoken.code != "en":
        note(f"{spoken.name}: only the words of {swap} change; articles and adjectives stay as they are", quiet=quiet)
    files = [sentences] if swap == "gender" else [sentences, Path(swap)]
    rows = progress(builder.read(sentences, builder.SENTENCES), "sentences", lines_in(sentences), quiet=quiet)
    outcomes = builder.from_sentences(rows, chosen, provenance("swaps", *files))
    kept_of = refusals.Rows()
    report(refusals.write(kept_of.counting(outcomes), out, refused), out, json, quiet, rows=kept_of)
