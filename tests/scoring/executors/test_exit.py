"""The end of a process that loaded a model: Python's last garbage collection sees every object."""

import subprocess
import sys

ENDING = """
import atexit, gc
atexit.register(lambda: print(gc.get_freeze_count()))  # what is registered first runs last
from catsofa.scoring.executors import local
local._settle_memory()
local._settle_memory()
assert gc.get_freeze_count()
"""


def test_nothing_is_hidden_from_the_last_collection() -> None:
    """Objects are unfrozen at exit, because libraries that count their objects would print them as leaks."""
    done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "0\n"
