"""CATs from templates and associations (intrasentence), or from contexts and continuations (intersentence)."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast, get_args

import numpy as np

from catsofa.builders.cats.fills import Part, are_deeds, in_number, is_said_of_target, readings
from catsofa.builders.cats.templates import Template, TermKind, kind_of_term
from catsofa.builders.dictionary import head_of, names_people, other_parts, verb_tags
from catsofa.data.files import csv_files, faults, lines
from catsofa.data.language.blanks import check, fill, slots
from catsofa.data.language.inflection import plural_noun, singular_noun
from catsofa.data.language.same_meaning import core
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import words as words_in
from catsofa.data.languages.texts import names
from catsofa.data.records import LABELS, Candidate, Cat, Extra, Kind, Label, Refused, content_id

COLUMNS = ("target", "bias_type", *LABELS)
"""Columns of a file of associations. Continuations also need `context`; both may have `target_kind`."""
EXPECTED = "associations (CSV or TSV)"
GIVEN = "unrelated_given"
"""The field of a source with the unrelated word that was replaced; empty if the association had none."""
_COMPLETE = re.compile(r"""[.!?…]["'”’)\]]*\s*$""")
_LINKS = frozenset({"am", "is", "are", "was", "were", "be", "been"})


@dataclass(frozen=True, slots=True)
class Association:
    """An association with a target: three words or phrases for a BLANK, or three sentences after a context.

    Words may have a context too: the sentence with a BLANK for which they were written. It decides their parts of
    speech.
    """

    target: str
    bias_type: str
    words: Mapping[Label, str]
    context: str = ""
    source: Extra = field(default_factory=dict)
    target_kind: TermKind | None = None
    """The kind of the target: a person, thing, name, …; if None, the lists decide."""

    @property
    def id(self) -> str:
        """A hash of the content."""
        return content_id("association", self.target, self.bias_type, self.context, *map(self.words.get, LABELS))


@dataclass(frozen=True, slots=True)
class Matching:
    """The properties that the three candidates must share."""

    part_of_speech: bool = False
    frequency: Mapping[str, float] | None = None
    gap: float = 1.0
    """The maximum difference of their frequencies; on the Zipf scale 1.0 is ten times as frequent."""


def read_associations(path: Path | str, *, with_context: bool = False) -> Iterator[Association | Refused]:
    """Yields the associations of a CSV or TSV, and a refusal for each faulty row; words may be empty."""
    needed = (*COLUMNS, "context") if with_context else COLUMNS
    rows, count = csv_files.rows(path, needed, EXPECTED), 0
    while True:
        with faults.leaving_out() as row_faults:
            _, cells = next(rows, (0, None))
        for fault in row_faults:
            count += 1
            source = {"row": count, "line": fault.line}
            yield Refused(id=content_id("row", count), reason="faulty_row", text=fault.complaint, source=source)
        if cells is None:
            return
        count += 1
        words: dict[Label, str] = {label: cells[label].strip() for label in LABELS}
        target, bias_type, context = (cells.get(name, "").strip() for name in ("target", "bias_type", "context"))
        kind = cells.get("target_kind", "").strip() or None
        association = Association(target, bias_type, words, context, {"row": count}, cast(TermKind | None, kind))
        valid = kind is None or kind in get_args(TermKind)
        yield association if valid else refused(association, "unknown_target_kind", failed={"target_kind": str(kind)})


def bundled_words() -> tuple[str, ...]:
    """Returns the bundled unrelated words."""
    return tuple(wordlist("fills.toml")["unrelated"]["words"])


def read_words(path: Path | str) -> tuple[str, ...]:
    """Reads words, one per line, without repeats."""
    return tuple(dict.fromkeys(line.strip() for _, line in lines(path, "words, one a line")))


def intrasentence(
    templates: Sequence[Template],
    associations: Iterable[Association | Refused],
    *,
    matching: Matching | None = None,
    unrelated: Callable[[Association], str | None] | None = None,
    source: Extra | None = None,
) -> Iterator[Cat | Refused]:
    """Yields each association in every template that fits it, or a refusal.

    `unrelated` chooses the unrelated words that an association leaves open, and those of another part of speech than
    the other two.
    """
    seen_ids = set[str]()
    for association in associations:
        if isinstance(association, Refused):
            yield association
            continue
        association = _with_unrelated(association, unrelated) if unrelated else association
        fault = fault_of(association, matching or Matching())
        fitting = [] if fault else [template for template in templates if fits(template, association)]
        if fault:
            empty = {label: "" for label, words in association.words.items() if not words}
            yield refused(association, fault, failed=empty)
        elif not kind_of_target(association):
            yield refused(association, "unknown_target_kind", failed={"target": association.target})
        elif not fitting:
            yield refused(association, "no_template_fits", failed=misfits(templates, association))
        for template in fitting:
            cat = _in_template(template, association, source or {})
            if isinstance(cat, Refused):
                yield cat
            elif cat.id in seen_ids:
                yield refused(association, "duplicate", cat.context)
            else:
                seen_ids.add(cat.id)
                yield cat


def _with_unrelated(association: Association, choose: Callable[[Association], str | None]) -> Association:
    """Returns an association with a chosen unrelated word, if its own is missing or no part of speech fits."""
    own_word = association.words["unrelated"]
    other_words = [association.words[label] for label in LABELS if label != "unrelated"]
    shared = shared_parts(other_words, association.context) if all(other_words) else set[Part]()
    if own_word and (not shared or shared & readings(own_word, association.context).keys()):
        return association
    if not (chosen := choose(association)):
        return association
    source = {**association.source, GIVEN: own_word}
    return replace(association, words={**association.words, "unrelated": chosen}, source=source)


def intersentence(
    associations: Iterable[Association | Refused], source: Extra | None = None
) -> Iterator[Cat | Refused]:
    """Yields each context with its three continuations; one that is cut off or lacks the target is refused."""
    seen_ids = set[str]()
    for association in associations:
        if isinstance(association, Refused):
            yield association
            continue
        if fault := fault_of_continuations(association):
            cut_off = _cut_off(association) if fault == "incomplete_continuation" else None
            yield refused(association, fault, failed=cut_off)
            continue
        cat = _cat(association, "intersentence", association.context, association.words, {}, source or {})
        if cat.id in seen_ids:
            yield refused(association, "duplicate")
        else:
            seen_ids.add(cat.id)
            yield cat


def fault_of_continuations(association: Association) -> str | None:
    """Returns the fault of a context and its continuations, or None."""
    if fault := fault_of(association, Matching()) or _fault_of_context(association):
        return fault
    if len({core(text) for text in association.words.values()}) < len(LABELS):
        return "same_candidates"
    return "incomplete_continuation" if _cut_off(association) else None


def _cut_off(association: Association) -> dict[str, str]:
    """Returns the continuations that do not end like a sentence."""
    return {label: text for label, text in association.words.items() if not _COMPLETE.search(text)}


def _fault_of_context(association: Association) -> str | None:
    """Returns the fault of the context of continuations, or None."""
    context = association.context
    if not context:
        return "no_context"
    if check(context) != "no_blank":
        return "blank_in_context"
    if not names(context, association.target, "en"):
        return "target_not_in_context"
    return None if _COMPLETE.search(context) else "incomplete_context"


def fits(template: Template, association: Association) -> bool:
    """Returns True if a template takes this target, this bias type and words of this part of speech."""
    return takes_target(template, association) and not any(_misfits(template, association))


def takes_target(template: Template, association: Association) -> bool:
    """Returns True if a template takes this target and this bias type."""
    of_type = not template.bias_types or association.bias_type in template.bias_types
    return of_type and template.takes == kind_of_target(association)


def kind_of_target(association: Association) -> TermKind | None:
    """Returns the kind of the target: from the association, else by the lists; None if both lack it."""
    return association.target_kind or kind_of_term(association.target, association.bias_type)


def _misfits(template: Template, association: Association) -> Iterator[Label]:
    """Yields the labels whose words do not fit the BLANK of a template."""
    if template.blank == "any":
        return
    one = kind_of_target(association) not in ("place", "thing") and not singular_noun(association.target.split()[-1])
    noun = one and not association.context and template.blank.endswith("noun")
    deeds = noun and are_deeds(association.words.values())
    judged = LABELS[:2] if template.calls_people and not is_said_of_target(association.context) else ()
    for label, words in association.words.items():
        reading = None if deeds else readings(words, association.context).get(template.blank)
        thing = label in judged and reading and not names_people(head_of(reading.words))
        if thing or reading is None or not template.has_room_for(reading):
            yield label


def misfits(templates: Sequence[Template], association: Association) -> dict[str, str]:
    """Returns the words that keep an association out of its best template, or its target if no template takes that."""
    taking = [template for template in templates if takes_target(template, association)]
    if not taking:
        return {"target": association.target}
    failing = (list(_misfits(template, association)) for template in taking)
    return {label: association.words[label] for label in min(failing, key=len)}


def shared_parts(words: Iterable[str], context: str = "") -> set[Part]:
    """Returns the parts of speech that all these words can be."""
    return set.intersection(*(set(readings(text, context)) for text in words))


def fault_of(association: Association, matching: Matching) -> str | None:
    """Returns the fault of the three candidates of an association, or None."""
    words = list(association.words.values())
    if not association.target or not all(words):
        return "empty_candidate"
    if any("BLANK" in text for text in (association.target, *words)):
        return "blank_in_words"
    if _same(words):
        return "same_candidates"
    if matching.part_of_speech and not shared_parts(words, association.context):
        return "part_of_speech_differs"
    if matching.frequency is None:
        return None
    values = [matching.frequency[text.lower()] for text in words if text.lower() in matching.frequency]
    if len(values) < len(words):
        return "unknown_frequency"
    return "frequency_differs" if max(values) - min(values) > matching.gap else None


def _same(texts: Iterable[str]) -> bool:
    """Returns True if two texts differ only in case, spaces and punctuation."""
    plain = [words_in(text) or (text.strip(),) for text in texts]
    return len(set(plain)) < len(plain)


def _in_template(template: Template, association: Association, source: Extra) -> Cat | Refused:
    """Returns the CAT of an association in a template, or a refusal if another word would have to change."""
    context = template.about(association.target)
    words = dict(association.words)
    if template.blank != "any":
        number = "plural" if template.plural else template.number(association.target)
        for label, text in association.words.items():
            base = readings(text, association.context)[template.blank].words
            words[label] = in_number(base, template.blank, number)
    elif any(wrong_number(context, text) for text in words.values()):
        return refused(association, "wrong_number", context)
    if _same(words.values()):
        return refused(association, "same_candidates", context)
    texts = {label: fill(context, text) for label, text in words.items()}
    about = {"template": template.context, "frame": template.frame, "polarity": template.polarity}
    return _cat(association, "intrasentence", context, texts, words, {**about, **source})


def wrong_number(context: str, words: str) -> bool:
    """Returns True if a noun clashes with its slot: a plural after a or an, or a singular after be without article."""
    start, end = slots(context)[0]
    before, is_head = context[:start].rstrip().rsplit(" ", 1)[-1].lower(), not context[end:].lstrip(" ")[:1].isalnum()
    head = words.split()[-1].lower()
    if not is_head or other_parts(head) != {"NOUN"} or verb_tags(head) - {"VBZ"}:
        return False
    plural = singular_noun(head) is not None
    return plural if before in ("a", "an") else not plural and before in _LINKS and plural_noun(head) != head


def _cat(
    association: Association,
    kind: Kind,
    context: str,
    texts: Mapping[Label, str],
    fills: Mapping[Label, str],
    source: Extra,
) -> Cat:
    """Returns a CAT with its candidates in the order of the labels."""
    candidates = tuple(Candidate(text=texts[label], label=label, fill=fills.get(label)) for label in LABELS)
    return Cat(
        kind=kind,
        bias_type=association.bias_type,
        target=association.target,
        context=context,
        candidates=(candidates[0], candidates[1], candidates[2]),
        source={"association": association.id, **association.source, **source},
    )


def refused(
    association: Association,
    reason: str,
    context: str = "",
    failed: Mapping[Label, str] | Mapping[str, str] | None = None,
) -> Refused:
    """Returns the refusal of an association, or of an association in one context, with the words that failed."""
    context = context or association.context
    text = " / ".join([context or association.target, *association.words.values()])
    item = content_id("association", association.id, context) if context else association.id
    source = {**association.source, **({"failed": dict(failed)} if failed else {})}
    return Refused(id=item, reason=reason, text=text, source=source)


@dataclass(frozen=True, slots=True)
class Unrelated:
    """Chooses an unrelated word from a pool, with the part of speech and the frequency of the other two.

    A hash of the association and the seed decides, so no other association of a file changes the choice.
    """

    pool: Sequence[str]
    seed: int = 0
    frequency: Mapping[str, float] | None = None

    def __call__(self, association: Association) -> str | None:
        """Returns a word of the pool, or None if none fits."""
        own_words = [association.words["stereotype"], association.words["anti-stereotype"]]
        parts = shared_parts(own_words, association.context) if all(own_words) else set()
        excluded = {word.casefold() for word in own_words}
        fitting = [word for word in self.pool if word.casefold() not in excluded and parts & readings(word).keys()]
        if (zipf := self.frequency) is not None and fitting:
            wanted = float(np.mean([zipf.get(word.lower(), 0.0) for word in own_words]))
            distance = [abs(zipf.get(word.lower(), 0.0) - wanted) for word in fitting]
            fitting = [word for word, far in zip(fitting, distance, strict=True) if far == min(distance)]
        key = (association.target, association.bias_type, association.context, *own_words)
        return min(fitting, key=lambda word: content_id("unrelated", self.seed, *key, word), default=None)
