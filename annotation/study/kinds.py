"""The kinds of project: which records they take, what people see of them, and what each answer is about.

What leaves the study folder is shuffled, under a name that reveals nothing; the key stays in the folder.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from catsofa.annotation.study.interface import Interface, interface
from catsofa.data.digests import hex_digest, json_digest
from catsofa.data.judging.accepted import ACCEPTED, NEUTRAL, WRITTEN
from catsofa.data.languages.texts import known, language_of
from catsofa.data.records import Association, Cat, Probe, Term

Fields = dict[str, str]
Shown = tuple[Fields, tuple[str, ...]]
"""The fields that people see, and the order of what was shuffled, which people must not see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The subject of one question: the item that an answer judges, the right answer if known, and its facts."""

    item: str
    right: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of project."""

    name: str
    title: str
    """The default title that annotators see."""
    about: str
    holds: type[Any]
    made_by: str
    """The source of the items, for a user who gives a wrong file."""
    seconds: float
    """Expected seconds for one item, before people's own times are known."""
    overlap: int
    """Default number of people who see an item."""
    show: Callable[[Any, Random], Shown]
    asks: Callable[[Any, Sequence[str]], Mapping[str, Asked]] | None
    """Function that returns the subject of each question of an item; None where people write texts."""
    judged_as: str = ""
    """The kind as which other people of the same study judge the written texts."""

    @property
    def judged(self) -> "Kind":
        """The kind of the items that people judge."""
        return KINDS[self.judged_as] if self.judged_as else self

    def deciding(self, questions: Iterable[str]) -> list[str]:
        """Returns the questions that decide something, or all if none does; how hurtful a probe is decides nothing."""
        names = [*questions]
        return [name for name in names if name in ACCEPTED[self.holds]] or names

    @property
    def interface(self) -> Interface:
        """The page that people see."""
        return interface(self.name)


def show_term(term: Term, order: Random) -> Shown:
    """Returns a target to write about."""
    return {"target": term.term}, ()


def show_region(term: Term, order: Random) -> Shown:
    """Returns a group, whose associations are asked for, and the language to write them in."""
    language = known(language_of(term))
    people = f"people in {term.region}" if term.region else "people"
    return {"target": term.term, "people": people, "language": language.name if language else term.language}, ()


def show_cat(cat: Cat, order: Random) -> Shown:
    """Returns the three sentences of a CAT in random order."""
    candidates = list(cat.candidates)
    order.shuffle(candidates)
    options = {f"option_{k}": candidate.text for k, candidate in enumerate(candidates, start=1)}
    return {"target": cat.target, "context": cat.context} | options, tuple(candidate.id for candidate in candidates)


def ask_of_cat(cat: Cat, order: Sequence[str]) -> dict[str, Asked]:
    """Returns the subject of each label: the sentence at its place."""
    by_id = {candidate.id: candidate for candidate in cat.candidates}
    facts = {"cat": cat.id, "bias_type": cat.bias_type, "target": cat.target} | _writer(cat)
    return {
        f"label_{k}": Asked(item=candidate, right=by_id[candidate].label, facts=facts)
        for k, candidate in enumerate(order, start=1)
    }


def show_context(cat: Cat, order: Random) -> Shown:
    """Returns the target and the context of a CAT, without the three sentences that others wrote."""
    return {"target": cat.target, "context": cat.context}, ()


def show_neutral(cat: Cat, order: Random) -> Shown:
    """Returns the three sentences of a CAT and the one written as neutral, in random order."""
    if NEUTRAL not in cat.extra:
        raise ValueError(f"CAT {cat.id!r} has no neutral sentence: give the drafts.jsonl of a write-neutral study")
    texts = {candidate.label: candidate.text for candidate in cat.candidates} | {NEUTRAL: cat.extra[NEUTRAL]["text"]}
    shuffled = order.sample([*texts], k=len(texts))
    options = {f"option_{k}": str(texts[label]) for k, label in enumerate(shuffled, start=1)}
    return {"target": cat.target, "context": cat.context} | options, tuple(f"{cat.id}/{label}" for label in shuffled)


def ask_of_neutral(cat: Cat, order: Sequence[str]) -> dict[str, Asked]:
    """Returns the subject of each label: the sentence at its place; `written` is the label that its writer intended."""
    facts = {"cluster_id": cat.id, "bias_type": cat.bias_type, "target": cat.target} | _writer(cat)
    labels = [item.rpartition("/")[2] for item in order]
    return {
        f"label_{k}": Asked(item=item, right=label, facts=facts | {WRITTEN: label})
        for k, (item, label) in enumerate(zip(order, labels, strict=True), start=1)
    }


def show_paraphrase(cat: Cat, order: Random) -> Shown:
    """Returns the original context and its paraphrase."""
    if not (original := cat.extra.get("original_context")):
        raise ValueError(f"CAT {cat.id!r} is no paraphrase: nothing in its extra is its original_context")
    return {"target": cat.target, "original": str(original), "paraphrase": cat.context}, ()


def show_probe(probe: Probe, order: Random) -> Shown:
    """Returns the sentence of a probe and its identity."""
    return {"identity": probe.identity, "text": probe.text}, ()


def show_association(association: Association, order: Random) -> Shown:
    """Returns the group, the attribute, and whose associations are asked about, but not who proposed it."""
    people = f"people in {association.region}" if association.region else "people"
    return {"identity": association.identity, "text": association.attribute, "people": people}, ()


def ask_each(record: Cat | Probe | Association, order: Sequence[str], *, name: str) -> dict[str, Asked]:
    """Returns the subject of each question: the whole item.

    The right answers of a gold item are in its `extra` under `gold`.
    """
    if isinstance(record, Cat):
        facts = {"bias_type": record.bias_type, "target": record.target} | _writer(record) | _alarms(record)
    elif isinstance(record, Association):
        facts = {"target": record.identity, "region": record.region} | _writer(record)
    else:
        facts = {"bias_type": record.category, "target": record.identity}
    right = record.extra.get("gold", {})
    return {
        question: Asked(
            item=f"{record.id}/{question}",
            right=str(right.get(question, "")) if isinstance(right, Mapping) else "",
            facts={"of": record.id, "question": question} | facts,
        )
        for question in interface(name).questions
    }


def _writer(item: Cat | Association) -> dict[str, str]:
    """Returns the writer of the item, if known."""
    return {"writer": str(item.source["writer"])} if item.source.get("writer") else {}


def _alarms(cat: Cat) -> dict[str, str]:
    """Returns the alarms of a paraphrase, which people do not see, so that answers can be grouped by alarm."""
    kinds = dict.fromkeys(str(alarm["kind"]) for alarm in cat.extra.get("alarms", ()))
    return {"alarms": "|".join(kinds)} if kinds else {}


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            name="write-intrasentence",
            title="Writing sentences",
            about="write a sentence with a BLANK and three words for it",
            holds=Term,
            made_by="one target per line in a .txt file, or terms (JSONL)",
            seconds=120,
            overlap=1,
            show=show_term,
            asks=None,
        ),
        Kind(
            name="write-intersentence",
            title="Writing sentences",
            about="write a sentence and three that might follow",
            holds=Term,
            made_by="one target per line in a .txt file, or terms (JSONL)",
            seconds=150,
            overlap=1,
            show=show_term,
            asks=None,
        ),
        Kind(
            name="validate-cats",
            title="What sentences say",
            about="say of each sentence of a CAT what it expresses",
            holds=Cat,
            made_by="CATs, which catsofa build cats or a finished writing study (drafts.jsonl) makes",
            seconds=30,
            overlap=5,
            show=show_cat,
            asks=ask_of_cat,
        ),
        Kind(
            name="write-neutral",
            title="Writing sentences",
            about="complete or continue the context of a CAT in a neutral way",
            holds=Cat,
            made_by="CATs: catsofa build cats makes them",
            seconds=40,
            overlap=1,
            show=show_context,
            asks=None,
        ),
        Kind(
            name="validate-neutral",
            title="What sentences say",
            about="say of the sentences of a CAT and of a neutral one what each expresses",
            holds=Cat,
            made_by="CATs with neutral associations: a study of the kind write-neutral has them in drafts.jsonl",
            seconds=40,
            overlap=5,
            show=show_neutral,
            asks=ask_of_neutral,
        ),
        Kind(
            name="review-paraphrases",
            title="Comparing sentences",
            about="say whether a paraphrase means the same, is grammatical and still about the target",
            holds=Cat,
            made_by="paraphrased CATs: catsofa build paraphrases writes them as review_1.jsonl",
            seconds=20,
            overlap=5,
            show=show_paraphrase,
            asks=partial(ask_each, name="review-paraphrases"),
        ),
        Kind(
            name="judge-probes",
            title="What people might say",
            about="say whether a probe is plausible and how hurtful it is",
            holds=Probe,
            made_by="probes: catsofa build probes makes them of identities and stereotypes",
            seconds=15,
            overlap=5,
            show=show_probe,
            asks=partial(ask_each, name="judge-probes"),
        ),
        Kind(
            name="judge-associations",
            title="What people say of groups",
            about="say whether people associate an attribute with a group, and how hurtful that is",
            holds=Association,
            made_by="associations: catsofa build candidates makes them",
            seconds=12,
            overlap=3,
            show=show_association,
            asks=partial(ask_each, name="judge-associations"),
        ),
        Kind(
            name="write-and-judge-associations",
            title="What people say of groups",
            about="write what people say of a group, and judge what others wrote",
            holds=Term,
            made_by="one target per line in a .txt file, or terms (JSONL) with region and language",
            seconds=12,
            overlap=5,
            show=show_region,
            asks=None,
            judged_as="judge-associations",
        ),
    )
}


def kind_named(name: str) -> Kind:
    """Returns the kind with this name; raises ValueError for an unknown name."""
    if name not in KINDS:
        raise ValueError(f"no kind of project {name!r}; the kinds are {', '.join(KINDS)}")
    return KINDS[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """The item and the order behind the name of a task; `digest` is the hash of what people see."""

    token: str
    item: str
    order: tuple[str, ...] = ()
    gold: bool = False
    check: bool = False
    """True if the task itself says what to answer; such a task is also a gold item."""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task as people see it, and its key."""

    data: Fields
    key: Key


def with_answers(gold: Iterable[Any], kind: Kind) -> Iterator[Any]:
    """Yields the gold items; raises ValueError if a right answer is no choice of the interface.

    Raises ValueError also where people write, because such a kind has no gold items.
    """
    for record in gold:
        if kind.asks is None:
            raise ValueError(f"{kind.name} has no gold items: nobody knows beforehand what people should write")
        _, order = kind.show(record, Random(0))
        questions = kind.asks(record, order)
        for name, about in questions.items():
            if about.right not in kind.interface.questions[name].choices:
                raise ValueError(
                    f"gold item {record.id!r} has no right answer to {name!r}: give one of "
                    f"{', '.join(kind.interface.questions[name].choices)} in its extra under gold"
                )
        yield record


def blind(
    records: Iterable[Any], kind: Kind, secret: str, *, gold: bool = False, check: bool = False
) -> Iterator[Task]:
    """Yields each record as a task.

    The order is drawn from the study's secret and the record's id; the name of the task is a hash of both.
    """
    for record in records:
        seed = hex_digest(f"{secret}:{kind.name}:{record.id}")
        data, order = kind.show(record, Random(seed))
        data = {"item": seed[:16]} | data
        key = Key(token=seed[:16], item=record.id, order=order, gold=gold, check=check, digest=digest(data))
        yield Task(data=data, key=key)


def digest(data: Fields) -> str:
    """Returns the hash of what people see of a task."""
    return json_digest(data, 16, compact=False, ascii=False)
