"""Cleans a statement as people typed it into one line of words."""

import re
import unicodedata

from catsofa.data.language.wordlists import wordlist

_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‛": "'", "`": "'", "´": "'"})
_NUMBER = re.compile(r"^(?:\(?\d{1,3}[.)]\s+|[-*•–]\s+)")
_STOPS = " .!?,;:…。"
_THEY = {"re": "are", "ve": "have", "ll": "will"}
_WORD = re.compile(r"[A-Za-z]+")


def tidy(statement: str) -> str:
    """Returns one line: plain quotes, single spaces, no list number, no outer quotes, no final stop.

    A statement in capitals, all of it or each word, becomes lower case, since a tagger reads capitals as names.
    """
    text = unicodedata.normalize("NFKC", statement.translate(_QUOTES)).replace("...", " ... ")
    text = _NUMBER.sub("", " ".join(text.split()))
    text = re.sub(r"\s+([,.!?;:])", r"\1", text).strip(_STOPS)
    for quote in "\"'":
        if len(text) > 1 and text[0] == text[-1] == quote and text.count(quote) == 2:
            text = text[1:-1].strip(_STOPS)
    if text.count('"') % 2:
        text = text.replace('"', "")
    if text.startswith("'") and not text.startswith("'s ") and text.count("'") == 1:
        text = text[1:]
    text = re.sub(r"(?<=[^s])'$", "", text).strip(_STOPS)
    words = [word for word in _WORD.findall(text) if len(word) > 1]
    if words and (all(w.isupper() for w in words) or (len(words) > 1 and all(w[0].isupper() for w in words))):
        text = text.lower()
    return text


def clean(statement: str) -> str:
    """Returns an English statement made tidy, with its apostrophes restored."""
    text = tidy(statement)
    apostrophes = wordlist("exclusions.toml")["apostrophes"]
    text = re.sub(r"[A-Za-z]+", lambda m: apostrophes.get(m[0].lower(), m[0]), text)
    return re.sub(r"(?i)^(they)'(re|ve|ll)\b", lambda m: f"{m[1]} {_THEY[m[2].lower()]}", text)
