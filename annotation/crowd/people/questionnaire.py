"""Questions about people: bundled ones, those of the study's own file, and the answers that each accepts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from catsofa.annotation.crowd.settings import Questionnaire, table
from catsofa.annotation.study import Study
from catsofa.annotation.study.interface import FOLDER
from catsofa.data.files import BadInput, toml_files

BUNDLED = FOLDER / "about-you.toml"
SILENT = "prefer not to say"
"""Answer that every question has; an empty one counts as it."""
MOST = 15
"""Maximum number of questions in one questionnaire."""
TAKEN = {"item", "annotator", "label"}
"""Columns of a release that no question may be named after."""
EXPECTED = "questions as docs/annotation.md shows them: [name] with text, and choices or groups"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question: its text, and `choices`, or `groups` of choices under a wider answer."""

    text: str
    choices: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def wider(self) -> dict[str, str]:
        """Mapping of each answer to the wider answer it belongs to; empty without one."""
        inside = {choice: name for name, choices in self.groups.items() for choice in choices}
        return dict.fromkeys(self.choices, "") | inside


def questions(study: Study, settings: Questionnaire) -> dict[str, Asked]:
    """Returns the questions that the settings name, by name; refuses invalid ones."""
    bundled = _read(BUNDLED)
    selected = {}
    for name in settings.bundled:
        if name not in bundled:
            path = study.folder / "study.toml"
            raise BadInput(path, f"questionnaire.bundled with {name!r}", f"some of {', '.join(bundled)}")
        selected[name] = bundled[name]
    if settings.own:
        path = study.folder / settings.own
        own = _read(path)
        if twice := selected.keys() & own.keys():
            raise BadInput(path, f"the question {min(twice)!r}, which is bundled and asked too", "another name")
        selected |= own
    if len(selected) > MOST:
        raise ValueError(f"{len(selected)} questions about people are too many: ask {MOST} or fewer in {study.folder}")
    return selected


def _read(path: Path) -> dict[str, Asked]:
    """Reads the questions of a file."""
    by_name = {}
    for name, held in toml_files.read(path, EXPECTED).items():
        question = table(Asked, held, name, path)
        answers = [*question.choices, *(choice for choices in question.groups.values() for choice in choices)]
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name in TAKEN:
            raise BadInput(path, f"a question named {name!r}", "small letters, digits and _, as in age_band")
        if bool(question.choices) == bool(question.groups) or len(set(answers)) < max(2, len(answers)):
            raise BadInput(path, f"the answers {', '.join(answers)} to {name!r}", "two or more, each once; " + EXPECTED)
        if not question.text.strip() or {"", SILENT} & {*answers, *question.groups}:
            raise BadInput(path, f"an empty text or {SILENT!r} in {name!r}", f"texts; {SILENT!r} is always added")
        by_name[name] = question
    return by_name


def chosen(by_name: Mapping[str, Asked], form: Mapping[str, str]) -> dict[str, str]:
    """Returns the answers of a form about a person; raises ValueError for an answer that a question does not have."""
    answers = {name: form.get(name) or SILENT for name in by_name}
    for name, answer in answers.items():
        if answer != SILENT and answer not in by_name[name].wider:
            raise ValueError(f"{name.replace('_', ' ')}: choose one of the answers that are shown")
    return answers
