"""Checks for `catsofa verify`: releases, folders of probe shards, released sets, journals and similarity scores."""

from pathlib import Path

from catsofa.data import sources
from catsofa.data.append_log import LogReader
from catsofa.data.checksums import LIST, MANIFEST, check_listed, read_list
from catsofa.data.files import BadInput
from catsofa.data.source_checks import check_source, wrong
from catsofa.data.verdicts import Fault, Verdict

JOURNALS = {
    "journal.jsonl": "a journal of requests and replies",
    "similarity.jsonl": "scores of similarity",
    "history.jsonl": "the history of a leaderboard",
}
"""The logs that can be checked by themselves."""


def check_release(folder: Path) -> Verdict | None:
    """The verdict on a release; None for anything else."""
    return None if (folder / MANIFEST).exists() else _check_list(folder, "release")


def check_shards(folder: Path) -> Verdict | None:
    """The verdict on a folder of probe shards, whose manifest and list must agree; None for anything else."""
    verdict = _check_list(folder, "probe shards") if (folder / MANIFEST).is_file() else None
    if verdict is None:
        return None
    log = LogReader(folder / MANIFEST, "the manifest of a folder of probes in shards")
    made = {str(line["shard"]): line["sha256"] for line in log.read() if {"shard", "sha256"} <= line.keys()}
    unchecked = verdict.unchecked + (() if made else (f"{MANIFEST} of an earlier version, without checksums",))
    checked = (MANIFEST, *verdict.checked) if log.checked else verdict.checked
    return Verdict(path=folder, kind=verdict.kind, checked=checked, unchecked=unchecked, faults=verdict.faults)


def _check_list(folder: Path, kind: str) -> Verdict | None:
    """The verdict on the files that a folder lists; None for a folder without Parquet."""
    files = sorted((folder / "data").glob("*.parquet"))
    if not files:
        return None
    digests = read_list(folder)
    if digests is None:
        return Verdict(path=folder, kind=kind, unchecked=(f"{len(files):,} files, for there is no {LIST}",))
    faults = []
    for file in sorted({*files, *(folder / name for name in digests)}):
        try:
            if not file.is_file():
                raise BadInput(file, "no such file", f"a file that {LIST} or {MANIFEST} lists")
            check_listed(folder, file, digests)
        except BadInput as error:
            faults.append(Fault(file, f"found {error.found}; expected {error.expected}"))
    right = len({*files, *(folder / name for name in digests)}) - len(faults)
    return Verdict(path=folder, kind=kind, checked=(f"{right:,} files",), faults=tuple(faults))


def check_released_set(path: Path) -> Verdict | None:
    """The verdict on a released set in a data folder, by the file or folder it lies in; None for anything else."""
    for source in sources.table().values():
        for root in sources.folders():
            if source.is_whole_in(root) and source.below(root).resolve() == path.resolve():
                checks = check_source(source, root)
                verified = sum(check.state == "verified" for check in checks)
                unchecked = [check.path.name for check in checks if check.state == "no published checksum"]
                faults = [Fault(c.path, wrong(source.name, c)) for c in checks if c.state == "wrong checksum"]
                return Verdict(
                    path=path,
                    kind=f"released set {source.name}",
                    checked=(f"{verified:,} files",) if verified else (),
                    unchecked=tuple(f"{name}, for no checksum of it is published" for name in unchecked),
                    faults=tuple(faults),
                )
    return None


def check_journal(path: Path) -> Verdict | None:
    """The verdict on a journal, a leaderboard's history or scores of similarity; None for anything else."""
    if path.name not in JOURNALS or not path.is_file() or not path.stat().st_size:
        return None
    return check_log(LogReader(path, JOURNALS[path.name]), "journal")


def check_log(log: LogReader, kind: str) -> Verdict:
    """The verdict on a log, line by line."""
    for _ in log.read():
        pass
    return Verdict(
        path=log.path,
        kind=kind,
        checked=(f"{log.checked:,} lines",) if log.checked else (),
        unchecked=(f"{log.unchecked:,} lines of an earlier version, without checksums",) if log.unchecked else (),
    )
