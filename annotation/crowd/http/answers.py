"""What an answer is worth, by the rules of `pull`: refused, noted, or right where the answer is known."""

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


def refuse_unknown(kind: Kind, said: Mapping[str, Any]) -> None:
    """Refuse answers to what was not asked, and in another form than the page gives them: a list is several choices."""
    asked = kind.interface.questions
    if unknown := said.keys() - asked.keys():
        raise NotYours(f"nothing was asked about {min(unknown)!r}")
    for name, answer in said.items():
        if isinstance(answer, list) != asked[name].several:
            raise NotYours(f"{name} takes {'a list of choices' if asked[name].several else 'one text'}")
        values = [answer] if isinstance(answer, str) else answer
        if asked[name].choices and (unlike := [value for value in values if value not in asked[name].choices]):
            raise NotYours(f"{name} has no choice {unlike[0]!r}")


def refuse_invalid(study: Study, kind: Kind, token: str, said: Mapping[str, Any], others: Sequence[str]) -> None:
    """Refuse what `pull` would call invalid, and a text that is among those of others."""
    refuse_unknown(kind, said)
    wrong = answers_in(kind.interface, result_of(kind.interface, said)).wrong
    if problems := [*wrong, *notes(study, kind, token, said, others)[0]]:
        raise NotYours("; ".join(problems))


def notes(
    study: Study, kind: Kind, token: str, said: Mapping[str, Any], others: Sequence[str]
) -> tuple[list[str], list[str]]:
    """What texts are refused for, and what is worth a look, such as a near-duplicate; nothing where people judge."""
    if kind.asks is not None:
        return [], []
    term = study.items[study.sealed[token].item]
    texts = {name: " ".join(text.split()) for name, text in said.items() if isinstance(text, str) and text.strip()}
    if isinstance(term, Cat):
        return list(drafts.problems_of_neutral(term, texts)), list(drafts.warnings(term.kind, texts, term.language))
    if not isinstance(term, Term):
        return [], []
    written, language = drafts.kind_of(study), language_of(term)
    if kind.judged_as:
        text = texts.get("attribute", "")
        problems = [*drafts.problems_of_association(term, text, others)]
        return problems, [] if problems or not text else [*drafts.like(text, others, language)]
    return list(drafts.problems(written, term.term, texts, language)), list(drafts.warnings(written, texts, language))


def right(study: Study, token: str, said: Mapping[str, Any]) -> tuple[int, int]:
    """The questions of a gold item answered rightly, and all; none of another item."""
    key, asks = study.sealed.get(token), study.kind.judged.asks
    if key is None or not key.gold or asks is None:
        return 0, 0
    asked = asks(study.items[key.item], key.order)
    return sum(said.get(name) == about.right for name, about in asked.items()), len(asked)
