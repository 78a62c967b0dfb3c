"""Inputs of the commands about judgements: shared options, and annotations with the background of their annotators."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.terminal import doing, reading

if TYPE_CHECKING:
    from catsofa.data.judging.adjudicated import Adjudicated
    from catsofa.data.records import Annotation
    from catsofa.validation.annotation_files import Collected

Source = Annotated[
    Path, typer.Option("--on", help="Annotations (item, annotator, label), CATs with labels, or CrowS-Pairs.")
]
Need = Annotated[int, typer.Option(help="Votes that a label needs.")]
Of = Annotated[int, typer.Option(help="Judgements to count per item: the first ones.")]
Seed = Annotated[int, typer.Option(help="Random seed.")]
Resamples = Annotated[int, typer.Option(help="Bootstrap resamples for the intervals.")]
Group = Annotated[
    str,
    typer.Option(help="Column that names the CAT of an item; CATs are judged and kept as a whole.", show_default=False),
]
GoldPass = Annotated[float, typer.Option(help="Share of attention items (column gold) that a person must get right.")]


@contextmanager
def about(*files: Path) -> Iterator[None]:
    """Adds the names of these files to errors about their content."""
    from catsofa.data.files import BadInput

    try:
        yield
    except BadInput:
        raise
    except ValueError as error:
        raise ValueError(f"{', '.join(map(str, files))}: {error}") from None


def collected(path: Path, quiet: bool, group: str = "", cats: Path | None = None) -> "Collected":
    """Returns the annotations of a file, in any format with annotations; with `cats`, as judgements of these CATs."""
    from catsofa.data import formats
    from catsofa.data.records import Cat
    from catsofa.validation.annotation_files import collect, onto

    collection = collect(reading(path, quiet=quiet), group)
    doing(f"looking at {len(collection.annotations):,} annotations")
    return onto(formats.read_as(cats, Cat), collection) if cats else collection


def adjudicated_beside(source: Path) -> "Mapping[str, Adjudicated]":
    """Returns the decisions of a study's owner about its items; empty for other files."""
    from catsofa.annotation.results.adjudications import adjudicated
    from catsofa.annotation.study import open_study

    return adjudicated(open_study(source.parent)) if (source.parent / "study.json").is_file() else {}


def with_background(
    annotations: "Sequence[Annotation]", source: Path, columns: Iterable[str]
) -> "tuple[Sequence[Annotation], int]":
    """Returns the annotations of a study with the publishable background of their annotators, and k.

    Returns other annotations unchanged, with the smallest k.
    """
    from dataclasses import replace

    from catsofa.annotation.crowd import settings
    from catsofa.annotation.crowd.people import background
    from catsofa.annotation.study import open_study
    from catsofa.data.suppression import LEAST
    from catsofa.validation.judgements import answers

    wanted = set(columns) - {name for annotation in annotations for name in annotation.extra}
    if not wanted or not (source.parent / "study.json").is_file():
        return annotations, LEAST
    study = open_study(source.parent)
    about = background.published(study, {annotation.annotator for annotation in answers(annotations)}, wanted)
    joined = [replace(a, extra={**a.extra, **about.get(a.annotator, {})}) for a in annotations]
    return joined, settings.read(study).questionnaire.k
