"""Checks of a language's folder: its files, its gold lists and its templates."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, islice
from pathlib import Path

from catsofa.builders.cats.agreeing import AgreeingTemplate, part_of, read
from catsofa.builders.languages.predicates import predicate
from catsofa.builders.languages.subjects import bundled, subjects
from catsofa.data.files import BadInput, csv_files, toml_files
from catsofa.data.languages import Language, Noun, Refusal, find
from catsofa.data.languages.slots import Fill, faults, render, variants
from catsofa.data.records import Statement

FILES = {
    "terms.csv": "words for people",
    "rules.toml": "articles and rules",
    "templates.toml": "CAT templates",
    "bleached.toml": "bleached sentences",
    "weat.toml": "word sets",
    "words.csv": "words for BLANKs",
    "gold.csv": "a gold list",
    "gold_nouns.csv": "a gold list of nouns",
    "paraphrase.txt": "a prompt for paraphrases",
    "interface.toml": "the texts of annotation pages",
}
"""The files of a complete language; without some of them, the commands that need these are unavailable."""
RULED = ("plural", "feminine", "agree", "finite", "statement")
"""Functions based on rules: 1 % of their gold rows may be wrong. Functions of tables may have no wrong row."""
MOST_WRONG = 0.01


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a language: its place, its description, and advice."""

    where: str
    what: str
    advice: str


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


@dataclass(frozen=True, slots=True)
class Checked:
    """The results of the check of a language."""

    faults: tuple[Fault, ...]
    gold: tuple[Agreement, ...]
    missing: tuple[str, ...] = field(default=())
    """Files, and texts of studies, that the language lacks; commands that need them are refused."""
    english: tuple[str, ...] = field(default=())
    """Texts of open studies without a translation, including the questions about people."""
    without: tuple[LeftOut, ...] = field(default=())
    """Results of the rules for words whose forms are in a table."""


def check(language: Language) -> Checked:
    """Runs every check that needs no other program; templates are filled only if their slots are valid."""
    missing = [f"{name} ({note})" for name, note in FILES.items() if not (language.folder / name).exists()]
    english, needed = untranslated(language)
    missing += [f"interface.toml: {text}" for text in needed]
    gold = list(gold_agreement(language))
    problems = [*shape(language), *template_faults(language), *unequal_pairs(language)]
    for one in gold:
        if not one.passed:
            advice = "correct the tables, the rules or exceptions.csv; correct the gold list if that errs"
            problems += [Fault(f"{one.function} of the gold list", answer, advice) for answer in one.wrong]
    return Checked(tuple(problems), tuple(gold), tuple(missing), tuple(english), tuple(left_out(language)))


def shape(language: Language) -> Iterator[Fault]:
    """Yields the faults of the tables: missing forms, unknown parts of speech, terms without a subject."""
    for section in ("subject", "statements"):
        if section not in language.facts:
            yield Fault("language.toml", f"no [{section}]", "add it as docs/languages.md shows")
    for name in ("terms.csv", "demonyms.csv"):
        for line, row in language.rows(name, ("term", "category", "pos")):
            place = f"{name}:{line}"
            if row["pos"] not in ("n", "pl", "adj", "pp"):
                yield Fault(place, f"the part of speech {row['pos']!r} of {row['term']!r}", "write n, pl, adj or pp")
            for gender in language.genders:
                cells = {number: row.get(f"{gender}_{number}", "") for number in language.numbers}
                if row["pos"] == "n" and any(cells.values()) and not all(cells.values()):
                    empty = next(number for number, cell in cells.items() if not cell)
                    yield Fault(place, f"{row['term']!r} has no {gender}_{empty}", f"fill the column {gender}_{empty}")
    for line, row in language.rows("words.csv", ("word", "pos", "gender")):
        if row["pos"] not in ("adjective", "verb", "noun", "thing"):
            message = f"the part of speech {row['pos']!r} of {row['word']!r}"
            yield Fault(f"words.csv:{line}", message, "write adjective, verb, noun or thing")
    if "subject" in language.facts:
        for term in bundled(language):
            result = subjects(term, language)
            if isinstance(result, Refusal):
                yield Fault(
                    str(term.source["from"]).partition("/")[2],
                    f"{term.term!r} makes no subject ({result.reason})",
                    "add its missing forms",
                )


def untranslated(language: Language) -> tuple[list[str], list[str]]:
    """Returns the texts missing in interface.toml: those that pages show in English, and those a study needs.

    Pages of open studies and the bundled questions about people can stay in English. A study needs its own questions
    and instructions in the language.
    """
    path = language.folder / "interface.toml"
    if language.code == "en" or not path.exists():
        return [], []
    wanted = toml_files.read(find("en").path("interface.toml", "texts of pages"), "texts of pages")
    translated = toml_files.read(path, "texts of pages")
    texts, pages = translated.get("texts", {}), translated.get("pages", {})
    english = [text for text in wanted["pages"] + wanted["about"] if text not in texts]
    needed = [f"[texts] {text!r}" for text in wanted["questions"] if text not in texts]
    return english, needed + [f"[pages] {name!r}" for name in wanted["instructions"] if name not in pages]


def templates_in(language: Language) -> list[AgreeingTemplate]:
    """Returns the CAT templates of a language; empty if it has no template file."""
    path = language.folder / "templates.toml"
    return read(path) if path.exists() else []


def template_faults(language: Language) -> Iterator[Fault]:
    """Yields faults of templates: unknown slots, nouns without a form, a BLANK that changes other words."""
    try:
        templates = templates_in(language)
    except BadInput as error:
        yield Fault("templates.toml", error.found, "write templates as docs/languages.md shows")
        return
    for template in templates:
        wrong = list(template.faults(language))
        for message in wrong:
            yield Fault("templates.toml", message, "correct the slot, or leave the template out")
        if not wrong:
            yield from _tried(template, language)
    path = language.folder / "bleached.toml"
    kinds = toml_files.read(path, "bleached sentences") if path.exists() else {}
    for kind, sentences in kinds.items():
        for message in (message for sentence in sentences for message in faults(sentence, language)):
            yield Fault(f"bleached.toml, {kind}", message, "correct the slot, or leave the sentence out")


def _tried(template: AgreeingTemplate, language: Language) -> Iterator[Fault]:
    """Yields the faults of the template when it is filled with nouns and words of the tables."""
    words = {part: word for word in language.words for part in part_of(word, language)}
    words["noun"] = next((noun.term for noun in language.nouns if noun.category == "trait"), "")
    fill = Fill(words.get(template.blank, "xyz"), "any" if template.blank == "bare noun" else template.blank)
    if template.blank != "any" and template.blank not in words:
        yield Fault(
            "templates.toml", f"no word for the {template.blank} of {template.context!r}", "add one to words.csv"
        )
        return
    for noun in sample_nouns(template, language):
        for gender in noun.genders:
            context = render(template.context, language, [noun], [gender])
            text = render(template.context, language, [noun], [gender], fill)
            refused = next((one for one in (context, text) if isinstance(one, Refusal)), None)
            if refused:
                message = f"{template.context!r} with {noun.term!r}: {refused.reason} ({refused.word})"
                yield Fault("templates.toml", message, "add the form to the tables, or change the template")
                return
            before, _, after = str(context).partition("BLANK")
            if not (str(text).startswith(before) and str(text).endswith(after)):
                message = f"{template.context!r}: its BLANK changes a word beside it ({text})"
                yield Fault("templates.toml", message, "move the BLANK away from articles and prepositions")
                return


def sample_nouns(template: AgreeingTemplate, language: Language) -> list[Noun]:
    """Returns one noun of each kind that a template takes: by gender, first letter and kind; or five places."""
    if template.takes == "place":
        places = [noun.place for noun in language.nouns if noun.place]
        return [Noun(place, {"": place}) for place in places[:5]]
    kinds = {(noun.genders, noun.term[:1], noun.kind): noun for noun in language.nouns if noun.pos == "n"}
    return list(kinds.values())


def gold_agreement(language: Language) -> Iterator[Agreement]:
    """Yields the right, refused and wrong answers of each function in the gold lists."""
    right, refused = Counter[str](), Counter[str]()
    wrong: dict[str, list[str]] = {}
    for function, question, answer, accepted in _answers(language):
        wrong.setdefault(function, [])
        if isinstance(answer, Refusal):
            refused[function] += 1
        elif any(_same(answer, one) for one in accepted):
            right[function] += 1
        else:
            wrong[function].append(f"{question}: {answer} (expected {' or '.join(accepted)})")
    for function, answers in wrong.items():
        yield Agreement(function, right[function], refused[function], tuple(answers))


def _answers(language: Language) -> Iterator[tuple[str, str, str | Refusal, list[str]]]:
    """Yields the function, the question, the language's answer and the accepted answers of each gold row."""
    for _, row in language.rows("gold.csv", ("function", "input", "features", "accepted")):
        question, features = row["input"], row["features"].split()
        answer: str | Refusal
        match row["function"]:
            case "plural":
                answer = language.plural(question)
            case "feminine":
                answer = language.feminine(question)
            case "agree":
                gender, number, *rest = features
                answer = language.agree(question, gender, number, *rest)
            case "finite":
                answer = language.finite(question, "pl")
            case "statement":
                result = predicate(
                    Statement(statement=question, target=row["features"], language=language.code), language
                )
                answer = result if isinstance(result, Refusal) else "|".join(dict.fromkeys(result.forms.values()))
                if isinstance(result, Refusal) and not row["accepted"]:
                    answer = ""  # correctly refused
            case _:
                noun = language.noun(features[0].replace("_", " "))
                gender = features[1] if len(features) > 1 else "" if isinstance(noun, Refusal) else noun.genders[0]
                answer = noun if isinstance(noun, Refusal) else render(question, language, [noun], [gender])
        yield row["function"], " ".join([question, *features]), answer, row["accepted"].split("/")
    definite = language.facts.get("definite", "")
    for _, row in language.rows("gold_nouns.csv", ("noun", "gender", "singular", "plural", "feminine")):
        noun = language.noun(row["noun"])
        for number, head in (("singular", "target"), ("plural", "targets")):
            template = f"{{{definite} {head}}}" if definite else f"{{{head}}}"
            if row[number]:
                answer = noun if isinstance(noun, Refusal) else render(template, language, [noun], [row["gender"]])
                yield f"noun, {number}", row["noun"], answer, row[number].split("/")
        if row["feminine"]:
            yield "noun, feminine", row["noun"], language.feminine(row["noun"]), row["feminine"].split("/")


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


def sheet(language: Language, count: int) -> Iterator[dict[str, str]]:
    """Yields rendered items for a native speaker to check: one per template first, then more, over all nouns."""
    templates = templates_in(language)
    rounds = (_read_item(template, language, turn) for turn in range(count) for template in templates)
    for number, text in enumerate(islice(dict.fromkeys(filter(None, rounds)), count), 1):
        yield {"number": str(number), "sentence": text, "correct (yes/no)": "", "correction": ""}


def _read_item(template: AgreeingTemplate, language: Language, turn: int) -> str:
    """Returns a filled template; the turn selects the noun, its gender and the word."""
    nouns = [noun for noun in sample_nouns(template, language) if noun.category != "trait"]
    words = [word for word in language.words if template.blank in part_of(word, language)]
    if template.blank == "noun":
        words = [noun.term for noun in language.nouns if noun.category == "trait"]
    if not nouns or not words:
        return ""
    step = sum(map(ord, template.context)) + 7 * turn
    noun, word = nouns[step % len(nouns)], words[(step * 13) % len(words)]
    fill = Fill(word, "any" if template.blank == "bare noun" else template.blank)
    texts = [text for _, text in variants(template.context, language, noun, fill) if isinstance(text, str)]
    return texts[step % len(texts)] if texts else ""


def unequal_pairs(language: Language, least: float = 0.5) -> Iterator[Fault]:
    """Yields templates in which two targets of one gender leave too few of the other words equal.

    `least` is the minimum share of equal words.
    """
    for template in templates_in(language):
        if any(template.faults(language)):
            continue
        nouns = [noun for noun in sample_nouns(template, language) if noun.category != "trait"][:6]
        for one, other in combinations(nouns, 2):
            for gender in set(one.genders) & set(other.genders):
                texts = [render(template.context, language, [noun], [gender]) for noun in (one, other)]
                if any(isinstance(text, Refusal) for text in texts):
                    continue
                pattern, own = (r"\w+", 3) if language.spaces else (r"\w", 6)
                first, second = (re.findall(pattern, str(text)) for text in texts)
                if len(set(first) & set(second)) < least * (max(len(first), len(second)) - own):
                    yield Fault(
                        "templates.toml", f"{texts[0]} / {texts[1]} differ in too many words", "use fewer slots"
                    )


def write_sheet(language: Language, path: Path, count: int = 50) -> int:
    """Writes the reading sheet as CSV; returns the number of sentences."""
    rows = list(sheet(language, count))
    csv_files.write(rows, path, ("number", "sentence", "correct (yes/no)", "correction"))
    return len(rows)
