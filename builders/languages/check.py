"""Checks of a language's folder: its files, its gold lists and its templates."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, islice
from pathlib import Path

from catsofa.builders.cats.agreeing import AgreeingTemplate, part_of, read
from catsofa.builders.languages.faults import Fault
from catsofa.builders.languages.gold import Agreement, Answer, LeftOut, agreements, answers, gold_faults, left_out
from catsofa.builders.languages.key_checks import key_faults
from catsofa.builders.languages.row_checks import row_faults, subject_faults
from catsofa.data.files import BadInput, csv_files, toml_files
from catsofa.data.languages import Language, Noun, Refusal, find
from catsofa.data.languages.slots import Fill, Slot, faults, parse, render, slot_faults, variants
from catsofa.data.records import BLANK

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
    missing = [f"{name} ({note})" for name, note in FILES.items() if not language.holds(name)]
    english, needed = untranslated(language)
    missing += [f"interface.toml: {text}" for text in needed]
    results = list(answers(language))
    gold = [one for one in results if isinstance(one, Answer)]
    problems = [*key_faults(language), *row_faults(language), *subject_faults(language)]
    problems += [*template_faults(language), *unequal_pairs(language)]
    problems += [one for one in results if isinstance(one, Fault)]
    lists = tuple(agreements(gold))
    problems += gold_faults(gold, lists)
    return Checked(tuple(problems), lists, tuple(missing), tuple(english), tuple(left_out(language)))


def untranslated(language: Language) -> tuple[list[str], list[str]]:
    """Returns the texts missing in interface.toml: those that pages show in English, and those a study needs.

    Pages of open studies and the bundled questions about people can stay in English. A study needs its own questions
    and instructions in the language.
    """
    path = language.folder / "interface.toml"
    if language.code == "en" or not language.holds(path.name):
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
    return read(path) if language.holds(path.name) else []


def template_faults(language: Language) -> Iterator[Fault]:
    """Yields faults of templates: unknown slots, nouns without a form, a BLANK that changes other words."""
    try:
        templates = templates_in(language)
    except BadInput as error:
        yield Fault("templates.toml", error.found, "write templates as docs/languages.md shows")
        return
    known = _known_words(language)
    for template in templates:
        wrong = list(template.faults(language))
        for message in wrong:
            yield Fault("templates.toml", message, "correct the slot, or leave the template out")
        if not wrong:
            yield from _unknown_words("templates.toml", template.context, language, known)
            yield from _tried(template, language)
    path = language.folder / "bleached.toml"
    kinds = toml_files.read(path, "bleached sentences") if language.holds(path.name) else {}
    for kind, sentences in kinds.items():
        for sentence in sentences:
            for message in faults(sentence, language):
                yield Fault(f"bleached.toml, {kind}", message, "correct the slot, or leave the sentence out")
            yield from _unknown_words(f"bleached.toml, {kind}", sentence, language, known)


def _known_words(language: Language) -> set[str]:
    """Returns the words that a slot may hold before its target: words of the tables, and words of the gold list."""
    tables, lists = language.tables.get("articles", {}), language.tables.get("lists", {})
    words = {"cl", BLANK, *tables, *lists.get("unchanged", ()), *language.words}
    words |= {row["word"] for _, row in language.rows("exceptions.csv", ("function", "word", "features", "form"))}
    for _, row in language.rows("gold.csv", ("function", "input", "features", "accepted")):
        if row["function"] in ("plural", "feminine", "agree"):
            words.add(row["input"])
        elif row["function"] == "phrase":
            words |= set(_slot_words(row["input"], language))
    return words


def _slot_words(template: str, language: Language) -> list[str]:
    """Returns the words in the slots of a template, except for its targets; none if a slot is faulty."""
    if any(slot_faults(template, language)):
        return []
    words = (word for piece in parse(template) if isinstance(piece, Slot) for word in piece.words.split())
    return list(dict.fromkeys(words))


def _unknown_words(where: str, template: str, language: Language, known: set[str]) -> Iterator[Fault]:
    """Yields the words of slots that no table has: the rules inflect them as adjectives."""
    for word in _slot_words(template, language):
        if word not in known:
            advice = "add it to `unchanged` in [lists] if it has one form, else to [articles], words.csv or gold.csv"
            yield Fault(where, f"{word!r} in {template!r}, a word that no table has", advice)


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
