"""What a report shows of each measure: its tables, its figures, and what it cannot show."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import nan
from typing import Any

from catsofa import figures
from catsofa.report_document import Cell, Figure, Number, Section, Table
from catsofa.scoring.signature import Signature
from catsofa.scoring.significance import holm

Row = tuple[str, Mapping[str, Any], Signature]
"""The name of a model, the report of its run, and its signature."""
MOST = 5
"""Terms, identities and stereotypes named at each end."""
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))

TITLES = {
    "stereoset": "StereoSet: lms, ss and icat",
    "crows": "CrowS-Pairs: preference for the more stereotyping sentence",
    "sofa": "SoFa: uneven treatment of identities",
    "seat": "SEAT: associations of sentence vectors",
}
LEADS = {
    "stereoset": "lms: how often a meaningful sentence is preferred to an unrelated one (ideal 100). ss: how often the "
    "stereotype is preferred to the anti-stereotype (ideal 50). icat joins both (ideal 100).",
    "crows": "The percentage of pairs whose more stereotyping sentence scores higher (ideal 50).",
    "sofa": "The variance of log PPL* over the identities of which the same is said, averaged over stereotypes and "
    "then over categories (ideal 0; more is less even).",
    "seat": "The effect size d of each association test. p is one-sided (d > 0): a negative d has no star. "
    "* p < .05, ** p < .01, *** p < .001 after Holm's correction "
    "over all tests of all models in the table.",
}
LIMITS = {
    "stereoset": "ss = 50 is not “unbiased”: stereotypes of opposite directions cancel, and the items cover only the "
    "groups and contexts that their authors chose. An interval that holds 50 does not show that there is no bias.",
    "crows": "A score of 50 is not “unbiased”: preferences of opposite directions cancel, and many of the released "
    "pairs have known flaws.",
    "sofa": "A low score says that identities are treated alike, not that they are treated well; a score depends on "
    "how PPL is normalised, so all three normalisations are shown.",
    "seat": "SEAT has only positive predictive ability: a significant association is evidence of one, and no "
    "association found is no evidence that there is none.",
}


def _limited(of: Mapping[str, Any], name: str, digits: int = 1) -> Number:
    """A measure of our JSON with its limits."""
    limits = of["intervals"][name]
    return Number(of[name], limits["low"], limits["high"], digits)


def _scored(coverage: float | None, of: int) -> str:
    """How many are scored of how many."""
    return f"{round((coverage or 0) * of):,} of {of:,}"


def _signatures(rows: Sequence[Row]) -> tuple[str, ...]:
    """The signature of each model's numbers."""
    return tuple(str(signature) for _, _, signature in rows)


def _unscored(rows: Sequence[Row]) -> tuple[str, ...]:
    """Why texts have no score."""
    return tuple(
        f"{model}: {count:,} unscored: {reason}"
        for model, report, _ in rows
        for reason, count in report.get("unscored", {}).items()
    )


def _section(
    kind: str, name: str, rows: Sequence[Row], tables: Sequence[Table], drawn: Sequence[Figure] = ()
) -> Section:
    """A section with what every measure says of itself."""
    title = f"{TITLES[kind]} ({rows[0][2].data}, protocol {rows[0][2].protocol})"
    return Section(
        name=name, title=title, lead=LEADS[kind], limits=LIMITS[kind], tables=tuple(tables), figures=tuple(drawn)
    )


def stereoset(name: str, rows: Sequence[Row]) -> Section:
    """lms, ss and icat of each model, task and domain, their map, and the terms at both ends."""
    table = Table(
        name=f"{name}-measures",
        caption="lms, ss and icat, with 95 % intervals over target terms",
        columns=("model", "task", "domain", "lms", "ss", "icat", "terms", "CATs scored"),
        rows=tuple(row for model, report, _ in rows for row in _cat_rows(model, report["results"])),
        signatures=_signatures(rows),
        notes=(
            "A number without brackets has no interval: its terms are too few, or do not differ.",
            *(
                f"{model}: target terms were not kept; score again with --terms to see them."
                for model, report, _ in rows
                if not report.get("terms")
            ),
        ),
        unscored=_unscored(rows),
    )
    points = [
        (model, _limited(report["results"]["overall"], "lms"), _limited(report["results"]["overall"], "ss"))
        for model, report, _ in rows
    ]
    map_of = Figure(
        name=f"{name}-map",
        caption="lms × ss, both tasks together; curves join equal icat, the dashed line is ss = 50",
        alt="; ".join(f"{model}: lms {lms}, ss {ss}" for model, lms, ss in points),
        draw=lambda: figures.cat_map(points),
    )
    with_terms = [row for row in rows if row[1].get("terms")]
    tables = [table, *(_terms(f"{name}-terms{at}", row) for at, row in enumerate(with_terms, 1))]
    ends = [_terms_figure(f"{name}-terms{at}-figure", row) for at, row in enumerate(with_terms, 1)]
    return _section("stereoset", name, rows, tables, [map_of, *ends])


def _cat_rows(model: str, results: Mapping[str, Any]) -> Iterator[tuple[Cell, ...]]:
    """A row for each task and domain."""
    sets = [(task, d, of) for task, domains in results.items() if task != "overall" for d, of in domains.items()]
    for task, domain, of in [*sets, ("both", "overall", results["overall"])]:
        measures = (_limited(of, measure) for measure in ("lms", "ss", "icat"))
        yield (model, task, domain, *measures, of["terms"], _scored(of["coverage"], of["items"]))


def _ends(of: Sequence[Any]) -> list[Any]:
    """The first and the last few of an ordered list, none twice."""
    return list(of) if len(of) <= 2 * MOST else [*of[:MOST], *of[-MOST:]]


def _term_ends(report: Mapping[str, Any]) -> list[tuple[str, str, Number, int]]:
    """The most and the least stereotyped terms that are scored."""
    scored = [term for term in report["terms"] if term["ss"] is not None]
    return [
        (term["term"], term["domain"], Number(term["ss"], term["ss_low"], term["ss_high"]), term["items"])
        for term in _ends(scored)
    ]


def _terms(name: str, row: Row) -> Table:
    """The terms at both ends of ss."""
    model, report, signature = row
    scored = sum(term["ss"] is not None for term in report["terms"])
    return Table(
        name=name,
        caption=f"Most and least stereotyped target terms, {model}: {scored:,} of {len(report['terms']):,} scored",
        columns=("term", "domain", "ss", "CATs scored"),
        rows=tuple(_term_ends(report)),
        signatures=(str(signature),),
        notes=("Limits are Wilson's, of each term alone; with many terms some lie far from 50 by chance.",),
        offensive=True,
    )


def _terms_figure(name: str, row: Row) -> Figure:
    """The terms at both ends of ss, drawn."""
    ends = [(f"{term} (n = {items})", ss) for term, _, ss, items in _term_ends(row[1])]
    return Figure(
        name=name,
        caption=f"ss of the most and least stereotyped target terms, {row[0]}, with 95 % intervals",
        alt="; ".join(f"{term}: {ss}" for term, ss in ends),
        draw=lambda: figures.dots(ends, "ss", 50, (0, 100)),
        offensive=True,
    )


def crows(name: str, rows: Sequence[Row]) -> Section:
    """The preference of each model, over all pairs, by direction and by type."""
    body: list[tuple[Cell, ...]] = []
    for model, report, _ in rows:
        results = report["results"]
        sets = {"overall": results["overall"], **results["directions"], **results["types"]}
        body += [
            (model, part, _limited(of, "score"), of["neutral"], _scored(of["coverage"], of["pairs"]))
            for part, of in sets.items()
        ]
    table = Table(
        name=f"{name}-preference",
        caption="Preference for the more stereotyping sentence in percent, with 95 % intervals",
        columns=("model", "pairs of", "score", "ties", "pairs scored"),
        rows=tuple(body),
        signatures=_signatures(rows),
        unscored=_unscored(rows),
    )
    return _section("crows", name, rows, [table])


def sofa(name: str, rows: Sequence[Row]) -> Section:
    """The score of each model and category, under each normalisation, and the ends of identities and stereotypes."""
    table = Table(
        name=f"{name}-score",
        caption="SoFa score, with 95 % intervals over stereotypes",
        columns=("model", "category", "score", "by identity", "conditional", "not normalised", "probes scored"),
        rows=tuple(row for model, report, _ in rows for row in _sofa_rows(model, report["results"])),
        signatures=_signatures(rows),
        unscored=_unscored(rows),
    )
    values = {
        model: {part: _limited(of, "score", 4) for part, of in report["results"]["categories"].items()}
        for model, report, _ in rows
    }
    bars = Figure(
        name=f"{name}-bars",
        caption="SoFa score of each category, with 95 % intervals; 0 is ideal",
        alt="; ".join(f"{model}, {part}: {score}" for model, of in values.items() for part, score in of.items()),
        draw=lambda: figures.bars(values, "SoFa score"),
    )
    ends = [table for at, row in enumerate(rows, 1) for table in _sofa_ends(f"{name}-{at}", row)]
    return _section("sofa", name, rows, [table, *ends], [bars])


def _sofa_rows(model: str, results: Mapping[str, Any]) -> Iterator[tuple[Cell, ...]]:
    """A row for the whole and for each category."""
    whole = {**results, "probes": sum(of["probes"] for of in results["categories"].values())}
    for part, of in [("overall", whole), *results["categories"].items()]:
        ways = (Number(of["normalisations"][way], digits=4) for way in ("identity", "conditional", "none"))
        yield (model, part, _limited(of, "score", 4), *ways, _scored(of["coverage"], of["probes"]))


def _sofa_ends(name: str, row: Row) -> Iterator[Table]:
    """The identities that are most often lowest, and the stereotypes at both ends of DDS, of each category."""
    model, report, signature = row
    results = report["results"]
    coverage = _scored(results["coverage"], sum(of["probes"] for of in results["categories"].values()))
    for what, shown, columns in (
        ("identity", "identities", ("lowest", "highest", "mean")),
        ("stereotype", "stereotypes", ("dds", "variance")),
    ):
        body: list[tuple[Cell, ...]] = []
        for category in results["categories"]:
            of = [each for each in results[shown] if each["category"] == category and each[columns[0]] is not None]
            picked = of[:MOST] if what == "identity" else _ends(of)
            body += [(category, each[what], *(Number(each[c], digits=4) for c in columns)) for each in picked]
        heading = "Identities most often given the lowest log PPL*" if what == "identity" else "Stereotypes by DDS"
        yield Table(
            name=f"{name}-{shown}",
            caption=f"{heading}, {model}: {coverage} probes scored",
            columns=("category", what, *columns),
            rows=tuple(body),
            signatures=(str(signature),),
            offensive=True,
        )


def seat(name: str, rows: Sequence[Row]) -> Section:
    """Effect sizes of each test and model; Holm's correction is over the whole table."""
    tests = [(model, test) for model, report, _ in rows for test in report["results"]]
    adjusted = holm([nan if test["p_value"] is None else test["p_value"] for _, test in tests])
    body: list[tuple[Cell, ...]] = []
    matrix: dict[str, dict[str, Number]] = {}
    for (model, test), p in zip(tests, adjusted, strict=True):
        limits = test["intervals"]["effect_size"]
        size = Number(test["effect_size"], limits["low"], limits["high"], 2, stars(p))
        matrix.setdefault(model, {})[test["test"]] = size
        texts = _scored(test["coverage"], sum(test["sizes"].values()))
        found = [Number(test["p_value"], digits=4), Number(None if p != p else p, digits=4)]
        body.append((model, test["test"], size, *found, test["how"] or "—", texts))
    table = Table(
        name=f"{name}-effects",
        caption="Effect sizes, with 95 % intervals over targets",
        columns=("model", "test", "d", "p", "p (Holm)", "p is", "texts with a vector"),
        rows=tuple(body),
        signatures=_signatures(rows),
        unscored=_unscored(rows),
        notes=(
            "How a vector is made of a text (pooling, layer) is part of the model in the signature; it may differ "
            "between the rows.",
        ),
    )
    alt = "; ".join(f"{model}, {test}: {size}" for model, of in matrix.items() for test, size in of.items())
    drawn = Figure(
        name=f"{name}-matrix",
        caption="Effect sizes d, with stars after Holm's correction",
        alt=alt,
        draw=lambda: figures.matrix(matrix),
    )
    return _section("seat", name, rows, [table], [drawn])


def stars(p: float) -> str:
    """One to three stars for p below 0.05, 0.01, 0.001; none for what is unscored."""
    return next((mark for limit, mark in STARS if p < limit), "")


MAKE: dict[str, Callable[[str, Sequence[Row]], Section]] = {
    "stereoset": stereoset,
    "crows": crows,
    "sofa": sofa,
    "seat": seat,
}
"""Kind of results to what makes a section of them, in the order of a report."""
