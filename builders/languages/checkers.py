"""Second opinions on the forms of a language from hunspell and Apertium, run as programs if installed."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from catsofa.data.languages import Language

APERTIUM = Path("/usr/share/apertium")
"""The folder of the analysers in Debian's packages."""
_GENDERS = {"m": ("<m>", "<mf>", "<GD>"), "f": ("<f>", "<mf>", "<GD>"), "n": ("<nt>",)}
_NUMBERS = {"sg": ("<sg>", "<sp>"), "pl": ("<pl>", "<sp>")}


@dataclass(frozen=True, slots=True)
class Opinion:
    """A form on which a program disagrees: our reading and the program's."""

    checker: str
    word: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Asked:
    """The result of one checker: how many forms it judged, or why it judged none."""

    checker: str
    words: int = 0
    unavailable: str = ""


def forms(language: Language) -> Iterator[tuple[str, str, str, str]]:
    """Yields each form of words for people, adjectives and verbs, with its part of speech, gender and number."""
    for noun in language.nouns:
        for key, form in noun.forms.items():
            if re.fullmatch("[mfn]_(?:sg|pl)", key) and form:
                yield form, "noun", key[0], key[2:]
    for word, readings in language.words.items():
        parts = {each.pos for each in readings}
        if "adjective" in parts and " " not in word:
            for gender in language.genders[:2]:
                for number in language.numbers:
                    inflected = language.agree(word, gender, number)
                    if isinstance(inflected, str):
                        yield inflected, "adjective", gender, number
        if "verb" in parts and isinstance(plural := language.finite(word, "pl"), str):
            yield plural, "verb", "", "pl"


def second_opinion(language: Language) -> tuple[list[Asked], list[Opinion]]:
    """Returns the result of each checker, and each disagreement that agreed.csv does not settle."""
    checkers = dict(language.facts.get("checkers", {}))
    settled = {row["word"] for _, row in language.rows("agreed.csv", ("word", "reason"))}
    listed = list(dict.fromkeys(forms(language)))
    results: list[Asked] = []
    opinions: list[Opinion] = []
    if dictionary := checkers.get("hunspell"):
        words = list(dict.fromkeys(word for form, *_ in listed for word in form.split()))
        refused = _hunspell(str(dictionary), words)
        if isinstance(refused, str):
            results.append(Asked("hunspell", unavailable=refused))
        else:
            results.append(Asked("hunspell", len(words)))
            opinions += [Opinion("hunspell", word, "a form of the tables or rules", "no word") for word in refused]
    if pair := checkers.get("apertium"):
        single = [each for each in listed if " " not in each[0]]
        analysed = _apertium(str(pair), [form for form, *_ in single])
        if isinstance(analysed, str):
            results.append(Asked("apertium", unavailable=analysed))
        else:
            judged = [(each, analyses) for each, analyses in zip(single, analysed, strict=True) if analyses]
            results.append(Asked("apertium", len(judged)))
            for (form, part, gender, number), analyses in judged:
                if not any(_has(one, part, gender, number) for one in analyses):
                    ours = " ".join(filter(None, (part, gender, number)))
                    opinions.append(Opinion("apertium", form, ours, ", ".join(analyses)))
    return results, [one for one in opinions if one.word not in settled]


def _has(analysis: str, part: str, gender: str, number: str) -> bool:
    """Returns True if an analysis has the features of a form; nouns and adjectives are interchangeable."""
    if part == "verb":
        return "<p3>" in analysis and "<pl>" in analysis
    return any(tag in analysis for tag in _GENDERS[gender]) and any(tag in analysis for tag in _NUMBERS[number])


def _hunspell(dictionary: str, words: list[str]) -> list[str] | str:
    """Returns the words that a dictionary lacks, or the reason why hunspell did not run."""
    if shutil.which("hunspell") is None:
        return "hunspell is not installed"
    done = subprocess.run(
        ["hunspell", "-i", "utf-8", "-d", dictionary, "-l"],
        input="\n".join(words),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return f"hunspell has no dictionary {dictionary}"
    return list(dict.fromkeys(done.stdout.split()))


def _apertium(pair: str, words: list[str]) -> list[list[str]] | str:
    """Returns the analyses of each word, empty for an unknown word, or the reason why Apertium did not run."""
    analyser = APERTIUM / f"apertium-{pair}" / f"{pair}.automorf.bin"
    if shutil.which("lt-proc") is None or not analyser.exists():
        return f"apertium-{pair} is not installed"
    done = subprocess.run(
        ["lt-proc", str(analyser)],
        input="\n".join(f"{word} ." for word in words),
        capture_output=True,
        text=True,
        check=True,
    )
    by_word = []
    for line in done.stdout.splitlines():
        analyses = line.removeprefix("^").split("$", 1)[0].split("/")[1:]
        by_word.append([one for one in analyses if not one.startswith("*")])
    return by_word
