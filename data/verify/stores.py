"""Checks for `catsofa verify`: releases, folders of probe shards, released sets, journals and similarity scores."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from catsofa.data.files import BadInput
from catsofa.data.files.append_log import LogReader
from catsofa.data.files.checksums import FETCH_AGAIN, LIST, MANIFEST, SHARD, SHARDS_BEGIN, check_listed, read_list
from catsofa.data.percentages import quantity
from catsofa.data.sources import released
from catsofa.data.sources.checks import check_source, wrong
from catsofa.data.verify.verdicts import Fault, Verdict

JOURNALS = {
    "journal.jsonl": "a journal of requests and replies",
    "similarity.jsonl": "scores of similarity",
    "history.jsonl": "the history of a leaderboard",
    "raw.jsonl": "the answers of a study",
}
"""The logs that can be checked alone, with their descriptions."""


MAKE_SHARDS = "run the same `catsofa build probes` again, or fetch the folder again"


def is_shards(folder: Path) -> bool:
    """Returns whether a folder has the manifest of probe shards, which begins differently from that of a run."""
    place = folder / MANIFEST
    if not place.is_file():
        return False
    with place.open("rb") as file:
        first = file.readline()
    begins = first.startswith(SHARDS_BEGIN) and b'"about"' not in first
    return begins or any((folder / "data").glob("*.parquet"))


def check_release(folder: Path) -> Verdict | None:
    """The verdict on a release, whose parts must all exist; None for another store."""
    from catsofa.data.release import has_card

    if (folder / MANIFEST).exists() or not _is_written(folder) or (_sharded(folder) and not has_card(folder)):
        return None
    expected = {"README.md": "the card of the release", LIST: "the checksums of the release"}
    missing = [Fault(folder / name, _missing(part, FETCH_AGAIN)) for name, part in expected.items()
               if not (folder / name).is_file()]  # fmt: skip
    return _check_list(folder, "release", read_list(folder), FETCH_AGAIN, missing)


def check_shards(folder: Path) -> Verdict | None:
    """The verdict on a folder of probe shards, whose manifest and list must agree; None for another store."""
    if not (folder / MANIFEST).is_file():
        if not _is_written(folder) or not _sharded(folder):
            return None
        lost = Fault(folder / MANIFEST, _missing("the manifest of the probe shards", MAKE_SHARDS))
        return _check_list(folder, "probe shards", read_list(folder), MAKE_SHARDS, [lost])
    if not is_shards(folder):
        return None
    log = LogReader(folder / MANIFEST, "the manifest of a folder of probes in shards")
    shards = [str(line["shard"]) for line in log.read() if {"shard", "sha256"} <= line.keys()]
    if not log.checked and not (folder / LIST).is_file():
        old = f"{MANIFEST} of an earlier version, without checksums"
        return Verdict(path=folder, kind="probe shards", unchecked=(old,))
    digests = read_list(folder) or {}
    wanted = max((int(match[1]) for name in shards if (match := SHARD.search(Path(name).stem))), default=0)
    faults, unchecked = [], []
    if not (folder / LIST).is_file():
        if shards and len(set(shards)) == wanted:
            faults.append(Fault(folder / LIST, _missing("the checksums of the shards", MAKE_SHARDS)))
        else:
            unchecked.append(f"the shards that are not made yet ({len(set(shards)):,} of {wanted or 'unknown'} are)")
            # the manifest names a shard before its file exists
            if shards and not (folder / shards[-1]).exists():
                digests.pop(shards[-1])
    verdict = _check_list(folder, "probe shards", digests, MAKE_SHARDS, faults)
    return replace(verdict, checked=(MANIFEST, *verdict.checked), unchecked=tuple(unchecked))


def _is_written(folder: Path) -> bool:
    """Returns whether catsofa wrote a folder's Parquet files, by its card, its list or its first file's columns."""
    from catsofa.data.release import has_card, holds_records

    listed = any(name.endswith(".parquet") for name in _listed(folder))
    return listed or has_card(folder) or any(map(holds_records, sorted((folder / "data").glob("*.parquet"))[:1]))


def _sharded(folder: Path) -> bool:
    """Returns whether a Parquet file of a folder, or of its list, has the name of a numbered shard."""
    names = [*(file.name for file in (folder / "data").glob("*.parquet")), *_listed(folder)]
    return any(SHARD.search(Path(name).stem) for name in names)


def _listed(folder: Path) -> Mapping[str, str]:
    """The files that a folder lists; empty if the list is not catsofa's, such as a list of another program."""
    with suppress(BadInput):
        return read_list(folder) or {}
    return {}


def _missing(part: str, remedy: str) -> str:
    """The error for a missing part that catsofa always writes."""
    return f"found no such file; expected {part}, which catsofa always writes: {remedy}"


def _check_list(
    folder: Path, kind: str, digests: Mapping[str, str] | None, remedy: str, missing: Sequence[Fault]
) -> Verdict:
    """The verdict on the files of a folder and of its list; `missing` are faults found before."""
    files = {*(folder / "data").glob("*.parquet"), *(folder / name for name in digests or ())}
    if digests is None:
        return Verdict(path=folder, kind=kind, faults=tuple(missing))
    faults = []
    for file in sorted(files):
        try:
            if not file.is_file():
                raise BadInput(file, "no such file", f"a file that {LIST} or {MANIFEST} lists: {remedy}")
            check_listed(folder, file, digests)
        except BadInput as error:
            faults.append(Fault(file, error.complaint))
    right = len(files) - len(faults)
    checked = (quantity(right, "file"),) if right else ()
    return Verdict(path=folder, kind=kind, checked=checked, faults=(*missing, *faults))


def check_released_set(path: Path) -> Verdict | None:
    """The verdict on a released set at its file or folder in a data folder; None for another path."""
    for source in released.table().values():
        for root in released.folders():
            if source.is_whole_in(root) and source.below(root).resolve() == path.resolve():
                checks = check_source(source, root)
                verified = sum(check.state == "verified" for check in checks)
                unchecked = [check.path.name for check in checks if check.state == "no published checksum"]
                faults = [Fault(c.path, wrong(source.name, c)) for c in checks if c.state == "wrong checksum"]
                return Verdict(
                    path=path,
                    kind=f"released set {source.name}",
                    checked=(quantity(verified, "file"),) if verified else (),
                    unchecked=tuple(f"{name}, for no checksum of it is published" for name in unchecked),
                    faults=tuple(faults),
                )
    return None


def check_journal(path: Path) -> Verdict | None:
    """The verdict on one of the JOURNALS; None for another file or an empty one."""
    if path.name not in JOURNALS or not path.is_file() or not path.stat().st_size:
        return None
    chained = path.name == "raw.jsonl"
    return check_log(LogReader(path, JOURNALS[path.name], chained=chained), "journal")


def check_log(log: LogReader, kind: str) -> Verdict:
    """The verdict on a log, line by line."""
    for _ in log.read():
        pass
    return Verdict(
        path=log.path,
        kind=kind,
        checked=(quantity(log.checked, "line"),) if log.checked else (),
        unchecked=(f"{quantity(log.unchecked, 'line')} of an earlier version, without checksums",)
        if log.unchecked
        else (),
    )
