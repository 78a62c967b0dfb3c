"""The page of a leaderboard: the newest accepted submission of each model, the history, and the refused submissions."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from catsofa.data.digests import DIGITS
from catsofa.report import figures, formats
from catsofa.report.cells import limited
from catsofa.report.elements import Cell, Document, Figure, Number, Section, Table
from catsofa.report.sections.stereoset import LIMITS
from catsofa.share.places import places, written

WARNING = "This page is about stereotypes in language models. It shows no sentence of the test, only numbers."
LEAD = (
    "Submitted predictions against a split whose labels are withheld. lms: how often a meaningful sentence is "
    "preferred to an unrelated one (ideal 100). ss: how often the stereotype is preferred to the anti-stereotype "
    "(ideal 50). icat joins both (ideal 100), and alone it hides a model that merely models language worse."
)
APART = "Numbers of another split or protocol have their own section. Do not compare numbers across sections."
MEASURES = ("lms", "ss", "icat")
Entry = Mapping[str, Any]


def write(entries: Sequence[Entry], path: Path) -> None:
    """Writes the page atomically."""
    formats.write(document(entries), path, "html")


def document(entries: Sequence[Entry]) -> Document:
    """Returns the leaderboard, with the newest split first."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry["split"], entry["protocol"]), []).append(entry)
    sections = [_section(f"board{number}", group) for number, group in enumerate(reversed(groups.values()), 1)]
    return Document(
        title="Leaderboard of stereotypes in language models",
        warning=WARNING,
        notes=(APART,) if len(groups) > 1 else (),
        sections=tuple(sections),
    )


def _section(name: str, entries: Sequence[Entry]) -> Section:
    """Returns the section of one split and protocol: ranking, map and history."""
    accepted = [entry for entry in entries if not entry["refused"]]
    newest = list({entry["name"]: entry for entry in accepted}.values())
    newest.sort(key=lambda entry: (-(_value(entry, "icat")), entry["name"]))
    split, protocol = (entries[0][key].rpartition("@") for key in ("split", "protocol"))
    points = [(entry["name"], *(limited(entry["results"]["both"], m) for m in ("lms", "ss"))) for entry in newest]
    drawn = Figure(
        name=f"{name}-map",
        caption="lms × ss of every model, all tasks together; curves join equal icat, the dashed line is ss = 50",
        alt="; ".join(f"{model}: lms {lms}, ss {ss}" for model, lms, ss in points),
        draw=lambda: figures.cat_map(points),
    )
    return Section(
        name=name,
        title=f"{split[0]} ({split[2]}), protocol {protocol[0]}",
        lead=LEAD,
        limits=f"{LIMITS} Whoever submits often enough can tune to a split they cannot see: read the history too.",
        tables=tuple(_tables(name, newest, entries)),
        figures=(drawn,) if newest else (),
    )


def _tables(name: str, newest: Sequence[Entry], entries: Sequence[Entry]) -> Iterator[Table]:
    """Yields the ranking, the history of accepted submissions, and the refused submissions."""
    signatures = tuple(entry["signature"] for entry in newest)
    limits = {entry["name"]: entry["results"]["both"]["intervals"]["icat"] for entry in newest}
    placed = places({name: (interval["low"], interval["high"]) for name, interval in limits.items()}, 100)
    yield Table(
        name=f"{name}-standing",
        caption="The newest accepted submission of each model, the highest icat first, with 95 % intervals",
        columns=("model", "place", "task", *MEASURES, "ss decided, %", "terms with an ss", "CATs scored", "submitted"),
        rows=tuple(row for entry in newest for row in _standing(written(placed.get(entry["name"])), entry)),
        by=("task",) if any(len(entry["results"]) > 2 for entry in newest) else (),
        signatures=signatures,
        notes=(
            "Places are those of icat; they are shared where intervals overlap.",
            "ss decided: CATs whose stereotype and anti-stereotype have no equal scores; a tie is no preference.",
            "terms with an ss: target terms with such a CAT, over which ss is averaged; — if not counted.",
        ),
    )
    accepted = [entry for entry in entries if not entry["refused"]]
    yield Table(
        name=f"{name}-history",
        caption=f"Every accepted submission: {len(accepted):,}",
        columns=("model", "submitted", *MEASURES, "file (SHA-256)", "catsofa"),
        rows=tuple((e["name"], _day(e), *_measures(e, "both"), e["file"][:DIGITS], e["version"]) for e in accepted),
        signatures=tuple(entry["signature"] for entry in accepted),
    )
    refused = [entry for entry in entries if entry["refused"]]
    if refused:
        yield Table(
            name=f"{name}-refused",
            caption=f"Refused: {len(refused):,} of {len(entries):,} submissions",
            columns=("submission", "submitted", "why", "file (SHA-256)"),
            rows=tuple((e["name"], _day(e), e["refused"], e["file"][:DIGITS] or "—") for e in refused),
            signatures=(f"data:{entries[0]['split']} | protocol:{entries[0]['protocol']}",),
        )


def _standing(place: str, entry: Entry) -> Iterator[tuple[Cell, ...]]:
    """Yields a row for all tasks together, and one for each task if the results have several."""
    results = entry["results"]
    tasks = list(results) if len(results) > 2 else ["both"]
    for task in tasks:
        result = results[task]
        counted = f"{result['items']:,} of {result['items']:,}"
        share: Cell = Number(result["decided"]) if result.get("decided") is not None else "—"
        shown = next(iter(results.keys() - {"both"})) if len(tasks) == 1 else task.replace("both", "both tasks")
        terms = f"{result['ss_terms']:,} of {result['terms']:,}" if "ss_terms" in result else "—"
        yield (entry["name"], place, shown, *_measures(entry, task), share, terms, counted, _day(entry)[:10])


def _measures(entry: Entry, task: str) -> tuple[Cell, ...]:
    """Returns lms, ss and icat of a task."""
    return tuple(limited(entry["results"][task], measure) for measure in MEASURES)


def _value(entry: Entry, measure: str) -> float:
    """Returns a measure of all tasks together; -1 for a missing value, which sorts it last."""
    value = entry["results"]["both"][measure]
    return -1.0 if value is None else float(value)


def _day(entry: Entry) -> str:
    """Returns when an entry was made."""
    return str(entry["at"])[:16].replace("T", " ")
