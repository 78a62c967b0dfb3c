"""Data sets on the Hugging Face Hub by address: hf://datasets/OWNER/NAME[@REVISION][/FILE]."""

import re
from pathlib import Path, PurePosixPath
from typing import Any

from catsofa.data.files import BadInput, short

PREFIX = "hf://datasets/"
EXPECTED = f"{PREFIX}OWNER/NAME, OWNER/NAME@REVISION or OWNER/NAME/FILE"
PATIENCE = 1.5
"""Seconds to wait for an answer; the library tries twice, one second apart, so a failure shows within five seconds."""
RELEASE = ("README.md", "SHA256SUMS", "data/*.parquet")
"""The files of a release, which is read as one folder."""
_ADDRESS = re.compile(rf"{PREFIX}([\w.-]+/[\w.-]+)(?:@([\w.-]+))?(?:/(.+))?")
_DATA = re.compile(r"(?!.*README)(?!(?:dataset_infos|croissant)\.json$).+\.(?:csv|tsv|jsonl?|txt)(?:\.gz)?")


def path_of(address: str) -> Path:
    """The local path of the file or release at an address, fetched if missing.

    Without a network, the copy from an earlier use is taken.
    """
    match = _ADDRESS.fullmatch(address)
    if not match:
        raise BadInput(address, "no address of a data set", EXPECTED)
    repo, revision, file = match.groups()
    from huggingface_hub import HfApi, hf_hub_download, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    # the HTTP client of the library has had three names, so its errors are found by their base class
    client_error: type[Exception] = HfHubHTTPError.__bases__[0]
    where: dict[str, Any] = {"repo_id": repo, "repo_type": "dataset", "revision": revision}
    try:
        info = HfApi().dataset_info(repo, revision=revision, timeout=PATIENCE)
        where["revision"] = info.sha
        wanted = _wanted(address, file, sorted(sibling.rfilename for sibling in info.siblings or ()))
        places = [Path(hf_hub_download(**where, filename=name, etag_timeout=PATIENCE)) for name in wanted]
        return places[0] if len(places) == 1 else places[0].parents[wanted[0].count("/")]
    except (client_error, OSError) as error:
        response = getattr(error, "response", None)
        if response is not None:
            found_there = f"the hub's answer {response.status_code} to {repo}"
            expected = "a public data set; look at owner, name and revision, and at HF_TOKEN for a private one"
            raise BadInput(address, found_there, expected) from None
        reason = "HF_HUB_OFFLINE is set" if "Offline" in type(error).__name__ else f"the hub gives no answer ({error})"
    try:
        folder = Path(snapshot_download(**where, local_files_only=True))
    except (client_error, OSError, ValueError):
        raise BadInput(
            address, f"nothing of it on this machine, and {reason}", "a connection, or the path of a file that you have"
        ) from None
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    wanted = _wanted(address, file, names)
    return folder / wanted[0] if len(wanted) == 1 else folder


def _wanted(address: str, file: str | None, names: list[str]) -> list[str]:
    """The files of a repository to fetch: the named one, those of a release, or the only data file."""
    if file:
        if file not in names:
            raise BadInput(address, f"no such file among {short(', '.join(names))}", EXPECTED)
        return [file]
    data = [name for name in names if _DATA.fullmatch(name)]
    release = [name for name in names if any(map(PurePosixPath(name).match, RELEASE))]
    if not data and any(name.endswith(".parquet") for name in release):
        return release
    data = data or [name for name in names if name.endswith(".parquet")]
    if len(data) != 1:
        shown = f" ({', '.join(data[:5])}{', …' * (len(data) > 5)})" if data else ""
        raise BadInput(address, f"{len(data)} files with data{shown}", f"one; name it: {address}/FILE")
    return data
