"""The demo's input files, as a researcher writes them for `catsofa build`, with errors for the builders to detect."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from catsofa.data.files import atomic_write, csv_files
from catsofa.data.language.inflection import regular_plural
from catsofa.demo.planted import ABOUT_THINGS, PLACES, REWORDINGS, SCENES, SEQUELS, SIDES, THINGS, TRAITS, UNRELATED

CATEGORY = "invented"
COLUMNS = ("target", "bias_type", "stereotype", "anti-stereotype", "unrelated")
WRONG_ASSOCIATIONS = (
    ("zorb", CATEGORY, "tidy", "Tidy", "wooden"),
    ("dask", CATEGORY, "late", "", "salted"),
    ("mimp", CATEGORY, "whistle", "yodel", "wobble"),
)
WRONG_STORIES = (("quell", CATEGORY, "early", "late", "salted", "A BLANK quell came to the market."),)
WRONG_TERMS = (("zorb", "n"), ("upper marsh", ""))
WRONG_STATEMENTS = (
    ("zorbs are tidy", "zorbs"),
    ("dasks were loud", "dasks"),
    ("mimps always late", "mimps"),
    ("folkins are tidier than dasks", "folkins"),
    ("you should be quiet", ""),
    ("the word grivet is rude", "grivets"),
    ("quells who wait are curious", "quells"),
)
"""In order: a duplicate, past tense, no verb, a second group, about the reader, about a word, about some members
only."""


def write(folder: Path) -> None:
    """Writes the seven input files of a researcher who knows the planted world."""
    _table(folder / "associations.csv", COLUMNS, [*_associations(), *WRONG_ASSOCIATIONS])
    _table(folder / "stories.csv", (*COLUMNS, "context"), [*_stories(), *WRONG_STORIES])
    terms = [(group, "n") for groups in SIDES for group in groups]
    _table(folder / f"{CATEGORY}.csv", ("TERM", "POS"), [*terms, *WRONG_TERMS])
    statements = [(text, target, CATEGORY) for text, target in (*_statements(), *WRONG_STATEMENTS)]
    _table(folder / "statements.csv", ("statement", "target", "category"), statements)
    entries = [f'[[templates]]\ncontext = {json.dumps(text)}\nblank = "adjective"\n' for text in REWORDINGS]
    _text(folder / "templates.toml", "\n".join(entries))
    _text(folder / "words.toml", "\n".join(_word_sets()))
    seeds = [(group, TRAITS[0][0] if group == SIDES[0][0] else "") for groups in SIDES for group in groups]
    _table(folder / "seeds.csv", ("identity", "attribute"), seeds)


def _associations() -> Iterable[Sequence[str]]:
    """Yields for every group its planted trait, the opposite trait, and a word for things."""
    for side, groups in enumerate(SIDES):
        for group in groups:
            for pair, unrelated in zip(TRAITS, UNRELATED, strict=True):
                yield group, CATEGORY, pair[side], pair[1 - side], unrelated


def _stories() -> Iterable[Sequence[str]]:
    """Yields the same associations as scenes, each with three sentences; the third is unrelated to the group."""
    for number, (group, category, *words) in enumerate(_associations()):
        place = number % len(TRAITS)
        sequel = SEQUELS[place % len(SEQUELS)]
        first, second = (sequel.format(trait=trait) for trait in words[:2])
        third = ABOUT_THINGS[0].format(thing=THINGS[place], trait=words[2])
        yield (
            group,
            category,
            first,
            second,
            third,
            SCENES[place % len(SCENES)].format(group=group, place=PLACES[place]),
        )


def _statements() -> Iterable[tuple[str, str]]:
    """Yields every trait as a statement about a group that it is planted on."""
    for number, pair in enumerate(TRAITS):
        for groups, trait in zip(SIDES, pair, strict=True):
            target = regular_plural(groups[number])
            yield f"{target} are {trait}", target


def _word_sets() -> Iterable[str]:
    """Yields the groups of each side and their planted traits, as TOML lines of the word sets of a test."""
    first, second = zip(*TRAITS, strict=True)
    sets = {"FirstSide": SIDES[0], "SecondSide": SIDES[1], "FirstTraits": first, "SecondTraits": second}
    yield f"[tests]\nplanted = {json.dumps(list(sets))}\n\n[sets]"
    yield from (f"{name} = {json.dumps(words)}" for name, words in sets.items())
    yield f"\n[kinds]\nperson = {json.dumps([*SIDES[0], *SIDES[1]])}\nadjective = {json.dumps([*first, *second])}\n"


def _table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Writes a CSV file with a header."""
    csv_files.write((dict(zip(columns, row, strict=True)) for row in rows), path, columns)


def _text(path: Path, text: str) -> None:
    """Writes a text file atomically."""
    with atomic_write(path) as file:
        file.write(text.encode())
