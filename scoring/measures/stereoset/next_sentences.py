"""The sentence after a context, as questions: a next-sentence head, a ratio of likelihoods, or the context's own."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from catsofa.data.records import Candidate, Cat, Score
from catsofa.scoring.choices import Length
from catsofa.scoring.extras import UNKNOWN
from catsofa.scoring.items import Item, Reduce, Reduced, of_candidates, over_length
from catsofa.scoring.items.sentences import behind_masks, into_gap, left_to_right
from catsofa.scoring.likelihood import masked
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Answer, Continuation, Follows, Question
from catsofa.scoring.models.model import Model
from catsofa.scoring.models.tokens import Tokens, Unscorable
from catsofa.scoring.next_sentence.direction import STORIES, refuse_if_untrained
from catsofa.scoring.protocols import Protocol

TASK = "intersentence"
ENDINGS = (".", "!", "?")


def items(backend: Backend, cats: Sequence[Cat], protocol: Protocol) -> list[Item | Score]:
    """One item for each candidate of intersentence CATs, by the way the protocol names for this kind of model."""
    kind = backend.model.kind
    way = protocol.stereoset.masked_pair if kind == "masked" else protocol.stereoset.causal_pair
    if kind == "sequence-to-sequence":
        way = "pmi"  # the only way for these models: the gap with and without the context
    makers = {"nsp": _following, "pseudo": _context_given, "pmi": _information, "ratio-code": _released_ratio}
    return makers[way](backend, cats, protocol)


def _following(backend: Backend, cats: Sequence[Cat], protocol: Protocol) -> list[Item | Score]:
    """The log-probability that the sentence follows, by a trained head or by the model's own."""
    if backend.next_sentence is not None:
        return [*_with_unknown(backend, cats, backend.next_sentence.score_cats(cats))]
    if "next-sentence" not in backend.model.answers:
        reason = (
            f"{backend.model.name} has no next-sentence head; train one (`catsofa nsp train`) and name it with "
            "--nsp, or choose a protocol that needs none"
        )
        return [Score(item=c.id, task=TASK, score=None, reason=reason) for cat in cats for c in cat.candidates]
    if cats and not backend.head_is_trained:
        check_own_head(backend.model)
        backend.head_is_trained = True
    framed = backend.reader.framed((cat.context, c.text) for cat in cats for c in cat.candidates)

    def item(cat: Cat, candidate: Candidate) -> Item:
        tokens = backend.reader.check(framed[cat.context, candidate.text])
        queries, unknown = (Follows(tokens.ids, tokens.types),), backend.reader.unknowns(tokens, tokens.of(1))
        return Item(candidate.id, TASK, queries, over_length("mean"), len(tokens.ids), unknown)

    return of_candidates(cats, item)


def check_own_head(model: Model) -> None:
    """Refuse a model whose own head is untrained, or whose config.json names the wrong class."""
    backend = Backend(model)

    def asked(pairs: Sequence[tuple[str, str]]) -> list[float]:
        tokens_of = backend.reader.framed(pairs)
        return [
            float(answer[0])
            for answer in masked.follows(backend, [Follows(tokens_of[p].ids, tokens_of[p].types) for p in pairs])
        ]

    refuse_if_untrained(asked, STORIES, model.name)


def _with_unknown(backend: Backend, cats: Sequence[Cat], scores: Sequence[Score]) -> Iterator[Score]:
    """The scores of a trained head, with the unknown tokens of each sentence."""
    tokens_of = backend.reader.bare(c.text for cat in cats for c in cat.candidates)
    unknown = {c.id: backend.reader.unknowns(tokens_of[c.text]) for cat in cats for c in cat.candidates}
    for score in scores:
        count = unknown[score.item]
        yield replace(score, extra={**score.extra, UNKNOWN: count}) if count else score


def _context_given(backend: Backend, cats: Sequence[Cat], protocol: Protocol) -> list[Item | Score]:
    """The pseudo-likelihood of the context given the sentence: each context token hidden, the sentence kept."""
    framed = backend.reader.framed((cat.context, c.text) for cat in cats for c in cat.candidates)

    def item(cat: Cat, candidate: Candidate) -> Item:
        tokens = framed[cat.context, candidate.text]
        queries = behind_masks(backend.reader, tokens, tokens.of(0), protocol.pseudo)
        unknown = backend.reader.unknowns(tokens, tokens.of(1))
        return Item(candidate.id, TASK, queries, over_length(protocol.length), len(queries), unknown)

    return of_candidates(cats, item)


def _information(backend: Backend, cats: Sequence[Cat], protocol: Protocol) -> list[Item | Score]:
    """Pointwise mutual information: log p(sentence | context) − log p(sentence), over the same tokens."""
    joined = {(cat.context, c.text): f"{cat.context} {c.text}" for cat in cats for c in cat.candidates}
    whole = backend.model.kind == "sequence-to-sequence"
    tokens_of = dict(backend.reader.framed(joined.values())) if whole else dict(backend.reader.bare(joined.values()))

    def item(cat: Cat, candidate: Candidate) -> Item:
        text = joined[cat.context, candidate.text]
        tokens = tokens_of[text]
        places = tokens.span(len(cat.context), len(text))
        unknown = backend.reader.unknowns(tokens, places)
        queries: tuple[Question, ...]
        if whole:
            queries = into_gap(backend, tokens, places), into_gap(backend, tokens, places, alone=True)
        else:
            queries = _with_and_without(backend, tokens, places, protocol)
        return Item(candidate.id, TASK, queries, _difference(protocol.length), len(places), unknown)

    return of_candidates(cats, item)


def _with_and_without(backend: Backend, tokens: Tokens, places: range, protocol: Protocol) -> tuple[Question, ...]:
    """The sentence's tokens after the context, and the same tokens after the start token alone."""
    if protocol.first_token != "bos":
        raise Unscorable(
            "a sentence without its context has no first token to condition on; this needs first_token='bos'"
        )
    ids, start = backend.reader.started(tokens), backend.reader.start
    return Continuation(ids, places.start + 1), Continuation((start, *ids[places.start + 1 :]))


def _difference(length: Length) -> Reduce:
    """Returns a function that computes the mean (or sum) of the first answer minus that of the second."""
    reduce = over_length(length)
    return lambda answers: (reduce(answers[:1])[0] - reduce(answers[1:])[0], {})


def _released_ratio(backend: Backend, cats: Sequence[Cat], protocol: Protocol) -> list[Item | Score]:
    """The released code's ratio: mean log-probability of the sentence alone over that of the context alone.

    A context without an ending gets a full stop. The context tokens are the first tokens of the joined text, as many as
    the context has alone. The released code also computes the sentence given its context, but never uses it.
    """
    ended = {cat.id: cat.context if cat.context.endswith(ENDINGS) else f"{cat.context}." for cat in cats}
    reader = backend.reader
    tokens_of = reader.bare(
        [c.text for cat in cats for c in cat.candidates]
        + [ended[cat.id] for cat in cats]
        + [f"{ended[cat.id]} {c.text}" for cat in cats for c in cat.candidates]
    )

    def item(cat: Cat, candidate: Candidate) -> Item:
        context = ended[cat.id]
        length = len(tokens_of[context].ids)
        joined = reader.check(tokens_of[f"{context} {candidate.text}"]).ids[:length]
        alone = left_to_right(reader, tokens_of[candidate.text], "uncond")
        start = Continuation((reader.start, joined[0]))
        rest = (Continuation(joined),) if length > 1 else ()

        def reduce(answers: Sequence[Answer]) -> Reduced:
            sentence, of_context = answers[: len(alone)], answers[len(alone) :]
            # a score is a logarithm everywhere here, and so is this ratio of two logarithms
            ratio = np.concatenate(sentence).mean() / np.concatenate(of_context).mean()
            return float(np.log(ratio)), {}

        own = tokens_of[candidate.text]
        return Item(candidate.id, TASK, (*alone, start, *rest), reduce, len(own.ids), reader.unknowns(own))

    return of_candidates(cats, item)
