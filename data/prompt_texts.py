"""Jinja templates of prompts, sandboxed so that they only fill in words, and reply phrases in other languages."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catsofa.data.files import toml_files

if TYPE_CHECKING:
    from jinja2 import Template


def compiled(name: str, text: str) -> "Template":
    """The text of a prompt as a template; an unknown name is an error when the template is rendered."""
    from jinja2 import StrictUndefined, TemplateSyntaxError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    try:
        return environment.from_string(text)
    except TemplateSyntaxError as error:
        raise ValueError(f"prompt {name} is no Jinja template: {error.message} (line {error.lineno})") from None


def any_of(kind: str) -> str:
    """A regex alternation of the phrases of one kind in all languages of `prompts/languages.toml`, longest first."""
    phrases = {phrase for language in _languages().values() for phrase in language[kind]}
    return "|".join(sorted(phrases, key=lambda phrase: (-len(phrase), phrase)))


@cache
def _languages() -> dict[str, Any]:
    """The table of each language."""
    return toml_files.read(Path(str(files("catsofa.data").joinpath("prompts", "languages.toml"))), "phrases")
