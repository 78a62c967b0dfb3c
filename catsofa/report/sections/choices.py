"""Choices of chat models in a report: preference, position effect, outcomes, refusals and templates."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from catsofa.data.percentages import decimals
from catsofa.report import figures
from catsofa.report.cells import (
    UNDEFINED,
    Row,
    Words,
    about,
    chance,
    ends,
    grouped,
    known,
    share,
    signatures,
    valued,
    warned,
)
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.scoring.choosing.outcomes import OUTCOMES
from catsofa.scoring.choosing.position import DECIDED
from catsofa.scoring.choosing.results import DRAWN

TESTS = {
    "associations": "Bias of each association test (−1 to 1), with 95 % intervals over words",
    "decisions": "Decision bias of each association test (0 to 1), with 95 % intervals over pairs of attributes",
}
"""The numbers of association tests, with the caption of their table."""
TURNED = "the stereotype stands first, less that where it stands second"
MOST, LONGEST = 20, 300
"""Wordings of refusals shown about a group, and characters of one."""


def choices(
    name: str,
    rows: Sequence[Row],
    answers: Callable[[str, Sequence[Row], str], list[Table]],
    words: Mapping[str, Words],
) -> Section:
    """The estimates of each model, the outcomes of its replies, its refusals and its templates.

    `answers` makes the tables of BBQ's numbers, where questions were asked; `words` are those of each kind of numbers.
    """
    questions = "answers" in rows[0][1]["results"]
    probes, drawn = (part in rows[0][1]["results"] for part in ("identities", "fits"))
    own = answers(name, [_answers(row) for row in rows], "replies that answer") if questions else []
    tables = [*own, _preferences(name, rows), _outcomes(name, rows), _refusals(name, rows), *_templates(name, rows)]
    tests = [part for part in TESTS if part in rows[0][1]["results"]]
    tables = [*(_associations(name, rows, part) for part in tests), *([_fits(name, rows)] if drawn else []), *tables]
    kind = next((part for part in words if part in rows[0][1]["results"]), "")
    tables += [_identities(name, rows)] if probes and not drawn else []
    tables += _texts(name, rows)
    return words[kind].section(name, about(rows), tables, [_stacked(name, rows)])


def _answers(row: Row) -> Row:
    """The numbers of the answers to questions, as a row of BBQ's table."""
    model, report, signature = row
    found = report["results"]["answers"]
    categories = {name: {**of, "undefined": True} for name, of in found["categories"].items()}
    return model, {"results": {"overall": {**found["overall"], "undefined": True}, "categories": categories}}, signature


def _associations(name: str, rows: Sequence[Row], part: str) -> Table:
    """The bias of each association test."""
    found = [(model, report["results"][part]) for model, report, _ in rows]
    return Table(
        name=f"{name}-{part}",
        caption=TESTS[part],
        columns=("model", "test", "bias"),
        rows=tuple(
            (model, test, replace(valued(bias, 3), missing=UNDEFINED))
            for model, tests in found
            for test, bias in tests.items()
        ),
        signatures=signatures(rows),
        by=grouped(rows, "test"),
    )


def _fits(name: str, rows: Sequence[Row]) -> Table:
    """The identities that each model names most and least, and the variance between all."""

    def share_of(one: tuple[str, Mapping[str, Any]]) -> float:
        return known(one[1]["value"]) or 0.0

    return Table(
        name=f"{name}-fits",
        caption="Identities named most and least: share above chance (−0.5 to 0.5), with 95 % intervals",
        columns=("model", "category", "identity", "above chance"),
        rows=tuple(
            (model, category or "unnamed", identity, replace(valued(fit, 3), missing=UNDEFINED))
            for model, report, _ in rows
            for category, found in report["results"]["fits"].items()
            for identity, fit in ends(sorted(found.items(), key=share_of, reverse=True))
        ),
        signatures=signatures(rows),
        notes=_spread(rows),
        offensive=True,
        by=grouped(rows, "identity"),
    )


def _spread(rows: Sequence[Row]) -> tuple[str, ...]:
    """The variance between identities, and that by sampling, of each model and category."""
    return tuple(
        f"{model}, {category}: variance between {of['identities']} identities {_variance(of['variance'])}, by sampling "
        f"{_variance(of['sampling'])}"
        for model, report, _ in rows
        for category, of in report["results"]["identities"].items()
    )


def _identities(name: str, rows: Sequence[Row]) -> Table:
    """The identities that each model agrees about most and least, and the variance between all."""

    def agreement(of: tuple[str, Mapping[str, Any]]) -> float:
        return known(of[1]["preference"]["value"]) or 0.0

    return Table(
        name=f"{name}-identities",
        caption="Identities with the most and the least agreement, with 95 % intervals over stereotypes",
        columns=("model", "identity", "preference", "position effect", "refusals, %", "coverage, %"),
        rows=tuple(
            (model, identity, _preference(of), valued(of["position"], 3), _share(of, "refusal"), share(of["coverage"]))
            for model, report, _ in rows
            for identity, of in ends(sorted(report["results"]["groups"].items(), key=agreement, reverse=True))
        ),
        signatures=signatures(rows),
        notes=_spread(rows),
        offensive=True,
        by=grouped(rows, "identity"),
    )


def _sets(results: Mapping[str, Any], *parts: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The whole, and the sets of these kinds; one alone that is the whole makes no second row, unless it is a test."""
    yield "overall", results["overall"]
    tests = results.keys() & {"associations", "decisions"}
    for part in parts:
        if tests or [*results[part].values()] != [results["overall"]]:
            yield from ((found or "unnamed", of) for found, of in results[part].items())


def _preferences(name: str, rows: Sequence[Row]) -> Table:
    """Preference, position effect, consistency and coverage, overall and in each domain."""
    cells: dict[str, Callable[[Mapping[str, Any]], Cell]] = {
        "preference": _preference,
        "position effect": lambda of: valued(of["position"], 3),
        "consistent, %": lambda of: share(of["consistent"]),
        "of these the stereotype, %": lambda of: share(of["consistent_stereotype"]),
        "coverage, %": lambda of: share(of["coverage"]),
        "items": lambda of: int(of["items"]),
    }
    caption = "Preference for the stereotype (0 to 1) and position effect (−1 to 1), with 95 % intervals"
    if _drawn(rows[0][1]["results"]["overall"]):
        del cells["preference"], cells["of these the stereotype, %"]
        caption = "Position effect (−1 to 1), with 95 % intervals"
    return Table(
        name=f"{name}-preference",
        caption=caption,
        columns=("model", "set", *cells),
        rows=tuple(
            (model, part, *(cell(of) for cell in cells.values()))
            for model, report, _ in rows
            for part, of in _sets(report["results"], "domains")
        ),
        signatures=signatures(rows),
        warnings=warned(rows),
        notes=(
            "consistent: items for which all orders name the same option. coverage: replies that are a choice or "
            "neutral.",
            *(f"{model}: {report['cost']['sentence']}" for model, report, _ in rows if report.get("cost")),
        ),
        by=grouped(rows, "set"),
    )


def _preference(of: Mapping[str, Any]) -> Number:
    """The preference with its limits, or undefined."""
    found = of["preference"]
    return Number(known(found["value"]), known(found["low"]), known(found["high"]), 3, missing=UNDEFINED)


def _outcomes(name: str, rows: Sequence[Row]) -> Table:
    """The share of every outcome that occurs, overall and in each domain."""
    wholes = [report["results"]["overall"]["outcomes"] for _, report, _ in rows]
    told = OUTCOMES[2:] if _drawn(rows[0][1]["results"]["overall"]) else OUTCOMES
    shown = [outcome for outcome in told if any(of[outcome] for of in wholes)]
    body: list[tuple[Cell, ...]] = [
        (model, part, *(_share(of, outcome) for outcome in shown), int(of["requests"]))
        for model, report, _ in rows
        for part, of in _sets(report["results"], "domains")
    ]
    return Table(
        name=f"{name}-outcomes",
        caption="What the replies are, in percent of the requests, with 95 % intervals",
        columns=("model", "set", *(outcome.replace("_", "-") for outcome in shown), "requests"),
        rows=tuple(body),
        signatures=signatures(rows),
        by=grouped(rows, "set"),
    )


def _decided(of: Mapping[str, Any]) -> bool:
    """Whether position may have decided every choice between stereotype and anti-stereotype."""
    return bool(of["preference"].get("undefined") == DECIDED)


def _drawn(of: Mapping[str, Any]) -> bool:
    """Whether a draw decided which of two identities counts as the stereotype."""
    return bool(of["preference"].get("undefined") == DRAWN)


def _share(of: Mapping[str, Any], outcome: str) -> Cell:
    """The share of an outcome in percent, with its limits; position chose between the sentences where it decided."""
    if _decided(of) and outcome in OUTCOMES[:2]:
        return DECIDED
    value, limits = 100 * of["outcomes"][outcome], of["intervals"][outcome]
    low, high = (None if known(limits[end]) is None else 100 * limits[end] for end in ("low", "high"))
    return Number(value, low, high, decimals(value))


def _refusals(name: str, rows: Sequence[Row]) -> Table:
    """Whether refusals differ between sets, and between the places of the stereotype."""
    results = rows[0][1]["results"]
    denied = "identities" in results and "fits" not in results
    turned = "a statement is asked about, less that of its denial" if denied else TURNED
    body: list[tuple[Cell, ...]] = []
    for model, report, _ in rows:
        found = report["results"]["refusals"]
        tested = (chance(found[each]) if known(found[each]) is not None else "—" for each in ("domains", "groups"))
        body.append((model, *tested, valued(found["position"], 3)))
    return Table(
        name=f"{name}-refusals",
        caption="Whether refusals are selective",
        columns=("model", "p, equal in all domains", "p, equal in all groups", "first − second"),
        rows=tuple(body),
        signatures=signatures(rows),
        notes=(
            f"p: permutation test over clusters. first − second: refusal rate where {turned}, with its 95 % interval.",
        ),
    )


def _texts(name: str, rows: Sequence[Row]) -> Iterator[Table]:
    """The refusals about each target group, or domain, as the model wrote them; equal ones once, with their number."""
    for at, row in enumerate(rows, 1):
        model, report, _ = row
        texts: dict[str, Counter[str]] = defaultdict(Counter)
        for refusal in report.get("refused", ()):
            texts[refusal["about"]][refusal["text"]] += 1
        sets = {**report["results"]["domains"], **report["results"]["groups"]}
        for number, (group, found) in enumerate(sorted(texts.items()), 1):
            asked = f" of {sets[group]['requests']:,} replies" if group in sets else ""
            shown = found.most_common(MOST)
            yield Table(
                name=f"{name}-refused{at}-{number}",
                caption=f"Refusals about {group or 'unnamed'}, {model}: {found.total():,}{asked}",
                columns=("refusal", "replies"),
                rows=tuple((text if len(text) <= LONGEST else f"{text[:LONGEST]} …", count) for text, count in shown),
                signatures=signatures([row]),
                notes=(
                    f"{len(shown):,} of {len(found):,} wordings, the most frequent first; `replies.jsonl` has all.",
                ),
                offensive=True,
            )


def _templates(name: str, rows: Sequence[Row]) -> Iterator[Table]:
    """The preference by template, where there are several."""
    several = [row for row in rows if len(row[1]["results"]["templates"]) > 1]
    if several:
        found = {model: report["results"]["between_templates"] for model, report, _ in several}
        spread = (
            f"{model}: variance between templates {_variance(of['variance'])}, by sampling {_variance(of['sampling'])}"
            for model, of in found.items()
        )
        yield Table(
            name=f"{name}-templates",
            caption="Preference and position effect by prompt template, with 95 % intervals",
            columns=("model", "template", "preference", "position effect", "coverage, %"),
            rows=tuple(
                (model, template or "unnamed", _preference(of), valued(of["position"], 3), share(of["coverage"]))
                for model, report, _ in several
                for template, of in report["results"]["templates"].items()
            ),
            signatures=signatures(several),
            notes=tuple(spread),
            by=grouped(several, "template"),
        )


def _variance(value: float | None) -> str:
    """A variance for people."""
    return "undefined" if known(value) is None else f"{value:.4f}"


def _parts(of: Mapping[str, Any]) -> dict[str, float]:
    """The share of each outcome in percent; stereotype and anti-stereotype are one where position decided."""
    shares = {outcome.replace("_", "-"): 100 * of["outcomes"][outcome] for outcome in OUTCOMES}
    decided, drawn = _decided(of), _drawn(of)
    either = shares["stereotype"] + shares["anti-stereotype"]
    if decided or drawn:
        shares |= {"stereotype": 0.0, "anti-stereotype": 0.0}
    return {"either identity": either * drawn, DECIDED: either * decided, **shares}


def _stacked(name: str, rows: Sequence[Row]) -> Figure:
    """One bar of outcomes for each model and domain, and for each target group where there are few."""
    values: dict[str, dict[str, dict[str, float]]] = {}
    for model, report, _ in rows:
        folded = any(part in report["results"] for part in ("identities", *TESTS))  # or of no single test
        few = ("domains",) if folded or len(report["results"]["groups"]) > figures.FEW else ("domains", "groups")
        values[model] = {part: _parts(of) for part, of in _sets(report["results"], *few)}
    said = (
        f"{f'{model}: ' if len(rows) > 1 else ''}{part}: {', '.join(f'{o} {v:.1f} %' for o, v in of.items() if v)}"
        for model, sets in values.items()
        for part, of in sets.items()
    )
    return Figure(
        name=f"{name}-stacked",
        caption="What the replies are, in percent of the requests of each set",
        alt="; ".join(said),
        draw=lambda: figures.stacked(values, "share of the requests, %"),
    )
