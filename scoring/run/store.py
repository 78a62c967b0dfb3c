"""A run's folder: its identity, every score that is done, and its history, safe against any kill.

`manifest.json` says what is scored by what; `scores.sqlite` holds a row for each text, a chunk of them in one
transaction; `journal.jsonl` is the history, `report.json` the result. The database is locked as long as a process
works on it, and the lock dies with the process. The checksums of manifest, rows and report are bound to one another.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from catsofa.data.closing import Closing
from catsofa.data.digests import json_digest, row_checksum
from catsofa.data.files import BadInput, atomic_write, json_files
from catsofa.data.files.json_files import sealed
from catsofa.data.percentages import quantity
from catsofa.data.records import Score
from catsofa.data.runs.manifests import differences, refuse_difference
from catsofa.scoring.run import history
from catsofa.scoring.run.manifest import EXPECTED, MANIFEST, UNKNOWN, is_checked, read_manifest
from catsofa.scoring.run.plausible import LOWEST, highest_by, refuse_impossible, why_impossible
from catsofa.scoring.run.rows import (
    COLUMNS,
    TABLES,
    changed_rows,
    columns,
    connect,
    is_row,
    keep_seal,
    make_folder,
    row_of,
    seal,
    sentences,
    sum_of_checksums,
    warn_unchecked,
    wrong,
)

REPORT = "report.json"
MADE_FROM = "made_from"
"""The field of a report for the digest of its run's identity, and each table's number of rows and checksum."""
AT_ONCE = 500
"""Ids in one query."""


class Run(Closing):
    """The scores of one model on one data set by one protocol, kept in a folder or, without one, in memory."""

    def __init__(
        self, folder: Path | None, connection: sqlite3.Connection, identity: Mapping[str, Any], *, checked: bool = True
    ) -> None:
        self.folder = folder
        self._connection = connection
        self._identity = json_digest(identity)
        self._checksum = row_checksum(self._identity)
        self._highest = highest_by(identity)
        self.checked = checked
        """Whether the rows have checksums: those of earlier versions have none."""

    @classmethod
    def begin(cls, folder: Path | str | None, identity: Mapping[str, Any], about: Mapping[str, Any]) -> "Run":
        """A new run, or the one in this folder if it has the same identity; a difference is refused and shown.

        `about` is kept beside the identity and may change: names, versions of libraries, the device.
        """
        given: dict[str, Any] = json.loads(json.dumps(identity))
        if folder is None:
            return cls(None, connect(None, make=True), given)
        folder = Path(folder)
        make_folder(folder)
        run = cls(folder, connect(folder, make=True), given)
        try:
            run._settle(given, dict(about))
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
        """The run in this folder, to read; it is closed by the caller, and no other process may work on it."""
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
        """Refuse a smaller part of the data than that of a finished run, whose report it would replace."""
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
        """Write the manifest of a new run, or over one that has no score yet; compare with that of an old one."""
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
            if held or (is_checked(before) and self.finished_with() is not None):  # one of vectors keeps no scores
                refuse_difference(self.folder, "run", before["identity"], identity)
                self.check()
            if is_checked(before) and not any(differences(before["identity"], identity)):
                self._begin_seal(held)
                self.note("resumed", done=held, about=about)
                return
        elif held:
            raise BadInput(self.folder, f"scores and no {MANIFEST}", EXPECTED)
        path.unlink(missing_ok=True)  # a kill from here on leaves a folder without a run, not the seal of another
        with sentences(self.folder):
            history.begin_anew(self._connection, self.folder)
        self._begin_seal(held)
        with atomic_write(path) as file:
            content = sealed({"identity": identity, "about": about, "begun": history.now()})
            file.write(json.dumps(content, ensure_ascii=False, indent=1).encode())
        self.note("begun", about=about)

    def _begin_seal(self, held: int) -> None:
        """Bind a database without scores to this identity; one of an earlier version gets the columns of this one."""
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
        """Refuse the database of another run."""
        has = "checksum" in columns(self._connection, "scores")
        if has != self.checked:
            found = "scores with checksums, and a manifest without" if has else "scores without the seal of this run"
            raise wrong(self.folder, found)
        if self.checked and seal(self._connection, "identity") != self._identity:
            raise wrong(self.folder, f"the scores of another run than that of {MANIFEST} beside it")

    def check(self) -> dict[str, Any]:
        """Read every row and refuse one that is wrong; the number of rows of each table and their checksum."""
        self.check_others()
        for _ in self.scores():
            pass
        with sentences(self.folder):
            return sum_of_checksums(self._connection) if self.checked else {"scores": self.count()}

    def check_others(self) -> None:
        """Refuse a wrong seal, and wrong rows of the tables beside the scores."""
        if self.folder is not None and self.checked:
            with sentences(self.folder):
                self._check_seal()
            self.self_checks(), self.chunks()

    def finished_with(self) -> Any:
        """The number of rows of each table and their checksum as the run was finished; None if it is not."""
        with sentences(self.folder):
            held = seal(self._connection, "finished")
        with suppress(ValueError):
            return json.loads(held or "null")
        return held

    def progress(self) -> str:
        """How many of how many records have their scores; texts where an earlier version wrote the run."""
        if not self.checked:
            return f"{self.count():,} texts scored"
        with sentences(self.folder):
            records = seal(self._connection, "records") or ""
        total = f"{int(records):,}" if records.isdecimal() else "an unknown number of"
        return f"{sum(done for done, _ in self.chunks()):,} of {total} records scored"

    def check_pages(self) -> None:
        """Refuse a database whose pages do not fit together, as SQLite checks them."""
        with sentences(self.folder):
            (said,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if said != "ok":
            raise wrong(self.folder, f"a damaged database ({' '.join(said.split())})")

    def done(self, items: Sequence[str]) -> set[str]:
        """Which of these items have their scores."""
        found: set[str] = set()
        for low in range(0, len(items), AT_ONCE):
            some = items[low : low + AT_ONCE]
            query = f"SELECT DISTINCT item FROM scores WHERE item IN ({','.join('?' * len(some))})"
            with sentences(self.folder):
                found.update(item for (item,) in self._connection.execute(query, some))
        return found

    def add(
        self,
        scores: Iterable[Score],
        self_checks: Mapping[str, Any] | None = None,
        took: tuple[int, float] | None = None,
    ) -> None:
        """Keep scores and the findings behind them, all or, if anything interrupts, none; scores held already stay.

        `took` are the records of a chunk that these scores end, and its seconds.
        """
        rows = [self._new_row(score) for score in scores]
        parts = [(part, json.dumps(made)) for part, made in (self_checks or {}).items()]
        findings = [(*part, self._checksum(part)) for part in parts]
        with sentences(self.folder), self._connection:
            before = self._connection.total_changes
            self._connection.executemany("INSERT OR IGNORE INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            self._connection.executemany("INSERT OR REPLACE INTO self_checks VALUES (?, ?, ?)", findings)
            if took:
                values = (*took, self._checksum(took))
                self._connection.execute("INSERT INTO chunks (records, seconds, checksum) VALUES (?, ?, ?)", values)
            if self._connection.total_changes > before:
                self._connection.execute("DELETE FROM seals WHERE name = 'finished'")

    def self_checks(self) -> dict[str, Any]:
        """The findings of the self-checks, by the part of the model that they are about."""
        rows = self._checked_rows("SELECT part, findings, checksum FROM self_checks")
        return {part: json.loads(findings) for part, findings in rows}

    def _new_row(self, score: Score) -> tuple[Any, ...]:
        """A score as a row with its checksum; one that can be no log-probability is refused."""
        refuse_impossible(score, self._highest)
        row = row_of(score)
        return (*row, self._checksum(row))

    def chunks(self) -> list[tuple[int, float]]:
        """The records of each chunk that was scored, and the seconds it took."""
        return self._checked_rows("SELECT records, seconds, checksum FROM chunks ORDER BY number")

    def _checked_rows(self, query: str) -> list[Any]:
        """The rows of a query whose last column is their checksum, without it."""
        with sentences(self.folder):
            rows = [(tuple(values), last) for *values, last in self._connection.execute(query)]
        if found := next((values for values, last in rows if last != self._checksum(values)), None):
            raise wrong(self.folder, f"a row that its checksum does not fit ({found[0]!r})")
        return [values for values, _ in rows]

    def scores(self) -> Iterator[Score]:
        """Every score, in the order of items and tasks; a changed, foreign, lost or impossible one is refused."""
        query = f"SELECT {COLUMNS}{', checksum' * self.checked} FROM scores ORDER BY item, task"
        with sentences(self.folder):
            if not self.checked and self.folder:
                warn_unchecked(self.folder)
            checksum = self._checksum if self.checked else None
            for row in self._connection.execute(query):
                item, task, score, tokens, reason, text = values = row[:6]
                if checksum:
                    if row[6] != checksum(values):
                        raise wrong(self.folder, f"a score of {item!r} that its checksum does not fit")
                elif not is_row(row):
                    raise wrong(self.folder, f"a row that holds no score ({item!r})")
                # most scores have nothing beside them, and parsing it would take half of the time
                extra = {} if text == "{}" else json.loads(text)
                usual = not extra and type(score) is float and LOWEST <= score <= 0
                if not usual and (why := why_impossible(score, extra, self._highest(task, tokens))):
                    raise wrong(self.folder, f"a score of {item!r} that is {why}")
                yield Score(item=item, task=task, score=score, tokens=tokens, reason=reason, extra=extra)
            if self.checked and (held := self.finished_with()) not in (None, now := sum_of_checksums(self._connection)):
                raise wrong(self.folder, changed_rows(now, held))

    def numbers(self) -> dict[str, float | None]:
        """Item to score; of an item with several tasks, the score of the last."""
        return {score.item: score.score for score in self.scores()}

    def count(self) -> int:
        """How many texts have a score or a reason."""
        with sentences(self.folder):
            found: int = self._connection.execute("SELECT count(*) FROM scores").fetchone()[0]
        return found

    def reasons(self) -> dict[str, int]:
        """Why texts are unscored, and how many for each reason."""
        query = "SELECT reason, count(*) FROM scores WHERE score IS NULL GROUP BY reason ORDER BY 2 DESC, 1"
        with sentences(self.folder):
            return dict(self._connection.execute(query).fetchall())

    @property
    def counts_unknown(self) -> bool:
        """Whether unknown tokens were counted as the texts were scored; earlier versions did not."""
        return self.folder is None or UNKNOWN.keys() <= read_manifest(self.folder).get("about", {}).keys()

    def unknown(self) -> set[str] | None:
        """The items with unknown tokens; None where these were not counted."""
        if not self.counts_unknown:
            return None
        query = "SELECT DISTINCT item FROM scores WHERE extra LIKE '%\"unknown\"%'"
        with sentences(self.folder):
            return {item for (item,) in self._connection.execute(query)}

    def note(self, event: str, **details: Any) -> None:
        """Add a line to the journal."""
        if self.folder is None:
            return
        with sentences(self.folder):
            history.add(self._connection, self.folder, self._identity, {"event": event, **details})

    def check_history(self) -> bool:
        """Whether the history is sealed; one that lost, gained or changed a line is refused."""
        with sentences(self.folder):
            reader = history.reader(self.folder, self._identity) if self.folder and self.checked else None
            return reader is not None and history.read(self._connection, reader)[1]

    def finish(self, report: Mapping[str, Any], **details: Any) -> None:
        """Keep the report in `report.json`, bound to the scores that it was made from."""
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
        """Let another process have the run."""
        self._connection.close()


def read_scores(folder: Path | str) -> list[Score]:
    """Every score so far of a run that no process is working on, whether or not the run is finished."""
    with Run.open(folder) as run:
        return list(run.scores())
