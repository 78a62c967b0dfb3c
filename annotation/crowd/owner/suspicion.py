"""Reasons to look at a person's work. None of them is a proof, and none has an automatic effect."""

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
"""Minimum number of tasks before a person's pace, answers or agreement are judged."""
QUICK = 0.25
"""Share of the usual median time below which a person's median is suspicious."""
USUAL = 0.9
"""Share of the others' tasks from which a common pattern of answers is no reason."""
WIDE = 1.96
Pattern = tuple[tuple[str, str], ...]


def reasons(held: Rows, study: Study, rules: Rules) -> dict[str, list[str]]:
    """Returns the reasons in words, for each person whose work is suspicious."""
    by_person = defaultdict[str, list[str]](list)
    checks = {row["person"]: row["n"] for row in held.all(_CHECKS)}
    for person in held.all("SELECT * FROM person WHERE state <> 'withdrawn'"):
        by_person[person["name"]] += _of_known_answers(held, person, checks.get(person["name"], 0), rules)
    answers = held.all(_ANSWERS)
    for name, reason in _of_pace(answers):
        by_person[name].append(reason)
    if study.kind.judged.asks is not None:
        for name, reason in [*_of_patterns(answers), *_of_agreement(answers)]:
            by_person[name].append(reason)
    return {name: each for name, each in by_person.items() if each}


_CHECKS = (
    "SELECT s.person, count(*) AS n FROM seat s JOIN task t ON t.token = s.task "
    "WHERE t.kind = 'check' AND s.state = 'checked' GROUP BY s.person"
)
_ANSWERS = (
    "SELECT s.person, s.task, a.said, a.seconds FROM seat s JOIN answer a ON a.nonce = s.nonce "
    "JOIN task t ON t.token = s.task WHERE t.kind = 'item' ORDER BY s.person, a.at, s.nonce"
)


def _of_known_answers(held: Rows, person: Row, checks: int, rules: Rules) -> Iterator[str]:
    """Yields reasons from checks, gold items and the limit for fast answers."""
    if person["checks_failed"]:
        yield f"failed {person['checks_failed']} of {checks} checks"
    if quality.is_excluded(person):
        yield f"answered {person['gold_right']} of {person['gold_asked']} questions of gold items and checks rightly"
    fast, _ = quality.fast(held, rules, person["name"])
    if fast >= rules.fast_limit:
        yield f"gave {fast} answers in under {rules.fast:g} s"


def _of_pace(answers: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Yields people whose median time is a small share of the median of all people."""
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
    """Yields people who gave the same answers to every item, where others did not."""
    patterns = defaultdict[str, Counter[Pattern]](Counter)
    for row in answers:
        patterns[row["person"]][tuple(sorted(_choices(row).items()))] += 1
    everybody = Counter[Pattern]()
    for counts in patterns.values():
        everybody.update(counts)
    for name, counts in patterns.items():
        (pattern, times), *other_patterns = counts.most_common()
        rest = everybody.total() - times
        if not other_patterns and times >= LEAST and pattern and everybody[pattern] - times < USUAL * rest:
            choices = ", ".join(dict.fromkeys(label for _, label in pattern))
            yield name, f"gave the same answers to all {times} items ({choices})"


def _of_agreement(answers: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Yields people who agree with the majority of the others less often than average, beyond chance."""
    votes = defaultdict[tuple[str, str], Counter[str]](Counter)
    for row in answers:
        for question, label in _choices(row).items():
            votes[row["task"], question][label] += 1
    agreed, compared = Counter[str](), Counter[str]()
    for row in answers:
        for question, label in _choices(row).items():
            other_votes = votes[row["task"], question] - Counter([label])
            ranked = other_votes.most_common(2)
            if other_votes.total() >= 2 and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]):
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
    """Returns the questions of an answer that have one choice, with the choice."""
    choices: dict[str, str] = {name: label for name, label in json.loads(row["said"]).items() if isinstance(label, str)}
    return choices
