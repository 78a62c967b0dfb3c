"""Converts texts that people wrote into drafts of CATs, with the checks that Label Studio does not make."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from catsofa.annotation.results import answers as judged
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.study import TEXT, Study
from catsofa.annotation.study.interface import answers
from catsofa.data.digests import content_id
from catsofa.data.files import jsonl
from catsofa.data.judging.accepted import NEUTRAL
from catsofa.data.language.near_duplicates import near_duplicates_between
from catsofa.data.languages.texts import ENGLISH, language_of, names, spaced
from catsofa.data.records import BLANK, Association, Candidate, Cat, Kind, Label, Refused, Term

FIELDS: dict[str, Label] = {"stereotype": "stereotype", "anti_stereotype": "anti-stereotype", "unrelated": "unrelated"}


def write_drafts(study: Study) -> tuple[int, int]:
    """Writes drafts.jsonl and refused.jsonl from the raw answers; returns the number of records in each."""
    accepted: dict[str, Cat | Association] = {}
    refused: list[Refused] = []
    for row, draft in drafts(study):
        if isinstance(draft, Refused):
            refused.append(draft)
        elif draft.id in accepted:
            text = draft.context if isinstance(draft, Cat) else draft.attribute
            refused.append(Refused(id=row.annotation, reason="written before in the same words", text=text))
        else:
            accepted[draft.id] = draft
    jsonl.write(accepted.values(), study.folder / "drafts.jsonl")
    jsonl.write(refused, study.folder / "refused.jsonl")
    return len(accepted), len(refused)


def drafts(study: Study) -> Iterator[tuple[Raw, Cat | Association | Refused]]:
    """Yields each text as a draft, or as a refusal with the reasons; skips are left out."""
    kind = kind_of(study)
    for row in judged.latest(study):
        if row.skipped or study.kind_of(row.token).asks:
            continue
        answer = answers(study.kind.interface, row.result)
        term = study.items[study.keys[row.token].item]
        if isinstance(term, Cat):
            wrong = (row.void,) if row.void else answer.wrong or tuple(problems_of_neutral(term, answer.given))
            reason = "; ".join(wrong)
            text = answer.given.get(NEUTRAL, "")
            yield row, Refused(id=row.annotation, reason=reason, text=text) if wrong else _with_neutral(term, text, row)
            continue
        if study.kind.judged_as and not answer.wrong:
            token = row.annotation.rpartition("-")[2]
            source = {"writer": row.annotator, "written": row.at}
            yield row, replace(association(term, answer.given["attribute"], token), source=source)
            continue
        wrong = (
            (row.void,)
            if row.void
            else answer.wrong or tuple(problems(kind, term.term, answer.given, language_of(term)))
        )
        if wrong:
            yield row, Refused(id=row.annotation, reason="; ".join(wrong), text=answer.given.get("context", ""))
        else:
            yield row, _draft(kind, term, answer.given, row)


def association(term: Term, attribute: str, token: str) -> Association:
    """Returns a text about a group as others judge it; `token` names the task in which they judge."""
    group = {"bias_type": term.category} if term.category else {}
    return Association(
        id=f"{TEXT}{token}",
        identity=term.term,
        attribute=attribute,
        region=term.region,
        language=term.language,
        extra=group,
    )


def problems_of_association(term: Term, attribute: str, earlier: Sequence[str]) -> Iterator[str]:
    """Yields why a text is no new statement about a group."""
    text = attribute.casefold()
    if text in {other.casefold() for other in earlier}:
        yield f"somebody wrote {attribute!r} already"
    if text == term.term.casefold():
        yield "the text is the name of the group"


def like(attribute: str, earlier: Sequence[str], language: str) -> Iterator[str]:
    """Yields a message about each earlier text that is nearly the same."""
    languages = [language] * (len(earlier) + 1)
    for pair in near_duplicates_between([attribute], earlier, languages=languages):
        yield f"somebody wrote {earlier[pair.second]!r} already, which is nearly the same"


def problems_of_neutral(cat: Cat, texts: Mapping[str, str]) -> Iterator[str]:
    """Yields why a text is no neutral one beside the three of a CAT, which its writer did not see."""
    text = texts.get(NEUTRAL, "")
    if BLANK in text:
        yield f"an answer has a {BLANK}"
    if text.casefold().strip(" .") in {(each.fill or each.text).casefold().strip(" .") for each in cat.candidates}:
        yield f"somebody wrote {text!r} already"


def kind_of(study: Study) -> Kind:
    """Returns the kind of CATs that people write in a study."""
    return "intrasentence" if study.kind.name == "write-intrasentence" else "intersentence"


def problems(kind: Kind, target: str, texts: Mapping[str, str], language: str = ENGLISH) -> Iterator[str]:
    """Yields the reasons why these texts make no CAT about the target; a missing text is no problem.

    An English sentence must contain the target at the start of a word, in any case of letters. In other languages,
    the target may also have any form that the tables of the language have.
    """
    options = [texts[name] for name in FIELDS if name in texts]
    if context := texts.get("context", ""):
        beside = r"\w" if spaced(language) else "[A-Za-z]"
        blanks = len(re.findall(rf"(?<!{beside}){BLANK}(?!{beside})", context))
        if kind == "intrasentence" and (blanks != 1 or context.count(BLANK) != 1):
            yield f"the sentence has {context.count(BLANK)} {BLANK}, not exactly one as a separate word"
        if kind == "intersentence" and BLANK in context:
            yield f"the sentence has a {BLANK}"
    if any(BLANK in text for text in options):
        yield f"an answer has a {BLANK}"
    begins = r"(?<!\w)" if spaced(language) else ""
    named = re.search(begins + re.escape(target), context, re.IGNORECASE)
    if context and not named and (language == ENGLISH or not names(context, target, language)):
        yield f"the sentence does not name the target {target!r}"
    if len({text.casefold().strip(" .") for text in options}) < len(options):
        yield "two of the three answers are the same"


def warnings(kind: Kind, texts: Mapping[str, str], language: str = ENGLISH) -> Iterator[str]:
    """Yields warnings about texts that are valid but unusual; words are not counted in scripts without spaces."""
    for name in (name for name in (*FIELDS, NEUTRAL) if name in texts and spaced(language)):
        words = len(texts[name].split())
        if kind == "intrasentence" and words > 1:
            yield f"{name} has {words} words"
        if kind == "intersentence" and words < 3:
            yield f"{name} is hardly a sentence"


def _draft(kind: Kind, term: Term, texts: Mapping[str, str], row: Raw) -> Cat:
    """Returns the CAT that these texts make, with its writer."""
    context = texts["context"]
    one, two, three = (
        Candidate(text=context.replace(BLANK, texts[name]), fill=texts[name], label=label)
        if kind == "intrasentence"
        else Candidate(text=texts[name], label=label)
        for name, label in FIELDS.items()
    )
    noted = tuple(warnings(kind, texts, language_of(term)))
    return Cat(
        kind=kind,
        bias_type=term.category,
        target=term.term,
        context=context,
        candidates=(one, two, three),
        language=term.language,
        source={"writer": row.annotator, "written": row.at},
        extra={"warnings": list(noted)} if noted else {},
    )


def _with_neutral(cat: Cat, text: str, row: Raw) -> Cat:
    """Returns the CAT with a sentence written as neutral in its `extra`; each such sentence makes a separate item."""
    sentence = (
        {"text": cat.context.replace(BLANK, text), "fill": text} if cat.kind == "intrasentence" else {"text": text}
    )
    return replace(
        cat,
        id=content_id("neutral", cat.id, text.casefold()),
        source={**cat.source, "writer": row.annotator, "written": row.at},
        extra={
            **{name: value for name, value in cat.extra.items() if name != "warnings"},
            NEUTRAL: {**sentence, "cat": cat.id},
            **({"warnings": noted} if (noted := [*warnings(cat.kind, {NEUTRAL: text}, cat.language)]) else {}),
        },
    )
