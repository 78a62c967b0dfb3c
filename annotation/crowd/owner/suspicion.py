"""Reasons to look at a person's work. None of them proves anything, and nothing follows from them by itself."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from catsofa.annotation.crowd import quality
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.store import Row, Rows
from catsofa.annotation.study import Study
from catsofa.data.statistics import score_limits

LEAST = 8
"""Tasks, at least, before a person's pace, answers or agreement say something."""
QUICK = 0.25
"""The share of everybody's median time below which a median is suspicious."""
USUAL = 0.9
"""A pattern that this share of the others' tasks has too is no reason."""
WIDE = 1.96
Pattern = tuple[tuple[str, str], ...]


def reasons(held: Rows, study: Study, rules: Rules) -> dict[str, list[str]]:
    """For each person whose work is suspicious, the reasons in words."""
    found = defaultdict[str, list[str]](list)
    checks = {row["person"]: row["n"] for row in held.all(_CHECKS)}
    for person in held.all("SELECT * FROM person WHERE state <> 'withdrawn'"):
        found[person["name"]] += _of_known_answers(held, person, checks.get(person["name"], 0), rules)
    answers = held.all(_ANSWERS)
    for name, said in _of_pace(answers):
        found[name].append(said)
    if study.kind.judged.asks is not None:
        for name, said in [*_of_patterns(answers), *_of_agreement(answers)]:
            found[name].append(said)
    return {name: each for name, each in found.items() if each}


_CHECKS = (
    "SELECT s.person, count(*) AS n FROM seat s JOIN task t ON t.token = s.task "
    "WHERE t.kind = 'check' AND s.state = 'checked' GROUP BY s.person"
)
_ANSWERS = (
    "SELECT s.person, s.task, a.said, a.seconds FROM seat s JOIN answer a ON a.nonce = s.nonce "
    "JOIN task t ON t.token = s.task WHERE t.kind = 'item' ORDER BY s.person, a.at, s.nonce"
)


def _of_known_answers(held: Rows, person: Row, checks: int, rules: Rules) -> Iterator[str]:
    """What checks, gold items and the bound of pace say of a person."""
    if person["checks_failed"]:
        yield f"failed {person['checks_failed']} of {checks} checks"
    if quality.is_excluded(person):
        yield f"answered {person['gold_right']} of {person['gold_asked']} questions of gold items and checks rightly"
    fast, _ = quality.fast(held, rules, person["name"])
    if fast >= rules.fast_limit:
        yield f"gave {fast} answers in under {rules.fast:g} s"


def _of_pace(answers: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """People whose median time is a small share of everybody's."""
    took = defaultdict[str, list[float]](list)
    for row in answers:
        took[row["person"]].append(row["seconds"])
    medians = {name: median(each) for name, each in took.items() if len(each) >= LEAST}
    if len(medians) > 1:
        usual = median(medians.values())
        for name, seconds in medians.items():
            if seconds < QUICK * usual:
                yield name, f"took {seconds:.1f} s for an item; the median of all people is {usual:.1f} s"


def _of_patterns(answers: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """People who gave the same answers to every item, where others did not."""
    given = defaultdict[str, Counter[Pattern]](Counter)
    for row in answers:
        given[row["person"]][tuple(sorted(_choices(row).items()))] += 1
    everybody = Counter[Pattern]()
    for counts in given.values():
        everybody.update(counts)
    for name, counts in given.items():
        (pattern, times), *others = counts.most_common()
        rest = everybody.total() - times
        if not others and times >= LEAST and pattern and everybody[pattern] - times < USUAL * rest:
            said = ", ".join(dict.fromkeys(label for _, label in pattern))
            yield name, f"gave the same answers to all {times} items ({said})"


def _of_agreement(answers: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """People who agree with the majority of the others more rarely than people do on average, beyond chance."""
    votes = defaultdict[tuple[str, str], Counter[str]](Counter)
    for row in answers:
        for question, label in _choices(row).items():
            votes[row["task"], question][label] += 1
    agreed, compared = Counter[str](), Counter[str]()
    for row in answers:
        for question, label in _choices(row).items():
            others = votes[row["task"], question] - Counter([label])
            ranked = others.most_common(2)
            if others.total() >= 2 and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]):
                compared[row["person"]] += 1
                agreed[row["person"]] += ranked[0][0] == label
    if compared:
        usual = agreed.total() / compared.total()
        for name, n in compared.items():
            share = agreed[name] / n
            low, high = score_limits(share, n, WIDE)
            if n >= LEAST and high < usual:
                yield (
                    name,
                    f"agrees with most others in {share:.0%} of {n} judgements (95 % interval {low:.0%} to {high:.0%}; "
                    f"all people {usual:.0%})",
                )


def _choices(row: Row) -> Mapping[str, str]:
    """The questions of an answer that were answered by one choice."""
    said: dict[str, str] = {name: label for name, label in json.loads(row["said"]).items() if isinstance(label, str)}
    return said
