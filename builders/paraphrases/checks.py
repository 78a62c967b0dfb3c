"""What can be wrong with one paraphrase, checked in a fixed order; the first fault is the reason it is refused."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple
from unicodedata import category, name

from catsofa.builders.paraphrases.prompts import fillers
from catsofa.builders.paraphrases.replies import refuses
from catsofa.data.language import blanks
from catsofa.data.language.demonyms import nations
from catsofa.data.language.inflection import mentions
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import compounds
from catsofa.data.records import Cat, Label

_MARKUP = re.compile(r"</?[a-z][^<>]*>|&#?\w+;", re.I)

TargetPolicy = Literal["verbatim", "derived", "any"]


class SlotFit(NamedTuple):
    """The labels whose fillers cannot stand in a paraphrase's slot, and whether it became a slot of another kind."""

    misfits: tuple[Label, ...] = ()
    moved: bool = False


SlotCheck = Callable[[Cat, str], SlotFit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Why a paraphrase is refused, or nothing; and what people should look at."""

    reason: str | None = None
    warnings: tuple[str, ...] = ()


def judge(sentence: str, original: Cat, *, target: TargetPolicy = "derived", slot: SlotCheck) -> Verdict:
    """The verdict on one sentence as a paraphrase of a CAT's context.

    Refused, in this order: not exactly one BLANK (`no_blank`, `several_blanks`, `glued_blank`, `malformed_blank`),
    `refusal`, `odd_characters` (a picture, a tag, an entity, a word of two alphabets, where the context has none),
    `identical`, `filler_leaked`, `original_unfit` (the context itself has no slot that can be filled),
    `slot` (neither the stereotype nor the anti-stereotype fits it), `target_lost`. Warned of: a slot that takes one of
    the two, or that moved ("is BLANK", "a BLANK man"), a negation that only one sentence has, a word that hedges,
    attributes or disclaims.
    """
    if fault := blanks.check(sentence):
        return Verdict(reason="refusal" if fault == "no_blank" and refuses(sentence) else fault)
    if refuses(sentence):
        return Verdict(reason="refusal")
    if odd_characters(sentence) - odd_characters(original.context):
        return Verdict(reason="odd_characters")
    if same_words(sentence, original.context):
        return Verdict(reason="identical")
    if leaked(sentence, original):
        return Verdict(reason="filler_leaked")
    if blanks.check(original.context) or len(fillers(original)) < 3:
        return Verdict(reason="original_unfit")
    fit = slot(original, sentence)
    if len(fit.misfits) == 2:
        return Verdict(reason="slot")
    # a context that never named its target has none to lose
    named = target != "any" and names_target(original.context, original.target, "derived")
    if target != "any" and named and not names_target(sentence, original.target, target):
        return Verdict(reason="target_lost")
    slot_warnings = [f"slot_{label}" for label in fit.misfits] + ["slot_moved"] * fit.moved
    return Verdict(warnings=(*slot_warnings, *meaning_warnings(sentence, original.context)))


def odd_characters(sentence: str) -> frozenset[str]:
    """What no sentence of one language holds: pictures, control characters, markup, words of two alphabets."""
    mixed = [word for word in compounds(sentence) if len({name(c, "").split(" ")[0] for c in word if c.isalpha()}) > 1]
    pictures = [c for c in sentence if category(c) in ("So", "Cf", "Cc", "Co", "Cs", "Cn")]
    return frozenset([*mixed, *pictures, *_MARKUP.findall(sentence)])


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


def same_words(one: str, other: str) -> bool:
    """Whether two sentences have the same words, whatever their capitals, punctuation and a or an."""
    return _said(one) == _said(other)


def _said(sentence: str) -> list[str]:
    """The words of a sentence, bare."""
    return ["a" if word == "an" else word for word in compounds(sentence)]


def leaked(sentence: str, original: Cat) -> bool:
    """Whether the stereotype's or anti-stereotype's filler stands in a paraphrase and not in the context."""
    found, before = f" {' '.join(compounds(sentence))} ", f" {' '.join(compounds(original.context))} "
    given = fillers(original)
    told = [" ".join(compounds(given[label])) for label in ("stereotype", "anti-stereotype") if label in given]
    return any(f" {filler} " in found and f" {filler} " not in before for filler in told if filler)


def meaning_warnings(sentence: str, context: str) -> list[str]:
    """What may have changed the meaning: `negation`, `frequency`, `attribution`, `disclaimer`."""
    found = ["negation"] if _negated(sentence) != _negated(context) else []
    lists = wordlist("paraphrase_words.toml")
    new = set(compounds(sentence)) - set(compounds(context))
    found += [kind for kind in ("frequency", "attribution") if new & set(lists[kind])]
    if any(re.search(p, sentence, re.I) and not re.search(p, context, re.I) for p in lists["disclaimer"]):
        found.append("disclaimer")
    return found


def _negated(sentence: str) -> bool:
    """Whether a sentence has a word that turns it round."""
    negations = set(wordlist("paraphrase_words.toml")["negation"])
    return any(word in negations or word.endswith("n't") for word in compounds(sentence))
