"""CATs to items: the score of each candidate by the way that fits the task, the model and the protocol."""

from collections.abc import Iterator, Sequence
from functools import partial

from catsofa.data.records import Candidate, Cat, Score
from catsofa.scoring.items import Item, of_candidates, sentences
from catsofa.scoring.items.texts import Query, Texts, scored
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures.registry import Measure
from catsofa.scoring.measures.stereoset import attributes, next_sentences, released_attributes
from catsofa.scoring.models.tokens import Unscorable
from catsofa.scoring.protocols import Protocol


class CatScores(Measure):
    """The queries of any measure of CATs."""

    records = Cat

    def keys(self, record: Cat) -> list[tuple[str, str]]:
        """Each candidate by its id and the task of its CAT."""
        return [(candidate.id, record.kind) for candidate in record.candidates]

    def items(self, backend: Backend, records: Sequence[Cat], protocol: Protocol) -> list[Item | Score]:
        """An item for each candidate, by the way that fits the task, the model and the protocol."""
        inside = [cat for cat in records if cat.kind == "intrasentence"]
        after = [cat for cat in records if cat.kind == "intersentence"]
        return [*_intrasentence(backend, inside, protocol), *next_sentences.items(backend, after, protocol)]

    def queries(self, record: Cat, texts: Texts) -> list[Query]:
        """Each sentence; after a context also without it, in the words that have the same tokens."""
        candidates = [candidate.text for candidate in record.candidates]
        if record.kind == "intrasentence":
            return [("", text) for text in candidates]
        if texts.protocol.stereoset.causal_pair != "pmi" or texts.space is None:
            return []
        return [query for text in candidates for query in ((record.context, f" {text}"), ("", _alone(text, texts)))]

    def scores(self, record: Cat, texts: Texts) -> Iterator[Score]:
        """The likelihood of each sentence, or its information about the context."""
        for candidate in record.candidates:
            make = partial(texts.whole, candidate.text)
            if record.kind == "intersentence":
                make = partial(_information, texts, record.context, candidate.text)
            yield scored(candidate.id, record.kind, make)


def _intrasentence(backend: Backend, cats: Sequence[Cat], protocol: Protocol) -> list[Item | Score]:
    """Scores the attribute if the model reads in both directions, the whole sentence if it reads from the left."""
    kind, chosen = backend.model.kind, protocol.stereoset
    if kind == "permutation" and cats and chosen.blank == "code" and chosen.padding_text is None:
        raise ValueError(
            f"{protocol.name} scores XLNet in both directions after a padding text, which is no part of catsofa; "
            f"expected {protocol.name},padding_text=FILE. The text is `prepend_text` in code/dataloader.py of the "
            "released StereoSet code"
        )
    both = kind in ("masked", "sequence-to-sequence") or (kind == "permutation" and chosen.padding_text is not None)
    if not both:
        return _whole(backend, cats, protocol)
    if kind != "sequence-to-sequence" and chosen.blank == "code":
        return released_attributes.items(backend, cats, protocol)
    return attributes.items(backend, cats, protocol)


def _whole(backend: Backend, cats: Sequence[Cat], protocol: Protocol) -> list[Item | Score]:
    """The whole filled sentence from left to right."""
    tokens_of = sentences.read(backend, (candidate.text for cat in cats for candidate in cat.candidates))

    def item(cat: Cat, candidate: Candidate) -> Item:
        return sentences.item(backend, tokens_of[candidate.text], protocol, candidate.id, cat.kind)

    return of_candidates(cats, item)


def _information(texts: Texts, context: str, text: str) -> tuple[float, int]:
    """log p(sentence | context) - log p(sentence), over the same tokens."""
    if texts.protocol.stereoset.causal_pair != "pmi":
        raise Unscorable("a served model gives what follows a context by pointwise mutual information alone")
    if texts.space is None:
        raise Unscorable("the server cuts a sentence after a context into other tokens than the sentence alone")
    after, by_itself = texts.values((context, f" {text}")), texts.values(("", _alone(text, texts)))
    if len(after) != len(by_itself):
        raise Unscorable("the sentence has other tokens after its context than alone")
    return texts.over_length(after) - texts.over_length(by_itself), len(after)


def _alone(text: str, texts: Texts) -> str:
    """Returns a sentence as queried without its context."""
    return f" {text}" if texts.space else text
