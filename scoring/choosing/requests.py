"""Builds requests (item × template × order × sample) as prompts; does not contact a model."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal, get_args

from catsofa.scoring.choosing import templates as wordings
from catsofa.scoring.choosing.items import ANTI, DECISIONS, NEUTRAL, PROBES, QUESTIONS, STEREOTYPE, WHICH, WORDS, Item
from catsofa.scoring.choosing.templates import Template

Labels = Literal["letters", "numbers", "sentence"]
"""Labels of options in a prompt: A and B, 1 and 2, or none, so that sentences name them."""
LABELS: tuple[Labels, ...] = get_args(Labels)
FOR = {
    "": wordings.SENTENCES,
    QUESTIONS: wordings.QUESTIONS,
    PROBES: (*wordings.PROBES, *wordings.SENTENCES),
    WHICH: wordings.WHICH,
    WORDS: wordings.WORDS,
    DECISIONS: wordings.DECISIONS,
}
"""Bundled templates for each kind of items, the default first."""
ORDERS_OF_THREE = 6
"""Number of orders of three options; `--orders balanced` asks in fewer."""
OFFERED = "Neither; I cannot say."
"""Text of the neutral option."""

Key = tuple[str, tuple[str, ...], str, int, bool]
"""Key of a request: item, order, template, sample, and True if a neutral option is offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One prompt about one item."""

    item: str
    """Id of the item."""
    order: tuple[str, ...]
    """Options in the order shown; only one if the prompt asks yes or no about its sentence."""
    prompt: str
    """Text of the message."""
    template: str
    """Name of the template."""
    sample: int = 0
    """Number of the sample, from 0."""
    neutral: bool = False
    """True if a neutral option is offered, as the last one."""
    labels: Labels = "letters"
    """How the options are labelled."""

    @property
    def key(self) -> Key:
        """Key of the request in a run."""
        return self.item, self.order, self.template, self.sample, self.neutral

    @property
    def answers(self) -> tuple[str, ...]:
        """Answers whose first token decides, in the order of the options: A, B, … or Yes, No."""
        if len(self.order) == 1:
            return "Yes", "No"
        return labels_of(self.labels, len(self.order) + self.neutral)


def options_of(order: Sequence[str], neutral: bool) -> tuple[str, ...]:
    """Returns the option that each of a request's answers chooses; no to one sentence chooses the other sentence."""
    if len(order) == 1:
        return order[0], ANTI if order[0] == STEREOTYPE else STEREOTYPE
    return (*order, *([NEUTRAL] if neutral else []))


def labels_of(labels: Labels, count: int) -> tuple[str, ...]:
    """Returns the labels of this many options; empty if their sentences name them."""
    return {"letters": tuple("ABCD"), "numbers": tuple("1234"), "sentence": ()}[labels][:count]


def orders(item: Item, *, balanced: bool = False) -> list[tuple[str, ...]]:
    """Returns all orders of an item's options; `balanced` takes the rotations of three: each option once per place."""
    every = list(permutations(item.texts))
    return [every[0], every[3], every[4]] if balanced and len(every) > 2 else every


def requests(
    items: Iterable[Item],
    templates: Sequence[Template],
    *,
    labels: Labels = "letters",
    neutral: bool = False,
    balanced: bool = False,
    samples: int = 1,
) -> Iterator[Request]:
    """Yields every request about these items; templates for one sentence ask about stereotype and anti-stereotype."""
    for item in items:
        for template in templates:
            isolated = template.isolated
            shown = [(STEREOTYPE,), (ANTI,)] if isolated else orders(item, balanced=balanced)
            for order in shown:
                prompt = _prompt(item, template, order, labels, neutral and not isolated)
                for sample in range(samples):
                    yield Request(item=item.id, order=order, prompt=prompt, template=template.name, sample=sample,
                                  neutral=neutral, labels=labels)  # fmt: skip


def _prompt(item: Item, template: Template, order: tuple[str, ...], labels: Labels, neutral: bool) -> str:
    """Returns the prompt that shows the options in this order."""
    sentences = [item.texts[option][0] for option in order]
    if len(order) == 1:
        return template.ask(sentences, item.context, ("",), "yes or no", about=item.about)
    names = labels_of(labels, len(order) + neutral)
    answer = f"{', '.join(names[:-1])} or {names[-1]}" if names else "the sentence itself"
    return template.ask(sentences, item.context, names, answer, OFFERED if neutral else "", item.about, item.other)


def asks_second(templates: Sequence[Template], kind: str) -> bool:
    """Returns True if templates ask the second question about records: which identity, or who gets which attribute."""
    shown = {PROBES: "about", WORDS: "other"}.get(kind, "")
    return bool(templates and shown and templates[0].shows(shown))


def refuse_unfit(templates: Sequence[Template], kind: str, neutral: bool) -> None:
    """Raises ValueError for templates of another kind or with equal names, and for `neutral` with questions."""
    names = [template.name for template in templates]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"found two templates named {min(twice)}; name each once, or rename a file")
    fit = ", ".join(FOR[kind])
    answers, both = kind not in ("", PROBES), kind == DECISIONS
    for template in templates:
        unlike = template.shows("about") != answers or template.shows("other") != both
        if unlike or (answers and template.isolated):
            needs = (
                "{{ about }}, {{ other }} and {{ options }}"
                if both
                else "{{ about }} and {{ options }}"
                if answers
                else "{{ options }} or {{ sentence }}, and no {{ about }}"
            )
            items = kind or "sentences"
            raise ValueError(
                f"template {template.name} does not fit {items}; expected one of {fit}, or a text file with {needs}"
            )
    if kind == QUESTIONS and neutral:
        raise ValueError("questions have their own answer for the unknown; leave out --neutral")
