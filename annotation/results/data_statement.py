"""The data statement of a release, after Bender and Friedman (2018), from what the run itself knows.

What nobody asked is said to be unknown; nothing is guessed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from catsofa.annotation.crowd.people.background import published
from catsofa.annotation.results.answers import by_the_writer, latest
from catsofa.annotation.study import Study
from catsofa.data.visible import markdown

UNKNOWN = "Their age, gender, origin and first language were not asked."


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one study contributed: who did what, when, for which pay."""

    kind: str
    language: str
    people: int
    answers: int
    skipped: int
    first: str
    last: str
    pay: float
    currency: str
    overlap: int
    about: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """How many people gave each answer about themselves, by question; small answers are wider ones, or withheld."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """What the judgements decided."""

    items: int
    kept: int
    need: int
    of: int
    judgements: int
    """How many times a person judged an item that is released, and it counts."""
    labels: int
    """The answers in them: three for each judgement of a CAT."""
    counted: Sequence[tuple[int, int]]
    """How many judgements count, and for how many of the released items so many do."""
    missing: int
    """How many further judgements were asked for."""
    judges: int
    agreement: float
    domains: Sequence[tuple[str, int]]
    targets: int
    words: float
    """Mean number of words of a sentence."""
    asked: Sequence[str] = ()
    """The questions about whole items; none where the sentences of CATs were labelled."""


def work_of(study: Study) -> Work:
    """A study in the numbers a data statement wants."""
    s, answers = study.settings, [row for row in latest(study) if not row.skipped]
    days = sorted(row.at[:10] for row in answers)
    said = published(study, {row.annotator for row in answers})
    questions = dict.fromkeys(name for each in said.values() for name in each)
    return Work(
        kind=study.kind.name,
        language=s.language,
        people=len({row.annotator for row in answers}),
        answers=len(answers),
        skipped=sum(row.skipped and not by_the_writer(row, study) for row in latest(study)),
        first=days[0] if days else "",
        last=days[-1] if days else "",
        pay=s.pay,
        currency=s.currency,
        overlap=s.overlap,
        about={name: Counter(each[name] for each in said.values() if name in each) for name in questions},
    )


def data_statement(validated: Validated, works: Sequence[Work], language: Sequence[str]) -> str:
    """The statement as Markdown, from its headings on."""
    domains = ", ".join(f"{markdown(name) or 'no domain'} {count:,}" for name, count in validated.domains)
    targets = "1 target" if validated.targets == 1 else f"{validated.targets:,} targets"
    sections = {
        "Curation rationale": _rationale(validated),
        "Language variety": f"{', '.join(map(markdown, language))}; which varieties was not recorded.",
        "Speaker demographic": _speakers([work for work in works if work.kind.startswith("write-")]),
        "Annotator demographic": _annotators(validated, [work for work in works if not work.kind.startswith("write-")]),
        "Speech situation": _situation(works, validated.asked),
        "Text characteristics": f"{validated.kept:,} items about {targets} ({domains}); a sentence has "
        f"{validated.words:.1f} words on average.",
        "Limits": "Stereotypes are those these people know of; another place or time has others. A sentence that "
        "enough people call a stereotype may also be true of many, and one that few know is not in the set.",
    }
    return "## Data statement\n\n" + "\n\n".join(f"### {title}\n\n{text}" for title, text in sections.items())


def _rationale(v: Validated) -> str:
    """Why and how the items were chosen."""
    confirm = f"confirm it (asked: {', '.join(v.asked).replace('_', ' ')})" if v.asked else "agree"
    first, counts = f"at least {v.need} of the first {v.of} valid judgements {confirm}.", ""
    if any(n != v.of for n, _ in v.counted):
        first = f"at least {v.need} valid judgements {confirm}."
        counts = f" Valid judgements: {', '.join(f'{n} for {items:,} items' for n, items in v.counted)}."
    if v.missing:
        counts += f" {v.missing:,} judgements that were asked for are missing."
    return (
        f"The set measures stereotypical associations of language models. Of {v.items:,} items {v.kept:,} are "
        f"released: those for which {first}{counts}"
    )


def _speakers(works: Sequence[Work]) -> str:
    """Who wrote the sentences."""
    if not works:
        return "The sentences were not written in a study that this release knows of."
    people, texts = sum(work.people for work in works), sum(work.answers for work in works)
    return f"{people:,} people wrote {texts:,} items. {_about(works)} {_paid(works)}"


def _annotators(v: Validated, works: Sequence[Work]) -> str:
    """Who judged them."""
    agreement = f" Agreement between pairs of judges is {v.agreement:.3f}." if v.agreement == v.agreement else ""
    skipped = sum(work.skipped for work in works)
    passed = f" Tasks were passed on {skipped:,} times, as everybody was free to do." if works else ""
    counted = f"{v.judges:,} people gave the {v.judgements:,} judgements that count ({v.labels:,} answers)."
    return f"{counted}{agreement}{passed} {_about(works)} {_paid(works)}"


def _about(works: Sequence[Work]) -> str:
    """What people said about themselves, study by study."""
    told = []
    for work in works:
        for name, counts in work.about.items():
            shares = ", ".join(f"{markdown(answer)} {people:,}" for answer, people in sorted(counts.items()))
            told.append(f"{markdown(name.replace('_', ' '))} ({sum(counts.values()):,} people asked): {shares}.")
    if not told:
        return UNKNOWN
    wider = "Answers that few people gave are made wider, or withheld; nothing else about them was asked."
    return f"They said of themselves: {' '.join(told)} {wider}"


def _paid(works: Sequence[Work]) -> str:
    """What they were paid."""
    rates = dict.fromkeys(f"{markdown(work.currency)} {work.pay:.2f}" for work in works)
    return f"They were paid {' or '.join(rates)} an hour." if rates else "Their pay is not recorded."


def _situation(works: Sequence[Work], asked: Sequence[str]) -> str:
    """When and how it was done."""
    days = sorted(day for work in works for day in (work.first, work.last) if day)
    when = f" between {days[0]} and {days[-1]}" if days else ""
    made = "made and judged" if any(work.kind.startswith("write-") for work in works) else "judged"
    shown = "each item" if asked else "the sentences of an item in random order"
    return (
        f"Written text, {made} in a browser{when}, after a content warning, a statement of consent and "
        f"instructions. Judges saw {shown}, without labels or each other's answers."
    )
