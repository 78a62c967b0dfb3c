"""Checks by rules, without a model, whether a paraphrase keeps the meaning; people review what the rules find."""

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
    of_a_place,
    same_person,
    wider,
)
from catsofa.builders.paraphrases.meaning.tenses import other_time
from catsofa.data.language.alarms import Alarm, asks, word_alarms

TargetPolicy = Literal["verbatim", "derived", "any"]


class TargetFound(NamedTuple):
    """Result of the search for the target: lost, doubtful (an alarm), or found by a rule; empty if it is unchanged."""

    lost: bool = False
    alarm: Alarm | None = None
    rule: Named | None = None


def find_target(sentence: str, context: str, target: str, policy: TargetPolicy) -> TargetFound:
    """Checks whether a paraphrase still names the target; a context that never names its target has none to lose.

    With `derived`, another name of the same person is enough. A wider name, a name that may be the group's place, or no
    name raises an alarm. The target is lost if it is the name of a group (capitalised), if no list knows it, or if the
    paraphrase names another person.
    """
    if policy == "any" or not names_target(context, target, "derived") or names_target(sentence, target, policy):
        return TargetFound()
    if policy == "verbatim":
        return TargetFound(lost=True)
    if rule := same_person(sentence, target):
        return TargetFound(rule=rule)
    if rule := of_a_place(sentence, target):
        return TargetFound(alarm=Alarm("target", (rule.word,)))
    if target[:1].isupper() or not is_known(target):
        return TargetFound(lost=True)
    if rule := wider(sentence, target):
        return TargetFound(alarm=Alarm("target", (rule.word,)))
    return TargetFound(lost=True) if another_person(sentence, context, target) else TargetFound(alarm=Alarm("target"))


def alarms(sentence: str, context: str, target: str) -> list[Alarm]:
    """Returns the alarms about possible changes of the meaning.

    `negation`, `quantifier`, `hedge`, `disclaimer`, `question`, `described`, `moved`, `added`, `replaced`, `turned`,
    `time`.
    """
    raised = word_alarms(sentence, context)
    if asks(sentence) != asks(context):
        raised.append(Alarm("question"))
    if not same_thing(sentence, context, target):
        raised.append(Alarm("described", (described(context)[-1], described(sentence)[-1])))
    if moved(sentence, context):
        raised.append(Alarm("moved"))
    if new := added(sentence, context, target):
        raised.append(Alarm("added", new))
    if words := replaced(sentence, context, target):
        raised.append(Alarm("replaced", words))
    if wished := unreal(sentence, context):
        raised.append(Alarm("hedge", wished))
    if two := turned(sentence, context) or exchanged(sentence, context):
        raised.append(Alarm("turned", two))
    if times := other_time(sentence, context):
        raised.append(Alarm("time", times))
    return raised
