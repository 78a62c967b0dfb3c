"""Whether two short statements say the same: by their words without endings and fillers, and what forbids it."""

import re
from difflib import SequenceMatcher
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from catsofa.data.language.alarms import in_full, word_alarms
from catsofa.data.language.demonyms import same_group
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import words

SPELT_ALIKE = 0.8
"""Likeness (difflib) from which on a word that no dictionary has is another one misspelt."""
_BE = frozenset({"are", "is", "be", "been", "being", "get", "gets", "getting", "was", "were"})
_JOINS = frozenset({"and", "or"})
_DO = frozenset({"do", "does"})
_CURRENCIES = {"$": "dollars", "£": "pounds", "€": "euros", "¥": "yen"}
_MONEY = re.compile(r"([$£€¥]) ?(\d[\d.,]*)")
_COMPARED = frozenset({"best", "better", "least", "less", "more", "most", "worse", "worst"})
_EASY = re.compile(r" (?:easy|easily|hard|difficult|impossible|able) to ")


class Core(NamedTuple):
    """What a statement says: equal cores are one meaning."""

    negated: bool
    content: tuple[str, ...]
    """The words that count without their endings, in order; sorted where `and` or `or` joins them."""
    claims: frozenset[str]
    """Classes of modals, degrees and tenses."""


@lru_cache(maxsize=200_000)
def core(text: str, language: str = "en") -> Core:
    """What a text says by its words; outside of English, its words themselves."""
    if language != "en":
        return Core(False, words(text) or tuple(text.split()), frozenset())
    lists, tokens = wordlist("near_duplicates.toml"), plainly(text).split()
    negated = sum(token in lists["negators"] for token in tokens) % 2 == 1
    said = [
        _form(token, last)
        for last, token, after in zip(_before(tokens), tokens, _verbs(tokens), strict=False)
        if token not in lists["negators"] and token not in lists["fillers"] and not _helps(token, after)
    ]
    content = said or tokens or text.split()
    if _JOINS & {*tokens}:
        denied = [f"not {word}" for last, word in pairwise(tokens) if last in lists["negators"]]
        return Core(negated, (*_in_any_order(content), *sorted(denied)), _claims(plainly(text)))
    return Core(negated, tuple(content), _claims(plainly(text)))


def _in_any_order(content: list[str]) -> tuple[str, ...]:
    """The sorted words of what `and` or `or` joins, without be; where each part has its own verb, the parts too."""
    parts = [part.split() for part in re.split(r" (?:and|or) ", " ".join(content))]
    apart = len(parts) > 1 and all(len(part) > 1 and "VERB" in _parts_of_speech(part[0]) for part in parts)
    words = [word for word in content if word != "be"] or content
    return tuple(sorted([*words, *(" ".join(part) for part in parts if apart)]))


def same_claim(one: str, other: str) -> bool:
    """Whether nothing forbids that two texts mean the same: negation, number, modal, name, opposite, role, relation."""
    first, second = plainly(one), plainly(other)
    apart = [set(first.split()) - set(second.split()), set(second.split()) - set(first.split())]
    if (core(one).negated != core(other).negated) != _denied(*apart):
        return False
    if _claims(first) != _claims(second) or not same_quantity(one, other):
        return False
    if _adds(core(one), core(other)) or _adds(core(other), core(one)):
        return False
    if _relates_otherwise(*apart) or _opposed(*apart) or _other_names(*apart):
        return False
    return not (_other_order(first.split(), second.split()) or _other_roles(first, second))


def same_quantity(one: str, other: str) -> bool:
    """Whether two texts agree in negation, in numbers and in how much of the group or of the time they speak of."""
    first, second = plainly(one), plainly(other)
    if _numbers(first) != _numbers(second):
        return False
    return not any(alarm.kind in ("negation", "quantifier", "hedge") for alarm in word_alarms(first, second))


def respelt(one: str, other: str) -> bool:
    """Whether two texts differ in the spelling of words alone: one of each two is in no dictionary."""
    first, second = plainly(one).split(), plainly(other).split()
    if first and "".join(first) == "".join(second):
        return True
    if not first or len(first) != len(second):
        return False
    apart = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    return all(_spelt_alike(a, b) and not (_lemmas(a) and _lemmas(b)) for a, b in apart)


@lru_cache(maxsize=200_000)
def plainly(text: str) -> str:
    """A text's words between blanks: contractions in full, numbers as figures, some phrases by another one."""
    lists = wordlist("near_duplicates.toml")
    text = re.sub(r"(?<=\d) ?%", " percent", text.replace("-", ""))
    text = _MONEY.sub(lambda found: f"{found[2]} {_CURRENCIES[found[1]]}", text)
    said = _rewritten().sub(lambda found: lists["rewritten"][found[0] + " "].rstrip(), in_full(text))
    return " ".join(["", *(lists["numbers"].get(word, word) for word in said.split()), ""])


@cache
def _rewritten() -> re.Pattern[str]:
    """The phrases that stand for another one; the blank behind them is left for the next."""
    phrases = wordlist("near_duplicates.toml")["rewritten"]
    return re.compile("|".join(f"{re.escape(phrase.rstrip())}(?= )" for phrase in phrases))


def _before(tokens: list[str]) -> list[str]:
    """The token before each; behind `and` or `or`, the one before the word that these join it to."""
    found = ["", *tokens[:-1]]
    for at, token in enumerate(tokens[:-1]):
        if at and token in _JOINS:
            found[at + 1] = found[at - 1]
    return found


def _verbs(tokens: list[str]) -> list[str]:
    """For each token the next one that is no adverb of frequency."""
    frequency = wordlist("meaning.toml")["quantifiers"]
    skipped = {*frequency["all"], *frequency["often"], *frequency["some"]}
    return [next((token for token in tokens[at + 1 :] if token not in skipped), "") for at in range(len(tokens))]


def _helps(token: str, after: str) -> bool:
    """Whether a form of be or do only helps the verb behind it (do not sing, are singing)."""
    return token in _DO if after == "not" else token in _BE and after.endswith("ing")


def _form(word: str, before: str) -> str:
    """The shortest dictionary form of a word; a participle behind be stays (feared is not fear)."""
    lemmas = _lemmas(word)
    compared = word.endswith("er") or (word.endswith("est") and before == "the") or word in _COMPARED
    if not lemmas or compared or (before in _BE and _is_participle(word)):
        return word
    return min(lemmas, key=lambda lemma: (len(lemma), lemma))


@lru_cache(maxsize=100_000)
def _lemmas(word: str) -> frozenset[str]:
    """The dictionary forms of a word, none for one that the dictionary lacks."""
    from lemminflect import getAllLemmas

    return frozenset(
        lemma.lower() for tag, lemmas in getAllLemmas(word).items() if tag != "ADV" for lemma in lemmas
    ) or (frozenset({word}) if getAllLemmas(word) else frozenset())


@lru_cache(maxsize=100_000)
def _parts_of_speech(word: str) -> frozenset[str]:
    """The parts of speech that the dictionary has for a word."""
    from lemminflect import getAllLemmas

    return frozenset(getAllLemmas(word))


@lru_cache(maxsize=100_000)
def _is_participle(word: str) -> bool:
    """Whether a word is a past form of a verb, by its ending and the dictionary."""
    from lemminflect import getAllLemmas

    verbs = getAllLemmas(word, upos="VERB").get("VERB", ())
    return bool(verbs) and word not in verbs and not word.endswith(("ing", "s"))


def _claims(spoken: str) -> frozenset[str]:
    """The classes of modals, degrees and tenses that a text has words of."""
    found = set()
    for name, modals in wordlist("near_duplicates.toml")["modals"].items():
        if any(f" {word} " in spoken for word in modals):
            found.add(name)
    return frozenset(found)


def _numbers(spoken: str) -> list[str]:
    """The figures in a text."""
    return sorted(re.findall(r"\d+", spoken))


def _denied(ours: set[str], theirs: set[str]) -> bool:
    """Whether a prefix denies a word of the other text (honest, dishonest)."""
    prefixes = wordlist("meaning.toml")["prefixes"]
    return any(
        prefix + word in own for own, other in ((ours, theirs), (theirs, ours)) for word in other for prefix in prefixes
    )


def _adds(one: Core, other: Core) -> bool:
    """Whether one says all that the other says, and more (with salt)."""
    return set(one.content) > set(other.content)


def _opposed(ours: set[str], theirs: set[str]) -> bool:
    """Whether a word of one text is the opposite of one of the other."""
    pairs = wordlist("near_duplicates.toml")["opposites"]["pairs"]
    return any((a in ours and b in theirs) or (b in ours and a in theirs) for a, b in pairs)


def _other_names(ours: set[str], theirs: set[str]) -> bool:
    """Whether a name stands in one text alone: a word that no dictionary has, or the name of a people."""
    for own, others in ((ours, theirs), (theirs, ours)):
        for word in own:
            people = same_group(word)
            if len(people) > 1 and not set(people) & others:
                return True
            if (
                word.isalpha()
                and word not in _function()
                and not _lemmas(word)
                and not any(_spelt_alike(word, other) for other in others)
            ):
                return True
    return False


@cache
def _function() -> frozenset[str]:
    """Words of grammar, which the dictionary lacks."""
    lists = wordlist("meaning.toml")["grammar"]
    kept = ("portions", "determiners", "openers", "between", "prepositions", "pronouns", "function")
    return frozenset(word for name in kept for word in lists[name]).union(
        *wordlist("near_duplicates.toml")["modals"].values()
    )


def _spelt_alike(one: str, other: str) -> bool:
    """Whether two words share most of their letters, in order."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= SPELT_ALIKE


def _relates_otherwise(ours: set[str], theirs: set[str]) -> bool:
    """Whether other words put things in relation (steal from, steal for), or one text alone speaks of us or to you."""
    lists = wordlist("near_duplicates.toml")["relations"]
    verbs = {"like", "given", "compared", "following", "according", "regarding", "concerning"}
    known = {
        *wordlist("meaning.toml")["grammar"]["prepositions"],
        *(word for row in lists["rows"] for word in row),
    } - verbs
    for own, others in ((ours, theirs), (theirs, ours)):
        for word in own & known:
            near = {word, *(one for row in lists["rows"] if word in row for one in row)}
            if not near & others and (word not in lists["alone"] or known & others):
                return True
    return any(bool(ours & {*row}) != bool(theirs & {*row}) for row in lists["persons"])


def _other_order(one: list[str], other: list[str]) -> bool:
    """Whether the same words come in another order; parts may change places, and adverbs move (every day drink tea)."""
    one, other = ([word for word in words if not _is_adverb(word)] for words in (one, other))
    turns = (other[at:] + other[:at] for at in range(len(other)))
    joined = _JOINS & {*one} and not {"than", "but", "while"} & {*one}
    joined = joined and core(" ".join(one)).content == core(" ".join(other)).content
    return sorted(one) == sorted(other) and one != other and not joined and one not in turns


@lru_cache(maxsize=100_000)
def _is_adverb(word: str) -> bool:
    """Whether a word is only an adverb in the dictionary."""
    return word == "only" or (word not in _function() and _parts_of_speech(word) == {"ADV"})


def _other_roles(first: str, second: str) -> bool:
    """Whether one text does what is done in the other (chase, are chased)."""
    one, other = first.split(), second.split()
    return any(
        _suffered(a) & (_done(b) - _suffered(b)) and not _EASY.search(f"{first}{second}")
        for a, b in ((one, other), (other, one))
    )


def _suffered(tokens: list[str]) -> set[str]:
    """The verbs behind be, in their dictionary form."""
    pairs = zip(_before(tokens), tokens, strict=False)
    return {lemma for before, word in pairs if before in _BE and _is_participle(word) for lemma in _lemmas(word)}


def _done(tokens: list[str]) -> set[str]:
    """All words in their dictionary form."""
    return {lemma for word in tokens for lemma in _lemmas(word)}
