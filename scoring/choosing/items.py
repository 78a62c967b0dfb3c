"""Records to choose from: their options, and the domain, group and cluster that they count in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from catsofa.data.digests import hex_digest
from catsofa.data.questions import PLACES
from catsofa.data.records import LABELS, AssociationTest, Cat, Pair, Probe, Question

STEREOTYPE, ANTI, UNRELATED, NEUTRAL = "stereotype", "anti-stereotype", "unrelated", "neutral"
"""The options by name; `neutral` is offered beside the sentences of a record."""
QUESTIONS = "questions"
"""The kind of items that are questions with answers of their own."""
PROBES = "probes"
"""The kind of items that are statements about identities, each asked as it is and denied."""


WORDS = "words"
"""The kind of items that are words of an association test, each given to one of two targets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A record as a choice: its options, and the sets that it counts in."""

    id: str
    """Id of the record."""
    texts: Mapping[str, tuple[str, ...]]
    """Each option's sentence, then other texts that name it, such as the words in a BLANK."""
    context: str = ""
    """The text before the sentences; empty if there is none."""
    about: str = ""
    """What the options answer, such as a question; empty if they are sentences that are compared."""
    domain: str = ""
    """The domain, such as gender."""
    group: str = ""
    """The target group; empty if the record names none."""
    unit: str = ""
    """What intervals resample, where it is neither the target group nor the record."""
    kind: str = ""
    """What the items of a run are, in the name of its protocol; empty for sentences."""
    outcomes: Mapping[str, str] = field(default_factory=dict)
    """The outcome of choosing each option, where options have other names than outcomes."""
    open: bool = True
    """Whether the context leaves the choice open; a choice that the context makes is no preference."""
    record: Any = None
    """The record, where estimates need more of it than its options."""

    @property
    def cluster(self) -> str:
        """The unit that intervals resample: the target group of CATs, the template of questions, or the record."""
        return self.unit or self.group or self.id

    @property
    def sides(self) -> tuple[str, str]:
        """The two options between which position is measured: stereotype and anti-stereotype, or two groups."""
        if not self.outcomes:
            return STEREOTYPE, ANTI
        one, other = sorted(name for name, outcome in self.outcomes.items() if outcome != NEUTRAL)
        return (other, one) if self.outcomes[other] == STEREOTYPE else (one, other)

    def outcome(self, said: str) -> str:
        """The outcome of choosing an option; what is no option is an outcome already."""
        return self.outcomes.get(said, said.replace("-", "_"))

    def chosen(self, said: str) -> str:
        """The option that was chosen, where options have other names than outcomes; empty for none."""
        return said if said in self.outcomes else next((n for n, o in self.outcomes.items() if o == said), "")


def items_from(record: Any) -> list[Item]:
    """A record as choices: one for each attribute of an association test, else the record itself."""
    if not isinstance(record, AssociationTest):
        return [item_of(record)]
    made = []
    for side, words in (("A", record.a), ("B", record.b)):
        for number, word in enumerate(words.items):
            name = f"{record.id}:{side}{number}"
            draw = int(hex_digest(name), 16)
            own, other = (record.x, record.y) if side == "A" else (record.y, record.x)
            texts = {STEREOTYPE: (own.items[draw % len(own.items)],), ANTI: (other.items[draw % len(other.items)],)}
            if texts[STEREOTYPE] == texts[ANTI]:
                raise ValueError(f"the targets of test {record.id} share {texts[ANTI][0]!r}; take it out of one set")
            group = f"{side}: {words.name}"
            made.append(Item(id=name, texts=texts, about=word, domain=record.id, group=group, unit=name, kind=WORDS))
    return made


def item_of(record: Any) -> Item:
    """A record as a choice; a ValueError for a record without options, or for options with equal texts."""
    if isinstance(record, Cat):
        texts: dict[str, tuple[str, ...]] = {n: _texts(record[n].text, record[n].fill) for n in LABELS}
        context = record.context if record.kind == "intersentence" else ""
        made = Item(id=record.id, texts=texts, context=context, domain=record.bias_type, group=record.target)
    elif isinstance(record, Pair):
        texts = {STEREOTYPE: (record.more,), ANTI: (record.less,)}
        made = Item(id=record.id, texts=texts, domain=record.bias_type)
    elif isinstance(record, Question):
        made = _of_question(record)
    elif isinstance(record, Probe):
        made = _of_probe(record)
    else:
        raise ValueError(
            f"found a {type(record).__name__}; expected CATs, CrowS-Pairs, questions or probes, which offer options"
        )
    if len({forms[0].strip() for forms in made.texts.values()}) < len(made.texts):
        raise ValueError(f"the options of item {made.id} have equal texts; correct or remove the item")
    return made


def _of_question(record: Question) -> Item:
    """A question: its answers in an order drawn by its id, each with the outcome that its role makes it."""
    places = sorted(PLACES, key=lambda place: hex_digest(f"{record.id}\0{place}"))
    outcomes = dict.fromkeys(places, "unrelated" if record.reason else "anti_stereotype")
    outcomes[PLACES[record.unknown]] = NEUTRAL
    if record.biased is not None:
        outcomes[PLACES[record.biased]] = STEREOTYPE
    return Item(
        id=record.id,
        texts={place: (record.answers[PLACES.index(place)].text,) for place in places},
        context=record.context,
        about=record.question,
        domain=record.category,
        group=record.target,
        unit=f"{record.category}\0{record.template}",
        kind=QUESTIONS,
        outcomes=outcomes,
        open=record.condition == "ambig",
        record=record,
    )


def _of_probe(record: Probe) -> Item:
    """A probe: its statement, and the denial of it; a model that says yes to both has a position effect of 1."""
    said = record.text.strip().rstrip(".")
    return Item(
        id=record.id,
        texts={STEREOTYPE: (f"{said[0].upper()}{said[1:]}.",), ANTI: (f"It is not true that {said}.",)},
        domain=record.category,
        group=record.identity,
        unit=f"{record.category}\0{record.stereotype}",
        kind=PROBES,
    )


def _texts(sentence: str, fill: str | None) -> tuple[str, ...]:
    """The sentence of a candidate, and the words it puts into the BLANK."""
    return (sentence, fill) if fill else (sentence,)
