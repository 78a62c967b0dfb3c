"""The folder of a run: its identity, all finished scores, and its history; a kill at any time leaves it valid.

`manifest.json` is the identity; `scores.sqlite` has rows and blocks of scores, and each chunk is one transaction.
`journal.jsonl` is the history, `report.json` the result. A process locks the database while it works on the run, and
the lock ends with the process. The checksums of manifest, rows and report depend on one another.
"""

import json
import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from catsofa.data.closing import Closing
from catsofa.data.digests import json_digest, row_checksum
from catsofa.data.files import BadInput, atomic_write, json_files
from catsofa.data.files.json_files import sealed
from catsofa.data.percentages import quantity
from catsofa.data.records import Score
from catsofa.data.runs.manifests import differences, refuse_difference
from catsofa.scoring.run import blocks, history
from catsofa.scoring.run.manifest import EXPECTED, MANIFEST, UNKNOWN, is_checked, read_manifest
from catsofa.scoring.run.plausible import highest_by, refuse_impossible
from catsofa.scoring.run.rows import (
    AT_ONCE,
    TABLES,
    changed_rows,
    columns,
    connect,
    count,
    every_row,
    keep_seal,
    make_folder,
    reasons,
    row_of,
    scores_of,
    seal,
    sentences,
    stored,
    sum_of_checksums,
    warn_unchecked,
    with_unknown,
    wrong,
)
from catsofa.scoring.score_columns import ScoreColumns, Scores

REPORT = "report.json"
MADE_FROM = "made_from"
"""The report field with the digest of the run's identity and the row number and checksum of each table."""


class Run(Closing):
    """The scores of one model on one data set by one protocol, stored in a folder or, without one, in memory."""

    def __init__(
        self, folder: Path | None, connection: sqlite3.Connection, identity: Mapping[str, Any], *, checked: bool = True
    ) -> None:
        self.folder = folder
        self._connection = connection
        self._identity = json_digest(identity)
        self._checksum = row_checksum(self._identity)
        self._highest = highest_by(identity)
        self.checked = checked
        """True if the rows have checksums; rows of earlier versions have none."""

    @classmethod
    def begin(cls, folder: Path | str | None, identity: Mapping[str, Any], about: Mapping[str, Any]) -> "Run":
        """Begin a new run, or resume the run in `folder`; a different identity is refused with the differences.

        `about` is stored beside the identity and may change: names, library versions, the device.
        """
        as_json: dict[str, Any] = json.loads(json.dumps(identity))
        if folder is None:
            return cls(None, connect(None, make=True), as_json)
        make_folder(folder := Path(folder))
        run = cls(folder, connect(folder, make=True), as_json)
        try:
            run._settle(as_json, dict(about))
            if records := about.get("records"):
                run._refuse_fewer(int(records))
                with sentences(folder), run._connection:
                    keep_seal(run._connection, "records", str(records))
        except BaseException:
            run.close()
            raise
        return run

    @classmethod
    def open(cls, folder: Path | str) -> "Run":
        """Open the run in `folder` for reading; the caller closes it, and no other process may work on it."""
        folder = Path(folder)
        manifest = read_manifest(folder)
        run = cls(folder, connect(folder, make=False), manifest["identity"], checked=is_checked(manifest))
        try:
            with sentences(folder):
                run._check_seal()
        except BaseException:
            run.close()
            raise
        return run

    def _refuse_fewer(self, records: int) -> None:
        """Refuse fewer records than those of a finished run, whose report the new one would replace."""
        assert self.folder is not None
        with sentences(self.folder):
            before = seal(self._connection, "finished records") or seal(self._connection, "records") or ""
        if before.isdecimal() and records < int(before) and self.finished_with() is not None:
            raise BadInput(
                self.folder,
                f"a finished run of {quantity(int(before), 'record')}, whose report one of {records:,} would replace",
                f"another --out for {records:,}, or a --limit of {int(before):,} or more",
            )

    def _settle(self, identity: Any, about: dict[str, Any]) -> None:
        """Write the manifest of a new run or replace that of a run without scores; resume a run with this identity."""
        assert self.folder is not None
        path, held = self.folder / MANIFEST, self.count()
        if path.exists():
            before = read_manifest(self.folder)
            if held and not is_checked(before):
                raise BadInput(
                    self.folder,
                    "a run of an earlier version, whose scores have no checksums",
                    "another --out; the old run can still be read (compare, report, score --predictions)",
                )
            if held or (is_checked(before) and self.finished_with() is not None):  # runs of vectors store no scores
                refuse_difference(self.folder, "run", before["identity"], identity)
                self.check()
            if is_checked(before) and not any(differences(before["identity"], identity)):
                self._begin_seal(held)
                self.note("resumed", done=held, about=about)
                return
        elif held:
            raise BadInput(self.folder, f"scores and no {MANIFEST}", EXPECTED)
        path.unlink(missing_ok=True)  # a kill after this leaves no manifest, not another run's seal
        with sentences(self.folder):
            history.begin_anew(self._connection, self.folder)
        self._begin_seal(held)
        with atomic_write(path) as file:
            content = sealed({"identity": identity, "about": about, "begun": history.now()})
            file.write(json.dumps(content, ensure_ascii=False, indent=1).encode())
        self.note("begun", about=about)

    def _begin_seal(self, held: int) -> None:
        """Bind a database without scores to this identity; tables of an earlier version get the current columns."""
        if held:
            return
        with sentences(self.folder), self._connection:
            if "checksum" not in columns(self._connection, "scores"):
                for table, columns_of in TABLES.items():
                    self._connection.execute(f"DROP TABLE {table}")
                    self._connection.execute(f"CREATE TABLE {table} {columns_of}")
            self._connection.execute("DELETE FROM seals WHERE name != ?", (history.SEAL,))
            keep_seal(self._connection, "identity", self._identity)

    def _check_seal(self) -> None:
        """Refuse the database of another run, or of another version than the manifest."""
        has = "checksum" in columns(self._connection, "scores")
        if has != self.checked:
            problem = "scores with checksums, and a manifest without" if has else "scores without the seal of this run"
            raise wrong(self.folder, problem)
        if self.checked and seal(self._connection, "identity") != self._identity:
            raise wrong(self.folder, f"the scores of another run than that of {MANIFEST} beside it")

    def check(self) -> dict[str, Any]:
        """The number of rows and the checksum of each table, after a check of every row; wrong rows are refused."""
        self.check_others()
        deque(self._parts(), maxlen=0)
        with sentences(self.folder):
            if blocks.repeat_an_item(self._connection):
                raise wrong(self.folder, "two scores of one probe")
            return sum_of_checksums(self._connection) if self.checked else {"scores": self.count()}

    def check_others(self) -> None:
        """Refuse a wrong seal, and wrong rows of the tables other than `scores`."""
        if self.folder is not None and self.checked:
            with sentences(self.folder):
                self._check_seal()
            self.self_checks(), self.chunks()

    def finished_with(self) -> Any:
        """The number of rows and the checksum of each table at the end of the run; None for an unfinished run."""
        with sentences(self.folder):
            held = seal(self._connection, "finished")
        with suppress(ValueError):
            return json.loads(held or "null")
        return held

    def progress(self) -> str:
        """A phrase with the numbers of scored and of all records; for earlier versions, the number of texts."""
        if not self.checked:
            return f"{self.count():,} texts scored"
        with sentences(self.folder):
            records = seal(self._connection, "records") or ""
        total = f"{int(records):,}" if records.isdecimal() else "an unknown number of"
        return f"{sum(done for done, _ in self.chunks()):,} of {total} records scored"

    def check_pages(self) -> None:
        """Refuse a database that fails SQLite's integrity check of its pages."""
        with sentences(self.folder):
            (verdict,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise wrong(self.folder, f"a damaged database ({' '.join(verdict.split())})")

    def done(self, items: Sequence[str]) -> set[str]:
        """The items among `items` that have scores; not those that this object has added in columns."""
        with sentences(self.folder):
            return stored(self._connection, items) | self._in_blocks.intersection(items)

    @cached_property
    def _in_blocks(self) -> set[str]:
        """The items of the blocks that there were when this was first asked."""
        return blocks.items(self._connection)

    def add(
        self,
        scores: Iterable[Score],
        self_checks: Mapping[str, Any] | None = None,
        took: tuple[int, float] | None = None,
        columns: ScoreColumns | None = None,
    ) -> None:
        """Store scores and self-check findings in one transaction; scores already stored are not replaced.

        `took` is the records of the chunk that these scores complete, and its seconds; `columns` has further scores.
        """
        rows = [self._new_row(score) for score in scores if score.item not in self._in_blocks]
        if columns is not None:
            columns = columns.without(self.done(columns.items))
            blocks.refuse_impossible(columns)
        parts = [(part, json.dumps(finding)) for part, finding in (self_checks or {}).items()]
        findings = [(*part, self._checksum(part)) for part in parts]
        with sentences(self.folder), self._connection:
            before = self._connection.total_changes
            self._connection.executemany("INSERT OR IGNORE INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            if columns:
                blocks.add(self._connection, columns, self._checksum)
            self._connection.executemany("INSERT OR REPLACE INTO self_checks VALUES (?, ?, ?)", findings)
            if took:
                values = (*took, self._checksum(took))
                self._connection.execute("INSERT INTO chunks (records, seconds, checksum) VALUES (?, ?, ?)", values)
            if self._connection.total_changes > before:
                self._connection.execute("DELETE FROM seals WHERE name = 'finished'")

    def self_checks(self) -> dict[str, Any]:
        """The findings of the self-checks, by part of the model."""
        rows = self._checked_rows("SELECT part, findings, checksum FROM self_checks")
        return {part: json.loads(findings) for part, findings in rows}

    def _new_row(self, score: Score) -> tuple[Any, ...]:
        """A score as a row with its checksum; a score that cannot be a log-probability is refused."""
        refuse_impossible(score, self._highest)
        row = row_of(score)
        return (*row, self._checksum(row))

    def chunks(self) -> list[tuple[int, float]]:
        """The number of records and the seconds of each scored chunk."""
        return self._checked_rows("SELECT records, seconds, checksum FROM chunks ORDER BY number")

    def _checked_rows(self, query: str) -> list[Any]:
        """The rows of a query without their last column, the checksum; a wrong checksum is refused."""
        with sentences(self.folder):
            rows = [(tuple(values), last) for *values, last in self._connection.execute(query)]
        if changed := next((values for values, last in rows if last != self._checksum(values)), None):
            raise wrong(self.folder, f"a row that its checksum does not fit ({changed[0]!r})")
        return [values for values, _ in rows]

    def scores(self) -> Scores:
        """Every score, rows by item and task before blocks; changed, foreign, lost or impossible scores are refused."""
        return Scores(self._parts)

    def _parts(self) -> Iterator[Sequence[Score]]:
        """The scores in parts, each after a check."""
        with sentences(self.folder):
            if not self.checked and self.folder:
                warn_unchecked(self.folder)
            cursor = every_row(self._connection, checked=self.checked)
            while rows := cursor.fetchmany(AT_ONCE):
                yield [*scores_of(rows, self.folder, self._checksum if self.checked else None, self._highest)]
            try:
                yield from blocks.read(self._connection, self._checksum)
            except ValueError as error:
                raise wrong(self.folder, str(error)) from None
            if self.checked and (held := self.finished_with()) not in (None, now := sum_of_checksums(self._connection)):
                raise wrong(self.folder, changed_rows(now, held))

    def numbers(self) -> dict[str, float | None]:
        """Item to score; for an item with several tasks, the score of the last task."""
        return {score.item: score.score for score in self.scores()}

    def count(self) -> int:
        """The number of texts that have a score, or a reason for a missing score."""
        with sentences(self.folder):
            return count(self._connection) + blocks.count(self._connection)

    def reasons(self) -> dict[str, int]:
        """Reason to the number of texts that are unscored for this reason, most frequent first."""
        with sentences(self.folder):
            return reasons(self._connection)

    @property
    def counts_unknown(self) -> bool:
        """True if the run counted unknown tokens; earlier versions did not."""
        return self.folder is None or UNKNOWN.keys() <= read_manifest(self.folder).get("about", {}).keys()

    def unknown(self) -> set[str] | None:
        """The items with unknown tokens; None if the run did not count them."""
        if not self.counts_unknown:
            return None
        with sentences(self.folder):
            read = blocks.read(self._connection, self._checksum)
            return with_unknown(self._connection).union(*(block.with_unknown for block in read))

    def note(self, event: str, **details: Any) -> None:
        """Add a line to the journal."""
        if self.folder is None:
            return
        with sentences(self.folder):
            history.add(self._connection, self.folder, self._identity, {"event": event, **details})

    def check_history(self) -> bool:
        """Returns True if the history has a checksum; a history with a lost, added or changed line is refused."""
        with sentences(self.folder):
            reader = history.reader(self.folder, self._identity) if self.folder and self.checked else None
            return reader is not None and history.read(self._connection, reader)[1]

    def finish(self, report: Mapping[str, Any], **details: Any) -> None:
        """Write `report.json` with the checksums of the scores behind it, and mark the run as finished."""
        if self.folder is None:
            return
        with sentences(self.folder):
            made_from = sum_of_checksums(self._connection)
            with self._connection:
                keep_seal(self._connection, "finished", json.dumps(made_from))
                keep_seal(self._connection, "finished records", seal(self._connection, "records") or "")
            content = {**json_files.finite(report), MADE_FROM: {"run": self._identity, **made_from}}
            json_files.write(sealed(content), self.folder / REPORT)
        self.note("finished", done=self.count(), **details)

    def close(self) -> None:
        """Close the database, so that another process can open the run."""
        self._connection.close()


def read_scores(folder: Path | str) -> list[Score]:
    """Every score so far of a finished or unfinished run; no other process may work on the run."""
    with Run.open(folder) as run:
        return list(run.scores())
