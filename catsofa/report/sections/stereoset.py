"""StereoSet in a report: lms, ss and icat, their map, whether lms and ss rise together, and the terms at both ends."""

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
WITHOUT = "it rests on one target term, or is the same, and neither 0 nor 100, in each of its terms."
"""Why a measure has no interval; one that is 0 or 100 in every term has Wilson's."""


def stereoset(name: str, rows: Sequence[Row]) -> Section:
    """lms, ss and icat of each model, task and domain, their map, and the terms at both ends."""
    differs = any(ss_differs(of) for _, report, _ in rows for *_, of in _sets(report["results"]))
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
    points = [(model, limited(of, "lms"), limited(of, "ss")) for model, of in overall]
    together = ", both tasks together" if any(len(report["results"]) > 2 for _, report, _ in rows) else ""
    map_of = Figure(
        name=f"{name}-map",
        caption=f"lms × ss{together}; curves join equal icat, the dashed line is ss = 50",
        alt="; ".join(f"{model}: lms {lms}, ss {ss}" for model, lms, ss in points),
        draw=lambda: figures.cat_map(points),
    )
    named = [(at, row) for at, row in enumerate(rows, 1) if row[1].get("terms") and _ends(row[1])]
    tables = [
        table,
        *_rests(f"{name}-coverage", rows),
        *_together(f"{name}-spearman", rows),
        *(_terms(f"{name}-terms{at}", row) for at, row in named),
    ]
    drawn = [_terms_figure(f"{name}-terms{at}-figure", row) for at, row in named]
    return WORDS.section(name, about(rows), tables, [map_of, *drawn])


def _notes(rows: Sequence[Row]) -> Iterator[str]:
    """What a reader of the table must know besides."""
    sets = [(model, of) for model, report, _ in rows for *_, of in _sets(report["results"])]
    if not any(of.get(count) for _, of in sets for count in RESTS):
        for none, counts in (("No scores tie.", TIES), ("No token is unknown.", UNKNOWN)):
            uncounted = dict.fromkeys(model for model, of in sets if any(of.get(count) is None for count in counts))
            yield f"Nobody counted {' or '.join(counts.values())}: {', '.join(uncounted)}." if uncounted else none
    shown = [limited(of, measure) for _, of in sets for measure in MEASURES]
    if any(number.value is not None and not number.limits for number in shown):
        yield "A number without brackets has no interval: " + WITHOUT
    for model, report, _ in rows:
        if not report.get("terms"):
            yield f"{model}: target terms were not kept; the same `catsofa score` again keeps them, and scores nothing."
        if precision := report.get("precision"):
            yield _precision(model, precision)


def _precision(model: str, found: Mapping[str, Any]) -> str:
    """What half precision may have decided."""
    if not found["checked"]:
        return f"{model}: {found['dtype']}, whose error was not measured ({found['reason']})."
    within = f"{found['within']:,} of {found['preferences']:,}"
    return f"{model}: {found['dtype']}; {within} preferences lie within its measured error and could flip."


def _sets(results: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The measures of each task and domain; one task alone is the whole."""
    tasks = {task: domains for task, domains in results.items() if task != "overall"}
    if len(tasks) > 1:
        yield "both tasks", "all domains", results["overall"]
    yield from ((task, "all domains", domains["overall"]) for task, domains in tasks.items())
    yield from (
        (task, d, of)
        for task, domains in tasks.items()
        for d, of in domains.items()
        if d != "overall" and not (len(domains) == 2 and of == domains["overall"])  # one domain alone is the whole
    )


def _measures(model: str, results: Mapping[str, Any], with_basis: bool) -> Iterator[tuple[Cell, ...]]:
    """A row for each task and domain, at its end what ss rests on if asked."""
    for task, domain, of in _sets(results):
        measures = (limited(of, measure) for measure in MEASURES)
        whole = of.get("scored", round((of["coverage"] or 0) * of["items"]))
        basis = [ss_basis(of) if "ss_items" in of else "—"] if with_basis else []
        terms = of.get("lms_terms", of.get("ss_terms", of["terms"]))
        term_cell = terms if terms == of["terms"] else f"{terms:,} of {of['terms']:,}"
        rests_on = (term_cell, f"{whole:,} of {of['items']:,}", *basis)
        yield (model, task, domain, *measures, *rests_on)


TIES = {"ties": "ties", "ties_unrelated": "ties with unrelated", "ties_all": "all three tie"}
UNKNOWN = {"unknown": "unknown tokens"}
RESTS = TIES | UNKNOWN
"""A count of our JSON to what heads its column."""


def _rests(name: str, rows: Sequence[Row]) -> Iterator[Table]:
    """How many of the comparisons are decided, and how many CATs tie or hold unknown tokens; nothing of whole sets."""
    sets = [(model, *found) for model, report, _ in rows for found in _sets(report["results"])]
    if any(of.get(count) for *_, of in sets for count in RESTS):
        counts = [count for count in RESTS if any(of.get(count) is not None for *_, of in sets)]
        unknown = " or unknown tokens" if "unknown" in counts else ""
        yield Table(
            name=name,
            caption=f"Comparisons that are decided, in percent, and CATs with equal scores{unknown}",
            columns=("model", "task", "domain", "lms decided", "ss decided", *(RESTS[count] for count in counts)),
            rows=tuple(
                (*place, *map(share, (of["lms_coverage"], of["ss_coverage"])), *(counted(of.get(c)) for c in counts))
                for *place, of in sets
                if "ss_coverage" in of
            ),
            signatures=signatures(rows),
            notes=(
                "ties: stereotype and anti-stereotype have equal scores. Unless the protocol says otherwise, a tie is "
                "no preference: it is left out of the measure and lowers its coverage.",
                "unknown tokens: a candidate holds a token that the tokenizer does not know; — where nobody counted.",
            ),
            by=grouped(rows, "task", "domain"),
        )


def _together(name: str, rows: Sequence[Row]) -> Iterator[Table]:
    """Spearman's rho of lms and ss over models, of each task."""
    if len(rows) < LEAST:
        return
    tasks = [task for task in rows[0][1]["results"] if task != "overall"]
    sets = {task: [(model, report["results"][task]["overall"]) for model, report, _ in rows] for task in tasks}
    if len(tasks) > 1:
        sets["both tasks"] = [(model, report["results"]["overall"]) for model, report, _ in rows]
    body: list[tuple[Cell, ...]] = []
    for task, of in sets.items():
        lms, ss = ({model: nan if m[measure] is None else m[measure] for model, m in of} for measure in ("lms", "ss"))
        found = spearman(lms, ss)
        body.append((task, between(found.value), chance(found.p), f"{found.models} of {len(rows)}"))
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
    """The most and the least stereotyped terms that are scored."""
    of = [term for term in report["terms"] if term["ss"] is not None]
    return [
        (t["term"], t["domain"], Number(t["ss"], t["ss_low"], t["ss_high"]), t.get("ss_items", t["items"]))
        for t in ends(of)
    ]


def _terms(name: str, row: Row) -> Table:
    """The terms at both ends of ss."""
    model, report, signature = row
    terms, rows = report["terms"], tuple(_ends(report))
    known = sum(term["ss"] is not None for term in terms)
    return Table(
        name=name,
        caption=f"Target terms with the highest and the lowest ss, {model}: {len(rows):,} of {len(terms):,} shown",
        columns=("term", "domain", "ss", "CATs of ss"),
        rows=rows,
        signatures=(str(signature),),
        notes=(
            f"{known:,} of {len(terms):,} terms have an ss; the highest is first, equal ss are in alphabetical order.",
            "Limits are Wilson's, of each term alone; with many terms some lie far from 50 by chance.",
        ),
        offensive=True,
    )


def _terms_figure(name: str, row: Row) -> Figure:
    """The terms at both ends of ss, drawn."""
    shown = [(f"{term} (n = {items})", ss) for term, _, ss, items in _ends(row[1])]
    return Figure(
        name=name,
        caption=f"ss of the most and least stereotyped target terms, {row[0]}, with 95 % intervals",
        alt="; ".join(f"{term}: {ss}" for term, ss in shown),
        draw=lambda: figures.dots(shown, "ss", 50, (0, 100)),
        offensive=True,
    )
