"""Loads measures of other packages, which register them under an entry point."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from typing import Any, get_type_hints

from catsofa.data import plugins
from catsofa.data.extras import MissingExtra
from catsofa.data.files import BadInput, short
from catsofa.data.plugins import Plugins, what
from catsofa.data.visible import visible
from catsofa.scoring.measures import MODULES

GROUP = "catsofa.measures"
MEASURE = "catsofa.scoring.measures.registry.Measure"
"""The name of the base class; its module imports this one, so this module cannot import the class."""


def load(names: Collection[str], options: Collection[str]) -> Plugins:
    """Every registered measure, after a check; `names` and `options` are those that catsofa itself uses."""
    reserved = dict.fromkeys(names, "a measure or a protocol")
    return plugins.load(GROUP, "measure", reserved, partial(_faults, options=options), _shared_options)


@contextmanager
def guarded(measure: Any, method: str) -> Iterator[None]:
    """Turn an exception in a method of another package's measure into a ValueError that names measure and method."""
    try:
        yield
    except (BadInput, MissingExtra, MemoryError):
        raise
    except Exception as error:
        if measure.name in MODULES or (isinstance(error, ValueError) and repr(measure.name) in str(error)):
            raise
        if isinstance(error, ValueError):  # this error may be about the data
            raise ValueError(f"{_called(measure)}: {visible(str(error))}") from error
        raise broken(measure, f"failed in `{method}`: {what(error)}") from error


def guard(own: Callable[..., Any], name: str, shape: tuple[str, Callable[[Any], bool]] | None) -> Callable[..., Any]:
    """Wrap a method of another package's measure so that it raises as `guarded` does; an iterator becomes a list.

    `shape` is a description and a test; every part of the returned list must pass the test.
    """

    @wraps(own)
    def method(measure: Any, *args: Any, **more: Any) -> Any:
        with guarded(measure, name):
            result = own(measure, *args, **more)
            result = list(result) if isinstance(result, Iterator) else result
        if shape:
            parts = result if isinstance(result, list | tuple) else [result]
            if odd := [part for part in parts if not shape[1](part)] or ([] if parts is result else [result]):
                raise broken(measure, f"returned {visible(short(odd[0]))} from `{name}`; expected a list of {shape[0]}")
        return result

    return method


def broken(measure: Any, why: str) -> ValueError:
    """The error for a fault in a measure of another package."""
    return ValueError(f"{_called(measure)} {why}; mend or uninstall its package")


def _called(measure: Any) -> str:
    """A phrase with the name and the module of a measure."""
    return f"the measure {measure.name!r} of {type(measure).__module__}"


def _faults(name: str, plugin: Any, options: Collection[str]) -> Iterator[str]:
    """The reasons why the object of an entry point is not a usable measure."""
    if isinstance(plugin, type):
        yield f"found the class {plugin.__name__}; expected an instance of it, as `MEASURE = {plugin.__name__}()`"
    if MEASURE not in {f"{base.__module__}.{base.__qualname__}" for base in type(plugin).__mro__}:
        yield f"found {short(plugin)}; expected an instance of a subclass of {MEASURE}"
    if (own := getattr(plugin, "name", None)) != name:
        yield f"its `name` is {own!r}; expected {name!r}, the name of the entry point"
    if not isinstance(about := getattr(plugin, "about", None), str) or not about.strip():
        yield "it has no `about`; expected a sentence that says what it measures"
    if not isinstance(getattr(plugin, "records", None), type):
        yield "it has no `records`; expected the type of the records that it takes"
    if (kind := plugin.options) is None:
        return
    if not isinstance(kind, type) or not is_dataclass(kind) or not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        yield f"its `options` are {short(kind)}; expected a frozen dataclass"
    kind()  # an option without a default raises
    for option in get_type_hints(kind):
        if option in options:
            yield f"it has an option {option!r}, which catsofa has; rename it"


def _shared_options(measures: Mapping[str, Any]) -> dict[str, str]:
    """Measure name to an error, for each measure that shares an option name with another measure."""
    owners = defaultdict[str, list[str]](list)
    for name, measure in measures.items():
        for option in fields(measure.options) if measure.options else ():
            owners[option.name].append(name)
    return {
        name: f"{' and '.join(sharing)} have an option {option!r}; each needs a name of its own"
        for option, sharing in owners.items()
        for name in (sharing if len(sharing) > 1 else [])
    }
