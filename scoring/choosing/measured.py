"""Builds reports from replies: joins replies to records by id, reads them, computes estimates and signs them."""

__all__ = ["report_on"]

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from catsofa.data.digests import DIGITS, FIELD, json_digest
from catsofa.data.files import BadInput, json_files, short
from catsofa.data.files.append_log import refuse_other_lines, sum_of_lines
from catsofa.data.languages.texts import ENGLISH, language_of
from catsofa.data.percentages import quantity
from catsofa.data.runs.manifests import refuse_difference
from catsofa.scoring.choosing import templates
from catsofa.scoring.choosing.asking import ROUNDING
from catsofa.scoring.choosing.each import each
from catsofa.scoring.choosing.estimates import rows_of
from catsofa.scoring.choosing.items import (
    ANTI,
    DECISIONS,
    NEUTRAL,
    OFFERING,
    PROBES,
    QUESTIONS,
    STEREOTYPE,
    WHICH,
    WORDS,
    Item,
    items_from,
)
from catsofa.scoring.choosing.outcomes import said_in
from catsofa.scoring.choosing.replies import ASKED as WHO
from catsofa.scoring.choosing.replies import RECEIVED, REPLIES, Reply, RunReplies, read
from catsofa.scoring.choosing.requests import ORDERS_OF_THREE
from catsofa.scoring.choosing.results import (
    ASSOCIATION,
    DECISION,
    PROTOCOL,
    ChoiceReport,
    answers,
    associations,
    between_identities,
    identities,
    results,
    warnings_of,
)
from catsofa.scoring.dataset import Data, open_data
from catsofa.scoring.run.manifest import CHOICES
from catsofa.scoring.signature import Signature, data_label, hashes_in, predictions_label
from catsofa.scoring.statistics.intervals import RESAMPLES

RUN, REPORT = CHOICES, "report.json"
"""Files of a run's folder: what was asked, and the report."""
MADE_FROM = "made_from"
"""Field of a report for the checksums of its source files; earlier versions did not write it."""
ON = "on"
"""Field of a report for the location of its data; earlier versions did not write it."""
REMEDY = "the file as it was written: restore it, or rerun the command, which asks only for replies that are missing"
ASKED = "what a run of choices asked"


def report_on(
    replies: Path | str, on: Path | str, *, out: Path | str | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> ChoiceReport:
    """Returns the report on recorded replies; with `out`, stores replies with their outcomes and the report there."""
    data = open_data(on)
    known, unknown_ids, items = replies_on(replies, data)
    place = Path(replies).with_name(RUN)
    run = asked_in(place) if Path(replies).name == REPLIES and place.is_file() else {}
    if run and place.with_name(REPORT).is_file():
        read_report(place.parent)
    subset, answered = str(run.get("subset", "")), {reply.item for reply in known}
    if subset == data_label(subset.rpartition("@")[0], json_digest(sorted(answered))):
        items = {item: items[item] for item in answered}
    else:  # another sample than the run's, or no sample
        subset = ""
    return measure(
        known, items, data, str(run.get("model") or predictions_label(replies)), out=out, unknown_ids=unknown_ids,
        resamples=resamples, seed=seed, how=run.get("how"), subset=subset,
    )  # fmt: skip


def replies_on(path: Path | str, data: Data) -> tuple[list[Reply], int, dict[str, Item]]:
    """Returns a file's replies about items of the data, the number of others, and all items of their question."""
    items = items_of(data)
    if next(iter(items.values())).kind in (PROBES, WORDS):
        items |= {item.id: item for item in items_from(data.records(), second=True)}
    known, unknown_ids = _checked(read(path), items, path)
    kinds = sorted({items[reply.item].kind for reply in known})
    if len(kinds) > 1:
        raise BadInput(path, f"replies to {' and '.join(kinds)}", "replies to one question; measure them apart")
    return known, unknown_ids, {name: item for name, item in items.items() if item.kind == kinds[0]}


def items_of(data: Data, *, second: bool = False) -> dict[str, Item]:
    """Returns the records of a data set as choices, by id; `second` asks the other question about probes or tests."""
    by_id = {item.id: item for item in items_from(data.records(), second=second)}
    if not by_id and second:
        raise BadInput(data.on or data.label, "no statement about two identities", "a statement about each of them")
    if not by_id:
        raise BadInput(data.on or data.label, "no records", OFFERING)
    return by_id


def _checked(
    numbered: Iterable[tuple[int, Reply]], items: Mapping[str, Item], path: Path | str
) -> tuple[list[Reply], int]:
    """Returns replies about items of the data, and the number of others; refuses misfit orders and probabilities."""
    known, unknown_ids = [], 0
    for number, reply in numbered:
        item = items.get(reply.item)
        if item is None:
            unknown_ids += 1
            continue
        alone = item.kind in ("", PROBES) and reply.order in ((STEREOTYPE,), (ANTI,))
        shown = [option for option in reply.order if option != NEUTRAL or item.kind == QUESTIONS]
        if not (alone or sorted(shown) == sorted(item.texts)):
            expected = f"all of {', '.join(item.texts)} in their order"
            expected += f", or one of {STEREOTYPE} and {ANTI} alone" if item.kind in ("", PROBES) else ""
            raise BadInput(path, f"the order {short(', '.join(reply.order))} of item {item.id}", expected, number)
        if reply.probabilities is not None:
            options = [STEREOTYPE, ANTI] if alone else [*item.texts, *([NEUTRAL] if reply.neutral else [])]
            if fault := unfit_probabilities(reply.probabilities, options):
                expected = f"a number from 0 to 1 for each of {', '.join(options)}, in all above 0 and at most 1"
                raise BadInput(path, f"probabilities of item {item.id} {fault}", expected, number)
        known.append(reply)
    if not known:
        problem = f"{quantity(unknown_ids, 'reply').replace('replys', 'replies')}, none about an item of the data"
        raise BadInput(path, problem, "replies whose `item` is the id of a record of --on")
    return known, unknown_ids


def unfit_probabilities(probabilities: Mapping[str, float], options: Sequence[str]) -> str:
    """Returns what is wrong with the probabilities of these options; empty if nothing is."""
    if sorted(probabilities) != sorted(options):
        return f"of {', '.join(probabilities) or 'no option'}"
    if not all(isfinite(value) and value >= 0 for value in probabilities.values()):
        return "that are below 0 or no numbers"
    whole = sum(probabilities.values())
    return "" if 0 < whole <= 1 + ROUNDING else f"with the total {whole:g}"


def missing(replies: Iterable[Reply]) -> int:
    """Counts missing replies: an item with a reply should have every sample and as many orders as the fullest item."""
    orders: dict[str, Counter[tuple[str, int]]] = defaultdict(Counter)
    samples: dict[str, set[int]] = defaultdict(set)
    items = set()
    for reply in replies:
        items.add(reply.item)
        orders[reply.template][reply.item, reply.sample] += 1
        samples[reply.template].add(reply.sample)
    return sum(
        len(items) * len(samples[name]) * max(counts.values()) - counts.total() for name, counts in orders.items()
    )


def measure(
    replies: Sequence[Reply],
    items: Mapping[str, Item],
    data: Data,
    model: str,
    *,
    out: Path | str | None = None,
    unknown_ids: int = 0,
    resamples: int = RESAMPLES,
    seed: int = 0,
    how: Mapping[str, Any] | None = None,
    subset: str = "",
    told: Iterable[str] = (),
    cost: Mapping[str, Any] | None = None,
) -> ChoiceReport:
    """Reads replies, estimates, and signs; with `out`, stores them in the folder of a run.

    `how` holds further options that the replies depend on, with the labels of templates as its `wordings`; `subset`
    names the records that were asked about; `told` holds warnings from asking, and `cost` what it cost.
    """
    if len({reply.neutral for reply in replies}) > 1:
        raise ValueError("found replies with and without a neutral option; measure them apart: they are two protocols")
    outcomes = [with_outcome(reply, items[reply.item]) for reply in replies]
    kind = items[replies[0].item].kind
    signature = _signature(replies, kind, data, model, resamples, seed, how or {})
    signature = replace(signature, subset=subset or data.subset)
    rows = rows_of(outcomes, items)
    values = results(rows, resamples=resamples, seed=seed)
    drawn: dict[str, Any] = {"resamples": resamples, "seed": seed}
    if kind == QUESTIONS:
        values = replace(values, further={"answers": answers(outcomes, items, rows, **drawn)})
    if kind == WORDS:
        values = replace(values, further={"associations": associations(rows, ASSOCIATION, **drawn)})
    if kind == DECISIONS:
        values = replace(values, further={"decisions": associations(rows, DECISION, **drawn)})
    if kind == PROBES:
        values = replace(values, further={"identities": identities(rows, **drawn)})
    if kind == WHICH:
        values = between_identities(values, rows, [items[reply.item].texts[ANTI][0] for reply in replies], **drawn)
    unasked = len(items) - values.overall.items
    report = ChoiceReport(
        results=values,
        signature=signature,
        unknown_ids=unknown_ids,
        unasked=unasked,
        warnings=(
            *data.warnings,
            *told,
            *_about(unknown_ids, unasked, missing(replies)),
            *_asked_in_english(replies, data),
            *warnings_of(values),
        ),
        cost=cost,
        each=tuple(each(outcomes, items)),
    )
    if out:
        keep(outcomes, report, Path(out), how or {}, data.on)
    return report


def with_outcome(reply: Reply, item: Item) -> Reply:
    """Returns a reply with its outcome, the option that it names, and the sets in which it counts."""
    answer, shares = said_in(reply, item)
    outcome, chosen = item.outcome(answer), item.chosen(answer)
    return replace(reply, probabilities=shares, outcome=outcome, chosen=chosen, domain=item.domain, group=item.group)


def _about(unknown_ids: int, unasked: int, missed: int) -> Iterator[str]:
    """Yields warnings about replies to unknown items, and about items and requests without a reply."""
    if unknown_ids:
        yield f"replies about items that are not in the data: {unknown_ids:,}; they are left out"
    if unasked:
        yield f"items of the data without a reply: {unasked:,}"
    if missed:
        yield f"requests without a reply, about items with others: {missed:,}; items count by those they have"


def _asked_in_english(replies: Sequence[Reply], data: Data) -> Iterator[str]:
    """Yields a warning if bundled templates ask in English about records in another language."""
    names = sorted({reply.template for reply in replies} & set(templates.BUNDLED))
    languages = Counter(map(language_of, data.records()))
    foreign = ", ".join(f"{code} {count:,}" for code, count in languages.items() if code != ENGLISH)
    if names and foreign:
        yield (
            f"the templates {', '.join(names)} ask in English about records in another language ({foreign}); "
            "--templates FILE asks in theirs"
        )


def _signature(
    replies: Sequence[Reply], kind: str, data: Data, model: str, resamples: int, seed: int, how: Mapping[str, Any]
) -> Signature:
    """Returns the signature; the hash of the options covers wordings, labels, orders and samples."""
    three = Counter((one.item, one.template, one.sample) for one in replies if len({*one.order} - {NEUTRAL}) > 2)
    balanced = {"orders_of_three": max(three.values())} if three and max(three.values()) < ORDERS_OF_THREE else {}
    options = {
        **asked_of_each(replies, how),
        **balanced,
        "probabilities": any(reply.probabilities for reply in replies),
        **{name: value for name, value in how.items() if name not in ("wordings", "dtype")},
    }
    return Signature(
        data=data.name,
        model=model,
        protocol="-".join([PROTOCOL, *([kind] if kind else []), *(["neutral"] if replies[0].neutral else [])]),
        options=json_digest(options, DIGITS),
        dtype=str(how.get("dtype", "")),
        seed=seed,
        resamples=resamples,
        version=version("catsofa"),
    )


def asked_of_each(replies: Sequence[Reply], how: Mapping[str, Any]) -> dict[str, Any]:
    """Returns how each item was asked about, whatever the model: wordings, labels, options and samples."""
    wordings = {name: templates.bundled(name).label for name in templates.BUNDLED} | how.get("wordings", {})
    return {
        "templates": [wordings.get(name, name) for name in sorted({reply.template for reply in replies})],
        "labels": sorted({reply.labels for reply in replies}),
        "orders": sorted({len({*reply.order} - {NEUTRAL}) for reply in replies}),
        "samples": 1 + max(reply.sample for reply in replies),
    }


def keep(
    replies: Sequence[Reply], report: ChoiceReport, folder: Path, how: Mapping[str, Any], on: str | None = None
) -> None:
    """Writes the folder of a run: what was asked and how, every reply with its outcome, and the report.

    The report in the folder also contains the location of its data (`on`).
    """
    signed = report.signature
    facts: dict[str, Any] = {
        "data": signed.data,
        "model": signed.model,
        "protocol": signed.protocol,
        "options": signed.options,
    }
    facts |= {name: value for name, value in (("subset", signed.subset), ("how", dict(how))) if value}
    place = folder / RUN
    if place.exists():
        refuse_difference(folder, "run", asked_in(place), facts)
    folder.mkdir(parents=True, exist_ok=True)
    json_files.write(json_files.sealed(facts), place)
    with RunReplies(folder) as stored:
        stored.add(*replies)
    parts = (folder / name for name in (RUN, WHO, RECEIVED, REPLIES))
    made_from = {path.name: sum_of_lines(path) for path in parts if path.is_file()}
    content = {**json_files.finite(report.to_dict()), ON: on, MADE_FROM: made_from}
    json_files.write(json_files.sealed(content), folder / REPORT)


def read_report(folder: Path) -> dict[str, Any]:
    """Reads the report of a run, and checks it against its checksum and its source files."""
    place = folder / REPORT
    report = json_files.Node(json_files.read(place, "a report"), place, "a report").fields()
    json_files.check_seal(report, place, REMEDY)
    for name, held in report.get(MADE_FROM, {}).items():
        refuse_other_lines(folder / name, held, REMEDY)
    asked_in(folder / RUN)
    return report


def asked_in(place: Path) -> dict[str, Any]:
    """Reads what a run asked, checks its checksum, and returns it without the checksum."""
    document = json_files.Node(json_files.read(place, ASKED), place, ASKED).fields()
    json_files.check_seal(document, place, "restore the file, or measure into another --out")
    return {name: value for name, value in document.items() if name != FIELD}


class Kept(NamedTuple):
    """Content of a run's folder; its replies have their outcomes."""

    report: Mapping[str, Any]
    asked: Mapping[str, Any]
    replies: list[Reply]
    items: dict[str, Item]
    """Every item of the run's question, with or without a reply."""


def kept_in(run: Path, data: Data, *, again: bool = True) -> Kept:
    """Returns the content of a run on these data; `again` reads the replies again instead of using stored outcomes."""
    report, facts = read_report(run), asked_in(run / RUN)
    if hashes_in(facts["data"]) != hashes_in(data.name):
        raise BadInput(run, f"choices from other data ({facts['data']}) than {data.name}", "--on with the run's data")
    replies, _, items = replies_on(run / REPLIES, data)
    outcomes = [with_outcome(one, items[one.item]) if again or not one.outcome else one for one in replies]
    return Kept(report, facts, outcomes, items)
