"""A model that knows the labelled sentences of `filter acceptability`, because no small real model may filter."""

from collections.abc import Sequence
from typing import Any

from catsofa.builders.cats.acceptability import Around
from catsofa.data.language.wordlists import table

BAD = {row["context"].replace("BLANK", row["bad"]) for row in table("acceptability.csv")}


def grammarian(name: str) -> Any:
    """Returns a model that knows the labelled sentences and refuses the fill `bandit`."""

    def likelihood(texts: Sequence[Around]) -> list[float]:
        return [-5.0 if one.text in BAD or one.text[slice(*one.fill)] == "bandit" else -2.0 for one in texts]

    return likelihood, {"model": name, "digest": "sha256:0"}
