"""Entry point of `catsofa` and `python -m catsofa`: signals are handled before any import, and the end is quick."""


def command() -> None:
    """Runs a command in a process of its own, which ends at once after all exit handlers of other modules.

    Python's own end would search all objects for cycles again: 0.7 s after a model was loaded.
    """
    import atexit

    codes: list[object] = []
    if not atexit._ncallbacks():  # handlers run from the last to the first, and this one must not cut off others
        atexit.register(_leave, codes)
    try:
        main()
    except SystemExit as end:
        codes.append(0 if end.code is None else end.code)
        raise


def main() -> None:
    """Runs a command."""
    try:
        _end_at_once()
        from catsofa.cli import main as run
    except KeyboardInterrupt:
        _say("stopped by you", 130)
    try:
        try:
            run()
        finally:
            _end_in_silence()
    except KeyboardInterrupt:  # it came between the command's own handlers and the silent ones
        _end_in_silence()
        raise SystemExit(130) from None


def _end_at_once() -> None:
    """Makes a signal end the process without an exception until a command begins; an import could swallow an exception.

    A signal that the parent process ignores stays ignored. Other threads cannot set handlers, and need none.
    """
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        return
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    says = {signal.SIGINT: ("stopped by you", 130), signal.SIGTERM: ("asked to end", 143)}
    for sent, handler in usual.items():
        if signal.getsignal(sent) == handler:
            signal.signal(sent, lambda number, _: _say(*says[signal.Signals(number)]))


def _end_in_silence() -> None:
    """Lets signals end the process without a traceback during Python's shutdown; ignored signals stay ignored."""
    import signal
    import threading

    if threading.current_thread() is threading.main_thread():
        for sent in (signal.SIGINT, signal.SIGTERM):
            if callable(signal.getsignal(sent)):
                signal.signal(sent, signal.SIG_DFL)


def _leave(codes: list[object]) -> None:
    """Ends the process with the code of its command; without a code, or with code of plugins, Python ends it."""
    import os
    import sys

    plugins = sys.modules.get("catsofa.data.plugins")
    if plugins is not None and plugins.LOADED:  # their files may need Python to close them
        return
    try:
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError, AttributeError):
        return  # Python reports what it cannot write
    for code in codes:
        if isinstance(code, int) and 0 <= code <= 255:
            os._exit(code)


def _say(text: str, code: int) -> None:
    """Prints why the process ends, and ends it."""
    import os

    os.write(2, f"catsofa: {text}; nothing was begun\n".encode())
    os._exit(code)


if __name__ == "__main__":
    command()
