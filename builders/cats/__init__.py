"""CATs from templates and associations (intrasentence), or from contexts and continuations (intersentence)."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast, get_args

import numpy as np

from catsofa.builders.cats.fills import Part, are_deeds, in_number, readings
from catsofa.builders.cats.templates import Template, TermKind, kind_of_term
from catsofa.builders.dictionary import other_parts, verb_tags
from catsofa.data.files import csv_files, faults, lines
from catsofa.data.language.blanks import check, fill, slots
from catsofa.data.language.inflection import plural_noun, singular_noun
from catsofa.data.language.same_meaning import core
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import words as words_in
from catsofa.data.languages.texts import names
from catsofa.data.records import LABELS, Candidate, Cat, Extra, Kind, Label, Refused, content_id

COLUMNS = ("target", "bias_type", *LABELS)
"""The columns of a file of associations; one of continuations has `context` too, and both may have `target_kind`."""
EXPECTED = "associations (CSV or TSV)"
GIVEN = "unrelated_given"
"""The field of a source with the unrelated word in whose place another was chosen; empty if there was none."""
_COMPLETE = re.compile(r"""[.!?…]["'”’)\]]*\s*$""")
_LINKS = frozenset({"am", "is", "are", "was", "were", "be", "been"})


@dataclass(frozen=True, slots=True)
class Association:
    """What is said of a target: three words or phrases for a BLANK, or three sentences after a context.

    Words may have a context too: the sentence with a BLANK that somebody wrote them for. It says what parts of speech
    they are.
    """

    target: str
    bias_type: str
    words: Mapping[Label, str]
    context: str = ""
    source: Extra = field(default_factory=dict)
    target_kind: TermKind | None = None
    """What the target is, where the lists do not know it: a person, thing, name, …"""

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


def read_associations(path: Path | str, *, with_context: bool = False) -> Iterator[Association | Refused]:
    """The associations of a CSV or TSV, and a refusal for each faulty row; the unrelated one may be left empty."""
    needed = (*COLUMNS, "context") if with_context else COLUMNS
    rows, count = csv_files.rows(path, needed, EXPECTED), 0
    while True:
        with faults.leaving_out() as found:
            _, cells = next(rows, (0, None))
        for fault in found:
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
        known = kind is None or kind in get_args(TermKind)
        yield association if known else refused(association, "unknown_target_kind", failed={"target_kind": str(kind)})


def bundled_words() -> tuple[str, ...]:
    """The unrelated words that come with catsofa."""
    return tuple(wordlist("fills.toml")["unrelated"]["words"])


def read_words(path: Path | str) -> tuple[str, ...]:
    """Words, one a line, each once."""
    return tuple(dict.fromkeys(line.strip() for _, line in lines(path, "words, one a line")))


def intrasentence(
    templates: Sequence[Template],
    associations: Iterable[Association | Refused],
    *,
    matching: Matching | None = None,
    unrelated: Callable[[Association], str | None] | None = None,
    source: Extra | None = None,
) -> Iterator[Cat | Refused]:
    """Each association in every template that fits it; what is no association is refused, and the rest goes on.

    `unrelated` chooses the unrelated words that an association leaves open, and those of another part of speech than
    the other two.
    """
    seen = set[str]()
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
            elif cat.id in seen:
                yield refused(association, "duplicate", cat.context)
            else:
                seen.add(cat.id)
                yield cat


def _with_unrelated(association: Association, choose: Callable[[Association], str | None]) -> Association:
    """An association with chosen unrelated words, if it has none or none of a part of speech of the other two."""
    given = association.words["unrelated"]
    others = [association.words[label] for label in LABELS if label != "unrelated"]
    shared = shared_parts(others, association.context) if all(others) else set[Part]()
    if given and (not shared or shared & readings(given, association.context).keys()):
        return association
    if not (chosen := choose(association)):
        return association
    source = {**association.source, GIVEN: given}
    return replace(association, words={**association.words, "unrelated": chosen}, source=source)


def intersentence(
    associations: Iterable[Association | Refused], source: Extra | None = None
) -> Iterator[Cat | Refused]:
    """Each context with its three continuations, unless one of them is cut off, or the context lacks the target."""
    seen = set[str]()
    for association in associations:
        if isinstance(association, Refused):
            yield association
            continue
        if fault := fault_of_continuations(association):
            cut_off = _cut_off(association) if fault == "incomplete_continuation" else None
            yield refused(association, fault, failed=cut_off)
            continue
        cat = _cat(association, "intersentence", association.context, association.words, {}, source or {})
        if cat.id in seen:
            yield refused(association, "duplicate")
        else:
            seen.add(cat.id)
            yield cat


def fault_of_continuations(association: Association) -> str | None:
    """What is wrong with a context and its continuations, or None."""
    if fault := fault_of(association, Matching()) or _fault_of_context(association):
        return fault
    if len({core(text) for text in association.words.values()}) < len(LABELS):
        return "same_candidates"
    return "incomplete_continuation" if _cut_off(association) else None


def _cut_off(association: Association) -> dict[str, str]:
    """The continuations that do not end as a sentence does."""
    return {label: text for label, text in association.words.items() if not _COMPLETE.search(text)}


def _fault_of_context(association: Association) -> str | None:
    """What is wrong with the context of continuations, or None."""
    context = association.context
    if not context:
        return "no_context"
    if check(context) != "no_blank":
        return "blank_in_context"
    if not names(context, association.target, "en"):
        return "target_not_in_context"
    return None if _COMPLETE.search(context) else "incomplete_context"


def fits(template: Template, association: Association) -> bool:
    """Whether a template takes this target, this bias type and words of this part of speech."""
    return takes_target(template, association) and not any(_misfits(template, association))


def takes_target(template: Template, association: Association) -> bool:
    """Whether a template takes this target and this bias type."""
    of_type = not template.bias_types or association.bias_type in template.bias_types
    return of_type and template.takes == kind_of_target(association)


def kind_of_target(association: Association) -> TermKind | None:
    """What the target is: as the association says, else by the lists; None where neither knows."""
    return association.target_kind or kind_of_term(association.target, association.bias_type)


def _misfits(template: Template, association: Association) -> Iterator[Label]:
    """The labels whose words a template's BLANK does not take."""
    if template.blank == "any":
        return
    person = kind_of_target(association) not in ("place", "thing") and not association.context
    one = person and not singular_noun(association.target.split()[-1])
    deeds = one and template.blank.endswith("noun") and are_deeds(association.words.values())
    for label, words in association.words.items():
        reading = None if deeds else readings(words, association.context).get(template.blank)
        if reading is None or not template.has_room_for(reading):
            yield label


def misfits(templates: Sequence[Template], association: Association) -> dict[str, str]:
    """The words that keep an association out of the template that takes most of them; its target if none takes that."""
    taking = [template for template in templates if takes_target(template, association)]
    if not taking:
        return {"target": association.target}
    failing = (list(_misfits(template, association)) for template in taking)
    return {label: association.words[label] for label in min(failing, key=len)}


def shared_parts(words: Iterable[str], context: str = "") -> set[Part]:
    """The parts of speech that all these words can be."""
    return set.intersection(*(set(readings(text, context)) for text in words))


def fault_of(association: Association, matching: Matching) -> str | None:
    """What is wrong with the three candidates of an association, or None."""
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
    frequencies = [matching.frequency.get(text.lower()) for text in words]
    known = [value for value in frequencies if value is not None]
    if len(known) < len(words):
        return "unknown_frequency"
    return "frequency_differs" if max(known) - min(known) > matching.gap else None


def _same(texts: Iterable[str]) -> bool:
    """Whether two texts differ in nothing but case, spaces and punctuation."""
    plain = [words_in(text) or (text.strip(),) for text in texts]
    return len(set(plain)) < len(plain)


def _in_template(template: Template, association: Association, source: Extra) -> Cat | Refused:
    """The CAT of an association in a template, unless another word of it would have to change."""
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
    made = {"template": template.context, "frame": template.frame, "polarity": template.polarity}
    return _cat(association, "intrasentence", context, texts, words, {**made, **source})


def wrong_number(context: str, words: str) -> bool:
    """Whether a noun clashes with its slot: a plural after a or an, or one thing after a verb without its article."""
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


def refused(
    association: Association,
    reason: str,
    context: str = "",
    failed: Mapping[Label, str] | Mapping[str, str] | None = None,
) -> Refused:
    """The refusal of an association, or of an association in one context, with the words that failed."""
    context = context or association.context
    text = " / ".join([context or association.target, *association.words.values()])
    item = content_id("association", association.id, context) if context else association.id
    source = {**association.source, **({"failed": dict(failed)} if failed else {})}
    return Refused(id=item, reason=reason, text=text, source=source)


@dataclass(frozen=True, slots=True)
class Unrelated:
    """Chooses an unrelated word from a pool: the part of speech of the other two, and as frequent as they are.

    The choice is drawn by a hash of the association and the seed: no other association of a file changes it.
    """

    pool: Sequence[str]
    seed: int = 0
    frequency: Mapping[str, float] | None = None

    def __call__(self, association: Association) -> str | None:
        """A word of the pool, or None if none fits."""
        given = [association.words["stereotype"], association.words["anti-stereotype"]]
        parts = shared_parts(given, association.context) if all(given) else set()
        taken = {word.casefold() for word in given}
        fitting = [word for word in self.pool if word.casefold() not in taken and parts & readings(word).keys()]
        if self.frequency is not None and fitting:
            known = self.frequency
            wanted = float(np.mean([known.get(word.lower(), 0.0) for word in given]))
            distance = [abs(known.get(word.lower(), 0.0) - wanted) for word in fitting]
            fitting = [word for word, far in zip(fitting, distance, strict=True) if far == min(distance)]
        told = (association.target, association.bias_type, association.context, *given)
        return min(fitting, key=lambda word: content_id("unrelated", self.seed, *told, word), default=None)
