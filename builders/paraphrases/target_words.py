"""Whether a sentence names a target: in its own words, or in a word for the same place and people."""

import re
from functools import cache
from typing import Literal

from catsofa.data.language.wordlists import table, wordlist

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_IRREGULAR = {"men": "man", "women": "woman", "people": "person", "children": "child", "wives": "wife"}


def names_target(sentence: str, target: str, policy: Literal["verbatim", "derived"]) -> bool:
    """Whether the sentence holds the target, in the singular or plural; `derived` takes Ghana for Ghanaian too."""
    said = f" {' '.join(_stems(sentence))} "
    forms = [target] if policy == "verbatim" else [target, *related(target)]
    return any(f" {' '.join(_stems(form))} " in said for form in forms)


def related(target: str) -> tuple[str, ...]:
    """The names of a place and its people, or of a faith, of which one stands in the target: Ghana, Ghanaian."""
    stems = _stems(target)
    parts = {stems[i:j] for i in range(len(stems)) for j in range(i + 1, len(stems) + 1)}
    return tuple(form for part in sorted(parts) for form in _families().get(part, ()))


@cache
def _families() -> dict[tuple[str, ...], tuple[str, ...]]:
    """Names that stand for the same place, people or faith, by the stems of each of them."""
    nations = [
        (row["place"], row["adjective"], row["plural"], *row["also"].split("|")) for row in table("demonyms.csv")
    ]
    families: dict[tuple[str, ...], tuple[str, ...]] = {}
    for names in [*nations, *wordlist("paraphrase_words.toml")["related"]]:
        family = tuple(name for name in names if name)
        for name in family:
            families[_stems(name)] = families.get(_stems(name), ()) + family
    return families


@cache
def _stems(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, without plural and possessive endings."""
    return tuple(map(_stem, _WORD.findall(re.sub(r"['’]s?\b", "", text.lower()))))


def _stem(word: str) -> str:
    """A word without the ending of its plural; the same for both forms, which is all that is asked of it."""
    for plural, singular in _IRREGULAR.items():
        if word == plural or (plural in ("men", "women") and word.endswith(plural)):
            return word.removesuffix(plural) + singular
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith(("ie", "y")):
        return word.removesuffix("ie").removesuffix("y") + "i"
    return word.removesuffix("e") if word.endswith(("che", "she", "xe", "sse", "ze")) else word
