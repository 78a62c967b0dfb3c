"""Checks one paraphrase in a fixed order; the first fault is the reason for its refusal."""

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
"""Function that returns the labels whose fillers do not fit the slot of a paraphrase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The reason for a refusal, if any; the alarms for people to review; and the rule that finds the target."""

    reason: str | None = None
    alarms: tuple[Alarm, ...] = ()
    target: Named | None = None


def judge(sentence: str, original: Cat, *, target: TargetPolicy = "derived", slot: SlotCheck) -> Verdict:
    """Returns the verdict on one sentence as a paraphrase of a CAT's context.

    Reasons for a refusal, in this order:

    - `no_blank`, `several_blanks`, `glued_blank`, `malformed_blank`: not exactly one BLANK
    - `refusal`: the sentence declines the task
    - `odd_characters`: a picture, a tag, an entity or a word of two alphabets, where the context has none
    - `identical`: the same words as the context
    - `filler_leaked`: a filler of the CAT that its context does not have
    - `original_unfit`: the context itself has no slot that can be filled
    - `slot`: neither the stereotype nor the anti-stereotype fits
    - `target_lost`: the target is gone

    Alarms mark a slot that takes only one of the two, a target under a wider name, and what `meaning.alarms` finds. The
    rules for slot, target and meaning support English only. A paraphrase in another language gets the alarm `language`,
    so that people judge it.
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
    outcome = find_target(sentence, original.context, original.target, target)
    if outcome.lost:
        return Verdict(reason="target_lost")
    of_slot = [Alarm(f"slot_{label}") for label in misfits]
    of_meaning = alarms(sentence, original.context, original.target)
    return Verdict(alarms=(*of_slot, *filter(None, [outcome.alarm]), *of_meaning), target=outcome.rule)


def odd_characters(sentence: str) -> frozenset[str]:
    """Returns the parts that no normal sentence has: pictures, control characters, markup, words of two alphabets."""
    sentence = blanks.SLOT.sub(" ", sentence)  # a script without spaces writes words right beside the slot
    mixed = [word for word in compounds(sentence) if len({name(c, "").split(" ")[0] for c in word if c.isalpha()}) > 1]
    pictures = [c for c in sentence if category(c) in ("So", "Cf", "Cc", "Co", "Cs", "Cn")]
    return frozenset([*mixed, *pictures, *_MARKUP.findall(sentence)])


def same_words(one: str, other: str) -> bool:
    """Returns True if two sentences have the same words, ignoring case, punctuation, and "a" versus "an"."""
    return _said(one) == _said(other)


def _said(sentence: str) -> list[str]:
    """Returns the words of a sentence without case and punctuation; "an" becomes "a"."""
    return ["a" if word == "an" else word for word in compounds(sentence)]


def leaked(sentence: str, original: Cat) -> bool:
    """Returns True if the filler of the stereotype or anti-stereotype is in a paraphrase but not in its context."""
    text, before = f" {' '.join(compounds(sentence))} ", f" {' '.join(compounds(original.context))} "
    by_label = fillers(original)
    if not spaced(original.language):
        judged = [by_label[label] for label in ("stereotype", "anti-stereotype") if by_label.get(label)]
        return any(filler in sentence and filler not in original.context for filler in judged)
    judged = [" ".join(compounds(by_label[label])) for label in ("stereotype", "anti-stereotype") if label in by_label]
    return any(f" {filler} " in text and f" {filler} " not in before for filler in judged if filler)
