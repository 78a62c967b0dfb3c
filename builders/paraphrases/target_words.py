"""Whether a sentence names a target: in its own words, or in a word for the same place and people."""

from functools import cache
from typing import Literal

from catsofa.data.language.demonyms import nations
from catsofa.data.language.inflection import mentions
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import compounds


def names_target(sentence: str, target: str, policy: Literal["verbatim", "derived"]) -> bool:
    """Whether the sentence holds the target, in the singular or plural; `derived` takes Ghana for Ghanaian too."""
    forms = [target] if policy == "verbatim" else [target, *_related(target)]
    return any(mentions(sentence, form, compounds) for form in forms)


@cache
def _related(target: str) -> tuple[str, ...]:
    """The names of each place and its people, or of a faith, one of which is in the target: Ghana, Ghanaian."""
    families = [*(row.names for row in nations()), *wordlist("paraphrase_words.toml")["related"]]
    return tuple(
        name for family in families if any(mentions(target, form, compounds) for form in family) for name in family
    )
