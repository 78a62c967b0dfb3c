"""The report sections on choices of chat models: preference, position effect, outcomes, refusals and templates."""

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
"""Maps the kind of bias numbers of association tests to the caption of their table."""
TURNED = "the stereotype comes first, minus the share where it comes second"
MOST, LONGEST = 20, 300
"""The maximum number of refusals shown per group, and the maximum characters of each."""


def choices(
    name: str,
    rows: Sequence[Row],
    answers: Callable[[str, Sequence[Row], str], list[Table]],
    words: Mapping[str, Words],
) -> Section:
    """Returns the section: estimates of each model, outcomes of its replies, its refusals and its templates.

    `answers` makes the tables of BBQ's numbers for questions; `words` maps each kind of items to its texts.
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
    """Returns the numbers of the answers to questions in the form of a BBQ row."""
    model, report, signature = row
    stats = report["results"]["answers"]
    categories = {name: {**numbers, "undefined": True} for name, numbers in stats["categories"].items()}
    return model, {"results": {"overall": {**stats["overall"], "undefined": True}, "categories": categories}}, signature


def _associations(name: str, rows: Sequence[Row], part: str) -> Table:
    """Returns the table of the bias of each association test."""
    by_model = [(model, report["results"][part]) for model, report, _ in rows]
    return Table(
        name=f"{name}-{part}",
        caption=TESTS[part],
        columns=("model", "test", "bias"),
        rows=tuple(
            (model, test, replace(valued(bias, 3), missing=UNDEFINED))
            for model, tests in by_model
            for test, bias in tests.items()
        ),
        signatures=signatures(rows),
        by=grouped(rows, "test"),
    )


def _fits(name: str, rows: Sequence[Row]) -> Table:
    """Returns the table of the identities that each model names most and least, with the variance between all."""

    def share_of(one: tuple[str, Mapping[str, Any]]) -> float:
        return known(one[1]["value"]) or 0.0

    return Table(
        name=f"{name}-fits",
        caption="Identities named most and least: share above chance (−0.5 to 0.5), with 95 % intervals",
        columns=("model", "category", "identity", "above chance"),
        rows=tuple(
            (model, category or "unnamed", identity, replace(valued(fit, 3), missing=UNDEFINED))
            for model, report, _ in rows
            for category, fits in report["results"]["fits"].items()
            for identity, fit in ends(sorted(fits.items(), key=share_of, reverse=True))
        ),
        signatures=signatures(rows),
        notes=_spread(rows),
        offensive=True,
        by=grouped(rows, "identity"),
    )


def _spread(rows: Sequence[Row]) -> tuple[str, ...]:
    """Returns a note for each model and category: the variance between identities, and the part due to sampling."""
    return tuple(
        f"{model}, {category}: variance between {part['identities']} identities {_variance(part['variance'])}, "
        f"by sampling {_variance(part['sampling'])}"
        for model, report, _ in rows
        for category, part in report["results"]["identities"].items()
    )


def _identities(name: str, rows: Sequence[Row]) -> Table:
    """Returns the table of the identities with the most and least agreement, with the variance between all."""

    def agreement(entry: tuple[str, Mapping[str, Any]]) -> float:
        return known(entry[1]["preference"]["value"]) or 0.0

    return Table(
        name=f"{name}-identities",
        caption="Identities with the most and the least agreement, with 95 % intervals over stereotypes",
        columns=("model", "identity", "preference", "position effect", "refusals, %", "coverage, %"),
        rows=tuple(
            (
                model,
                identity,
                _preference(result),
                valued(result["position"], 3),
                _share(result, "refusal"),
                share(result["coverage"]),
            )
            for model, report, _ in rows
            for identity, result in ends(sorted(report["results"]["groups"].items(), key=agreement, reverse=True))
        ),
        signatures=signatures(rows),
        notes=_spread(rows),
        offensive=True,
        by=grouped(rows, "identity"),
    )


def _sets(results: Mapping[str, Any], *parts: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields the overall numbers, then those of the sets of these kinds.

    A kind whose only set equals the overall numbers is skipped, except in results of association tests.
    """
    yield "overall", results["overall"]
    tests = results.keys() & {"associations", "decisions"}
    for part in parts:
        if tests or [*results[part].values()] != [results["overall"]]:
            yield from ((key or "unnamed", result) for key, result in results[part].items())


def _preferences(name: str, rows: Sequence[Row]) -> Table:
    """Returns the table of preference, position effect, consistency and coverage, overall and in each domain."""
    cells: dict[str, Callable[[Mapping[str, Any]], Cell]] = {
        "preference": _preference,
        "position effect": lambda result: valued(result["position"], 3),
        "consistent, %": lambda result: share(result["consistent"]),
        "of these the stereotype, %": lambda result: share(result["consistent_stereotype"]),
        "coverage, %": lambda result: share(result["coverage"]),
        "items": lambda result: int(result["items"]),
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
            (model, part, *(cell(result) for cell in cells.values()))
            for model, report, _ in rows
            for part, result in _sets(report["results"], "domains")
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


def _preference(result: Mapping[str, Any]) -> Number:
    """Returns the preference with its limits; a missing value is shown as undefined."""
    preference = result["preference"]
    return Number(known(preference["value"]), known(preference["low"]), known(preference["high"]), 3, missing=UNDEFINED)


def _outcomes(name: str, rows: Sequence[Row]) -> Table:
    """Returns the table of the share of every outcome that occurs, overall and in each domain."""
    wholes = [report["results"]["overall"]["outcomes"] for _, report, _ in rows]
    possible = OUTCOMES[2:] if _drawn(rows[0][1]["results"]["overall"]) else OUTCOMES
    shown = [outcome for outcome in possible if any(shares[outcome] for shares in wholes)]
    body: list[tuple[Cell, ...]] = [
        (model, part, *(_share(result, outcome) for outcome in shown), int(result["requests"]))
        for model, report, _ in rows
        for part, result in _sets(report["results"], "domains")
    ]
    return Table(
        name=f"{name}-outcomes",
        caption="What the replies are, in percent of the requests, with 95 % intervals",
        columns=("model", "set", *(outcome.replace("_", "-") for outcome in shown), "requests"),
        rows=tuple(body),
        signatures=signatures(rows),
        by=grouped(rows, "set"),
    )


def _decided(result: Mapping[str, Any]) -> bool:
    """Returns True if position may have decided every choice between stereotype and anti-stereotype."""
    return bool(result["preference"].get("undefined") == DECIDED)


def _drawn(result: Mapping[str, Any]) -> bool:
    """Returns True if a draw decided which of two identities counts as the stereotype."""
    return bool(result["preference"].get("undefined") == DRAWN)


def _share(result: Mapping[str, Any], outcome: str) -> Cell:
    """Returns the share of an outcome in percent with its limits; a text if position decided between the sentences."""
    if _decided(result) and outcome in OUTCOMES[:2]:
        return DECIDED
    value, limits = 100 * result["outcomes"][outcome], result["intervals"][outcome]
    low, high = (None if known(limits[end]) is None else 100 * limits[end] for end in ("low", "high"))
    return Number(value, low, high, decimals(value))


def _refusals(name: str, rows: Sequence[Row]) -> Table:
    """Returns the table of tests for different refusal rates between sets, and between positions of the stereotype."""
    results = rows[0][1]["results"]
    denied = "identities" in results and "fits" not in results
    turned = "a statement is asked about, less that of its denial" if denied else TURNED
    body: list[tuple[Cell, ...]] = []
    for model, report, _ in rows:
        tests = report["results"]["refusals"]
        tested = (chance(tests[each]) if known(tests[each]) is not None else "—" for each in ("domains", "groups"))
        body.append((model, *tested, valued(tests["position"], 3)))
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
    """Yields a table of refusal texts for each model and target group or domain, each distinct text with its count."""
    for index, row in enumerate(rows, 1):
        model, report, _ = row
        texts: dict[str, Counter[str]] = defaultdict(Counter)
        for refusal in report.get("refused", ()):
            texts[refusal["about"]][refusal["text"]] += 1
        sets = {**report["results"]["domains"], **report["results"]["groups"]}
        for number, (group, wordings) in enumerate(sorted(texts.items()), 1):
            total = f" of {sets[group]['requests']:,} replies" if group in sets else ""
            shown = wordings.most_common(MOST)
            yield Table(
                name=f"{name}-refused{index}-{number}",
                caption=f"Refusals about {group or 'unnamed'}, {model}: {wordings.total():,}{total}",
                columns=("refusal", "replies"),
                rows=tuple((text if len(text) <= LONGEST else f"{text[:LONGEST]} …", count) for text, count in shown),
                signatures=signatures([row]),
                notes=(
                    f"{len(shown):,} of {len(wordings):,} wordings, the most frequent first; `replies.jsonl` has all.",
                ),
                offensive=True,
            )


def _templates(name: str, rows: Sequence[Row]) -> Iterator[Table]:
    """Yields the table of preferences by template if a model has several templates."""
    several = [row for row in rows if len(row[1]["results"]["templates"]) > 1]
    if several:
        variances = {model: report["results"]["between_templates"] for model, report, _ in several}
        spread = (
            f"{model}: variance between templates {_variance(part['variance'])}, "
            f"by sampling {_variance(part['sampling'])}"
            for model, part in variances.items()
        )
        yield Table(
            name=f"{name}-templates",
            caption="Preference and position effect by prompt template, with 95 % intervals",
            columns=("model", "template", "preference", "position effect", "coverage, %"),
            rows=tuple(
                (
                    model,
                    template or "unnamed",
                    _preference(result),
                    valued(result["position"], 3),
                    share(result["coverage"]),
                )
                for model, report, _ in several
                for template, result in report["results"]["templates"].items()
            ),
            signatures=signatures(several),
            notes=tuple(spread),
            by=grouped(several, "template"),
        )


def _variance(value: float | None) -> str:
    """Returns a variance as text."""
    return "undefined" if known(value) is None else f"{value:.4f}"


def _parts(result: Mapping[str, Any]) -> dict[str, float]:
    """Returns the share of each outcome in percent; joins both sentences if position or a draw decided between them."""
    shares = {outcome.replace("_", "-"): 100 * result["outcomes"][outcome] for outcome in OUTCOMES}
    decided, drawn = _decided(result), _drawn(result)
    either = shares["stereotype"] + shares["anti-stereotype"]
    if decided or drawn:
        shares |= {"stereotype": 0.0, "anti-stereotype": 0.0}
    return {"either identity": either * drawn, DECIDED: either * decided, **shares}


def _stacked(name: str, rows: Sequence[Row]) -> Figure:
    """Returns the figure with a bar of outcomes for each model and domain, and for each target group if few."""
    values: dict[str, dict[str, dict[str, float]]] = {}
    for model, report, _ in rows:
        folded = any(part in report["results"] for part in ("identities", *TESTS))  # too many groups for bars
        few = ("domains",) if folded or len(report["results"]["groups"]) > figures.FEW else ("domains", "groups")
        values[model] = {part: _parts(result) for part, result in _sets(report["results"], *few)}
    sentences = (
        f"{f'{model}: ' if len(rows) > 1 else ''}{part}: {', '.join(f'{o} {v:.1f} %' for o, v in shares.items() if v)}"
        for model, sets in values.items()
        for part, shares in sets.items()
    )
    return Figure(
        name=f"{name}-stacked",
        caption="What the replies are, in percent of the requests of each set",
        alt="; ".join(sentences),
        draw=lambda: figures.stacked(values, "share of the requests, %"),
    )
