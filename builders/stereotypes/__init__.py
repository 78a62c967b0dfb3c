"""Turns implied statements into predicates that follow any identity, by the rules of SoFa's Appendix A.

Stages: clean, exclude topics, strip the subject, read the first verb, exclude named targets, make the verb agree, and
drop repetitions.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Literal, get_args

from catsofa.builders.languages.predicates import predicate
from catsofa.builders.languages.text import clean
from catsofa.builders.stereotypes.dictionary_parsing import dictionary_parser
from catsofa.builders.stereotypes.exclusions import (
    Names,
    RuleSet,
    expects_no_subject,
    first_or_second_person,
    other_subject,
    topic,
)
from catsofa.builders.stereotypes.parsing import Parser, Sentence, spacy_parser
from catsofa.builders.stereotypes.predicate_checks import another_main_verb, later_finite_verb, malformed
from catsofa.builders.stereotypes.predicates import (
    THEY,
    apply,
    first_verb,
    may_open_with_subject,
    opens_with_predicate,
    pluralise,
)
from catsofa.builders.stereotypes.revised_checks import (
    is_prescriptive,
    left_open,
    reading_of,
    slang_verb,
    speaks_of_a_thing,
)
from catsofa.builders.stereotypes.subjects import (
    Stripped,
    mentions_target,
    parsed_subject,
    restricted,
    strip_group,
    strip_target,
)
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import compounds
from catsofa.data.languages import Language, Refusal, find
from catsofa.data.languages.texts import meaning_of
from catsofa.data.records import Extra, Refused, Statement, Stereotype
from catsofa.data.runs.ray_cluster import Cluster, Workers

Batch = list[tuple[int, Statement]]
"""Statements with their row numbers."""
BATCH = 1000
AS_WRITTEN = "as written"
"""Note of a statement that was only cleaned."""

PRESCRIPTIVE = "prescriptive"
"""Note of a predicate that says what people should do or deserve."""

OFFENSIVE = "offensiveYN"
"""SBIC's column for the offensiveness of a post: 1, 0.5 (maybe) or 0, or their mean."""

Allowable = Literal["leading_adverb", "past_tense", "participle_only", "gerund_only", "no_verb"]
"""Refusal reasons that can be allowed, because SoFa's release contains such statements."""


def allowable(reasons: Iterable[str]) -> list[Allowable]:
    """Returns the reasons with their type; raises ValueError for a reason that cannot be allowed."""
    allowed: dict[str, Allowable] = {reason: reason for reason in get_args(Allowable)}
    if unknown := sorted(set(reasons) - allowed.keys()):
        raise ValueError(f"{unknown[0]!r} cannot be allowed; {', '.join(allowed)} can")
    return [allowed[reason] for reason in reasons]


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement in progress: the remaining text, the removed subject, and the reason for a refusal, if any."""

    statement: Statement
    row: int
    text: str
    subject: str = ""
    notes: tuple[str, ...] = ()
    reason: str = ""
    open: bool = False
    """True if a parse must still find the subject."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """The predicate by the gender of its subject, if it agrees with the subject."""
    finished: bool = False
    """True if the text is already a predicate."""


def build(
    statements: Iterable[Statement],
    parser: Parser,
    *,
    rules: RuleSet = "revised",
    names: Names | None = None,
    allow: Iterable[Allowable] = (),
    source: Extra | None = None,
    language: Language | None = None,
) -> Iterator[Stereotype | Refused]:
    """Yields each statement, in order, as a stereotype or a refusal with its reason; repeats are refused.

    Statements with a reason in `allow` are kept as they are, as in SoFa's release. `language` is the language of all
    statements. Without it, the language code of each statement decides.
    """
    judge = Rules(names or Names(), frozenset(allow), rules, language)
    yield from _outcomes((judged(batch, parser, judge) for batch in _batches(statements)), source or {})


def build_on(
    cluster: Cluster,
    statements: Iterable[Statement],
    pipeline: str | None,
    *,
    rules: RuleSet = "revised",
    names: Names | None = None,
    allow: Iterable[Allowable] = (),
    source: Extra | None = None,
    language: Language | None = None,
) -> Iterator[Stereotype | Refused]:
    """Does the same as `build` on a cluster.

    Each worker loads the spaCy pipeline, or uses the dictionary if `pipeline` is None.
    """
    judge = Rules(names or Names(), frozenset(allow), rules, language)
    with Workers(partial(_start, pipeline, judge), cluster) as workers:
        yield from _outcomes((drafts for _, drafts in workers.map(_batches(statements))), source or {})


def _start(pipeline: str | None, rules: "Rules") -> tuple[None, Callable[[Batch], list[Draft]]]:
    """Returns, in a worker, the function that judges a batch."""
    return None, partial(judged, parser=spacy_parser(pipeline) if pipeline else dictionary_parser, rules=rules)


def _batches(statements: Iterable[Statement]) -> Iterator[Batch]:
    """Yields the statements with their row numbers, `BATCH` at a time."""
    rows = enumerate(statements, 1)
    while batch := list(islice(rows, BATCH)):
        yield batch


def judged(batch: Batch, parser: Parser, rules: "Rules") -> list[Draft]:
    """Returns the draft of each statement of a batch, judged as far as possible without the other statements."""
    drafts = [open_draft(statement, row, rules.rules, rules.language) for row, statement in batch]
    drafts = [find_subject(d, w) if w else d for d, w in parsed(drafts, parser, lambda d: d.text if d.open else "")]
    fragments = parsed(drafts, parser, lambda d: "" if d.reason or d.finished else THEY + d.text)
    return [rules.judge(draft, words) if words else draft for draft, words in fragments]


def _outcomes(batches: Iterable[list[Draft]], source: Extra) -> Iterator[Stereotype | Refused]:
    """Yields the record of each draft; repeats are refused."""
    first_ids: dict[tuple[str, str, str], str] = {}
    for drafts in batches:
        for draft in drafts:
            yield outcome(draft, first_ids, source)


def parsed(drafts: list[Draft], parser: Parser, text_of: Callable[[Draft], str]) -> Iterator[tuple[Draft, Sentence]]:
    """Yields each draft with its parse; an empty text has an empty parse.

    A draft that the parser leaves undecided gets the reason "needs_parse".
    """
    texts = [text_of(draft) for draft in drafts]
    parses = parser(text for text in texts if text)
    for draft, text in zip(drafts, texts, strict=True):
        words = next(parses) if text else ()
        yield (replace(draft, reason="needs_parse", open=False) if text and not words else draft), words


def open_draft(statement: Statement, row: int, rules: RuleSet, language: Language | None = None) -> Draft:
    """Returns the draft of a statement: cleaned, checked for excluded topics, without a subject that a list has."""
    if statement.language != "en":
        result = predicate(statement, language or find(statement.language))
        if isinstance(result, Refusal):
            return Draft(statement, row, "", reason=result.reason)
        text, *other_forms = result.forms.values()
        forms = result.forms if other_forms else {}
        prescribes = any(re.search(pattern, text) for pattern in meaning_of(statement.language).get("prescriptive", ()))
        notes = (PRESCRIPTIVE,) if prescribes and rules == "revised" else ()
        return Draft(statement, row, text, subject=result.subject, notes=notes, forms=forms, finished=True)
    text = clean(statement.statement)
    draft = Draft(statement, row, text)
    if not compounds(text):
        return replace(draft, reason="empty")
    if _is_harmless(statement):
        return replace(draft, reason="not_abusive")
    if text.lower() in wordlist("exclusions.toml")["nothing"]:
        return replace(draft, reason="no_verb")
    if excluded := topic(text, rules):
        return replace(draft, reason=excluded)
    if expects_no_subject(text, rules):
        return replace(draft, reason="expects_no_subject")
    stripped = strip_target(text, statement.target) or strip_group(text)
    if stripped:
        return _without_subject(draft, stripped)
    if other_subject(text):
        return replace(draft, reason="other_subject")
    # "all" or "both" remains from a removed subject: "all have bikes"
    quantifier, _, rest = draft.text.partition(" ")
    if quantifier.lower() in ("all", "both") and rest and opens_with_predicate(rest):
        draft = replace(draft, text=rest, subject=quantifier)
    verb = rules == "revised" and slang_verb(draft.text)
    return replace(draft, open=not verb and may_open_with_subject(draft.text))


def _is_harmless(statement: Statement) -> bool:
    """Returns True if SBIC's judges rate the post below 0.5, since SoFa takes only abusive posts."""
    try:
        return float(statement.extra.get(OFFENSIVE, "") or 1) < 0.5
    except ValueError:
        return False


def _without_subject(draft: Draft, stripped: Stripped) -> Draft:
    """Returns the draft without its subject, or refused if nothing else remains."""
    if not compounds(stripped.rest):
        return replace(draft, subject=stripped.subject, reason="no_verb")
    return replace(draft, text=stripped.rest, subject=stripped.subject, open=False)


def find_subject(draft: Draft, words: Sentence) -> Draft:
    """Returns the draft without the subject that its parse shows.

    Without such a subject, the draft passes if it opens like a predicate; otherwise it is refused.
    """
    result = parsed_subject(draft.text, words)
    if isinstance(result, Stripped):
        return _without_subject(draft, result)
    return replace(draft, reason="" if opens_with_predicate(draft.text) else result, open=False)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for a predicate, given its parse behind "they"."""

    names: Names
    allow: frozenset[Allowable] = frozenset()
    rules: RuleSet = "revised"
    language: Language | None = None
    """The language of all statements; if None, each statement names its own."""

    def judge(self, draft: Draft, words: Sentence) -> Draft:
        """Returns the draft with its predicate in the plural, or refused."""
        if not draft.text[0].isalnum():
            return replace(draft, reason="malformed")
        if restricted(draft.text):
            return replace(draft, reason="restricted_subject" if later_finite_verb(words) else "no_verb")
        revised = self.rules == "revised"
        reading = first_verb(draft.text, words)
        if reading == "no_verb" and revised:
            reading = reading_of(draft.text, words)
        if reading not in ("VBP", "VBZ", "MD"):
            reason = _in_context(reading, draft, words)
            if reason not in self.allow:
                return replace(draft, reason=reason)
            draft = replace(draft, notes=(f"allowed: {reason}",))
        if malformed(draft.text, words) or (revised and left_open(draft.text, words)):
            return replace(draft, reason="malformed")
        thing = revised and not draft.subject and speaks_of_a_thing(draft.text, words, singular=reading == "VBZ")
        if thing or (not draft.notes and another_main_verb(words)):
            return replace(draft, reason="other_subject")
        if first_or_second_person(draft.text, self.rules):
            return replace(draft, reason="first_or_second_person")
        edits = [] if draft.notes else pluralise(words, singular=reading == "VBZ", noun=revised and reading == "MD")
        text = apply(THEY + draft.text, edits).removeprefix(THEY)
        named = self.names.first(draft.text, self.rules) or self.names.first(text, self.rules)
        if named or mentions_target(text, draft.statement.target):
            return replace(draft, reason="names_target")
        text = " ".join(text.lower().split())
        flags = (PRESCRIPTIVE,) if revised and is_prescriptive(text) else ()
        changes = tuple(f"{e.word.text} -> {e.form or '(none)'}" for e in edits)
        return replace(draft, text=text, notes=draft.notes + changes + flags)


def _in_context(reading: str, draft: Draft, words: Sentence) -> str:
    """Returns the refusal reason: the fault of the first word, or of the whole text if a finite verb follows."""
    if not later_finite_verb(words):
        return reading
    if reading == "gerund_only":
        return "restricted_subject" if draft.subject else "expects_no_subject"
    if reading == "no_verb" and draft.subject:
        return "restricted_subject"
    return reading


def outcome(draft: Draft, first_ids: dict[tuple[str, str, str], str], builder_source: Extra) -> Stereotype | Refused:
    """Returns the record of a finished draft.

    A repeated text of the same category and language is refused as a duplicate.
    """
    statement = draft.statement
    source = {
        "row": draft.row,
        **({"target": statement.target} if statement.target else {}),
        **statement.source,
        **builder_source,
    }
    key = (draft.text, statement.category, statement.language)
    reason = draft.reason
    if not reason and first_ids.setdefault(key, statement.id) != statement.id:
        reason, source = "duplicate", source | {"of": first_ids[key]}
    if reason:
        return Refused(id=statement.id, reason=reason, text=statement.statement, source=source)
    return Stereotype(
        id=statement.id,
        text=draft.text,
        category=statement.category,
        notes=((f"subject: {draft.subject}",) if draft.subject else ()) + draft.notes or (AS_WRITTEN,),
        forms=draft.forms,
        language=statement.language,
        source=source | {"statement": statement.statement},
    )
