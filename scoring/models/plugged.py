"""Models of other packages, registered under an entry point and named `NAME:ARGUMENT`."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from catsofa.data import plugins
from catsofa.data.files import short
from catsofa.data.plugins import Plugins, what

GROUP = "catsofa.models"


@cache
def registered() -> Plugins:
    """The functions that create models, by the name before the colon."""
    return plugins.load(GROUP, "model", {}, _faults)


def is_plugged(name: str) -> bool:
    """Returns True if a name refers to a model of another package: the text before its colon is a registered name."""
    prefix, colon, _ = name.partition(":")
    return bool(colon) and (prefix in registered().parts or prefix in registered().broken)


def made(name: str) -> Any:
    """The model that a package's function creates from the text after the colon."""
    prefix, _, argument = name.partition(":")
    if why := registered().broken.get(prefix):
        raise ValueError(why)
    try:
        return registered().parts[prefix](argument)
    except ValueError as error:  # this error may be about the argument
        raise ValueError(f"{name}: {error}") from error
    except Exception as error:
        raise ValueError(f"the model {prefix!r} failed to make {name!r}: {what(error)}; mend its package") from error


def _faults(name: str, plugin: Any) -> Iterator[str]:
    """The reasons why the object of an entry point cannot create a model."""
    if not callable(plugin):
        yield f"found {short(plugin)}; expected a function or class that makes a model of a text"
