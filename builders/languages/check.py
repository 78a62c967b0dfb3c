"""Checks of a language's folder: its files, its gold lists, its templates, and programs that know the language."""

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
"""The files of a complete language; one without some of them lacks the commands that need them."""
RULED = ("plural", "feminine", "agree", "finite", "statement")
"""Functions of rules: 1 % of their gold rows may be wrong. Those of tables may have no wrong row."""
MOST_WRONG = 0.01


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a language: where, what, and what to do."""

    where: str
    what: str
    advice: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many rows of the gold lists a function answers right, refuses, or answers wrongly (with the answers)."""

    function: str
    right: int
    refused: int
    wrong: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether no more answers are wrong than may be."""
        rows = self.right + self.refused + len(self.wrong)
        return len(self.wrong) <= (MOST_WRONG * rows if self.function in RULED else 0)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What the rules make of words whose forms are written in a table, if the table is left out."""

    table: str
    right: tuple[str, ...]
    """Words that need no row: the rule gives the same form."""
    refused: int
    """Words to which no rule applies."""
    wrong: tuple[str, ...]
    """Words that the rule would get wrong, with its form."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the check of a language found."""

    faults: tuple[Fault, ...]
    gold: tuple[Agreement, ...]
    missing: tuple[str, ...] = field(default=())
    """Files, and texts of studies, that the language lacks; commands that need them are refused."""
    english: tuple[str, ...] = field(default=())
    """Texts of open studies, the questions about people among them, that have no translation."""
    without: tuple[LeftOut, ...] = field(default=())
    """What the rules make of the words whose forms are written."""


def check(language: Language) -> Checked:
    """Every check that needs no other program; templates are filled only where their slots are right."""
    missing = [f"{name} ({what})" for name, what in FILES.items() if not (language.folder / name).exists()]
    english, needed = untranslated(language)
    missing += [f"interface.toml: {text}" for text in needed]
    gold = list(gold_agreement(language))
    found = [*shape(language), *template_faults(language), *unequal_pairs(language)]
    for one in gold:
        if not one.passed:
            advice = "correct the tables, the rules or exceptions.csv; correct the gold list if that errs"
            found += [Fault(f"{one.function} of the gold list", answer, advice) for answer in one.wrong]
    return Checked(tuple(found), tuple(gold), tuple(missing), tuple(english), tuple(left_out(language)))


def shape(language: Language) -> Iterator[Fault]:
    """Words for people that lack a form, unknown parts of speech, subjects that cannot be made."""
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
            what = f"the part of speech {row['pos']!r} of {row['word']!r}"
            yield Fault(f"words.csv:{line}", what, "write adjective, verb, noun or thing")
    if "subject" in language.facts:
        for term in bundled(language):
            made = subjects(term, language)
            if isinstance(made, Refusal):
                yield Fault(
                    str(term.source["from"]).partition("/")[2],
                    f"{term.term!r} makes no subject ({made.reason})",
                    "add its missing forms",
                )


def untranslated(language: Language) -> tuple[list[str], list[str]]:
    """The texts that interface.toml does not translate: those that pages show in English, and those a study needs.

    Pages of open studies and the bundled questions about people can stay in English; a study is not made without its
    own questions and instructions.
    """
    path = language.folder / "interface.toml"
    if language.code == "en" or not path.exists():
        return [], []
    wanted = toml_files.read(find("en").path("interface.toml", "texts of pages"), "texts of pages")
    there = toml_files.read(path, "texts of pages")
    texts, pages = there.get("texts", {}), there.get("pages", {})
    english = [text for text in wanted["pages"] + wanted["about"] if text not in texts]
    needed = [f"[texts] {text!r}" for text in wanted["questions"] if text not in texts]
    return english, needed + [f"[pages] {name!r}" for name in wanted["instructions"] if name not in pages]


def templates_in(language: Language) -> list[AgreeingTemplate]:
    """The CAT templates of a language; none if it has no file of them."""
    path = language.folder / "templates.toml"
    return read(path) if path.exists() else []


def template_faults(language: Language) -> Iterator[Fault]:
    """Templates with slots that the language lacks, without a form for a noun, or whose BLANK changes other words."""
    try:
        templates = templates_in(language)
    except BadInput as error:
        yield Fault("templates.toml", error.found, "write templates as docs/languages.md shows")
        return
    for template in templates:
        wrong = list(template.faults(language))
        for what in wrong:
            yield Fault("templates.toml", what, "correct the slot, or leave the template out")
        if not wrong:
            yield from _tried(template, language)
    path = language.folder / "bleached.toml"
    kinds = toml_files.read(path, "bleached sentences") if path.exists() else {}
    for kind, sentences in kinds.items():
        for what in (what for sentence in sentences for what in faults(sentence, language)):
            yield Fault(f"bleached.toml, {kind}", what, "correct the slot, or leave the sentence out")


def _tried(template: AgreeingTemplate, language: Language) -> Iterator[Fault]:
    """The template filled with nouns and words of the tables."""
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
                what = f"{template.context!r} with {noun.term!r}: {refused.reason} ({refused.word})"
                yield Fault("templates.toml", what, "add the form to the tables, or change the template")
                return
            before, _, after = str(context).partition("BLANK")
            if not (str(text).startswith(before) and str(text).endswith(after)):
                what = f"{template.context!r}: its BLANK changes a word beside it ({text})"
                yield Fault("templates.toml", what, "move the BLANK away from articles and prepositions")
                return


def sample_nouns(template: AgreeingTemplate, language: Language) -> list[Noun]:
    """A noun of each kind that a template takes: by gender and first letter."""
    if template.takes == "place":
        places = [noun.place for noun in language.nouns if noun.place]
        return [Noun(place, {"": place}) for place in places[:5]]
    kinds = {(noun.genders, noun.term[:1], noun.kind): noun for noun in language.nouns if noun.pos == "n"}
    return list(kinds.values())


def gold_agreement(language: Language) -> Iterator[Agreement]:
    """Each function of the gold lists with its right, refused and wrong answers."""
    right, refused = Counter[str](), Counter[str]()
    wrong: dict[str, list[str]] = {}
    for function, asked, answer, accepted in _answers(language):
        wrong.setdefault(function, [])
        if isinstance(answer, Refusal):
            refused[function] += 1
        elif any(_same(answer, one) for one in accepted):
            right[function] += 1
        else:
            wrong[function].append(f"{asked}: {answer} (expected {' or '.join(accepted)})")
    for function, answers in wrong.items():
        yield Agreement(function, right[function], refused[function], tuple(answers))


def _answers(language: Language) -> Iterator[tuple[str, str, str | Refusal, list[str]]]:
    """The function, the question, the language's answer and the accepted answers of each gold row."""
    for _, row in language.rows("gold.csv", ("function", "input", "features", "accepted")):
        asked, features = row["input"], row["features"].split()
        answer: str | Refusal
        match row["function"]:
            case "plural":
                answer = language.plural(asked)
            case "feminine":
                answer = language.feminine(asked)
            case "agree":
                gender, number, *rest = features
                answer = language.agree(asked, gender, number, *rest)
            case "finite":
                answer = language.finite(asked, "pl")
            case "statement":
                made = predicate(Statement(statement=asked, target=row["features"], language=language.code), language)
                answer = made if isinstance(made, Refusal) else "|".join(dict.fromkeys(made.forms.values()))
                if isinstance(made, Refusal) and not row["accepted"]:
                    answer = ""  # rightly refused
            case _:
                noun = language.noun(features[0].replace("_", " "))
                gender = features[1] if len(features) > 1 else "" if isinstance(noun, Refusal) else noun.genders[0]
                answer = noun if isinstance(noun, Refusal) else render(asked, language, [noun], [gender])
        yield row["function"], " ".join([asked, *features]), answer, row["accepted"].split("/")
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
    """Whether two answers are the same, but for the capital of a sentence."""
    return answer[1:] == accepted[1:] and answer[:1].lower() == accepted[:1].lower()


def left_out(language: Language) -> Iterator[LeftOut]:
    """What the rules alone make of the words of exceptions.csv and of the words for people, by the kind of form.

    It shows which rows a rule makes unnecessary, and what a word risks that no table has.
    """
    written: dict[str, list[tuple[str, str, str]]] = {}
    for _, row in language.rows("exceptions.csv", ("function", "word", "features", "form")):
        if isinstance(language.tables.get(row["function"]), list):
            written.setdefault(f"exceptions.csv, {row['function']}", []).append(
                (row["function"], row["word"], row["form"])
            )
    for noun in language.nouns if not language.cases else ():
        given = [("plural", f"{gender}_sg", f"{gender}_pl") for gender in noun.genders]
        for function, one, other in [("feminine", "m_sg", "f_sg"), *given]:
            if noun.forms.get(one) and noun.forms.get(other):
                rows = written.setdefault(f"words for people, {function}", [])
                rows.append((function, noun.forms[one], noun.forms[other]))
    for table, rows in written.items():
        right, wrong, refused = list[str](), list[str](), 0
        for function, word, form in dict.fromkeys(rows):
            made = language.by_rule(function, word)
            if (isinstance(made, Refusal) and not form) or made == form:
                right.append(word)
            elif isinstance(made, Refusal):
                refused += 1
            else:
                wrong.append(f"{word}: {made} (written {form or 'as refused'})")
        yield LeftOut(table, tuple(right), refused, tuple(wrong))


def sheet(language: Language, count: int) -> Iterator[dict[str, str]]:
    """Rendered items for a native speaker to read: one of each template first, then others, spread over the nouns."""
    templates = templates_in(language)
    rounds = (_read_item(template, language, turn) for turn in range(count) for template in templates)
    for number, text in enumerate(islice(dict.fromkeys(filter(None, rounds)), count), 1):
        yield {"number": str(number), "sentence": text, "correct (yes/no)": "", "correction": ""}


def _read_item(template: AgreeingTemplate, language: Language, turn: int) -> str:
    """A filled template; the turn chooses the noun, its gender and the word."""
    nouns = [noun for noun in sample_nouns(template, language) if noun.category != "trait"]
    words = [word for word in language.words if template.blank in part_of(word, language)]
    if template.blank == "noun":
        words = [noun.term for noun in language.nouns if noun.category == "trait"]
    if not nouns or not words:
        return ""
    step = sum(map(ord, template.context)) + 7 * turn
    noun, word = nouns[step % len(nouns)], words[(step * 13) % len(words)]
    fill = Fill(word, "any" if template.blank == "bare noun" else template.blank)
    made = [text for _, text in variants(template.context, language, noun, fill) if isinstance(text, str)]
    return made[step % len(made)] if made else ""


def unequal_pairs(language: Language, least: float = 0.5) -> Iterator[Fault]:
    """Templates in which two targets of one gender leave less than this share of the other words equal."""
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
    """Write the reading sheet as CSV; returns how many sentences."""
    rows = list(sheet(language, count))
    csv_files.write(rows, path, ("number", "sentence", "correct (yes/no)", "correction"))
    return len(rows)
