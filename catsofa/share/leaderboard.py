"""A leaderboard: submitted prediction files against a withheld split, a history that only grows, and a static page.

What is published is made of whole tasks, to one decimal: no item, term or domain, and no reason that needs a label.
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
"""Of one submission; the released ones have less than 2 MB."""
DECIMALS = 1
"""Of every number that is published, so that no single item can be seen in it."""

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Withheld:
    """The split that nobody but the organisers has, and how it is measured."""

    cats: Sequence[Cat]
    name: str
    protocol: Protocol

    @property
    def key(self) -> tuple[str, str]:
        """What numbers in one table share."""
        return self.name, f"{self.protocol.name}@{self.protocol.digest}"


class Turned(ValueError):
    """A submission that cannot count; the message says why, without a label of the split."""


def update(
    folder: Path | str,
    on: str | Path,
    *,
    protocol: str = "catsofa",
    seed: int | None = None,
    progress: Progress = SILENT,
) -> list[Entry]:
    """Score what is new in `folder/submissions`, add it to the history, write the page, and return the whole history.

    A file is judged once for each split and protocol; one that was changed is judged again, beside its old entry.
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
    """The entry of a file that was not judged before."""
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
    """The bytes of a submission; a link could point at what is not the submitter's."""
    if file.is_symlink() or not file.is_file():
        raise Turned("it is a link or a folder, and no file")
    if file.stat().st_size > MOST_BYTES:
        raise Turned(f"it is larger than {MOST_BYTES / 1e6:.0f} MB")
    return file.read_bytes() or b" "


def _scores(file: Path) -> list[Score]:
    """The scores in a submission; an id twice, or what is no prediction file, is refused by its reader."""
    try:
        return list(predictions.read(file))
    except BadInput as error:
        raise Turned(str(error).replace(str(file), file.name)) from None


def _complete(scores: Sequence[Score], cats: Sequence[Cat]) -> dict[str, float]:
    """Sentence id to score, if each sentence of the split has one and no other has."""
    tasks = {candidate.id: cat.kind for cat in cats for candidate in cat.candidates}
    strange = [score.item for score in scores if score.item not in tasks]
    wrong = [score.item for score in scores if tasks.get(score.item, score.task) != score.task]
    found = {s.item: s.score for s in scores if s.score is not None and isfinite(s.score)}
    if strange:
        raise Turned(f"{len(strange):,} of its sentences are not in the split, such as {strange[0]!r}")
    if wrong:
        raise Turned(f"{len(wrong):,} of its sentences stand in the wrong task, such as {wrong[0]!r}")
    if missing := len(tasks) - len(found):
        raise Turned(f"{missing:,} of the split's {len(tasks):,} sentences have no score, or none that is a number")
    if len(set(found.values())) == 1:
        raise Turned("all its scores are the same number")
    return found


def _order(scores: Mapping[str, float], cats: Sequence[Cat]) -> str:
    """The hash of how a submission orders the sentences of each CAT, which is all that is measured of it."""
    orders = []
    for cat in sorted(cats, key=lambda cat: cat.id):
        a, b, c = (scores[item] for item in sorted(candidate.id for candidate in cat.candidates))
        orders.append(bytes(1 + (one > other) - (one < other) for one, other in ((a, b), (a, c), (b, c))))
    return hex_digest(b"".join(orders))


def _refuse_twice(order: str, about: Mapping[str, str], entries: Sequence[Entry]) -> None:
    """A submission that prefers as an earlier one does in every CAT would be the same point twice."""
    for entry in entries:
        if entry.get("order") == order and (entry["split"], entry["protocol"]) == (about["split"], about["protocol"]):
            raise Turned(f"it orders every sentence as {entry['name']!r} of {entry['at'][:10]} does")


def _measured(scores: Mapping[str, float], split: Withheld, model: str) -> dict[str, Any]:
    """What is published of a submission: both tasks and each of them, rounded, and the signature."""
    records = [Score(item=item, score=score) for item, score in scores.items()]
    found = report(split.cats, records, split.protocol, data=split.name, model=model)
    results = found.results.to_dict()
    tasks = {task: of["overall"] for task, of in results.items() if task != "overall"}
    rounded = {task: _rounded(of) for task, of in {"both": results["overall"], **tasks}.items()}
    return {"results": rounded, "signature": str(found.signature)}


def _rounded(of: Mapping[str, Any]) -> dict[str, Any]:
    """lms, ss and icat of a task with their limits, and of how many CATs and target terms they are."""
    limits = {
        measure: {side: _short(limit) for side, limit in of["intervals"][measure].items()} for measure in MEASURES
    }
    counts = {name: of[name] for name in ("items", "terms", "lms_terms", "ss_terms")}
    counts["decided"] = _short(100 * of["ss_coverage"])
    return {**{m: _short(of[m]) for m in MEASURES}, **counts, "intervals": limits}


MEASURES = ("lms", "ss", "icat")


def _short(value: float) -> float | None:
    """A number as it is published; JSON knows no NaN."""
    return round(value, DECIMALS) if isfinite(value) else None
