"""Target terms: the papers' own lists, a frequency filter, and merging of terms that are too specific."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from catsofa.data import formats
from catsofa.data.files import BadInput, csv_files, toml_files
from catsofa.data.language.wordlists import table
from catsofa.data.records import Refused, Term

Edition = Literal["v1", "v2"]
"""`v1`: the 321 terms of arXiv v1, Table 9; `v2`: the 333 of the ACL paper's Table 10, with 24 on religion, not 12."""

USES = "uses"
"""The key of a term's frequency in `extra`."""


def stereoset_terms(edition: Edition = "v1", *, corrected: bool = False) -> Iterator[Term]:
    """Yields StereoSet's target terms with their sibling groups, in the paper's or the usual spelling."""
    for row in table("terms.csv"):
        if edition == "v1" and not row["rank"]:
            continue
        extra: dict[str, Any] = {"agreement": float(row["agreement"])}
        if row["spelling"]:
            extra |= {"paper_spelling": row["term"], "spelling": row["spelling"]}
        yield Term(
            category=row["category"],
            term=row["spelling"] if corrected and row["spelling"] else row["term"],
            group=row["group"],
            source={"from": f"StereoSet {edition}", **({"rank": int(row["rank"])} if row["rank"] else {})},
            extra=extra,
        )


def choose(terms: Iterable[Term | Refused], *, least: int = 1, into: Mapping[str, str]) -> Iterator[Term | Refused]:
    """Yields the terms after merging, if used at least `least` times; earlier refusals pass through."""
    waiting: list[Term] = []
    for term in terms:
        if isinstance(term, Refused):
            yield term
        else:
            waiting.append(term)
    for merged_term in merged(waiting, into) if into else waiting:
        if isinstance(merged_term, Refused) or least <= 1:
            yield merged_term
        else:
            yield from frequent([merged_term], least)


def frequent(terms: Iterable[Term], least: int) -> Iterator[Term | Refused]:
    """Yields the terms that their source counted at least `least` times; others are refused."""
    for term in terms:
        uses = term.extra.get(USES)
        if uses is None or uses < least:
            reason = "unknown_frequency" if uses is None else "infrequent"
            yield Refused(id=term.id, reason=reason, text=term.term, score=uses, source=term.source)
        else:
            yield term


def merged(terms: Iterable[Term], into: Mapping[str, str]) -> Iterator[Term | Refused]:
    """Yields the terms after merging, with their uses summed; a term merged into an empty name is excluded."""
    by_key: dict[tuple[str, str], Term] = {}
    uses: Counter[tuple[str, str]] = Counter()
    for term in terms:
        name = into.get(term.term, term.term)
        key = (term.category, name)
        if not name:
            yield Refused(id=term.id, reason="excluded", text=term.term, source=term.source)
            continue
        uses[key] += term.extra.get(USES, 0)
        if key in by_key:
            merged_into = dict(term.source) | {"into": by_key[key].id}
            yield Refused(
                id=term.id, reason="merged" if term.term != name else "duplicate", text=term.term, source=merged_into
            )
        else:
            by_key[key] = term if name == term.term else replace(term, id="", term=name)
    for key, term in by_key.items():
        yield replace(term, extra={**term.extra, USES: uses[key]}) if uses[key] else term


def read_terms(path: Path | str, term: str = "", uses: str = "", category: str = "") -> Iterator[Term]:
    """Yields the terms of a file in a known format, or of a table with named columns.

    `category` is the category of all terms of a table.
    """
    if not term:
        yield from formats.read_as(path, Term)
        return
    named = [column for column in (term, uses) if column]
    for line, row in csv_files.rows(path, named, "terms (CSV or TSV)"):
        count = row[uses] if uses else ""
        if uses and not count.isdecimal():
            raise BadInput(path, f"{count!r} as {uses}", "a count", line)
        if row[term].strip():
            extra = {USES: int(count)} if uses else {}
            yield Term(category=category, term=row[term].strip(), pos=row.get("pos", ""), extra=extra)


def read_lexicon(path: Path | str, language: str = "en") -> Iterator[Term]:
    """Yields the terms of an identity lexicon, with their language set."""
    for term in formats.read_as(path, Term):
        yield term if term.language == language else replace(term, language=language)


def read_merge_map(path: Path | str) -> dict[str, str]:
    """Reads a merge map: TOML, `"assistant producer" = "producer"`; an empty text excludes a term."""
    expected = 'a merge map (TOML, "assistant producer" = "producer")'
    mapping = toml_files.read(path, expected)
    if wrong := [name for name, target in mapping.items() if not isinstance(target, str)]:
        raise BadInput(path, f"{wrong[0]!r} mapped to something that is no text", expected)
    if chained := [name for name, target in mapping.items() if target in mapping and target != name]:
        raise BadInput(path, f"{chained[0]!r} merged into {mapping[chained[0]]!r}, which is merged itself", expected)
    return mapping
