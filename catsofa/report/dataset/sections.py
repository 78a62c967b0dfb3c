"""The report sections on the items of a data set: sizes, sentiment, keywords, splits, lint, refusals, statement."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from catsofa.data.records import Refused, kind_name
from catsofa.report.elements import Cell, Number, Section, Table
from catsofa.scoring.statistics.intervals import wilson
from catsofa.validation.lint import Report, rules
from catsofa.validation.lint.rule import Finding
from catsofa.validation.sets.keywords import Keyword
from catsofa.validation.sets.leakage import leaks
from catsofa.validation.sets.sentiment import Sentiment
from catsofa.validation.sets.sizes import OVERALL, sizes
from catsofa.validation.siblings import domain_of, term_of

SHOWN = 3
"""The number of examples per rule and per reason."""
LEAKS = 20
"""The number of examples of items that two splits share."""
LONGEST = 300
"""The maximum characters of an example."""

SIZE_LIMITS = (
    "Counts say what the set covers, not what it should: groups and contexts are those its authors chose, and a domain "
    "with few terms says little about the domain."
)
SENTIMENT_LIMITS = (
    "The classifier judges the sentence, not its harm: an insult may be phrased kindly and a kind stereotype hurt. "
    "Neutral counts as positive."
)
SPLIT_LIMITS = "Near-duplicates are found by their words; two items that say the same in other words are not."
LINT_LIMITS = (
    "A finding is a reason to look at an item, not a proof that it is wrong; no finding is no proof that it is right."
)
REFUSED_LIMITS = (
    "What a filter turned away is not all that is wrong, and some of it may have been right: read a sample."
)
STATEMENT_LIMITS = "The statement repeats what the authors of the set wrote down; other facts are unknown."


def size_section(name: str, title: str, line: str, records: Sequence[Any], without_text: Sequence[Any]) -> Section:
    """Returns the section on items, terms and mean lengths by kind and domain, as in Table 1 of StereoSet.

    Records without text have a table of their own.
    """
    tables = []
    if records:
        body: list[tuple[Cell, ...]] = [
            (
                kind,
                domain,
                size.terms or "—",
                size.items,
                Number(size.words, digits=2),
                Number(size.words_of_domains, digits=2),
            )
            for kind, domains in sizes(records).items()
            for domain, size in domains.items()
        ]
        note = (
            f"Words are between single spaces. The mean of the domains' means, in the rows “{OVERALL}”, is what "
            "StereoSet prints as the mean of the whole. These are counts of the whole set, so they have no interval."
        )
        tables.append(
            Table(
                name=f"{name}-sizes",
                caption="Target terms, items and mean lengths by kind and domain",
                columns=("kind", "domain", "target terms", "items", "mean words", "mean of domains"),
                rows=tuple(body),
                signatures=(f"{line} | protocol:stats",),
                notes=(note,),
            )
        )
    if without_text:
        counts = Counter((kind_name(type(record)), domain_of(record) or "—") for record in without_text)
        tables.append(
            Table(
                name=f"{name}-others",
                caption="Records without sentences of their own, by kind and category",
                columns=("kind", "category", "records"),
                rows=tuple((kind, category, count) for (kind, category), count in sorted(counts.items())),
                signatures=(f"{line} | protocol:stats",),
            )
        )
    lead = f"{len(records):,} items" + (f" and {len(without_text):,} other records." if without_text else ".")
    return Section(name=name, title=f"Sizes ({title})", lead=lead, limits=SIZE_LIMITS, tables=tuple(tables))


def sentiment_section(
    name: str, title: str, line: str, sentiments: Mapping[str, Sentiment], classifier: str
) -> Section:
    """Returns the section on the share of positive and negative texts by side (Table 2 of StereoSet)."""
    table = Table(
        name=f"{name}-shares",
        caption="Share of positive and negative texts, with 95 % intervals (Wilson)",
        columns=("texts that are", "positive %", "negative %", "texts"),
        rows=tuple(
            (
                side,
                _share(sentiment.positive, sentiment.texts),
                _share(sentiment.negative, sentiment.texts),
                sentiment.texts,
            )
            for side, sentiment in sentiments.items()
        ),
        signatures=(f"{line} | protocol:sentiment | classifier:{classifier}",),
    )
    lead = f"By the classifier {classifier}."
    return Section(name=name, title=f"Sentiment ({title})", lead=lead, limits=SENTIMENT_LIMITS, tables=(table,))


def _share(share: float, total: int) -> Number:
    """Returns a share in percent with Wilson's limits."""
    return Number(100 * share, *wilson(100 * share, total))


def keyword_section(
    name: str, title: str, line: str, keywords: Mapping[str, Sequence[Keyword]], source: str
) -> Section:
    """Returns the section on words more frequent in each domain than in the reference (Table 3 of StereoSet)."""
    body: list[tuple[Cell, ...]] = [
        (domain or "—", word.word, word.count, *(Number(n) for n in (word.per_million, word.reference, word.score)))
        for domain, words in keywords.items()
        for word in words
    ]
    table = Table(
        name=f"{name}-words",
        caption="Keywords of each domain, target terms removed",
        columns=("domain", "word", "times", "in a million here", "in a million elsewhere", "keyness"),
        rows=tuple(body),
        signatures=(f"{line} | protocol:keywords | reference:{source} | n:1",),
        notes=("Keyness is (in a million here + 1) / (in a million elsewhere + 1), Kilgarriff's simple maths.",),
        offensive=True,
    )
    limits = "A word is a keyword because it is frequent here and rare there; neither says what it is said of."
    lead = f"From stereotypes and anti-stereotypes, against {source}."
    return Section(name=name, title=f"Keywords ({title})", lead=lead, limits=limits, tables=(table,))


def split_section(name: str, title: str, line: str, parts: Mapping[str, Sequence[Any]]) -> Section:
    """Returns the section on items and terms of each split by domain, and on items that two splits share."""
    domains = sorted({domain_of(record) for records in parts.values() for record in records})
    whole = Counter(domain_of(record) for records in parts.values() for record in records)
    whole[OVERALL] = sum(map(len, parts.values()))
    body: list[tuple[Cell, ...]] = []
    for part, records in parts.items():
        for domain in [*domains, OVERALL]:
            some = [record for record in records if domain in (domain_of(record), OVERALL)]
            terms = len({term_of(record) for record in some} - {""})
            body.append((part, domain or "—", terms or "—", len(some), Number(100 * len(some) / whole[domain])))
    sheet = Table(
        name=f"{name}-parts",
        caption="Items and target terms of each split",
        columns=("split", "domain", "target terms", "items", "% of the domain"),
        rows=tuple(body),
        signatures=(f"{line} | protocol:split",),
    )
    pairs = list(combinations(parts, 2))
    shared = [(f"{one}, {other}", leak) for one, other in pairs for leak in leaks(parts[one], parts[other])]
    counts = Counter((where, leak.shared) for where, leak in shared)
    leak_table = Table(
        name=f"{name}-leaks",
        caption="What two splits share and should not",
        columns=("splits", "what", "shared"),
        rows=tuple((where, kind, count) for (where, kind), count in counts.items())
        or tuple((f"{one}, {other}", "anything", 0) for one, other in pairs),
        signatures=(f"{line} | protocol:leaks",),
    )
    quoted = Table(
        name=f"{name}-leaked",
        caption=f"Examples of what splits share (the first {LEAKS} of {len(shared):,})",
        columns=("splits", "what is shared", "item"),
        rows=tuple((where, _cut(leak.message), leak.item) for where, leak in shared[:LEAKS]),
        signatures=leak_table.signatures,
        offensive=True,
    )
    lead = f"{len(parts)} splits of {whole[OVERALL]:,} items."
    tables = (sheet, leak_table, quoted) if shared else (sheet, leak_table)
    return Section(name=name, title=f"Splits ({title})", lead=lead, limits=SPLIT_LIMITS, tables=tables)


def lint_section(name: str, title: str, line: str, report: Report, items: int) -> Section:
    """Returns the section on the number of findings of each rule, with the first few of each."""
    by_rule: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        by_rule[finding.rule].append(finding)
    concerned, every = report.items(), rules()
    rows = tuple(
        (code, every[code].severity, every[code].about, len(by_rule[code]), concerned[code]) for code in report.ran
    )
    sheet = Table(
        name=f"{name}-rules",
        caption=f"Findings of each rule in {items:,} items",
        columns=("rule", "severity", "looks for", "findings", "items"),
        rows=rows,
        signatures=(f"{line} | protocol:lint | rules:{','.join(report.ran)}",),
        notes=(
            "A finding about the whole set counts as a finding and as no item.",
            *_wanting(report),
            *map(str, report.not_applied),
        ),
    )
    examples = [finding for code in report.ran for finding in by_rule[code][:SHOWN]]
    quoted = Table(
        name=f"{name}-examples",
        caption=f"Examples of findings (the first {SHOWN} of each rule)",
        columns=("rule", "finding", "text", "item"),
        rows=tuple((f.rule, _cut(f.message), _quoted(f), f.place) for f in examples),
        signatures=sheet.signatures,
        offensive=True,
    )
    lead = f"{len(report.findings):,} findings by {len(report.ran)} rules after Blodgett et al. (2021)."
    tables = (sheet, quoted) if examples else (sheet,)
    return Section(name=name, title=f"Lint ({title})", lead=lead, limits=LINT_LIMITS, tables=tables)


def _wanting(report: Report) -> Iterator[str]:
    """Yields sentences about rules that did not run or ran in part, with their missing resources."""
    for heading, codes in (
        ("Did not run, for want of", [code for code in report.missing if code not in report.ran]),
        ("Saw less, for want of", [code for code in report.missing if code in report.ran]),
    ):
        if codes:
            yield f"{heading}: {'; '.join(f'{code} {report.missing[code]}' for code in codes)}."


def _quoted(finding: Finding) -> str:
    """Returns the text of a finding, and the corrected text if the rule has one."""
    return " → ".join(_cut(text) for text in (finding.text, finding.fix) if text) or "—"


def refused_section(name: str, title: str, line: str, refused: Mapping[str, Sequence[Refused]]) -> Section:
    """Returns the section on the number of refusals by stage and reason, with a few of each."""
    body: list[tuple[Cell, ...]] = []
    quoted: list[tuple[Cell, ...]] = []
    for stage, some in refused.items():
        for reason, refusals in sorted(_by_reason(some).items(), key=lambda each: -len(each[1])):
            body.append((stage, reason, len(refusals), Number(100 * len(refusals) / len(some))))
            quoted += [
                (stage, reason, _cut(r.text), Number(r.score, digits=3), r.id) for r in refusals[:SHOWN] if r.text
            ]
    sheet = Table(
        name=f"{name}-reasons",
        caption="Refused by stage and reason",
        columns=("stage", "reason", "refused", "% of the stage's refusals"),
        rows=tuple(body),
        signatures=(f"{line} | protocol:refusals",),
        notes=("A stage is called after its file of refusals, or after its folder.",),
    )
    examples = Table(
        name=f"{name}-examples",
        caption=f"Examples of what was refused (the first {SHOWN} of each reason)",
        columns=("stage", "reason", "text", "score", "item"),
        rows=tuple(tuple("—" if isinstance(c, Number) and c.value is None else c for c in row) for row in quoted),
        signatures=sheet.signatures,
        offensive=True,
    )
    turned_away = sum(map(len, refused.values()))
    lead = " at ".join(
        f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in ((turned_away, "refusal"), (len(refused), "stage"))
    )
    tables = (sheet, examples) if quoted else (sheet,)
    return Section(name=name, title=f"Refusals ({title})", lead=f"{lead}.", limits=REFUSED_LIMITS, tables=tables)


def _by_reason(refused: Iterable[Refused]) -> dict[str, list[Refused]]:
    """Groups refusals by the part of their reason before the first colon."""
    by_reason: dict[str, list[Refused]] = defaultdict(list)
    for refusal in refused:
        by_reason[refusal.reason.partition(":")[0]].append(refusal)
    return by_reason


def statement_section(name: str, title: str, line: str, statement: Iterable[tuple[str, str]]) -> Section:
    """Returns the section with the data statement after Bender and Friedman (2018), a row per heading."""
    table = Table(
        name=f"{name}-statement",
        caption="Data statement",
        columns=("about", "what is known"),
        rows=tuple(statement),
        signatures=(line,),
    )
    lead = "After Bender and Friedman (2018), as the card of the release has it."
    return Section(name=name, title=f"Data statement ({title})", lead=lead, limits=STATEMENT_LIMITS, tables=(table,))


def _cut(text: str) -> str:
    """Returns the text on one line, shortened to `LONGEST` characters."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def missing(**present: bool) -> list[str]:
    """Returns the missing parts of the report, each with the way to add it."""
    ways = {
        "sentiment": "sentiment (--sentiment-model NAME)",
        "keywords": "keywords (--corpus wordfreq, or a file)",
        "agreement": "agreement (annotations beside the items, or labels in them)",
        "refusals": "refusals (the folder with a builder's --refused file)",
        "splits": "splits (a release, or the folder that catsofa validate split wrote)",
        "statement": "the data statement (a release has one)",
    }
    return [way for name, way in ways.items() if not present[name]]
