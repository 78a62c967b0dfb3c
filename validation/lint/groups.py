"""Lint of groups: L9 names as proxies, L10 incomparable groups, L11 offensive words, L23 parts of a probe."""

import re
from collections.abc import Iterator
from functools import cache

from catsofa.data.language.demonyms import nations, same_group
from catsofa.data.language.inflection import mentions
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import words
from catsofa.data.languages.texts import ENGLISH, groups, known, language_of, spaced, tokens
from catsofa.data.percentages import quantity
from catsofa.data.records import Cat, Pair, Probe, Stereotype
from catsofa.validation.lint.contrast import changes
from catsofa.validation.lint.rule import Corpus, Found, Given, Rule
from catsofa.validation.lint.wording import texts

PLACE, NATIONALITY, ORIGIN = "a place", "nationality", "origin"
NO_PRESENT = ("past_tense", "gerund_only", "participle_only", "future_or_conditional")
"""Readings of a first word that is not a present verb, in languages with rules for readings."""

_GERUND = re.compile(
    r"(?!(?:bring|sing|ring|cling|sting|swing|fling|spring|string|wring|sling|king|ping|ding)\b)\w+ing\b"
)
_BASE_ED = re.compile(
    r"(?:need|feed|breed|bleed|speed|heed|seed|weed|shed|wed|embed|bed|(?:pro|ex|suc|re)ceed|concede)\b"
)
_PARTICIPLE = re.compile(
    r"(?:\w+ed|born|known|seen|taken|given|shown|done|gone|broken|chosen|driven|hidden|beaten|forgotten|stolen|raised"
    r"|written|spoken|thrown|grown|been)\b"
)
_NOT_PLURALS = frozenset({"deafs", "blinds", "disableds", "elderlies", "mutes", "autistics", "youngs", "olds", "poors"})


@cache
def kinds() -> dict[str, frozenset[str]]:
    """Maps each known term to the kinds that it names: kinds of people, or kinds of things."""
    lists = wordlist("kinds.toml")
    by_term: dict[str, set[str]] = {}
    for nation in nations():
        place, *people = nation.names
        by_term.setdefault(place.lower(), set()).add(PLACE)
        for name in people:
            by_term.setdefault(name.lower(), set()).add(NATIONALITY)
    for kind, terms in [*lists["people"].items(), *lists["things"].items()]:
        for term in terms:
            by_term.setdefault(term, set()).add(kind)
    return {term: frozenset(its) for term, its in by_term.items()}


@cache
def things() -> frozenset[str]:
    """The kinds that are not people."""
    return frozenset(kind for its in kinds().values() for kind in its if kind.startswith(("a ", "an ", "one ")))


def names_as_proxies(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L9: a given name should not represent a group, since not all readers know whose name it is."""
    for pair in corpus.pairs:
        sides = [
            {w for side in change for w in words(side) if w not in kinds()} & resources.names
            for change in changes(pair)
        ]
        capitalised_words = set(re.findall(r"\b[A-Z]\w+", f"{pair.more} {pair.less}"))
        if named := sorted(name for side in sides for name in side if name.capitalize() in capitalised_words):
            yield Found(item=pair.id, message=f"a group is named by a given name: {', '.join(named)}", text=pair.more)
    for cat in corpus.cats:
        if cat.target.lower() in resources.names:
            yield Found(item=cat.id, message=f"the target {cat.target!r} is a given name", text=cat.context)


def not_comparable(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L10: a target should be a group of people, and a pair should contrast two groups of one kind."""
    by_target: dict[tuple[str, str], list[str]] = {}
    for cat in corpus.cats:
        by_target.setdefault((cat.target, language_of(cat)), []).append(cat.id)
    for (target, code), ids in by_target.items():
        place = code != ENGLISH and target.lower() in _places(code)
        its = kinds().get(target.lower(), frozenset()) if code == ENGLISH else frozenset({PLACE} if place else ())
        if its and its <= things():
            message = f"the target {target!r} of {quantity(len(ids), 'CAT')} is {' or '.join(sorted(its))}"
            yield Found(item=ids[0], message=f"{message}, not a group of people", text=target)
    for pair in corpus.pairs:
        code = language_of(pair)
        for more, less in changes(pair) if code == ENGLISH else _replaced(pair, code):
            one, other = (_kind(side) if code == ENGLISH else _category(side, code) for side in (more, less))
            if one and other and not one & other:
                message = f"{more!r} ({' or '.join(sorted(one))}) against {less!r} ({' or '.join(sorted(other))})"
                yield Found(item=pair.id, message=message, text=pair.more)


def _replaced(pair: Pair, code: str) -> Iterator[tuple[str, str]]:
    """The groups named only in the first sentence of a pair, and those named only in the second."""
    more, less = ({noun.term for noun in groups(text, code)} for text in (pair.more, pair.less))
    yield " ".join(sorted(more - less)), " ".join(sorted(less - more))


def _category(wording: str, code: str) -> frozenset[str]:
    """The kinds of the groups in a wording, by the tables of its language; race and nationality are one kind."""
    return frozenset(
        ORIGIN if noun.category in ("race", NATIONALITY) else noun.category for noun in groups(wording, code)
    )


@cache
def _places(code: str) -> frozenset[str]:
    """The places whose people are in the tables of a language."""
    language = known(code)
    return frozenset(place.lower() for noun in language.nouns for place in noun.places) if language else frozenset()


def _kind(wording: str) -> frozenset[str]:
    """The kinds that a wording names, ignoring articles, `people` and similar words."""
    bare = re.sub(
        r"\b(?:an?|the|people|person|persons|folks?|man|men|woman|women|guys?|boys?|girls?|kids?)\b", "", wording
    )
    plain = " ".join(bare.split())
    candidates = (kinds().get(name) for name in (wording, plain, f"{plain}s"))
    return next(filter(None, candidates), frozenset())


def offensive_words(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L11: texts should have no offensive word, which would measure offence, not stereotype."""
    languages = {record.id: language_of(record) for record in corpus.records}
    for item, text in texts(corpus):
        if spaced(languages[item]):
            hits = sorted(set(words(text)) & resources.offensive)
        else:
            hits = sorted(word for word in resources.offensive if word in text)
        if hits:
            yield Found(item=item, message=f"{len(hits)} of the offensive words given: {', '.join(hits)}", text=text)


def probe_parts(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L23: a probe's predicate should have a finite verb and not name the identity, which should be a real plural."""
    for stereotype in corpus.stereotypes:
        yield from _predicate(stereotype.id, stereotype.text, "", language_of(stereotype))
    for probe in corpus.probes:
        yield from _predicate(probe.id, probe.stereotype, probe.identity, code := language_of(probe))
        if code == ENGLISH and (last := words(probe.identity)[-1:]) and last[0] in _false_plurals():
            yield Found(item=probe.id, message=f"{probe.identity!r} is no plural", text=probe.text)


def _predicate(item: str, text: str, identity: str, code: str) -> Iterator[Found]:
    """The findings for a predicate."""
    start = text.lower()
    if code != ENGLISH:
        yield from _predicate_in(item, text, identity, code)
        return
    if identity and any(mentions(text, name) for name in same_group(identity)):
        yield Found(item=item, message=f"the stereotype names the identity {identity!r} again", text=text)
    if _GERUND.match(start):
        yield Found(item=item, message=f"{words(text)[0]!r} is a gerund: the predicate has no finite verb", text=text)
    elif _PARTICIPLE.match(start) and not _BASE_ED.match(start):
        message = f"{words(text)[0]!r} is a participle or past: the predicate has no present verb"
        yield Found(item=item, message=message, text=text)


def _predicate_in(item: str, text: str, identity: str, code: str) -> Iterator[Found]:
    """The findings for a predicate in another language, by its tables and its rules for the first word."""
    own = {noun.term for noun in groups(identity, code)}
    if named := sorted(own & {noun.term for noun in groups(text, code)}):
        yield Found(item=item, message=f"the stereotype names the identity {named[0]!r} again", text=text)
    language = known(code)
    if language is None:
        return
    lists = language.facts.get("statements", {})
    spelt = [word for word in tokens(text, code) if word not in lists.get("openers", ())] if spaced(code) else [text]
    first = next(iter(spelt), "")
    listed = (reading for reading, verbs in lists.get("readings", {}).items() if first in verbs)
    if (reading := next(listed, language.reading(first))) in NO_PRESENT:
        yield Found(item=item, message=f"{first!r} is no verb in the present ({reading})", text=text)


@cache
def _false_plurals() -> frozenset[str]:
    """Adjectives with a plural ending that are not real plural nouns."""
    real = {name.lower() for nation in nations() for name in nation.names[1:]}
    forms = {
        f"{nation.adjective.lower()}{ending}" for nation in nations() if nation.adjective for ending in ("s", "es")
    }
    return frozenset(forms - real) | _NOT_PLURALS


RULES = (
    Rule(
        code="L9",
        severity="info",
        about="a given name represents a group",
        example="`Zorbo cannot dance.` / `Florina cannot dance.`",
        check=names_as_proxies,
        needs="names",
        reads=(Cat, Pair),
        asks="words",
    ),
    Rule(
        code="L10",
        severity="warning",
        about="a target is no group of people, or a pair contrasts groups of different kinds",
        example="target `Zorbia`; `Zorbs are late.` / `Old people are late.`",
        check=not_comparable,
        reads=(Cat, Pair),
        asks="folder",
    ),
    Rule(
        code="L11",
        severity="warning",
        about="the text has an offensive word",
        example="any word of the list given",
        check=offensive_words,
        needs="offensive",
    ),
    Rule(
        code="L23",
        severity="warning",
        about="a probe names its group twice, has no finite verb, or a plural that no one writes",
        example="Zorbs being late to zorb parties",
        check=probe_parts,
        reads=(Probe, Stereotype),
        asks="folder",
    ),
)
