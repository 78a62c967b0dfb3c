"""What came of each CAT in a run, read again from its folder: for what a report shows item by item."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

from catsofa.data.records import Cat
from catsofa.report.inputs import Finished
from catsofa.scoring.measures.cat_outcomes import Outcomes, outcomes
from catsofa.scoring.protocols import DEFAULT, PRESETS, Protocol
from catsofa.scoring.run.origins import data_of
from catsofa.scoring.run.score_files import cats_on, scores_of, unknown_in


class NotThere(ValueError):
    """The items of a run cannot be had: only its numbers were given, its data moved, or its protocol has no name."""


def cats(run: Finished) -> list[Cat]:
    """The CATs that a run scored, from where it read them."""
    if not run.kept:
        raise NotThere(f"{run.folder} holds no score of single items; give the folder of `catsofa score --out`")
    try:
        first = run.signature.subset.partition("@")[0].removeprefix("first ")
        return list(islice(cats_on(data_of(run.folder)), int(first) if first else None))
    except ValueError as error:
        raise NotThere(str(error)) from None


def protocol(run: Finished) -> Protocol:
    """The protocol of a run: a preset, perhaps with other options, which its signature vouches for."""
    signature = run.signature
    scored_by = run.manifest.get("identity", {}).get("protocol", {})
    before = replace(DEFAULT, ties="half")  # as runs of earlier versions were measured
    for preset in (PRESETS.get(signature.protocol, DEFAULT), *PRESETS.values(), before):
        found = replace(preset, name=signature.protocol, seed=signature.seed)
        if signature.options in ("", found.digest):
            return found
        found = replace(found, **{option: way for option, way in scored_by.items() if hasattr(found, option)})
        if signature.options == found.digest:
            return found
    raise NotThere(f"{run.folder} was scored by a protocol {signature.protocol!r} with options of its own")


def of_cats(run: Finished, of: list[Cat]) -> Outcomes:
    """What the run's scores make of these CATs, by its protocol."""
    chosen = protocol(run)
    folder = Path(run.folder)
    return outcomes(of, scores_of(folder), ties=chosen.ties, rule=chosen.rule, unknown=unknown_in(folder))
