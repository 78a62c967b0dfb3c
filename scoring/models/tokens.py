"""Texts to token sequences: each distinct text once, spans by character offsets, one start token."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from catsofa.scoring.models import Model
from catsofa.scoring.models.unknown_text import dropped_by, unknown_ids

Text = str | tuple[str, str]
"""A sentence, or a context and the sentence after it."""
Ids = tuple[int, ...]
AT_ONCE = 1024
"""Texts that are tokenised in one call."""


class Unscorable(ValueError):
    """An item that has no right score under this protocol and model; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text's tokens, and where each stands: its characters, its word, its segment."""

    text: str
    ids: Ids
    offsets: tuple[tuple[int, int], ...]
    words: tuple[int | None, ...]
    types: Ids
    segments: tuple[int | None, ...]
    """0 or 1 for the tokens of a text, None for the special tokens around them."""
    dropped: int = 0
    """Letters of the text, or of both texts, that the tokenizer left out without a token."""

    def of(self, segment: int = 0) -> list[int]:
        """The positions of a text's own tokens."""
        return [at for at, found in enumerate(self.segments) if found == segment]

    def span(self, begin: int, end: int) -> range:
        """The positions of the tokens that spell these characters of the first text.

        A token of spaces alone belongs to the context, unless the tokenizer begins the word with it: Llama reads
        "zorb" as "▁" and "zorb", and "▁" is then the first piece of the word.
        """
        inside: list[int] = []
        before: int | None = None
        for position in self.of():
            if self.offsets[position][0] >= end:
                break  # tokens are in the order of their characters
            low, high = self._without_space(position)
            if low == high:
                before = position
                continue
            if low < end and high > begin:
                if low < begin or high > end:
                    piece = self.text[low:high]
                    raise Unscorable(f"the token {piece!r} joins {self.text[begin:end]!r} with the letters beside it")
                if not inside and before is not None and self._begins_word(before, position):
                    inside.append(before)
                inside.append(position)
            before = None
        if not inside:
            raise Unscorable(f"no token covers {self.text[begin:end]!r}")
        return range(inside[0], inside[-1] + 1)

    def _begins_word(self, space: int, first: int) -> bool:
        """Whether a token of spaces is the word's own beginning: one plain space in its word, right before it."""
        low, high = self.offsets[space]
        joined = high == self._without_space(first)[0] and self.offsets[first][0] >= high
        return joined and self.text[low:high] in ("", " ") and self.words[space] == self.words[first]

    def after(self, end: int) -> int:
        """How many tokens of the first text follow those that cover its beginning, as `span(0, end)` does."""
        places = self.of()
        last = bisect_left(places, end, key=lambda at: self.offsets[at][0])
        while last:
            low, high = self._without_space(places[last - 1])
            if low < min(high, end):
                break
            last -= 1  # nothing but space: it belongs to what follows it
        else:
            raise Unscorable(f"no token covers {self.text[:end]!r}")
        if high > end:
            raise Unscorable(f"the token {self.text[low:high]!r} joins {self.text[:end]!r} with the letters beside it")
        return len(places) - last

    def _without_space(self, at: int) -> tuple[int, int]:
        """A token's characters, from its first that is no space."""
        low, high = self.offsets[at]
        piece = self.text[low:high]
        return low + len(piece) - len(piece.lstrip()), high


class Reader:
    """A model's tokenizer as scoring needs it: nothing cut, nothing padded, special tokens known by their ids."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._tokenizer = model.tokenizer
        self._config = model.module.config.get_text_config()
        self._body = model.body

    @cached_property
    def _backend(self) -> Any:
        """The Rust tokenizer, without the truncation and padding a tokenizer.json may carry."""
        backend = self._tokenizer.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
        return backend

    @cached_property
    def start(self) -> int:
        """The token before a text: the tokenizer's BOS, or its end-of-text where it has no BOS."""
        for token in (self._tokenizer.bos_token_id, self._tokenizer.eos_token_id):
            if token is not None:
                return int(token)
        raise Unscorable(f"the tokenizer of {self.name} has no start token, so a text's first token has no probability")

    @cached_property
    def adds_start(self) -> bool:
        """Whether the tokenizer puts the start token before a text by itself."""
        return bool(self._backend.encode("a").ids[:1] == [self.start])

    @cached_property
    def mask(self) -> int:
        """The mask's id."""
        if self._tokenizer.mask_token_id is None:
            raise Unscorable(f"the tokenizer of {self.name} has no mask token")
        return int(self._tokenizer.mask_token_id)

    @cached_property
    def pad(self) -> int:
        """An id that fills a row; it is never read, but some models count positions by it."""
        return int(self._tokenizer.pad_token_id or 0)

    @cached_property
    def segmented(self) -> bool:
        """Whether the model is told which segment a token belongs to."""
        return "token_type_ids" in self._tokenizer.model_input_names

    @cached_property
    def limit(self) -> int:
        """The most tokens the model reads at once."""
        limits = [int(self._tokenizer.model_max_length)]
        if (found := getattr(self._config, "max_position_embeddings", None) or 0) > 0:
            table = getattr(getattr(self._body, "embeddings", None), "position_embeddings", None)
            padding = getattr(table, "padding_idx", None)
            limits.append(int(found) - (0 if padding is None else padding + 1))
        return min(limits)

    @cached_property
    def _unknown(self) -> frozenset[int]:
        """The ids of what the tokenizer does not know; none where it can spell everything, as by bytes."""
        return unknown_ids(self._tokenizer)

    @cached_property
    def _dropped(self) -> Callable[[str], int] | None:
        """Counts the letters that the tokenizer drops; None if it drops none."""
        return dropped_by(self._tokenizer)

    def unknowns(self, tokens: Tokens, places: Iterable[int] | None = None) -> int:
        """How many of a text's tokens, or of those at these places, are unknown, and the letters that it dropped.

        Dropped letters count wherever they stood, for the tokens after them no longer tell their own places.
        """
        if self._unknown.isdisjoint(tokens.ids):
            return tokens.dropped
        own = tokens.of() if places is None else places
        return tokens.dropped + sum(tokens.ids[at] in self._unknown for at in own)

    @cached_property
    def _special(self) -> frozenset[int]:
        """Ids that must not come out of a text itself; the unknown token may."""
        special = set(self._tokenizer.all_special_ids) - self._unknown
        return frozenset(special | ({self.start} if self._tokenizer.bos_token_id is not None else set()))

    def bare(self, texts: Iterable[str]) -> dict[str, Tokens]:
        """Each distinct text's tokens, with nothing added."""
        return {text: tokens for text, tokens in self._encode(texts, special=False) if isinstance(text, str)}

    def framed(self, texts: Iterable[Text]) -> dict[Text, Tokens]:
        """Each distinct text's tokens as the model was trained to read them ([CLS] … [SEP])."""
        return dict(self._encode(texts, special=True))

    def _encode(self, texts: Iterable[Text], special: bool) -> Iterator[tuple[Text, Tokens]]:
        """Distinct texts in order, some at a time: the tokenizer's output takes several times their room."""
        left = iter(dict.fromkeys(texts))
        while some := list(islice(left, AT_ONCE)):
            found = self._backend.encode_batch(some, add_special_tokens=special)
            yield from map(self._tokens, some, found)

    def _tokens(self, text: Text, encoding: Any) -> tuple[Text, Tokens]:
        """A text with its tokens, as a tokenizer gives them."""
        texts = (text,) if isinstance(text, str) else text
        return text, Tokens(
            text=texts[0],
            ids=tuple(encoding.ids),
            offsets=tuple(encoding.offsets),
            words=tuple(encoding.word_ids),
            types=tuple(encoding.type_ids),
            segments=tuple(encoding.sequence_ids),
            dropped=sum(map(self._dropped, texts)) if self._dropped else 0,
        )

    def check(self, tokens: Tokens, added: int = 0, allow: int | None = None) -> Tokens:
        """The tokens, unless the text is empty, too long for the model, or spells a special token."""
        own = [token for token, of in zip(tokens.ids, tokens.segments, strict=True) if of is not None]
        if not own:
            raise Unscorable("the text has no tokens")
        if len(tokens.ids) + added > self.limit:
            raise Unscorable(f"{len(tokens.ids) + added} tokens; {self.name} reads at most {self.limit}")
        if not self._special.isdisjoint(own):
            spelt = (self._special & set(own)) - {allow}
            if spelt:
                token = self._tokenizer.convert_ids_to_tokens(min(spelt))
                raise Unscorable(f"the text spells the special token {token}")
        return tokens

    def started(self, tokens: Tokens) -> Ids:
        """The start token once, then the text."""
        return (self.start, *self.check(tokens, added=1).ids)
