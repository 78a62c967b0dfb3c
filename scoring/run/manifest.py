"""The manifest of a run: its identity, which may not change, and other facts, which may."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catsofa.data.digests import FIELD
from catsofa.data.files import BadInput, json_files, short
from catsofa.data.files.json_files import check_seal
from catsofa.scoring.run.rows import REMEDY

MANIFEST = "manifest.json"
CHOICES = "choices.json"
"""The manifest file of a `catsofa choose` run, which has no `manifest.json`."""
EXPECTED = "a run folder of catsofa"
UNKNOWN = {"unknown_tokens": "counted"}
"""The manifest entry of a run that counts unknown tokens; earlier versions did not count them."""
UNUSED = "unused_weights"
"""The fact that holds a sentence about weights that the model does not use."""
OLD_FIELDS = {"identity", "about", "begun"}
"""The fields of a manifest of earlier versions, which wrote no checksums."""


def read_manifest(folder: Path | str) -> dict[str, Any]:
    """The manifest of a run, after a check of its checksum; manifests of earlier versions have none."""
    path = Path(folder) / MANIFEST
    expected = f"the manifest of {EXPECTED}"
    if (Path(folder) / CHOICES).is_file():
        expected = f"{EXPECTED} score; `catsofa compare --on DATA` takes runs of choices"
        raise BadInput(folder, "a run of `catsofa choose`", expected)
    if not path.is_file():
        inside = sorted(one.parent.relative_to(folder).as_posix() for one in Path(folder).glob(f"*/{MANIFEST}"))
        problem = f"a folder that holds the runs {short(', '.join(inside))}" if inside else f"no {MANIFEST}"
        raise BadInput(folder, problem, f"{EXPECTED}; name one of these runs" if inside else EXPECTED)
    manifest = json_files.read(path, expected)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("identity"), dict):
        raise BadInput(path, "no identity in it", expected)
    if FIELD in manifest or manifest.keys() - OLD_FIELDS:
        check_seal(manifest, path, REMEDY)
    parts = (manifest.get("about", {}), *(manifest["identity"].get(part, {}) for part in ("model", "protocol")))
    if not all(isinstance(part, dict) for part in parts):
        raise BadInput(path, "a list or text in place of an object", expected)
    return manifest


def is_checked(manifest: Mapping[str, Any]) -> bool:
    """Returns True if the files of a run have checksums; earlier versions wrote none."""
    return FIELD in manifest
