"""Models of other packages, which register them under an entry point: `NAME:ARGUMENT` is one."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from catsofa.data import plugins
from catsofa.data.files import short
from catsofa.data.plugins import Plugins, what

GROUP = "catsofa.models"


@cache
def registered() -> Plugins:
    """The functions that make models, by the name before the colon."""
    return plugins.load(GROUP, "model", {}, _faults)


def is_plugged(name: str) -> bool:
    """Whether a name is one of a model of another package; a folder or hub id never is."""
    prefix, colon, _ = name.partition(":")
    return bool(colon) and (prefix in registered().parts or prefix in registered().broken)


def made(name: str) -> Any:
    """The model that the function of a package makes of what stands after the colon."""
    prefix, _, argument = name.partition(":")
    if why := registered().broken.get(prefix):
        raise ValueError(why)
    try:
        return registered().parts[prefix](argument)
    except ValueError as error:  # it may be about the argument
        raise ValueError(f"{name}: {error}") from error
    except Exception as error:
        raise ValueError(f"the model {prefix!r} failed to make {name!r}: {what(error)}; mend its package") from error


def _faults(name: str, found: Any) -> Iterator[str]:
    """Why what an entry point gives makes no model."""
    if not callable(found):
        yield f"found {short(found)}; expected a function or class that makes a model of a text"
