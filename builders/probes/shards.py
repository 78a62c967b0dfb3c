"""The probes of a grid as a folder of Parquet shards: made here or on a cluster, killed at any instant, run again.

A shard is a stretch of the identities with every stereotype of theirs. Which probes stand in which shard depends on
what is given alone, so that neither the engine nor a kill changes a byte. This process alone writes, so that workers on
other machines need no shared disk.
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
"""Probes in a shard, about: some seconds of work, which is what a kill may cost."""
GROUP = 10_000
"""Probes that stand in memory as records, and rows of a shard in one group."""
EXPECTED = "a folder of probes in shards"


@dataclass(frozen=True, slots=True)
class Shard:
    """A stretch of the distinct identities, and how many probes it makes."""

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
    """Write the shards that the folder `out` does not hold yet; how many probes there are, and refusals by reason.

    A folder with probes of other files, or made in another way, is refused with the difference.
    """
    out, given = Path(out), list(stereotypes)
    grid = Grid(identities, sofa_categories())
    subjects = [identity for _, identity in grid.of("")]
    ungendered = any(one.forms for one in given) and any("gender" not in one.extra for one in subjects)
    if ungendered or len({one.language for one in subjects} | {one.language for one in given}) > 1:
        raise ValueError(
            "shards take identities and stereotypes of one language, and the gender of each identity where predicates "
            f"agree with it; name one file, which holds what fits: --out {out}.jsonl"
        )
    shards = plan(grid, given, rows)
    made_of = {"identities": _digest(subjects), "stereotypes": _digest(given), "rows": rows, "source": source or {}}
    with _held(out, made_of) as manifest:
        # a stretch of the identities does not show that no identity goes with a stereotype
        alone = build((), (one for one in given if not grid.of(one.category)))
        turned_away = [outcome for outcome in alone if isinstance(outcome, Refused)]
        if refused is not None:
            with atomic_write(refused) as file:
                file.writelines(jsonl.dumps(one) + b"\n" for one in turned_away)
        # named as the Hub's own tools name them
        names = (f"{SPLIT}-{number:05}-of-{len(shards):05}.parquet" for number in range(len(shards)))
        files = {shard: out / "data" / name for shard, name in zip(shards, names, strict=True)}
        made_lines = (line for line in manifest.read() if {"shard", "sha256"} <= line.keys())
        digests = {line["shard"]: line["sha256"] for line in made_lines}
        left = [shard for shard, file in files.items() if not _is_made(out, file, digests)]
        with closing(_made(left, partial(_start, subjects, given, source), cluster)) as made:
            for shard, content in progress.each(made, len(left)):
                _keep(out, files[shard], content, manifest, digests)
        checksums.write_list(out, digests)
    reasons = Counter(one.reason for one in turned_away)
    return Counter(kept=sum(shard.probes for shard in shards), **reasons)


def _is_made(out: Path, file: Path, digests: Mapping[str, str]) -> bool:
    """Whether a shard is there and checked; one without a known checksum is made again, a damaged one is refused."""
    if not file.exists() or file.relative_to(out).as_posix() not in digests:
        return False
    checksums.check_listed(out, file, digests)
    return True


def _keep(out: Path, file: Path, content: bytes, manifest: AppendLog, digests: dict[str, str]) -> None:
    """Write a shard, its checksum first: a shard that a kill left without its file is made again."""
    name, digest = file.relative_to(out).as_posix(), hex_digest(content)
    if digests.get(name) != digest:
        manifest.append({"shard": name, "sha256": digest})
        digests[name] = digest
    with atomic_write(file) as opened:
        opened.write(content)


def plan(grid: Grid, stereotypes: Iterable[Stereotype], rows: int) -> list[Shard]:
    """Stretches of the identities that make so many probes at most or, where one alone makes more, of that one."""
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
    """The Parquet file of a shard."""
    made = build(identities[shard.low : shard.high], stereotypes, source=source)
    probes = (one for one in made if isinstance(one, Probe))
    file = BytesIO()
    with parquet_columns.writer(file, Probe) as writer:
        while group := list(islice(probes, GROUP)):
            writer.write_batch(parquet_columns.to_batch(group, Probe))
    return file.getvalue()


def _start(*given: Any) -> tuple[None, Callable[[Shard], bytes]]:
    """In a worker: the function that makes a shard of what was given."""
    return None, partial(content, *given)


def _made(
    shards: Sequence[Shard], start: Callable[[], tuple[None, Callable[[Shard], bytes]]], cluster: Cluster | None
) -> Generator[Made]:
    """Each shard with its file, made by a cluster or here."""
    if cluster and shards:
        with Workers(start, cluster) as workers:
            yield from workers.map(shards)
    else:
        _, work = start()
        for shard in shards:
            yield shard, work(shard)


def _held(out: Path, identity: dict[str, Any]) -> AppendLog:
    """The folder's manifest, held by this process alone, after making sure what the folder is a folder of.

    Its first line stays, and each shard adds one with its checksum, in order: a folder that was finished after kills
    is byte for byte one that was not killed.
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
    """The start of the SHA-256 of records in their order."""
    return hex_digest(b"".join(jsonl.dumps(record) + b"\n" for record in records), 16)
