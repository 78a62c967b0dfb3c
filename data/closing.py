"""Base class of objects that hold a file or a lock until they are closed."""

from typing import Self


class Closing:
    """An object that a `with` block closes at its end."""

    def close(self) -> None:
        """Release the file or lock."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the object."""
        self.close()
