"""Statements written for the rules, and what a small pipeline makes of their grammar, recorded.

`python tests/helpers/statement_cases.py PIPELINE` parses them anew and writes the record.
"""

import csv
import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache

from catsofa.builders.stereotypes import build
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
"""Rules beyond the list: what the released statements taught."""

ALLOWED = [("always complain", ""), ("burned the toast", ""), ("envy florists", "")]
"""Statements for the options."""


def cases() -> list[tuple[Statement, str]]:
    """The 188 statements, each with its predicate or `!reason`."""
    with (DATA / "statements.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [(Statement(statement=row["statement"], target=row["target"].strip("-")), row["expected"]) for row in rows]


@cache
def recorded() -> dict[str, Sentence]:
    """The recorded parse of each text."""
    parses = json.loads((DATA / "parses.json").read_text(encoding="utf-8"))
    return {text: tuple(Word(*word) for word in words) for text, words in parses.items()}


def recorded_parser(texts: Iterable[str]) -> Iterator[Sentence]:
    """The recorded parses, as a pipeline would give them."""
    return (recorded()[text] for text in texts)


def record(parser: Parser) -> dict[str, Sentence]:
    """Every text that the rules have parsed of these statements, with its parse."""
    found: dict[str, Sentence] = {}

    def recording(texts: Iterable[str]) -> Iterator[Sentence]:
        for text in texts:
            (found[text],) = parser([text])
            yield found[text]

    statements = [case for case, _ in cases()]
    statements += [Statement(statement=text, target=target) for text, target, *_ in [*RULES, *ALLOWED]]
    list(build(statements, recording))
    return found


if __name__ == "__main__":
    parses = {
        text: [[w.text, w.start, w.tag, w.dep, w.head] for w in words]
        for text, words in sorted(record(spacy_parser(sys.argv[1])).items())
    }
    lines = ",\n".join(f"{json.dumps(text)}: {json.dumps(words)}" for text, words in parses.items())
    (DATA / "parses.json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")
