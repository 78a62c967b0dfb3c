"""Entry point of `catsofa` and `python -m catsofa`: installs the handlers of Ctrl-C and `kill` before any import."""


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


def _say(text: str, code: int) -> None:
    """Prints why the process ends, and ends it."""
    import os

    os.write(2, f"catsofa: {text}; nothing was begun\n".encode())
    os._exit(code)


if __name__ == "__main__":
    main()
