"""Reads TOML files written by people; an error is one sentence."""

import tomllib
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, read_text


def read(path: Path | str, expected: str) -> dict[str, Any]:
    """The table of a TOML file."""
    try:
        return tomllib.loads(read_text(path, expected))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(path, f"no TOML ({error})", expected) from None
    except RecursionError:
        raise BadInput(path, "TOML nested too deeply to read", expected) from None
    except BadInput:
        raise
    except ValueError:  # tomllib accepts numbers and dates that Python then refuses to convert
        raise BadInput(path, "a number or a date that is none", expected) from None
