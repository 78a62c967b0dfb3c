"""A leaderboard: submitted prediction files against a withheld split, an append-only history, and a static page.

Published numbers are about whole tasks, with one decimal. The page shows no item, term or domain, and no reason that
depends on a label.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

from catsofa.data import sources
from catsofa.data.digests import DIGITS, hex_digest
from catsofa.data.files import BadInput
from catsofa.data.files.append_log import AppendLog
from catsofa.data.formats import predictions
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import Cat, Score
from catsofa.scoring.dataset import read_named
from catsofa.scoring.protocols import Protocol, named
from catsofa.scoring.results import report
from catsofa.scoring.run.score_files import cats_in
from catsofa.scoring.signature import UNKNOWN_MODEL
from catsofa.share.leaderboard_page import write

SUBMISSIONS, HISTORY, PAGE = "submissions", "history.jsonl", "index.html"
EXPECTED = "the history of a leaderboard"
NEEDED = ("at", "name", "file", "split", "protocol", "refused")
MOST_BYTES = 64_000_000
"""Largest size of one submission; the released submissions have less than 2 MB."""
DECIMALS = 1
"""Decimals of every published number, so that no single item can be inferred from it."""

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Withheld:
    """The split that only the organisers have, with its protocol."""

    cats: Sequence[Cat]
    name: str
    protocol: Protocol

    @property
    def key(self) -> tuple[str, str]:
        """Identifies the table: numbers with the same key are comparable."""
        return self.name, f"{self.protocol.name}@{self.protocol.digest}"


class Turned(ValueError):
    """A rejected submission; the message gives the reason without a label of the split."""


def update(
    folder: Path | str,
    on: str | Path,
    *,
    protocol: str = "catsofa",
    seed: int | None = None,
    progress: Progress = SILENT,
) -> list[Entry]:
    """Scores new files in `folder/submissions`, adds them to the history, writes the page; returns the whole history.

    A file is scored once for each split and protocol. A changed file is scored again, and its old entry stays.
    """
    folder = Path(folder)
    if not (folder / SUBMISSIONS).is_dir():
        raise BadInput(folder, f"no folder {SUBMISSIONS}", f"a folder with {SUBMISSIONS}/NAME.json, one for each model")
    place = Path(sources.resolve(on)).resolve()
    if place.is_relative_to(folder.resolve()):
        raise ValueError(f"the withheld split {on} lies in {folder}, which is published; keep it elsewhere")
    label, records = read_named(on)
    split = Withheld(list(cats_in(records, on)), label, named(protocol, seed=seed))
    with AppendLog(folder / HISTORY, EXPECTED) as log:
        entries = list(log.read(*NEEDED))
        files = sorted(file for file in (folder / SUBMISSIONS).iterdir() if not file.name.startswith("."))
        for file in progress.each(files):
            entries += [entry for new in _new(file, split, entries) for entry in log.append(new)]
        write(entries, folder / PAGE)
    return entries


def _new(file: Path, split: Withheld, entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yields the entry of a file, unless the history already contains it."""
    data, protocol = split.key
    name = file.stem if file.suffix == ".json" else file.name
    about = {"name": name, "split": data, "protocol": protocol}
    try:
        content = _bytes(file)
        about["file"] = hex_digest(content)
    except Turned as turned:
        content, about["file"], refused = b"", "", str(turned)
    if any(all(entry[key] == value for key, value in about.items()) for entry in entries):
        return
    entry: Entry = {"at": datetime.now(UTC).isoformat(timespec="seconds"), **about, "version": version("catsofa")}
    try:
        if not content:
            raise Turned(refused)
        scores = _complete(_scores(file), split.cats)
        order = _order(scores, split.cats)
        _refuse_twice(order, about, entries)
        yield {
            **entry,
            "refused": "",
            "order": order,
            **_measured(scores, split, f"{UNKNOWN_MODEL}{file.name}@{about['file'][:DIGITS]}"),
        }
    except Turned as turned:
        yield {**entry, "refused": str(turned)}


def _bytes(file: Path) -> bytes:
    """Returns the bytes of a submission; refuses links, which could point to files of other people."""
    if file.is_symlink() or not file.is_file():
        raise Turned("it is a link or a folder, and no file")
    if file.stat().st_size > MOST_BYTES:
        raise Turned(f"it is larger than {MOST_BYTES / 1e6:.0f} MB")
    return file.read_bytes() or b" "


def _scores(file: Path) -> list[Score]:
    """Returns the scores in a submission; refuses duplicate ids and files that are no prediction file."""
    try:
        return list(predictions.read(file))
    except BadInput as error:
        raise Turned(str(error).replace(str(file), file.name)) from None


def _complete(scores: Sequence[Score], cats: Sequence[Cat]) -> dict[str, float]:
    """Maps sentence id to score; refuses a submission with missing scores, unknown ids or a single value."""
    tasks = {candidate.id: cat.kind for cat in cats for candidate in cat.candidates}
    strange = [score.item for score in scores if score.item not in tasks]
    wrong = [score.item for score in scores if tasks.get(score.item, score.task) != score.task]
    numbers = {s.item: s.score for s in scores if s.score is not None and isfinite(s.score)}
    if strange:
        raise Turned(f"{len(strange):,} of its sentences are not in the split, such as {strange[0]!r}")
    if wrong:
        raise Turned(f"{len(wrong):,} of its sentences are in the wrong task, such as {wrong[0]!r}")
    if missing := len(tasks) - len(numbers):
        raise Turned(f"{missing:,} of the split's {len(tasks):,} sentences have no score, or none that is a number")
    if len(set(numbers.values())) == 1:
        raise Turned("all its scores are the same number")
    return numbers


def _order(scores: Mapping[str, float], cats: Sequence[Cat]) -> str:
    """Returns the hash of a submission's ranking of the sentences of each CAT, on which all measures depend."""
    orders = []
    for cat in sorted(cats, key=lambda cat: cat.id):
        a, b, c = (scores[item] for item in sorted(candidate.id for candidate in cat.candidates))
        orders.append(bytes(1 + (one > other) - (one < other) for one, other in ((a, b), (a, c), (b, c))))
    return hex_digest(b"".join(orders))


def _refuse_twice(order: str, about: Mapping[str, str], entries: Sequence[Entry]) -> None:
    """Refuses a submission with the same ranking in every CAT as an earlier one, because it would be a duplicate."""
    for entry in entries:
        if entry.get("order") == order and (entry["split"], entry["protocol"]) == (about["split"], about["protocol"]):
            raise Turned(f"it orders every sentence as {entry['name']!r} of {entry['at'][:10]} does")


def _measured(scores: Mapping[str, float], split: Withheld, model: str) -> dict[str, Any]:
    """Returns the published results of a submission: both tasks and each of them, rounded, and the signature."""
    records = [Score(item=item, score=score) for item, score in scores.items()]
    scored = report(split.cats, records, split.protocol, data=split.name, model=model)
    results = scored.results.to_dict()
    tasks = {task: result["overall"] for task, result in results.items() if task != "overall"}
    rounded = {task: _rounded(result) for task, result in {"both": results["overall"], **tasks}.items()}
    return {"results": rounded, "signature": str(scored.signature)}


def _rounded(result: Mapping[str, Any]) -> dict[str, Any]:
    """Returns lms, ss and icat of a task with their limits, and the counts of CATs and target terms."""
    limits = {
        measure: {side: _short(limit) for side, limit in result["intervals"][measure].items()} for measure in MEASURES
    }
    counts = {name: result[name] for name in ("items", "terms", "lms_terms", "ss_terms")}
    counts["decided"] = _short(100 * result["ss_coverage"])
    return {**{m: _short(result[m]) for m in MEASURES}, **counts, "intervals": limits}


MEASURES = ("lms", "ss", "icat")


def _short(value: float) -> float | None:
    """Returns a number as it is published; None for NaN, which JSON does not support."""
    return round(value, DECIMALS) if isfinite(value) else None
