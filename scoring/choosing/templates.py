"""Prompt templates of choices: bundled and versioned, or from a file."""

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
"""Five templates for sentences; `isolated` asks yes or no about one sentence, and `plain` addresses nobody."""
QUESTIONS = ("question", "exam")
"""Two templates for questions."""
PROBES = ("true",)
"""Template for statements about identities, which asks yes or no."""
WORDS = ("word",)
"""Template for words of association tests."""
WHICH = ("which",)
"""Template that asks which of two identities a predicate fits."""
DECISIONS = ("decision",)
"""Template that asks which of two targets gets which of two attributes."""
BUNDLED = (*SENTENCES, *QUESTIONS, *PROBES, *WHICH, *WORDS, *DECISIONS)
COUNTS = {2: ("two", "more"), 3: ("three", "most")}
"""Words for the number of sentences, and for the degree that compares them."""


@dataclass(frozen=True)
class Template:
    """A Jinja template of a choice: `options` shows all at once, `sentence` asks yes or no about one of them.

    `about` is what the options answer, such as a question; `other` is what the option that is not chosen gets.
    """

    name: str
    text: str

    @property
    def label(self) -> str:
        """Label in a signature: the template's name and the hash of its text."""
        return f"{self.name}@{hex_digest(self.text, DIGITS)}"

    @property
    def isolated(self) -> bool:
        """True if the template asks about one sentence at a time."""
        return self.shows("sentence")

    def shows(self, variable: str) -> bool:
        """Returns True if the template shows this variable."""
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
        """Returns the prompt about sentences in their order; `offered` is the text of the neutral option, if any."""
        count, degree = COUNTS.get(len(sentences), ("one", "more"))
        shown = [*sentences, *([offered] if offered else [])]
        lines = [f"{label}: {text}" for label, text in zip(labels, shown, strict=True)] if labels else shown
        words = {"context": context, "count": count, "degree": degree, "answer": answer}
        words |= {"about": about, "other": other}
        return self._compiled.render(**words, sentence=sentences[0], options="\n".join(lines)).strip()

    @cached_property
    def _compiled(self) -> "jinja2.Template":
        """Text as a compiled Jinja template."""
        return compiled(self.name, self.text)


def bundled(name: str) -> Template:
    """Returns a bundled template by its name."""
    return Template(name, files("catsofa.data").joinpath("prompts", "choices", f"{name}.txt").read_text("utf-8"))


def load(name: str) -> Template:
    """Returns a bundled template by its name, or one from a text file; raises ValueError if it shows no sentence."""
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
