"""Finds the files of a model: a folder, or a revision on the hub that is resolved once to an exact commit."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from catsofa.data import extras
from catsofa.data.files import json_files, stamp
from catsofa.data.files.checksums import known_sha256_of, sha256_of_files
from catsofa.scoring.models import plugged
from catsofa.scoring.models.computed_vectors import ENDINGS
from catsofa.scoring.models.static_vectors import WORD_ENDINGS, is_token_folder

LEFT_OUT = {
    "notes": {"", ".cff", ".html", ".ipynb", ".log", ".md", ".pdf", ".rst", ".sh", ".txt", ".yaml", ".yml"},
    "data": {".csv", ".jsonl", ".parquet", ".tsv"},
    "images": {".bmp", ".gif", ".ico", ".jpeg", ".jpg", ".mp4", ".png", ".svg", ".webp"},
    "checksums": {".asc", ".md5", ".sha256", ".sig"},
    "archives": {".7z", ".gz", ".tar", ".tgz", ".xz", ".zip", ".zst"},
    "states of a training": {".ckpt", ".pt", ".pth"},
    "weights for other programs": {
        ".data", ".gguf", ".ggml", ".h5", ".keras", ".mlmodel", ".msgpack", ".npz", ".onnx", ".onnx_data", ".ot",
        ".pb", ".tflite",
    },
    "copies and caches": {".bak", ".incomplete", ".lock", ".orig", ".part", ".pyc", ".swp", ".tmp"},
}  # fmt: skip
"""Endings of files that cannot affect a score; the digest of a model folder covers every other file."""
TRAINING = {"optimizer", "scheduler", "scaler", "rng_state"}
"""File names of training states, in any format."""
TEXTS = {"vocab.txt", "merges.txt", "dict.txt"}
"""The text files that tokenizers of transformers read; other text files cannot affect a score."""
EARLIER = {".json", ".safetensors", ".bin", ".model", ".py"}
"""Endings of the files that the digest of earlier versions covered, besides `TEXTS`."""
PICKLED = re.compile(r"pytorch_model.*\.bin(\.index\.json)?")
"""Pickled weights, which are not loaded if the same folder has one of `SAFE`."""
SAFE = {"model.safetensors", "model.safetensors.index.json"}
"""The only safetensors names that transformers prefers to pickled weights."""
INDEX = ".index.json"
"""The ending of index files, which list files of weights."""
WITH_CODE = ("config.json", "tokenizer_config.json")
"""The configuration files that may refer to code."""
CHECKPOINT = re.compile(r"checkpoint-\d+")
"""Folder names of complete models from earlier training steps."""
MODULES = "modules.json"
ADAPTER = ("adapter_config.json", "adapter_model.")
"""The beginnings of the file names of an adapter."""
NO_PROBABILITIES = (
    "it gives vectors and no probability of a text; `catsofa score` takes it for SEAT and WEAT tests alone; "
    "name a language model for CATs, pairs and probes"
)
"""The error text for a model that gives only vectors."""
TIMEOUT = 4.0
"""Seconds to wait for the hub before only the cache is used."""


@dataclass(frozen=True, slots=True)
class Source:
    """The location of a model's files: transformers loads `place`; `revision` is the commit on the hub."""

    name: str
    place: str
    revision: str | None = None

    def digest(self, *, runs_code: bool = False) -> str:
        """The commit on the hub, or a SHA-256 over the files of the folder that can affect a score."""
        return self.revision or digest_of(Path(self.place), runs_code=runs_code)

    def code(self) -> "Source | None":
        """The other hub repository with the model's code, at an exact commit; None without one."""
        from transformers.utils.hub import cached_file

        places = {"revision": self.revision, "_raise_exceptions_for_missing_entries": False}
        paths = (cached_file(self.place, name, **places) for name in WITH_CODE)
        if not (repositories := code_in(Path(path) for path in paths if path)) - {"", self.place}:
            return None
        if len(repositories) > 1:
            named = " and ".join(sorted(name or self.name for name in repositories))
            raise ValueError(f"{self.name} takes its code from {named}; copy the code into one folder, and name that")
        return find(repositories.pop())

    @contextmanager
    def errors(self, part: str) -> Iterator[None]:
        """Turn library errors about a broken model into one sentence that names the model and the part."""
        from safetensors import SafetensorError

        try:
            yield
        except SafetensorError as error:
            raise ValueError(f"{part} of {self.name} are damaged or cut short ({error}); copy the file again") from None
        except extras.MissingExtra:
            raise
        except (OSError, KeyError, ImportError, RuntimeError, TypeError, ValueError) as error:
            raise ValueError(f"{part} of {self.name} cannot be loaded: {_first_sentence(error)}") from None


def digest_of(folder: Path, *, runs_code: bool = False) -> str:
    """The SHA-256 over all files in a model folder and its subfolders that can affect a score, or of a single file.

    Code of the folder that is run (`runs_code`) may read any file, so the digest then covers all visible files.
    """
    if folder.is_file():
        return f"sha256:{known_sha256_of(folder)}"
    if runs_code and code_in(folder / name for name in WITH_CODE):
        files = sorted(
            file for file in folder.rglob("*") if file.is_file() and not _is_hidden(file.relative_to(folder))
        )
    else:
        configured = _field(folder / "config.json", "transformers_weights")
        named = [folder / str(configured)] if configured else []
        files = list(dict.fromkeys([*_files_of(folder, folder), *named]))
    return _digest(folder, tuple((file, *stamp(file)) for file in files))


def folder_of(module: Any) -> Path | None:
    """The folder that a network was loaded from, by its name or in the hub cache; None if unknown."""
    from transformers.utils.hub import cached_file

    if (folder := Path(module.name_or_path)).is_dir():
        return folder
    if not (revision := getattr(module.config, "_commit_hash", None)):
        return None
    path = cached_file(module.name_or_path, "config.json", revision=revision, local_files_only=True)
    return Path(path).parent if path else None


def earlier_digest_of(folder: Path) -> str:
    """The digest of earlier versions, which covers only files with a few endings directly in the folder."""
    files = sorted(f for f in folder.iterdir() if f.is_file() and (f.suffix in EARLIER or f.name in TEXTS))
    return f"sha256:{sha256_of_files(folder, files)}"


def code_in(configurations: Iterable[Path]) -> set[str]:
    """The repositories of code that these configuration files refer to; "" is the model's own repository."""
    repositories = set()
    for path in configurations:
        classes = (
            one
            for value in _named_in(path, "auto_map").values()
            for one in (value if isinstance(value, list) else [value])
            if one
        )
        repositories |= {str(one).rpartition("--")[0] for one in classes}
    return repositories


def _is_hidden(path: Path) -> bool:
    """Returns True if a path contains a hidden name or a cache of compiled code."""
    return any(part.startswith((".", "__pycache__")) for part in path.parts)


def _field(path: Path, name: str) -> Any:
    """A field of a JSON file; None without the file or the field."""
    content = json_files.read(path, "a configuration of a model") if path.is_file() else None
    return content.get(name) if isinstance(content, dict) else None


def _named_in(path: Path, field: str) -> dict[str, Any]:
    """A field of a JSON file that is an object of names; empty if missing."""
    names = _field(path, field)
    return names if isinstance(names, dict) else {}


def _files_of(folder: Path, root: Path) -> Iterator[Path]:
    """The files in a folder, then in each subfolder, that can affect the computation or the tokenization of a model.

    An index may list weight files of any name; their paths are relative to `root`, the model folder.
    """
    inside = sorted(folder.iterdir())
    files = [file for file in inside if file.is_file() and _decides(file)]
    if any(file.name in SAFE for file in files):
        files = [file for file in files if not PICKLED.fullmatch(file.name)]
    shards = {
        root / str(name)
        for file in files
        if file.name.endswith(INDEX)
        for name in _named_in(file, "weight_map").values()
    }
    yield from sorted({*files, *(shard for shard in shards if shard.is_file())})
    for part in inside:
        if part.is_dir() and not _is_left_out(part):
            yield from _files_of(part, root)


def _is_left_out(folder: Path) -> bool:
    """Returns True if a subfolder cannot affect a score: hidden, a cache, an earlier checkpoint, or a link upwards."""
    is_checkpoint = CHECKPOINT.fullmatch(folder.name) and (folder / "config.json").is_file()
    is_loop = folder.is_symlink() and folder.parent.resolve().is_relative_to(folder.resolve())
    return folder.name.startswith((".", "__")) or bool(is_checkpoint) or is_loop


def _decides(file: Path) -> bool:
    """Returns True if a file can affect a score: hidden files, training states and endings in `LEFT_OUT` cannot."""
    if file.name in TEXTS:
        return True
    is_state = file.stem in TRAINING or "tfevents" in file.name
    left_out = any(file.suffix.lower() in endings for endings in LEFT_OUT.values())
    return not (file.name.startswith(".") or file.name.endswith("~") or is_state or left_out)


@lru_cache
def _digest(folder: Path, stamps: tuple[tuple[Path, str, int, int, int], ...]) -> str:
    """The SHA-256 over files, cached until the size or a time stamp of a file changes."""
    return f"sha256:{sha256_of_files(folder, (file for file, *_ in stamps))}"


def find(name: str, revision: str | None = None) -> Source:
    """The location of a model's files, by folder or hub id (`gpt2`, `org/model@revision`)."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return _folder(name, folder)
    if folder.is_file() and folder.name.endswith((*WORD_ENDINGS, *ENDINGS)):
        raise ValueError(f"{name} is a file of vectors: {NO_PROBABILITIES}")
    if folder.is_file():
        raise ValueError(f"{name} is a file; name the folder that holds config.json, the weights and the tokenizer")
    repository, _, named = name.partition("@")
    revision = revision or named or None
    if not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)?", repository):
        if plugged.is_plugged(name):
            raise ValueError(f"{name} is a model of another package, without weights here; `score` takes it")
        own = f", nor one of the packages' models {', '.join(names)}" if (names := plugged.registered().parts) else ""
        raise ValueError(f"no folder {name}, and it cannot be a hub id either (those look like gpt2 or org/model){own}")
    return _on_hub(repository, revision, name)


def _folder(name: str, folder: Path) -> Source:
    """The location of a local model; a folder without config.json is refused."""
    _refuse_adapter(name, (path.name for path in folder.iterdir()))
    if not (folder / "config.json").is_file():
        if (folder / MODULES).is_file():
            kind = "a static embedding" if is_token_folder(folder) else "a sentence encoder"
            raise ValueError(f"the folder {name} holds {kind}: {NO_PROBABILITIES}")
        inside = ", ".join(sorted(path.name for path in folder.iterdir())[:4]) or "nothing"
        raise ValueError(f"the folder {name} holds no config.json, so it is not a model (it holds {inside})")
    return Source(name, str(folder))


def _refuse_adapter(name: str, files: Iterable[str]) -> None:
    """Refuse a model with adapter files, since transformers reads them only if certain packages are installed."""
    if adapter := next((file for file in sorted(files) if file.startswith(ADAPTER)), None):
        raise ValueError(
            f"{name} holds an adapter ({adapter}), which is not read; merge it into the weights "
            "(peft: merge_and_unload), save the model and name that folder"
        )


def _on_hub(repository: str, revision: str | None, name: str) -> Source:
    """The location of a model on the hub at an exact commit, or of its cached copy if the hub is not reachable."""
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        info = HfApi().model_info(repository, revision=revision, timeout=TIMEOUT)
    except GatedRepoError:
        raise ValueError(f"{repository} is gated: accept its licence on the hub and log in (`hf auth login`)") from None
    except RevisionNotFoundError:
        raise ValueError(f"{repository} has no revision {revision!r} on the hub") from None
    except RepositoryNotFoundError:
        raise ValueError(f"there is no folder {name} here, and no such model on the hub (or it is private)") from None
    except KeyError as error:
        raise ValueError(f"the reply of the hub about {repository} has no {error}; look at HF_ENDPOINT") from None
    except _network_errors() as error:
        try:
            cached = Path(snapshot_download(repository, revision=revision, local_files_only=True))
        except LocalEntryNotFoundError:
            raise ValueError(_nowhere(repository, name, error)) from None
        _refuse_adapter(name, (path.name for path in cached.iterdir()))
        return Source(name, str(cached), cached.name)
    _refuse_adapter(name, (file.rfilename for file in info.siblings or ()))
    return Source(name, repository, info.sha)


def _nowhere(repository: str, name: str, error: Exception) -> str:
    """The error for a model that is neither local nor cached while the hub is not reachable, with a remedy."""
    from huggingface_hub import constants

    cache = Path(constants.HF_HUB_CACHE)
    inside = f"models--{repository.replace('/', '--')}"
    hub = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else f"the hub gives no answer ({_first_sentence(error)})"
    return (
        f"no folder {name}, no such model in the cache {cache}, and {hub}: run `hf download {repository}` on a machine "
        f"with a connection and copy its folder {inside} into that cache, or name a folder that holds the model"
    )


def _network_errors() -> tuple[type[Exception], ...]:
    """The exception types of a failed connection; the HTTP library differs between hub versions, so it is looked up."""
    from huggingface_hub import get_session

    library = import_module(type(get_session()).__module__.partition(".")[0])
    return (OSError, library.HTTPError)


def _first_sentence(error: Exception) -> str:
    """The first non-empty line of an error, cut after 200 characters."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return line if len(line) <= 200 else f"{line[:200]}…"


@contextmanager
def disk_errors() -> Iterator[None]:
    """Turn disk errors of safetensors back into the original OSError."""
    from safetensors import SafetensorError

    try:
        yield
    except SafetensorError as error:
        if number := re.search(r"os error (\d+)", str(error)):
            raise OSError(int(number[1]), os.strerror(int(number[1]))) from None
        raise
