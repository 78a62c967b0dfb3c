"""Names of the sets of items: domains, bias types, categories."""

TAKEN = ("overall", "all", "stereo", "antistereo")
"""How results and reports call all items, and CrowS-Pairs' pairs of each direction."""


class TakenName(ValueError):
    """A set of items has the name of other items."""


def refuse_taken_name(name: str) -> None:
    """Refuse a set with the name of other items: its numbers would stand in their place."""
    if name in TAKEN:
        raise TakenName(f"a set of items called {name!r}, as results call other items")
