"""Pages in the language of a study: questions, instructions and buttons by the interface.toml of the language."""

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
from catsofa.data.files import toml_files
from catsofa.data.languages import Language, codes, find

EXPECTED = "the texts of pages: [texts] and [pages] (see docs/languages.md)"
NO_TEXTS = '<script type="application/json" id="texts">{}</script>'
"""Where a page keeps the translations that its script shows."""
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
"""Slots of texts that stand for a few words; the others are numbers."""
FREE = ("asked", "basis", "contact", "institution", "protocol", "region")
"""Slots for what the owner of a study wrote, of any length."""
_LIST = re.compile(r'(?<=</option>\n)(?:<option value="[^"]+">[^<]*</option>\n)+')
"""The options of a list behind its first one, which is no answer."""
_SHOWN = {"Header": ("value",), "Text": ("value",), "Choices": ("requiredMessage",), "TextArea": ("placeholder",)}


def language_of(named: str) -> Language | None:
    """The language that a study names by its code or folder; None for English and for a language in words."""
    return find(named) if named != "en" and (named in codes() or Path(named).is_dir()) else None


def texts_of(language: Language) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The translations of a language by the English text, and its instructions by the kind of study."""
    path = language.path("interface.toml", "texts of annotation pages")
    found = _read(path, path.stat().st_mtime_ns)
    return found.get("texts", {}), found.get("pages", {})


@lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> dict[str, Any]:
    """A file of texts, read once; a server asks for each page. `changed` is the time of its last change."""
    found: dict[str, Any] = toml_files.read(path, EXPECTED)
    return found


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


def instructions(name: str, language: Language, told: Mapping[str, str | bool]) -> str:
    """What people read before their first task, in the language."""
    from jinja2 import Environment, StrictUndefined

    _, pages = texts_of(language)
    if missing := [page for page in ("instructions", name) if page not in pages]:
        raise ValueError(
            f"language {language.code!r} has no page {missing[0]!r}; add it to [pages] of its interface.toml"
        )
    whole = Environment(undefined=StrictUndefined, autoescape=True).from_string(pages["instructions"])
    return whole.render(**told, task=pages[name])


def page(html: str, language: Language | None, texts: Mapping[str, str]) -> str:
    """A page with these texts of the language, where it has them, and those that its script shows.

    Long lists of answers are in the order of the names that are shown.
    """
    if language is None:
        return _LIST.sub(lambda found: _in_order(found[0], "utf-8"), html)
    html = html.replace('<html lang="en">', f'<html lang="{language.code}">', 1)
    html = html.replace(NO_TEXTS, NO_TEXTS.replace("{}", in_script(dict(texts))), 1)

    def shown(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        before, text, after = re.fullmatch(r"(\s*)(.*?)(\s*)", unescape(found[1]), re.DOTALL).groups()  # type: ignore[union-attr]
        told = in_language(text, texts)
        return found[0] if told == text else f">{before}{escape(told, quote=False)}{after}<"

    html = re.sub(r"<(?:script|style).*?</(?:script|style)>|>([^<>]+)<", shown, html, flags=re.DOTALL)
    return _LIST.sub(lambda found: _in_order(found[0], language.facts.get("collation", "utf-8")), html)


def _in_order(options: str, encoding: str) -> str:
    """Options by the bytes of the name that is shown, without marks; answers that are no names (small letter) last."""

    def key(option: str) -> tuple[bool, bytes]:
        english, shown = re.findall(r'"(.*)">(.*)<', option)[0]
        plain = unicodedata.normalize("NFKD", unescape(shown).casefold())
        return english[0].islower(), re.sub(r"[\u0300-\u036f]", "", plain).encode(encoding, "replace")

    return "".join(sorted(options.splitlines(keepends=True), key=key))


def in_language(sentence: str, texts: Mapping[str, str]) -> str:
    """A sentence in the language of these texts; English where they lack it. Several are joined by semicolons.

    `{name}` in a text stands for what differs from page to page; a name of a question is said in the language too.
    """
    if sentence in texts:
        return texts[sentence]
    for english, translated_text in texts.items():
        names = re.findall(r"\{(\w+)\}", english)
        if names and (found := re.fullmatch(_pattern(english), sentence)):
            told = {name: ", ".join(texts.get(part, part) for part in found[name].split(", ")) for name in names}
            return translated_text.format(**told)
    if sentence.endswith(".") and (plain := in_language(sentence[:-1], texts)) != sentence[:-1]:
        return plain + "."
    parts = sentence.split("; ")
    return "; ".join(in_language(part, texts) for part in parts) if len(parts) > 1 else sentence


@cache
def _pattern(text: str) -> str:
    """A text as a pattern: `{name}` is a number where it stands for no words."""
    kinds = dict.fromkeys(WORDS, "[^;]{1,80}?") | dict.fromkeys(FREE, "(?s:.+?)")
    return re.sub(r"\\\{(\w+)\\\}", lambda slot: f"(?P<{slot[1]}>{kinds.get(slot[1], '[0-9]+')})", re.escape(text))
