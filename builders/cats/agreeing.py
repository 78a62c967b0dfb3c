"""CATs and minimal pairs in languages with agreement: templates with slots, filled in each gender of a target."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from catsofa.builders.cats import Association, Matching, fault_of, refused
from catsofa.builders.cats.templates import EXPECTED, Frame, chosen_frames
from catsofa.builders.minimal_pairs import ASSOCIATED, Row
from catsofa.data.files import BadInput, toml_files
from catsofa.data.languages import Language, Noun, Refusal
from catsofa.data.languages.slots import Fill, faults, render
from catsofa.data.languages.texts import names, names_of
from catsofa.data.records import BLANK, LABELS, Candidate, Cat, Extra, Pair, Refused, content_id

TAKES = ("person", "place")
_ARTICLE = re.compile(r"^\w{1,3}(?:['’]| (?=\w))")
PARTS = ("adjective", "noun", "verb", "bare noun", "any")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreeingTemplate:
    """A context with slots for a target and one BLANK, in one language."""

    context: str
    takes: str = "person"
    blank: str = "any"
    frame: Frame = "statement"
    bias_types: frozenset[str] = field(default_factory=frozenset)

    def faults(self, language: Language) -> Iterator[str]:
        """Yields the faults of the template in its language."""
        yield from faults(self.context, language)
        if self.context.count(BLANK) != 1:
            yield f"{self.context!r} has {self.context.count(BLANK)} BLANKs; a template has one"
        for name, allowed in (("takes", TAKES), ("blank", PARTS), ("frame", get_args(Frame))):
            if getattr(self, name) not in allowed:
                yield f"{self.context!r} has the {name} {getattr(self, name)!r}; expected {', '.join(allowed)}"


def read(path: Path | str) -> list[AgreeingTemplate]:
    """Reads the templates of a TOML file."""
    try:
        return [
            AgreeingTemplate(**(entry | {"bias_types": frozenset(entry.get("bias_types", ()))}))
            for entry in toml_files.read(path, EXPECTED)["templates"]
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(path, f"no templates ({error})", EXPECTED) from None


def templates_of(language: Language, path: Path | None, frames: Sequence[str]) -> list[AgreeingTemplate]:
    """Returns the templates of a language or of a file in the chosen frames; a faulty one is an error."""
    place = path or language.path("templates.toml", "CAT templates")
    templates = read(place)
    wrong = next((fault for template in templates for fault in template.faults(language)), None)
    if wrong:
        raise BadInput(place, wrong, EXPECTED)
    wanted = chosen_frames(path, frames)
    return [template for template in templates if template.frame in wanted]


def part_of(words: str, language: Language) -> tuple[str, ...]:
    """Returns the parts of speech of words, by the language's tables; empty if no table has them.

    An ending does not tell adjectives from nouns (*restaurant*, *mercado*).
    """
    parts = ["bare noun" if word.pos == "noun" else word.pos for word in language.words.get(words, ())]
    parts += ["noun"] if words.lower() in language.by_form else []
    if not parts and words in language.adjectives:
        parts.append("adjective")
    if (
        not parts
        and language.genders
        and " " in words
        and isinstance(language.agree(words, language.genders[0], "sg"), str)
    ):
        parts.append("adjective")
    return tuple(dict.fromkeys(parts))


def build(
    language: Language,
    templates: Sequence[AgreeingTemplate],
    associations: Iterable[Association | Refused],
    source: Extra | None = None,
) -> Iterator[Cat | Refused]:
    """Yields each association in every template that fits it, once for each gender that the text shows."""
    seen_ids = set[str]()
    for association in associations:
        if isinstance(association, Refused):
            yield association
            continue
        if association.target_kind:
            yield refused(association, "target_kind_is_for_english", failed={"target_kind": association.target_kind})
            continue
        noun = target_of(association.target, language)
        fault = fault_of(association, Matching())
        if fault:
            empty = {label: words for label, words in association.words.items() if not words}
            yield refused(association, fault, failed=empty)
            continue
        if isinstance(noun, Refusal):
            yield refused(association, noun.reason, failed={"target": association.target})
            continue
        parts = {label: part_of(words, language) for label, words in association.words.items()}
        fitting = [one for one in templates if _fits(one, noun, association.bias_type, parts.values())]
        cats = [cat for one in fitting for cat in _cats(one, language, noun, association, source or {})]
        if not cats:
            unknown = {label: association.words[label] for label in LABELS if not parts[label]}
            taking = [one for one in templates if _takes(one, noun, association.bias_type)]
            fewest = min(
                ([label for label in LABELS if _lacks(one, parts[label])] for one in taking), key=len, default=()
            )
            misfits: dict[str, str] = {label: association.words[label] for label in fewest}
            misfits = misfits or {"target": association.target}
            yield refused(association, "unknown_word" if unknown else "no_template_fits", failed=unknown or misfits)
        for cat in cats:
            if isinstance(cat, Refused):
                yield cat
            elif cat.id in seen_ids:
                yield refused(association, "duplicate", cat.context)
            else:
                seen_ids.add(cat.id)
                yield cat


def target_of(target: str, language: Language) -> Noun | Refusal:
    """Returns the noun or the place of a target; a place may lack its article (Espagne for l'Espagne)."""
    place = next((noun.place for noun in language.nouns if target in (noun.place, _ARTICLE.sub("", noun.place))), "")
    return Noun(place, {"": place}, pos="place") if place else language.noun(target)


def _fits(template: AgreeingTemplate, noun: Noun, bias_type: str, parts: Iterable[Sequence[str]]) -> bool:
    """Returns True if a template takes this target, this bias type and words of these parts of speech."""
    return _takes(template, noun, bias_type) and not any(_lacks(template, part) for part in parts)


def _takes(template: AgreeingTemplate, noun: Noun, bias_type: str) -> bool:
    """Returns True if a template takes this target and this bias type."""
    if template.bias_types and bias_type not in template.bias_types:
        return False
    return template.takes == ("place" if noun.pos == "place" else "person")


def _lacks(template: AgreeingTemplate, parts: Sequence[str]) -> bool:
    """Returns True if a template's BLANK takes none of these parts of speech."""
    return template.blank not in ("any", *parts)


def _cats(
    template: AgreeingTemplate, language: Language, noun: Noun, association: Association, source: Extra
) -> Iterator[Cat | Refused]:
    """Yields the CATs of an association in a template, one for each gender with a different text."""
    filled: dict[str, Mapping[str, str | Refusal]] = {
        label: _in_each_gender(template, language, noun, words) for label, words in association.words.items()
    }
    contexts = {gender: render(template.context, language, [noun], [gender]) for gender in noun.genders}
    shown = {gender: (contexts[gender], *(filled[label][gender] for label in LABELS)) for gender in noun.genders}
    groups: dict[Any, str] = {}
    for gender, texts in shown.items():
        groups[texts] = groups.get(texts, "") + gender
    for (context, *texts), gender in groups.items():
        wrong = next((text for text in (context, *texts) if isinstance(text, Refusal)), None)
        if wrong:
            yield refused(association, wrong.reason, template.context, {"word": wrong.word})
            continue
        if len(set(texts)) < len(texts):
            yield refused(association, "same_candidates", str(context))
            continue
        about = {"template": template.context, "frame": template.frame, "gender": gender}
        origin = {"language_status": language.facts["status"], "association": association.id}
        one, two, three = (
            Candidate(text=text, label=label, fill=_fill_of(str(context), text))
            for text, label in zip(texts, LABELS, strict=True)
        )
        yield Cat(
            kind="intrasentence",
            bias_type=association.bias_type,
            target=next(form for form in (noun.form(gender[:1], "sg"), noun.term) if form),
            context=str(context),
            candidates=(one, two, three),
            language=language.code,
            source={
                **origin,
                **association.source,
                **{name: value for name, value in about.items() if value},
                **source,
            },
        )


def _in_each_gender(template: AgreeingTemplate, language: Language, noun: Noun, words: str) -> dict[str, str | Refusal]:
    """Returns a template filled with words, by gender."""
    fill = Fill(words, "any" if template.blank == "bare noun" else template.blank)
    return {gender: render(template.context, language, [noun], [gender], fill) for gender in noun.genders}


def _fill_of(context: str, text: str) -> str | None:
    """Returns the text at the place of the BLANK, or None if the text does not match the context."""
    before, _, after = context.partition(BLANK)
    if not text.startswith(before) or not text.endswith(after):
        return None
    return text[len(before) : len(text) - len(after)]


def pairs(
    language: Language,
    templates: Sequence[AgreeingTemplate],
    rows: Iterable[Row | Refused],
    source: Extra | None = None,
) -> Iterator[Pair | Refused]:
    """Yields each stereotype in every template that fits it, about two groups in the same gender."""
    seen_ids: set[str] = set()
    for entry in rows:
        if isinstance(entry, Refused):
            yield entry
            continue
        number, row = entry
        target, other, bias_type, words = (row[name] for name in ASSOCIATED)
        nouns = [target_of(group, language) for group in (target, other)]
        wrong = next((noun for noun in nouns if isinstance(noun, Refusal)), None)
        reason = "empty_cell" if not all((target, other, words)) else wrong.reason if wrong else ""
        valid_nouns = [noun for noun in nouns if isinstance(noun, Noun)]
        if not reason and other.lower() in names_of(target, language.code):
            reason = "same_groups"
        if not reason and any(names(words, group, language.code) for group in (target, other)):
            reason = "names_group"
        if (
            not reason
            and all("" not in noun.genders for noun in valid_nouns)
            and not {*valid_nouns[0].genders} & {*valid_nouns[1].genders}
        ):
            reason = "genders_differ"
        results: list[Pair] = []
        for template in templates if not reason else ():
            part = part_of(words, language)
            if not all(_fits(template, noun, bias_type, [part]) for noun in valid_nouns):
                continue
            fill = Fill(words, "any" if template.blank == "bare noun" else template.blank)
            for gender, more, less in _in_both(template, language, valid_nouns, fill):
                about = {"row": number, "template": template.context, "frame": template.frame, "gender": gender}
                about |= row.get("origin", {})
                results.append(
                    Pair(
                        more=more,
                        less=less,
                        direction="stereo",
                        bias_type=bias_type,
                        language=language.code,
                        source={**about, "language_status": language.facts["status"], **(source or {})},
                    )
                )
        for pair in results:
            yield pair if pair.id not in seen_ids else _refused_row(number, "duplicate", pair.more)
            seen_ids.add(pair.id)
        if not results:
            text = " / ".join((target, other, words))
            unknown = "" if reason or part_of(words, language) else "unknown_word"
            failed = {
                name: row[name] for name, noun in zip(ASSOCIATED[:2], nouns, strict=True) if isinstance(noun, Refusal)
            } or ({"stereotype": words} if unknown else {})
            yield _refused_row(number, reason or unknown or "no_template_fits", text, failed)


def _in_both(
    template: AgreeingTemplate, language: Language, nouns: Sequence[Noun], fill: Fill
) -> Iterator[tuple[str, str, str]]:
    """Yields the texts of a template about two groups in each gender that both have, with their genders (`mf`)."""
    genders: dict[tuple[str, str], str] = {}
    for gender in (one for one in nouns[0].genders if one in nouns[1].genders):
        more, less = (render(template.context, language, [noun], [gender], fill) for noun in nouns)
        if not isinstance(more, Refusal) and not isinstance(less, Refusal) and more != less:
            genders[more, less] = genders.get((more, less), "") + gender
    for (more, less), gender in genders.items():
        yield gender, more, less


def _refused_row(row: int, reason: str, text: str, failed: Extra | None = None) -> Refused:
    """Returns the refusal of a row, or of one of its pairs, with the words that failed."""
    about = {"row": row, **({"failed": failed} if failed else {})}
    return Refused(id=content_id("row", row, text), reason=reason, text=text, source=about)
