"""Languages as data folders: found by code, by the entry point of a plugin, or by path."""

import os
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from catsofa.data.languages.english import English
from catsofa.data.languages.language import Language as Language
from catsofa.data.languages.nouns import Noun as Noun
from catsofa.data.languages.nouns import Refusal as Refusal

GROUP = "catsofa.languages"
"""The entry point group of plugins: a code, and the package that holds the folder's files."""
FACTS = "language.toml"


@cache
def codes() -> dict[str, str]:
    """Maps the code of each installed language to its package or the path of its folder."""
    bundled = {path.parent.name: str(path.parent) for path in sorted(Path(__file__).parent.glob(f"*/{FACTS}"))}
    return {plugin.name: plugin.value for plugin in entry_points(group=GROUP)} | bundled


def find(name: str) -> Language:
    """The language with this code or folder; a folder is read again at each call.

    Raises ValueError for an unknown language, which is never treated as English.
    """
    places = codes()
    if name in places:
        return _installed(name, places[name])
    if os.path.lexists(Path(name, FACTS)):
        return Language(Path(name))
    problem = f"the folder {name!r} has no {FACTS}" if Path(name).is_dir() else f"no language {name!r}"
    raise ValueError(f"{problem}; there are {', '.join(sorted(places))}, or name the folder of another language")


@cache
def _installed(code: str, place: str) -> Language:
    """A language of catsofa or of a plugin, cached; raises a ValueError if the plugin's folder has no language.toml."""
    spec = None if Path(place).is_absolute() else find_spec(place)
    folders = list(spec.submodule_search_locations or ()) if spec else [place]
    if not folders or not Path(folders[0], FACTS).exists():
        raise ValueError(f"the plugin of language {code!r} names {place!r}, which holds no {FACTS}")
    return English(Path(folders[0])) if code == "en" else Language(Path(folders[0]))
