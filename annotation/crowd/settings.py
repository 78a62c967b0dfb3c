"""study.toml: how a study is opened to people. Every key has a default; a key that is not known is refused by name."""

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
"""How a person's part can end. On Prolific and Connect each has a code of the study; elsewhere each person has one."""
FIRST = 5
"""Judgements, at least, before the posterior of an item is asked for."""
WITH_CODES = ("prolific", "connect")
Model = Literal["dawid-skene", "glad"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """`[quality]`: where checks and gold items stand."""

    first: int = 10
    """The last place at which the first check, and the first gold item, may stand."""
    checks_every: int = 15
    gold_every: int = 15
    fail_after: int = 2
    """Failed checks that end a person's work."""
    then: Literal["fail", "pause"] = "fail"
    """What they lead to: only who failed may be asked for a return, or rejected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Practice:
    """`[practice]`: items with known answers that come first, and whom they let through."""

    file: str = ""
    """A file of items with their answers and reasons, in the study's folder."""
    right: int = 1
    """Items, at least, that must be answered rightly."""
    pay: float | None = None
    """What somebody is paid who does not pass; each task they did by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """`[pace]`: which answers are too fast, and how many of them."""

    seconds: float = 0.0
    """An answer that took less is too fast."""
    share: float = 0.0
    """The same as a share of the pilot's median."""
    limit: int = 5
    """Answers too fast after which a person is warned; as many again pause them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive:
    """`[adaptive]`: further judgements for items that the first ones leave uncertain."""

    most: int | None = None
    """Judgements of one item, at most; without it every item gets as many as the study asks for."""
    posterior: float = 0.9
    """The posterior of its label below which an item gets two more."""
    model: Model = "dawid-skene"
    """What estimates the posterior."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """`[people]`: who may take part, and how much each does."""

    session: int = 30
    minimum_age: int = 18
    break_every: int | None = None
    """Tasks after which a person is asked to take a break."""
    minutes_a_day: int | None = None
    """Minutes of tasks after which a person gets no further one for the rest of 24 hours."""
    same_as: str = ""
    """Folder of an earlier study: a person has the same pseudonym in both, and judges nothing they wrote there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ethics:
    """`[ethics]`: what the consent page says beside the texts of catsofa; `consent` and `debriefing` are text files."""

    institution: str = ""
    protocol: str = ""
    legal_basis: str = ""
    withdraw_until: date | None = None
    """Until when a person's answers can be left out."""
    retention_days: int | None = None
    """Days after the study was closed by which it is erased who the people are."""
    helpline: tuple[str, ...] = ()
    """Who helps people whom the sentences hurt, a line each; every page of a person shows them."""
    consent: str = ""
    debriefing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform(Screening):
    """`[platform]`: where people come from, who of them may take part, and the codes for each outcome."""

    name: Literal["invitation", "prolific", "mturk", "connect"] = "invitation"
    codes: Mapping[str, str] = field(default_factory=dict)
    devices: Sequence[Literal["desktop", "tablet", "mobile"]] = ("desktop", "tablet", "mobile")
    """For Prolific: what people may work on."""
    filters: Sequence[Mapping[str, Any]] = ()
    """For Prolific: whom to ask, in the form of its API."""
    warning: Literal["sensitive", "explicit"] = "sensitive"
    """For Prolific: the flag that people see before they begin."""
    project: str = ""
    """For Prolific: the id of the project; its first if not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questionnaire:
    """`[questionnaire]`: what people are asked about themselves, and how few of them a publication may tell apart."""

    bundled: tuple[str, ...] = ()
    own: str = ""
    """A TOML file with questions of the study's own."""
    k: int = 5
    """People, at least, behind every answer that is published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """`[statement]`: what only the researchers can tell the data statement of a release."""

    variety: str = ""
    """The varieties of the language in which the items are written."""
    purpose: str = ""
    curators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """All of study.toml."""

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
    """The text in the file that `[ethics] consent` names."""
    debriefing: str = ""
    lessons: tuple[Lesson, ...] = ()
    """The items in the file that `[practice]` names."""

    def code(self, outcome: str) -> str:
        """The platform's code for an outcome; both kinds of pause have one."""
        return self.platform.codes.get("paused" if outcome.startswith("paused") else outcome, "")


def read(study: Study) -> Opening:
    """The settings of a study, with the texts that they name."""
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
    practice, found = opening.practice, tuple[Lesson, ...]()
    if practice.file:
        found = lessons(study.folder / practice.file, study.kind.judged, study.settings.secret)
        if practice.right > len(found):
            raise BadInput(path, f"practice.right = {practice.right}", f"at most its {len(found)} practice items")
    if (practice.pay or 0) < 0:
        raise BadInput(path, f"practice.pay = {practice.pay}", "an amount of 0 or more")
    if (opening.pace.seconds and opening.pace.share) or not 0 <= opening.pace.share < 1 or opening.pace.seconds < 0:
        raise BadInput(path, f"pace {opening.pace}", "seconds above 0, or a share below 1, and not both")
    if opening.pace.share and not study.settings.after_pilot:
        raise BadInput(
            path, f"pace.share = {opening.pace.share} without a pilot", "pace.seconds, or a study --after-pilot"
        )
    _check_adaptive(opening.adaptive, study, path)
    return replace(opening, consent=texts["consent"], debriefing=texts["debriefing"], lessons=found)


def _check_adaptive(adaptive: Adaptive, study: Study, path: Path) -> None:
    """Refuse an adaptive stop with fewer judgements than five, or where nobody judges."""
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


def table(part: type[T], found: Any, name: str, path: Path) -> T:
    """One table of the file."""
    from pydantic import ValidationError

    try:
        made = jsonl.adapter(part).validate_python(found)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join([name, *map(str, first["loc"])])
        known = ", ".join(each.name for each in fields(part))  # type: ignore[arg-type]
        if first["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
            raise BadInput(path, f"an unknown key {where}", f"in [{name}]: {known}") from None
        raise BadInput(path, f"{where} = {first['input']!r}", f"{first['msg'][0].lower()}{first['msg'][1:]}") from None
    for each in fields(part):  # type: ignore[arg-type]
        if isinstance(value := getattr(made, each.name), int) and value < 1:
            raise BadInput(path, f"{name}.{each.name} = {value}", "a whole number above 0")
    return made


def rules(study: Study, opening: Opening) -> Rules:
    """How work is given out; a study with too few checks or gold items for one person is refused."""
    kinds = ["checks" if key.check else "gold items" if key.gold else "items" for key in study.sealed.values()]
    quality, session = opening.quality, opening.people.session
    placed = {"checks": quality.checks_every, "gold items": quality.gold_every}
    # who comes first can write about each target, and has nothing to judge yet
    own = kinds.count("items") * (WRITING if study.kind.judged_as else 1)
    while session > own + sum(
        planned(session, quality.first, every) for kind, every in placed.items() if kind in kinds
    ):
        session -= 1
    for kind, every in placed.items():
        there, needed = kinds.count(kind), planned(session, quality.first, every)
        if 0 < there < needed:
            raise ValueError(
                f"{study.folder} has {there} {kind}, and a person with {session} tasks meets {needed}: make the "
                f"study with more, or make people.session smaller in {FILE}"
            )
    found = Rules(
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
    if 0 < found.minutes_a_day < found.minutes and opening.platform.name != "invitation":
        raise BadInput(
            study.folder / FILE,
            f"people.minutes_a_day = {found.minutes_a_day}, and a session of {found.minutes} minutes",
            f"a shorter people.session, since a submission on {opening.platform.name} does not wait for the next day",
        )
    return found
