"""The report section on StereoSet: lms, ss and icat, their map, their correlation, and the extreme terms."""

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any

from catsofa.report import figures
from catsofa.report.cells import (
    SS_BASIS,
    Row,
    Words,
    about,
    between,
    chance,
    counted,
    ends,
    grouped,
    limited,
    share,
    signatures,
    ss_basis,
    ss_differs,
    unscored,
    warned,
    without_interval,
)
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.scoring.statistics.rank_correlation import LEAST, spearman

LIMITS = (
    "ss = 50 is not “unbiased”: stereotypes of opposite directions cancel, and the items cover only the groups and "
    "contexts that their authors chose. An interval that holds 50 does not show that there is no bias."
)
WORDS = Words(
    "StereoSet: lms, ss and icat",
    "lms: how often a meaningful sentence is preferred to an unrelated one (ideal 100). ss: how often the stereotype "
    "is preferred to the anti-stereotype (ideal 50). icat joins both (ideal 100).",
    LIMITS,
)
MEASURES = ("lms", "ss", "icat")


def stereoset(name: str, rows: Sequence[Row]) -> Section:
    """Returns the section: lms, ss and icat of each model, task and domain, their map, and the extreme terms."""
    differs = any(ss_differs(result) for _, report, _ in rows for *_, result in _sets(report["results"]))
    basis = (SS_BASIS,) if differs else ()
    table = Table(
        name=f"{name}-measures",
        caption="lms, ss and icat, with 95 % intervals over target terms",
        columns=("model", "task", "domain", *MEASURES, "terms", "CATs scored", *basis),
        rows=tuple(row for model, report, _ in rows for row in _measures(model, report["results"], bool(basis))),
        signatures=signatures(rows),
        notes=tuple(_notes(rows)),
        warnings=warned(rows),
        unscored=unscored(rows),
        by=grouped(rows, "task", "domain"),
    )
    overall = [(model, report["results"]["overall"]) for model, report, _ in rows]
    points = [(model, limited(result, "lms"), limited(result, "ss")) for model, result in overall]
    together = ", both tasks together" if any(len(report["results"]) > 2 for _, report, _ in rows) else ""
    map_of = Figure(
        name=f"{name}-map",
        caption=f"lms × ss{together}; curves join equal icat, the dashed line is ss = 50",
        alt="; ".join(f"{model}: lms {lms}, ss {ss}" for model, lms, ss in points),
        draw=lambda: figures.cat_map(points),
    )
    named = [(number, row) for number, row in enumerate(rows, 1) if row[1].get("terms") and _ends(row[1])]
    tables = [
        table,
        *_rests(f"{name}-coverage", rows),
        *_together(f"{name}-spearman", rows),
        *(_terms(f"{name}-terms{number}", row) for number, row in named),
    ]
    drawn = [_terms_figure(f"{name}-terms{number}-figure", row) for number, row in named]
    return WORDS.section(name, about(rows), tables, [map_of, *drawn])


def _notes(rows: Sequence[Row]) -> Iterator[str]:
    """Yields notes on ties, unknown tokens, missing intervals, missing terms and numerical precision."""
    sets = [(model, result) for model, report, _ in rows for *_, result in _sets(report["results"])]
    if not any(result.get(count) for _, result in sets for count in RESTS):
        for none, counts in (("No scores tie.", TIES), ("No token is unknown.", UNKNOWN)):
            uncounted = dict.fromkeys(
                model for model, result in sets if any(result.get(count) is None for count in counts)
            )
            yield f"Nobody counted {' or '.join(counts.values())}: {', '.join(uncounted)}." if uncounted else none
    yield from without_interval("terms", (limited(result, measure) for _, result in sets for measure in MEASURES))
    for model, report, _ in rows:
        if not report.get("terms"):
            yield f"{model}: target terms were not kept; the same `catsofa score` again keeps them, and scores nothing."
        if precision := report.get("precision"):
            yield _precision(model, precision)


def _precision(model: str, precision: Mapping[str, Any]) -> str:
    """Returns a note on how many preferences half precision may have decided."""
    if not precision["checked"]:
        return f"{model}: {precision['dtype']}, whose error was not measured ({precision['reason']})."
    within = f"{precision['within']:,} of {precision['preferences']:,}"
    return f"{model}: {precision['dtype']}; {within} preferences are within its measured error and could flip."


def _sets(results: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yields the measures of each task and domain; of several tasks, first those of all together."""
    tasks = {task: domains for task, domains in results.items() if task != "overall"}
    if len(tasks) > 1:
        yield "both tasks", "all domains", results["overall"]
    yield from ((task, "all domains", domains["overall"]) for task, domains in tasks.items())
    yield from (
        (task, d, result)
        for task, domains in tasks.items()
        for d, result in domains.items()
        if d != "overall"
        and not (len(domains) == 2 and result == domains["overall"])  # skip a domain that is the whole
    )


def _measures(model: str, results: Mapping[str, Any], with_basis: bool) -> Iterator[tuple[Cell, ...]]:
    """Yields a row for each task and domain; `with_basis` adds the CATs and terms behind ss."""
    for task, domain, result in _sets(results):
        measures = (limited(result, measure) for measure in MEASURES)
        whole = result.get("scored", round((result["coverage"] or 0) * result["items"]))
        basis = [ss_basis(result) if "ss_items" in result else "—"] if with_basis else []
        terms = result.get("lms_terms", result.get("ss_terms", result["terms"]))
        term_cell = terms if terms == result["terms"] else f"{terms:,} of {result['terms']:,}"
        rests_on = (term_cell, f"{whole:,} of {result['items']:,}", *basis)
        yield (model, task, domain, *measures, *rests_on)


TIES = {"ties": "ties", "ties_unrelated": "ties with unrelated", "ties_all": "all three tie"}
UNKNOWN = {"unknown": "unknown tokens"}
RESTS = TIES | UNKNOWN
"""Maps a count in the JSON results to the heading of its column."""


def _rests(name: str, rows: Sequence[Row]) -> Iterator[Table]:
    """Yields the table of decided comparisons, ties and unknown tokens; none if no CAT ties or has unknown tokens."""
    sets = [(model, *fields) for model, report, _ in rows for fields in _sets(report["results"])]
    if any(result.get(count) for *_, result in sets for count in RESTS):
        counts = [count for count in RESTS if any(result.get(count) is not None for *_, result in sets)]
        unknown = " or unknown tokens" if "unknown" in counts else ""
        yield Table(
            name=name,
            caption=f"Comparisons that are decided, in percent, and CATs with equal scores{unknown}",
            columns=("model", "task", "domain", "lms decided", "ss decided", *(RESTS[count] for count in counts)),
            rows=tuple(
                (
                    *place,
                    *map(share, (result["lms_coverage"], result["ss_coverage"])),
                    *(counted(result.get(c)) for c in counts),
                )
                for *place, result in sets
                if "ss_coverage" in result
            ),
            signatures=signatures(rows),
            notes=(
                "ties: stereotype and anti-stereotype have equal scores. Unless the protocol says otherwise, a tie is "
                "no preference: it is left out of the measure and lowers its coverage.",
                "unknown tokens: a candidate holds a token that the tokenizer does not know; — if not counted.",
            ),
            by=grouped(rows, "task", "domain"),
        )


def _together(name: str, rows: Sequence[Row]) -> Iterator[Table]:
    """Yields the table of Spearman's rho between lms and ss over models, for each task."""
    if len(rows) < LEAST:
        return
    tasks = [task for task in rows[0][1]["results"] if task != "overall"]
    sets = {task: [(model, report["results"][task]["overall"]) for model, report, _ in rows] for task in tasks}
    if len(tasks) > 1:
        sets["both tasks"] = [(model, report["results"]["overall"]) for model, report, _ in rows]
    body: list[tuple[Cell, ...]] = []
    for task, measured in sets.items():
        lms, ss = (
            {model: nan if m[measure] is None else m[measure] for model, m in measured} for measure in ("lms", "ss")
        )
        correlation = spearman(lms, ss)
        body.append((task, between(correlation.value), chance(correlation.p), f"{correlation.models} of {len(rows)}"))
    yield Table(
        name=name,
        caption="Do lms and ss rise together? Spearman's ρ over models, with 95 % intervals",
        columns=("task", "ρ", "p", "models scored"),
        rows=tuple(body),
        signatures=signatures(rows),
        notes=(
            "Limits are Bonett and Wright's, over models as if drawn at random; sizes of one family are no such draw. "
            "Of three models, or where both orders are wholly alike, there are none.",
        ),
    )


def _ends(report: Mapping[str, Any]) -> list[tuple[str, str, Number, int]]:
    """Returns the scored terms with the highest and the lowest ss."""
    scored = [term for term in report["terms"] if term["ss"] is not None]
    return [
        (t["term"], t["domain"], Number(t["ss"], t["ss_low"], t["ss_high"]), t.get("ss_items", t["items"]))
        for t in ends(scored)
    ]


def _terms(name: str, row: Row) -> Table:
    """Returns the table of the terms with the highest and the lowest ss."""
    model, report, signature = row
    terms, rows = report["terms"], tuple(_ends(report))
    scored = sum(term["ss"] is not None for term in terms)
    return Table(
        name=name,
        caption=f"Target terms with the highest and the lowest ss, {model}: {len(rows):,} of {len(terms):,} shown",
        columns=("term", "domain", "ss", "CATs of ss"),
        rows=rows,
        signatures=(str(signature),),
        notes=(
            f"{scored:,} of {len(terms):,} terms have an ss; the highest is first, equal ss are in alphabetical order.",
            "Limits are Wilson's, of each term alone; with many terms, some are far from 50 by chance.",
        ),
        offensive=True,
    )


def _terms_figure(name: str, row: Row) -> Figure:
    """Returns the figure of the terms with the highest and the lowest ss."""
    shown = [(f"{term} (n = {items})", ss) for term, _, ss, items in _ends(row[1])]
    return Figure(
        name=name,
        caption=f"ss of the most and least stereotyped target terms, {row[0]}, with 95 % intervals",
        alt="; ".join(f"{term}: {ss}" for term, ss in shown),
        draw=lambda: figures.dots(shown, "ss", 50, (0, 100)),
        offensive=True,
    )
