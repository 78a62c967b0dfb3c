"""Gold lists of a language: the answers of its tables and rules, and their results without the written forms."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from catsofa.builders.languages.faults import Fault
from catsofa.builders.languages.predicates import predicate
from catsofa.data.languages import Language, Refusal
from catsofa.data.languages.slots import render, slot_faults
from catsofa.data.records import Statement

FUNCTIONS = ("plural", "feminine", "agree", "finite", "phrase", "statement")
"""The functions of gold.csv."""
RULED = ("plural", "feminine", "agree", "finite", "statement")
"""Functions based on rules: 1 % of their gold rows may be wrong. Functions of tables may have no wrong row."""
MOST_WRONG = 0.01
ADVICE = "correct the tables, the rules or exceptions.csv; correct the gold list if that errs"


class Answer(NamedTuple):
    """The answer of a language to a row of its gold lists."""

    where: str
    function: str
    question: str
    answer: str | Refusal
    accepted: Sequence[str]
    """The accepted answers; an empty one accepts a refusal."""

    @property
    def right(self) -> bool:
        """True if the answer is accepted; a refusal only if no form is."""
        if isinstance(self.answer, Refusal):
            return not any(self.accepted)
        return any(_same(self.answer, one) for one in self.accepted if one)

    @property
    def expected(self) -> str:
        """The accepted answers in words."""
        return " or ".join(one or "a refusal" for one in self.accepted)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Number of rows of the gold lists that a function answers correctly or refuses, and its wrong answers."""

    function: str
    right: int
    refused: int
    wrong: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """True if the number of wrong answers is within the limit."""
        rows = self.right + self.refused + len(self.wrong)
        return len(self.wrong) <= (MOST_WRONG * rows if self.function in RULED else 0)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Results of the rules for words whose forms are in a table, as if the table were missing."""

    table: str
    right: tuple[str, ...]
    """Words that need no row, because the rule gives the same form."""
    refused: int
    """Number of words to which no rule applies."""
    wrong: tuple[str, ...]
    """Words that the rule would get wrong, with its form."""


def agreements(answers: Iterable[Answer]) -> Iterator[Agreement]:
    """Yields the right, refused and wrong answers of each function in the gold lists."""
    right, refused = Counter[str](), Counter[str]()
    wrong: dict[str, list[str]] = {}
    for one in answers:
        wrong.setdefault(one.function, [])
        if one.right:
            right[one.function] += 1
        elif isinstance(one.answer, Refusal):
            refused[one.function] += 1
        else:
            wrong[one.function].append(f"{one.question}: {one.answer} (expected {one.expected})")
    for function, listed in wrong.items():
        yield Agreement(function, right[function], refused[function], tuple(listed))


def gold_faults(answers: Iterable[Answer], agreed: Iterable[Agreement]) -> Iterator[Fault]:
    """Yields the wrong answers of each function that has too many, and each refusal of a row that accepts none."""
    failed = {one.function for one in agreed if not one.passed}
    for one in answers:
        if isinstance(one.answer, Refusal) and "" not in one.accepted:
            found = f"a refusal ({one.answer.reason}: {one.answer.word})"
        elif not isinstance(one.answer, Refusal) and not one.right and one.function in failed:
            found = one.answer
        else:
            continue
        yield Fault(one.where, f"{one.function}, {one.question}: found {found}; expected {one.expected}", ADVICE)


def answers(language: Language) -> Iterator[Answer | Fault]:
    """Yields the answer to each row of the gold lists, or the fault of a row that asks for nothing."""
    for line, row in language.rows("gold.csv", ("function", "input", "features", "accepted")):
        where, function, question = f"gold.csv:{line}", row["function"], row["input"]
        if wrong := _fault(language, function, question, row["features"].split()):
            yield Fault(where, *wrong)
            continue
        answer = _answer(language, function, question, row["features"])
        question += f" ({row['features']})" if row["features"] else ""
        yield Answer(where, function, question, answer, row["accepted"].split("/"))
    definite = language.facts.get("definite", "")
    for line, row in language.rows("gold_nouns.csv", ("noun", "gender", "singular", "plural", "feminine")):
        where, noun, gender = f"gold_nouns.csv:{line}", language.noun(row["noun"]), row["gender"]
        if gender not in (language.genders or ("",)):
            expected = f"write {', '.join(language.genders)}" if language.genders else "leave the cell empty"
            yield Fault(where, f"the gender {gender!r} of {row['noun']!r}", expected)
            continue
        for number, head in (("singular", "target"), ("plural", "targets")):
            template = f"{{{definite} {head}}}" if definite else f"{{{head}}}"
            if row[number]:
                answer = noun if isinstance(noun, Refusal) else render(template, language, [noun], [gender])
                yield Answer(where, f"noun, {number}", row["noun"], answer, row[number].split("/"))
        if row["feminine"]:
            answer = language.feminine(row["noun"])
            yield Answer(where, "noun, feminine", row["noun"], answer, row["feminine"].split("/"))


def _fault(language: Language, function: str, question: str, features: Sequence[str]) -> tuple[str, str] | None:
    """Returns what is wrong with a row of gold.csv and what to do; None if the row can be answered."""
    given = f"the features {' '.join(features)!r} of {function}"
    if function not in FUNCTIONS:
        return f"the function {function!r}", f"write one of {', '.join(FUNCTIONS)}"
    if function == "agree":
        endings = tuple(language.tables.get("endings", ()))
        order = (language.genders, language.numbers, *((language.cases, endings) if endings else ()))
        fits = all(one in allowed for one, allowed in zip(features, order, strict=False))
        if not 2 <= len(features) <= len(order) or not fits:
            names = "; then one of ".join(", ".join(allowed) for allowed in order)
            return given, f"write one of {names}; with a space between"
    elif function == "phrase":
        if wrong := next(slot_faults(question, language), None):
            return wrong, "correct the slot"
        if not features or len(features) > 2 or (features[1:] and features[1] not in language.genders):
            genders = f", a space and its gender ({', '.join(language.genders)})" if language.genders else ""
            return given, f"write the noun{genders}; write a space inside the noun as _"
    elif function == "statement":
        if "statements" not in language.facts:
            return "a statement, but language.toml has no [statements]", "add it as docs/languages.md shows"
    elif features and (function, *features) != ("finite", "pl"):
        return given, "leave the cell empty"
    return None


def _answer(language: Language, function: str, question: str, features: str) -> str | Refusal:
    """Returns the answer of a language to a row of gold.csv."""
    match function:
        case "plural":
            return language.plural(question)
        case "feminine":
            return language.feminine(question)
        case "agree":
            gender, number, *rest = features.split()
            return language.agree(question, gender, number, *rest)
        case "finite":
            return language.finite(question, "pl")
        case "statement":
            made = predicate(Statement(statement=question, target=features, language=language.code), language)
            return made if isinstance(made, Refusal) else "|".join(dict.fromkeys(made.forms.values()))
    name, *genders = features.split()
    noun = language.noun(name.replace("_", " "))
    return noun if isinstance(noun, Refusal) else render(question, language, [noun], [*genders, *noun.genders])


def _same(answer: str, accepted: str) -> bool:
    """Returns True if two answers are equal, except for the case of the first letter."""
    return answer[1:] == accepted[1:] and answer[:1].lower() == accepted[:1].lower()


def left_out(language: Language) -> Iterator[LeftOut]:
    """Yields the results of the rules alone for exceptions.csv and for words for people, by the kind of form.

    The results show which rows a rule makes unnecessary, and the risk for a word that no table has.
    """
    by_table: dict[str, list[tuple[str, str, str]]] = {}
    for _, row in language.rows("exceptions.csv", ("function", "word", "features", "form")):
        if isinstance(language.tables.get(row["function"]), list):
            by_table.setdefault(f"exceptions.csv, {row['function']}", []).append(
                (row["function"], row["word"], row["form"])
            )
    for noun in language.nouns if not language.cases else ():
        plurals = [("plural", f"{gender}_sg", f"{gender}_pl") for gender in noun.genders]
        for function, one, other in [("feminine", "m_sg", "f_sg"), *plurals]:
            if noun.forms.get(one) and noun.forms.get(other):
                rows = by_table.setdefault(f"words for people, {function}", [])
                rows.append((function, noun.forms[one], noun.forms[other]))
    for table, rows in by_table.items():
        right, wrong, refused = list[str](), list[str](), 0
        for function, word, form in dict.fromkeys(rows):
            rule_form = language.by_rule(function, word)
            if (isinstance(rule_form, Refusal) and not form) or rule_form == form:
                right.append(word)
            elif isinstance(rule_form, Refusal):
                refused += 1
            else:
                wrong.append(f"{word}: {rule_form} (written {form or 'as refused'})")
        yield LeftOut(table, tuple(right), refused, tuple(wrong))
