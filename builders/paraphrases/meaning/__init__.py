"""Does a paraphrase mean what its original means? Rules without a model; what they find goes to people."""

from typing import Literal, NamedTuple

from catsofa.builders.paraphrases.meaning.clauses import exchanged
from catsofa.builders.paraphrases.meaning.content import added
from catsofa.builders.paraphrases.meaning.described import described, moved, same_thing
from catsofa.builders.paraphrases.meaning.replaced import replaced
from catsofa.builders.paraphrases.meaning.roles import turned, unreal
from catsofa.builders.paraphrases.meaning.targets import (
    Named,
    another_person,
    is_known,
    names_target,
    same_person,
    wider,
)
from catsofa.builders.paraphrases.meaning.tenses import other_time
from catsofa.data.language.alarms import Alarm, word_alarms

TargetPolicy = Literal["verbatim", "derived", "any"]


class TargetFound(NamedTuple):
    """What became of the target: lost, doubtful, or there by a rule (none where it stands as it is)."""

    lost: bool = False
    alarm: Alarm | None = None
    rule: Named | None = None


def find_target(sentence: str, context: str, target: str, policy: TargetPolicy) -> TargetFound:
    """Whether a paraphrase still names the target; a context that never named its target has none to lose.

    With `derived` another name of the same person will do. A wider name, or none, is an alarm; the target is lost where
    it is the name of a group, where no list knows it, or where a word for another person stands.
    """
    if policy == "any" or not names_target(context, target, "derived") or names_target(sentence, target, policy):
        return TargetFound()
    if policy == "verbatim":
        return TargetFound(lost=True)
    if rule := same_person(sentence, target):
        return TargetFound(rule=rule)
    if target[:1].isupper() or not is_known(target):
        return TargetFound(lost=True)
    if rule := wider(sentence, target):
        return TargetFound(alarm=Alarm("target", (rule.word,)))
    return TargetFound(lost=True) if another_person(sentence, context, target) else TargetFound(alarm=Alarm("target"))


def alarms(sentence: str, context: str, target: str) -> list[Alarm]:
    """What may have changed the meaning.

    `negation`, `quantifier`, `hedge`, `disclaimer`, `described`, `moved`, `added`, `replaced`, `turned`, `time`.
    """
    found = word_alarms(sentence, context)
    if not same_thing(sentence, context, target):
        found.append(Alarm("described", (described(context)[-1], described(sentence)[-1])))
    if moved(sentence, context):
        found.append(Alarm("moved"))
    if new := added(sentence, context, target):
        found.append(Alarm("added", new))
    if others := replaced(sentence, context, target):
        found.append(Alarm("replaced", others))
    if wished := unreal(sentence, context):
        found.append(Alarm("hedge", wished))
    if two := turned(sentence, context) or exchanged(sentence, context):
        found.append(Alarm("turned", two))
    if times := other_time(sentence, context):
        found.append(Alarm("time", times))
    return found
