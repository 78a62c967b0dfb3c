"""The report section on the annotators of a data set: agreement and decisions; no names."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import floor, isnan
from typing import Any

import numpy as np

from catsofa.data.judging.ratings import Ratings, numbered, units_of
from catsofa.report import figures
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.scoring.statistics.intervals import Measure, intervals, ratio
from catsofa.validation.agreement import STATISTICS
from catsofa.validation.agreement.intervals import FEWEST
from catsofa.validation.annotation_files import Collected
from catsofa.validation.decide.confirmed import confirm
from catsofa.validation.json_reports import agreement_report, votes_report
from catsofa.validation.judgements import answers

RESAMPLES, SEED = 1000, 0
ENDS = 5
"""The number of terms in the figure at each end of the agreement."""
HEADS = ("kappa", "alpha", "observed", "unanimous")
LEAD = (
    "Kappa and alpha compare the agreement of pairs of judges with chance (0 is chance, 1 is perfect); observed "
    "is the share of pairs of judges who agree, unanimous the share of items on which all do."
)
LIMITS = (
    "Agreement says that people label alike, not that they are right: judges of one place share what they know and "
    "what they do not. Kappa is low wherever one label is frequent, however well people agree."
)


def people(name: str, title: str, signature: str, judged: Collected, items: int) -> Section:
    """Returns the section: agreement overall, by domain and by term, how many judges agree, and the vote results.

    `items` is the number of texts to judge, or 0 if only the judgements are known.
    """
    report = agreement_report(judged, resamples=RESAMPLES, seed=SEED)
    line = f"{signature} | protocol:agreement | resampled:{report['resampled']} | seed:{SEED} | resamples:{RESAMPLES}"
    spread = _spread(f"{name}-spread", line, judged)
    tables = [_agreement(f"{name}-agreement", line, report), spread]
    if not judged.pairs:
        tables.append(_decisions(f"{name}-votes", line, judged))
    drawn = [_spread_figure(spread)]
    if terms := report["by"].get("term"):
        tables.append(_terms(f"{name}-terms", line, terms))
        drawn.append(_terms_figure(f"{name}-terms-figure", terms))
    question = f" What people agree on: {report['question']}." if "question" in report else ""
    whole = f" of {items:,}" if items else ""
    return Section(
        name=name,
        title=f"Agreement of annotators ({title})",
        lead=f"{len(report['by']['annotator']):,} people gave {report['annotations']:,} judgements; two or more of "
        f"them judged {report['items']:,}{whole} items. {LEAD}{question}",
        limits=LIMITS,
        tables=tuple(tables),
        figures=tuple(drawn) if spread.rows else (),  # without rows the figures would be empty
    )


def number(value: float, low: float | None = None, high: float | None = None, digits: int = 3) -> Number:
    """Returns a measure as a cell; NaN becomes None."""
    values = [None if part is None or isnan(part) else float(part) for part in (value, low, high)]
    return Number(values[0], values[1], values[2], digits)


def statistics(part: Mapping[str, Any], names: Sequence[str] = STATISTICS) -> list[Number]:
    """Returns the statistics of a set of items with their limits."""
    limits = part["intervals"]
    return [number(part[name], limits[name]["low"], limits[name]["high"]) for name in names]


def _agreement(name: str, line: str, report: Mapping[str, Any]) -> Table:
    """Returns the table of agreement on all items, then on each domain."""
    parts = [("all", report), *sorted(report["by"].get("domain", {}).items())]
    return Table(
        name=name,
        caption=f"Agreement by domain, with 95 % intervals over {report['resampled']}",
        columns=("domain", *HEADS, "items", "judgements"),
        rows=tuple((domain, *statistics(part), part["items"], part["annotations"]) for domain, part in parts),
        signatures=(line,),
        notes=tuple(_notes(parts)),
        warnings=tuple(report["warnings"]),
    )


def _notes(parts: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    """Yields notes on how to read kappa; domains whose notes differ only in numbers share a note."""
    alike: dict[str, list[tuple[str, str]]] = {}
    for domain, part in parts:
        for note in (part[name] for name in ("note", "withheld") if name in part):
            alike.setdefault(re.sub(r"\d+", "", note), []).append((domain, note))
    for (first, note), *rest in alike.values():
        also = f" So it is for {', '.join(domain for domain, _ in rest)}." if rest else ""
        yield f"{first}: {note}.{also}"


def _spread(name: str, line: str, judged: Collected) -> Table:
    """Returns the table of the number of items on which k of n judges agree."""
    ratings = Ratings.of(answers(judged.agreed_on()))
    counts = ratings.counts()
    most, totals = counts.max(axis=1, initial=0).astype(int), counts.sum(axis=1).astype(int)
    mask = totals > 1
    # with many judges per item almost each pattern is unique; shares in steps of ten percent are then enough
    patterns = [f"{k} of {n}" for k, n in zip(most[mask].tolist(), totals[mask].tolist(), strict=True)]
    if len(set(patterns)) > 12:
        patterns = [f"{10 * int(10 * k / n)} % or more" for k, n in zip(most[mask], totals[mask], strict=True)]
    units = numbered(map(str, units_of(ratings.items, judged.units())[mask]))[1]
    names = sorted(set(patterns), key=lambda text: [-int(part) for part in text.split() if part.isdigit()])
    place = {pattern: index for index, pattern in enumerate(names)}
    columns = np.zeros((int(units.max(initial=-1)) + 1, len(names) + 1))
    np.add.at(columns, (units, np.array([place[pattern] for pattern in patterns], dtype=np.intp)), 1)
    columns[:, -1] = columns.sum(axis=1)
    measures = {p: Measure(name=p, pieces=ratio(index, -1), least=0, most=100) for p, index in place.items()}
    shares = intervals(columns, measures, resamples=RESAMPLES, seed=SEED) if names else {}
    total = Counter(patterns)
    rows: list[tuple[Cell, ...]] = [
        (p, total[p], number(share.value, share.low, share.high, 1)) for p, share in shares.items()
    ]
    return Table(
        name=name,
        caption="How many judges gave an item its most frequent label, with 95 % intervals",
        columns=("judges who agree", "items", "% of items"),
        rows=tuple(rows),
        signatures=(line,),
        notes=(f"Of {len(patterns):,} items that two people or more judged.",),
    )


def _spread_figure(table: Table) -> Figure:
    """Returns the bar chart of the table."""
    shares = {str(row[0]): row[2] for row in table.rows if isinstance(row[2], Number)}
    return Figure(
        name=f"{table.name}-figure",
        caption="How many judges agree, in percent of the items, with 95 % intervals",
        alt="; ".join(f"{pattern}: {share} %" for pattern, share in shares.items()),
        draw=lambda: figures.bars({"": shares}, "% of items"),
    )


def _decisions(name: str, line: str, judged: Collected) -> Table:
    """Returns the table of decisions by the default vote rule."""
    votes = votes_report(confirm(judged))
    rule, items = votes["rule"], votes["items"]
    outcomes = Counter(reason.partition(":")[0] for reason in votes["reasons"].values())
    rows: list[tuple[Cell, ...]] = [("decided", label, count) for label, count in votes["labels"].items()]
    rows += [("not decided", outcome, count) for outcome, count in outcomes.most_common()]
    if cats := votes.get("cats"):
        rows += [("CATs", "confirmed", cats["kept"]), ("CATs", "not confirmed", cats["items"] - cats["kept"])]
    aside = "; ".join(f"{count:,} {reason}" for reason, count in votes["set_aside"].items())
    return Table(
        name=name,
        caption=f"What {rule['need']} votes for one label decide, among the first {rule['of']} valid judgements",
        columns=("outcome", "which", "items"),
        rows=tuple(rows),
        signatures=(f"{line} | rule:{rule['need']} of {rule['of']}",),
        notes=(f"{votes['decided']:,} of {items:,} items are decided.",)
        + ((_incomplete(votes["judgements"]),) if votes["judgements"]["missing"] else ())
        + ((f"Judgements that did not count: {aside}.",) if aside else ()),
    )


def _incomplete(judged: Mapping[str, Any]) -> str:
    """Returns a note on the number of judgements that count if some are missing."""
    return (
        f"{judged['counted']:,} of {judged['wanted']:,} judgements count: {len(judged['incomplete']):,} {judged['of']} "
        f"have fewer than were asked for ({judged['missing']:,} missing)."
    )


def _terms(name: str, line: str, terms: Mapping[str, Any]) -> Table:
    """Returns the table of all target terms, ordered by falling agreement."""
    wanted = ("percent", "fleiss_kappa", "unanimous")
    short = any("withheld" in part for part in terms.values())
    agreed = {term: 0.0 if isnan(part["percent"]) else part["percent"] for term, part in terms.items()}
    ranked = sorted(terms.items(), key=lambda term: (-agreed[term[0]], term[0]))
    return Table(
        name=name,
        caption=f"Agreement by target term ({len(ranked):,} terms), with 95 % intervals",
        columns=("term", "observed", "kappa", "unanimous", "items"),
        rows=tuple((term, *statistics(part, wanted), part["items"]) for term, part in ranked),
        signatures=(line,),
        notes=(f"No interval for terms of fewer than {FEWEST} items, or CATs.",) if short else (),
        offensive=True,
    )


def _terms_figure(name: str, terms: Mapping[str, Any]) -> Figure:
    """Returns the figure of the terms with the highest and the lowest agreement."""
    rated = [(term, statistics(part, ("percent",))[0]) for term, part in terms.items()]
    ranked = sorted((row for row in rated if row[1].value is not None), key=lambda row: -(row[1].value or 0))
    shown = ranked if len(ranked) <= 2 * ENDS else [*ranked[:ENDS], *ranked[-ENDS:]]
    mean = sum(row[1].value or 0 for row in ranked) / len(ranked) if ranked else 0.0
    least = min((row[1].value or 0 if row[1].low is None else row[1].low for row in shown), default=0.0)
    return Figure(
        name=name,
        caption="Terms at both ends of agreement, with 95 % intervals; the dashed line is the mean of the terms",
        alt="; ".join(f"{term}: {share}" for term, share in shown),
        draw=lambda: figures.dots(shown, "share of pairs of judges who agree", mean, (floor(10 * least) / 10, 1)),
        offensive=True,
    )
