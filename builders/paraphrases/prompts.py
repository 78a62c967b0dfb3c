"""Prompts for paraphrases: a text filled in with a CAT, and the request that is sent and paid for once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catsofa.data.files import read_text
from catsofa.data.language import blanks
from catsofa.data.languages import find
from catsofa.data.prompt_texts import compiled
from catsofa.data.records import Cat, Label, content_id
from catsofa.data.servers.client import Side

if TYPE_CHECKING:
    from jinja2 import Template

BUNDLED = ("default", "paper-004")
"""Bundled prompts. `paper-004` restates the instructions of the StereoSet paraphrase study, for two sentences."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A Jinja template that asks for `count` paraphrases, one per line; every record made with it has its hash."""

    name: str
    text: str
    count: int = 2

    @property
    def hash(self) -> str:
        """Hash of the text and the count, which identifies the prompt independently of its name."""
        return content_id("prompt", self.text, self.count)

    def ask(self, cat: Cat) -> str:
        """Returns the prompt about one CAT, with its slot as [BLANK]; names the target only if the context has it."""
        start, end = blanks.slots(cat.context)[0]
        target = cat.target if cat.target.casefold() in cat.context.casefold() else ""
        return self._template.render(
            context=f"{cat.context[:start]}[BLANK]{cat.context[end:]}",
            target=target,
            count=self.count,
            stereotype=cat["stereotype"].fill,
            anti_stereotype=cat["anti-stereotype"].fill,
            unrelated=cat["unrelated"].fill,
            labels=fillers(cat),
        ).strip()

    @cached_property
    def _template(self) -> "Template":
        """The compiled template. An unknown name in it is an error, and the template can only fill in words."""
        return compiled(self.name, self.text)


def load(name: str, count: int = 2, language: str = "en") -> Prompt:
    """Loads a bundled prompt by name, the default prompt in the language of the CATs, or the text of a file.

    Raises ValueError for an unknown name, for paper-004 with another count than 2, and for a prompt that cannot be
    filled in or does not show the context.
    """
    if name == "default" and language != "en":
        text = read_text(find(language).path("paraphrase.txt", "prompt for paraphrases"), "a prompt")
    elif name in BUNDLED:
        text = files("catsofa.data").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")
    elif Path(name).suffix or Path(name).exists():
        text = read_text(name, "a prompt")
    else:
        raise ValueError(f"no prompt {name!r}; name one of {', '.join(BUNDLED)}, or a text file")
    if name == "paper-004" and count != 2:
        raise ValueError(f"the prompt paper-004 asks for two sentences, not {count}; use the default prompt")
    prompt = Prompt(name=name, text=text, count=count)
    # fill in an invented CAT, so that a misspelt name fails before anything is sent
    from jinja2 import TemplateError

    from catsofa.data.records import Candidate

    def about(context: str) -> Cat:
        return Cat(
            kind="intrasentence", bias_type="x", target="Glorbs", context=context, candidates=(first, second, third)
        )

    labels: tuple[Label, Label, Label] = ("stereotype", "anti-stereotype", "unrelated")
    first, second, third = (Candidate(text=f"Glorbs are {label}.", label=label, fill=label) for label in labels)
    try:
        shows_context = prompt.ask(about("Glorbs are BLANK.")) != prompt.ask(about("BLANK are the Glorbs."))
    except TemplateError as error:
        raise ValueError(f"prompt {prompt.name} cannot be filled in: {error}") from None
    if not shows_context:
        raise ValueError(f"prompt {prompt.name} does not show {{{{ context }}}}, so a model could not know what to do")
    return prompt


def fillers(cat: Cat) -> dict[Label, str]:
    """Returns the words that each candidate puts into the BLANK, by label."""
    return {c.label: c.fill for c in cat.candidates if c.fill}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One prompt for one model. Its key depends on all that shapes the reply, but not on the server's address."""

    item: str
    model: str
    prompt: str
    settings: Mapping[str, Any]
    """Further fields of the request beside model and messages: temperature, seed, token limit."""
    reply_chars: int = 0
    """Approximate length of the reply in characters, for the cost estimate."""

    @property
    def key(self) -> str:
        """Equal for equal questions, so a question with a recorded reply is never paid for again."""
        return content_id("request", self.model, self.prompt, sorted(self.settings.items()))

    @property
    def side(self) -> Side:
        """The part of the server's API that takes prompts: always `chat`."""
        return "chat"

    @property
    def body(self) -> dict[str, Any]:
        """The JSON body of the request."""
        return {"model": self.model, "messages": [{"role": "user", "content": self.prompt}], **self.settings}
