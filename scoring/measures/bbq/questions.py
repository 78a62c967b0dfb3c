"""Questions of BBQ to items: the likelihood of each answer after its context and question."""

from collections.abc import Iterator, Sequence
from functools import partial

from catsofa.data.questions import PLACES, Answer, Question
from catsofa.data.records import Score
from catsofa.scoring.choices import FirstToken
from catsofa.scoring.items import Item, guarded, over_length
from catsofa.scoring.items.sentences import Asked, behind_masks, count, into_gap
from catsofa.scoring.items.texts import Query, Texts, scored
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Continuation
from catsofa.scoring.measures.registry import Measure
from catsofa.scoring.models.reader import Reader
from catsofa.scoring.models.tokens import Tokens
from catsofa.scoring.protocols import Protocol


def prompt(question: Question) -> str:
    """The text before each answer, as in lm-evaluation-harness."""
    return f"{question.context}\n\nQ: {question.question}\nA:"


def text_of(question: Question, answer: Answer) -> str:
    """The prompt with an answer."""
    return f"{prompt(question)} {answer.text}"


class AnswerScores(Measure):
    """The queries of any measure of questions."""

    records = Question
    unit = "answer"

    def keys(self, record: Question) -> list[tuple[str, str]]:
        """Each answer by the id of its question and its position."""
        return [(record.id, place) for place in PLACES]

    def items(self, backend: Backend, records: Sequence[Question], protocol: Protocol) -> list[Item | Score]:
        """An item for each answer: the mean or the sum of the log-probabilities of its tokens after the prompt."""
        texts = [text_of(question, answer) for question in records for answer in question.answers]
        left_to_right = backend.model.kind in ("causal", "permutation")
        tokens_of = backend.reader.bare(texts) if left_to_right else backend.reader.framed(texts)

        def item(question: Question, answer: Answer, place: str) -> Item:
            text = text_of(question, answer)
            tokens = tokens_of[text]
            queries = _asked(backend, tokens, tokens.span(len(prompt(question)), len(text)), protocol)
            unknown = backend.reader.unknowns(tokens)
            return Item(question.id, place, queries, over_length(protocol.length), count(queries), unknown)

        return [
            guarded(question.id, place, partial(item, question, answer, place))
            for question in records
            for place, answer in zip(PLACES, question.answers, strict=True)
        ]

    def queries(self, record: Question, texts: Texts) -> list[Query]:
        """Each answer after the prompt."""
        return [(prompt(record), f" {answer.text}") for answer in record.answers]

    def scores(self, record: Question, texts: Texts) -> Iterator[Score]:
        """The likelihood of each answer."""
        for place, query in zip(PLACES, self.queries(record, texts), strict=True):
            yield scored(record.id, place, partial(_over_length, texts, query))


def _asked(backend: Backend, tokens: Tokens, places: range, protocol: Protocol) -> Asked:
    """Returns the queries for the tokens of an answer, by the way for this kind of model."""
    if backend.model.kind == "masked":
        return behind_masks(backend.reader, tokens, places, protocol.pseudo)
    if backend.model.kind == "sequence-to-sequence":
        return (into_gap(backend, tokens, places),)
    return (_after(backend.reader, tokens, places, protocol.first_token),)


def _after(reader: Reader, tokens: Tokens, places: range, first_token: FirstToken) -> Continuation:
    """The tokens from a place on; the prompt begins with the start token if the protocol adds one."""
    if first_token == "bos" or (first_token == "skip" and reader.adds_start):
        return Continuation(reader.started(tokens), places.start + 1)
    return Continuation(reader.check(tokens).ids, places.start)


def _over_length(texts: Texts, query: Query) -> tuple[float, int]:
    """Returns the mean or the sum of the log-probabilities of a query's text, and its number of tokens."""
    values = texts.values(query)
    return texts.over_length(values), len(values)
