"""Reports of models: what was measured, grouped so that only numbers of equal signatures share a table."""

from collections import Counter
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
from catsofa.report.cells import Row, Words
from catsofa.report.elements import Document, Section, Table
from catsofa.report.inputs import EXPECTED, Finished, find, groups, with_unique_names
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
from catsofa.scoring.signature import differences, hashes_in

Make = Callable[[str, Sequence[Row]], Section]

MAKE: dict[str, tuple[Words, Make]] = {
    "stereoset": (stereoset.WORDS, stereoset.stereoset),
    "crows_pairs": (crows_pairs.WORDS, crows_pairs.crows),
    "sofa": (sofa.WORDS, sofa.sofa),
    "seat": (seat.WORDS, seat.seat),
    "bbq": (bbq.WORDS, bbq.bbq),
    "choices": (choices_words.WORDS, partial(choices.choices, answers=bbq.answers, words=choices_words.KINDS)),
}
"""Registered name of a measure to what is said of it and what makes a section of it, in the order of a report."""
PRINTED: dict[str, Callable[[str, Mapping[str, Any], Path], Section]] = {
    "examine": examination,
    "contamination": contamination,
    "power": power,
    "filter perplexity": lambda name, found, path: perplexity_filter(name, path, found),
}
"""Command to what makes a section of its JSON, in the order of a report."""
WARNING = (
    "This report is about stereotypes. Parts of it may name groups of people and repeat offensive sentences about "
    "them; these parts are folded away until you open them."
)


def document(
    paths: Iterable[Path | str],
    title: str = "Stereotypes in language models",
    *,
    paraphrases: Iterable[Path | str] = (),
    x: str = "",
) -> Document:
    """The report of these runs and results: a section for each measure, data set and protocol.

    `paraphrases` are runs on paraphrases of what other runs scored, which are compared with them item by item. `x` is
    the word before the number that orders the checkpoints of a model (`step` of `…-step1000`).
    """
    rephrased = [Path(path) for path in paraphrases]
    given = find(paths, leave_out=[place for path in rephrased for place in (path, *path.rglob("*")) if place.is_dir()])
    order = {kind: place for place, kind in enumerate(MAKE)}
    kept = sorted(groups(given.runs), key=lambda group: order.get(group[0], len(order)))
    with remembered_draws(), _readable([run for _, runs in kept for run in runs]):
        every = multiverse.many(given.runs)
        sections = [*(series("series", kept, x, seat.tests_of) if x else ()), *multiverse.sections("multiverse", every)]
        stands = standings(kept)
        own = [
            _with_pairs(_section(f"s{n}", *group), of)
            for n, (group, of) in enumerate(zip(kept, stands, strict=True), 1)
        ]
        sections += _told_apart(own, kept)
        together = {id(run) for models in every.values() for of in models.values() for run in of.values()}
        pairs = [(kind, [run for run in runs if id(run) not in together]) for kind, runs in kept]
        sections += protocols("protocols", [(kind, runs) for kind, runs in pairs if runs])
    compared = [Robust(*found) for found in robust(rephrased, given.runs)] if rephrased else []
    compared_in = [(Robust(found), path) for path, found in given.printed["robustness"]]
    for number, (found, path) in enumerate([*((found, None) for found in compared), *compared_in], 1):
        sections.append(robustness(f"robustness{number}", found, path))
    with _readable([run for _, runs in kept for run in runs]):
        sections += agreement("agreement", kept)
    for command, make in PRINTED.items():
        name = command.partition(" ")[0]
        sections += [make(f"{name}{n}", of, path) for n, (path, of) in enumerate(given.printed[command], 1)]
    shown = [one for of in stands for one in of]
    return Document(
        title=title,
        warning=WARNING,
        notes=(*given.left_out, *_apart(kept)),
        sections=tuple(sections),
        findings=tuple(findings(shown)),
        summary=summary(shown, [str(run.signature) for _, runs in kept for run in runs]) if shown else None,
    )


def overview(runs: Sequence[Finished]) -> Table | None:
    """The table of all models on all measures alone; None of runs that it does not know."""
    order = {kind: place for place, kind in enumerate(MAKE)}
    kept = sorted(groups(with_unique_names(runs)), key=lambda group: order.get(group[0], len(order)))
    with remembered_draws(), _readable(runs):
        shown = [one for of in standings(kept) for one in of]
    return summary(shown, [str(run.signature) for run in runs]) if shown else None


def section_of(kind: str) -> tuple[Words, Make]:
    """What is said of a measure and what makes its section: its own, or a plain table of its rows."""
    return MAKE[kind] if kind in MAKE else (plain.words(kind), plain.section(kind))


def _section(name: str, kind: str, runs: Sequence[Finished]) -> Section:
    """The section of runs that may stand side by side."""
    with _readable(runs):
        return section_of(kind)[1](name, [(run.model, run.report, run.signature) for run in runs])


def _with_pairs(section: Section, of: Sequence[Standing]) -> Section:
    """The section with the differences between its models, after its first table."""
    first, *rest = section.tables
    made = [matrix(f"{section.name}-pairs-{one.of.registered}", one, first.signatures) for one in of if one.pairs]
    made += [differing(f"{section.name}-pairs-seat", one, first.signatures) for one in of if one.tests]
    return replace(section, tables=(first, *made, *rest))


@contextmanager
def _readable(runs: Sequence[Finished]) -> Iterator[None]:
    """Refuse results without a field that they must have: what has no checksum may be damaged or written by hand."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        places = " or ".join(dict.fromkeys(str(run.folder) for run in runs))
        raise BadInput(places, f"results that cannot be read ({type(error).__name__}: {error})", EXPECTED) from None


def _told_apart(sections: Sequence[Section], groups: Sequence[Group]) -> Iterator[Section]:
    """The sections; data of one name have their hashes in titles that would be alike."""
    titles = Counter(section.title for section in sections)
    for section, (_, runs) in zip(sections, groups, strict=True):
        hashes = f", {hashes_in(runs[0].signature.data)}" if titles[section.title] > 1 else ""
        yield replace(section, title=f"{section.title}{hashes}")


def _apart(groups: Sequence[Group]) -> Iterator[str]:
    """Why the sections of one measure are not one."""
    for kind, same in groupby(groups, key=itemgetter(0)):
        of = [runs[0].signature for _, runs in same]
        found = [reason for one, other in combinations(of, 2) for reason in differences(one, other)]
        if found:
            # of two sections it can be said in full
            reasons = found if len(of) == 2 else dict.fromkeys(reason.partition(":")[0] for reason in found)
            title, why = section_of(kind)[0].title, "; ".join(reasons)
            apart = f"“{title}” has {len(of)} sections, since signatures differ ({why})."
            yield f"{apart} Do not compare numbers of different sections."
