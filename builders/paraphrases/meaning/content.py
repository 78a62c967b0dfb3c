"""Finds the content words that a paraphrase adds to its original."""

from functools import cache

from catsofa.builders.dictionary import CLOSED, other_parts, verb_tags
from catsofa.builders.paraphrases.meaning.targets import phrases, related, same_person
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import compounds

_EMPTY = ("function", "openers", "determiners", "prepositions", "pronouns")
"""Names of the lists of words without content."""


def added(sentence: str, context: str, target: str) -> tuple[str, ...]:
    """Returns the new content words of a paraphrase; empty if the paraphrase replaces words of its original.

    The new words count if the paraphrase drops no content word, or brings at least two more than it drops. Names of the
    target do not count. Light words do not count as new. Words that share their first four letters are equal. Without a
    new content word, a sentence that continues its original adds all its further words.
    """
    same = same_person(sentence, target)
    names = {name.lower() for name in (target, *related(target), *((same.word,) if same else ()))}
    target_words = {lemma(part) for name in names for phrase in phrases(name) for part in phrase.split()}
    ours, theirs = (tuple(dict.fromkeys(lemma(word) for word in compounds(text))) for text in (sentence, context))
    content = [word for word in theirs if word not in target_words | _words(*_EMPTY)]
    candidates = [word for word in ours if word not in target_words | _words() and other_parts(word) != {"ADV"}]
    new = tuple(word for word in candidates if not any(alike(word, other) for other in content))
    if not new and _goes_on(compounds(sentence), compounds(context)):
        new = tuple(word for word in compounds(sentence) if word not in compounds(context))
    lost = sum(not any(alike(word, other) for other in ours) for word in content)
    return new if not lost or len(new) >= lost + 2 else ()


def _goes_on(sentence: tuple[str, ...], context: tuple[str, ...]) -> bool:
    """Returns True if a sentence has all words of another in order, and at least three more with a verb among them."""
    rest, more = iter(context), list[str]()
    wanted = next(rest, None)
    for word in sentence:
        if word == wanted:
            wanted = next(rest, None)
        else:
            more.append(word)
    return wanted is None and len(more) >= 3 and any(verb_tags(word) and word not in CLOSED for word in more)


def alike(one: str, other: str) -> bool:
    """Returns True if two lemmas are equal or share their first four letters."""
    return one == other or (len(one) > 3 and len(other) > 3 and one[:4] == other[:4])


@cache
def lemma(word: str) -> str:
    """Returns the first lemma of a word: as a verb if possible, else as a noun, else as an adjective."""
    from lemminflect import getAllLemmas

    plain = word.removesuffix("'s")
    lemmas = getAllLemmas(plain)
    return next((lemmas[part][0] for part in ("VERB", "NOUN", "ADJ") if lemmas.get(part)), plain)


@cache
def _words(*names: str) -> frozenset[str]:
    """Returns the words of the named grammar lists, or of all lists if no name is given."""
    lists = wordlist("meaning.toml")["grammar"]
    return frozenset(["blank", "be", "have", "do", *(word for name in names or lists for word in lists[name])])
