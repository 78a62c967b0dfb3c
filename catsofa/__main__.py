"""`catsofa` and `python -m catsofa`, from their first instant: Ctrl-C while the program is being read is a sentence."""

import sys


def main() -> None:
    """Run a command."""
    try:
        from catsofa.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("catsofa: stopped by you; nothing was begun\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
