"""KoBBQ's TSV: one question per row; `sample_id` contains category, template, condition and polarity."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from catsofa.data.files import BadInput, csv_files, short
from catsofa.data.files.csv_files import Row
from catsofa.data.files.faults import each
from catsofa.data.files.jsonl import Seen
from catsofa.data.formats import Format
from catsofa.data.formats.losses import lost
from catsofa.data.questions import Answer, Condition, Polarity, Question, Role

EXPECTED = "KoBBQ's samples"
NEEDED = ("sample_id", "context", "question", "choices", "biased_answer", "answer")
COLUMNS = (
    *("sample_id", "label_annotation", "context", "question", "choices", "biased_answer", "answer"),
    *("bbq_id", "bbq_category", "prediction"),
)
UNKNOWN = frozenset(
    (
        *(
            "알 수 없음",
            "보기 중 답을 찾을 수 없음",
            "주어진 정보만으로는 답을 알 수 없음",
            "정답 없음",
            "답을 확정할 수 없음",
        ),
        *("Unknown", "Not known", "Undetermined", "Not answerable", "Cannot answer", "Can't answer"),
        *("Cannot be determined", "Can't be determined", "Not enough info", "Not enough information"),
    )
)
"""The wordings of the "unknown" answer in KoBBQ's five prompts and in BBQ."""
_ID = re.compile(r"([^-]+)-([^-]+?)[a-z]?-[^-]*-(amb|dis)-(bsd|cnt)(?:-[^-]+)?")
CONDITIONS: dict[str, Condition] = {"amb": "ambig", "dis": "disambig"}
POLARITIES: dict[str, Polarity] = {"bsd": "neg", "cnt": "nonneg"}


def read(path: Path) -> Iterator[Question]:
    """Each question, with its `sample_id` as id; further columns, such as predictions, go to `extra`."""
    ids = Seen(path, EXPECTED)

    def question_of(line: int, row: Row) -> Question:
        csv_files.refuse_empty(row, NEEDED, path, EXPECTED, line)
        question = _question(row, path, line)
        ids.add(question.id, line)
        return question

    return each(question_of, csv_files.rows(path, NEEDED, EXPECTED))


def write(questions: Iterable[Question], path: Path) -> int:
    """Write the tab-separated columns of the release, and one for each further field; returns the number of rows."""
    ids = Seen(path, EXPECTED)

    def rows() -> Iterator[Row]:
        for line, question in enumerate(questions, start=2):
            row = _row(question)
            ids.add(row["sample_id"], line)
            yield row

    return csv_files.write(rows(), path, COLUMNS, "\t")


def matches(path: Path, head: bytes) -> bool:
    """Returns whether the header has the columns of a sample."""
    return set(NEEDED) <= csv_files.columns_of(head)


def loses(question: Question) -> Iterator[str]:
    """The fields that differ when the written row is read again, such as groups that the answers do not name."""
    return lost(question, _question(_row(question), Path(), 0))


def _question(row: Row, path: Path, line: int) -> Question:
    """A row as a Question; the target is the biased answer, or the other group if the question is reversed (`cnt`)."""
    named = _ID.fullmatch(row["sample_id"])
    if not named:
        expected = f"category-template-version-amb|dis-bsd|cnt, in {EXPECTED}"
        raise BadInput(path, f"{short(row['sample_id'])} as 'sample_id'", expected, line)
    category, template, condition, polarity = named.groups()
    choices = csv_files.list_in(row, "choices", path, line)
    if len(set(map(str, choices))) != 3 or not all(isinstance(one, str) and one.strip() for one in choices):
        raise BadInput(path, f"{short(choices)} as 'choices'", f"three different answers, in {EXPECTED}", line)
    for column in ("biased_answer", "answer"):
        if row[column] not in choices:
            raise BadInput(path, f"{short(row[column])} as {column!r}", f"one of {short(choices)}", line)
    unknown = _unknown(row, choices, CONDITIONS[condition], path, line)
    (counter,) = set(choices) - {unknown, row["biased_answer"]}
    target = row["biased_answer"] if polarity == "bsd" else counter
    one, two, three = (_answer(choice, target, unknown) for choice in choices)
    return Question(
        id=row["sample_id"],
        context=row["context"],
        question=row["question"],
        answers=(one, two, three),
        correct=choices.index(row["answer"]),
        polarity=POLARITIES[polarity],
        condition=CONDITIONS[condition],
        category=category,
        template=template,
        language="ko",
        extra=csv_files.others(row, NEEDED),
    )


def _unknown(row: Row, choices: list[str], condition: Condition, path: Path, line: int) -> str:
    """The "unknown" choice: the answer of an ambiguous context, else a known wording, else the remaining choice."""
    candidates = [row["answer"]] if condition == "ambig" else [choice for choice in choices if choice in UNKNOWN]
    if not candidates and row["answer"] != row["biased_answer"]:
        candidates = [choice for choice in choices if choice not in (row["answer"], row["biased_answer"])]
    if len(candidates) != 1 or candidates[0] == row["biased_answer"]:
        raise BadInput(path, f"no unknown answer among {short(choices)}", "one of those of KoBBQ or BBQ", line)
    return candidates[0]


def _answer(choice: str, target: str, unknown: str) -> Answer:
    """A choice with its role; its text is the group."""
    role: Role = "unknown" if choice == unknown else "target" if choice == target else "other"
    return Answer(text=choice, role=role, group="" if role == "unknown" else choice)


def _row(question: Question) -> Row:
    """A Question as a row; raises a ValueError for a question without a target."""
    biased = question.biased
    if biased is None:
        raise ValueError(f"question {question.id!r} has no target ({question.reason}), which KoBBQ's file needs")
    texts = [answer.text for answer in question.answers]
    cells = {
        "sample_id": _sample_id(question),
        "context": question.context,
        "question": question.question,
        "choices": repr(texts),
        "biased_answer": texts[biased],
        "answer": texts[question.correct],
    }
    return csv_files.with_others(cells, question.extra)


def _sample_id(question: Question) -> str:
    """The id of a question if it has KoBBQ's form, otherwise an id built from category, template and id.

    The released code reads the letter after the template: whether the context agrees with the stereotype.
    """
    condition = next(short for short, condition in CONDITIONS.items() if condition == question.condition)
    polarity = next(short for short, polarity in POLARITIES.items() if polarity == question.polarity)
    named = _ID.fullmatch(question.id)
    if named and named.groups() == (question.category, question.template, condition, polarity):
        return question.id
    category, template, item = (
        re.sub(r"[-\s]+", "_", part) or "_" for part in (question.category, question.template, question.id)
    )
    return f"{category}-{template}{'b' if question.correct == question.biased else 'a'}-{item}-{condition}-{polarity}"


FORMAT = Format(
    name="kobbq",
    holds=(Question,),
    about="KoBBQ",
    matches=matches,
    read=read,
    write=write,
    loses=loses,
    suffix=".tsv",
    columns=NEEDED,
    says_language=True,
)
