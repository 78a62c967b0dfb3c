"""What an answer is worth, by the rules of `pull`: refused, noted, or right where the answer is known."""

from collections.abc import Mapping
from typing import Any

from catsofa.annotation.crowd.seats import NotYours
from catsofa.annotation.results import drafts
from catsofa.annotation.study import Study
from catsofa.annotation.study.interface import answers as answers_in
from catsofa.annotation.study.interface import result_of
from catsofa.data.languages.texts import language_of
from catsofa.data.records import Term


def refuse_unknown(study: Study, said: Mapping[str, Any]) -> None:
    """Refuse answers to what was not asked."""
    if unknown := said.keys() - study.kind.interface.questions.keys():
        raise NotYours(f"nothing was asked about {min(unknown)!r}")


def refuse_invalid(study: Study, token: str, said: Mapping[str, Any]) -> None:
    """Refuse what `pull` would call invalid."""
    refuse_unknown(study, said)
    wrong = answers_in(study.kind.interface, result_of(study.kind.interface, said)).wrong
    if problems := [*wrong, *notes(study, token, said)[0]]:
        raise NotYours("; ".join(problems))


def notes(study: Study, token: str, said: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """What `pull` would refuse texts for, and what it would note; nothing where people judge."""
    if study.kind.asks is not None:
        return [], []
    term = study.items[study.keys[token].item]
    texts = {name: " ".join(text.split()) for name, text in said.items() if isinstance(text, str) and text.strip()}
    if not isinstance(term, Term):
        return [], []
    kind = drafts.kind_of(study)
    language = language_of(term)
    return list(drafts.problems(kind, term.term, texts, language)), list(drafts.warnings(kind, texts, language))


def right(study: Study, token: str, said: Mapping[str, Any]) -> tuple[int, int]:
    """The questions of a gold item answered rightly, and all; none of another item."""
    key, asks = study.keys[token], study.kind.asks
    if not key.gold or asks is None:
        return 0, 0
    asked = asks(study.items[key.item], key.order)
    return sum(said.get(name) == about.right for name, about in asked.items()), len(asked)
