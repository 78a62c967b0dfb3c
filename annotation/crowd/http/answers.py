"""Checks answers by the rules of `pull`: refuses them, adds notes, or marks them where the right answer is known."""

from collections.abc import Mapping, Sequence
from typing import Any

from catsofa.annotation.crowd.seats import NotYours
from catsofa.annotation.results import drafts
from catsofa.annotation.study import Study
from catsofa.annotation.study.interface import answers as answers_in
from catsofa.annotation.study.interface import result_of
from catsofa.annotation.study.kinds import Kind
from catsofa.data.languages.texts import language_of
from catsofa.data.records import Cat, Term


def refuse_unknown(kind: Kind, reply: Mapping[str, Any]) -> None:
    """Refuses answers to unknown questions, or in another form than the page sends: a list means several choices."""
    questions = kind.interface.questions
    if unknown := reply.keys() - questions.keys():
        raise NotYours(f"nothing was asked about {min(unknown)!r}")
    for name, answer in reply.items():
        if isinstance(answer, list) != questions[name].several:
            raise NotYours(f"{name} takes {'a list of choices' if questions[name].several else 'one text'}")
        values = [answer] if isinstance(answer, str) else answer
        if questions[name].choices and (unlike := [value for value in values if value not in questions[name].choices]):
            raise NotYours(f"{name} has no choice {unlike[0]!r}")


def refuse_invalid(study: Study, kind: Kind, token: str, reply: Mapping[str, Any], other_texts: Sequence[str]) -> None:
    """Refuses answers that `pull` calls invalid, and a text that is among those of others."""
    refuse_unknown(kind, reply)
    wrong = answers_in(kind.interface, result_of(kind.interface, reply)).wrong
    if problems := [*wrong, *notes(study, kind, token, reply, other_texts)[0]]:
        raise NotYours("; ".join(problems))


def notes(
    study: Study, kind: Kind, token: str, reply: Mapping[str, Any], other_texts: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Returns the problems that refuse a text, and warnings such as a near-duplicate; both empty where people judge."""
    if kind.asks is not None:
        return [], []
    term = study.items[study.sealed[token].item]
    texts = {name: " ".join(text.split()) for name, text in reply.items() if isinstance(text, str) and text.strip()}
    if isinstance(term, Cat):
        return list(drafts.problems_of_neutral(term, texts)), list(drafts.warnings(term.kind, texts, term.language))
    if not isinstance(term, Term):
        return [], []
    form, language = drafts.kind_of(study), language_of(term)
    if kind.judged_as:
        text = texts.get("attribute", "")
        problems = [*drafts.problems_of_association(term, text, other_texts)]
        return problems, [] if problems or not text else [*drafts.like(text, other_texts, language)]
    return list(drafts.problems(form, term.term, texts, language)), list(drafts.warnings(form, texts, language))


def right(study: Study, token: str, reply: Mapping[str, Any]) -> tuple[int, int]:
    """Returns the number of gold questions answered right, and of all; (0, 0) for other items."""
    key, asks = study.sealed.get(token), study.kind.judged.asks
    if key is None or not key.gold or asks is None:
        return 0, 0
    questions = asks(study.items[key.item], key.order)
    return sum(reply.get(name) == about.right for name, about in questions.items()), len(questions)
