"""Records as choices: their options, and the domain, group and cluster of each."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from catsofa.data.digests import hex_digest
from catsofa.data.languages.texts import ENGLISH, language_of, meaning_of, spaced
from catsofa.data.questions import PLACES
from catsofa.data.records import LABELS, AssociationTest, Cat, Pair, Probe, Question

STEREOTYPE, ANTI, UNRELATED, NEUTRAL = "stereotype", "anti-stereotype", "unrelated", "neutral"
"""Names of options; `neutral` is offered besides the sentences of a record."""
QUESTIONS = "questions"
"""Kind of items: questions with their own answers."""
PROBES = "probes"
"""Kind of items: statements about identities, each asked in its own form and denied."""
WHICH = "probes-which"
"""Kind of items: predicates of probes, each to assign to one of two identities."""
WORDS = "words"
"""Kind of items: words of an association test, each to assign to one of two targets."""
DECISIONS = "words-decision"
"""Kind of items: decisions about which of two targets gets which of two attributes."""
OFFERING = "CATs, CrowS-Pairs, questions, probes or association tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A record as a choice: its options, and the sets in which it counts."""

    id: str
    """Id of the record."""
    texts: Mapping[str, tuple[str, ...]]
    """Each option's sentence, then other texts that name the option, such as the words in a BLANK."""
    context: str = ""
    """Text before the sentences; empty if none."""
    about: str = ""
    """What the options answer, such as a question; empty if the options are sentences to compare."""
    other: str = ""
    """What the option that is not chosen gets; empty if nothing."""
    domain: str = ""
    """Domain, such as gender."""
    group: str = ""
    """Target group; empty if the record names none."""
    unit: str = ""
    """Unit that intervals resample, if it is neither the target group nor the record."""
    kind: str = ""
    """Kind of the items, as in the name of the protocol; empty for sentences."""
    outcomes: Mapping[str, str] = field(default_factory=dict)
    """Outcome of choosing each option, if options have other names than outcomes."""
    open: bool = True
    """True if the context leaves the choice open; a choice that the context determines is not a preference."""
    record: Any = None
    """The record, if estimates need more than its options."""

    @property
    def cluster(self) -> str:
        """Unit that intervals resample: the target group of CATs, the template of questions, or the record."""
        return self.unit or self.group or self.id

    @property
    def sides(self) -> tuple[str, str]:
        """The two options between which position is measured: stereotype and anti-stereotype, or two groups."""
        if not self.outcomes:
            return STEREOTYPE, ANTI
        one, other = sorted(name for name, outcome in self.outcomes.items() if outcome != NEUTRAL)
        return (other, one) if self.outcomes[other] == STEREOTYPE else (one, other)

    def outcome(self, answer: str) -> str:
        """Returns the outcome of choosing an option; other values are outcomes already."""
        return self.outcomes.get(answer, answer.replace("-", "_"))

    def chosen(self, answer: str) -> str:
        """Returns the chosen option, if options have other names than outcomes; empty for none."""
        return answer if answer in self.outcomes else next((n for n, o in self.outcomes.items() if o == answer), "")


def items_from(records: Iterable[Any], *, second: bool = False) -> Iterator[Item]:
    """Yields records as choices; `second` asks the other question about probes or tests, and skips other records."""
    identities: dict[tuple[str, str], list[Probe]] = defaultdict(list)
    for record in records:
        if isinstance(record, AssociationTest):
            yield from _decisions(record) if second else _attributes(record)
        elif not second:
            yield item_of(record)
        elif isinstance(record, Probe):
            identities[record.category, record.stereotype].append(record)
    for probes in identities.values():
        yield from _rivals(probes)


def _attributes(test: AssociationTest) -> Iterator[Item]:
    """Yields an item for each attribute of a test, with one target of X and one of Y that its name draws."""
    for side, words in (("A", test.a), ("B", test.b)):
        for number, word in enumerate(words.items):
            name = f"{test.id}:{side}{number}"
            yield _of_attribute(test, name, side, about=word, draw=name, unit=name, kind=WORDS)


def _decisions(test: AssociationTest) -> Iterator[Item]:
    """Yields two items for each pair of an attribute of A and one of B: who gets the first, and who gets the second."""
    first = test.a.items
    second = [word for _, word in sorted((hex_digest(f"{test.id}\0{n}"), word) for n, word in enumerate(test.b.items))]
    for number in range(max(len(first), len(second))):
        roles = {"A": first[number % len(first)], "B": second[number % len(second)]}
        if roles["A"] == roles["B"]:
            raise ValueError(f"the attributes of test {test.id} share {roles['A']!r}; take it out of one set")
        pair = f"{test.id}:{number}"
        for side, other in ("AB", "BA"):
            texts = {"about": roles[side], "other": roles[other]}
            yield _of_attribute(test, f"{pair}{side}", side, draw=pair, unit=pair, kind=DECISIONS, **texts)


def _of_attribute(test: AssociationTest, name: str, side: str, *, draw: str, **how: Any) -> Item:
    """Returns the choice between a target of X and one of Y; X is the stereotype for A's words, and Y for B's."""
    number = int(hex_digest(draw), 16)
    one, other = (targets.items[number % len(targets.items)] for targets in (test.x, test.y))
    if one == other:
        raise ValueError(f"the targets of test {test.id} share {one!r}; take it out of one set")
    own, rival, words = (one, other, test.a) if side == "A" else (other, one, test.b)
    texts = {STEREOTYPE: (own,), ANTI: (rival,)}
    return Item(id=name, texts=texts, domain=test.id, group=f"{side}: {words.name}", **how)


def _rivals(probes: Iterable[Probe]) -> Iterator[Item]:
    """Yields pairs of identities of one predicate, which are neighbours in a ring ordered by hash.

    Each identity is in two pairs; two identities make one pair.
    """
    by_name = {probe.identity: probe for probe in probes}
    ring = sorted(by_name.values(), key=lambda probe: hex_digest(f"{probe.stereotype}\0{probe.identity}"))
    for one, other in zip(ring[: len(ring) if len(ring) > 2 else len(ring) - 1], [*ring[1:], ring[0]], strict=False):
        yield Item(
            id=f"{one.id} or {other.id}",
            texts={STEREOTYPE: (one.identity,), ANTI: (other.identity,)},
            about=one.stereotype,
            domain=one.category,
            group=one.identity,
            unit=f"{one.category}\0{one.stereotype}",
            kind=WHICH,
        )


def item_of(record: Any) -> Item:
    """Returns a record as a choice.

    Raises ValueError for a record without options, or for options whose texts differ only in case.
    """
    if isinstance(record, Cat):
        texts: dict[str, tuple[str, ...]] = {n: _texts(record[n].text, record[n].fill) for n in LABELS}
        context = record.context if record.kind == "intersentence" else ""
        item = Item(id=record.id, texts=texts, context=context, domain=record.bias_type, group=record.target)
    elif isinstance(record, Pair):
        texts = {STEREOTYPE: (record.more,), ANTI: (record.less,)}
        item = Item(id=record.id, texts=texts, domain=record.bias_type)
    elif isinstance(record, Question):
        item = _of_question(record)
    elif isinstance(record, Probe):
        item = _of_probe(record)
    else:
        raise ValueError(f"found a record of {type(record).__name__}; expected {OFFERING}, which offer options")
    if len({forms[0].strip().casefold() for forms in item.texts.values()}) < len(item.texts):
        raise ValueError(f"the options of item {item.id} have equal texts; correct or remove the item")
    return item


def _of_question(record: Question) -> Item:
    """Returns a question as an item: its answers in an order drawn by its id, each with the outcome of its role."""
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
    """Returns a probe as an item: its statement and the denial; yes to both gives a position effect of 1.

    The denial is in the probe's language; a language without a denial raises ValueError.
    """
    statement, language = record.text.strip().rstrip(".。"), language_of(record)
    stated = f"{statement[0].upper()}{statement[1:]}{'.' if spaced(language) else '。'}"
    denied = f"It is not true that {statement}."
    if language != ENGLISH:
        if not (denial := meaning_of(language).get("denial", "")):
            raise ValueError(
                f"no denial of statements in {language!r}, which probes need; add `denial` to [meaning] in the "
                "language.toml of its folder, or ask with --templates which"
            )
        denied = denial.replace("{statement}", stated)
    return Item(
        id=record.id,
        texts={STEREOTYPE: (stated,), ANTI: (denied,)},
        domain=record.category,
        group=record.identity,
        unit=f"{record.category}\0{record.stereotype}",
        kind=PROBES,
    )


def _texts(sentence: str, fill: str | None) -> tuple[str, ...]:
    """Returns a candidate's sentence, and the words that it puts into the BLANK."""
    return (sentence, fill) if fill else (sentence,)
