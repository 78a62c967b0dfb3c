"""Releases of validated data: only confirmed items, pseudonyms, a data statement, verified by reading the release back.

This module combines two packages: the vote rule of `validation` and the studies of `annotation`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from statistics import fmean
from types import MappingProxyType

from catsofa.annotation.crowd.people.background import Background, published_together
from catsofa.annotation.results import releases
from catsofa.annotation.results.data_statement import Validated, data_statement, works_of
from catsofa.annotation.results.pseudonyms import keyed, numbered, people_of, without_names
from catsofa.annotation.study import Study
from catsofa.data import formats
from catsofa.data.digests import hex_digest
from catsofa.data.files import BadInput
from catsofa.data.files.checksums import sha256_of
from catsofa.data.formats import stereoset
from catsofa.data.judging.accepted import ACCEPTED
from catsofa.data.language.blanks import fill_of
from catsofa.data.records import Annotation, Association, Cat, Probe, Refused, kind_name
from catsofa.data.release import Release, read_release, write_release
from catsofa.data.release.dataset_card import CardFacts
from catsofa.share import judgements
from catsofa.validation.agreement import agreement
from catsofa.validation.annotation_files import collect, onto
from catsofa.validation.decide.confirmed import REVIEW, Rulings, confirm, is_review, reviewed
from catsofa.validation.judgements import Rule, Seats

Item = Cat | Probe | Association
GENRES: dict[type[Item], str] = {
    Cat: "short texts made for the set, a context with three sentences that complete or follow it",
    Probe: "single sentences made for the set",
    Association: "pairs of a group and an attribute",
}


UNJUDGED = (
    "**Nobody judged these items.** They are as programs made them; no person confirmed that a sentence is a "
    "stereotype, or makes sense."
)
"""First paragraph of the card of a set that people have not judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """The written release, the refused items with reasons, and the facts of the data statement."""

    release: Release
    refused: Sequence[Refused]
    validated: Validated
    without_fill: int
    """Intrasentence CATs whose words at the BLANK cannot be recovered; whole sentences can still be scored."""


class NothingConfirmed(ValueError):
    """A split would be empty; `refused` gives the reason for each refused item."""

    def __init__(self, says: str, judged: "Judged") -> None:
        """Sets the message, which names the split, and keeps the reasons."""
        super().__init__(says)
        self.refused = judged.refused


def release(
    splits: Mapping[str, Sequence[Item]],
    annotations: Iterable[Annotation],
    folder: Path,
    facts: CardFacts,
    *,
    secret: str = "",
    rule: Rule | None = None,
    studies: Sequence[Study] = (),
    by: Sequence[str] = (),
    rulings: Rulings = MappingProxyType({}),
    unjudged: bool = False,
) -> Released:
    """Writes the confirmed items with the votes that count, as Parquet and for CATs as StereoSet JSON; reads all back.

    The `secret`, by default that of the first study, gives people the same pseudonyms in all releases. Without a secret
    people are numbered. `by` adds each judgement with these answers of its annotator, k-suppressed. `rulings` are the
    decisions of the studies' owners where votes did not decide. `unjudged` releases all items without any judgement,
    and the card says so. The same input gives the same bytes. Each study records the release.
    """
    secret = secret or (studies[0].settings.secret if studies else "")
    rule = rule or Rule()
    items = [item for some in splits.values() for item in some]
    if unjudged:
        judged = _unjudged(items, [*annotations], studies)
        facts = replace(facts, summary=f"{UNJUDGED} {facts.summary}".rstrip(), tags=(*facts.tags, "unjudged"))
    else:
        judged = validated_items(items, annotations, rule, rulings)
    names = keyed(secret) if secret else numbered(judged.kept)
    named = {item.id: without_names(item, names) for item in judged.kept}
    named_splits = {name: [named[item.id] for item in some if item.id in named] for name, some in splits.items()}
    if empty := [name for name, some in named_splits.items() if not some]:
        raise NothingConfirmed(f"people confirmed no item of {', '.join(empty)}; there is nothing to release", judged)
    facts_judged = _facts_of(judged, len(items), rule)
    works = works_of(studies)
    facts = replace(facts, statement=data_statement(facts_judged, works, facts.language))
    judged_in = judging(studies)
    if by and len(judged_in) != 1:
        raise ValueError(f"groups are those of one study in which people judged, and there are {len(judged_in)}")
    groups = published_together(judged_in[0], {vote.annotator for vote in judged.votes}, by) if by else None
    if groups:
        facts = replace(facts, judgements=judgements.described(groups, len(judged.votes)))

    def also(filling: Path) -> None:
        _second_form(named_splits, filling)
        if groups:
            judgements.write(judged.votes, names, groups, judged_in[0], filling)
        # recorded before the folder is in place, because an unrecorded release could identify people in the next one
        files = sorted(file for file in filling.rglob("*") if file.is_file())
        digest = hex_digest("".join(map(sha256_of, files)))
        if groups:
            Background(judged_in[0]).release("judgements", digest, groups.rows)
        for study, work in zip(studies, works, strict=True):
            if work.said:
                Background(study).release("statement", digest, work.said)
            releases.note(study, facts.pretty_name, str(folder), digest, people_of(judged.kept))

    saved = write_release(named_splits, folder, facts, also=also)
    lost = sum(_fill_is_lost(item) for item in judged.kept)
    return Released(release=saved, refused=judged.refused, validated=facts_judged, without_fill=lost)


def items_of(file: Path) -> list[Item]:
    """Returns the CATs, probes or associations of a file; refuses other records."""
    records = list(formats.read(file))
    for record in records:
        if not isinstance(record, Item):
            raise BadInput(file, kind_name(type(record)), "CATs, paraphrased CATs, probes or associations")
    return records


def judging(studies: Iterable[Study]) -> list[Study]:
    """Returns the studies in which items were judged; all must be of one kind, because kinds have different answers."""
    judging_studies = [study for study in studies if study.kind.judged.asks]
    if len(kinds := {study.kind.judged.name for study in judging_studies}) > 1:
        raise ValueError(f"these studies judged differently ({', '.join(sorted(kinds))}); make a release of each kind")
    return judging_studies


def judgements_of(study: Study) -> Path:
    """Returns the file with the judgements of a study; refuses a study whose judgements were not downloaded."""
    path = study.folder / "annotations.jsonl"
    if not path.is_file() or not path.stat().st_size:
        raise BadInput(study.folder, "no judgements", "a study with answers; catsofa annotate pull brings them home")
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The confirmed items, the other items with reasons, and the votes and seats of the confirmed items."""

    kept: Sequence[Item]
    refused: Sequence[Refused]
    votes: Sequence[Annotation]
    seats: Sequence[Seats]
    adjudicated: frozenset[str]
    """Confirmed items that votes alone do not confirm."""


def _unjudged(items: Sequence[Item], annotations: Sequence[Annotation], studies: Sequence[Study]) -> Judged:
    """Returns all items as they are; raises a ValueError if any item was judged."""
    voted = [item.id for item in items if isinstance(item, Cat) and any(c.votes for c in item.candidates)]
    if annotations or studies or voted:
        problem = "annotations" if annotations else "a study" if studies else f"votes in item {voted[0]}"
        raise ValueError(f"found {problem}; expected items that nobody judged. Leave out --unjudged")
    return Judged(kept=items, refused=(), votes=(), seats=(), adjudicated=frozenset())


def validated_items(
    items: Sequence[Item],
    annotations: Iterable[Annotation],
    rule: Rule,
    rulings: Rulings = MappingProxyType({}),
) -> Judged:
    """Returns the confirmed items: CATs with three confirmed associations, or items that people confirmed as a whole.

    Without annotations, the labels that the CATs contain are the judgements. `rulings` confirm items that votes leave
    undecided.
    """
    judged = list(annotations)
    if is_review(judged):
        review = reviewed(items, judged, rule, rulings)
        ids = {item.id for item in review.kept}
        votes = [v for cast in review.votes.counted.votes.values() for v in cast if v.extra["of"] in ids]
        seats = [review.votes.counted.seats[name] for name in ids]
        ruled = {
            item.id
            for item in review.kept
            for name, ruling in item.extra[REVIEW].items()
            if ruling["label"] is None and name in ACCEPTED[type(item)]
        }
        return Judged(kept=review.kept, refused=review.refused, votes=votes, seats=seats, adjudicated=frozenset(ruled))
    cats = [item for item in items if isinstance(item, Cat)]
    if len(cats) < len(items):
        raise ValueError("no people judged these probes: give the study in which they were judged (--study)")
    confirmed = confirm(onto(cats, collect(judged)) if judged else collect(cats), rule, rulings=rulings)
    counted, decisions = confirmed.votes.counted.votes, confirmed.votes.decisions
    confirmed_cats = []
    for cat in confirmed.kept:
        one, two, three = (replace(candidate, votes=tuple(counted[candidate.id])) for candidate in cat.candidates)
        confirmed_cats.append(replace(cat, candidates=(one, two, three)))
    votes = [vote for cat in confirmed_cats for candidate in cat.candidates for vote in candidate.votes]
    return Judged(
        kept=confirmed_cats,
        refused=confirmed.refused,
        votes=votes,
        seats=[confirmed.seats[cat.id] for cat in confirmed_cats],
        adjudicated=frozenset(
            cat.id for cat in confirmed_cats if any(decisions[c.id].label is None for c in cat.candidates)
        ),
    )


def _facts_of(judged: Judged, items: int, rule: Rule) -> Validated:
    """Returns the facts of the data statement."""
    described = [_about(item) for item in judged.kept]
    # the agreement of judges excludes decisions of the owner
    of_item = {candidate.id: item.id for item in judged.kept if isinstance(item, Cat) for candidate in item.candidates}
    by_votes = [
        vote for vote in judged.votes if str(vote.extra.get("of") or of_item.get(vote.item)) not in judged.adjudicated
    ]
    return Validated(
        items=items,
        kept=len(described),
        adjudicated=len(judged.adjudicated),
        need=rule.need,
        of=rule.of,
        judgements=sum(seats.taken for seats in judged.seats),
        labels=len(judged.votes),
        counted=sorted(Counter(seats.taken for seats in judged.seats).items(), reverse=True),
        missing=sum(seats.missing for seats in judged.seats),
        judges=len({vote.annotator for vote in judged.votes}),
        agreement=agreement(by_votes, resamples=1).percent if by_votes else nan,
        domains=Counter(domain for domain, _, _ in described).most_common(),
        targets=len({(domain, target) for domain, target, _ in described}),
        words=fmean(len(text.split()) for _, _, texts in described for text in texts) if described else nan,
        genre=GENRES[type(judged.kept[0])] if judged.kept else "",
        made_by=Counter(map(_maker, judged.kept)).most_common(),
        asked=tuple(dict.fromkeys(str(v.extra["question"]) for v in judged.votes if "question" in v.extra)),
    )


def _maker(item: Item) -> str:
    """Returns the origin of an item: a builder, or a person in a study."""
    if item.source.get("writer"):
        return "people in a study"
    return str(item.source.get("builder") or "not recorded")


def _about(item: Item) -> tuple[str, str, Sequence[str]]:
    """Returns domain, target and sentences of an item."""
    if isinstance(item, Probe):
        return item.category, item.identity, [item.text]
    if isinstance(item, Association):
        return item.region or "any region", item.identity, [item.attribute]
    return item.bias_type, item.target, [candidate.text for candidate in item.candidates]


def _second_form(splits: Mapping[str, Sequence[Item]], folder: Path) -> None:
    """Writes the StereoSet JSON of CATs beside the Parquet; raises a ValueError unless all reads back as written."""
    for name, items in splits.items():
        if cats := [item for item in items if isinstance(item, Cat)]:
            stereoset.write(cats, folder / f"stereoset-{name}.json")
            _compare(cats, list(stereoset.read(folder / f"stereoset-{name}.json")), f"stereoset-{name}.json")
    for name, records in read_release(folder).items():
        _compare(splits[name], list(records), f"data/{name}.parquet")


def _compare(items: Sequence[Item], copies: Sequence[Item], file: str) -> None:
    """Raises a ValueError unless the copies contain every item with its sentences, labels and votes."""

    def seen(item: Item) -> tuple[object, ...]:
        if isinstance(item, Association):
            return item.identity, item.attribute, item.region, item.votes
        if isinstance(item, Probe):
            return item.category, item.identity, item.text
        return (item.context, *sorted((c.id, c.text, c.label, len(c.votes)) for c in item.candidates))

    before, after = ({item.id: seen(item) for item in some} for some in (items, copies))
    if before != after:
        wrong = next(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        raise ValueError(f"{file} does not read back as it was written: item {wrong!r} differs")


def _fill_is_lost(item: Item) -> bool:
    """Returns True if the words at the BLANK of an intrasentence CAT cannot be recovered from its sentences."""
    if not isinstance(item, Cat) or item.kind == "intersentence":
        return False
    return any(fill_of(item.context, candidate.text) is None for candidate in item.candidates)
