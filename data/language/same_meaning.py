"""Decides whether two short statements mean the same: compares lemmas without fillers, and checks for differences."""

import re
from difflib import SequenceMatcher
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from catsofa.data.language.alarms import in_full, word_alarms
from catsofa.data.language.demonyms import same_group
from catsofa.data.language.opposites import opposed
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import words

SPELT_ALIKE = 0.8
"""Minimum difflib ratio at which an unknown word counts as a misspelling of another word."""
_BE = frozenset({"are", "is", "be", "been", "being", "get", "gets", "getting", "was", "were"})
_JOINS = frozenset({"and", "or"})
_DO = frozenset({"do", "does"})
_CURRENCIES = {"$": "dollars", "£": "pounds", "€": "euros", "¥": "yen"}
_MONEY = re.compile(r"([$£€¥]) ?(\d[\d.,]*)")
_COMPARED = frozenset({"best", "better", "least", "less", "more", "most", "worse", "worst"})
_EASY = re.compile(r" (?:easy|easily|hard|difficult|impossible|able) to ")


class Core(NamedTuple):
    """The normalised meaning of a statement: statements with equal cores mean the same."""

    negated: bool
    content: tuple[str, ...]
    """The lemmas of the content words, in order; sorted if `and` or `or` joins them."""
    claims: frozenset[str]
    """The classes of modals, degrees and tenses in the statement."""


@lru_cache(maxsize=200_000)
def core(text: str, language: str = "en") -> Core:
    """The core of a text; in languages other than English, the words themselves."""
    if language != "en":
        return Core(False, words(text) or tuple(text.split()), frozenset())
    lists, tokens = wordlist("near_duplicates.toml"), plainly(text).split()
    negated = sum(token in lists["negators"] for token in tokens) % 2 == 1
    forms = [
        _form(token, last)
        for last, token, after in zip(_before(tokens), tokens, _verbs(tokens), strict=False)
        if token not in lists["negators"] and token not in lists["fillers"] and not _helps(token, after)
    ]
    content = forms or tokens or text.split()
    if _JOINS & {*tokens}:
        denied = [f"not {word}" for last, word in pairwise(tokens) if last in lists["negators"]]
        return Core(negated, (*_in_any_order(content), *sorted(denied)), _claims(plainly(text)))
    return Core(negated, tuple(content), _claims(plainly(text)))


def _in_any_order(content: list[str]) -> tuple[str, ...]:
    """The sorted words of a text with `and` or `or`, without be; also the joined parts, if each has its own verb."""
    parts = [part.split() for part in re.split(r" (?:and|or) ", " ".join(content))]
    apart = len(parts) > 1 and all(len(part) > 1 and "VERB" in _parts_of_speech(part[0]) for part in parts)
    words = [word for word in content if word != "be"] or content
    return tuple(sorted([*words, *(" ".join(part) for part in parts if apart)]))


def same_claim(one: str, other: str) -> bool:
    """Returns whether two texts differ in no negation, number, modal, name, opposite, role or relation."""
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


def one_word_apart(one: str, other: str) -> bool:
    """Returns whether two texts differ in one word of content alone (tidy, messy)."""
    first, second = core(one).content, core(other).content
    return len(first) == len(second) and sum(a != b for a, b in zip(first, second, strict=True)) == 1


def same_quantity(one: str, other: str) -> bool:
    """Returns whether two texts agree in negation, numbers, quantifiers (of group or time) and hedges."""
    first, second = plainly(one), plainly(other)
    if _numbers(first) != _numbers(second):
        return False
    return not any(alarm.kind in ("negation", "quantifier", "hedge") for alarm in word_alarms(first, second))


def respelt(one: str, other: str) -> bool:
    """Returns whether two texts differ only in spelling: in each differing pair, one word is in no dictionary."""
    first, second = plainly(one).split(), plainly(other).split()
    if first and "".join(first) == "".join(second):
        return True
    if not first or len(first) != len(second):
        return False
    apart = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    return all(_spelt_alike(a, b) and not (_lemmas(a) and _lemmas(b)) for a, b in apart)


@lru_cache(maxsize=200_000)
def plainly(text: str) -> str:
    """A text's words, each between spaces: contractions expanded, numbers as figures, some phrases replaced."""
    lists = wordlist("near_duplicates.toml")
    text = re.sub(r"(?<=\d) ?%", " percent", text.replace("-", ""))
    text = _MONEY.sub(lambda match: f"{match[2]} {_CURRENCIES[match[1]]}", text)
    result = _rewritten().sub(lambda match: lists["rewritten"][match[0] + " "].rstrip(), in_full(text))
    return " ".join(["", *(lists["numbers"].get(word, word) for word in result.split()), ""])


@cache
def _rewritten() -> re.Pattern[str]:
    """A pattern for the phrases to replace; the space after a phrase is left for the next match."""
    phrases = wordlist("near_duplicates.toml")["rewritten"]
    return re.compile("|".join(f"{re.escape(phrase.rstrip())}(?= )" for phrase in phrases))


def _before(tokens: list[str]) -> list[str]:
    """The token before each token; after `and` or `or`, the token before the first joined word."""
    previous = ["", *tokens[:-1]]
    for place, token in enumerate(tokens[:-1]):
        if place and token in _JOINS:
            previous[place + 1] = previous[place - 1]
    return previous


def _verbs(tokens: list[str]) -> list[str]:
    """For each token, the next token that is not an adverb of frequency."""
    frequency = wordlist("meaning.toml")["quantifiers"]
    skipped = {*frequency["all"], *frequency["often"], *frequency["some"]}
    return [next((token for token in tokens[place + 1 :] if token not in skipped), "") for place in range(len(tokens))]


def _helps(token: str, after: str) -> bool:
    """Returns whether a form of be or do is only an auxiliary of the next verb (do not sing, are singing)."""
    return token in _DO if after == "not" else token in _BE and after.endswith("ing")


def _form(word: str, before: str) -> str:
    """The shortest lemma of a word; a participle after be stays unchanged (feared is not fear)."""
    lemmas = _lemmas(word)
    compared = word.endswith("er") or (word.endswith("est") and before == "the") or word in _COMPARED
    if not lemmas or compared or (before in _BE and _is_participle(word)):
        return word
    return min(lemmas, key=lambda lemma: (len(lemma), lemma))


@lru_cache(maxsize=100_000)
def _lemmas(word: str) -> frozenset[str]:
    """The lemmas of a word; empty for a word that the dictionary lacks."""
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
    """Returns whether a word is a past form of a verb, by its ending and the dictionary."""
    from lemminflect import getAllLemmas

    verbs = getAllLemmas(word, upos="VERB").get("VERB", ())
    return bool(verbs) and word not in verbs and not word.endswith(("ing", "s"))


def _claims(spoken: str) -> frozenset[str]:
    """The classes of modals, degrees and tenses whose words occur in a text."""
    classes = set()
    for name, modals in wordlist("near_duplicates.toml")["modals"].items():
        if any(f" {word} " in spoken for word in modals):
            classes.add(name)
    return frozenset(classes)


def _numbers(spoken: str) -> list[str]:
    """The figures in a text, sorted."""
    return sorted(re.findall(r"\d+", spoken))


def _denied(ours: set[str], theirs: set[str]) -> bool:
    """Returns whether one text has a word of the other text with a negative prefix (honest, dishonest)."""
    prefixes = wordlist("meaning.toml")["prefixes"]
    return any(
        prefix + word in own for own, other in ((ours, theirs), (theirs, ours)) for word in other for prefix in prefixes
    )


def _adds(one: Core, other: Core) -> bool:
    """Returns whether the content of one core strictly includes the content of the other (with salt)."""
    return set(one.content) > set(other.content)


def _opposed(ours: set[str], theirs: set[str]) -> bool:
    """Returns whether a word of one text is the opposite of a word of the other, by WordNet or the list."""
    pairs = wordlist("near_duplicates.toml")["opposites"]["pairs"]
    return any((a in ours and b in theirs) or (b in ours and a in theirs) for a, b in pairs) or bool(
        opposed(ours, theirs)
    )


def _other_names(ours: set[str], theirs: set[str]) -> bool:
    """Returns whether only one text has a name: a word that no dictionary has, or the name of a people."""
    for own, other_words in ((ours, theirs), (theirs, ours)):
        for word in own:
            people = same_group(word)
            if len(people) > 1 and not set(people) & other_words:
                return True
            if (
                word.isalpha()
                and word not in _function()
                and not _lemmas(word)
                and not any(_spelt_alike(word, other) for other in other_words)
            ):
                return True
    return False


@cache
def _function() -> frozenset[str]:
    """Function words, which the dictionary lacks."""
    lists = wordlist("meaning.toml")["grammar"]
    sections = ("portions", "determiners", "openers", "between", "prepositions", "pronouns", "function")
    return frozenset(word for name in sections for word in lists[name]).union(
        *wordlist("near_duplicates.toml")["modals"].values()
    )


def _spelt_alike(one: str, other: str) -> bool:
    """Returns whether two words share most of their letters in order."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= SPELT_ALIKE


def _relates_otherwise(ours: set[str], theirs: set[str]) -> bool:
    """Returns whether prepositions differ (steal from, steal for), or only one text has a first or second person."""
    lists = wordlist("near_duplicates.toml")["relations"]
    verbs = {"like", "given", "compared", "following", "according", "regarding", "concerning"}
    prepositions = {
        *wordlist("meaning.toml")["grammar"]["prepositions"],
        *(word for row in lists["rows"] for word in row),
    } - verbs
    for own, other_words in ((ours, theirs), (theirs, ours)):
        for word in own & prepositions:
            near = {word, *(one for row in lists["rows"] if word in row for one in row)}
            if not near & other_words and (word not in lists["alone"] or prepositions & other_words):
                return True
    return any(bool(ours & {*row}) != bool(theirs & {*row}) for row in lists["persons"])


def _other_order(one: list[str], other: list[str]) -> bool:
    """Returns whether the same words have another order; parts may swap, and adverbs may move (every day drink tea)."""
    one, other = ([word for word in words if not _is_adverb(word)] for words in (one, other))
    turns = (other[start:] + other[:start] for start in range(len(other)))
    joined = _JOINS & {*one} and not {"than", "but", "while"} & {*one}
    joined = joined and core(" ".join(one)).content == core(" ".join(other)).content
    return sorted(one) == sorted(other) and one != other and not joined and one not in turns


@lru_cache(maxsize=100_000)
def _is_adverb(word: str) -> bool:
    """Returns whether a word is only an adverb in the dictionary."""
    return word == "only" or (word not in _function() and _parts_of_speech(word) == {"ADV"})


def _other_roles(first: str, second: str) -> bool:
    """Returns whether a verb is active in one text and passive in the other (chase, are chased)."""
    one, other = first.split(), second.split()
    return any(
        _suffered(a) & (_done(b) - _suffered(b)) and not _EASY.search(f"{first}{second}")
        for a, b in ((one, other), (other, one))
    )


def _suffered(tokens: list[str]) -> set[str]:
    """The lemmas of the participles after be."""
    pairs = zip(_before(tokens), tokens, strict=False)
    return {lemma for before, word in pairs if before in _BE and _is_participle(word) for lemma in _lemmas(word)}


def _done(tokens: list[str]) -> set[str]:
    """The lemmas of all words."""
    return {lemma for word in tokens for lemma in _lemmas(word)}
