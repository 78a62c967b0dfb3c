"""What holds a file or a lock until it is closed."""

from typing import Self


class Closing:
    """A thing that a `with` block closes at its end."""

    def close(self) -> None:
        """Let go of what is held."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """The thing itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()
