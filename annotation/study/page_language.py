"""Pages in the language of a study: questions, instructions and buttons by the interface.toml of the language."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from catsofa.annotation.study.interface import Interface, Line, Question
from catsofa.data.files import toml_files
from catsofa.data.languages import Language, codes, find

EXPECTED = "the texts of pages: [texts] and [pages] (see docs/languages.md)"
_SHOWN = {"Header": ("value",), "Text": ("value",), "Choices": ("requiredMessage",), "TextArea": ("placeholder",)}


def language_of(named: str) -> Language | None:
    """The language that a study names by its code or folder; None for English and for a language in words."""
    return find(named) if named != "en" and (named in codes() or Path(named).is_dir()) else None


def texts_of(language: Language) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The translations of a language by the English text, and its instructions by the kind of study."""
    path = language.path("interface.toml", "texts of annotation pages")
    found: dict[str, Any] = toml_files.read(path, EXPECTED)
    return found.get("texts", {}), found.get("pages", {})


def said(text: str, language: Language, texts: Mapping[str, str]) -> str:
    """A text in the language; one that only shows a field of the task stays, one without a translation is an error."""
    if not re.search(r"\w\w", re.sub(r"\$\w+", "", text)):
        return text
    if text not in texts:
        raise ValueError(
            f"language {language.code!r} has no text for {text!r}; add it to [texts] of its interface.toml"
        )
    return texts[text]


def title(text: str, named: str) -> str:
    """The title of a kind of study in the language that the study names."""
    language = language_of(named)
    return said(text, language, texts_of(language)[0]) if language else text


def translated(asked: Interface, language: Language) -> Interface:
    """An interface in the language; the answers stay in English, so that they can be compared and joined."""
    texts, _ = texts_of(language)
    root = ElementTree.fromstring(asked.xml)
    for element in root.iter():
        for name in _SHOWN.get(element.tag, ()):
            if name in element.attrib:
                element.set(name, said(element.attrib[name], language, texts))
        if element.tag == "Choice":
            element.set("alias", element.attrib["value"])
            element.set("value", said(element.attrib["value"], language, texts))
            if hint := element.get("hint"):
                element.set("hint", said(hint, language, texts))
    parts: list[Line | Question] = []
    for part in asked.parts:
        if isinstance(part, Line):
            parts.append(replace(part, words=said(part.words, language, texts)))
            continue
        labels = tuple(said(choice, language, texts) for choice in part.choices)
        hints = tuple(said(hint, language, texts) for hint in part.hints)
        placeholder = said(part.placeholder, language, texts)
        parts.append(replace(part, labels=labels, hints=hints, placeholder=placeholder))
    return replace(asked, xml=ElementTree.tostring(root, encoding="unicode"), parts=tuple(parts))


def instructions(name: str, language: Language, told: Mapping[str, str]) -> str:
    """What people read before their first task, in the language."""
    from jinja2 import Environment, StrictUndefined

    _, pages = texts_of(language)
    if missing := [page for page in ("instructions", name) if page not in pages]:
        raise ValueError(
            f"language {language.code!r} has no page {missing[0]!r}; add it to [pages] of its interface.toml"
        )
    whole = Environment(undefined=StrictUndefined, autoescape=True).from_string(pages["instructions"])
    return whole.render(**told, task=pages[name])


def page(html: str, language: Language | None) -> str:
    """A page with the buttons and headings of the language, where it has them."""
    if language is None:
        return html
    texts, _ = texts_of(language)
    html = html.replace('<html lang="en">', f'<html lang="{language.code}">', 1)
    return re.sub(r">([^<>{}]+)<", lambda found: f">{texts.get(found[1].strip(), found[1])}<", html)
