"""Prompts about a group: texts in which the group, the region and the language are filled in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from catsofa.builders.candidates.seeds import Target
from catsofa.data.files import read_text
from catsofa.data.prompt_texts import compiled
from catsofa.data.records import content_id

if TYPE_CHECKING:
    from jinja2 import Template

BUNDLED = ("report", "slots", "counter", "complete", "triplet", "scene")
"""Names of the bundled prompts. `complete` shows known associations of other groups, so seeds need attributes."""
_WHOLE = re.compile(r"(?:context \| )?stereotype \| anti-stereotype \| unrelated")


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A Jinja text that asks for `count` attributes or CATs, one per line; every record stores its hash."""

    name: str
    text: str
    count: int

    @property
    def hash(self) -> str:
        """The hash of the text and the count, independent of the prompt's name."""
        return content_id("prompt", self.text, self.count)

    @property
    def shows(self) -> bool:
        """True if the text shows known associations."""
        return "shots" in self.text

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a whole CAT if the text asks for such lines; empty if it asks for attributes."""
        match = _WHOLE.search(self.text)
        return tuple(match[0].split(" | ")) if match else ()

    def ask(self, target: Target, shots: Sequence[tuple[str, str]] = ()) -> str:
        """Returns the prompt about one target."""
        return self._template.render(
            group=target.identity, region=target.region, language=target.language, count=self.count, shots=shots
        ).strip()

    @cached_property
    def _template(self) -> "Template":
        """The text as a template; an unknown name in it is an error."""
        return compiled(self.name, self.text)


def load(name: str, count: int) -> Prompt:
    """Returns a bundled prompt by name, or a prompt from a text file.

    Raises ValueError for an unknown name, and for a text that cannot be filled in or does not show the group.
    """
    if name in BUNDLED:
        text = files("catsofa.data").joinpath("prompts", "candidates", f"{name}.txt").read_text(encoding="utf-8")
    elif Path(name).suffix or Path(name).exists():
        text = read_text(name, "a prompt")
    else:
        raise ValueError(f"no prompt {name!r}; name some of {', '.join(BUNDLED)}, or text files")
    from jinja2 import TemplateError

    prompt = Prompt(name=Path(name).stem, text=text, count=count)
    try:
        rendered = prompt.ask(Target("Glorbs", "Glorbia"), [("Zorbs", "tidy")])
    except TemplateError as error:
        names = "group, region, language, count and shots"
        raise ValueError(f"prompt {name} cannot be filled in: {error}; a prompt may hold {names}") from None
    if "Glorbs" not in rendered:
        raise ValueError(f"prompt {name} does not hold {{{{ group }}}}, so a model could not know whom it is about")
    return prompt
