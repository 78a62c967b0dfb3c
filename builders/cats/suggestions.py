"""Words that a masked model proposes for a BLANK: neutral ones fit anybody, unrelated ones describe things."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catsofa.builders.cats import Association, refused, shared_parts, takes_target
from catsofa.builders.cats.fills import Number, Part, in_number, readings, usual_kinds
from catsofa.builders.cats.templates import Template
from catsofa.builders.stereotypes.exclusions import Names, topic
from catsofa.data.language.articles import article
from catsofa.data.language.blanks import fill, fit_article, slots
from catsofa.data.language.inflection import singulars
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import words
from catsofa.data.records import LABELS, Refused

ALIKE = log(2)
"""The maximum change of a neutral word's log-probability by a target."""
THINGS = 200
"""Number of words that are most likely of things; unrelated words are chosen among them."""
PARTS: tuple[Part, ...] = ("adjective", "noun", "bare noun", "verb", "infinitive")

COLUMNS = (
    *("row", "target", "bias_type", "label", "word", "sentence", "choose (yes/no)"),
    *("log_probability", "ratio", "model", "weights"),
)

Floats = NDArray[np.float64]


class Gap(NamedTuple):
    """The text before and behind one missing word."""

    before: str
    after: str


@dataclass(frozen=True)
class Guesser:
    """A masked model: the words it knows as one token each, and their log-probabilities in gaps."""

    words: Sequence[str]
    ask: Callable[[Sequence[Gap]], Sequence[Floats]]

    @cached_property
    def places(self) -> dict[str, int]:
        """The index of each word."""
        return {word: index for index, word in enumerate(self.words)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A word that people may choose for an association; it is not used unless somebody chooses it."""

    association: Association
    label: str
    """`neutral` or `unrelated`."""
    word: str
    sentence: str
    """The first template, filled with the target and the word."""
    log_probability: float
    """Log-probability of the word in templates about others (neutral), or in sentences about things (unrelated)."""
    ratio: float
    """The log-probability with the target less `log_probability`."""

    @property
    def source(self) -> Mapping[str, Any]:
        """The source of its association."""
        return self.association.source

    def row(self, identity: Mapping[str, Any]) -> dict[str, str]:
        """Returns the row of a table for people, with the model that proposed the word and without the choice."""
        numbers = {"log_probability": f"{self.log_probability:.3f}", "ratio": f"{self.ratio:.3f}"}
        return {
            "row": str(self.association.source["row"]),
            "target": self.association.target,
            "bias_type": self.association.bias_type,
            "label": self.label,
            "word": self.word,
            "sentence": self.sentence,
            **numbers,
            "model": identity["model"],
            "weights": identity["digest"],
        }


def suggest(
    associations: Sequence[Association | Refused], templates: Sequence[Template], guesser: Guesser, top: int
) -> Iterator[Suggestion | Refused]:
    """Yields up to `top` neutral and `top` unrelated words for each association, of its part of speech.

    Neutral words are likely in the templates about others of the target's kind, and about as likely about the target.
    Unrelated words are likely of things, and much less likely of people. Words of an association of the same target,
    names of groups, slurs and excluded topics are never proposed.
    """
    used: dict[str, set[frozenset[str]]] = defaultdict(set)
    for one in associations:
        if isinstance(one, Association):
            used[one.target] |= {singulars(word) for text in one.words.values() for word in words(text)}
    answers = _Asked(guesser)
    for one in associations:
        if isinstance(one, Refused):
            yield one
            continue
        own_words = [one.words[label] for label in LABELS if label != "unrelated" and one.words[label]]
        parts = shared_parts(own_words, one.context) if one.target and one.words["stereotype"] else set()
        fitting = [template for template in templates if takes_target(template, one)]
        part = next((p for p in PARTS if p in parts and any(t.blank == p for t in fitting)), None)
        if part is None:
            yield refused(one, "no_template_fits" if parts else "no_part_of_speech")
            continue
        own = [template for template in fitting if template.blank == part]
        yield from _of(one, part, own, answers, used[one.target], top)


def _of(
    one: Association,
    part: Part,
    templates: Sequence[Template],
    answers: "_Asked",
    used: set[frozenset[str]],
    top: int,
) -> Iterator[Suggestion | Refused]:
    """Yields the words for one association."""
    other_terms = [term for term in wordlist("fills.toml")["others"][templates[0].takes] if term != one.target.lower()]

    def about(term: str) -> list[tuple[str, Number]]:
        return [(t.about(term), "plural" if t.plural else t.number(term)) for t in templates]

    places = about(one.target)
    number_of_things: Number = "plural" if part == "verb" else "singular"
    of_things = [(context, number_of_things) for context in wordlist("fills.toml")["things"][part]]
    bases = answers.bases(part)
    target = answers.mean(part, places)
    anybody = np.mean([answers.mean(part, about(term)) for term in other_terms], axis=0)
    things = answers.mean(part, of_things)
    free = np.array([not any(singulars(base) & each for each in used) for base in bases], dtype=bool)
    scored = free & ~np.isnan(target + anybody + things)
    alike = scored & (np.abs(target - anybody) <= ALIKE)
    likely = scored & (things >= np.sort(things[scored])[-THINGS:].min(initial=np.inf))
    # words that are unlikely of people come first
    far = things - np.maximum(target, anybody)
    context, number = places[0]
    for label, usable, value, order in (("neutral", alike, anybody, anybody), ("unrelated", likely, things, far)):
        best = [index for index in np.argsort(-order, kind="stable") if usable[index]][:top]
        for index in best:
            yield Suggestion(
                association=one,
                label=label,
                word=bases[index],
                sentence=fill(context, in_number(bases[index], part, number)),
                log_probability=float(value[index]),
                ratio=float(target[index] - value[index]),
            )
        if not best:
            yield refused(one, f"no_{label}_word")


class _Asked:
    """The answers of a masked model about words of each part of speech; each gap is computed once."""

    def __init__(self, guesser: Guesser) -> None:
        self._guesser, self._names = guesser, Names()
        self._bases: dict[Part, list[str]] = {}
        self._forms: dict[tuple[Part, Number], _Forms] = {}
        self._gaps: dict[Gap, Floats] = {}

    def bases(self, part: Part) -> list[str]:
        """Returns the words of this part of speech that may be shown, in the base form of templates."""
        if part not in self._bases:
            kind = {"bare noun": "noun", "infinitive": "verb"}.get(part, part)
            candidates = {
                reading.words
                for word in self._guesser.words
                if (reading := readings(word).get(part))
                and not reading.phrase
                and usual_kinds(reading.words) == {kind}
                and self._may_be_shown(word)
            }
            self._bases[part] = sorted(base for base in candidates if base.isalpha() and base.islower())
        return self._bases[part]

    def _may_be_shown(self, word: str) -> bool:
        """Returns True if a word is no group name, slur, word of an excluded topic, or word that the lists exclude."""
        named = self._names.first(word, "revised") or self._names.first(f"{word} people", "revised")
        return not (named or topic(word, "revised") or word in wordlist("fills.toml")["no_proposal"])

    def mean(self, part: Part, contexts: Sequence[tuple[str, Number]]) -> Floats:
        """Returns the mean log-probability of each word over contexts, in the form each needs.

        It is NaN if the form is not one token of the model.
        """
        means = []
        for context, number in contexts:
            start, end = slots(context)[0]
            forms = self._of(part, number)
            either = [Gap(fit_article(context[:start], word), context[end:]) for word in ("book", "apple")]
            missing = [gap for gap in dict.fromkeys(either) if gap not in self._gaps]
            self._gaps |= zip(missing, self._guesser.ask(missing) if missing else (), strict=True)
            consonant, vowel = (np.append(self._gaps[gap], np.nan)[forms.places] for gap in either)
            means.append(np.where(forms.vowel, vowel, consonant))
        return np.asarray(np.mean(means, axis=0))

    def _of(self, part: Part, number: Number) -> "_Forms":
        """Returns the words of a part of speech in a number."""
        if (part, number) not in self._forms:
            forms = [in_number(base, part, number) for base in self.bases(part)]
            last = len(self._guesser.words)
            places = np.array([self._guesser.places.get(form, last) for form in forms], dtype=np.int64)
            vowel = np.array([article(form) == "an" for form in forms], dtype=bool)
            self._forms[part, number] = _Forms(places, vowel)
        return self._forms[part, number]


class _Forms(NamedTuple):
    """Words in a number: their indices among those of the model, the last for none, and which of them take `an`."""

    places: NDArray[np.int64]
    vowel: NDArray[np.bool_]
