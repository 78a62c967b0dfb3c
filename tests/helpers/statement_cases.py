"""Statements written for the rules, and the recorded parses of a small pipeline.

`python tests/helpers/statement_cases.py PIPELINE` parses them again and writes the record.
"""

import csv
import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import get_args

from catsofa.builders.stereotypes import build
from catsofa.builders.stereotypes.exclusions import RuleSet
from catsofa.builders.stereotypes.parsing import Parser, Sentence, Word, spacy_parser
from catsofa.data.records import Statement
from helpers import ROOT

DATA = ROOT / "tests" / "builders" / "data"

RULES = [
    ("they're always late", "tourists", "are always late"),
    ("they take their time", "", "take their time"),
    ("gardeners and cooks are loud", "gardeners, cooks", "are loud"),
    ("all complain", "", "complain"),
    ("has a bad temper and its own rules", "", "have a bad temper and their own rules"),
    ("hurts himself", "", "hurt themselves"),
    ("is a snob who hates tea", "", "are snobs who hate tea"),
    ("is a waste of time", "", "are a waste of time"),
    ("doesn't help and never listens", "", "don't help and never listen"),
    ("sexualizes everything", "", "sexualize everything"),
    ("speak spanish badly", "", "speak spanish badly"),
    ("want to come to the US", "", "want to come to the us"),
    ("would be better to stay at home", "", "!expects_no_subject"),
    ("is to cook", "", "!expects_no_subject"),
    ("have are always late", "", "!malformed"),
    ("can't be engineer's", "", "!malformed"),
    ("shouldn't livw", "", "!malformed"),
    ("hate tailors", "tailors", "!names_target"),
    ("with allergies are loud", "", "!restricted_subject"),
    ("no tailor is honest", "tailors", "!other_subject"),
    ("", "", "!empty"),
]
"""Rules beyond the list, learned from the released statements."""

REVISED = [
    ("happen in the garden", "happen in the garden", "!other_subject"),
    ("should be a florist", "should be a florist", "should be florists"),
    ("would be at home is because they are shy", "would be at home is because they are shy", "!malformed"),
    ("will take your lunch", "!first_or_second_person", "will take your lunch"),
    ("sit behind me", "!first_or_second_person", "!first_or_second_person"),
    ("shouldn't be allowed to vote", "!expects_no_subject", "shouldn't be allowed to vote"),
    ("is known to snore", "!expects_no_subject", "are known to snore"),
    ("is amusing to watch", "!expects_no_subject", "!expects_no_subject"),
    ("doesn't matter if they leave", "don't matter if they leave", "!expects_no_subject"),
    ("cannot take jokes", "!offence_or_joke", "cannot take jokes"),
    ("are easily offended", "!offence_or_joke", "are easily offended"),
    ("have no sense of humor", "!offence_or_joke", "have no sense of humor"),
    ("aren't funny", "!offence_or_joke", "aren't funny"),
    ("should be mocked", "!offence_or_joke", "!offence_or_joke"),
    ("makes fun of a hat", "!offence_or_joke", "!offence_or_joke"),
    ("cannot pronounce certain words", "!terminology", "cannot pronounce certain words"),
    ("own restaurants", "!no_verb", "own restaurants"),
    ("worship monkeys", "!no_verb", "worship monkeys"),
    ("mooch off friends", "!no_verb", "mooch off friends"),
    ("only date neighbours", "!no_verb", "!leading_adverb"),
    ("bad drivers", "!no_verb", "!no_verb"),
    ("is a bad religion", "are a bad religion", "!other_subject"),
    ("is a place to rest", "are places to rest", "!other_subject"),
    ("is a snob", "are snobs", "are snobs"),
    ("is based on a book", "are based on a book", "!other_subject"),
    ("deserve more than immigrants", "deserve more than immigrants", "!names_target"),
    ("are always black", "are always black", "!names_target"),
    ("wear black hats", "wear black hats", "wear black hats"),
    ("paint in black color", "paint in black color", "paint in black color"),
    ("sit in white areas", "sit in white areas", "!names_target"),
    ("tease them", "tease them", "!malformed"),
    ("want others to feed them", "want others to feed them", "want others to feed them"),
    ("should ever sing", "should ever sing", "!malformed"),
    ("are put in the oven", "are put in the oven", "!historical_event"),
    ("should die like in holodomor", "should die like in holodomor", "!historical_event"),
]
"""Statements on which the rule sets differ, or must not: by the preset of the paper, and by the revised rules."""

ALLOWED = [("always complain", ""), ("burned the toast", ""), ("envy florists", "")]
"""Statements for the options."""


def cases() -> list[tuple[Statement, str]]:
    """Returns the 188 statements, each with its predicate or `!reason`."""
    with (DATA / "statements.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [(Statement(statement=row["statement"], target=row["target"].strip("-")), row["expected"]) for row in rows]


@cache
def recorded() -> dict[str, Sentence]:
    """Returns the recorded parse of each text."""
    parses = json.loads((DATA / "parses.json").read_text(encoding="utf-8"))
    return {text: tuple(Word(*word) for word in words) for text, words in parses.items()}


def recorded_parser(texts: Iterable[str]) -> Iterator[Sentence]:
    """Returns the recorded parses, in the form of a pipeline."""
    return (recorded()[text] for text in texts)


def record(parser: Parser) -> dict[str, Sentence]:
    """Returns every text that the rules parse of these statements, with its parse."""
    parses_by_text: dict[str, Sentence] = {}

    def recording(texts: Iterable[str]) -> Iterator[Sentence]:
        for text in texts:
            (parses_by_text[text],) = parser([text])
            yield parses_by_text[text]

    statements = [case for case, _ in cases()]
    statements += [Statement(statement=text, target=target) for text, target, *_ in [*RULES, *ALLOWED]]
    statements += [Statement(statement=text) for text, *_ in REVISED]
    for rules in get_args(RuleSet):
        list(build(statements, recording, rules=rules))
    return parses_by_text


if __name__ == "__main__":
    parses = {
        text: [[w.text, w.start, w.tag, w.dep, w.head] for w in words]
        for text, words in sorted(record(spacy_parser(sys.argv[1])).items())
    }
    lines = ",\n".join(f"{json.dumps(text)}: {json.dumps(words)}" for text, words in parses.items())
    (DATA / "parses.json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")
