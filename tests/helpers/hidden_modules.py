"""A program: runs commands in turn while some modules are hidden, and prints the end of each, as JSON."""

import contextlib
import io
import json
import os
import sys
import traceback
from importlib.machinery import PathFinder
from typing import Any

hidden, folder, commands = (json.loads(argument) for argument in sys.argv[1:])
find = PathFinder.find_spec


def unhidden(_: type, name: str, *more: Any) -> Any:
    """Finds a module as Python does, except for the hidden modules."""
    return None if name.partition(".")[0] in hidden else find(name, *more)


PathFinder.find_spec = classmethod(unhidden)  # type: ignore[assignment]
sys.path_importer_cache.clear()

from catsofa import cli  # noqa: E402  # nothing of ours is imported before the modules are hidden

os.chdir(folder)
for command in commands:
    sys.argv = ["catsofa", *command]
    code, said = 0, io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            cli.main()
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else 1
    except BaseException:  # noqa: BLE001 - what a person would see
        code = 1
        said.write(traceback.format_exc())
    sys.__stdout__.write(json.dumps([command, code, said.getvalue()]) + "\n")
    sys.__stdout__.flush()
