"""Prompt templates: the wordings in which a choice is asked, bundled and versioned, or from a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from catsofa.data.digests import DIGITS, hex_digest
from catsofa.data.files import read_text
from catsofa.data.prompt_texts import compiled

if TYPE_CHECKING:
    import jinja2

SENTENCES = ("likelihood", "completion", "agreement", "isolated", "plain")
"""Five wordings for sentences; `isolated` asks yes or no about one sentence, and `plain` addresses nobody."""
QUESTIONS = ("question", "exam")
"""Two wordings for questions."""
PROBES = ("true",)
"""The wording for statements about identities, which asks yes or no."""
WORDS = ("word",)
"""The wording for words of association tests."""
WHICH = ("which",)
"""The wording for which of two identities a predicate fits."""
DECISIONS = ("decision",)
"""The wording for which of two targets gets which of two attributes."""
BUNDLED = (*SENTENCES, *QUESTIONS, *PROBES, *WHICH, *WORDS, *DECISIONS)
COUNTS = {2: ("two", "more"), 3: ("three", "most")}
"""The words for how many sentences there are, and for the degree that one of them stands out."""


@dataclass(frozen=True)
class Template:
    """A Jinja text that asks for a choice: with `options` all at once, with `sentence` yes or no about one of them.

    `about` is what the options answer, such as a question; `other` is what the option gets that is not chosen.
    """

    name: str
    text: str

    @property
    def label(self) -> str:
        """The template in a signature: its name and the hash of its text."""
        return f"{self.name}@{hex_digest(self.text, DIGITS)}"

    @property
    def isolated(self) -> bool:
        """Whether the template asks about one sentence at a time."""
        return self.shows("sentence")

    def shows(self, variable: str) -> bool:
        """Whether the template shows this."""
        from jinja2 import Environment, meta

        return variable in meta.find_undeclared_variables(Environment(autoescape=False).parse(self.text))

    def ask(
        self,
        sentences: Sequence[str],
        context: str,
        labels: Sequence[str],
        answer: str,
        offered: str = "",
        about: str = "",
        other: str = "",
    ) -> str:
        """The prompt about sentences in their order; `offered` is the text of the neutral option, if there is one."""
        count, degree = COUNTS.get(len(sentences), ("one", "more"))
        shown = [*sentences, *([offered] if offered else [])]
        lines = [f"{label}: {text}" for label, text in zip(labels, shown, strict=True)] if labels else shown
        words = {"context": context, "count": count, "degree": degree, "answer": answer}
        words |= {"about": about, "other": other}
        return self._compiled.render(**words, sentence=sentences[0], options="\n".join(lines)).strip()

    @cached_property
    def _compiled(self) -> "jinja2.Template":
        """The text, ready to be filled in."""
        return compiled(self.name, self.text)


def bundled(name: str) -> Template:
    """A bundled template by name."""
    return Template(name, files("catsofa.data").joinpath("prompts", "choices", f"{name}.txt").read_text("utf-8"))


def load(name: str) -> Template:
    """A bundled template by name, or the text of a file; a ValueError for one that shows no sentence."""
    from jinja2 import TemplateError

    if name in BUNDLED:
        template = bundled(name)
    elif Path(name).is_file():
        if Path(name).stem in BUNDLED:
            raise ValueError(f"template {name} has the name of a bundled template; rename the file")
        template = Template(Path(name).stem, read_text(name, "a prompt template"))
    else:
        raise ValueError(f"found no template {name!r}; expected one of {', '.join(BUNDLED)}, or a text file")
    try:
        shown = template.ask(["Glorbs sing.", "Glorbs hum."], "", ["A", "B"], "A or B")
    except TemplateError as error:
        raise ValueError(f"template {name} cannot be filled in: {error}") from None
    if "Glorbs sing." not in shown:
        raise ValueError(f"template {name} shows no sentence; use {{{{ options }}}} or {{{{ sentence }}}} in it")
    return template
