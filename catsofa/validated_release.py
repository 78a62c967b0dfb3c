"""A release of what people validated: the confirmed items alone, names hidden, a data statement, checked by reading it.

Here rooms meet: the vote rule of `validation` and the studies of `annotation`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from statistics import fmean

from catsofa.annotation.pseudonyms import without_names
from catsofa.annotation.statement import Validated, Work, data_statement
from catsofa.data import stereoset_format
from catsofa.data.blanks import fill_of
from catsofa.data.dataset_card import CardFacts
from catsofa.data.records import Annotation, Cat, Refused
from catsofa.data.release import Release, read_release, write_release
from catsofa.validation.agreement import agreement
from catsofa.validation.collected import collect, onto
from catsofa.validation.confirmed import confirm
from catsofa.validation.judgements import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """What was written, what was held back and why, and what the statement rests on."""

    release: Release
    refused: Sequence[Refused]
    validated: Validated
    without_fill: int
    """Intrasentence CATs in which the words at the BLANK cannot be told; whole sentences can still be scored."""


def release(
    splits: Mapping[str, Sequence[Cat]],
    annotations: Iterable[Annotation],
    folder: Path,
    facts: CardFacts,
    *,
    secret: str,
    rule: Rule | None = None,
    works: Sequence[Work] = (),
) -> Released:
    """Write the confirmed CATs as Parquet and StereoSet JSON with the votes that count, and read both again."""
    rule = rule or Rule()
    cats = [cat for some in splits.values() for cat in some]
    kept, refused, votes = validated_cats(cats, annotations, rule)
    named = {cat.id: without_names(cat, secret) for cat in kept}
    written = {name: [named[cat.id] for cat in some if cat.id in named] for name, some in splits.items()}
    if empty := [name for name, some in written.items() if not some]:
        raise ValueError(f"nobody confirmed a CAT of {', '.join(empty)}; there is nothing to release")
    seen = _validated(kept, votes, len(cats), rule)
    statement = data_statement(seen, works, facts.language)
    made = write_release(
        written, folder, replace(facts, statement=statement), also=lambda filling: _second_form(written, filling)
    )
    lost = sum(_fill_is_lost(cat) for cat in kept)
    return Released(release=made, refused=refused, validated=seen, without_fill=lost)


def validated_cats(
    cats: Sequence[Cat], annotations: Iterable[Annotation], rule: Rule
) -> tuple[list[Cat], list[Refused], list[Annotation]]:
    """The CATs whose three associations the judges confirm, with the votes that count; the others with the reason.

    Where there are no annotations, the labels that the CATs carry are the judgements.
    """
    judged = list(annotations)
    found = confirm(onto(cats, collect(judged)) if judged else collect(cats), rule)
    votes = found.votes.counted.votes
    kept = []
    for cat in found.kept:
        one, two, three = (replace(candidate, votes=tuple(votes[candidate.id])) for candidate in cat.candidates)
        kept.append(replace(cat, candidates=(one, two, three)))
    counted = [vote for cat in kept for candidate in cat.candidates for vote in candidate.votes]
    return kept, list(found.refused), counted


def _validated(kept: Sequence[Cat], votes: Sequence[Annotation], items: int, rule: Rule) -> Validated:
    """The facts of the data statement."""
    domains = Counter(cat.bias_type for cat in kept)
    return Validated(
        items=items,
        kept=len(kept),
        need=rule.need,
        of=rule.of,
        judgements=len(votes),
        judges=len({vote.annotator for vote in votes}),
        agreement=agreement(votes, resamples=1).percent if votes else nan,
        domains=domains.most_common(),
        targets=len({(cat.bias_type, cat.target) for cat in kept}),
        words=fmean(len(c.text.split()) for cat in kept for c in cat.candidates) if kept else nan,
    )


def _second_form(written: Mapping[str, Sequence[Cat]], folder: Path) -> None:
    """Write the StereoSet JSON beside the Parquet, and refuse the release unless both read back as what was written."""
    for name, cats in written.items():
        stereoset_format.write(cats, folder / f"stereoset-{name}.json")
        _compare(cats, list(stereoset_format.read(folder / f"stereoset-{name}.json")), f"stereoset-{name}.json")
    for name, records in read_release(folder).items():
        _compare(written[name], list(records), f"data/{name}.parquet")


def _compare(cats: Sequence[Cat], read: Sequence[Cat], file: str) -> None:
    """A ValueError unless every CAT is there with its three sentences, labels and votes."""

    def seen(cat: Cat) -> tuple[object, ...]:
        return (cat.context, *sorted((c.id, c.text, c.label, len(c.votes)) for c in cat.candidates))

    before, after = ({cat.id: seen(cat) for cat in some} for some in (cats, read))
    if before != after:
        wrong = next(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        raise ValueError(f"{file} does not read back as it was written: CAT {wrong!r} differs")


def _fill_is_lost(cat: Cat) -> bool:
    """Whether the words at the BLANK of an intrasentence CAT cannot be told from its sentences."""
    return cat.kind == "intrasentence" and any(fill_of(cat.context, c.text) is None for c in cat.candidates)
