"""The questions about people: bundled ones, those of the study's own file, and the answers that each takes."""

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
"""The answer that every question has; an empty one counts as it."""
MOST = 15
"""Questions of one questionnaire."""
TAKEN = {"item", "annotator", "label"}
"""Columns of a release that a question cannot be named like."""
EXPECTED = "questions as docs/annotation.md shows them: [name] with text, and choices or groups"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question: its text, and `choices`, or `groups` of choices under a wider answer."""

    text: str
    choices: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def wider(self) -> dict[str, str]:
        """Each answer with the wider one it belongs to, or with nothing."""
        inside = {choice: name for name, choices in self.groups.items() for choice in choices}
        return dict.fromkeys(self.choices, "") | inside


def questions(study: Study, settings: Questionnaire) -> dict[str, Asked]:
    """The questions that the settings name, by name; what cannot be asked is refused."""
    bundled = _read(BUNDLED)
    found = {}
    for name in settings.bundled:
        if name not in bundled:
            path = study.folder / "study.toml"
            raise BadInput(path, f"questionnaire.bundled with {name!r}", f"some of {', '.join(bundled)}")
        found[name] = bundled[name]
    if settings.own:
        path = study.folder / settings.own
        own = _read(path)
        if twice := found.keys() & own.keys():
            raise BadInput(path, f"the question {min(twice)!r}, which is bundled and asked too", "another name")
        found |= own
    if len(found) > MOST:
        raise ValueError(f"{len(found)} questions about people are too many: ask {MOST} or fewer in {study.folder}")
    return found


def _read(path: Path) -> dict[str, Asked]:
    """The questions of a file."""
    found = {}
    for name, held in toml_files.read(path, EXPECTED).items():
        asked = table(Asked, held, name, path)
        answers = [*asked.choices, *(choice for choices in asked.groups.values() for choice in choices)]
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name in TAKEN:
            raise BadInput(path, f"a question named {name!r}", "small letters, digits and _, as in age_band")
        if bool(asked.choices) == bool(asked.groups) or len(set(answers)) < max(2, len(answers)):
            raise BadInput(path, f"the answers {', '.join(answers)} to {name!r}", "two or more, each once; " + EXPECTED)
        if not asked.text.strip() or {"", SILENT} & {*answers, *asked.groups}:
            raise BadInput(path, f"an empty text or {SILENT!r} in {name!r}", f"texts; {SILENT!r} is always added")
        found[name] = asked
    return found


def chosen(asked: Mapping[str, Asked], form: Mapping[str, str]) -> dict[str, str]:
    """What a form says about a person; an answer that a question does not have is a ValueError."""
    said = {name: form.get(name) or SILENT for name in asked}
    for name, answer in said.items():
        if answer != SILENT and answer not in asked[name].wider:
            raise ValueError(f"{name.replace('_', ' ')}: choose one of the answers that are shown")
    return said
