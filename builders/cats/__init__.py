"""CATs from templates and associations (intrasentence), or from contexts and continuations (intersentence)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from catsofa.builders.cats.templates import Number, Part, Template, kind_of_term
from catsofa.builders.dictionary import other_parts, verb_tags
from catsofa.data.files import csv_files, lines
from catsofa.data.language.blanks import check, fill, slots
from catsofa.data.language.inflection import plural_noun, plural_verb, singular_noun, third_person
from catsofa.data.records import LABELS, Candidate, Cat, Extra, Kind, Label, Refused, content_id

COLUMNS = ("target", "bias_type", *LABELS)
"""The columns of a file of associations; one of continuations has `context` too."""
_LINKS = frozenset({"am", "is", "are", "was", "were", "be", "been"})


@dataclass(frozen=True, slots=True)
class Association:
    """What is said of a target: three words or phrases for a BLANK, or three sentences after a context."""

    target: str
    bias_type: str
    words: Mapping[Label, str]
    context: str = ""
    source: Extra = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The same for the same content."""
        return content_id("association", self.target, self.bias_type, self.context, *map(self.words.get, LABELS))


@dataclass(frozen=True, slots=True)
class Matching:
    """What the three candidates must have in common."""

    part_of_speech: bool = False
    frequency: Mapping[str, float] | None = None
    gap: float = 1.0
    """The most that their frequencies may differ by; on the Zipf scale 1.0 is ten times as frequent."""


def read_associations(path: Path | str, *, with_context: bool = False) -> Iterator[Association]:
    """The associations of a CSV or TSV; the unrelated one may be left empty, to be chosen."""
    needed = (*COLUMNS, "context") if with_context else COLUMNS
    for row, (_, cells) in enumerate(csv_files.rows(path, needed, "associations (CSV or TSV)"), 1):
        words: dict[Label, str] = {label: cells[label].strip() for label in LABELS}
        context = cells["context"].strip() if with_context else ""
        yield Association(cells["target"].strip(), cells["bias_type"].strip(), words, context, {"row": row})


def read_words(path: Path | str) -> tuple[str, ...]:
    """Words, one a line, each once."""
    return tuple(dict.fromkeys(line.strip() for _, line in lines(path, "words, one a line")))


def intrasentence(
    templates: Sequence[Template],
    associations: Iterable[Association],
    *,
    matching: Matching | None = None,
    unrelated: Callable[[Association], str | None] | None = None,
    source: Extra | None = None,
) -> Iterator[Cat | Refused]:
    """Each association in every template that fits it; `unrelated` chooses the words an association leaves open."""
    seen: set[str] = set()
    for association in associations:
        if not association.words["unrelated"] and unrelated:
            words = {**association.words, "unrelated": unrelated(association) or ""}
            association = Association(association.target, association.bias_type, words, "", association.source)
        fault = fault_of(association, matching or Matching())
        fitting = [] if fault else [template for template in templates if fits(template, association)]
        if not fitting:
            yield refused(association, fault or "no_template_fits")
            continue
        for template in fitting:
            cat = _in_template(template, association, source or {})
            if isinstance(cat, Refused):
                yield cat
            elif cat.id not in seen:
                seen.add(cat.id)
                yield cat


def intersentence(associations: Iterable[Association], source: Extra | None = None) -> Iterator[Cat | Refused]:
    """Each context with its three continuations; a context with a BLANK, or two equal continuations, are refused."""
    seen: set[str] = set()
    for association in associations:
        fault = fault_of(association, Matching())
        if not association.context or check(association.context) != "no_blank":
            fault = "blank_in_context" if association.context else "no_context"
        if fault:
            yield refused(association, fault)
            continue
        cat = _cat(association, "intersentence", association.context, association.words, {}, source or {})
        if cat.id in seen:
            yield refused(association, "duplicate")
        else:
            seen.add(cat.id)
            yield cat


def fits(template: Template, association: Association) -> bool:
    """Whether a template takes this target, this bias type and words of this part of speech."""
    if template.bias_types and association.bias_type not in template.bias_types:
        return False
    if template.takes != kind_of_term(association.target, association.bias_type):
        return False
    return template.blank == "any" or all(template.blank in parts_of(words) for words in association.words.values())


def fault_of(association: Association, matching: Matching) -> str | None:
    """What is wrong with the three candidates of an association, or None."""
    words = list(association.words.values())
    if not association.target or not all(words):
        return "empty_candidate"
    if len({text.casefold() for text in words}) < len(words):
        return "same_candidates"
    if matching.part_of_speech and not set.intersection(*map(parts_of, words)):
        return "part_of_speech_differs"
    if matching.frequency is None:
        return None
    frequencies = [matching.frequency.get(text.lower()) for text in words]
    known = [value for value in frequencies if value is not None]
    if len(known) < len(words):
        return "unknown_frequency"
    return "frequency_differs" if max(known) - min(known) > matching.gap else None


def parts_of(words: str) -> set[Part]:
    """The parts of speech that words for a BLANK can be; words the dictionary lacks can be any."""
    first, last = words.lower().split()[0], words.lower().split()[-1]
    tags, parts = verb_tags(first), other_parts(last)
    found: set[Part] = set()
    if tags & {"VB", "VBP", "VBZ"}:
        found.add("verb")
    if "NOUN" in parts or "PROPN" in parts:
        found.add("noun")
    if "ADJ" in parts or verb_tags(last) & {"VBN", "VBG"}:
        found.add("adjective")
    return found if parts or tags else {"adjective", "noun", "verb"}


def _in_template(template: Template, association: Association, source: Extra) -> Cat | Refused:
    """The CAT of an association in a template, unless another word of it would have to change."""
    context = template.about(association.target)
    words = {label: in_number(text, template.blank, template.number) for label, text in association.words.items()}
    if any(wrong_number(context, text) for text in words.values()):
        return refused(association, "wrong_number", context)
    texts = {label: fill(context, text) for label, text in words.items()}
    return _cat(association, "intrasentence", context, texts, words, {"template": template.context, **source})


def wrong_number(context: str, words: str) -> bool:
    """Whether a noun clashes with its slot: a plural after a or an, or one thing after a verb without its article."""
    start, end = slots(context)[0]
    before, is_head = context[:start].rstrip().rsplit(" ", 1)[-1].lower(), not context[end:].lstrip(" ")[:1].isalnum()
    head = words.split()[-1].lower()
    if not is_head or other_parts(head) != {"NOUN"} or verb_tags(head) - {"VBZ"}:
        return False
    plural = singular_noun(head) is not None
    return plural if before in ("a", "an") else not plural and before in _LINKS and plural_noun(head) != head


def in_number(words: str, part: Part, number: Number) -> str:
    """Words for a BLANK in the number of the target: nouns take a plural, verbs the third person's -s."""
    if part == "noun":
        one = singular_noun(words) or words
        return one if number == "singular" else plural_noun(one)
    if part == "verb":
        verb, space, rest = words.partition(" ")
        base = plural_verb(verb) if "VB" not in verb_tags(verb) and "VBZ" in verb_tags(verb) else verb
        return (base if number == "plural" else third_person(base)) + space + rest
    return words


def _cat(
    association: Association,
    kind: Kind,
    context: str,
    texts: Mapping[Label, str],
    fills: Mapping[Label, str],
    source: Extra,
) -> Cat:
    """A CAT with its candidates in the order of the labels."""
    candidates = tuple(Candidate(text=texts[label], label=label, fill=fills.get(label)) for label in LABELS)
    return Cat(
        kind=kind,
        bias_type=association.bias_type,
        target=association.target,
        context=context,
        candidates=(candidates[0], candidates[1], candidates[2]),
        source={"association": association.id, **association.source, **source},
    )


def refused(association: Association, reason: str, context: str = "") -> Refused:
    """The refusal of an association, or of an association in one context."""
    context = context or association.context
    text = " / ".join([context or association.target, *association.words.values()])
    item = content_id("association", association.id, context) if context else association.id
    return Refused(id=item, reason=reason, text=text, source=association.source)


@dataclass(frozen=True, slots=True)
class Unrelated:
    """Chooses an unrelated word from a pool: the part of speech of the other two, and as frequent as they are."""

    pool: Sequence[str]
    rng: np.random.Generator
    frequency: Mapping[str, float] | None = None

    def __call__(self, association: Association) -> str | None:
        """A word of the pool, or None if none fits."""
        given = [association.words["stereotype"], association.words["anti-stereotype"]]
        parts = set.intersection(*map(parts_of, given)) if all(given) else set()
        taken = {word.casefold() for word in given}
        fitting = [word for word in self.pool if word.casefold() not in taken and parts & parts_of(word)]
        if not fitting:
            return None
        if self.frequency is None:
            return fitting[int(self.rng.integers(len(fitting)))]
        known = self.frequency
        wanted = float(np.mean([known.get(word.lower(), 0.0) for word in given]))
        distance = [abs(known.get(word.lower(), 0.0) - wanted) for word in fitting]
        nearest = [word for word, far in zip(fitting, distance, strict=True) if far == min(distance)]
        return nearest[int(self.rng.integers(len(nearest)))]
