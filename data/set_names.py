"""Reserved names that sets of items (domains, bias types, categories) must not have."""

TAKEN = ("overall", "all", "stereo", "antistereo")
"""The names in results and reports of all items, and of CrowS-Pairs' pairs of each direction."""


class TakenName(ValueError):
    """A set of items has a reserved name."""


def refuse_taken_name(name: str) -> None:
    """Raise TakenName for a reserved name: the numbers of the set would replace those of other items."""
    if name in TAKEN:
        raise TakenName(f"a set of items called {name!r}, as results call other items")
