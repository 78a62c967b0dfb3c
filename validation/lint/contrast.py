"""Lint of contrasts: L5 unequal options, L7 several changes, L8 mere negation, L16 rare word against common word."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby
from typing import Any

from catsofa.data.language.inflection import regular_singular, singulars
from catsofa.data.language.words import words
from catsofa.data.languages.texts import ENGLISH, agree, language_of, listed, meaning_of, spaced, tokens
from catsofa.data.records import BLANK, Candidate, Cat, Pair
from catsofa.validation.lint.rule import Corpus, Found, Given, Rule, Word

LONGER = 2
"""Largest difference of two options in words without a finding."""
SHARE_LONGER = 2.0
"""Largest ratio of the lengths of two sentences after a context without a finding."""
ZIPF_GAP = 2.0
"""Smallest gap in Zipf points between contrasted words that is a finding: a hundredfold frequency."""

_TOKEN = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_NEGATORS = frozenset(
    {"not", "no", "never", "cannot", "without", "nor", "neither", "nobody", "none", "nothing"}
    | {f"{verb}n't" for verb in ("is", "are", "was", "were", "do", "does", "did", "ca", "could", "wo", "would")}
    | {f"{verb}n't" for verb in ("has", "have", "had", "should")}
)
_SUPPORT = frozenset({"do", "does", "did", "can", "could", "will", "would", "has", "have", "had", "should", "be"})
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")
_GENDERED = """he/she his/her his/hers him/her himself/herself man/woman men/women boy/girl boys/girls male/female
    males/females father/mother dad/mom son/daughter brother/sister husband/wife husbands/wives uncle/aunt king/queen
    grandfather/grandmother grandpa/grandma guy/girl guys/girls gentleman/lady gentlemen/ladies boyfriend/girlfriend
    nephew/niece sir/madam mr/mrs mr/ms actor/actress waiter/waitress"""
_TO_FEMALE = frozenset(tuple(joined.split("/")) for joined in _GENDERED.split())
_SAME_CHANGE = _TO_FEMALE | {pair[::-1] for pair in _TO_FEMALE}
_FORMS = ("a an", "is are", "was were", "has have", "does do", "an a", "are is", "were was", "have has", "do does")
_FUNCTION = frozenset(tuple(forms.split()) for forms in _FORMS)

Span = tuple[str, str]


def spans(more: str, less: str) -> list[Span]:
    """The runs of words in which two sentences differ, as (more, less), ignoring case and punctuation."""
    a, b = _tokens(more), _tokens(less)
    steps = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    differences = [(a[i:j], b[k:m]) for step, i, j, k, m in steps if step != "equal"]
    if len(a) == len(b):
        # swapped words look like an insertion and a deletion; a word-by-word alignment may be shorter
        runs = groupby(zip(a, b, strict=True), key=lambda pair: pair[0] != pair[1])
        aligned = [[list(side) for side in zip(*run, strict=True)] for differs, run in runs if differs]
        if sum(len(one) for one, _ in aligned) < sum(max(len(one), len(other)) for one, other in differences):
            differences = [(one, other) for one, other in aligned]
    return [(" ".join(one), " ".join(other)) for one, other in differences]


def _tokens(text: str) -> list[str]:
    """The words of a sentence in lower case, hyphens kept."""
    return [token.replace("’", "'").lower() for token in _TOKEN.findall(text)]


def changes(pair: Pair) -> list[Span]:
    """The distinct changes of a pair; a repeated change counts once, and gender agreement is part of its change.

    In other languages, words that agree with another change, by the language's folder, are part of that change.
    """
    if (code := language_of(pair)) != ENGLISH:
        different = list(dict.fromkeys(spans(pair.more, pair.less)))
        own = [span for span in different if not _agrees(span, code)] or different[:1]
        return [
            span for place, span in enumerate(own) if not any(_one_change(span, other, code) for other in own[:place])
        ]
    result: list[Span] = []
    for span in dict.fromkeys(spans(pair.more, pair.less)):
        agrees = _gendered(span) and any(all(other) for other in result)
        form = span in _FUNCTION or bool(singulars(span[0]) & singulars(span[1]))
        if not (agrees or form or any(_same(span, other) for other in result)):
            result.append(span)
    return result


def _gendered(span: Span) -> bool:
    """Returns whether every word changes only its gender: his wife / her husband."""
    one, other = ([word.split("'")[0] for word in side.split()] for side in span)
    return len(one) == len(other) and all(pair in _SAME_CHANGE for pair in zip(one, other, strict=True))


def _agrees(span: Span, code: str) -> bool:
    """Returns whether every word of a change equals or agrees with the word at its position."""
    one, other = (tokens(side, code) for side in span)
    same = len(one) == len(other)
    return same and all(a == b or agree(a, b, code) for a, b in zip(one, other, strict=True))


def _one_change(span: Span, other: Span, code: str) -> bool:
    """Returns whether two changes differ only in agreement (noir/blanc, noirs/blancs) or direction."""
    return any(all(_agrees((a, b), code) for a, b in zip(span, order, strict=True)) for order in (other, other[::-1]))


def _same(span: Span, other: Span) -> bool:
    """Returns whether two changes differ only in number (singular, plural) or direction (x/y, y/x)."""
    return any(
        all(singulars(a) & singulars(b) for a, b in zip(span, order, strict=True)) for order in (other, other[::-1])
    )


def unequal_options(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L5: stereotype and anti-stereotype should be alike in length and, with a parser, in part of speech."""
    for cat in corpus.cats:
        stereotype, anti = cat["stereotype"], cat["anti-stereotype"]
        lengths = [len(_tokens(c.text if cat.kind == "intersentence" else c.fill or "")) for c in (stereotype, anti)]
        if _unequal(lengths, cat.kind == "intersentence"):
            text = f"{stereotype.text} / {anti.text}"
            yield Found(item=cat.id, message=f"the options have {lengths[0]} and {lengths[1]} words", text=text)
    for pair in corpus.pairs:
        for more, less in changes(pair):
            lengths = [len(more.split()), len(less.split())]
            if _unequal(lengths, sentences=False):
                message = f"the change has {lengths[0]} words in one sentence and {lengths[1]} in the other"
                yield Found(item=pair.id, message=message, text=f"{more} / {less}")
    if resources.parser:
        yield from _unequal_parts([cat for cat in corpus.intrasentence if language_of(cat) == ENGLISH], resources)


def _unequal(lengths: Sequence[int], sentences: bool) -> bool:
    """Returns whether the longer option is too long: by a difference in words, for sentences also by a ratio."""
    short, long = sorted(lengths)
    return long - short > LONGER and (not sentences or long > SHARE_LONGER * short)


def _unequal_parts(cats: Sequence[Cat], resources: Given) -> Iterator[Found]:
    """Findings for CATs whose one-word fills are parsed as different parts of speech."""
    assert resources.parser is not None
    fills = [
        (cat, candidate)
        for cat in cats
        if all(c.fill and len(c.fill.split()) == 1 for c in (cat["stereotype"], cat["anti-stereotype"]))
        for candidate in (cat["stereotype"], cat["anti-stereotype"])
    ]
    parsed = resources.parser.pipe(candidate.text for _, candidate in fills)
    parts = [
        _part(cat.context.find(BLANK), candidate, doc) for (cat, candidate), doc in zip(fills, parsed, strict=True)
    ]
    for (cat, stereotype), (_, anti), one, other in zip(fills[::2], fills[1::2], parts[::2], parts[1::2], strict=True):
        if one and other and one != other and _never_alike(stereotype.fill or "", anti.fill or ""):
            message = f"{stereotype.fill!r} is read as {one}, {anti.fill!r} as {other}"
            yield Found(item=cat.id, message=message, text=stereotype.text)


def _never_alike(one: str, other: str) -> bool:
    """Returns whether the dictionary knows both words, and they share no part of speech."""
    return bool(possible(one) and possible(other)) and not possible(one) & possible(other)


@cache
def possible(word: str) -> frozenset[str]:
    """A word's parts of speech in the dictionary (participles also as adjectives); taggers only guess rare words."""
    from lemminflect import getAllLemmas

    participle = {"ADJ"} if word.endswith(("ing", "ed")) else set()
    return frozenset({"PROPN": "NOUN"}.get(part, part) for part in getAllLemmas(word.lower())) | participle


def _part(start: int, candidate: Candidate, parsed: Iterable[Word]) -> str:
    """The part of speech of the fill: names are nouns, participles are adjectives; empty if no token starts there."""
    part = {word.idx: word.pos_ for word in parsed}.get(start, "")
    if part == "VERB" and (candidate.fill or "").endswith(("ing", "ed")):
        return "ADJ"
    return {"PROPN": "NOUN", "AUX": "VERB"}.get(part, part)


def several_changes(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L7: the sentences of a minimal pair should differ in one change; a second change is a confounder."""
    for pair in corpus.pairs:
        if len(differences := changes(pair)) > 1:
            listing = "; ".join(f"{more or 'nothing'} / {less or 'nothing'}" for more, less in differences)
            yield Found(item=pair.id, message=f"{len(differences)} changes: {listing}", text=pair.more)


def mere_negation(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L8: an anti-stereotype should not only negate the stereotype."""
    yield from _denials(corpus)
    for cat in corpus.cats:
        if language_of(cat) != ENGLISH:
            continue
        stereotype, anti = cat["stereotype"], cat["anti-stereotype"]
        plain = [
            [w for w in _tokens(text) if w not in _NEGATORS and w not in _SUPPORT]
            for text in (stereotype.text, anti.text)
        ]
        first, second = (list(map(regular_singular, words)) for words in plain)
        if first == second and _negative(stereotype.text) != _negative(anti.text):
            yield Found(item=cat.id, message="the options differ in a negation alone", text=anti.text)
        elif stereotype.fill and anti.fill and _prefixed(stereotype.fill.lower(), anti.fill.lower()):
            message = f"{anti.fill!r} is {stereotype.fill!r} with a negating prefix, or the other way round"
            yield Found(item=cat.id, message=message, text=anti.text, severity="info")
    for pair in corpus.pairs:
        if language_of(pair) == ENGLISH and any(_negates(span) for span in spans(pair.more, pair.less)):
            yield Found(item=pair.id, message="one sentence negates the other", text=f"{pair.more} / {pair.less}")


def _denials(corpus: Corpus) -> Iterator[Found]:
    """Findings for CATs and pairs in other languages whose sides differ only in a negation of the language's list."""
    records: list[Any] = [*corpus.cats, *corpus.pairs]
    for record in records:
        code = language_of(record)
        lists = meaning_of(code)
        if not lists:
            continue
        negations = lists.get("negations", ())
        dropped = {*negations, *lists.get("beside", ())}
        is_cat = isinstance(record, Cat)
        sides = (record["stereotype"].text, record["anti-stereotype"].text) if is_cat else (record.more, record.less)
        plain = [_without(side, dropped, code) for side in sides]
        denied = [len(listed(side, negations, code)) % 2 for side in sides]
        if plain[0] == plain[1] and denied[0] != denied[1]:
            yield Found(item=record.id, message="the sides differ in a negation alone", text=" / ".join(sides))
        elif is_cat and record["stereotype"].fill and record["anti-stereotype"].fill:
            fills = sorted((record["stereotype"].fill.lower(), record["anti-stereotype"].fill.lower()), key=len)
            if any(fills[1] == prefix + fills[0] for prefix in lists.get("prefixes", ())):
                message = f"{fills[1]!r} is {fills[0]!r} with a negating prefix"
                yield Found(item=record.id, message=message, text=" / ".join(sides), severity="info")


def _without(text: str, dropped: Iterable[str], code: str) -> str:
    """A text without the `dropped` words."""
    if spaced(code):
        return " ".join(word for word in tokens(text, code) if word not in dropped)
    result = text
    for word in sorted(dropped, key=len, reverse=True):
        result = result.replace(word, "")
    return result


def _negative(text: str) -> bool:
    """Returns whether a text has an odd number of negations."""
    return sum(token in _NEGATORS for token in _tokens(text)) % 2 == 1


def _negates(span: Span) -> bool:
    """Returns whether one side of a change is the other side with a negation: can / cannot, nothing / not."""
    sides = [[word for word in side.split() if word not in _NEGATORS | _SUPPORT] for side in span]
    return sides[0] == sides[1] and _negative(span[0]) != _negative(span[1])


def _prefixed(one: str, other: str) -> bool:
    """Returns whether one word is the other with a negating prefix such as un-, in-, dis-, non-."""
    short, long = sorted((one, other), key=len)
    return any(long == prefix + short for prefix in _PREFIXES)


def rare_against_common(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L16: contrasted words should be about equally frequent; otherwise a model may prefer the common one."""
    for cat in corpus.intrasentence:
        yield from _gap(cat.id, cat["stereotype"].fill or "", cat["anti-stereotype"].fill or "", resources)
    for pair in corpus.pairs:
        for more, less in changes(pair):
            yield from _gap(pair.id, more, less, resources)


def _gap(item: str, one: str, other: str, resources: Given) -> Iterator[Found]:
    """A finding if the rarest words of two wordings differ too much in Zipf frequency."""
    assert resources.frequency is not None
    if not (words(one) and words(other)):
        return
    a, b = (min(resources.frequency(word) for word in words(side)) for side in (one, other))
    if abs(a - b) >= ZIPF_GAP:
        message = f"{one!r} (Zipf {a:.1f}) against {other!r} (Zipf {b:.1f}): {10 ** abs(a - b):,.0f} times"
        yield Found(item=item, message=message, text=f"{one} / {other}")


RULES = (
    Rule(
        code="L5",
        severity="info",
        about="the options differ in length or part of speech, so that a model may prefer one for its form",
        example="`kind` against `somebody who bakes all day`",
        check=unequal_options,
        uses=("parser",),
        reads=(Cat, Pair),
        asks="words",
        english="parts of speech",
    ),
    Rule(
        code="L7",
        severity="warning",
        about="a minimal pair differs in more than one thing",
        example="`Zorbs never cook.` / `Florins always cook.`",
        check=several_changes,
        reads=(Pair,),
        asks="tables",
    ),
    Rule(
        code="L8",
        severity="warning",
        about="the anti-stereotype only negates the stereotype",
        example="`Zorbs bake bread.` / `Zorbs do not bake bread.`",
        check=mere_negation,
        reads=(Cat, Pair),
        asks="folder",
    ),
    Rule(
        code="L16",
        severity="info",
        about="one of the words contrasted is a hundred times as frequent as the other",
        example="`kind` against `magnanimous`",
        check=rare_against_common,
        needs="frequency",
        reads=(Cat, Pair),
        asks="frequency",
    ),
)
