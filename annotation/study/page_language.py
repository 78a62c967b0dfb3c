"""Pages in the language of a study: questions, instructions and buttons from the language's interface.toml."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from html import escape, unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from catsofa.annotation.study.interface import Interface, Line, Question, in_script
from catsofa.data.files import BadInput, toml_files
from catsofa.data.languages import Language, codes, find

EXPECTED = "the texts of pages: [texts] and [pages] (see docs/languages.md)"
NO_TEXTS = '<script type="application/json" id="texts">{}</script>'
"""The place in a page for the translations that its script shows."""
WORDS = (
    "answer",
    "code",
    "date",
    "name",
    "note",
    "number",
    "pay",
    "reward",
    "target",
    "time",
)
"""Placeholders in texts for a few words; the others, except those in FREE, are numbers."""
FREE = ("asked", "basis", "contact", "institution", "protocol", "region")
"""Placeholders for texts of any length by the owner of a study."""
_LIST = re.compile(r'(?<=</option>\n)(?:<option value="[^"]+">[^<]*</option>\n)+')
"""The options of a list after its first one, which is no answer."""
_SHOWN = {"Header": ("value",), "Text": ("value",), "Choices": ("requiredMessage",), "TextArea": ("placeholder",)}


def language_of(named: str) -> Language | None:
    """Returns the language that a study names by its code or folder; None for English and for a language in words."""
    if Path(named).is_absolute() and not Path(named).is_dir():
        raise BadInput(named, "no such folder", "the language folder of the study; put it back there")
    return find(named) if named != "en" and (named in codes() or Path(named).is_dir()) else None


def kept(named: str) -> str:
    """Returns a language as a study stores it: a folder by its whole path, so that it is found from everywhere."""
    return str(Path(named).resolve()) if named not in codes() and Path(named).is_dir() else named


def texts_of(language: Language) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Returns the translations of a language by English text, and its instructions by kind of study."""
    path = language.path("interface.toml", "texts of annotation pages")
    content = _read(path, path.stat().st_mtime_ns)
    return content.get("texts", {}), content.get("pages", {})


@lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> dict[str, Any]:
    """Reads a file of texts once, because a server asks for each page; `changed` is the time of its last change."""
    content: dict[str, Any] = toml_files.read(path, EXPECTED)
    return content


def said(text: str, language: Language, texts: Mapping[str, str]) -> str:
    """Returns a text in the language; a text that only shows a field of the task stays unchanged.

    A text without a translation is an error.
    """
    if not re.search(r"\w\w", re.sub(r"\$\w+", "", text)):
        return text
    if text not in texts:
        raise ValueError(
            f"language {language.code!r} has no text for {text!r}; add it to [texts] of its interface.toml"
        )
    return texts[text]


def title(text: str, named: str) -> str:
    """Returns the title of a kind of study in the language that the study names."""
    language = language_of(named)
    return said(text, language, texts_of(language)[0]) if language else text


def translated(interface: Interface, language: Language) -> Interface:
    """Returns an interface in the language; answers stay in English, so that they can be compared and joined."""
    texts, _ = texts_of(language)
    root = ElementTree.fromstring(interface.xml)
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
    for part in interface.parts:
        if isinstance(part, Line):
            parts.append(replace(part, words=said(part.words, language, texts)))
            continue
        labels = tuple(said(choice, language, texts) for choice in part.choices)
        hints = tuple(said(hint, language, texts) for hint in part.hints)
        placeholder = said(part.placeholder, language, texts)
        parts.append(replace(part, labels=labels, hints=hints, placeholder=placeholder))
    return replace(interface, xml=ElementTree.tostring(root, encoding="unicode"), parts=tuple(parts))


def instructions(name: str, language: Language, values: Mapping[str, str | bool]) -> str:
    """Returns the page that people read before their first task, in the language."""
    from jinja2 import Environment, StrictUndefined

    _, pages = texts_of(language)
    if missing := [page for page in ("instructions", name) if page not in pages]:
        raise ValueError(
            f"language {language.code!r} has no page {missing[0]!r}; add it to [pages] of its interface.toml"
        )
    whole = Environment(undefined=StrictUndefined, autoescape=True).from_string(pages["instructions"])
    return whole.render(**values, task=pages[name])


def page(html: str, language: Language | None, texts: Mapping[str, str]) -> str:
    """Returns a page with translated texts where the language has them, and the translations that its script shows.

    Long lists of answers are in the order of the names that are shown.
    """
    if language is None:
        return _LIST.sub(lambda match: _in_order(match[0], "utf-8"), html)
    html = html.replace('<html lang="en">', f'<html lang="{language.code}">', 1)
    html = html.replace(NO_TEXTS, NO_TEXTS.replace("{}", in_script(dict(texts))), 1)

    def shown(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        before, text, after = re.fullmatch(r"(\s*)(.*?)(\s*)", unescape(match[1]), re.DOTALL).groups()  # type: ignore[union-attr]
        translation = in_language(text, texts)
        return match[0] if translation == text else f">{before}{escape(translation, quote=False)}{after}<"

    html = re.sub(r"<(?:script|style).*?</(?:script|style)>|>([^<>]+)<", shown, html, flags=re.DOTALL)
    return _LIST.sub(lambda match: _in_order(match[0], language.facts.get("collation", "utf-8")), html)


def _in_order(options: str, encoding: str) -> str:
    """Returns options ordered by the bytes of the shown name, without marks.

    Answers that are no names begin with a small letter and come last.
    """

    def key(option: str) -> tuple[bool, bytes]:
        english, shown = re.findall(r'"(.*)">(.*)<', option)[0]
        plain = unicodedata.normalize("NFKD", unescape(shown).casefold())
        return english[0].islower(), re.sub(r"[\u0300-\u036f]", "", plain).encode(encoding, "replace")

    return "".join(sorted(options.splitlines(keepends=True), key=key))


def in_language(sentence: str, texts: Mapping[str, str]) -> str:
    """Returns a sentence in the language of these texts; in English if they lack it.

    Several sentences are joined by semicolons. `{name}` in a text is a placeholder for what differs from page to page;
    the name of a question is translated too.
    """
    if sentence in texts:
        return texts[sentence]
    for english, translated_text in texts.items():
        names = re.findall(r"\{(\w+)\}", english)
        if names and (match := re.fullmatch(_pattern(english), sentence)):
            values = {name: ", ".join(texts.get(part, part) for part in match[name].split(", ")) for name in names}
            return translated_text.format(**values)
    if sentence.endswith(".") and (plain := in_language(sentence[:-1], texts)) != sentence[:-1]:
        return plain + "."
    parts = sentence.split("; ")
    return "; ".join(in_language(part, texts) for part in parts) if len(parts) > 1 else sentence


@cache
def _pattern(text: str) -> str:
    """Returns a text as a pattern; `{name}` matches a number unless it is a placeholder for words."""
    kinds = dict.fromkeys(WORDS, "[^;]{1,80}?") | dict.fromkeys(FREE, "(?s:.+?)")
    return re.sub(r"\\\{(\w+)\\\}", lambda slot: f"(?P<{slot[1]}>{kinds.get(slot[1], '[0-9]+')})", re.escape(text))
