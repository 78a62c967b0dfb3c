"""Writes the probes of a grid as a folder of Parquet shards, locally or on a cluster; resumes when run again.

A shard holds a range of the identities with all their stereotypes. The input alone decides which probes are in which
shard, so neither the engine nor a kill changes a byte. Only this process writes, so workers on other machines need no
shared disk.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from catsofa.builders.probes import Grid, build, sofa_categories
from catsofa.data.digests import hex_digest
from catsofa.data.files import BadInput, atomic_write, checksums, jsonl, parquet_columns
from catsofa.data.files.append_log import AppendLog
from catsofa.data.files.checksums import MANIFEST
from catsofa.data.formats.release import SPLIT
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import Extra, Identity, Probe, Refused, Stereotype
from catsofa.data.runs.manifests import refuse_difference
from catsofa.data.runs.ray_cluster import Cluster, Workers

ROWS = 50_000
"""Approximate number of probes in a shard: a few seconds of work, which a kill may lose."""
GROUP = 10_000
"""Probes held in memory as records, and rows of a shard in one row group."""
EXPECTED = "a folder of probes in shards"


@dataclass(frozen=True, slots=True)
class Shard:
    """A range of the distinct identities, and the number of its probes."""

    low: int
    high: int
    probes: int


Made = tuple[Shard, bytes]


def write(
    identities: Iterable[Identity],
    stereotypes: Iterable[Stereotype],
    out: Path | str,
    refused: Path | str | None = None,
    *,
    cluster: Cluster | None = None,
    source: Extra | None = None,
    rows: int = ROWS,
    progress: Progress = SILENT,
) -> Counter[str]:
    """Writes the shards that the folder `out` lacks; returns the number of probes, and of refusals by reason.

    A folder with probes from other files or options is refused with the difference.
    """
    out, listed = Path(out), list(stereotypes)
    grid = Grid(identities, sofa_categories())
    subjects = [identity for _, identity in grid.of("")]
    ungendered = any(one.forms for one in listed) and any("gender" not in one.extra for one in subjects)
    if ungendered or len({one.language for one in subjects} | {one.language for one in listed}) > 1:
        raise ValueError(
            "shards take identities and stereotypes of one language, and the gender of each identity where predicates "
            f"agree with it; name one file, which holds what fits: --out {out}.jsonl"
        )
    shards = plan(grid, listed, rows)
    made_of = {"identities": _digest(subjects), "stereotypes": _digest(listed), "rows": rows, "source": source or {}}
    with _held(out, made_of) as manifest:
        # a range of the identities does not show that a stereotype matches no identity
        alone = build((), (one for one in listed if not grid.of(one.category)))
        turned_away = [outcome for outcome in alone if isinstance(outcome, Refused)]
        if refused is not None:
            with atomic_write(refused) as file:
                file.writelines(jsonl.dumps(one) + b"\n" for one in turned_away)
        # file names follow the Hub's own tools
        names = (f"{SPLIT}-{number:05}-of-{len(shards):05}.parquet" for number in range(len(shards)))
        files = {shard: out / "data" / name for shard, name in zip(shards, names, strict=True)}
        made_lines = (line for line in manifest.read() if {"shard", "sha256"} <= line.keys())
        digests = {line["shard"]: line["sha256"] for line in made_lines}
        missing = [shard for shard, file in files.items() if not _is_made(out, file, digests)]
        with closing(_made(missing, partial(_start, subjects, listed, source), cluster)) as results:
            for shard, content in progress.each(results, len(missing)):
                _keep(out, files[shard], content, manifest, digests)
        checksums.write_list(out, digests)
    reasons = Counter(one.reason for one in turned_away)
    return Counter(kept=sum(shard.probes for shard in shards), **reasons)


def _is_made(out: Path, file: Path, digests: Mapping[str, str]) -> bool:
    """Returns True if a shard exists and matches its checksum.

    A shard without a known checksum is written again. A damaged shard is an error.
    """
    if not file.exists() or file.relative_to(out).as_posix() not in digests:
        return False
    checksums.check_listed(out, file, digests)
    return True


def _keep(out: Path, file: Path, content: bytes, manifest: AppendLog, digests: dict[str, str]) -> None:
    """Writes a shard after its checksum; a kill between the two leaves no file, and the shard is written again."""
    name, digest = file.relative_to(out).as_posix(), hex_digest(content)
    if digests.get(name) != digest:
        manifest.append({"shard": name, "sha256": digest})
        digests[name] = digest
    with atomic_write(file) as opened:
        opened.write(content)


def plan(grid: Grid, stereotypes: Iterable[Stereotype], rows: int) -> list[Shard]:
    """Returns ranges of the identities with at most `rows` probes; an identity with more has a shard of its own."""
    probes = Counter[tuple[str, str]]()
    for category, count in Counter(one.category for one in stereotypes).items():
        for name, identity in grid.of(category):
            probes[name, identity.identity] += count
    shards, low, held = [], 0, 0
    everyone = grid.of("")
    for number, (name, identity) in enumerate(everyone):
        more = probes[name, identity.identity]
        if held and held + more > rows:
            shards.append(Shard(low, number, held))
            low, held = number, 0
        held += more
    return [*shards, Shard(low, len(everyone), held)] if held else shards


def content(
    identities: Sequence[Identity], stereotypes: Iterable[Stereotype], source: Extra | None, shard: Shard
) -> bytes:
    """Returns the content of a shard's Parquet file."""
    outcomes = build(identities[shard.low : shard.high], stereotypes, source=source)
    probes = (one for one in outcomes if isinstance(one, Probe))
    file = BytesIO()
    with parquet_columns.writer(file, Probe) as writer:
        while group := list(islice(probes, GROUP)):
            writer.write_batch(parquet_columns.to_batch(group, Probe))
    return file.getvalue()


def _start(*arguments: Any) -> tuple[None, Callable[[Shard], bytes]]:
    """Returns, in a worker, the function that makes a shard."""
    return None, partial(content, *arguments)


def _made(
    shards: Sequence[Shard], start: Callable[[], tuple[None, Callable[[Shard], bytes]]], cluster: Cluster | None
) -> Generator[Made]:
    """Yields each shard with the content of its file, made on a cluster or locally."""
    if cluster and shards:
        with Workers(start, cluster) as workers:
            yield from workers.map(shards)
    else:
        _, work = start()
        for shard in shards:
            yield shard, work(shard)


def _held(out: Path, identity: dict[str, Any]) -> AppendLog:
    """Opens the folder's manifest for this process alone, after a check that the folder holds the same probes.

    The first line never changes, and each shard adds one line with its checksum, in order. A folder that was finished
    after kills is therefore identical, byte for byte, to an uninterrupted one.
    """
    if out.is_dir() and any(out.iterdir()) and not (out / MANIFEST).exists():
        raise BadInput(out, "a folder with other files in it", "a new folder, or one of shards that was begun before")
    manifest = AppendLog(out / MANIFEST, EXPECTED)
    try:
        before = next(manifest.read(), None)
        if before is None:
            manifest.append({"identity": identity})
        else:
            refuse_difference(out, "set of probes", before.get("identity", {}), identity)
    except BaseException:
        manifest.close()
        raise
    return manifest


def _digest(records: Iterable[Any]) -> str:
    """Returns the first 16 hex digits of the SHA-256 of records in their order."""
    return hex_digest(b"".join(jsonl.dumps(record) + b"\n" for record in records), 16)
