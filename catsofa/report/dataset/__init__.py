"""Reports of data sets: what is in them, how far people agree, what was refused, what lint finds; nothing is scored."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from catsofa import report
from catsofa.data.languages.texts import most_spoken
from catsofa.data.progress import SILENT, Progress
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
    """What a report may use beside the data; what is not named is not in the report, and the report says so."""

    sentiment_model: str = ""
    """A text-classification model."""
    negative: str = ""
    """Its negative classes, separated by commas, if they are not called so."""
    corpus: str = ""
    """`wordfreq`, or a corpus as a text file."""


def report_on(
    paths: Iterable[Path],
    tools: Tools | None = None,
    *,
    paraphrases: Sequence[Path] = (),
    x: str = "",
    progress: Progress = SILENT,
) -> Document:
    """The report of runs and data sets together: the runs' sections, then those of each data set."""
    given_paths = list(paths)
    runs = [path for path in given_paths if not is_dataset(path)]
    sets = [path for path in given_paths if path not in runs]
    if not sets:
        return report.document(runs, paraphrases=paraphrases, x=x)
    found = document(sets, tools, progress)
    if not runs and not paraphrases:
        return found
    of_runs = report.document(runs, paraphrases=paraphrases, x=x)
    return replace(of_runs, notes=(*of_runs.notes, *found.notes), sections=(*of_runs.sections, *found.sections))


def document(paths: Iterable[Path], tools: Tools | None = None, progress: Progress = SILENT) -> Document:
    """The report of the data sets at these paths, one after the other."""
    tools = tools or Tools()
    found = [dataset for path in paths for dataset in read(path)]
    made = (section for at, dataset in enumerate(found, 1) for section in _sections(f"d{at}", dataset, tools))
    sections = tuple(progress.each(made))
    title = found[0].title if len(found) == 1 else f"{len(found)} data sets"
    title, notes = f"What is in {title}", tuple(_notes(found, tools))
    return Document(title=title, warning=WARNING, notes=notes, sections=sections)


def _sections(name: str, of: Dataset, tools: Tools) -> Iterator[Section]:
    """The sections of a data set, those without anything to show left out."""
    line, items = f"{of.line} | version:{version('catsofa')}", of.items
    if items or of.others:
        yield parts.size_section(f"{name}-size", of.title, line, items, of.others)
    if _has_splits(of):
        yield parts.split_section(f"{name}-split", of.title, line, of.parts)
    if judged := of.judged():
        yield people(f"{name}-people", of.title, line, judged, of.to_judge)
    if _has_sides(of) and tools.sentiment_model:
        negative = [part.strip() for part in tools.negative.split(",") if part.strip()]
        classify = classifier(tools.sentiment_model, negative)
        shares = sentiment.sentiments(items, classify, negative or sentiment.NEGATIVE)
        model = Path(tools.sentiment_model)
        called = model_label(str(model), digest_of(model)) if model.is_dir() else tools.sentiment_model
        yield parts.sentiment_section(f"{name}-sentiment", of.title, line, shares, called)
    if items and tools.corpus:
        ranked = keywords.keywords(items, keywords.reference(tools.corpus, most_spoken(items)))
        if ranked:
            yield parts.keyword_section(f"{name}-keywords", of.title, line, ranked, Path(tools.corpus).name)
    if of.refused:
        yield parts.refused_section(f"{name}-refused", of.title, line, of.refused)
    if items:
        found = lint(items, given(corpus=tools.corpus, language=most_spoken(items)))
        yield parts.lint_section(f"{name}-lint", of.title, line, found, len(items))
    if of.statement:
        yield parts.statement_section(f"{name}-statement", of.title, line, of.statement)


def _has_splits(of: Dataset) -> bool:
    """Whether there are two splits or more."""
    return of.are_splits and len(of.parts) > 1


def _has_sides(of: Dataset) -> bool:
    """Whether there are CATs or pairs, whose two sides can differ in sentiment."""
    return any(not hasattr(record, "stereotype") for record in of.items)


def _notes(found: Sequence[Dataset], tools: Tools) -> Iterator[str]:
    """What is not in the report, and files of the folders that it does not read."""
    sided, items = any(map(_has_sides, found)), any(of.items for of in found)
    lacks = parts.missing(
        sentiment=bool(tools.sentiment_model) or not sided,
        keywords=bool(tools.corpus) or not items,
        agreement=any(of.is_judged for of in found),
        refusals=any(of.refused for of in found),
        splits=any(map(_has_splits, found)) or not items,
        statement=any(of.statement for of in found),
    )
    if lacks:
        yield f"Not in this report: {', '.join(lacks)}."
    if tools.corpus:
        yield from (f"{of.title}: {said}." for of in found for said in keywords.not_counted(of.items))
    yield from (f"Not read in {of.title}: {', '.join(of.unread)}." for of in found if of.unread)
