"""The attribute that fills a BLANK, as questions: from left to right behind masks, all at once, or never hidden."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from catsofa.data.language.blanks import fill_of
from catsofa.data.records import BLANK, Candidate, Cat, Score
from catsofa.scoring.items import Item, of_candidates, over_length, over_pieces, possible
from catsofa.scoring.items.sentences import Asked, behind_masks, into_gap
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Fill
from catsofa.scoring.measures.stereoset.options import Masks
from catsofa.scoring.models.reader import Reader
from catsofa.scoring.models.tokens import Tokens, Unscorable
from catsofa.scoring.protocols import Protocol

Span = tuple[str, int, int]
"""A sentence and the characters of it that fill the BLANK."""


def filled(cat: Cat, candidate: Candidate) -> Span:
    """Returns the sentence that contains the attribute, and its character range.

    The sentence is the context with the fill, which the three candidates share. If the candidate's sentence differs by
    more than case, spaces and closing marks (as with an adapted article), the result is the candidate's sentence.
    """
    return _place(cat.context, candidate.text, candidate.fill)


@lru_cache(2**14)  # called once to tokenise all texts of a call and once more for each
def _place(context: str, sentence: str, fill: str) -> Span:
    """Returns the same for a context, a sentence and the words that fill the BLANK."""
    if (blanks := context.count(BLANK)) != 1:
        raise Unscorable(f"the context has {blanks} BLANKs; an attribute fills exactly one")
    before, _, after = context.partition(BLANK)
    if before[-1:].isalnum() or after[:1].isalnum():
        raise Unscorable("letters are glued to the BLANK, so that its filler is part of a word")
    if not fill:
        raise Unscorable("the sentence does not show which words fill the BLANK")
    # the space distinguishes "a" from "an" after an adapted article
    start = " ".join(before.split()) + " " * (before.endswith(" ") and bool(before.strip()))
    begins_so = " ".join(sentence.split()).casefold().startswith(start.casefold())
    if begins_so and (fill_of(context, sentence) or "").casefold() == fill.casefold():
        return before + fill + after, len(before), len(before) + len(fill)
    if (times := sentence.count(fill)) != 1:
        raise Unscorable(f"the filler {fill!r} stands {times} times in the sentence, so its place is not known")
    begin = sentence.index(fill)
    return sentence, begin, begin + len(fill)


def items(backend: Backend, cats: Sequence[Cat], protocol: Protocol) -> list[Item | Score]:
    """One item for each candidate of intrasentence CATs, for a model that reads in both directions."""
    reader, chosen = backend.reader, protocol.stereoset
    framed = in_both_directions(backend, possible(cats, lambda cat, candidate: filled(cat, candidate)[0]), protocol)

    def item(cat: Cat, candidate: Candidate) -> Item:
        text, begin, end = filled(cat, candidate)
        tokens = reader.check(framed[text])
        places = tokens.span(begin, end)
        unknown = reader.unknowns(tokens)
        gap = backend.model.kind == "sequence-to-sequence"
        if chosen.masked == "pseudo" and not gap:
            context = [place for place in tokens.of() if place not in places]
            if not context:
                raise Unscorable("the filler is the whole sentence, so that no context is left to score")
            queries = behind_masks(reader, tokens, context, protocol.pseudo)
            return Item(candidate.id, cat.kind, queries, over_length(protocol.length), len(context), unknown)
        queries = (into_gap(backend, tokens, places),) if gap else hidden(reader, tokens, places, chosen.masks)
        return Item(candidate.id, cat.kind, queries, over_pieces(chosen.pieces), len(places), unknown)

    return of_candidates(cats, item)


def in_both_directions(backend: Backend, texts: Iterable[str], protocol: Protocol) -> dict[str, Tokens]:
    """The tokens of sentences as a model reads them in both directions: an XLNet after the padding text."""
    if backend.model.kind == "permutation":
        return backend.reader.after(protocol.stereoset.padding_text or "", texts)
    return {tokens.text: tokens for tokens in backend.reader.framed(texts).values()}


def hidden(reader: Reader, tokens: Tokens, places: range, masks: Masks) -> Asked:
    """The pieces of a span: each behind one mask after the pieces before it, or all behind masks of their own."""
    before, pieces, after = (
        tokens.ids[: places.start],
        tokens.ids[places.start : places.stop],
        tokens.ids[places.stop :],
    )
    types = tokens.types
    if masks == "all":
        row = (*before, *[reader.mask] * len(pieces), *after)
        return (Fill(row, tuple(places), pieces, types),)
    return tuple(
        Fill(
            (*before, *pieces[:count], reader.mask, *after),
            (places.start + count,),
            (pieces[count],),
            (*types[: places.start + count + 1], *types[places.stop :]),
        )
        for count in range(len(pieces))
    )
