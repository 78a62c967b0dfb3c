"""The data statement of a release, after Bender and Friedman (2018), from what the run itself knows.

Every field appears. A field that nobody was asked about says so; nothing is guessed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from catsofa.annotation.crowd import databases, settings
from catsofa.annotation.crowd.owner.states import of_person
from catsofa.annotation.crowd.people.background import STUDIES, published
from catsofa.annotation.crowd.quality import is_excluded
from catsofa.annotation.crowd.store import JUDGEMENTS, identity, reading
from catsofa.annotation.results.answers import FORGOTTEN, REOPENED, Tombstone, Wanted, by_the_writer, latest
from catsofa.annotation.study import Study, rows
from catsofa.data.percentages import quantity
from catsofa.data.visible import markdown

PEOPLE = {
    "Age": "age_band",
    "Gender": "gender",
    "Race or ethnicity": "ethnicity",
    "Origin": "country",
    "Native language": "first_language",
    "Socioeconomic status": "socioeconomic_status",
}
"""The fields about people, and the question of a questionnaire that answers each."""
SPEAKERS = {**PEOPLE, "Disordered speech": "disordered_speech"}
ANNOTATORS = {**PEOPLE, "Training": "training", "Membership of a group the tasks are about": "relation_to_target"}
LEFT_OUT = {"failed", "paused", "voided", "screened", "declined"}
"""States of people who are counted as left out; people who withdrew are not counted separately."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The contribution of one study: people, answers, dates and pay."""

    kind: str
    language: str
    people: int
    answers: int
    writers: int
    texts: int
    """Answers that are texts; `writers` is the number of people who wrote them."""
    judges: bool
    """True if people judged."""
    skipped: int
    first: str
    last: str
    pay: float
    currency: str
    overlap: int
    recruited: str = ""
    """The platform that people came from, if they came through `annotate open`."""
    screened: str = ""
    """The conditions that people had to meet, by what the platform knows of them."""
    minimum_age: int = 0
    ethics: str = ""
    """The institution and protocol of the ethics review, and the legal basis."""
    erased: Sequence[int] = ()
    """The number of answers of each person whose answers were erased."""
    more: Mapping[str, int] = field(default_factory=dict)
    """The number of items that more than `overlap` people were asked about, by reason."""
    said: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The answers of each person about themselves that are counted; rare answers are widened or withheld."""

    told: settings.Statement = field(default_factory=settings.Statement)
    """The researchers' own statement about the set."""
    practice: tuple[int, int] = (0, 0)
    """Number of practice items before the work, and how many had to be right."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Number of people who came and whose judgements do not count, by reason."""

    @property
    def about(self) -> dict[str, Counter[str]]:
        """Number of people who gave each answer about themselves, by question."""
        questions = dict.fromkeys(name for each in self.said.values() for name in each)
        return {name: Counter(each[name] for each in self.said.values() if name in each) for name in questions}


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """The results of the judgements."""

    items: int
    kept: int
    need: int
    of: int
    judgements: int
    """Number of judgements of released items that count."""
    labels: int
    """Number of answers in these judgements: three for each judgement of a CAT."""
    counted: Sequence[tuple[int, int]]
    """Numbers of judgements that count, each with the number of released items that have so many."""
    missing: int
    """Number of further judgements that were asked for."""
    judges: int
    agreement: float
    domains: Sequence[tuple[str, int]]
    targets: int
    words: float
    """Mean number of words of a sentence."""
    adjudicated: int = 0
    """Number of released items with a label of the study's owner, where votes decided none."""
    asked: Sequence[str] = ()
    """The questions about whole items; empty if the sentences of CATs were labelled."""
    genre: str = ""
    """The description of an item."""
    made_by: Sequence[tuple[str, int]] = ()
    """The programs or lists that made the items, each with its number of items."""


def works_of(studies: Sequence[Study]) -> list[Work]:
    """Returns the work of each study of one release.

    Answers are counted together, so that the difference between the counts of two studies identifies nobody.
    """
    annotators = [{row.annotator for row in latest(study) if not row.skipped} for study in studies]
    beside: dict[str, dict[str, str]] = {
        person: {STUDIES: " ".join(str(n) for n, people in enumerate(annotators) if person in people)}
        for person in set[str]().union(*annotators)
    }
    works = []
    for n, study in enumerate(studies):
        works.append(work_of(study, beside))
        for person, row in works[-1].said.items():
            beside[person] |= {f"{n} {name}": value for name, value in row.items()}
    return works


def work_of(study: Study, beside: Mapping[str, Mapping[str, str]] | None = None) -> Work:
    """Returns a study in the numbers of a data statement.

    `beside` holds what other studies of the release publish about people.
    """
    s, answers = study.settings, [row for row in latest(study) if not row.skipped]
    texts = [row for row in answers if not study.kind_of(row.token).asks]
    days = sorted(row.at[:10] for row in answers)
    has_settings = (study.folder / settings.FILE).is_file() or databases.has_store(study.folder)
    opened = settings.read(study) if has_settings else None
    ethics = opened.ethics if opened else settings.Ethics()
    basis = f"legal basis: {ethics.legal_basis}" if ethics.legal_basis else ""
    why = {row.token: row.why.partition(" after ")[0] for row in rows.read(study.folder / REOPENED, Wanted)}
    taught = (len(opened.lessons), opened.practice.right) if opened and opened.lessons else (0, 0)
    return Work(
        kind=study.kind.name,
        language=s.language,
        people=len({row.annotator for row in answers}),
        answers=len(answers),
        writers=len({row.annotator for row in texts}),
        texts=len(texts),
        judges=study.kind.judged.asks is not None,
        skipped=sum(row.skipped and not by_the_writer(row, study) for row in latest(study)),
        first=days[0] if days else "",
        last=days[-1] if days else "",
        pay=s.pay,
        currency=s.currency,
        overlap=s.overlap,
        recruited=opened.platform.name if opened else "",
        screened=", ".join(opened.platform.in_words()) if opened else "",
        minimum_age=opened.people.minimum_age if opened else 0,
        ethics=", ".join(filter(None, (ethics.institution, ethics.protocol, basis))),
        erased=tuple(stone.answers for stone in rows.read(study.folder / FORGOTTEN, Tombstone)),
        said=published(study, {row.annotator for row in answers}, again=True, beside=beside),
        told=opened.statement if opened else settings.Statement(),
        practice=taught,
        left_out=_left_out(study),
        more=Counter(reason or "asked for by the researchers" for reason in why.values()),
    )


def _left_out(study: Study) -> Counter[str]:
    """Returns the number of people whose judgements do not count, by reason; empty if their store cannot be read."""
    counts = Counter[str]()
    if databases.has_store(study.folder):
        with suppress(databases.Unwritten), reading(study.folder, identity(study.settings.secret)) as held:
            held.refuse_changed(study.folder, *JUDGEMENTS)
            for row in held.all("SELECT * FROM person"):
                if row["state"] in LEFT_OUT:
                    counts[of_person(row["state"], row["outcome"])] += 1
                elif is_excluded(row):
                    counts["failed the gold items"] += 1
    return counts


def data_statement(validated: Validated, works: Sequence[Work], language: Sequence[str]) -> str:
    """Returns the statement as Markdown, including its headings."""
    domains = ", ".join(f"{markdown(name) or 'no domain'} {count:,}" for name, count in validated.domains)
    sections = {
        "Curation rationale": _rationale(validated) + _told(works),
        "Language variety": _varieties(works, language),
        "Speaker demographic": _speakers([work for work in works if work.texts or not work.judges]),
        "Annotator demographic": "Nobody judged the items."
        if not validated.judges
        else _annotators(validated, [work for work in works if work.judges]),
        "Speech situation": _situation(works, validated.asked) if validated.judges else "Text made by programs.",
        "Text characteristics": f"Genre: {validated.genre or 'not recorded'}. Topic: {validated.kept:,} items about "
        f"{quantity(validated.targets, 'target')} ({domains}); a sentence has {validated.words:.1f} words on average.",
        "Recording quality": "Does not apply: there is text only.",
        "Ethics": _ethics(works),
        "Limits": UNJUDGED
        if not validated.judges
        else "Stereotypes are those these people know of; another place or time has others. A sentence that "
        "enough people call a stereotype may also be true of many, and one that few know is not in the set.",
        "Provenance": f"Made by: {', '.join(f'{markdown(name)} {n:,}' for name, n in validated.made_by)}.",
    }
    return "## Data statement\n\n" + "\n\n".join(f"### {title}\n\n{text}" for title, text in sections.items())


def _told(works: Sequence[Work]) -> str:
    """Returns the purpose and the curators of the set, as the studies state them."""
    purposes = dict.fromkeys(markdown(work.told.purpose.strip().rstrip(".")) for work in works if work.told.purpose)
    curators = dict.fromkeys(markdown(each) for work in works for each in work.told.curators)
    return "".join(
        f" {title}: {'; '.join(values)}."
        for title, values in (("Purpose", purposes), ("Curated by", curators))
        if values
    )


def _varieties(works: Sequence[Work], language: Sequence[str]) -> str:
    """Returns the languages, and the varieties that the studies name."""
    named = dict.fromkeys(markdown(work.told.variety.strip().rstrip(".")) for work in works if work.told.variety)
    varieties = f"Varieties: {'; '.join(named)}." if named else "Not asked: which varieties."
    return f"{', '.join(map(markdown, language))}. {varieties}"


UNJUDGED = (
    "The labels are those of the programs and lists that made the items. A number made from this set says how far a "
    "model follows these labels, not how far it follows stereotypes that people hold. Some items may make no sense."
)


def _rationale(v: Validated) -> str:
    """Returns why and how the items were chosen."""
    if not v.judges:
        return (
            f"The set measures stereotypical associations of language models. All {v.items:,} items are released as "
            "they were made. Nobody judged them."
        )
    confirm = f"confirm it (asked: {', '.join(v.asked).replace('_', ' ')})" if v.asked else "agree"
    first, counts = f"at least {v.need} of the first {v.of} valid judgements {confirm}.", ""
    if any(n != v.of for n, _ in v.counted):
        first = f"at least {v.need} valid judgements {confirm}."
        counts = f" Valid judgements: {', '.join(f'{n} for {items:,} items' for n, items in v.counted)}."
    if v.missing:
        counts += f" {v.missing:,} judgements that were asked for are missing."
    if v.adjudicated:
        counts += (
            f" {v.adjudicated:,} of them were confirmed by decisions of the study's owner where votes did not decide; "
            "these are under `adjudicated` in `extra`, with their reasons, and agreement leaves the items out."
        )
    return (
        f"The set measures stereotypical associations of language models. Of {v.items:,} items {v.kept:,} are "
        f"released: those for which {first}{counts}"
    )


def _speakers(works: Sequence[Work]) -> str:
    """Returns who wrote the sentences."""
    if not works:
        return f"The sentences were not written in a study that this release knows of. {_about(works, SPEAKERS)}"
    people, texts = sum(work.writers for work in works), sum(work.texts for work in works)
    wrote = f"{quantity(people, 'person')} wrote {quantity(texts, 'item')}."
    return f"{wrote} {_about(works, SPEAKERS)} {_paid(works)}"


def _annotators(v: Validated, works: Sequence[Work]) -> str:
    """Returns who judged the items."""
    agreement = f" Agreement between pairs of judges is {v.agreement:.3f}." if v.agreement == v.agreement else ""
    skipped = sum(work.skipped for work in works)
    passed = f" Tasks were passed on {quantity(skipped, 'time')}, as everybody was free to do." if works else ""
    counted = f"{quantity(v.judges, 'person')} gave the {v.judgements:,} judgements that count ({v.labels:,} answers)."
    counted += "".join(
        f" More than {work.overlap} people were asked about {items:,} items: {markdown(reason)}."
        for work in works
        for reason, items in sorted(work.more.items())
    )
    return f"{counted}{agreement}{passed} {_about(works, ANNOTATORS)} {_paid(works)}{_quality(works)}"


def _quality(works: Sequence[Work]) -> str:
    """Returns how people were prepared, and how many people were left out."""
    lessons = "".join(
        f" Before the work came {quantity(items, 'practice item')} with known answers; {right} had to be right."
        for items, right in dict.fromkeys(work.practice for work in works if work.practice[0])
    )
    left_out = Counter[str]()
    for work in works:
        left_out.update(work.left_out)
    counts = ", ".join(f"{reason} {n:,}" for reason, n in sorted(left_out.items()))
    return lessons + (f" People who came and are not counted: {counts}." if counts else "")


def _about(works: Sequence[Work], fields: Mapping[str, str]) -> str:
    """Returns people's answers about themselves by field and study, and the fields that nobody was asked about."""
    title_of = {name: title for title, name in fields.items()}
    parts_by_title: dict[str, list[str]] = {}
    for work in works:
        for name, counts in work.about.items():
            shares = ", ".join(f"{markdown(answer)} {people:,}" for answer, people in sorted(counts.items()))
            title = title_of.get(name) or markdown(name.replace("_", " ").capitalize())
            parts_by_title.setdefault(title, []).append(f"{shares} ({sum(counts.values()):,} people asked)")
    sentences = [f"{title}: {'; '.join(parts)}." for title, parts in parts_by_title.items()]
    if sentences:
        sentences.append("Answers that few people gave are made wider, or withheld.")
    if unknown := [title.lower() for title in fields if title not in parts_by_title]:
        sentences.append(f"Not asked: {', '.join(unknown)}.")
    return " ".join(sentences)


def _paid(works: Sequence[Work]) -> str:
    """Returns how people were recruited and paid."""
    rates = dict.fromkeys(f"{markdown(work.currency)} {work.pay:.2f}" for work in works)
    paid = f"They were paid {' or '.join(rates)} an hour." if rates else "Their pay is not recorded."
    recruitment = dict.fromkeys(
        ", ".join(filter(None, (work.recruited, f"{work.minimum_age} years or older", markdown(work.screened))))
        for work in works
        if work.recruited
    )
    return f"{paid} Recruitment: {' or '.join(recruitment) or 'not recorded'}."


def _situation(works: Sequence[Work], questions: Sequence[str]) -> str:
    """Returns when, where and how the items were made and judged."""
    days = sorted(day for work in works for day in (work.first, work.last) if day)
    when = f"between {days[0]} and {days[-1]}" if days else "not recorded"
    process = "made and judged" if any(work.texts or not work.judges for work in works) else "judged"
    shown = "each item" if questions else "the sentences of an item in random order"
    return (
        f"Time: {when}. Place: in a browser; not asked where. Modality: written text, edited until it was sent, "
        f"asynchronous. Intended audience: models that are measured, and readers of the set. The items were {process} "
        "after a content warning, a statement of consent and instructions. "
        f"Judges saw {shown}, without labels or each other's answers."
    )


def _ethics(works: Sequence[Work]) -> str:
    """Returns who reviewed the studies, and how many people had their answers erased."""
    reviews = dict.fromkeys(markdown(work.ethics) for work in works if work.ethics)
    erased = [answers for work in works for answers in work.erased]
    gone = f" {quantity(len(erased), 'person')} had their answers erased ({sum(erased):,} in all)." if erased else ""
    return f"Ethics review: {'; '.join(reviews) or 'not recorded'}.{gone}"
