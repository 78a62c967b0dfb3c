"""Joining CATs with their paraphrases by id, and refusing those that carry the id of another CAT."""

from collections.abc import Iterable
from dataclasses import dataclass

from catsofa.data.records import Candidate, Cat, Refused

ORIGINAL_KIND = "original_kind"
"""In `extra`, the task of the CAT that a control was made of, where its own is another."""


@dataclass(frozen=True, slots=True)
class Joined:
    """CATs with their paraphrases, the paraphrases that are of none or of another, and the CATs without one."""

    pairs: list[tuple[Cat, Cat]]
    refused: list[Refused]
    missing: list[str]


def join(originals: Iterable[Cat], paraphrases: Iterable[Cat]) -> Joined:
    """Pair each paraphrase with the CAT whose id it has."""
    known = {cat.id: cat for cat in originals}
    pairs, refused = [], []
    for paraphrase in paraphrases:
        if reason := _reason(known.get(paraphrase.id), paraphrase):
            refused.append(Refused(id=paraphrase.id, reason=reason, text=paraphrase.context))
        else:
            pairs.append((known[paraphrase.id], paraphrase))
    found = {original.id for original, _ in pairs}
    return Joined(pairs=pairs, refused=refused, missing=[item for item in known if item not in found])


def _reason(original: Cat | None, paraphrase: Cat) -> str:
    """Why these two are no pair, or nothing: a paraphrase keeps task, target, domain and the words filled in."""
    if original is None:
        return "no_original"
    if original.kind != paraphrase.extra.get(ORIGINAL_KIND, paraphrase.kind):
        return "other_kind"
    for name in ("target", "bias_type"):
        if getattr(original, name) != getattr(paraphrase, name):
            return f"other_{name}"
    verdicts = {_fill(candidate, paraphrase[candidate.label]) for candidate in original.candidates}
    return max(verdicts)


def _fill(candidate: Candidate, rephrased: Candidate) -> str:
    """What became of a candidate's fill; one that is known on one side alone must stand in the other's text."""
    known, found = (side.fill.casefold() if side.fill is not None else None for side in (candidate, rephrased))
    if known is not None and found is not None:
        return "" if known == found else "other_fills"
    if known is not None:
        return "" if known in rephrased.text.casefold() else "lost_fills"
    return "" if found is None or found in candidate.text.casefold() else "other_fills"
