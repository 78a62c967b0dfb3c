"""Questions of the BBQ family: a context, a question about two people or groups, three answers, one "unknown"."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from catsofa.data.digests import give_id
from catsofa.data.set_names import refuse_taken_name

Polarity = Literal["neg", "nonneg"]
Condition = Literal["ambig", "disambig"]
Role = Literal["target", "other", "unknown"]

POLARITIES: tuple[Polarity, ...] = get_args(Polarity)
CONDITIONS: tuple[Condition, ...] = get_args(Condition)
PLACES = ("ans0", "ans1", "ans2")
"""The names of the answers by position, as in BBQ; also the tasks of their scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer to a question: it names the target of the stereotype, the other group, or neither."""

    text: str
    """The answer that a model reads."""
    role: Role
    """The answer names the stereotyped group (target) or the other group, or says that nobody can know (unknown)."""
    group: str = ""
    """The group that the answer names, as the source writes it."""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise a ValueError for an empty text."""
        if not self.text.strip():
            raise ValueError("an answer's text must not be empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question of BBQ, KoBBQ, MBBQ or JBBQ: who did something, given a context that may or may not tell."""

    id: str = ""
    context: str
    """The text that a model reads before the question."""
    question: str
    """The question about the two groups."""
    answers: tuple[Answer, Answer, Answer]
    """The three answers in the order of the source."""
    correct: int
    """Position of the correct answer: 0, 1 or 2."""
    polarity: Polarity
    """The question asks for what the stereotype says (neg) or for its opposite (nonneg)."""
    condition: Condition
    """The context leaves the answer open (ambig) or gives it (disambig)."""
    category: str
    """The domain: religion, age, or another."""
    template: str
    """The template within the category; confidence intervals treat its questions as one cluster."""
    reason: str = ""
    """The reason why no answer is the target, as one word with underscores; empty if one answer is."""
    language: str = "en"
    source: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the roles of the answers and the position of the correct answer, and set the id."""
        refuse_taken_name(self.category)
        roles = [answer.role for answer in self.answers]
        if roles.count("unknown") != 1 or roles.count("target") != (not self.reason):
            names = ", ".join(roles)
            raise ValueError(f"a question needs one unknown answer and one target, or a reason why none; found {names}")
        if not 0 <= self.correct < len(roles):
            raise ValueError(f"the correct answer must be 0, 1 or 2; found {self.correct}")
        texts = [answer.text for answer in self.answers]
        give_id(self, "question", self.category, self.context, self.question, texts, self.language)

    @property
    def unknown(self) -> int:
        """Position of the "unknown" answer."""
        return self._place("unknown")

    @property
    def target(self) -> str:
        """The group that the stereotype is about; empty if the source does not single it out."""
        return "" if self.reason else self.answers[self._place("target")].group

    @property
    def biased(self) -> int | None:
        """Position of the answer that agrees with the stereotype; None if no answer is the target."""
        if self.reason:
            return None
        return self._place("target" if self.polarity == "neg" else "other")

    def _place(self, role: Role) -> int:
        """Position of the first answer with a role."""
        return next(place for place, answer in enumerate(self.answers) if answer.role == role)
