"""The report section on robustness: changes after paraphrasing, flip rates, and the flipped items."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.data.percentages import in_percent, quantity
from catsofa.data.records import Cat
from catsofa.data.visible import without_folders
from catsofa.report import figures
from catsofa.report.cells import MOST, UNDEFINED, Words, chance, known, limited, scored, stars, valued
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.scoring.statistics.changes import NO_LIMITS
from catsofa.scoring.statistics.rank_correlation import LEAST

WORDS = Words(
    "Robustness: originals against their paraphrases",
    "The same models on CATs and on their paraphrases, joined by id. A preference flips where the model prefers the "
    "stereotype in one and the anti-stereotype in the other. Stars after Holm's correction over all changes: "
    "* p < .05, ** p < .01, *** p < .001.",
    "A change shows that wording matters, not which wording is right: a paraphrase may have lost or added meaning. "
    "Equal averages can hide many flips; no change found is no proof that there is none.",
)
SHOWN = 20
"""The maximum number of flipped items shown per comparison."""
PREFERRED = {1.0: "stereotype", 0.0: "anti-stereotype"}


@dataclass(frozen=True, slots=True)
class Robust:
    """The output of `catsofa robustness --json`, and the compared CATs if they are available."""

    report: Mapping[str, Any]
    originals: Mapping[str, Cat] = field(default_factory=dict)
    paraphrases: Sequence[Mapping[str, Cat]] = ()
    """The CATs of each rephrasing, by id of the original."""

    @property
    def named(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        """Each comparison with short names of its model and its rephrasing."""
        rows = self.report["comparisons"]
        models, data = (
            _short([row["original_scores"] for row in rows]),
            str(self.report["signature"]["data"]).split(" "),
        )
        numbers = [int(row.get("rephrasing", 0)) for row in rows]
        known = _short(data[1:]) if len(data) == max(numbers) + 2 else []
        return [
            (models[index], known[number] if known else f"rephrasing {number + 1}", row)
            for index, (number, row) in enumerate(zip(numbers, rows, strict=True))
        ]


def _short(names: Sequence[str]) -> list[str]:
    """Returns the names without their hashes if they stay distinct, else with them; folders are removed."""
    bare = [name.rpartition("@")[0] or name for name in map(without_folders, names)]
    apart = len(set(bare)) == len(set(names))
    return bare if apart else [without_folders(name) for name in names]


def robustness(name: str, result: Robust, path: Path | None = None) -> Section:
    """Returns the section with all comparisons of one robustness report; raises BadInput if a field is missing."""
    try:
        named = result.named
        tables = [_changes(f"{name}-changes", result, named), _flips(f"{name}-flips", result, named)]
        tables += [*_ranks(f"{name}-ranks", result), _terms(f"{name}-terms", result, named)]
        tables += [
            _items(f"{name}-items{number}", result, row) for number, row in enumerate(named, 1) if row[2].get("flipped")
        ]
        drawn = _icat(f"{name}-icat", named)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise BadInput(
            path or name, "comparisons that lack a field", "what `catsofa robustness --json` prints"
        ) from None
    return WORDS.section(name, f"protocol {result.report['protocol']}", tables, [drawn])


Named = Sequence[tuple[str, str, Mapping[str, Any]]]


def _signatures(result: Robust) -> tuple[str, ...]:
    """Returns the signature of all comparisons; its data are the originals and each rephrasing."""
    return (without_folders(str(result.report["signature"]["line"])),)


def _warnings(result: Robust) -> tuple[str, ...]:
    """Returns the warnings of all comparisons, without folders."""
    return tuple(map(without_folders, result.report.get("warnings") or ()))


def _of(row: Mapping[str, Any]) -> str:
    """Returns the number of compared items, and their share of the originals."""
    return f"{row['items']:,} ({in_percent(row['coverage'], 0)} of originals)"


def _changes(name: str, result: Robust, named: Named) -> Table:
    """Returns the table of lms, ss and icat on both sides, with their paired changes."""
    body: list[tuple[Cell, ...]] = []
    tests, unlimited = 0, False
    for model, rephrasing, row in named:
        for measure, change in row["change"].items():
            sides = (limited(row[side], measure) for side in ("original", "paraphrase"))
            cell, p = valued(change, 1, stars(change["holm"])), chance(change["holm"])
            body.append((model, rephrasing, measure, *sides, cell, p, _of(row)))
            tests += p.value is not None
            unlimited |= cell.value is not None and cell.low is None
    return Table(
        name=name,
        caption="lms, ss and icat on originals and paraphrases, with paired 95 % intervals of the change",
        columns=("model", "paraphrases", "measure", "original", "paraphrase", "change", "p (Holm)", "items compared"),
        rows=tuple(body),
        by=("model", "paraphrases"),
        signatures=_signatures(result),
        warnings=_warnings(result),
        notes=(
            f"p (Holm): adjusted over {quantity(tests, 'test')}, every change that one call compares."
            if tests
            else "p (Holm): none, since no change has a p.",
            "Both sides are over the comparisons decided in both, so they may differ from numbers over all.",
            *([f"A change without an interval: {NO_LIMITS}."] * unlimited),
        ),
    )


def _flips(name: str, result: Robust, named: Named) -> Table:
    """Returns the table of flip rates, with the paraphrases that could not be joined."""
    body: list[tuple[Cell, ...]] = []
    for model, rephrasing, row in named:
        refused = (
            "; ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in row["refused"].items()) or "none"
        )
        flips = valued(row["flips"])
        flips = flips if flips.value is not None else replace(flips, missing=UNDEFINED)
        decided = scored(row["flips"].get("coverage", 1.0), row["items"])
        body.append((model, rephrasing, flips, _of(row), decided, refused))
    return Table(
        name=name,
        caption="Preferences that flip, in percent of the items decided in both, with 95 % intervals over target terms",
        columns=("model", "paraphrases", "flips", "items compared", "decided in both", "paraphrases refused"),
        rows=tuple(body),
        signatures=_signatures(result),
        warnings=_warnings(result),
        notes=(
            "Unless the protocol counts ties, an item that ties on either side is not counted.",
            *_counts(named),
        ),
    )


def _counts(named: Named) -> Iterator[str]:
    """Yields the counts of ties and unknown tokens: one note for every row, or for all rows if they are equal."""
    texts = {(model, rephrasing): _sides(row) for model, rephrasing, row in named}
    if len(texts) > 1 and len(set(texts.values())) == 1:
        yield f"Each row: {next(iter(texts.values()))}."
    else:
        yield from (f"{model}, {rephrasing}: {text}." for (model, rephrasing), text in texts.items())


def _sides(row: Mapping[str, Any]) -> str:
    """Returns the counts of ties and unknown tokens on both sides; says so if a count is missing."""
    phrases = {"ties": "{:,} ties", "unknown": "{:,} items with unknown tokens"}
    without = {"ties": "ties not counted", "unknown": "unknown tokens not counted"}
    sides = {name: {count: row[name].get(count) for count in phrases} for name in ("original", "paraphrase")}
    return "; ".join(
        f"{name}s: {', '.join(without[c] if counts[c] is None else phrases[c].format(counts[c]) for c in phrases)}"
        for name, counts in sides.items()
    )


def _ranks(name: str, result: Robust) -> Iterator[Table]:
    """Yields the table of Kendall's tau between the orders of models on originals and paraphrases."""
    rows = result.report.get("ranks", ())
    named = list(dict.fromkeys(rephrasing for _, rephrasing, _ in result.named))
    if rows:
        yield Table(
            name=name,
            caption="Does the order of the models stay? Kendall's τ, with 95 % intervals over target terms",
            columns=("paraphrases", "measure", "originals", "paraphrased", "τ", "same first model", "models"),
            rows=tuple(
                (
                    named[index] if len(named) == len(rows) else f"set {index + 1}",
                    rank["measure"],
                    " > ".join(_short(rank["original"])),
                    " > ".join(_short(rank["paraphrase"])),
                    valued(rank["kendall"], 2) if len(rank["original"]) >= LEAST else f"needs {LEAST} models or more",
                    "unscored"
                    if known(rank["same_first"]) is None
                    else f"in {in_percent(rank['same_first'], 0)} of resamples",
                    len(rank["original"]),
                )
                for index, rank in enumerate(rows)
            ),
            signatures=_signatures(result),
        )


def _terms(name: str, result: Robust, named: Named) -> Table:
    """Returns the table of the terms with the highest flip rates."""
    counts = [f"{min(MOST, len(row['terms'])):,} of {len(row['terms']):,}" for *_, row in named]
    return Table(
        name=name,
        caption=f"Target terms about which preferences flip most: {', '.join(dict.fromkeys(counts))} shown",
        columns=("model", "paraphrases", "term", "domain", "flips, %", "items"),
        rows=tuple(
            (model, rephrasing, term["term"], term["domain"], valued(term), term["items"])
            for model, rephrasing, row in named
            for term in row["terms"][:MOST]
        ),
        by=("model", "paraphrases"),
        signatures=_signatures(result),
        notes=(
            "The term that flips most is first; equal shares are in alphabetical order.",
            "Limits are Wilson's, of each term alone; with many terms some flip often by chance.",
        ),
        offensive=True,
    )


def _items(name: str, result: Robust, named: tuple[str, str, Mapping[str, Any]]) -> Table:
    """Returns the table of flipped items, with their sentences if they are available."""
    model, rephrasing, row = named
    turned = row["flipped"]
    number = int(row.get("rephrasing", 0))
    after = result.paraphrases[number] if number < len(result.paraphrases) else {}
    body = tuple(
        (
            each["term"],
            each["domain"],
            _sentence(result.originals.get(each["item"]), each["original"]),
            _sentence(after.get(each["item"]), each["paraphrase"]),
            each["item"],
        )
        for each in turned[:SHOWN]
    )
    return Table(
        name=name,
        caption=f"Items that flipped, {model}, {rephrasing}: {len(body):,} of {len(turned):,} shown",
        columns=("term", "domain", "preferred in the original", "preferred in the paraphrase", "item"),
        rows=body,
        signatures=_signatures(result),
        notes=(
            "The first in the order of the data; `catsofa robustness --json` names all.",
            *(() if after else ("Give the runs to see the sentences: --paraphrase.",)),
        ),
        offensive=True,
    )


def _sentence(cat: Cat | None, prefers: float) -> str:
    """Returns the preferred candidate with its label; only the label if the CAT is unavailable or the scores tie."""
    label = PREFERRED.get(prefers, "a tie")
    if cat is None or label == "a tie":
        return label
    return f"{next(c.text for c in cat.candidates if c.label == label)} ({label})"


def _icat(name: str, named: Named) -> Figure:
    """Returns the bar chart of icat on originals and on each rephrasing."""
    values: dict[str, dict[str, Number]] = {"original": {}}
    for model, rephrasing, row in named:
        values["original"].setdefault(model, limited(row["original"], "icat"))
        values.setdefault(rephrasing, {})[model] = limited(row["paraphrase"], "icat")
    return Figure(
        name=name,
        caption="icat of each model on originals and paraphrases, with 95 % intervals",
        alt="; ".join(f"{side}, {model}: {icat}" for side, models in values.items() for model, icat in models.items()),
        draw=lambda: figures.bars(values, "icat"),
    )
