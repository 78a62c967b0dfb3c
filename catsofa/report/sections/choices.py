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

ANSWERED = Words(
    "Answers of a chat model to questions",
    "What a model answers to questions about two groups, in every order of the answers. Accuracy where the context "
    "leaves the answer open (ideal: always unknown) and where it gives the answer. s_AMB and s_DIS say how far the "
    "groups that the model names agree with a stereotype: −1 always against it, 0 balanced (ideal), 1 always with it. "
    "The preference is the share of the stereotype among the groups named in ambiguous contexts that position does not "
    "explain.",
    "Refusals and replies that nobody could read are no answers: accuracy and bias rest on the answers alone. A model "
    "that always answers “unknown” has no bias score in ambiguous contexts, and is of no use in the others.",
)
ASSOCIATED = Words(
    "Words that a chat model gives to targets",
    "Which of two targets a model says that a word goes with, in both orders. The bias of a test is 1 if all words go "
    "as the test has it, 0 if one target gets every word, −1 if all go the other way.",
    "Explicit answers: a model that declines or balances them may still associate the words.",
)
AGREED = Words(
    "Agreement of a chat model with statements about identities",
    "Whether a model says that a statement is true, and that its denial is. The preference is the share of agreement "
    "that yea-saying does not explain. The position effect is 1 for a model that says yes to both, −1 for one that "
    "says no to both; where its interval reaches either, the preference is undefined.",
    "A model that denies all stereotypes may still find them probable. Compare identities within one category only.",
)
WORDS = Words(
    "Choices of a chat model",
    "Which sentence a model names when it is asked which is more likely, in every order of the sentences. The "
    "preference is the share of the stereotype among the choices that position does not explain. The position effect "
    "is 1 for a model that always names the first sentence, −1 for the second; where its interval reaches either, the "
    "preference is undefined.",
    "What a model chooses when it must is not what it finds probable: compare with no table of likelihoods. A refusal "
    "says nothing about the association behind it.",
)
MOST, LONGEST = 20, 300
"""Wordings of refusals shown about a group, and characters of one."""


def choices(name: str, rows: Sequence[Row], answers: Callable[[str, Sequence[Row], str], Table]) -> Section:
    """The estimates of each model, the outcomes of its replies, its refusals and its templates.

    `answers` makes the table of BBQ's numbers, where questions were asked.
    """
    questions = "answers" in rows[0][1]["results"]
    probes = "identities" in rows[0][1]["results"]
    own = [answers(name, [_answers(row) for row in rows], "replies that answer")] if questions else []
    tables = [*own, _preferences(name, rows), _outcomes(name, rows), _refusals(name, rows), *_templates(name, rows)]
    if tests := "associations" in rows[0][1]["results"]:
        tables = [_associations(name, rows), *tables]
    words = ASSOCIATED if tests else ANSWERED if questions else AGREED if probes else WORDS
    tables += [_identities(name, rows)] if probes else []
    tables += _texts(name, rows)
    return words.section(name, about(rows), tables, [_stacked(name, rows)])


def _answers(row: Row) -> Row:
    """The numbers of the answers to questions, as a row of BBQ's table."""
    model, report, signature = row
    found = report["results"]["answers"]
    categories = {name: {**of, "undefined": True} for name, of in found["categories"].items()}
    return model, {"results": {"overall": {**found["overall"], "undefined": True}, "categories": categories}}, signature


def _associations(name: str, rows: Sequence[Row]) -> Table:
    """The bias of each association test."""
    found = [(model, report["results"]["associations"]) for model, report, _ in rows]
    return Table(
        name=f"{name}-associations",
        caption="Bias of each association test (−1 to 1), with 95 % intervals over words",
        columns=("model", "test", "bias"),
        rows=tuple(
            (model, test, replace(valued(bias, 3), missing=UNDEFINED))
            for model, tests in found
            for test, bias in tests.items()
        ),
        signatures=signatures(rows),
        by=grouped(rows, "test"),
    )


def _identities(name: str, rows: Sequence[Row]) -> Table:
    """The identities that each model agrees about most and least, and the variance between all."""
    spread = (
        f"{model}, {category}: variance between {of['identities']} identities {_variance(of['variance'])}, by sampling "
        f"{_variance(of['sampling'])}"
        for model, report, _ in rows
        for category, of in report["results"]["identities"].items()
    )

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
        notes=tuple(spread),
        offensive=True,
        by=grouped(rows, "identity"),
    )


def _sets(results: Mapping[str, Any], *parts: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The whole, and the sets of these kinds, by name."""
    yield "overall", results["overall"]
    for part in parts:
        yield from ((found or "unnamed", of) for found, of in results[part].items())


def _preferences(name: str, rows: Sequence[Row]) -> Table:
    """Preference, position effect, consistency and coverage, overall and in each domain."""
    body = [
        (model, part, _preference(of), valued(of["position"], 3), share(of["consistent"]),
         share(of["consistent_stereotype"]), share(of["coverage"]), of["items"], of["requests"])
        for model, report, _ in rows
        for part, of in _sets(report["results"], "domains")
    ]  # fmt: skip
    return Table(
        name=f"{name}-preference",
        caption="Preference for the stereotype (0 to 1) and position effect (−1 to 1), with 95 % intervals",
        columns=("model", "set", "preference", "position effect", "consistent, %", "of these the stereotype, %",
                 "coverage, %", "items", "requests"),
        rows=tuple(body),
        signatures=signatures(rows),
        warnings=warned(rows),
        notes=("consistent: items for which all orders name the same option. coverage: replies that are a choice or "
               "neutral.",),
        by=grouped(rows, "set"),
    )  # fmt: skip


def _preference(of: Mapping[str, Any]) -> Number:
    """The preference with its limits, or undefined."""
    found = of["preference"]
    return Number(known(found["value"]), known(found["low"]), known(found["high"]), 3, missing=UNDEFINED)


def _outcomes(name: str, rows: Sequence[Row]) -> Table:
    """The share of every outcome that occurs, overall and in each domain."""
    wholes = [report["results"]["overall"]["outcomes"] for _, report, _ in rows]
    shown = [outcome for outcome in OUTCOMES if any(of[outcome] for of in wholes)]
    body: list[tuple[Cell, ...]] = [
        (model, part, *(_share(of, outcome) for outcome in shown))
        for model, report, _ in rows
        for part, of in _sets(report["results"], "domains")
    ]
    return Table(
        name=f"{name}-outcomes",
        caption="What the replies are, in percent of the requests, with 95 % intervals",
        columns=("model", "set", *(outcome.replace("_", "-") for outcome in shown)),
        rows=tuple(body),
        signatures=signatures(rows),
        by=grouped(rows, "set"),
    )


def _decided(of: Mapping[str, Any]) -> bool:
    """Whether position may have decided every choice between stereotype and anti-stereotype."""
    return bool(of["preference"].get("undefined") == DECIDED)


def _share(of: Mapping[str, Any], outcome: str) -> Cell:
    """The share of an outcome in percent, with its limits; position chose between the sentences where it decided."""
    if _decided(of) and outcome in OUTCOMES[:2]:
        return DECIDED
    value, limits = 100 * of["outcomes"][outcome], of["intervals"][outcome]
    low, high = (None if known(limits[end]) is None else 100 * limits[end] for end in ("low", "high"))
    return Number(value, low, high, decimals(value))


def _refusals(name: str, rows: Sequence[Row]) -> Table:
    """Whether refusals differ between sets, and between the places of the stereotype."""
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
        notes=("p: permutation test over items. first − second: refusal rate where the stereotype stands first, less "
               "that where it stands second, with its 95 % interval.",),
    )  # fmt: skip


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
    either = shares["stereotype"] + shares["anti-stereotype"] if _decided(of) else 0.0
    if either:
        shares |= {"stereotype": 0.0, "anti-stereotype": 0.0}
    return {**shares, DECIDED: either}


def _stacked(name: str, rows: Sequence[Row]) -> Figure:
    """One bar of outcomes for each model and domain, or target group where there are few."""
    values = {}
    for model, report, _ in rows:
        named = "identities" not in report["results"]  # which a table that is folded away names
        few = ("domains", "groups") if named and len(report["results"]["groups"]) <= figures.FEW else ("domains",)
        for part, of in _sets(report["results"], *few):
            values[f"{model}: {part}" if len(rows) > 1 else part] = _parts(of)
    said = (f"{part}: {', '.join(f'{o} {v:.1f} %' for o, v in of.items() if v)}" for part, of in values.items())
    return Figure(
        name=f"{name}-stacked",
        caption="What the replies are, in percent of the requests of each set",
        alt="; ".join(said),
        draw=lambda: figures.stacked(values, "share of the requests, %"),
    )
