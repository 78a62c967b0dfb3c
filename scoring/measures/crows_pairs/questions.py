"""CrowS-Pairs to items: two for each pair, keyed by its id and by the side, `more` or `less` stereotyping."""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import partial

from catsofa.data.records import SIDES, Pair, Score
from catsofa.scoring.items import Item, guarded, over_length, sentences
from catsofa.scoring.items.texts import Query, Texts, scored
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Attended, Fill
from catsofa.scoring.measures.registry import Measure
from catsofa.scoring.models.tokens import Tokens, Unscorable
from catsofa.scoring.protocols import Protocol

Make = Callable[[Pair, str], Item]


class PairScores(Measure):
    """The queries of any measure of pairs."""

    records = Pair

    def keys(self, record: Pair) -> list[tuple[str, str]]:
        """Each sentence by the id of its pair and its side."""
        return [(record.id, side) for side in SIDES]

    def items(self, backend: Backend, records: Sequence[Pair], protocol: Protocol) -> list[Item | Score]:
        """An item for each sentence."""
        return items(backend, records, protocol)

    def queries(self, record: Pair, texts: Texts) -> list[Query]:
        """Both sentences."""
        if (crows := texts.protocol.crows_pairs.crows) in ("aul", "aula"):
            raise ValueError(f"{crows} is defined for masked models; this model is asked from left to right")
        return [("", record.more), ("", record.less)]

    def scores(self, record: Pair, texts: Texts) -> Iterator[Score]:
        """The likelihood of each sentence."""
        for side in SIDES:
            yield scored(record.id, side, partial(texts.whole, text_of(record, side)))


def items(backend: Backend, pairs: Sequence[Pair], protocol: Protocol) -> list[Item | Score]:
    """Returns items for each sentence's log-likelihood; for a masked model, over the tokens that `crows` selects.

    A model that reads from the left scores the whole sentence. In such a model, a token that both sentences share is
    conditioned on the other tokens only if it comes after them.
    """
    make = _make(backend, pairs, protocol)
    return [guarded(p.id, side, partial(make, p, side)) for p in pairs for side in SIDES]


def _make(backend: Backend, pairs: Sequence[Pair], protocol: Protocol) -> Make:
    """Returns the function that makes the item of one side of a pair for this model."""
    tokens_of = sentences.read(backend, (text for pair in pairs for text in (pair.more, pair.less)))
    crows = protocol.crows_pairs.crows
    if backend.model.kind != "masked" and crows in ("aul", "aula"):
        raise ValueError(f"{crows} is defined for masked models, and {backend.model.name} is not one")
    if backend.model.kind != "masked" or crows == "all":
        return lambda pair, side: sentences.item(backend, tokens_of[text_of(pair, side)], protocol, pair.id, side)
    way = _seen if crows in ("aul", "aula") else _aligned
    return way(backend, tokens_of, protocol)


def text_of(pair: Pair, side: str) -> str:
    """One sentence of a pair."""
    return pair.more if side == "more" else pair.less


def _aligned(backend: Backend, tokens_of: dict[str, Tokens], protocol: Protocol) -> Make:
    """Hides one token at a time: the sum over the shared tokens, or the mean over the different ones.

    SSS (`modified`) hides all different tokens at once.
    """
    crows = protocol.crows_pairs.crows
    together = crows in ("modified", "modified-code")

    def item(pair: Pair, side: str) -> Item:
        # alignment is not symmetric; as in the released codes, the sentence with the stereotype comes first,
        # and for SSS the more stereotyping sentence
        order = SIDES if together or pair.direction == "stereo" else SIDES[::-1]
        both = shared(*(tokens_of[text_of(pair, each)] for each in order))[order.index(side)]
        tokens = tokens_of[text_of(pair, side)]
        places = [place for place in tokens.of() if (place in both) == (crows == "shared")]
        if not places:
            raise Unscorable(f"no token of the sentence is {crows.removesuffix('-code')}")
        if together:
            queries: sentences.Asked = (_hidden_together(backend, tokens, places, every=crows == "modified-code"),)
        else:
            queries = sentences.behind_masks(backend.reader, tokens, places, protocol.pseudo)
        # both sentences have the same number of shared tokens, so sums are comparable; numbers of different ones vary
        reduce = over_length("sum" if crows == "shared" else "mean")
        return Item(pair.id, side, queries, reduce, len(places), backend.reader.unknowns(tokens))

    return item


def _hidden_together(backend: Backend, tokens: Tokens, places: Sequence[int], *, every: bool) -> Fill:
    """Hides all these tokens at once and queries each at its own place; with `every`, each token at every place."""
    ids = backend.reader.check(tokens).ids
    row = tuple(backend.reader.mask if place in places else token for place, token in enumerate(ids))
    pairs = [(place, other) for place in places for other in places] if every else [(place, place) for place in places]
    return Fill(row, tuple(place for place, _ in pairs), tuple(ids[other] for _, other in pairs), tokens.types)


def shared(first: Tokens, second: Tokens) -> tuple[list[int], list[int]]:
    """The positions of the tokens that two sentences have in common, in each of them."""
    blocks = SequenceMatcher(None, first.ids, second.ids).get_matching_blocks()
    return (
        [block.a + step for block in blocks for step in range(block.size)],
        [block.b + step for block in blocks for step in range(block.size)],
    )


def _seen(backend: Backend, tokens_of: dict[str, Tokens], protocol: Protocol) -> Make:
    """AUL: the mean log-probability of the tokens while they are all seen; AULA weighs it by attention."""

    def item(pair: Pair, side: str) -> Item:
        tokens = backend.reader.check(tokens_of[text_of(pair, side)])
        own = tuple(tokens.of())
        if protocol.crows_pairs.crows == "aula":
            queries: tuple[Attended | Fill, ...] = (Attended(tokens.ids, own, tokens.types),)
        else:
            queries = (Fill(tokens.ids, own, tuple(tokens.ids[place] for place in own), tokens.types),)
        return Item(pair.id, side, queries, over_length("mean"), len(own), backend.reader.unknowns(tokens, own))

    return item
