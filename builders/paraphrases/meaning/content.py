"""The content words that a paraphrase has beyond its original."""

from functools import cache

from catsofa.builders.dictionary import CLOSED, other_parts, verb_tags
from catsofa.builders.paraphrases.meaning.targets import phrases, related, same_person
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import compounds

_EMPTY = ("function", "openers", "determiners", "prepositions", "pronouns")
"""Lists of words that have no content."""


def added(sentence: str, context: str, target: str) -> tuple[str, ...]:
    """The new content words of a paraphrase, if it leaves nothing out for them, or two words fewer than it brings.

    Names of the target do not count, nor do light words as new ones; words that share four letters are the same.
    """
    same = same_person(sentence, target)
    names = {name.lower() for name in (target, *related(target), *((same.word,) if same else ()))}
    known = {lemma(part) for name in names for phrase in phrases(name) for part in phrase.split()}
    ours, theirs = (tuple(dict.fromkeys(lemma(word) for word in compounds(text))) for text in (sentence, context))
    kept = [word for word in theirs if word not in known | _words(*_EMPTY)]
    said = [word for word in ours if word not in known | _words() and other_parts(word) != {"ADV"}]
    new = tuple(word for word in said if not any(alike(word, other) for other in kept))
    if not new and _goes_on(compounds(sentence), compounds(context)):
        new = tuple(word for word in compounds(sentence) if word not in compounds(context))
    lost = sum(not any(alike(word, other) for other in ours) for word in kept)
    return new if not lost or len(new) >= lost + 2 else ()


def _goes_on(sentence: tuple[str, ...], context: tuple[str, ...]) -> bool:
    """Whether a sentence has all words of another in their order, three more and a verb among them."""
    rest, more = iter(context), list[str]()
    wanted = next(rest, None)
    for word in sentence:
        if word == wanted:
            wanted = next(rest, None)
        else:
            more.append(word)
    return wanted is None and len(more) >= 3 and any(verb_tags(word) and word not in CLOSED for word in more)


def alike(one: str, other: str) -> bool:
    """Whether two lemmas are one word, or begin alike."""
    return one == other or (len(one) > 3 and len(other) > 3 and one[:4] == other[:4])


@cache
def lemma(word: str) -> str:
    """The first lemma of a word, as a verb if it can be one."""
    from lemminflect import getAllLemmas

    plain = word.removesuffix("'s")
    lemmas = getAllLemmas(plain)
    return next((lemmas[part][0] for part in ("VERB", "NOUN", "ADJ") if lemmas.get(part)), plain)


@cache
def _words(*names: str) -> frozenset[str]:
    """The words of these lists of grammar, or of all."""
    lists = wordlist("meaning.toml")["grammar"]
    return frozenset(["blank", "be", "have", "do", *(word for name in names or lists for word in lists[name])])
