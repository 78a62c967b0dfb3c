"""Checks of the rows of a language's tables: parts of speech, genders, missing forms, repeated and overlong words."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from catsofa.builders.languages.faults import Fault
from catsofa.builders.languages.key_checks import cases_of, one_of
from catsofa.builders.languages.subjects import bundled, subjects
from catsofa.data.languages import Language, Refusal
from catsofa.data.languages.language import NOUN_COLUMNS, NOUNS
from catsofa.data.languages.schema import INFLECTED, PARTS, TERM_PARTS
from catsofa.data.languages.slots import faults

LONGEST = 100
"""Maximum letters of a word."""
Row = dict[str, str]
Found = tuple[str, str]
"""What is wrong in a row, and what to do."""


def row_faults(language: Language) -> Iterator[Fault]:
    """Yields the faults of the rows of each table, in order of tables."""
    people = [(f"{name}:{line}", row) for name in NOUNS for line, row in language.rows(name, NOUN_COLUMNS)]
    yield from _faults(language, people, ("term", "pos"), _term)
    words = [(f"words.csv:{line}", row) for line, row in language.rows("words.csv", ("word", "pos", "gender"))]
    yield from _faults(language, words, ("word", "pos"), _word)
    columns = ("function", "word", "features", "form")
    exceptions = [(f"exceptions.csv:{line}", row) for line, row in language.rows("exceptions.csv", columns)]
    yield from _faults(language, exceptions, columns[:-1], _exception)


def _faults(
    language: Language,
    rows: Iterable[tuple[str, Row]],
    key: Sequence[str],
    found_in: Callable[[Row, Language], Iterator[Found]],
) -> Iterator[Fault]:
    """Yields the faults of each row, and the rows with the key of an earlier row."""
    seen: dict[tuple[str, ...], tuple[str, Row]] = {}
    for where, row in rows:
        for what, advice in found_in(row, language):
            yield Fault(where, what, advice)
        yield from _overlong(where, row)
        first, earlier = seen.setdefault(tuple(row[column] for column in key), (where, row))
        if first != where:
            named = ", ".join(filter(None, (row[column] for column in key)))
            relation = "as in" if row == earlier else "with other cells than in"
            yield Fault(where, f"{named!r} again, {relation} {first}", "keep one of the two rows")


def _overlong(where: str, row: Row) -> Iterator[Fault]:
    """Yields the words of a row that are too long for a word."""
    for column, cell in row.items():
        if any(len(word) > LONGEST for word in cell.split()):
            what = f"a word of {max(map(len, cell.split()))} letters in the column {column!r} ({cell[:20]}…)"
            yield Fault(where, what, f"write a word of at most {LONGEST} letters")


def _term(row: Row, language: Language) -> Iterator[Found]:
    """Yields the faults of a word for people: its part of speech, and a number without a form."""
    if row["pos"] not in TERM_PARTS:
        yield f"the part of speech {row['pos']!r} of {row['term']!r}", one_of(TERM_PARTS)
    plural_only = not any(row.get(f"{gender}_sg") for gender in language.genders)
    for gender in () if plural_only else language.genders:
        cells = {number: row.get(f"{gender}_{number}", "") for number in language.numbers}
        if row["pos"] == "n" and any(cells.values()) and not all(cells.values()):
            empty = next(number for number, cell in cells.items() if not cell)
            yield f"{row['term']!r} has no {gender}_{empty}", f"fill the column {gender}_{empty}"


def _word(row: Row, language: Language) -> Iterator[Found]:
    """Yields the faults of another word: its part of speech and its gender."""
    if row["pos"] not in PARTS:
        yield f"the part of speech {row['pos']!r} of {row['word']!r}", one_of(PARTS)
    if row["gender"] and row["gender"] not in language.genders:
        advice = one_of(language.genders) if language.genders else "leave the cell empty"
        yield f"the gender {row['gender']!r} of {row['word']!r}", advice


def _exception(row: Row, language: Language) -> Iterator[Found]:
    """Yields the faults of an exception: its function and its features."""
    function, features, cases = row["function"], row["features"], cases_of(language)
    if function not in (*INFLECTED, *cases):
        yield f"the function {function!r} of {row['word']!r}", one_of((*INFLECTED, *sorted(cases)))
        return
    allowed = {"finite": ("pl",), "plural": ("", *language.genders)}.get(function, ("",))
    if features not in allowed:
        written = " or ".join(one or "nothing" for one in allowed)
        yield f"the features {features!r} of {function}, {row['word']!r}", f"write {written} in the column features"


def subject_faults(language: Language) -> Iterator[Fault]:
    """Yields the faults of [subject]: wrong slots, and words for people that make no subject."""
    patterns = language.facts.get("subject", {})
    wrong = [
        Fault("language.toml", f"{what} ({name} in [subject])", "correct the slot")
        for name in ("noun", "adjective", "phrase")
        for what in faults(patterns.get(name, "{target}"), language)
    ]
    yield from wrong
    if wrong or not {"noun", "adjective", "phrase", "people"} <= patterns.keys():
        return
    for term in bundled(language):
        result = subjects(term, language)
        if isinstance(result, Refusal):
            place, what = (
                str(term.source["from"]).partition("/")[2],
                f"{term.term!r} makes no subject ({result.reason})",
            )
            yield Fault(place, what, "add its missing forms")
