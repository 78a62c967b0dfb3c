"""Reports of data sets: contents, agreement of annotators, refusals and lint findings; no model scores them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from catsofa import report
from catsofa.data.languages.texts import most_spoken
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import Cat, Pair
from catsofa.lint_resources import classifier, given
from catsofa.report.dataset import sections as parts
from catsofa.report.dataset.files import Dataset, is_dataset, read
from catsofa.report.dataset.judgements import people
from catsofa.report.elements import Document, Section
from catsofa.scoring.models.files import digest_of
from catsofa.scoring.signature import model_label
from catsofa.validation.lint import lint
from catsofa.validation.sets import keywords, sentiment

WARNING = (
    "This report is about a set of stereotypes. Parts of it name groups of people and repeat offensive sentences about "
    "them; these parts are folded away until you open them."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """Optional tools of a report on data sets; a report names the parts that are missing without them."""

    sentiment_model: str = ""
    """A text-classification model."""
    negative: str = ""
    """The negative classes of the model, separated by commas, if they have other names."""
    corpus: str = ""
    """`wordfreq`, or the path of a corpus as a text file."""


def report_on(
    paths: Iterable[Path],
    tools: Tools | None = None,
    *,
    paraphrases: Sequence[Path] = (),
    x: str = "",
    progress: Progress = SILENT,
) -> Document:
    """Returns the report of runs and data sets: first the sections of the runs, then those of each data set."""
    given_paths = list(paths)
    runs = [path for path in given_paths if not is_dataset(path)]
    sets = [path for path in given_paths if path not in runs]
    if not sets:
        return report.document(runs, paraphrases=paraphrases, x=x)
    of_sets = document(sets, tools, progress)
    if not runs and not paraphrases:
        return of_sets
    of_runs = report.document(runs, paraphrases=paraphrases, x=x)
    return replace(of_runs, notes=(*of_runs.notes, *of_sets.notes), sections=(*of_runs.sections, *of_sets.sections))


def document(paths: Iterable[Path], tools: Tools | None = None, progress: Progress = SILENT) -> Document:
    """Returns the report of the data sets at these paths, one after the other."""
    tools = tools or Tools()
    datasets = [dataset for path in paths for dataset in read(path)]
    pending = (
        section for number, dataset in enumerate(datasets, 1) for section in _sections(f"d{number}", dataset, tools)
    )
    sections = tuple(progress.each(pending))
    title = datasets[0].title if len(datasets) == 1 else f"{len(datasets)} data sets"
    title, notes = f"What is in {title}", tuple(_notes(datasets, tools))
    return Document(title=title, warning=WARNING, notes=notes, sections=sections)


def _sections(name: str, dataset: Dataset, tools: Tools) -> Iterator[Section]:
    """Yields the sections of a data set that have contents."""
    line, items = f"{dataset.line} | version:{version('catsofa')}", dataset.items
    if items or dataset.others:
        yield parts.size_section(f"{name}-size", dataset.title, line, items, dataset.others)
    if _has_splits(dataset):
        yield parts.split_section(f"{name}-split", dataset.title, line, dataset.parts)
    if judged := dataset.judged():
        yield people(f"{name}-people", dataset.title, line, judged, dataset.to_judge)
    if _has_sides(dataset) and tools.sentiment_model:
        negative = [part.strip() for part in tools.negative.split(",") if part.strip()]
        classify = classifier(tools.sentiment_model, negative)
        shares = sentiment.sentiments(items, classify, negative or sentiment.NEGATIVE)
        model = Path(tools.sentiment_model)
        called = model_label(str(model), digest_of(model)) if model.is_dir() else tools.sentiment_model
        yield parts.sentiment_section(f"{name}-sentiment", dataset.title, line, shares, called)
    if items and tools.corpus:
        ranked = keywords.keywords(items, keywords.reference(tools.corpus, most_spoken(items)))
        if ranked:
            yield parts.keyword_section(f"{name}-keywords", dataset.title, line, ranked, Path(tools.corpus).name)
    if dataset.refused:
        yield parts.refused_section(f"{name}-refused", dataset.title, line, dataset.refused)
    if items:
        findings = lint(items, given(corpus=tools.corpus, language=most_spoken(items)))
        yield parts.lint_section(f"{name}-lint", dataset.title, line, findings, len(items))
    if dataset.statement:
        yield parts.statement_section(f"{name}-statement", dataset.title, line, dataset.statement)


def _has_splits(dataset: Dataset) -> bool:
    """Returns True if the data set has two splits or more."""
    return dataset.are_splits and len(dataset.parts) > 1


def _has_sides(dataset: Dataset) -> bool:
    """Returns True if the data set has CATs or pairs, whose sides can differ in sentiment."""
    return any(isinstance(record, Cat | Pair) for record in dataset.items)


def _notes(datasets: Sequence[Dataset], tools: Tools) -> Iterator[str]:
    """Yields notes on missing parts of the report, and on files that were not read."""
    sided, items = any(map(_has_sides, datasets)), any(dataset.items for dataset in datasets)
    lacks = parts.missing(
        sentiment=bool(tools.sentiment_model) or not sided,
        keywords=bool(tools.corpus) or not items,
        agreement=any(dataset.is_judged for dataset in datasets),
        refusals=any(dataset.refused for dataset in datasets),
        splits=any(map(_has_splits, datasets)) or not items,
        statement=any(dataset.statement for dataset in datasets),
    )
    if lacks:
        yield f"Not in this report: {', '.join(lacks)}."
    if tools.corpus:
        yield from (
            f"{dataset.title}: {sentence}." for dataset in datasets for sentence in keywords.not_counted(dataset.items)
        )
    yield from (f"Not read in {dataset.title}: {', '.join(dataset.unread)}." for dataset in datasets if dataset.unread)
