"""Work in forked processes has the results, errors and warnings of work in one process."""

import os
import subprocess
import sys
import threading
import warnings

import pytest

from catsofa.data.processes import in_processes

START = """
import multiprocessing, os, sys, time, warnings
from catsofa.data.processes import in_processes
os.sched_getaffinity = lambda _: {0, 1, 2}
parent = os.getpid()
failed = multiprocessing.Event()
three = multiprocessing.Barrier(3)
def elsewhere(work):
    return [result for result in in_processes(work, range(9))]
"""


def printed(code: str) -> str:
    """What a program prints that may fork."""
    done = subprocess.run([sys.executable, "-c", START + code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="other platforms do not fork")
class TestForked:
    """On Linux, in a process without threads."""

    def test_several_processes_compute_results_in_order(self) -> None:
        """Each item has its own result, and more than one process computed them."""
        code = "found = elsewhere(lambda n: (n < 3 and three.wait(30), n * n, os.getpid()))\n"
        code += "print([n for _, n, _ in found], len({pid for _, _, pid in found}))"
        assert printed(code) == "[0, 1, 4, 9, 16, 25, 36, 49, 64] 3"

    def test_no_item_is_computed_twice(self) -> None:
        """Processes that take items at the same time take different ones."""
        code = "found, end = os.pipe()\ndef work(n):\n    os.write(end, b'.')\n"
        code += "in_processes(work, range(20000))\nprint(len(os.read(found, 40000)))"
        assert printed(code) == "20000"

    def test_work_that_fails_elsewhere_is_done_here(self) -> None:
        """A killed child, an error and a warning in a child lose nothing."""
        code = "def work(n):\n    time.sleep(0.02)\n    if os.getpid() != parent and n > 3: fault()\n    return n\n"
        code += "def error(): raise MemoryError\n"
        code += "for fault in (lambda: os._exit(1), lambda: os.kill(os.getpid(), 9), error, sys.exit, "
        code += "lambda: warnings.warn('x')):\n    assert elsewhere(work) == [*range(9)], fault"
        assert printed(code) == ""

    def test_an_error_is_raised_before_the_work_behind_it(self) -> None:
        """No process takes another item after one has failed."""
        code = "def work(n):\n    if n == 1:\n        failed.set()\n        raise ValueError\n"
        code += "    os.write(1, b'.')\n    failed.wait(30)\n    time.sleep(0.5)\n"
        code += "try:\n    elsewhere(work)\nexcept ValueError:\n    pass"
        assert len(printed(code)) <= 4

    def test_ignored_warnings_change_no_result(self) -> None:
        """A warning that Python ignores has no effect in a child, also where the work catches errors."""
        code = "warnings.simplefilter('ignore')\ndef work(n):\n    n < 3 and three.wait(30)\n"
        code += (
            "    try:\n        warnings.warn('x')\n    except Warning:\n        return 'lost'\n    return os.getpid()\n"
        )
        assert printed(f"{code}found = elsewhere(work)\nprint('lost' in found, len(set(found)))") == "False 3"

    def test_the_timer_of_the_spinner_does_not_keep_work_in_one_process(self) -> None:
        """A terminal has a timer, and the work is shared there too."""
        code = "import threading\ntimer = threading.Timer(60, print)\ntimer.daemon = True\ntimer.start()\n"
        code += "print(len(set(elsewhere(lambda n: (n < 3 and three.wait(30), os.getpid())[1]))))"
        assert printed(code) == "3"

    def test_results_that_cannot_be_pickled_are_made_here(self) -> None:
        """A function without a name is no result that another process can send."""
        assert printed("print([f() for f in elsewhere(lambda n: (time.sleep(0.02), lambda: n)[1])])") == str(
            [*range(9)]
        )

    def test_no_child_survives_an_interrupt(self) -> None:
        """Ctrl-C here ends the children."""
        code = "def work(n):\n    if os.getpid() == parent:\n        raise KeyboardInterrupt\n    time.sleep(60)\n"
        code += "try:\n    elsewhere(work)\nexcept KeyboardInterrupt:\n    pass\n"
        code += "try:\n    os.waitpid(-1, os.WNOHANG)\nexcept ChildProcessError:\n    print('none')"
        assert printed(code) == "none"


def test_errors_and_warnings_are_those_of_one_process() -> None:
    """The first item that fails raises its error; warnings reach the caller."""

    def work(item: int) -> int:
        warnings.warn(f"item {item}", stacklevel=2)
        return 1 // item

    with pytest.warns(UserWarning, match="item 1"), pytest.raises(ZeroDivisionError):
        in_processes(work, [1, 0])
    assert in_processes(len, []) == []


def test_nothing_is_forked_beside_threads() -> None:
    """The lock of another thread could be held for ever in a child."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert set(in_processes(lambda _: os.getpid(), range(5))) == {os.getpid()}
    finally:
        done.set()
        thread.join()
