"""Attributes exactly as StereoSet's released code scores them, its oddities included.

The word is the one at the place of the last BLANK between spaces, without punctuation. Its pieces are decoded to
text, put before a mask in every BLANK, and tokenised again; with several masks, the first one counts. So letters glued
to a BLANK occur twice ("protecteded"), and no piece depends on the space before it.
"""

import string
from collections.abc import Sequence

from catsofa.data.records import BLANK, Candidate, Cat, Score
from catsofa.scoring.items import Item, of_candidates, over_pieces, possible
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import SingleFill
from catsofa.scoring.measures.stereoset.attributes import in_both_directions
from catsofa.scoring.models.tokens import Unscorable
from catsofa.scoring.protocols import Protocol

PUNCTUATION = str.maketrans("", "", string.punctuation)


def word_of(cat: Cat, candidate: Candidate) -> str:
    """The word of the sentence at the place of the context's last BLANK, without punctuation."""
    places = [place for place, word in enumerate(cat.context.split(" ")) if BLANK in word]
    words = candidate.text.split(" ")
    if not places or places[-1] >= len(words):
        raise Unscorable("the sentence has no word at the place of the BLANK")
    word = words[places[-1]].translate(PUNCTUATION)
    if not word:
        raise Unscorable("the word at the place of the BLANK is nothing but punctuation")
    return word


def items(backend: Backend, cats: Sequence[Cat], protocol: Protocol) -> list[Item | Score]:
    """One item for each candidate of intrasentence CATs."""
    reader, tokenizer = backend.reader, backend.model.tokenizer
    words = reader.bare(possible(cats, word_of))
    pieces = {text: tokens.ids for text, tokens in words.items()}

    def rows(cat: Cat, candidate: Candidate) -> list[str]:
        """The context for each piece: the pieces before it as text, then a mask, in every BLANK."""
        own_pieces = pieces[word_of(cat, candidate)]
        before = [tokenizer.decode(list(own_pieces[:count])) for count in range(len(own_pieces))]
        return [cat.context.replace(BLANK, text + tokenizer.mask_token) for text in before]

    framed = in_both_directions(backend, (text for texts in possible(cats, rows) for text in texts), protocol)

    def item(cat: Cat, candidate: Candidate) -> Item:
        token_rows = [reader.check(framed[text], allow=reader.mask) for text in rows(cat, candidate)]
        queries = tuple(
            SingleFill(tokens.ids, (tokens.ids.index(reader.mask),), (piece,), tokens.types)
            for tokens, piece in zip(token_rows, pieces[word_of(cat, candidate)], strict=True)
        )
        unknown = reader.unknowns(words[word_of(cat, candidate)]) + reader.unknowns(token_rows[0])
        return Item(candidate.id, cat.kind, queries, over_pieces(protocol.stereoset.pieces), len(queries), unknown)

    return of_candidates(cats, item)
