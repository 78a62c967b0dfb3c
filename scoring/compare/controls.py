"""Controls: the same CATs without their context or about another target, and the frequency of their words.

Each control keeps the ids of its original CATs, so that `robustness` can compare the scores of both. Preferences that
stay the same do not depend on the context, or on the target.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from catsofa.data.files import jsonl
from catsofa.data.language.articles import article
from catsofa.data.language.inflection import regular_plural
from catsofa.data.language.word_numbers import read_counts
from catsofa.data.languages.texts import ENGLISH, language_of, spaced
from catsofa.data.records import BLANK, Cat, Refused
from catsofa.scoring.compare.baselines import LogFrequency, mean_log_frequency, smoothed
from catsofa.scoring.measures.robustness import ORIGINAL_KIND
from catsofa.scoring.statistics.intervals import Array, Interval, Measure, Seed, intervals, ratio

Kept = tuple[list[Cat], list[Refused]]
"""The CATs of a control, and the CATs that cannot be converted."""


def attribute_only(cats: Iterable[Cat]) -> Kept:
    """Each CAT without its context: only the fill, or only the following sentence, remains."""
    converted, refused = [], []
    for cat in cats:
        texts = [c.text if cat.kind == "intersentence" else c.fill for c in cat.candidates]
        if any(text is None for text in texts):
            refused.append(Refused(id=cat.id, reason="fill_unknown", text=cat.context))
            continue
        one, two, three = (
            replace(c, text=text or "", fill=text, votes=()) for c, text in zip(cat.candidates, texts, strict=True)
        )
        extra = {**cat.extra, ORIGINAL_KIND: cat.kind}
        converted.append(replace(cat, kind="intrasentence", context=BLANK, candidates=(one, two, three), extra=extra))
    return converted, refused


def target_swapped(cats: Iterable[Cat], *, seed: Seed = 0) -> Kept:
    """Each CAT about another target of its domain, drawn at random among targets with the same article.

    Word forms are English, so a CAT in another language is refused. If a CAT has the plural of its target, the new
    target must have a plural in some context of the set, so that no form is invented.
    """
    cats, rng = list(cats), np.random.default_rng(seed)
    targets: dict[str, set[str]] = {}
    for cat in cats:
        targets.setdefault(cat.bias_type, set()).add(cat.target)
    every = "\n".join(cat.context for cat in cats)
    in_plural = {target for target in set().union(*targets.values()) if _mention(regular_plural(target)).search(every)}
    converted, refused = [], []
    for cat in cats:
        if language_of(cat) != ENGLISH:
            refused.append(Refused(id=cat.id, reason="not_english", text=cat.context))
            continue
        forms = _mention(cat.target), _mention(regular_plural(cat.target))
        candidates = [
            t for t in sorted(targets[cat.bias_type]) if t != cat.target and article(t) == article(cat.target)
        ]
        if any(forms[1].search(text) for text in (cat.context, *(c.text for c in cat.candidates))):
            candidates = [target for target in candidates if target in in_plural]
        if not any(form.search(cat.context) for form in forms):
            refused.append(Refused(id=cat.id, reason="target_not_in_context", text=cat.context))
        elif not candidates:
            refused.append(Refused(id=cat.id, reason="no_other_target", text=cat.context))
        else:
            converted.append(_about(cat, str(candidates[rng.integers(len(candidates))])))
    return converted, refused


def _about(cat: Cat, target: str) -> Cat:
    """The CAT with another target in its context and sentences; its `target` field does not change."""
    forms = {_mention(cat.target): target, _mention(regular_plural(cat.target)): regular_plural(target)}

    def swapped(text: str) -> str:
        for form, other in forms.items():
            text = form.sub(partial(_cased, other), text)
        return text

    one, two, three = (replace(c, text=swapped(c.text), votes=()) for c in cat.candidates)
    extra = {**cat.extra, "swapped_for": target}
    return replace(cat, context=swapped(cat.context), candidates=(one, two, three), extra=extra)


def _mention(target: str) -> re.Pattern[str]:
    """A pattern that finds the target as a separate word, in upper or lower case."""
    return re.compile(rf"(?<!\w){re.escape(target)}(?!\w)", re.IGNORECASE)


def _cased(target: str, match: re.Match[str]) -> str:
    """The target, capitalised at the start of the text if the replaced word is capitalised."""
    return target[:1].upper() + target[1:] if match.start() == 0 and match[0][:1].isupper() else target


GAP = Measure(name="gap", pieces=lambda sums: ratio(0, 1)(sums) / 100, ideal=0)
MORE_FREQUENT = Measure(name="more_frequent", pieces=ratio(2, 3), ideal=50, least=0, most=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequencyGap:
    """The difference in word frequency between stereotypes and anti-stereotypes."""

    gap: Interval
    """Mean log frequency of the stereotype's words minus that of the anti-stereotype's, in nats."""
    more_frequent: Interval
    """Percent of CATs with a more frequent stereotype: the ss of a model that knows only frequencies."""
    items: int
    ties: int
    """Number of CATs with equally frequent words in both; they count in `gap` but not in `more_frequent`."""

    def to_dict(self) -> dict[str, Any]:
        """The values by name."""
        counts = {"items": self.items, "ties": self.ties}
        return {"gap": self.gap.to_dict(), "more_frequent": self.more_frequent.to_dict(), **counts}


def frequency_gap(cats: Sequence[Cat], log_frequency: LogFrequency, *, seed: Seed = 0) -> FrequencyGap:
    """The frequency gap of CATs, with cluster bootstrap intervals over target terms."""
    rows = []
    for cat in cats:
        if cat.kind == "intersentence" and not spaced(language_of(cat)):
            continue
        one, other = (mean_log_frequency(cat[label], log_frequency) for label in ("stereotype", "anti-stereotype"))
        if one is not None and other is not None:
            rows.append((cat.target, one - other))
    if not rows:
        raise ValueError("no CAT has words whose frequency could be compared")
    gap = np.array([gap for _, gap in rows])
    _, term = np.unique([term for term, _ in rows], return_inverse=True)
    sums = [np.bincount(term, weights=weight) for weight in (gap, np.ones_like(gap), gap > 0, gap != 0)]
    columns: Array = np.stack(sums, axis=1).astype(np.float64)
    by_name = intervals(columns, {"gap": GAP}, seed=seed)
    more = intervals(columns[columns[:, 3] > 0], {"more": MORE_FREQUENT}, seed=seed)["more"]
    return FrequencyGap(gap=by_name["gap"], more_frequent=more, items=len(rows), ties=int((gap == 0).sum()))


Row = dict[str, Any]


def write_controls(
    cats: Sequence[Cat], folder: Path, *, word_counts: Path | None = None, seed: int = 0
) -> dict[str, Row]:
    """Write each control and a file of the refused CATs with reasons; return the counts of both.

    With word counts, the result also has the frequency gap.
    """
    counts: dict[str, Row] = {}
    for name, (converted, refused) in {
        "attribute_only": attribute_only(cats),
        "target_swapped": target_swapped(cats, seed=seed),
    }.items():
        file = folder / f"{name}.jsonl"
        counts[name] = {
            "kept": jsonl.write(converted, file),
            "coverage": len(converted) / len(cats),
            "refused": dict(Counter(one.reason for one in refused)),
            "file": str(file),
        }
        jsonl.write(refused, folder / f"{name}.refused.jsonl")
    if word_counts is not None:
        counts["frequency_gap"] = frequency_gap(cats, smoothed(read_counts(word_counts)), seed=seed).to_dict()
    return counts
