"""Texts that people wrote, as drafts of CATs, with the checks Label Studio does not make."""

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
    """Write drafts.jsonl and refused.jsonl from the raw answers; how many stand in each."""
    kept: dict[str, Cat | Association] = {}
    refused: list[Refused] = []
    for row, draft in drafts(study):
        if isinstance(draft, Refused):
            refused.append(draft)
        elif draft.id in kept:
            text = draft.context if isinstance(draft, Cat) else draft.attribute
            refused.append(Refused(id=row.annotation, reason="written before in the same words", text=text))
        else:
            kept[draft.id] = draft
    jsonl.write(kept.values(), study.folder / "drafts.jsonl")
    jsonl.write(refused, study.folder / "refused.jsonl")
    return len(kept), len(refused)


def drafts(study: Study) -> Iterator[tuple[Raw, Cat | Association | Refused]]:
    """Each text as a draft, or the reasons why it is none; a skip is neither."""
    kind = kind_of(study)
    for row in judged.latest(study):
        if row.skipped or study.kind_of(row.token).asks:
            continue
        found = answers(study.kind.interface, row.result)
        term = study.items[study.keys[row.token].item]
        if isinstance(term, Cat):
            wrong = (row.void,) if row.void else found.wrong or tuple(problems_of_neutral(term, found.given))
            reason = "; ".join(wrong)
            text = found.given.get(NEUTRAL, "")
            yield row, Refused(id=row.annotation, reason=reason, text=text) if wrong else _with_neutral(term, text, row)
            continue
        if study.kind.judged_as and not found.wrong:
            token = row.annotation.rpartition("-")[2]
            source = {"writer": row.annotator, "written": row.at}
            yield row, replace(association(term, found.given["attribute"], token), source=source)
            continue
        wrong = (
            (row.void,) if row.void else found.wrong or tuple(problems(kind, term.term, found.given, language_of(term)))
        )
        if wrong:
            yield row, Refused(id=row.annotation, reason="; ".join(wrong), text=found.given.get("context", ""))
        else:
            yield row, _draft(kind, term, found.given, row)


def association(term: Term, attribute: str, token: str) -> Association:
    """What somebody wrote about a group, as others judge it; `token` names the task in which they do."""
    group = {"bias_type": term.category} if term.category else {}
    return Association(
        id=f"{TEXT}{token}",
        identity=term.term,
        attribute=attribute,
        region=term.region,
        language=term.language,
        extra=group,
    )


def problems_of_association(term: Term, attribute: str, others: Sequence[str]) -> Iterator[str]:
    """Why this is nothing to say of a group that others have not written yet."""
    said = attribute.casefold()
    if said in {other.casefold() for other in others}:
        yield f"somebody wrote {attribute!r} already"
    if said == term.term.casefold():
        yield "the text is the name of the group"


def like(attribute: str, others: Sequence[str], language: str) -> Iterator[str]:
    """What others wrote that says nearly the same."""
    languages = [language] * (len(others) + 1)
    for pair in near_duplicates_between([attribute], others, languages=languages):
        yield f"somebody wrote {others[pair.second]!r} already, which is nearly the same"


def problems_of_neutral(cat: Cat, texts: Mapping[str, str]) -> Iterator[str]:
    """Why this text is no neutral one beside the three of a CAT, which its writer did not see."""
    text = texts.get(NEUTRAL, "")
    if BLANK in text:
        yield f"an answer has a {BLANK}"
    if text.casefold().strip(" .") in {(each.fill or each.text).casefold().strip(" .") for each in cat.candidates}:
        yield f"somebody wrote {text!r} already"


def kind_of(study: Study) -> Kind:
    """The kind of CATs that people write in a study."""
    return "intrasentence" if study.kind.name == "write-intrasentence" else "intersentence"


def problems(kind: Kind, target: str, texts: Mapping[str, str], language: str = ENGLISH) -> Iterator[str]:
    """Why these texts make no CAT about the target; of texts that are not written yet nothing is said.

    The target is named in any form that the tables of the language have.
    """
    written = [texts[name] for name in FIELDS if name in texts]
    if context := texts.get("context", ""):
        beside = r"\w" if spaced(language) else "[A-Za-z]"
        blanks = len(re.findall(rf"(?<!{beside}){BLANK}(?!{beside})", context))
        if kind == "intrasentence" and (blanks != 1 or context.count(BLANK) != 1):
            yield f"the sentence has {context.count(BLANK)} {BLANK}, not one that stands alone"
        if kind == "intersentence" and BLANK in context:
            yield f"the sentence has a {BLANK}"
    if any(BLANK in text for text in written):
        yield f"an answer has a {BLANK}"
    begins = r"(?<!\w)" if spaced(language) else ""
    named = re.search(begins + re.escape(target), context, re.IGNORECASE)
    if context and not named and (language == ENGLISH or not names(context, target, language)):
        yield f"the sentence does not name the target {target!r}"
    if len({text.casefold().strip(" .") for text in written}) < len(written):
        yield "two of the three answers are the same"


def warnings(kind: Kind, texts: Mapping[str, str], language: str = ENGLISH) -> Iterator[str]:
    """What is not wrong but worth a look; words are not counted where no spaces are written."""
    for name in (name for name in (*FIELDS, NEUTRAL) if name in texts and spaced(language)):
        words = len(texts[name].split())
        if kind == "intrasentence" and words > 1:
            yield f"{name} has {words} words"
        if kind == "intersentence" and words < 3:
            yield f"{name} is hardly a sentence"


def _draft(kind: Kind, term: Term, texts: Mapping[str, str], row: Raw) -> Cat:
    """The CAT these texts make, with its writer."""
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
    """The CAT with a sentence written as neutral in its `extra`; each such sentence makes an item of its own."""
    sentence = (
        {"text": cat.context.replace(BLANK, text), "fill": text} if cat.kind == "intrasentence" else {"text": text}
    )
    return replace(
        cat,
        id=content_id("neutral", cat.id, text.casefold()),
        source={**cat.source, "writer": row.annotator, "written": row.at},
        extra={
            **{name: said for name, said in cat.extra.items() if name != "warnings"},
            NEUTRAL: {**sentence, "cat": cat.id},
            **({"warnings": noted} if (noted := [*warnings(cat.kind, {NEUTRAL: text}, cat.language)]) else {}),
        },
    )
