"""Reads TOML files written by people; an error is one sentence."""

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, read_text


def read(path: Path | str, expected: str) -> dict[str, Any]:
    """The table of a TOML file."""
    try:
        with not_convertible():
            return tomllib.loads(read_text(path, expected))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(path, f"no TOML ({error})", expected) from None
    except RecursionError:
        raise BadInput(path, "TOML nested too deeply to read", expected) from None
    except BadInput:
        raise
    except ValueError:  # tomllib accepts numbers and dates that Python then refuses to convert
        raise BadInput(path, "a number or a date that is none", expected) from None


@contextmanager
def not_convertible() -> Iterator[None]:
    """Within this context, the error of a file that is not UTF-8 says to save it as UTF-8.

    `convert --encoding` reads only files of records.
    """
    try:
        yield
    except BadInput as error:
        expected = re.sub(r"convert it with 'catsofa convert[^']*'", "save it as UTF-8", error.expected)
        raise BadInput(error.path, error.found, expected, error.line) from None
