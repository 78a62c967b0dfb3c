"""Small CATs about invented groups, for tests that need outcomes and no text."""

from collections.abc import Mapping

from catsofa.data.records import Candidate, Cat, Kind, Label

WORDS: dict[Label, str] = {"stereotype": "tidy", "anti-stereotype": "untidy", "unrelated": "seventeen"}


def cat(name: str, *, target: str = "florin", bias_type: str = "pastime", kind: Kind = "intrasentence") -> Cat:
    """A CAT whose candidates have the ids `name/stereotype`, `name/anti-stereotype` and `name/unrelated`."""
    context = f"Every {target} is BLANK."
    one, two, three = (
        Candidate(id=f"{name}/{label}", label=label, fill=word, text=context.replace("BLANK", word))
        for label, word in WORDS.items()
    )
    return Cat(id=name, kind=kind, bias_type=bias_type, target=target, context=context, candidates=(one, two, three))


def scores(orders: Mapping[str, tuple[float | None, float | None, float | None]]) -> dict[str, float | None]:
    """Name of a CAT to the scores of its stereotype, anti-stereotype and unrelated candidate, as scores by id."""
    return {f"{name}/{label}": score for name, of in orders.items() for label, score in zip(WORDS, of, strict=True)}
