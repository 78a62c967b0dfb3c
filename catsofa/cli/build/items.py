"""Commands that build items: CATs, association tests, next-sentence pairs."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

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
from catsofa.cli.data import local
from catsofa.cli.terminal import Json, Quiet, choices, examples, lines_in, note, print_json, progress, say
from catsofa.data.percentages import quantity

if TYPE_CHECKING:
    from collections import Counter

Folder = Annotated[Path, typer.Option("--out", help="Output folder.")]
Seed = Annotated[int, typer.Option(help="Random seed.")]


Associations = Annotated[
    Path | None,
    typer.Option(
        help="CSV: target, bias_type, stereotype, anti-stereotype, unrelated; if known, the context (with BLANK) they "
        "were written for, and the target_kind: person, place, adjective, thing, pronoun or name. Or associations: "
        "JSONL with the other two words in `extra`, as `build candidates --prompt triplet` writes it, or SeeGULL's CSV."
    ),
]
Continuations = Annotated[
    Path | None,
    typer.Option(
        help="CSV with the same columns and a context, for intersentence CATs. Or output of `build "
        "candidates --prompt scene`."
    ),
]
MatchParts = Annotated[bool, typer.Option("--match-parts", help="Require one part of speech for the three words.")]
Zipf = Annotated[
    Path | None, typer.Option(help="Words with their Zipf values (TSV). The three options must have similar values.")
]
Gap = Annotated[float, typer.Option(min=0, help="Largest difference of their Zipf values.")]
Pool = Annotated[
    str | None,
    typer.Option(
        help="Words, one per line, for rows whose unrelated word is missing or differs in part of speech. `bundled` "
        "(the default) takes catsofa's words; `none` refuses such rows.",
        metavar="FILE | bundled | none",
    ),
]
_CHOSEN = {
    "unrelated_chosen": "an unrelated word of the pool, because their own was missing or differed in part of speech; "
    "`unrelated_given` in the source keeps their own, and --pool none refuses such rows",
    "anti_stereotype_chosen": "an anti-stereotype (WordNet's opposite of their stereotype), because they had none; "
    "no person has confirmed it: ask people (`annotate create --kind validate-cats`); --pool none refuses such rows",
}
"""Describes, for each kind of chosen word, what the associations got."""
Kind = Literal["name", "person", "noun", "mass", "adjective", "verb"]


def register(build: typer.Typer) -> None:
    """Adds the commands of this module to the group `build`."""
    build.command(
        epilog=examples(
            "catsofa build cats --associations pairs.csv --out cats.jsonl --refused refused.jsonl",
            "catsofa build cats --associations pairs.csv --templates mine.toml --match-parts --out cats.jsonl",
            "catsofa build cats --associations pairs.csv --pool words.txt --zipf zipf.tsv --out cats.jsonl",
            "catsofa build cats --associations pairs.csv --pool none --frame past --frame dialogue --out cats.jsonl",
            "catsofa build cats --associations proposed/associations.jsonl --out cats.jsonl --refused refused.jsonl",
            "catsofa build cats --continuations stories.csv --out inter.jsonl",
            "catsofa build cats --associations parejas.csv --language es --out cats.jsonl",
        )
    )(cats)
    build.command(
        epilog=examples(
            "catsofa build fills --associations pairs.csv --model bert-base-cased --out proposals.csv",
            "catsofa build fills --associations pairs.csv --model ./bert --top 5 --out few.csv --refused rest.jsonl",
        )
    )(fills)
    build.command(
        epilog=examples(
            "catsofa build seat --words weat6 --out tests",
            "catsofa build seat --words my_words.toml --out tests --seed 7",
            "catsofa build seat --words all --out tests",
            "catsofa build seat --words weat7 --language es --out tests",
        )
    )(seat)
    build.command(
        epilog=examples(
            "catsofa build pairs --on articles --out pairs --held-out 0.25",
            "catsofa build pairs --dataset wikimedia/wikipedia --config 20231101.en --documents 100000 --out pairs",
        )
    )(pairs)


def cats(
    out: Out,
    associations: Associations = None,
    templates: Templates = None,
    frame: Frames = None,
    continuations: Continuations = None,
    match_parts: MatchParts = False,
    zipf: Zipf = None,
    gap: Gap = 1.0,
    pool: Pool = None,
    seed: Seed = 0,
    bias_type: BiasType = "",
    language: LanguageName = "en",
    refused: RefusedFile = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build CATs: intrasentence from associations in templates, or intersentence from contexts and continuations.

    An anti-stereotype that is missing is WordNet's opposite of the stereotype, if that is an adjective (English).

    An unrelated word that is missing or fits no slot of the other two is chosen from a pool (English): the source of
    the CAT keeps the word that was given, and the command counts these associations.
    """
    from collections import Counter

    from catsofa.builders import cats as builder
    from catsofa.builders import refusals
    from catsofa.builders.cats import agreeing, opposites, proposed
    from catsofa.builders.provenance import provenance
    from catsofa.data.language.word_numbers import read_zipf
    from catsofa.data.languages import find

    if (associations is None) == (continuations is None):
        raise ValueError("name a file of --associations or one of --continuations: one of the two")
    spoken = find(language)
    english = {"--continuations": continuations, "--match-parts": match_parts, "--zipf": zipf, "--pool": pool}
    if spoken.code != "en" and (options := [name for name, value in english.items() if value]):
        raise ValueError(
            f"found {' and '.join(options)} with --language {language}; expected English records; leave the option out"
        )
    values = read_zipf(zipf) if zipf else None
    if continuations:
        proposals = proposed.read(continuations, with_context=True, bias_type=bias_type)
        watched = progress(proposals, "CATs", lines_in(continuations), quiet=quiet)
        built = builder.intersentence(watched, provenance("cats", continuations))
    elif associations and spoken.code != "en":
        proposals = proposed.read(associations, language=spoken.code, bias_type=bias_type)
        watched = progress(proposals, "CATs", lines_in(associations), quiet=quiet)
        fitting = agreeing.templates_of(spoken, templates, frame or ())
        built = agreeing.build(
            draft(spoken, quiet), fitting, watched, provenance("cats", associations, *data_of(spoken))
        )
    elif associations:
        bundled = pool is None or pool == "bundled"
        words = builder.bundled_words() if bundled else () if pool == "none" else builder.read_words(str(pool))
        rows_in = proposed.read(associations, bias_type=bias_type)
        rows_in = rows_in if pool == "none" else opposites.with_opposites(rows_in)
        built = builder.intrasentence(
            templates_in(templates, frame),
            progress(rows_in, "CATs", lines_in(associations), quiet=quiet),
            matching=builder.Matching(match_parts, values, gap),
            unrelated=builder.Unrelated(words, seed, values) if words else None,
            source=provenance("cats", associations, seed=seed if words else None, pool="bundled" if bundled else pool),
        )
    chosen, opposed = Counter[str](), Counter[str]()
    outcomes = opposites.counting_chosen(built, chosen, builder.GIVEN)
    outcomes = opposites.counting_chosen(outcomes, opposed, opposites.CHOSEN)
    rows = refusals.Rows()
    counts = refusals.write(rows.counting(outcomes), out, refused)
    about = _tell_chosen({"unrelated_chosen": chosen, opposites.CHOSEN: opposed}, counts, quiet or json)
    report(counts, out, json, quiet, about, rows)


def _tell_chosen(
    chosen: "Mapping[str, Counter[str]]", counts: "Counter[str]", quiet: bool
) -> dict[str, dict[str, int]]:
    """Prints how many associations got chosen words; returns the counts for JSON output, with the keys of _CHOSEN."""
    about = {}
    for name, by_association in chosen.items():
        if by_association:
            number, cats_made = len(by_association), by_association.total()
            about[name] = {"associations": number, "cats": cats_made}
            note(f"{quantity(number, 'association')} ({quantity(cats_made, 'CAT')}) got {_CHOSEN[name]}", quiet=quiet)
    if lacking := counts["no_anti_stereotype"]:
        note(
            f"{quantity(lacking, 'association')} without an anti-stereotype, whose stereotype is no adjective with an "
            "opposite: write one in its column or in `extra`, or ask models (`build candidates --prompt triplet`)",
            quiet=quiet,
        )
    return about


def fills(
    associations: Annotated[
        Path, typer.Option(help="Associations, as for `build cats`; the unrelated word may be missing.")
    ],
    model: Annotated[str, typer.Option(help="Masked language model, by folder or name.")],
    out: Annotated[Path, typer.Option(help="Output table (CSV).")],
    top: Annotated[int, typer.Option(min=1, help="Words of each kind per association.")] = 10,
    templates: Templates = None,
    bias_type: BiasType = "",
    refused: RefusedFile = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Propose words for a BLANK, for people to choose from: neutral ones, and ones unrelated to the target.

    The model finds neutral words about as likely for the target as for other people. It finds unrelated words likely
    for things, and least likely for people. No command reads the proposals: copy the words that you choose into your
    associations.
    """
    from collections import Counter

    from catsofa import slot_models
    from catsofa.builders import refusals
    from catsofa.builders.cats import proposed, suggestions
    from catsofa.data.files import csv_files, jsonl

    fitting, proposals = templates_in(templates, None), list(proposed.read(associations, bias_type=bias_type))
    guesser, identity = slot_models.guesser(model)
    rows = refusals.Rows()
    outcomes = list(
        rows.counting(progress(suggestions.suggest(proposals, fitting, guesser, top), "words", quiet=quiet))
    )
    kept = [one for one in outcomes if isinstance(one, suggestions.Suggestion)]
    turned_away = [one for one in outcomes if not isinstance(one, suggestions.Suggestion)]
    if kept:
        csv_files.write((one.row(identity) for one in kept), out, suggestions.COLUMNS)
    else:  # a table of an earlier run is about other associations
        out.unlink(missing_ok=True)
    if refused:
        jsonl.write(turned_away, refused)
    counts = Counter(kept=len(kept)) + Counter(one.reason for one in turned_away)
    report(counts, out, json, quiet, rows=rows)


def seat(
    words: Annotated[str, typer.Option(help="Word sets: a SEAT file or folder, TOML, a bundled test (weat6), or all.")],
    out: Folder,
    seed: Seed = 0,
    kind: Annotated[
        Kind | None,
        typer.Option(metavar=choices(Kind), help="Default kind for words listed without one."),
    ] = None,
    language: LanguageName = "en",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build sentence tests (SEAT) from word sets: each word in neutral sentences; the longer target set is cut."""
    from catsofa.builders import association_tests as builder
    from catsofa.builders.provenance import provenance
    from catsofa.data.formats import seat as seat_format
    from catsofa.data.languages import find

    path, spoken = Path(words), draft(find(language), quiet)
    own = path.exists() or path.suffix
    word_sets = builder.read(local(words)) if own else builder.bundled(words.removesuffix("all"), spoken)
    source = provenance("seat", *([path] if path.exists() else []), *data_of(spoken))
    tests = builder.build(word_sets, seed=seed, otherwise=kind, source=source, language=spoken)
    built = list(progress(tests, "tests", quiet=quiet))
    seat_format.write(built, out)
    rows = [{"test": t.id, "x": len(t.x.items), "y": len(t.y.items), "cut": t.source.get("cut", {})} for t in built]
    if json:
        print_json({"tests": rows, "folder": str(out)})
        return
    for row in rows:
        cut = "".join(f"; {count} cut from {name}" for name, count in row["cut"].items())
        say(f"{row['test']}: {row['x']} + {row['y']} sentences{cut}", quiet=quiet)


def pairs(
    out: Folder,
    source: Annotated[
        Path | None, typer.Option("--on", help="Folder of texts: one document per file, or JSONL.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Dataset of the Hugging Face hub, or its folder, instead of texts.")
    ] = None,
    config: Annotated[str | None, typer.Option(help="Configuration of the dataset.")] = None,
    column: Annotated[str, typer.Option(help="Column of the texts.")] = "text",
    documents: Annotated[int | None, typer.Option(min=2, help="Most documents to read.")] = None,
    per_document: Annotated[int | None, typer.Option(min=1, help="Most positive pairs per document.")] = None,
    held_out: Annotated[float, typer.Option(min=0, max=0.99, help="Share of documents to hold out.")] = 0.1,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build next-sentence pairs: positives, and negatives from other documents; no document is in both splits."""
    from itertools import islice

    from catsofa.builders import sentence_pairs as builder
    from catsofa.builders.sentence_pairs import documents as texts

    if (source is None) == (dataset is None):
        raise ValueError("name a folder of texts (--on) or a --dataset: one of the two")
    source_texts = texts.read_folder(source) if source else texts.read_dataset(str(dataset), config, column=column)
    limits = builder.Limits(per_document=per_document)
    watched = progress(islice(source_texts, documents), "documents", total=documents, quiet=quiet)
    counts = builder.write(builder.build(watched, held_out=held_out, seed=seed, limits=limits), out)
    if json:
        print_json({"counts": dict(counts), "folder": str(out)})
    else:
        for name, count in counts.items():
            say(f"{name.replace('_', ' ')}: {count:,}", quiet=quiet)
    if not any(counts[split] for split in builder.SPLITS):
        note(f"no pair was built, so the files of {out} hold nothing for another command", quiet=quiet or json)
        raise typer.Exit(1)
