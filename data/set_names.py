"""Names of the sets of items: domains, bias types, categories."""

OVERALL = "overall"
"""How results call all items."""


def refuse_overall(name: str) -> None:
    """Refuse a set with the name of all items: its numbers would stand in their place."""
    if name == OVERALL:
        raise ValueError(f"found a set of items called {OVERALL!r}, as results call all items; give it another name")
