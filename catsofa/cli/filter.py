"""Commands for similarity: filter paraphrases by meaning, calibrate the model, drop near-duplicates."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from catsofa.cli.build import filters
from catsofa.cli.build.kept import Out, RefusedFile
from catsofa.cli.data import local
from catsofa.cli.options import RayAddress, SpreadName, WorkerCount, cluster
from catsofa.cli.terminal import (
    Bar,
    Json,
    Quiet,
    doing,
    examples,
    lines_in,
    note,
    print_json,
    progress,
    reading,
    say,
    table,
)
from catsofa.data.percentages import in_percent

if TYPE_CHECKING:
    from collections import Counter

    from catsofa.builders.cats.acceptability import Calibration
    from catsofa.builders.similarity.encoders import Encoder

Dtype = Literal["float32", "bfloat16"]

Model = Annotated[
    str, typer.Option(help="Model of sentence-transformers, by folder or name. Default: all-MiniLM-L6-v2.")
]
LanguageModel = Annotated[
    str,
    typer.Option(
        "--model", help="Causal or masked language model, by folder or name. A masked one sees both sides of a word."
    ),
]
DtypeName = Annotated[
    Dtype, typer.Option(help="Precision. bfloat16 halves the time and changes a cosine by less than 0.01.")
]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    filters.command(
        epilog=examples(
            "catsofa filter similarity gpt4 --original dev.json --out gpt4-same",
            "catsofa filter similarity gpt4 --original dev.json --model ./minilm --floor 0.65 --review 0.8 --out same",
            "catsofa filter similarity gpt4 --original dev.json --out gpt4-same --engine ray --workers 4",
            "catsofa filter similarity gpt4 --original dev.json --inference ./nli-minilm --out without-contradictions",
        )
    )(similarity)
    filters.command(
        "near-duplicates",
        epilog=examples(
            "catsofa filter near-duplicates stereotypes.jsonl --out kept.jsonl --refused twice.jsonl",
            "catsofa filter near-duplicates dev.json --model none --threshold 0.9 --out distinct.jsonl",
        ),
    )(near_duplicates)
    filters.command(
        epilog=examples(
            "catsofa filter acceptability cats.jsonl --model bert-base-cased --out kept.jsonl --review review.jsonl",
        )
    )(acceptability)
    calibrate = typer.Typer(
        name="calibrate", no_args_is_help=True, help="Calibrate the threshold of a filter on labelled data."
    )
    calibrate.command("similarity", epilog=examples("catsofa calibrate similarity --on stsb-dev.tsv --model ./minilm"))(
        calibrate_similarity
    )
    calibrate.command("acceptability", epilog=examples("catsofa calibrate acceptability --model bert-base-cased"))(
        calibrate_acceptability
    )
    app.add_typer(calibrate)


def similarity(
    folder: Annotated[Path, typer.Argument(help="Paraphrases, as `build paraphrases` writes them.")],
    original: Annotated[str, typer.Option(help="CATs that were paraphrased: a file, or a released set by name.")],
    out: Annotated[Path, typer.Option(help="Output folder for partitions, review queues, refusals and scores.")],
    model: Model = "",
    dtype: DtypeName = "float32",
    floor: Annotated[float, typer.Option(help="Mean cosine below which a paraphrase is refused.")] = 0.60,
    review: Annotated[
        float | None,
        typer.Option(
            help="Mean cosine below which people should review a paraphrase. Default: 0.75, or the floor if higher."
        ),
    ] = None,
    same: Annotated[
        float, typer.Option(help="Similarity (chrF) above which a paraphrase counts as the same sentence.")
    ] = 85.0,
    cross: Annotated[
        str | None,
        typer.Option(help="Cross-encoder for similarity; a high value lifts a pair over the review threshold."),
    ] = None,
    inference: Annotated[
        str | None,
        typer.Option(
            help="Cross-encoder for inference, such as cross-encoder/nli-deberta-v3-small, or `bundled`, a small model "
            "for English. Pairs without entailment in both directions go to review. Contradictions are refused, not by "
            "`bundled`."
        ),
    ] = None,
    engine: SpreadName = "local",
    ray_address: RayAddress = None,
    workers: WorkerCount = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Keep the paraphrases that mean the same as their original, queue doubtful ones for people, refuse the rest.

    A paraphrase with a warning of `build paraphrases` goes to people. It does not if the encoder finds that both slots
    describe the same thing, or if the inference model finds no change.

    Every score is kept in OUT/similarity.jsonl: the same command with other thresholds needs no model.
    """
    from catsofa.builders.similarity import Cut, Models
    from catsofa.builders.similarity.bundled import NAME as BUNDLED
    from catsofa.builders.similarity.bundled import THRESHOLDS, BundledModel
    from catsofa.builders.similarity.encoders import CrossEncoder, InferenceModel
    from catsofa.builders.similarity.filter import filter_pairs, read_pairs, score_on
    from catsofa.data.formats import read_as
    from catsofa.data.records import Cat

    languages = sorted({cat.language for cat in read_as(local(original), Cat)} - {"en"})
    if languages and (not model or inference == BUNDLED):
        english, option = (f"`{BUNDLED}`", "--inference") if model else ("all-MiniLM-L6-v2", "--model")
        raise ValueError(
            f"the CATs are in {', '.join(languages)}, and {english} reads English; name a model that reads them with "
            f"{option}"
        )
    models = Models(
        encoder=_encoder(model, dtype, quiet=quiet),
        cross=CrossEncoder(cross) if cross else None,
        inference=BundledModel() if inference == BUNDLED else None if inference is None else InferenceModel(inference),
    )
    cut = Cut(floor=floor, review=max(floor, 0.75) if review is None else review, same=same)
    if inference == BUNDLED:
        cut = replace(cut, **THRESHOLDS)
    pairs = read_pairs(folder, local(original))
    if spread := cluster(engine, ray_address, workers):
        score_on(spread, pairs, folder, out, models)
    counts = filter_pairs(pairs, folder, out, models, cut, progress=Bar("comparing", len(pairs), quiet=quiet))
    _show(str(out), counts, json, quiet)


def near_duplicates(
    file: Annotated[Path, typer.Argument(help="Records of any kind that have a text (JSONL, StereoSet, CrowS-Pairs).")],
    out: Out,
    refused: RefusedFile = None,
    threshold: Annotated[
        float,
        typer.Option(
            help="Share of common 4-character sequences that makes long texts duplicates, as in lint rule L20."
        ),
    ] = 0.8,
    model: Annotated[
        str,
        typer.Option(
            help="Model of sentence-transformers for short texts, by folder or name; `none` compares words only. "
            "Default: all-MiniLM-L6-v2."
        ),
    ] = "",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Keep one record of each group of near-duplicates. For CATs, the context and both options are compared.

    Texts of up to 8 words are duplicates if their words or vectors are near and no negation, number, modal, name or
    opposite differs. Longer texts are duplicates if they share most of their letters. These rules and the model are for
    English. In another language short texts are duplicates if their words are equal, and the command says so.
    """
    from catsofa.builders import refusals
    from catsofa.builders.near_duplicates import without_near_duplicates
    from catsofa.data.languages.texts import language_of, said_of_near_duplicates

    records = list(reading(file, quiet=quiet))
    for sentence in said_of_near_duplicates(records):
        note(sentence, quiet=quiet)
    english = any(language_of(record) == "en" for record in records)
    encoder = None if model == "none" or not english else _encoder(model, "float32", quiet=quiet)
    outcomes = without_near_duplicates(records, threshold, Bar("comparing", quiet=quiet), encoder)
    _show(str(out), refusals.write(outcomes, out, refused), json, quiet)


def calibrate_similarity(
    on: Annotated[Path, typer.Option(help="Pairs with human scores: sentence1, sentence2, score (TSV or CSV).")],
    model: Model = "",
    dtype: DtypeName = "float32",
    precision: Annotated[
        float, typer.Option(min=0, max=1, help="Share of kept pairs that must have the same meaning.")
    ] = 0.9,
    same_from: Annotated[float, typer.Option(help="Human score from which two sentences have the same meaning.")] = 4.0,
    seed: Annotated[int, typer.Option(help="Random seed of the bootstrap.")] = 0,
    json: Json = False,
) -> None:
    """Measure how a model's cosines agree with people, and choose the threshold that is right often enough."""
    from catsofa.builders.similarity.calibration import STRETCH, calibrate, cosines, read_judged

    judged = read_judged(on)
    scores = [pair.score for pair in judged]
    encoder = _encoder(model, dtype, quiet=json)
    compared = cosines(judged, encoder, Bar(f"compared, {STRETCH} at once", quiet=json))
    doing(f"resampling {len(judged):,} pairs")
    calibration = calibrate(compared, scores, same_from=same_from, precision=precision, seed=seed)
    if json:
        print_json(asdict(calibration))
        return
    low, high = calibration.interval
    say(f"Spearman {calibration.spearman:.3f} [{low:.3f}, {high:.3f}] over {calibration.pairs:,} pairs")
    share = in_percent(precision, 0)
    if calibration.threshold is None:
        say(f"no cosine is right in {share} of the pairs above it; people call {calibration.same:,} pairs the same")
    else:
        reached = in_percent(calibration.recall or 0.0, 0)
        say(f"from {calibration.threshold:.3f} on, {share} are the same: {reached} of all {calibration.same:,}")


def acceptability(
    file: Annotated[Path, typer.Argument(help="Intrasentence CATs in English, as `build cats` writes them.")],
    model: LanguageModel,
    out: Out,
    review: Annotated[Path, typer.Option(help="Output file for the CATs that people should read.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Put CATs aside for people if a fill makes the words of its template improbable, a sign of bad grammar.

    The command first measures the model on labelled sentences that come with catsofa. It refuses a model that cannot
    tell the grammatical sentences from the others. The probability of the fill itself never counts.
    """
    from catsofa import slot_models
    from catsofa.builders.cats import acceptability as builder
    from catsofa.data import formats
    from catsofa.data.records import LABELS, Cat

    likelihood, identity = slot_models.around(model)
    doing("measuring the model on labelled sentences")
    measured = builder.calibrate(likelihood)
    measured.require(model)
    cats = progress(formats.read_as(file, Cat), "CATs", lines_in(file), quiet=quiet)
    counts = builder.write(builder.judge(cats, likelihood, measured, identity), out, review)
    if json:
        doubtful = {label: counts[label] for label in LABELS}
        print_json(
            {"kept": counts["kept"], "review": counts["review"], "doubtful": doubtful} | {"measured": asdict(measured)}
        )
    elif not quiet:
        _say_measured(measured)
        say(f"{counts['kept']:,} kept: {out}; {counts['review']:,} for people: {review}")
        table("Doubtful", ["candidates", "number"], [[label, counts[label]] for label in LABELS])
    if not counts["kept"]:
        raise typer.Exit(1)


def calibrate_acceptability(model: LanguageModel, json: Json = False) -> None:
    """Measure how well a model tells grammatical from ungrammatical sentences, by the kind of fault.

    Exits with 1 if `filter acceptability` would refuse the model.
    """
    from catsofa import slot_models
    from catsofa.builders.cats import acceptability as builder

    likelihood, identity = slot_models.around(model)
    doing("measuring the model on labelled sentences")
    measured = builder.calibrate(likelihood)
    print_json(asdict(measured) | {"by": identity}) if json else _say_measured(measured)
    if measured.auc < builder.LEAST:
        note(f"below {builder.LEAST:.2f}: `filter acceptability` refuses this model", quiet=json)
        raise typer.Exit(1)


def _say_measured(measured: "Calibration") -> None:
    """Prints the AUC of a model for all sentences and for each kind of fault, and its threshold."""
    from catsofa.builders.cats.acceptability import KEPT

    rows = [["all", measured.auc], *([name, auc] for name, auc in measured.by_class.items())]
    table(f"{measured.sentences} labelled sentences", ["fault", "AUC"], rows)
    kept, caught = in_percent(KEPT, 0), in_percent(measured.found, 0)
    say(f"threshold {measured.threshold:.3f}: {kept} of the grammatical sentences pass, {caught} of the others do not")


def _encoder(model: str, dtype: Dtype, *, quiet: bool) -> "Encoder":
    """Returns the sentence encoder with fast CPU kernels.

    Prints a note if the folder of a model has no configuration of sentence-transformers.
    """
    from catsofa.builders.similarity.encoders import sentence_encoder
    from catsofa.scoring.likelihood.cpu_kernels import speed_up

    if model and Path(model, "config.json").exists() and not Path(model, "modules.json").exists():
        note(
            f"{model} is no sentence-transformers model: the mean of its tokens' states represents a sentence, "
            "and its cosines may say little",
            quiet=quiet,
        )
    return sentence_encoder(model, dtype=dtype, speed_up=speed_up)


def _show(title: str, counts: "Counter[str]", json: bool, quiet: bool) -> None:
    """Prints how many texts have each outcome."""
    if json:
        print_json(dict(counts))
    elif not quiet:
        table(title, ("texts", "number"), counts.items())
