"""What can be wrong with one paraphrase, checked in a fixed order; the first fault is the reason it is refused."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from unicodedata import category, name

from catsofa.builders.paraphrases.meaning import TargetPolicy, alarms, find_target
from catsofa.builders.paraphrases.meaning.targets import Named
from catsofa.builders.paraphrases.prompts import fillers
from catsofa.builders.paraphrases.replies import refuses
from catsofa.data.language import blanks
from catsofa.data.language.alarms import Alarm
from catsofa.data.language.words import compounds
from catsofa.data.languages.texts import spaced
from catsofa.data.records import Cat, Label

_MARKUP = re.compile(r"</?[a-z][^<>]*>|&#?\w+;", re.I)


SlotCheck = Callable[[Cat, str], tuple[Label, ...]]
"""The labels whose fillers cannot stand in a paraphrase's slot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Why a paraphrase is refused, or nothing; what people should look at, and the rule that found the target."""

    reason: str | None = None
    alarms: tuple[Alarm, ...] = ()
    target: Named | None = None


def judge(sentence: str, original: Cat, *, target: TargetPolicy = "derived", slot: SlotCheck) -> Verdict:
    """The verdict on one sentence as a paraphrase of a CAT's context.

    Refused, in this order: not exactly one BLANK (`no_blank`, `several_blanks`, `glued_blank`, `malformed_blank`),
    `refusal`, `odd_characters` (a picture, a tag, an entity, a word of two alphabets, where the context has none),
    `identical`, `filler_leaked`, `original_unfit` (the context itself has no slot that can be filled),
    `slot` (neither the stereotype nor the anti-stereotype fits it), `target_lost`. Alarms: a slot that takes one of the
    two, a target under a wider name, and those of `meaning.alarms`. The rules of slot, target and meaning read English:
    a paraphrase in another language has the alarm `language`, so that people judge it.
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
    if original.language != "en":
        return Verdict(alarms=(Alarm("language"),))
    misfits = slot(original, sentence)
    if len(misfits) == 2:
        return Verdict(reason="slot")
    found = find_target(sentence, original.context, original.target, target)
    if found.lost:
        return Verdict(reason="target_lost")
    of_slot = [Alarm(f"slot_{label}") for label in misfits]
    of_meaning = alarms(sentence, original.context, original.target)
    return Verdict(alarms=(*of_slot, *filter(None, [found.alarm]), *of_meaning), target=found.rule)


def odd_characters(sentence: str) -> frozenset[str]:
    """What no sentence of one language holds: pictures, control characters, markup, words of two alphabets."""
    sentence = blanks.SLOT.sub(" ", sentence)  # a script without spaces writes its words right beside it
    mixed = [word for word in compounds(sentence) if len({name(c, "").split(" ")[0] for c in word if c.isalpha()}) > 1]
    pictures = [c for c in sentence if category(c) in ("So", "Cf", "Cc", "Co", "Cs", "Cn")]
    return frozenset([*mixed, *pictures, *_MARKUP.findall(sentence)])


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
    if not spaced(original.language):
        told = [given[label] for label in ("stereotype", "anti-stereotype") if given.get(label)]
        return any(filler in sentence and filler not in original.context for filler in told)
    told = [" ".join(compounds(given[label])) for label in ("stereotype", "anti-stereotype") if label in given]
    return any(f" {filler} " in found and f" {filler} " not in before for filler in told if filler)
