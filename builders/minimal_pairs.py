"""Minimal pairs in the manner of CrowS-Pairs: two sentences that differ in a group alone."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from catsofa.data.languages.texts import cells_of, spaced
from catsofa.data.records import Extra, Pair, Refused, content_id

ASSOCIATED = ("target", "other", "bias_type", "stereotype")
"""The columns of a file of stereotypes: whom they are about, and the group that takes their place."""
SENTENCES = ("text", "bias_type")
"""The columns of a file of sentences to swap."""
SWAPS = ("from", "to")
"""The columns of a file of swaps."""
Row = tuple[int, Mapping[str, Any]]
"""A row's number and its cells; those of an association have what is known of it under `origin`."""


def read(path: Path | str, columns: Sequence[str]) -> Iterator[Row]:
    """The rows of a CSV or TSV with their number, their cells without space around them."""
    for number, (_, cells) in enumerate(csv_files.rows(path, columns, "rows (CSV or TSV)"), 1):
        yield number, {name: cell.strip() for name, cell in cells.items()}


def read_associated(path: Path | str, language: str = "en", bias_type: str = "") -> Iterator[Row | Refused]:
    """The rows of a CSV or TSV, or of associations in any format; `bias_type` is the domain where these name none.

    The other group of an association is the one that its `extra` names, else one of the file of the same kind, of
    which nobody in the file says the attribute, drawn by a hash.
    """
    if not are_records(path, "associations"):
        yield from read(path, ASSOCIATED)
        return
    given = list(formats.read_as(Path(path), Association))
    types = {one.id: domain(one, bias_type) for one in given}
    kinds = {
        one.identity: str(one.extra.get("target_kind") or kind_of_group(one.identity, types[one.id], language) or "")
        for one in given
    }
    said: dict[Any, set[str]] = defaultdict(set)
    for one in given:
        said[core(one.attribute, one.language)] |= {one.identity.lower(), *same_group(one.identity)}
    for number, one in enumerate(given, 1):
        spoken_of = said[core(one.attribute, one.language)]
        others = [name for name, kind in kinds.items() if kind == kinds[one.identity] and name.lower() not in spoken_of]
        others = [*filter(names_somebody, others)]
        other = str(one.extra.get("other") or "")
        if not other and others:
            other = min(others, key=lambda name: hex_digest(f"{one.id}:{name}"))
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
    """What a group's name is: by the row, else by the lists; None where neither knows."""
    return str(row.get("target_kind") or "") or kind_of_term(term, bias_type)


def from_templates(
    templates: Sequence[Template], rows: Iterable[Row | Refused], source: Extra | None = None
) -> Iterator[Pair | Refused]:
    """Each stereotype in every template that fits it, said of the target and of the other group.

    A row's `target_kind` says what both groups are, where the lists do not know them.
    """
    seen: set[str] = set()
    for given in rows:
        if isinstance(given, Refused):
            yield given
            continue
        number, row = given
        target, other, bias_type, words = (row[name] for name in ASSOCIATED)
        kind, made = _kind(row, target, bias_type), 0
        fault = None if target and other and words else "empty_cell"
        if kind not in get_args(TermKind):
            fault = "unknown_target_kind"
        if not fault and target.casefold() == other.casefold():
            fault = "same_groups"
        if not fault and kind != _kind(row, other, bias_type):
            fault = "groups_of_two_kinds"
        if not fault and _PRONOUNS & {*words_in(words)} and (gendered := bundled().swap(f"{target} {other}")):
            fault = "gendered_pronoun" if gendered[1] else None
        said: Mapping[Part, Fill] = {}
        if not fault and (row.get("context") or "origin" not in row):
            said = readings(words, row.get("context", ""))
        elif not fault:
            known = attributes.forms(words, row["kind"])
            said, fault = ({}, known) if isinstance(known, str) else (known, None)
            if {*words_in(words)} & {*words_in(f"{target} {other}"), *same_group(target), *same_group(other)}:
                fault = "names_group"
        for template in templates if not fault else ():
            if template.takes != kind or (template.bias_types and bias_type not in template.bias_types):
                continue
            reading = said.get(template.blank)
            if (template.blank != "any" and reading is None) or (reading and not template.has_room_for(reading)):
                continue
            if template.number(target) != template.number(other):
                continue
            count = "plural" if template.plural else template.number(target)
            filled = in_number(reading.words, template.blank, count) if reading else words
            more, less = (fill(template.about(group), filled) for group in (target, other))
            made += 1
            kept = {"row": number, "template": template.context, "frame": template.frame, "polarity": template.polarity}
            kept |= row.get("origin", {})
            yield _new(
                Pair(more=more, less=less, direction="stereo", bias_type=bias_type, source={**kept, **(source or {})}),
                seen,
            )
        if fault or not made:
            yield _refused(number, fault or "no_template_fits", " / ".join((target, other, words)))


@dataclass(frozen=True)
class Swaps:
    """Words for groups and the words that take their place, in singular and plural."""

    pairs: tuple[tuple[str, str], ...]
    language: str = "en"
    """English words are swapped in the plural too, with their articles and pronouns; others as they are listed.

    In another language no other word changes, so a swap that changes gender or number by the tables is refused.
    """

    @cached_property
    def table(self) -> dict[str, str]:
        """The words in lower case, in the other number too, to their replacements."""
        found = {one.lower(): other for one, other in self.pairs}
        for one, other in self.pairs if self.language == "en" else ():
            if (singular := singular_noun(one)) and (to := singular_noun(other)):
                found.setdefault(singular.lower(), to)
            elif one.lower() not in _PRONOUNS:
                found.setdefault(plural_noun(one).lower(), plural_noun(other))
        return found

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Every word or phrase of the table, the longest first."""
        longest = "|".join(re.escape(words) for words in sorted(self.table, key=lambda words: -len(words)))
        return re.compile(rf"(?<![\w-])(?:{longest})(?![\w-])" if spaced(self.language) else longest, re.IGNORECASE)

    def misfits(self, swapped: Iterable[str]) -> bool:
        """Whether a word gives way to one of another gender or number, by the tables of another language than English.

        The words that agree with it would stay as they are.
        """
        cells = ((cells_of(one, self.language), cells_of(self.table[one.lower()], self.language)) for one in swapped)
        return any(ours and theirs and not ours & theirs for ours, theirs in cells)

    def swap(self, text: str) -> tuple[str, list[str]] | None:
        """A text with every group swapped, and the words that were; None if a pronoun could be two.

        Articles follow the new words; capitals, and a capital at the start of a sentence, are those of the old words.
        """
        made, end, swapped = "", 0, []
        for found in self.pattern.finditer(text):
            words = self.table[found[0].lower()]
            if found[0].lower() in ("her", "his") and words.lower() in ("his", "her", "him", "hers"):
                following = re.match(r"\s+([\w'-]+)", text[found.end() :])
                known = _possessive(following[1].lower() if following else "")
                if known is None:
                    return None
                forms = {"her": ("his", "him"), "his": ("her", "hers")}[found[0].lower()]
                words = forms[0] if known else forms[1]
            made += text[end : found.start()]
            if found[0].isupper() and len(found[0]) > 1:
                words = words.upper()
            elif found[0][0].isupper() and starts_sentence(made):
                words = words[0].upper() + words[1:]
            made = (fit_article(made, words) if self.language == "en" else made) + words
            swapped.append(found[0])
            end = found.end()
        return made + text[end:], swapped


_PRONOUNS = frozenset({"he", "him", "his", "himself", "she", "her", "hers", "herself"})
"""Words without a plural of their own."""
_NOT_OWNED = frozenset({"a", "an", "the", "and", "or", "but", "that", "if", "as", "than", "not"})


def _possessive(following: str) -> bool | None:
    """Whether `her` or `his` owns the word that follows; None if that word could also be a verb or an adverb."""
    parts = other_parts(following)
    if not following or following in _NOT_OWNED or following in wordlist("fills.toml")["prepositions"]:
        return False
    if parts & {"NOUN", "ADJ"}:
        return None if verb_tags(following) & {"VB"} and "ADJ" not in parts else True
    return False if parts or verb_tags(following) else None


def read_swaps(path: Path | str, language: str = "en") -> Swaps:
    """The swaps of a CSV or TSV; each word once."""
    pairs = [(row["from"], row["to"]) for _, row in read(path, SWAPS)]
    firsts = [one.lower() for one, _ in pairs]
    for number, (one, other) in enumerate(pairs):
        if not one or not other or one.lower() in firsts[:number]:
            raise BadInput(path, f"{one!r} to {other!r} in row {number + 1}", "two words in each row, the first once")
    return Swaps(tuple(pairs), language)


def bundled() -> Swaps:
    """The swaps of women and men that come with catsofa, in both directions."""
    listed = wordlist("swaps.toml")
    both_ways = [pair for woman, man in listed["gender"] for pair in ((woman, man), (man, woman))]
    return Swaps((*both_ways, *((one, other) for one, other in listed["one_way"])))


def from_sentences(rows: Iterable[Row], swaps: Swaps, source: Extra | None = None) -> Iterator[Pair | Refused]:
    """Each sentence with its twin about the other group; one without a group, or with both, is refused."""
    seen: set[str] = set()
    replaced = {words_in(other) for other in swaps.table.values()} - {words_in(one) for one in swaps.table}
    for number, row in rows:
        text = " ".join(row["text"].split())
        tokens = words_in(text)
        both = any(words == tokens[at : at + len(words)] for words in replaced for at in range(len(tokens)))
        if not spaced(swaps.language):
            both = any("".join(words) in text for words in replaced)
        found = swaps.swap(text)
        if not text or both or found is None or not found[1]:
            reason = "empty_cell" if not text else "names_both_groups" if both else "ambiguous_pronoun"
            yield _refused(number, reason if found is None or both or not text else "names_no_group", text)
            continue
        less, swapped = found
        if swaps.misfits(swapped):
            yield _refused(number, "gender_or_number_differs", text)
            continue
        kept = {"row": number, "swapped": swapped, **(source or {})}
        pair = Pair(
            more=text,
            less=less,
            direction="stereo",
            bias_type=row["bias_type"],
            language=swaps.language,
            source=kept,
        )
        yield _new(pair, seen)


def _new(pair: Pair, seen: set[str]) -> Pair | Refused:
    """A pair, or its refusal if it was seen."""
    if pair.id in seen:
        return _refused(pair.source["row"], "duplicate", pair.more)
    seen.add(pair.id)
    return pair


def _refused(row: int, reason: str, text: str) -> Refused:
    """The refusal of a row."""
    return Refused(id=content_id("row", row, text), reason=reason, text=text, source={"row": row})
