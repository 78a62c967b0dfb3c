"""Uploads data sets and result files to the Hub in one commit; private by default and safe to rerun."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

from catsofa.data.digests import FIELD
from catsofa.data.files import BadInput, existing_file, jsonl
from catsofa.data.files.checksums import LIST, check_listed, read_list
from catsofa.data.files.json_files import sealed
from catsofa.data.release import OURS
from catsofa.data.verify.stores import check_shards, is_shards
from catsofa.scoring.run.manifest import MANIFEST
from catsofa.scoring.run.reports import open_finished, read_report
from catsofa.scoring.run.store import REPORT

TOKEN = "HF_TOKEN"
"""The environment variable with the token; catsofa reads the token from nowhere else and never stores it."""
ENDPOINT = "https://huggingface.co"
WAITS = (1.0, 3.0, 9.0)
"""Seconds before each retry."""
PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""HTTP status codes that are retried."""
REPO = re.compile(r"[\w.-]+/[\w.-]+")
PLACE = re.compile(r"(?<![\w./])(?:[A-Za-z]:)?(?:[/\\][^\s/\\|]+)+[/\\]([^\s/\\|]+)")
"""A local path; the group is its last part."""
EXPECTED = "a release, probe shards with a card, a run of `catsofa score`, or a single result file"


class NotPushed(ValueError):
    """The upload failed; the message gives the reason and the next step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One file of the commit: its target path, and its bytes or local path."""

    path: str
    content: Path | bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """The files on the Hub after the upload."""

    url: str
    files: tuple[str, ...]
    left_out: tuple[str, ...]
    """Files in a release folder that are not part of the release and were not uploaded."""


def push(
    paths: Sequence[Path],
    repo: str,
    *,
    public: bool = False,
    message: str = "",
    endpoint: str = "",
    quiet: bool = False,
    waits: Sequence[float] = WAITS,
) -> Pushed:
    """Uploads releases, runs and result files to the dataset repository `repo`; creates the repository if missing.

    A release, or probe shards with a card, goes to the root. A run goes to results/NAME (its report and its scores,
    never its data), and a file to results/. Local paths are removed from reports. Transient errors are retried.
    """
    if not REPO.fullmatch(repo):
        raise ValueError(f"{repo!r} names no repository; write OWNER/NAME")
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise NotPushed(f"there is no token: set {TOKEN} to one that may write to {repo} (your settings on the Hub)")
    uploads = [upload for path in paths for upload in uploads_of(path)]
    sent = [upload.path for upload in uploads]
    if twice := next((path for place, path in enumerate(sent) if path in sent[:place]), ""):
        raise ValueError(f"two of these would be {twice} on the Hub; rename one, or push them to two repositories")
    endpoint = (endpoint or os.environ.get("HF_ENDPOINT") or ENDPOINT).rstrip("/")
    text = message or f"Add {', '.join(path.resolve().name for path in paths)}"

    def send() -> str:
        return _commit(uploads, repo, token, endpoint, text, public=public, quiet=quiet)

    url = _again(send, repo, endpoint, token, waits)
    left_out = tuple(name for path in paths for name in _left_out(path))
    return Pushed(url=url, files=tuple(sent), left_out=left_out)


def uploads_of(path: Path) -> Iterator[Upload]:
    """Yields the files of a release, of probe shards, of a run, or the file itself."""
    if path.is_file():
        _refuse_places(path)
        yield Upload(path=f"results/{path.name}", content=path)
    elif (path / "study.json").exists():
        raise BadInput(path, "a study, which names people", "its release (`catsofa release`), made to be public")
    elif is_shards(path):
        _refuse_wrong_shards(path)
        yield from _data_set(path, "probe shards", (*OURS, MANIFEST))
    elif (path / MANIFEST).is_file():
        yield from _run(path)
    elif any((path / "data").glob("*.parquet")):
        yield from _data_set(path, "a release", OURS)
    else:
        raise BadInput(path, "a folder of something else" if path.is_dir() else "no such file or folder", EXPECTED)


def _data_set(folder: Path, kind: str, names: Iterable[str]) -> Iterator[Upload]:
    """Yields the files of a release or of probe shards, after verification of their checksums."""
    if not (folder / "README.md").is_file():
        raise BadInput(folder, f"{kind} without a card", "README.md beside data/, with licence and statement")
    if (listed := read_list(folder)) is not None:
        for name in listed:
            check_listed(folder, existing_file(folder / name, f"the content that {LIST} lists"), listed)
    files = sorted(file for name in names for file in folder.glob(name))
    yield from (Upload(path=file.relative_to(folder).as_posix(), content=file) for file in files)


def _refuse_wrong_shards(folder: Path) -> None:
    """Refuses probe shards that `catsofa verify` finds wrong or unfinished, and a manifest with local paths."""
    verdict = check_shards(folder)
    assert verdict is not None
    for fault in verdict.faults:
        raise ValueError(f"{fault.path}: {fault.wrong}")
    if verdict.unchecked:
        problem = f"probe shards that are not whole ({'; '.join(verdict.unchecked)})"
        raise BadInput(folder, problem, "all shards with checksums: run the same `catsofa build probes` again")
    _refuse_places(folder / MANIFEST)


def _refuse_places(path: Path) -> None:
    """Raises NotPushed if a file contains the user's home or working folder, because paths cannot be removed there."""
    content = path.read_bytes()
    for place in {str(Path.home()), str(Path.cwd())} - {"/"}:
        if re.search(re.escape(place.encode()) + rb"[/\\]", content):
            raise NotPushed(
                f"{path} names a path of this machine ({place}); make it again with places relative to the "
                "working folder, or push the runs themselves, whose reports leave places out"
            )


def _left_out(path: Path) -> Iterator[str]:
    """Yields the files in a release or beside probe shards that are not part of them; nothing for runs."""
    shards = is_shards(path)
    if path.is_dir() and (shards or not (path / MANIFEST).is_file()):
        names = (*OURS, MANIFEST) if shards else OURS
        files = sorted(file for file in path.rglob("*") if file.is_file())
        yield from (str(file) for file in files if not any(file.relative_to(path).match(name) for name in names))


def _run(folder: Path) -> Iterator[Upload]:
    """Yields the report and the scores of a finished run; its manifest contains local paths and is not uploaded."""
    name = f"results/{folder.resolve().name}"
    report = {name: part for name, part in without_places(read_report(folder)).items() if name != FIELD}
    text = json.dumps(sealed(report), ensure_ascii=False, indent=1)
    yield Upload(path=f"{name}/{REPORT}", content=text.encode())
    with open_finished(folder) as run:
        scores = b"".join(jsonl.dumps(score) + b"\n" for score in run.scores())
    yield Upload(path=f"{name}/scores.jsonl", content=scores)


def without_places(value: Any) -> Any:
    """Returns the value with each local path in its texts reduced to the last part."""
    if isinstance(value, str):
        return PLACE.sub(r"\1", value)
    if isinstance(value, dict):
        return {name: without_places(part) for name, part in value.items()}
    return [without_places(part) for part in value] if isinstance(value, list) else value


def _commit(
    uploads: Sequence[Upload], repo: str, token: str, endpoint: str, message: str, *, public: bool, quiet: bool
) -> str:
    """Creates the repository if it is missing, commits files that are not on the Hub yet, returns the commit URL."""
    from huggingface_hub import CommitOperationAdd, HfApi
    from huggingface_hub.utils.tqdm import disable_progress_bars

    if quiet:
        disable_progress_bars()
    hub = HfApi(endpoint=endpoint, token=token)
    hub.create_repo(repo, repo_type="dataset", private=not public, exist_ok=True)
    # new for each try, so that files uploaded by an earlier try are detected and skipped
    adds = [CommitOperationAdd(u.path, u.content if isinstance(u.content, bytes) else str(u.content)) for u in uploads]
    with _as_the_hub_takes_it(repo, token, endpoint):
        return str(hub.create_commit(repo, adds, commit_message=message, repo_type="dataset").commit_url)


@contextmanager
def _as_the_hub_takes_it(repo: str, token: str, endpoint: str) -> Iterator[None]:
    """Uses Git LFS for large files if the Hub does not support Xet; the client would try only Xet."""
    from huggingface_hub import constants
    from huggingface_hub.utils._headers import build_hf_headers
    from huggingface_hub.utils._http import get_session

    off = constants.HF_HUB_DISABLE_XET
    if not off:
        place = f"{endpoint}/api/datasets/{repo}/xet-write-token/main"
        answer = get_session().get(place, headers=build_hf_headers(token=token))
        constants.HF_HUB_DISABLE_XET = answer.status_code == 404
    try:
        yield
    finally:
        constants.HF_HUB_DISABLE_XET = off


def _again(send: Callable[[], str], repo: str, endpoint: str, token: str, waits: Sequence[float]) -> str:
    """Returns the result of `send`; retries transient errors, reports others in one sentence without the token."""
    from huggingface_hub.errors import HfHubHTTPError

    # The HTTP client has had three names (requests, httpx, httpx2), so its errors are identified by their base class.
    # A failed part of a file raises a RuntimeError; a reply that is not valid JSON raises a JSONDecodeError.
    client_error: type[Exception] = HfHubHTTPError.__bases__[0]
    for wait in (*waits, None):
        try:
            return send()
        except KeyError as error:
            raise NotPushed(f"the reply of {endpoint} has no {error}, so it is no Hub; look at HF_ENDPOINT") from None
        except (client_error, OSError, RuntimeError, json.JSONDecodeError) as error:
            cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error
            status = cause.response.status_code if isinstance(cause, HfHubHTTPError) else None
            passing = not _is_off(cause) if status is None else status in PASSING
            if wait is None or not passing:
                raise NotPushed(_why(cause, status, repo, endpoint).replace(token, "…")) from None
        sleep(wait)
    raise AssertionError("the last try returns or raises")


def _is_off(error: BaseException) -> bool:
    """Returns True if network access is disabled (HF_HUB_OFFLINE)."""
    return type(error).__name__ == "OfflineModeIsEnabled"


def _why(error: BaseException, status: int | None, repo: str, endpoint: str) -> str:
    """Returns the reason of a failure and the next step."""
    if _is_off(error):
        return f"HF_HUB_OFFLINE is set, so nothing is sent; unset it to push to {repo}"
    if status is None:
        return f"{endpoint} cannot be reached ({error}); nothing was pushed, run the same command again"
    if status == 401:
        return f"{endpoint} does not know this token; set {TOKEN} to a valid one"
    if status == 403:
        return f"this token may not write to {repo}; make one with write permission, or choose a repository of yours"
    if status == 404:
        return f"{endpoint} has no place for {repo}; check the owner's name"
    reason = " ".join(str(error).split())
    return f"{endpoint} answered {status} ({reason}); nothing was pushed, run the same command again"
