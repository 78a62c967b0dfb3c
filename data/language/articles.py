"""The English indefinite article, a or an, by the pronunciation of the next word; used by builders and lint."""

import re
import unicodedata
from functools import cache
from typing import Literal

from catsofa.data.language.wordlists import wordlist

Article = Literal["a", "an"]

_A: tuple[Article, ...] = ("a",)
_AN: tuple[Article, ...] = ("an",)
_A_OR_AN: tuple[Article, ...] = ("a", "an")
_AN_OR_A: tuple[Article, ...] = ("an", "a")

_OPENERS = "\"'“‘([*`$£€#"
_NUMBER = re.compile(r"\d[\d,]*")
_VOWEL_NAMES = frozenset("AEFHILMNORSX")
"""The letters whose names start with a vowel sound: an F, an X, but a U."""
_LETTERS = re.compile(r"(?P<run>[A-Z]{2,})(?:s|[a-z]{1,3}|\d+)?$|(?P<one>[A-Za-z])(?:\d\w*|[A-Z]{2,})?$")
_ONSET = re.compile(
    r"[AEIOUYB-DGJKP-QTVWZ]|[FHLMNRSX][AEIOUY]|F[JLR][AEIOUY]|L[HL][AEIOUY]|M(?:N[AEIOUY]|C[A-Z]{3})|R[HW][AEIOUY]"
    r"|S(?:C[HLR]?|H[LMNRW]?|K[LR]?|[LMNVWFJRZ]|P[HLR]?|QU?|TR?|CH[LMNRW])[AEIOUY]|X[A-Z]"
)
"""The beginnings, in capitals, of acronyms that are pronounced as words, not letter by letter."""
_YOU = re.compile(
    r"eu(?!ler|$)|ew(?!ok)"
    r"|u[bk](?=iq|r|u[kl]|as|e)|uf(?=o)|ug(?=and)|ul(?=ys)"
    r"|uni(?!(?:n|m(?!od)|d(?!i[rm])|ss|ll|r(?!oy)))|una(?:n[iy]|bom|ry)"
    r"|ur(?=an[iu]|als?$|[ei][a-z]|[ou])|us(?=[aeiu]|s?ual)(?!her)|ut(?=[eio]|ahn?s?$)|uv|uk$|uy|uig"
)
"""Words that start with a vowel letter but with the sound of `you`."""
_WUN = re.compile(r"one(?:s|ness|self|time|sies?)?$|once|oui|oaxac|ouag")
_SILENT = re.compile(r"hour(?!is?$|ani)|heir|honest|honou?r|hors$")
_VOWEL_Y = re.compile(r"y[^aeiouy][a-z]")
"""Words in which y is a vowel: Yvonne, ytterbium."""


def article(words: str) -> Article:
    """The indefinite article of a phrase, by the pronunciation of its first word: an hour, a European, an 8."""
    return articles(words)[0]


@cache
def articles(words: str) -> tuple[Article, ...]:
    """The correct articles before a phrase, the more usual one first; two if people use both."""
    if number := _NUMBER.match(words.lstrip(_OPENERS)):
        return _AN if _number_said_with_vowel(number[0]) else _A
    plain = unicodedata.normalize("NFKD", words.lstrip(_OPENERS).replace("’", "'"))
    first = re.split(r"[\s\-–—/+_]", "".join(c for c in plain if not unicodedata.combining(c)), maxsplit=1)[0]
    first = re.sub(r"'s?$", "", first.rstrip('.,;:!?)]*`"”')).replace("'", "").replace(".", "")
    listed = wordlist("articles.toml")
    for key, which in (("an", _AN), ("a", _A), ("an or a", _AN_OR_A), ("a or an", _A_OR_AN)):
        if first in listed[key] or first.lower() in listed[key]:
            return which
    if not first[:1].isascii() or not first[:1].isalpha():
        return _A_OR_AN
    return _of_letters(first) or _of_sound(first.lower())


def _number_said_with_vowel(number: str) -> bool:
    """Returns whether a number is pronounced eight…, eleven… or eighteen…: 8, 80, 11, 18, 11,000, 1800, but not 110."""
    digits = number.replace(",", "")
    spoken = digits[: 2 if len(digits) == 4 and "," not in number else (len(digits) - 1) % 3 + 1]
    return digits.startswith("8") or spoken in ("11", "18")


def _of_letters(word: str) -> tuple[Article, ...]:
    """The articles of initials and single letters; empty for an ordinary word."""
    match = _LETTERS.match(word)
    initials = (match["one"] or match["run"]).upper() if match else word.upper()
    spelt = _AN if initials[0] in _VOWEL_NAMES else _A
    is_word = len(initials) > 1 and _ONSET.match(initials) is not None
    if match and re.match("Y[^AEIOU]", initials):  # YMCA, YTD: initials are never pronounced like Yvonne
        return _A
    if not match:
        return () if is_word else _AN_OR_A if word.islower() else _A_OR_AN
    spoken = _of_sound(initials.lower())
    if not is_word or spoken == spelt:
        return spelt
    return _A_OR_AN if spoken == _A or (initials[0] == "U" and len(initials) < 5) else _AN_OR_A


def _of_sound(word: str) -> tuple[Article, ...]:
    """The article of an ordinary word in lower case."""
    if word[0] in "aeiou":
        return _A if _YOU.match(word) or _WUN.match(word) else _AN
    if _SILENT.match(word) or _VOWEL_Y.match(word) or re.match(r"x[bcdfgjklmnprstvwz]", word):
        return _AN
    return _A
