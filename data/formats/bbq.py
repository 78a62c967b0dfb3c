"""The JSONL format of BBQ, MBBQ and JBBQ: one question per line, groups in `answer_info` and in the metadata."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from catsofa.data.files import atomic_write, json_files, lines, short, stem
from catsofa.data.files.faults import each
from catsofa.data.files.json_files import Node
from catsofa.data.files.jsonl import Seen
from catsofa.data.formats import Format
from catsofa.data.formats.losses import lost
from catsofa.data.questions import CONDITIONS, PLACES, POLARITIES, Answer, Question, Role

EXPECTED = "a question of BBQ, MBBQ or JBBQ"
INFO, METADATA, GROUPS = "answer_info", "additional_metadata", "stereotyped_groups"
KNOWN = (
    *("example_id", "question_index", "question_polarity", "context_condition", "category", INFO, "context"),
    *("question", *PLACES, "label", "language"),
)
"""Fields of a line that a Question has; the metadata and other fields, such as predictions, go to `extra`."""
UNKNOWN = "unknown"
_MARKS = (b'"question_polarity"', b'"context_condition"', b'"answer_info"')
_KANA = re.compile("[\u3040-\u30ff]")
_LANGUAGE = re.compile(r"_(nl|es|tr)$")

_PREFIX = re.compile(r"(low|high) ?ses|[mf](?=-)")
_ALIKE = {
    "f": "woman, women, girl, girls, vrouw, meisje, mujer, chica, maestra, kadın, kız, 女性, 女の子",
    "m": "man, men, boy, boys, jongen, hombre, chico, maestro, adam, erkek çocuk, 男性, 男の子",
    "latino": "latina",
}
_CLASS = {name: one for one, names in _ALIKE.items() for name in names.split(", ")}
"""Maps the name of a group in `answer_info` to its name in the metadata."""


def read(path: Path) -> Iterator[Question]:
    """Each question, with an id from its category and number."""
    ids = Seen(path, EXPECTED)

    def question_of(number: int, line: str) -> Question:
        row = Node(json_files.parse(line, path, EXPECTED, number), path, EXPECTED, line=number)
        question = _question(row, stem(path))
        ids.add(question.id, number)
        return question

    return each(question_of, lines(path, EXPECTED))


def write(questions: Iterable[Question], path: Path) -> int:
    """Write one line per question, with fields in the order of the release; returns the number of questions."""
    ids, count = Seen(path, EXPECTED), 0
    with atomic_write(path) as file:
        for count, question in enumerate(questions, start=1):
            ids.add(question.id, count)
            file.write(json.dumps(_row(question), allow_nan=False).encode() + b"\n")
        if not count:
            raise ValueError(f"there is no question to write to {path}")
    return count


def matches(path: Path, head: bytes) -> bool:
    """Returns whether the first line has the fields that only this family of data sets has."""
    first = head.split(b"\n", 1)[0]
    return first.lstrip()[:1] == b"{" and all(mark in first for mark in _MARKS)


def loses(question: Question) -> Iterator[str]:
    """The fields that differ when the written line is read again, such as provenance."""
    return lost(question, _question(Node(_row(question), "", EXPECTED)))


def _question(row: Node, stem: str = "") -> Question:
    """A line as a Question; `stem` is the file name, which states the language of MBBQ files."""
    category, context, question = row.text("category"), row.text("context"), row.text("question")
    answers, reason = _answers(row)
    label = row.child("label").value
    if type(label) is not int or label not in range(len(PLACES)):
        row.refuse(f"{short(label)} as 'label'", "the position of the correct answer: 0, 1 or 2")
    return Question(
        id=_id(row, category),
        context=context,
        question=question,
        answers=answers,
        correct=label,
        polarity=_one_of(row, "question_polarity", POLARITIES),
        condition=_one_of(row, "context_condition", CONDITIONS),
        category=category,
        template=str(_number_or_text(row, "question_index")),
        reason=reason,
        language=row.text("language") if row.has("language") else _language(f"{context} {question}", stem),
        extra=row.others(*KNOWN),
    )


def _id(row: Node, category: str) -> str:
    """The id of a question: category and number, since BBQ's numbers restart in each category."""
    number = _number_or_text(row, "example_id")
    return f"{category}-{number}" if isinstance(number, int) else number


def _number_or_text(row: Node, name: str) -> int | str:
    """The value of a field, which must be an integer or a non-empty text."""
    value = row.child(name).value
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        row.refuse(f"{short(value)} as {name!r}", f"a whole number or a text, in {EXPECTED}")
    result: int | str = value
    return result


def _one_of(row: Node, name: str, words: Sequence[Any]) -> Any:
    """The value of a field, which must be one of the known words."""
    if (value := row.text(name)) not in words:
        row.refuse(f"{short(value)} as {name!r}", f"{' or '.join(words)}, in {EXPECTED}")
    return value


def _language(text: str, stem: str = "") -> str:
    """The language: Japanese by script, MBBQ's languages by the end of the file name, otherwise English."""
    if _KANA.search(text):
        return "ja"
    named = _LANGUAGE.search(stem)
    return named[1] if named else "en"


def _answers(row: Node) -> tuple[tuple[Answer, Answer, Answer], str]:
    """The three answers with their roles, and the reason if no answer is the target."""
    infos = {place: [part.as_text() for part in row.child(INFO).items(place)] for place in PLACES}
    unknown = [place for place, info in infos.items() if UNKNOWN in map(str.casefold, info)]
    if len(unknown) != 1:
        row.refuse(f"{len(unknown) or 'no'} answers of the group {UNKNOWN!r}", f"exactly one, in {EXPECTED}")
    metadata = row.child(METADATA) if row.has(METADATA) else None
    groups = [one.as_text() for one in metadata.items(GROUPS)] if metadata and metadata.has(GROUPS) else []
    target, reason = _target({place: info for place, info in infos.items() if place not in unknown}, groups)
    roles: dict[str, Role] = {unknown[0]: "unknown", target: "target"}
    one, two, three = (_answer(row, place, roles.get(place, "other"), infos[place]) for place in PLACES)
    return (one, two, three), reason


def _answer(row: Node, place: str, role: Role, info: list[str]) -> Answer:
    """One answer; other content of `answer_info` than text and group goes to `extra`."""
    text, group = row.text(place), info[-1] if info else ""
    if not text.strip():
        row.refuse(f"nothing in {place!r}", f"three answers with words in them, in {EXPECTED}")
    return Answer(text=text, role=role, group=group, extra={} if info == [text, group] else {INFO: info})


def _target(infos: dict[str, list[str]], groups: Sequence[str]) -> tuple[str, str]:
    """The place of the answer whose group the metadata lists as stereotyped, or the reason why there is none.

    The exact name of a group is matched first; otherwise its other names and its parts are matched:
    `F` for women and girls, `lowSES-Zorb` for `low SES` and for `Zorb`.
    """
    if not groups:
        return "", "no_stereotyped_group"
    listed, names = {group.casefold() for group in groups}, _names(groups)
    places = [place for place, info in infos.items() if info and info[-1].casefold() in listed]
    places = places or [place for place, info in infos.items() if _names(info) & names]
    if len(places) == 1:
        return places[0], ""
    return "", "both_groups_stereotyped" if places else "no_group_stereotyped"


def _names(groups: Iterable[str]) -> set[str]:
    """The case-folded names that the metadata may use for groups: their own, their class, and their parts."""
    names: set[str] = set()
    for group in groups:
        rest = group.casefold()
        names.add(_CLASS.get(rest, "trans" if rest.startswith("trans") else rest))
        while part := _PREFIX.match(rest):
            names.add(part[0].replace(" ", ""))
            rest = rest[part.end() :].lstrip("-")
            names.add(_CLASS.get(rest, rest))
    return names - {""}


def _row(question: Question) -> dict[str, Any]:
    """A Question as a line of the release; further fields come last."""
    number = question.id.removeprefix(f"{question.category}-")
    counted = number != question.id and number.isdecimal() and str(int(number)) == number
    groups = {GROUPS: [question.target] if question.target else []}
    text = f"{question.context} {question.question}"
    return {
        "example_id": int(number) if counted else question.id,
        "question_index": question.template,
        "question_polarity": question.polarity,
        "context_condition": question.condition,
        "category": question.category,
        INFO: {place: _info(answer) for place, answer in zip(PLACES, question.answers, strict=True)},
        METADATA: question.extra.get(METADATA, groups),
        "context": question.context,
        "question": question.question,
        **{place: answer.text for place, answer in zip(PLACES, question.answers, strict=True)},
        "label": question.correct,
        **({} if question.language == _language(text) else {"language": question.language}),
        **{name: value for name, value in question.extra.items() if name not in (*KNOWN, METADATA)},
    }


def _info(answer: Answer) -> list[str]:
    """The `answer_info` of an answer: as read from the source, or its text and its group."""
    held = answer.extra.get(INFO)
    if isinstance(held, list) and held[-1:] == [answer.group]:
        return held
    return [answer.text, UNKNOWN if answer.role == "unknown" else answer.group]


FORMAT = Format(
    name="bbq",
    holds=(Question,),
    about="BBQ, MBBQ and JBBQ",
    matches=matches,
    read=read,
    write=write,
    loses=loses,
    suffix=".bbq",
    says_language=True,
)
