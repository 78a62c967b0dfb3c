"""Reports of models; numbers share a table only if their signatures differ in nothing but the model or the batching."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import combinations, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.data.statistics import remembered_draws
from catsofa.report.cells import Row, Words, with_distinct_titles
from catsofa.report.elements import Document, Section, Table
from catsofa.report.inputs import EXPECTED, Finished, beside, find, groups, with_unique_names
from catsofa.report.sections import bbq, choices, choices_words, crows_pairs, multiverse, plain, seat, sofa, stereoset
from catsofa.report.sections.contamination import contamination
from catsofa.report.sections.examination import examination
from catsofa.report.sections.paraphrases import robust
from catsofa.report.sections.perplexity_filter import perplexity_filter
from catsofa.report.sections.power import power
from catsofa.report.sections.protocols import Group, protocols
from catsofa.report.sections.rank_agreement import agreement
from catsofa.report.sections.robustness import Robust, robustness
from catsofa.report.sections.series import series
from catsofa.report.summary import Standing
from catsofa.report.summary.sentences import findings
from catsofa.report.summary.standings import standings
from catsofa.report.summary.tables import differing, matrix, summary
from catsofa.scoring.signature import Signature, differences

Make = Callable[[str, Sequence[Row]], Section]

MAKE: dict[str, tuple[Words, Make]] = {
    "stereoset": (stereoset.WORDS, stereoset.stereoset),
    "crows_pairs": (crows_pairs.WORDS, crows_pairs.crows),
    "sofa": (sofa.WORDS, sofa.sofa),
    "seat": (seat.WORDS, seat.seat),
    "bbq": (bbq.WORDS, bbq.bbq),
    "choices": (choices_words.WORDS, partial(choices.choices, answers=bbq.answers, words=choices_words.KINDS)),
}
"""Maps the registered name of a measure to its texts and the function that makes its section, in report order."""
PRINTED: dict[str, Callable[[str, Mapping[str, Any], Path], Section]] = {
    "examine": examination,
    "contamination": contamination,
    "power": power,
    "filter perplexity": lambda name, found, path: perplexity_filter(name, path, found),
}
"""Maps a command to the function that makes a section of its JSON, in report order."""
WARNING = (
    "This report is about stereotypes. Parts of it may name groups of people and repeat offensive sentences about "
    "them; these parts are folded away until you open them."
)
NAMED = 4
"""The largest number of folders that an error names."""


def document(
    paths: Iterable[Path | str],
    title: str = "Stereotypes in language models",
    *,
    paraphrases: Iterable[Path | str] = (),
    x: str = "",
) -> Document:
    """Returns the report of these runs and results, with a section for each measure, data set and protocol.

    `paraphrases` are runs on paraphrases of items that other runs scored; the report compares both item by item.
    `x` is the word before the number that orders the checkpoints of a model (`step` in `…-step1000`).
    """
    rephrased = [Path(path) for path in paraphrases]
    inputs = find(
        paths, leave_out=[place for path in rephrased for place in (path, *path.rglob("*")) if place.is_dir()]
    )
    ordered = in_order(inputs.runs)
    with remembered_draws(), _readable([run for _, runs in ordered for run in runs]):
        every = multiverse.many(inputs.runs)
        sections = [
            *(series("series", ordered, x, seat.tests_of) if x else ()),
            *multiverse.sections("multiverse", every),
        ]
        by_group = standings(ordered)
        own = [
            _with_pairs(_section(f"s{n}", *group), measured)
            for n, (group, measured) in enumerate(zip(ordered, by_group, strict=True), 1)
        ]
        sections += with_distinct_titles(own, [runs[0].signature for _, runs in ordered])
        together = {
            id(run) for models in every.values() for by_protocol in models.values() for run in by_protocol.values()
        }
        pairs = [(kind, [run for run in runs if id(run) not in together]) for kind, runs in ordered]
        sections += protocols("protocols", [(kind, runs) for kind, runs in pairs if runs])
    compared = [Robust(*parts) for parts in robust(rephrased, inputs.runs)] if rephrased else []
    compared_in = [(Robust(printed), path) for path, printed in inputs.printed["robustness"]]
    numbered = enumerate([*((comparison, None) for comparison in compared), *compared_in], 1)
    rephrasings = [robustness(f"robustness{number}", comparison, path) for number, (comparison, path) in numbered]
    signed = [Signature.of(comparison.report["signature"]) for comparison in compared]
    sections += [*with_distinct_titles(rephrasings[: len(signed)], signed), *rephrasings[len(signed) :]]
    with _readable([run for _, runs in ordered for run in runs]):
        sections += agreement("agreement", ordered)
    for command, make in PRINTED.items():
        name = command.partition(" ")[0]
        sections += [make(f"{name}{n}", output, path) for n, (path, output) in enumerate(inputs.printed[command], 1)]
    shown = [one for several in by_group for one in several]
    return Document(
        title=title,
        warning=WARNING,
        notes=(*inputs.left_out, *_apart(ordered)),
        sections=tuple(sections),
        findings=tuple(findings(shown)),
        summary=summary(shown, [str(run.signature) for _, runs in ordered for run in runs]) if shown else None,
    )


def in_order(runs: Iterable[Finished]) -> list[Group]:
    """Returns the groups of runs that may share a table, in the order of the summary and the sections."""
    order = {kind: place for place, kind in enumerate(MAKE)}
    places: dict[tuple[str, str], int] = {}
    by_place = list[tuple[tuple[int, int, bool], Group]]()
    for kind, several in groups(runs):
        # precisions of one measure, data set and protocol follow each other, float32 first
        one = replace(several[0], signature=replace(several[0].signature, dtype="float32"))
        place = places.setdefault(beside(one), len(places))
        dtype = several[0].signature.precision
        by_place.append(((order.get(kind, len(order)), place, dtype != "float32"), (kind, several)))
    return [group for _, group in sorted(by_place, key=itemgetter(0))]


def overview(runs: Sequence[Finished]) -> Table | None:
    """Returns only the table of all models on all measures; None if the summary has no number for these runs."""
    ordered = in_order(with_unique_names(runs))
    with remembered_draws(), _readable(runs):
        shown = [one for several in standings(ordered) for one in several]
    return summary(shown, [str(run.signature) for run in runs]) if shown else None


def section_of(kind: str) -> tuple[Words, Make]:
    """Returns the texts of a measure and the function that makes its section; by default a plain table of its rows."""
    return MAKE[kind] if kind in MAKE else (plain.words(kind), plain.section(kind))


def _section(name: str, kind: str, runs: Sequence[Finished]) -> Section:
    """Returns the section of runs that may share a table."""
    with _readable(runs):
        return section_of(kind)[1](name, [(run.model, run.report, run.signature) for run in runs])


def _with_pairs(section: Section, measured: Sequence[Standing]) -> Section:
    """Returns the section with tables of the differences between its models after its first table."""
    first, *rest = section.tables
    tables = [
        matrix(f"{section.name}-pairs-{one.of.registered}", one, first.signatures) for one in measured if one.pairs
    ]
    tables += [differing(f"{section.name}-pairs-seat", one, first.signatures) for one in measured if one.tests]
    return replace(section, tables=(first, *tables, *rest))


@contextmanager
def _readable(runs: Sequence[Finished]) -> Iterator[None]:
    """Raises BadInput if results lack a required field; files without a checksum may be damaged or edited by hand."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        folders = list(dict.fromkeys(str(run.folder) for run in runs))
        more = [f"{len(folders) - NAMED} more"] if len(folders) > NAMED else []
        places = " or ".join([*folders[:NAMED], *more])
        raise BadInput(places, f"results that cannot be read ({type(error).__name__}: {error})", EXPECTED) from None


def _apart(groups: Sequence[Group]) -> Iterator[str]:
    """Yields for each measure with several sections a sentence about the differences between their signatures."""
    for kind, same in groupby(groups, key=itemgetter(0)):
        signatures = [runs[0].signature for _, runs in same]
        all_reasons = [reason for one, other in combinations(signatures, 2) for reason in differences(one, other)]
        if all_reasons:
            # name the values only if two sections differ; of more sections, name only the differing parts
            reasons = (
                all_reasons
                if len(signatures) == 2
                else dict.fromkeys(reason.partition(":")[0] for reason in all_reasons)
            )
            title, why = section_of(kind)[0].title, "; ".join(reasons)
            apart = f"“{title}” has {len(signatures)} sections, since signatures differ ({why})."
            yield f"{apart} Do not compare numbers of different sections."
