"""Reports of finished runs, read from their folders."""

from pathlib import Path
from typing import Any

from catsofa.data import json_files
from catsofa.data.files import BadInput
from catsofa.data.seals import FIELD, check_seal, digest_of
from catsofa.scoring.run_manifest import MANIFEST, read_manifest
from catsofa.scoring.run_rows import REMEDY, SCORES, warn_unchecked
from catsofa.scoring.runs import MADE_FROM, REPORT, Run


def read_report(folder: Path | str) -> dict[str, Any]:
    """The report of a finished run, held against its checksum, its manifest and every score it was made from."""
    folder = Path(folder)
    path, manifest = folder / REPORT, read_manifest(folder)
    report = json_files.read(path, "the report of a run")
    if FIELD not in manifest:
        warn_unchecked(folder)
        if not isinstance(report, dict) or MADE_FROM in report:
            raise BadInput(path, "the report of another run", REMEDY)
        return report
    if not isinstance(report, dict):
        raise BadInput(path, "JSON that is no report", REMEDY)
    check_seal(report, path, REMEDY)
    made_from = report.get(MADE_FROM, {})
    if made_from.get("run") != digest_of(manifest["identity"]):
        raise BadInput(path, f"the report of another run than that of {MANIFEST} beside it", REMEDY)
    if made_from.get("scores") is not None or (folder / SCORES).exists():
        with Run.open(folder) as run:
            now = run.check()
        if now != {name: made_from.get(name) for name in now}:
            again = "a report of all scores: run the same `catsofa score` again to go on"
            raise BadInput(path, f"a report of {made_from.get('scores')} scores beside {now['scores']}", again)
    return report
