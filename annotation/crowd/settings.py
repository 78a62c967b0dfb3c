"""Reads study.toml, the settings of an open study. Every key has a default; an unknown key is refused by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal, TypeVar

from catsofa.annotation.crowd.practice import Lesson, lessons
from catsofa.annotation.crowd.rules import WRITING, Rules, planned
from catsofa.annotation.crowd.screening import Screening
from catsofa.annotation.study import Study
from catsofa.data.files import BadInput, jsonl, read_text, toml_files
from catsofa.data.suppression import LEAST

FILE = "study.toml"
EXPECTED = "settings of a study as docs/annotation.md lists them"
OUTCOMES = ("completed", "no_consent", "failed_checks", "screened_out", "failed_practice", "paused")
"""Outcomes of a person's work. On Prolific and Connect, each outcome has a code of the study; elsewhere, each person
has their own code."""
FIRST = 5
"""Minimum number of judgements before the posterior of an item is used."""
WITH_CODES = ("prolific", "connect")
Model = Literal["dawid-skene", "glad"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """`[quality]`: the places of checks and gold items."""

    first: int = 10
    """Last possible place of the first check, and of the first gold item."""
    checks_every: int = 15
    gold_every: int = 15
    fail_after: int = 2
    """Number of failed checks that ends a person's work."""
    then: Literal["fail", "pause"] = "fail"
    """Consequence of failed checks: only people who failed may be asked for a return, or rejected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Practice:
    """`[practice]`: items with known answers that come first, and the pass mark."""

    file: str = ""
    """File of items with their answers and reasons, in the study's folder."""
    right: int = 1
    """Minimum number of items that must be answered right."""
    pay: float | None = None
    """Pay of a person who does not pass; by default, pay for each task they did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """`[pace]`: the limits for too fast answers."""

    seconds: float = 0.0
    """Seconds below which an answer is too fast."""
    share: float = 0.0
    """The same limit as a share of the pilot's median."""
    limit: int = 5
    """Number of too fast answers that leads to a warning; twice as many pause the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive:
    """`[adaptive]`: further judgements for items that the first ones leave uncertain."""

    most: int | None = None
    """Maximum number of judgements of one item; without it, every item gets as many as the study asks for."""
    posterior: float = 0.9
    """Posterior of the label below which an item gets two more judgements."""
    model: Model = "dawid-skene"
    """Model that estimates the posterior."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """`[people]`: who may take part, and how many tasks each person does."""

    session: int = 30
    minimum_age: int = 18
    break_every: int | None = None
    """Tasks after which a person is asked to take a break."""
    minutes_a_day: int | None = None
    """Maximum minutes of tasks of a person within 24 hours."""
    same_as: str = ""
    """Folder of an earlier study with the same pseudonyms. A person judges nothing they wrote there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ethics:
    """`[ethics]`: additions to catsofa's texts on the consent page; `consent` and `debriefing` are text files."""

    institution: str = ""
    protocol: str = ""
    legal_basis: str = ""
    withdraw_until: date | None = None
    """Last day on which a person's answers can be left out."""
    retention_days: int | None = None
    """Days after the close of the study by which the identities of people are erased."""
    helpline: tuple[str, ...] = ()
    """Help for people whom the sentences hurt, one line each; every page of a person shows it."""
    consent: str = ""
    debriefing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform(Screening):
    """`[platform]`: where people come from, which of them may take part, and the codes of the outcomes."""

    name: Literal["invitation", "prolific", "mturk", "connect"] = "invitation"
    codes: Mapping[str, str] = field(default_factory=dict)
    devices: Sequence[Literal["desktop", "tablet", "mobile"]] = ("desktop", "tablet", "mobile")
    """For Prolific: devices on which people may work."""
    filters: Sequence[Mapping[str, Any]] = ()
    """For Prolific: filters for people, in the form of its API."""
    warning: Literal["sensitive", "explicit"] = "sensitive"
    """For Prolific: the content warning that people see before they begin."""
    project: str = ""
    """For Prolific: the id of the project; by default, the first project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questionnaire:
    """`[questionnaire]`: the questions about people, and the smallest group that a publication may tell apart."""

    bundled: tuple[str, ...] = ()
    own: str = ""
    """TOML file with the study's own questions."""
    k: int = 5
    """Minimum number of people behind every published answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """`[statement]`: facts for the data statement of a release that only the researchers know."""

    variety: str = ""
    """Varieties of the language in which the items are written."""
    purpose: str = ""
    curators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """All settings in study.toml."""

    quality: Quality = Quality()
    practice: Practice = Practice()
    pace: Pace = Pace()
    adaptive: Adaptive = Adaptive()
    people: People = People()
    ethics: Ethics = Ethics()
    platform: Platform = Platform()
    questionnaire: Questionnaire = Questionnaire()
    statement: Statement = Statement()
    consent: str = ""
    """Text in the file that `[ethics] consent` names."""
    debriefing: str = ""
    lessons: tuple[Lesson, ...] = ()
    """Items in the file that `[practice]` names."""

    def code(self, outcome: str) -> str:
        """Returns the platform's code for an outcome; all kinds of pause share one."""
        return self.platform.codes.get("paused" if outcome.startswith("paused") else outcome, "")


def read(study: Study) -> Opening:
    """Reads the settings of a study, with the texts that they name."""
    path = study.folder / FILE
    tables = toml_files.read(path, EXPECTED) if path.is_file() else {}
    parts: dict[str, type[Any]] = {"quality": Quality, "people": People, "ethics": Ethics, "platform": Platform}
    parts |= {"questionnaire": Questionnaire, "practice": Practice, "pace": Pace, "adaptive": Adaptive}
    parts |= {"statement": Statement}
    if unknown := tables.keys() - parts.keys():
        raise BadInput(path, f"an unknown table or key {min(unknown)!r}", f"the tables {', '.join(parts)}")
    opening = Opening(**{name: table(part, tables.get(name, {}), name, path) for name, part in parts.items()})
    codes, wanted = opening.platform.codes, opening.platform.name in WITH_CODES
    if unknown := codes.keys() - set(OUTCOMES):
        raise BadInput(path, f"a code for {min(unknown)!r}", f"codes for {', '.join(OUTCOMES)}")
    if wanted and "completed" not in codes:
        raise BadInput(
            path, "no platform.codes.completed", f"the completion code of the study on {opening.platform.name}"
        )
    for found_key, expected in opening.platform.wrong(opening.platform.name):
        raise BadInput(path, f"platform.{found_key}", expected)
    texts = {
        name: read_text(study.folder / file, "a text for people") if file else ""
        for name, file in (("consent", opening.ethics.consent), ("debriefing", opening.ethics.debriefing))
    }
    if (k := opening.questionnaire.k) < LEAST:
        raise BadInput(path, f"questionnaire.k = {k}", f"{LEAST} or more: fewer people can be found out")
    practice, practice_items = opening.practice, tuple[Lesson, ...]()
    if practice.file:
        practice_items = lessons(study.folder / practice.file, study.kind.judged, study.settings.secret)
        if practice.right > len(practice_items):
            raise BadInput(
                path, f"practice.right = {practice.right}", f"at most its {len(practice_items)} practice items"
            )
    if (practice.pay or 0) < 0:
        raise BadInput(path, f"practice.pay = {practice.pay}", "an amount of 0 or more")
    if (opening.pace.seconds and opening.pace.share) or not 0 <= opening.pace.share < 1 or opening.pace.seconds < 0:
        raise BadInput(path, f"pace {opening.pace}", "seconds above 0, or a share below 1, and not both")
    if opening.pace.share and not study.settings.after_pilot:
        raise BadInput(
            path, f"pace.share = {opening.pace.share} without a pilot", "pace.seconds, or a study --after-pilot"
        )
    _check_adaptive(opening.adaptive, study, path)
    return replace(opening, consent=texts["consent"], debriefing=texts["debriefing"], lessons=practice_items)


def _check_adaptive(adaptive: Adaptive, study: Study, path: Path) -> None:
    """Refuses an adaptive stop with an overlap below five, with invalid numbers, or where people write."""
    if adaptive.most is None:
        return
    if study.kind.asks is None:
        then = (
            f": catsofa annotate reopen {study.folder} --undecided asks two more people about texts that are undecided"
        )
        raise BadInput(
            path,
            "[adaptive] where people write",
            "no such table, since the texts that are judged, and so the cost, are not known beforehand"
            + (then if study.kind.judged_as else ", and nobody judges them here"),
        )
    if (overlap := study.settings.overlap) < FIRST:
        raise BadInput(path, f"[adaptive] with an overlap of {overlap}", f"a study with --overlap {FIRST} or more")
    if adaptive.most <= overlap:
        raise BadInput(path, f"adaptive.most = {adaptive.most}", f"more than the {overlap} people of every item")
    if not 0.5 < adaptive.posterior < 1:
        raise BadInput(path, f"adaptive.posterior = {adaptive.posterior}", "a posterior above 0.5 and below 1")


def table(part: type[T], content: Any, name: str, path: Path) -> T:
    """Validates one table of the file."""
    from pydantic import ValidationError

    try:
        parsed = jsonl.adapter(part).validate_python(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join([name, *map(str, first["loc"])])
        keys = ", ".join(each.name for each in fields(part))  # type: ignore[arg-type]
        if first["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
            raise BadInput(path, f"an unknown key {where}", f"in [{name}]: {keys}") from None
        raise BadInput(path, f"{where} = {first['input']!r}", f"{first['msg'][0].lower()}{first['msg'][1:]}") from None
    for each in fields(part):  # type: ignore[arg-type]
        if isinstance(value := getattr(parsed, each.name), int) and value < 1:
            raise BadInput(path, f"{name}.{each.name} = {value}", "a whole number above 0")
    return parsed


def rules(study: Study, opening: Opening) -> Rules:
    """Returns the rules of a study; refuses too few checks or gold items for one person.

    Shortens the session if the study has too few tasks for one person.
    """
    kinds = ["checks" if key.check else "gold items" if key.gold else "items" for key in study.sealed.values()]
    quality, session = opening.quality, opening.people.session
    placed = {"checks": quality.checks_every, "gold items": quality.gold_every}
    # the first person can write about each target, and has nothing to judge yet
    own = kinds.count("items") * (WRITING if study.kind.judged_as else 1)
    while session > own + sum(
        planned(session, quality.first, every) for kind, every in placed.items() if kind in kinds
    ):
        session -= 1
    for kind, every in placed.items():
        available, needed = kinds.count(kind), planned(session, quality.first, every)
        if 0 < available < needed:
            raise ValueError(
                f"{study.folder} has {available} {kind}, and a person with {session} tasks meets {needed}: make the "
                f"study with more, or make people.session smaller in {FILE}"
            )
    result = Rules(
        session=session,
        seconds=study.settings.seconds,
        first=quality.first,
        check_every=quality.checks_every,
        gold_every=quality.gold_every,
        fail_after=quality.fail_after,
        pause=quality.then == "pause",
        practice=tuple(lesson.task.key.token for lesson in opening.lessons),
        practice_pass=opening.practice.right,
        judges=study.settings.overlap if study.kind.judged_as else 0,
        fast=opening.pace.seconds or opening.pace.share * study.settings.seconds,
        fast_limit=opening.pace.limit,
        break_every=opening.people.break_every or 0,
        minutes_a_day=opening.people.minutes_a_day or 0,
    )
    if 0 < result.minutes_a_day < result.minutes and opening.platform.name != "invitation":
        raise BadInput(
            study.folder / FILE,
            f"people.minutes_a_day = {result.minutes_a_day}, and a session of {result.minutes} minutes",
            f"a shorter people.session, since a submission on {opening.platform.name} does not wait for the next day",
        )
    return result
