"""Commands that build terms, identities, stereotypes and probes, and filter them; `items` has further commands."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from catsofa.cli.build import items, languages, minimal_pairs
from catsofa.cli.build.kept import BiasType, LanguageName, Out, RefusedFile, data_of, draft, report
from catsofa.cli.data import local
from catsofa.cli.options import RayAddress, SpreadName, WorkerCount, cluster
from catsofa.cli.terminal import Bar, Json, Quiet, examples, lines_in, note, progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catsofa.data.records import Refused, Term

build = typer.Typer(
    name="build", no_args_is_help=True, help="Build benchmark items, and say which rows were refused and why."
)
filters = typer.Typer(
    name="filter", no_args_is_help=True, help="Filter items by a measure, and say which were dropped and why."
)

In = Annotated[str, typer.Option("--on", help="Input file or folder, or a released set by name.")]
Lexicon = Annotated[
    str,
    typer.Option(
        "--on", help="Lexicon: a file, a folder, a released set by name, or bundled (the terms of --language)."
    ),
]


Style = Literal["plural", "paper", "people"]
Reading = Literal["spacy", "none"]
RuleName = Literal["revised", "paper"]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.add_typer(build)
    app.add_typer(filters)
    build.command(
        epilog=examples(
            "catsofa build terms --out terms.jsonl",
            "catsofa build terms --from stereoset-v2 --corrected --out terms.jsonl",
            "catsofa build terms --from wikidata --property P106 --contact me@example.org --least 500 --out jobs.jsonl",
            "catsofa build terms --from latest-truthy.nt.bz2 --property P172 --merge merge.toml --out groups.jsonl",
        )
    )(terms)
    build.command(
        epilog=examples(
            "catsofa build identities --on identity_terms --out identities.jsonl",
            "catsofa build identities --on bundled --language es --out identities.jsonl",
            "catsofa build identities --on identity_terms --style paper --out paper.jsonl --refused refused.jsonl",
            "catsofa build identities --on identity_terms --cross gender --cross religion --out crossed.jsonl",
        )
    )(identities)
    build.command(
        epilog=examples(
            "catsofa build stereotypes --on SBIC.v2.trn.csv --out kept.jsonl --refused refused.jsonl",
            "catsofa build stereotypes --on SBIC.v2.trn.csv --out kept.jsonl --engine ray --workers 8",
            "catsofa build stereotypes --on SBIC.v2.trn.csv --rules paper --out as-in-the-paper.jsonl",
            "catsofa build stereotypes --on confirmed.jsonl --bias-type nationality --out kept.jsonl",
            "catsofa build stereotypes --on my.tsv --text statement --target target --parser none --out kept.jsonl",
        )
    )(stereotypes)
    build.command(
        epilog=examples(
            "catsofa build probes --identities identities.jsonl --stereotypes kept.jsonl --out probes.jsonl",
            "catsofa build probes --identities identities.jsonl --stereotypes kept.jsonl --out probes --engine ray",
        )
    )(probes)
    filters.command(
        epilog=examples(
            "catsofa filter perplexity kept.jsonl --scores gpt2.jsonl --scores bloom.jsonl --out plain.jsonl",
            "catsofa filter perplexity kept.jsonl --scores gpt2.jsonl --bins 30 --keep 12 --out a.jsonl --draw ppl.svg",
        )
    )(perplexity)
    items.register(build)
    minimal_pairs.register(build)
    languages.register(build)


def terms(
    out: Out,
    origin: Annotated[
        str,
        typer.Option(
            "--from",
            help="Source of the terms: stereoset-v1, stereoset-v2, wikidata, a dump (.nt, .gz, .bz2) or a table.",
        ),
    ] = "stereoset-v1",
    property_id: Annotated[
        str, typer.Option("--property", help="Wikidata property whose objects are the terms.")
    ] = "P106",
    contact: Annotated[str, typer.Option(help="Mail or web address for the user agent, as Wikidata asks.")] = "",
    endpoint: Annotated[str | None, typer.Option(help="SPARQL endpoint to ask instead of Wikidata's.")] = None,
    term: Annotated[str, typer.Option(help="Column of the terms in a table.")] = "",
    uses: Annotated[str, typer.Option(help="Column of the counts in a table.")] = "",
    category: Annotated[str, typer.Option(help="Category of the terms of a table.")] = "",
    least: Annotated[int, typer.Option(min=1, help="Least number of uses of a term.")] = 1,
    merge: Annotated[
        Path | None, typer.Option(help='Merge map (TOML), such as "assistant producer" = "producer".')
    ] = None,
    corrected: Annotated[
        bool, typer.Option("--corrected", help="Use standard spellings instead of those in the papers.")
    ] = False,
    refused: RefusedFile = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build a list of target terms from StereoSet's lists, a Wikidata property, or a table."""
    from catsofa.builders import refusals
    from catsofa.builders import terms as builder
    from catsofa.builders.terms import wikidata

    candidates: Iterator[Term | Refused]
    if origin in ("stereoset-v1", "stereoset-v2"):
        candidates = builder.stereoset_terms("v1" if origin.endswith("v1") else "v2", corrected=corrected)
    elif origin == "wikidata":
        address = endpoint or wikidata.ENDPOINT
        candidates = wikidata.query_terms(property_id, contact=contact, endpoint=address, least=least)
    elif origin.endswith((".nt", ".gz", ".bz2")):
        candidates = wikidata.dump_terms(origin, property_id, least=least)
    else:
        candidates = builder.read_terms(local(origin), term, uses, category)
    chosen = builder.choose(candidates, least=least, into=builder.read_merge_map(merge) if merge else {})
    report(refusals.write(progress(chosen, "terms", lines_in(origin), quiet=quiet), out, refused), out, json, quiet)


def identities(
    source: Lexicon,
    out: Out,
    style: Annotated[
        Style,
        typer.Option(
            help='Form of the plural: the noun where there is one, SoFa\'s naive plurals, or always "people".'
        ),
    ] = "plural",
    cross: Annotated[
        list[str] | None, typer.Option(help="Two categories to join in one subject (give the option twice).")
    ] = None,
    language: LanguageName = "en",
    refused: RefusedFile = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build plural subjects from the terms of an identity lexicon (columns TERM and POS: n, adj, pp or pl)."""
    from catsofa.builders import identities as builder
    from catsofa.builders import refusals
    from catsofa.builders.identities import intersections
    from catsofa.builders.languages.subjects import bundled
    from catsofa.builders.provenance import provenance
    from catsofa.builders.terms import read_lexicon
    from catsofa.data.languages import find

    spoken = draft(find(language), quiet)
    if spoken.code != "en" and (cross or style != "plural"):
        raise ValueError(f"--cross and --style are for English; {spoken.name} has one style, without crossings")
    path = None if source == "bundled" else local(source)
    if not path:
        spoken.path("terms.csv", "bundled terms")
    files = [*([path] if path else []), *data_of(spoken)]
    lexicon = read_lexicon(path, spoken.code) if path else bundled(spoken)
    if cross:
        outcomes = intersections.build_categories(lexicon, cross, provenance("intersections", *files))
    else:
        outcomes = builder.build(lexicon, style, provenance("identities", *files, style=style), spoken)
    total = lines_in(path) if path else None
    report(refusals.write(progress(outcomes, "identities", total, quiet=quiet), out, refused), out, json, quiet)


def stereotypes(
    source: In,
    out: Out,
    text: Annotated[
        str, typer.Option(help="Column (or JSON field) of the statement, for formats that catsofa does not know.")
    ] = "",
    target: Annotated[str, typer.Option(help="Column of the group that a statement is about.")] = "",
    category: Annotated[str, typer.Option(help="Column of the category.")] = "",
    spacy_model: Annotated[str, typer.Option(help="Pipeline of spaCy, by name or path.")] = "en_core_web_sm",
    parser: Annotated[
        Reading, typer.Option(help="Parser of the statements: a spaCy pipeline, or none (the dictionary alone).")
    ] = "spacy",
    rules: Annotated[
        RuleName,
        typer.Option(
            help="Rules: paper (SoFa's Appendix A), or revised (the same, with corrections after readers' checks)."
        ),
    ] = "revised",
    allow: Annotated[
        list[str] | None, typer.Option(help="Refusal reason to ignore, as SoFa does; repeat for several.")
    ] = None,
    bias_type: BiasType = "",
    names: Annotated[
        Path | None, typer.Option(help="Identity lexicon whose terms a predicate must not contain.")
    ] = None,
    language: LanguageName = "en",
    engine: SpreadName = "local",
    ray_address: RayAddress = None,
    workers: WorkerCount = None,
    refused: RefusedFile = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build predicates that can follow any identity from implied statements, by the rules of SoFa's Appendix A.

    A predicate that says what people should do or deserve has the note `prescriptive`. An
    association (JSONL, SeeGULL's CSV) becomes a predicate of its group: `lazy` becomes `are lazy`. It keeps its votes.
    """
    from catsofa.builders import refusals
    from catsofa.builders import stereotypes as builder
    from catsofa.builders.association_files import are_records
    from catsofa.builders.provenance import provenance
    from catsofa.builders.stereotypes import associated
    from catsofa.builders.stereotypes.dictionary_parsing import dictionary_parser
    from catsofa.builders.stereotypes.exclusions import Names
    from catsofa.builders.stereotypes.files import read_statements
    from catsofa.builders.stereotypes.parsing import spacy_parser
    from catsofa.builders.terms import read_lexicon
    from catsofa.data import formats
    from catsofa.data.languages import find
    from catsofa.data.records import Association

    spoken, path = draft(find(language), quiet), local(source)
    records = not text and path.is_file() and are_records(path, "statements or associations")
    if records and isinstance(next(formats.read(path), None), Association):
        if spoken.code != "en":
            raise ValueError(
                f"{path}: found associations and --language {language}; expected statements: only English associations "
                "become predicates; write each one as a sentence in a table, and name its column with --text"
            )
        excluded = Names(term.term for term in read_lexicon(names)) if names else None
        associations = progress(formats.read_as(path, Association), "associations", lines_in(path), quiet=quiet)
        predicates = associated.build(
            associations, names=excluded, bias_type=bias_type, source=provenance("stereotypes", path)
        )
        report(refusals.write(predicates, out, refused), out, json, quiet)
        return
    if spoken.code != "en" and (allow or names or rules != "revised"):
        raise ValueError("--allow, --names and --rules read English; leave them out")
    statements = read_statements(path, text, target, category, spoken.code)
    by_dictionary = parser == "none" or spoken.code != "en"
    how: dict[str, Any] = {
        "names": Names(term.term for term in read_lexicon(names)) if names else None,
        "allow": builder.allowable(allow or ()),
        "rules": rules,
        "source": provenance(
            "stereotypes",
            path,
            *data_of(spoken),
            parser="none" if by_dictionary else Path(spacy_model).name,
            rules=rules if spoken.code == "en" else None,
        ),
        "language": spoken,
    }
    watched = progress(statements, "statements", lines_in(path), quiet=quiet)
    if spread := cluster(engine, ray_address, workers):
        outcomes = builder.build_on(spread, watched, None if by_dictionary else spacy_model, **how)
    else:
        outcomes = builder.build(watched, dictionary_parser if by_dictionary else spacy_parser(spacy_model), **how)
    report(refusals.write(outcomes, out, refused), out, json, quiet)


def probes(
    identities: Annotated[Path, typer.Option(help="Identities (JSONL).")],
    stereotypes: Annotated[Path, typer.Option(help="Stereotypes (JSONL).")],
    out: Annotated[Path, typer.Option(help="Output file (JSONL). A name without an ending is a folder of shards.")],
    engine: SpreadName = "local",
    ray_address: RayAddress = None,
    workers: WorkerCount = None,
    refused: RefusedFile = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Join every identity with every stereotype of its category; without a category, with every stereotype.

    Shards are Parquet: a command that was stopped makes those that are missing.
    """
    from catsofa.builders import probes as builder
    from catsofa.builders import refusals
    from catsofa.builders.probes import shards
    from catsofa.builders.provenance import provenance
    from catsofa.data import formats
    from catsofa.data.records import Identity, Stereotype

    spread = cluster(engine, ray_address, workers)
    subjects = list(formats.read_as(identities, Identity))
    records, source = formats.read_as(stereotypes, Stereotype), provenance("probes")
    if not out.suffix:
        bar = Bar("shards", quiet=quiet)
        counts = shards.write(subjects, records, out, refused, cluster=spread, source=source, progress=bar)
    elif spread:
        raise ValueError(f"workers make a folder of shards, not one file; --out {out.with_suffix('')}")
    else:
        watched = progress(records, "stereotypes", lines_in(stereotypes), quiet=quiet)
        counts = refusals.write(builder.build(subjects, watched, source=source), out, refused)
    if counts["no_identity_of_category"]:
        there = ", ".join(sorted({identity.category for identity in subjects}))
        note(f"the identities have the categories {there}", quiet=quiet or json)
    report(counts, out, json, quiet)


def perplexity(
    stereotypes: Annotated[Path, typer.Argument(help="Stereotypes (JSONL).")],
    scores: Annotated[list[Path], typer.Option(help="Perplexities by stereotype id, one file per model.")],
    out: Out,
    bins: Annotated[
        int | None, typer.Option(min=1, help="Number of bins of each histogram. Default: the Freedman–Diaconis rule.")
    ] = None,
    keep: Annotated[
        str, typer.Option(help="Lowest bins to keep: their number (12), or the share that they hold (0.9).")
    ] = "0.9",
    linear: Annotated[bool, typer.Option("--linear", help="Bin the perplexities instead of their logarithms.")] = False,
    draw: Annotated[Path | None, typer.Option(help="Write the histograms to this file (SVG).")] = None,
    refused: RefusedFile = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Keep the stereotypes whose mean perplexity lies in the lowest bins of their category's histogram."""
    from dataclasses import asdict

    from catsofa.builders import refusals
    from catsofa.builders.probes import perplexity_filter as builder
    from catsofa.data import formats
    from catsofa.data.records import Stereotype

    means = builder.mean_over_models(builder.read_scores(scores))
    drawn, outcomes = builder.build(
        formats.read_as(stereotypes, Stereotype),
        means,
        bins=bins,
        keep=builder.cut(keep),
        scale="linear" if linear else "log10",
    )
    if draw:
        builder.draw(drawn, draw)
    counts = refusals.write(outcomes, out, refused)
    report(counts, out, json, quiet, {"histograms": [*map(asdict, drawn)]} if drawn else None)
