"""Minimal pairs in the style of CrowS-Pairs: two sentences that differ only in the group."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, get_args

from catsofa.builders import attributes
from catsofa.builders.association_files import are_records, domain, names_somebody, origin
from catsofa.builders.cats.fills import Fill, Part, in_number, readings
from catsofa.builders.cats.templates import Template, TermKind, kind_of_group, kind_of_term
from catsofa.builders.dictionary import other_parts, verb_tags
from catsofa.data import formats
from catsofa.data.associations import Association
from catsofa.data.digests import hex_digest
from catsofa.data.files import BadInput, csv_files
from catsofa.data.language.blanks import fill, fit_article, starts_sentence
from catsofa.data.language.demonyms import same_group
from catsofa.data.language.inflection import plural_noun, singular_noun
from catsofa.data.language.same_meaning import core
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import words as words_in
from catsofa.data.languages.swaps import misfits, refitted
from catsofa.data.languages.texts import spaced
from catsofa.data.records import Extra, Pair, Refused, content_id

ASSOCIATED = ("target", "other", "bias_type", "stereotype")
"""Columns of a file of stereotypes: the target group, its replacement, the bias type and the stereotype."""
SENTENCES = ("text", "bias_type")
"""Columns of a file of sentences to swap."""
SWAPS = ("from", "to")
"""Columns of a file of swaps."""
Row = tuple[int, Mapping[str, Any]]
"""A row number and its cells. Rows from associations store their provenance under `origin`."""


def read(path: Path | str, columns: Sequence[str]) -> Iterator[Row]:
    """Yields the rows of a CSV or TSV with their number; cells are stripped of white space."""
    for number, (_, cells) in enumerate(csv_files.rows(path, columns, "rows (CSV or TSV)"), 1):
        yield number, {name: cell.strip() for name, cell in cells.items()}


def read_associated(path: Path | str, language: str = "en", bias_type: str = "") -> Iterator[Row | Refused]:
    """Yields the rows of a CSV or TSV, or of associations in any format.

    `bias_type` is the default for associations without one. The other group is the one in the `extra` of the
    association. Otherwise a hash picks a group of the same kind to which the file never assigns the attribute.
    """
    if not are_records(path, "associations"):
        yield from read(path, ASSOCIATED)
        return
    records = list(formats.read_as(Path(path), Association))
    types = {one.id: domain(one, bias_type) for one in records}
    kinds = {
        one.identity: str(one.extra.get("target_kind") or kind_of_group(one.identity, types[one.id], language) or "")
        for one in records
    }
    groups_by_attribute: dict[Any, set[str]] = defaultdict(set)
    for one in records:
        groups_by_attribute[core(one.attribute, one.language)] |= {one.identity.lower(), *same_group(one.identity)}
    for number, one in enumerate(records, 1):
        spoken_of = groups_by_attribute[core(one.attribute, one.language)]
        candidates = [
            name for name, kind in kinds.items() if kind == kinds[one.identity] and name.lower() not in spoken_of
        ]
        candidates = [*filter(names_somebody, candidates)]
        other = str(one.extra.get("other") or "")
        if not other and candidates:
            other = min(candidates, key=lambda name: hex_digest(f"{one.id}:{name}"))
        row = {name: str(one.extra.get(name) or "") for name in ("context", "kind")}
        row["target_kind"] = kinds[one.identity]
        row |= dict(zip(ASSOCIATED, (one.identity, other, types[one.id], one.attribute), strict=True))
        reason = "other_language" if one.language != language else "" if types[one.id] else "no_bias_type"
        reason = reason or ("" if names_somebody(one.identity) else "odd_characters")
        if reason or not other:
            yield _refused(number, reason or "no_other_group", f"{one.identity} / {one.attribute}")
        else:
            yield number, {**row, "origin": origin(one)}


def _kind(row: Mapping[str, Any], term: str, bias_type: str) -> str | None:
    """Returns the kind of a group by the row, else by the lists; None if both lack it."""
    return str(row.get("target_kind") or "") or kind_of_term(term, bias_type)


def from_templates(
    templates: Sequence[Template], rows: Iterable[Row | Refused], source: Extra | None = None
) -> Iterator[Pair | Refused]:
    """Yields a pair for each stereotype and fitting template: about the target and about the other group.

    The `target_kind` of a row sets the kind of both groups. Without it, the lists decide.
    """
    seen_ids: set[str] = set()
    for entry in rows:
        if isinstance(entry, Refused):
            yield entry
            continue
        number, row = entry
        target, other, bias_type, words = (row[name] for name in ASSOCIATED)
        kind, pair_count = _kind(row, target, bias_type), 0
        fault = None if target and other and words else "empty_cell"
        if kind not in get_args(TermKind):
            fault = "unknown_target_kind"
        if not fault and target.casefold() == other.casefold():
            fault = "same_groups"
        if not fault and kind != _kind(row, other, bias_type):
            fault = "groups_of_two_kinds"
        if not fault and _PRONOUNS & {*words_in(words)} and bundled().pattern.search(f"{target} {other}"):
            fault = "gendered_pronoun"
        fills: Mapping[Part, Fill] = {}
        if not fault and (row.get("context") or "origin" not in row):
            fills = readings(words, row.get("context", ""))
        elif not fault:
            parts = attributes.forms(words, row["kind"])
            fills, fault = ({}, parts) if isinstance(parts, str) else (parts, None)
            if {*words_in(words)} & {*words_in(f"{target} {other}"), *same_group(target), *same_group(other)}:
                fault = "names_group"
        for template in templates if not fault else ():
            if template.takes != kind or (template.bias_types and bias_type not in template.bias_types):
                continue
            reading = fills.get(template.blank)
            if (template.blank != "any" and reading is None) or (reading and not template.has_room_for(reading)):
                continue
            if template.number(target) != template.number(other):
                continue
            count = "plural" if template.plural else template.number(target)
            filled = in_number(reading.words, template.blank, count) if reading else words
            more, less = (fill(template.about(group), filled) for group in (target, other))
            pair_count += 1
            about = {
                "row": number,
                "template": template.context,
                "frame": template.frame,
                "polarity": template.polarity,
            }
            about |= row.get("origin", {})
            yield _new(
                Pair(more=more, less=less, direction="stereo", bias_type=bias_type, source={**about, **(source or {})}),
                seen_ids,
            )
        if fault or not pair_count:
            yield _refused(number, fault or "no_template_fits", " / ".join((target, other, words)))


@dataclass(frozen=True)
class Swaps:
    """Words for groups and their replacements; `table` adds the other number of English nouns."""

    pairs: tuple[tuple[str, str], ...]
    language: str = "en"
    """The language of the words.

    English words are also swapped in the plural, with their articles and pronouns. Other languages use the words as
    listed. No other word changes there, so a swap that changes gender or number by the tables is refused.
    """

    @cached_property
    def table(self) -> dict[str, str]:
        """The replacement of each word in lower case; for English nouns, also of the other number."""
        replacements = {one.lower(): other for one, other in self.pairs}
        for one, other in self.pairs if self.language == "en" else ():
            if (singular := singular_noun(one)) and (to := singular_noun(other)):
                replacements.setdefault(singular.lower(), to)
            elif one.lower() not in _PRONOUNS:
                replacements.setdefault(plural_noun(one).lower(), plural_noun(other))
        return replacements

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """A pattern for every word or phrase of the table, longest first."""
        return _any_of(self.table, self.language)

    @cached_property
    def others(self) -> re.Pattern[str] | None:
        """A pattern for every replacement that is not replaced itself; None if there is none."""
        others = {other.lower() for other in self.table.values()} - self.table.keys()
        return _any_of(others, self.language) if others else None

    def misfits(self, swapped: Iterable[str]) -> bool:
        """Returns True if a replacement differs from its word in gender, number or case, by the tables of the language.

        Such a swap is wrong because the words that agree with it do not change. English has no such tables.
        """
        return any(misfits(one, self.table[one.lower()], self.language) for one in swapped)

    def swap(self, text: str) -> tuple[str, list[str]] | str:
        """Returns a text with every group swapped and the list of swapped words, or the reason for a refusal.

        Articles follow the new words. Words in capitals stay in capitals, and so does the capital at the start of a
        sentence.
        """
        swapped_text, end, swapped = "", 0, []
        for match in self.pattern.finditer(text):
            words = self.table[match[0].lower()]
            if match[0].lower() in ("her", "his") and words.lower() in ("his", "her", "him", "hers"):
                following = re.match(r"\s+([\w'-]+)", text[match.end() :])
                before, after = words_in(text[: match.start()]), following[1].lower() if following else ""
                possessive = _possessive(before, match[0].lower(), after)
                if possessive is None:
                    return "ambiguous_pronoun"
                forms = {"her": ("his", "him"), "his": ("her", "hers")}[match[0].lower()]
                words = forms[0] if possessive else forms[1]
            swapped_text += text[end : match.start()]
            if match[0].isupper() and len(match[0]) > 1:
                words = words.upper()
            elif match[0][0].isupper() and starts_sentence(swapped_text):
                words = words[0].upper() + words[1:]
            fitted = (
                fit_article(swapped_text, words)
                if self.language == "en"
                else refitted(swapped_text, match[0], words, self.language)
            )
            if fitted is None:
                return "no_gender"
            swapped_text = fitted + words
            swapped.append(match[0])
            end = match.end()
        return swapped_text + text[end:], swapped


def _any_of(phrases: Iterable[str], language: str) -> re.Pattern[str]:
    """Returns a pattern for any of these words or phrases, longest first; whole words where a language has spaces."""
    longest = "|".join(re.escape(words) for words in sorted(phrases, key=lambda words: (-len(words), words)))
    return re.compile(rf"(?<![\w-])(?:{longest})(?![\w-])" if spaced(language) else longest, re.IGNORECASE)


_PRONOUNS = frozenset({"he", "him", "his", "himself", "she", "her", "hers", "herself"})
"""Gendered pronouns, which have no plural of their own."""
_TITLED = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Mister|Sir|Madam|Lord)\b")


def _possessive(before: Sequence[str], pronoun: str, following: str) -> bool | None:
    """Returns True if `her` or `his` owns the next word; None if that word is unknown, or may be a verb after `her`."""
    lists, parts = wordlist("swaps.toml"), other_parts(following)
    if not following or following in lists["not_owned"] or following in wordlist("fills.toml")["prepositions"]:
        return False
    if parts & {"NOUN", "ADJ"}:
        verb = pronoun == "her" and "ADJ" not in parts and verb_tags(following) & {"VB"}
        return None if verb and before and before[-1] in lists["before_infinitive"] else True
    return False if parts or verb_tags(following) else None


@cache
def _first_names() -> frozenset[str]:
    """Returns the first names of all lists."""
    lists = wordlist("names.toml")
    return frozenset([*lists["first_names"], *lists["common"]])


def _names_a_person(text: str) -> bool:
    """Returns True if an English sentence has a first name or a title, which a swapped pronoun would contradict."""
    return bool(_TITLED.search(text)) or not _first_names().isdisjoint(re.findall(r"[A-Z]\w+", text))


def read_swaps(path: Path | str, language: str = "en") -> Swaps:
    """Reads the swaps of a CSV or TSV; each word may be replaced only once."""
    pairs = [(row["from"], row["to"]) for _, row in read(path, SWAPS)]
    firsts = [one.lower() for one, _ in pairs]
    for number, (one, other) in enumerate(pairs):
        if not one or not other or one.lower() in firsts[:number]:
            raise BadInput(path, f"{one!r} to {other!r} in row {number + 1}", "two words in each row, the first once")
    return Swaps(tuple(pairs), language)


def bundled() -> Swaps:
    """Returns the bundled swaps of women and men, in both directions."""
    listed = wordlist("swaps.toml")
    both_ways = [pair for woman, man in listed["gender"] for pair in ((woman, man), (man, woman))]
    return Swaps((*both_ways, *((one, other) for one, other in listed["one_way"])))


def from_sentences(rows: Iterable[Row], swaps: Swaps, source: Extra | None = None) -> Iterator[Pair | Refused]:
    """Yields each sentence with its counterpart about the other group.

    Refuses an empty cell, a sentence without a group or with both groups, an ambiguous pronoun, a pronoun beside a
    person's name, a swap that changes gender, number or case, a group whose article is unknown, and a repeat.
    """
    seen_ids: set[str] = set()
    for number, row in rows:
        text = " ".join(row["text"].split())
        both = bool(swaps.others and swaps.others.search(text))
        result = swaps.swap(text)
        reason = result if isinstance(result, str) else "" if result[1] else "names_no_group"
        reason = "empty_cell" if not text else "names_both_groups" if both else reason
        if reason or isinstance(result, str):
            yield _refused(number, reason, text)
            continue
        less, swapped = result
        if swaps.language == "en" and {one.lower() for one in swapped} & _PRONOUNS and _names_a_person(text):
            yield _refused(number, "names_a_person", text)
            continue
        if swaps.misfits(swapped):
            yield _refused(number, "gender_or_number_differs", text)
            continue
        about = {"row": number, "swapped": swapped, **(source or {})}
        pair = Pair(
            more=text,
            less=less,
            direction="stereo",
            bias_type=row["bias_type"],
            language=swaps.language,
            source=about,
        )
        yield _new(pair, seen_ids)


def _new(pair: Pair, seen_ids: set[str]) -> Pair | Refused:
    """Returns the pair, or a refusal if its id was seen before."""
    if pair.id in seen_ids:
        return _refused(pair.source["row"], "duplicate", pair.more)
    seen_ids.add(pair.id)
    return pair


def _refused(row: int, reason: str, text: str) -> Refused:
    """Returns the refusal of a row."""
    return Refused(id=content_id("row", row, text), reason=reason, text=text, source={"row": row})
