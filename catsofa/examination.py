"""Examines items: converts runs and files of scores to a matrix of items × models."""

__all__ = ["examine"]

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from catsofa.data.files import jsonl, listed
from catsofa.data.percentages import quantity
from catsofa.data.records import AssociationTest, Cat, Pair, Probe
from catsofa.data.statistics import Array
from catsofa.report.inputs import data_of_choices, places_in, read
from catsofa.report.inputs import protocol as protocol_of
from catsofa.scoring.choosing.each import shares
from catsofa.scoring.choosing.items import DECISIONS, WHICH, WORDS
from catsofa.scoring.choosing.replies import ASKED
from catsofa.scoring.compare.choosing import SAMPLES, TEMPLATES, Side, joined, sides_on, signature_of
from catsofa.scoring.examine import RESAMPLES, Examination, Flag, ItemMatrix, Levels
from catsofa.scoring.examine import examine as examined
from catsofa.scoring.measures import crows_pairs
from catsofa.scoring.measures.cat_outcomes import outcomes
from catsofa.scoring.measures.registry import Given, called
from catsofa.scoring.measures.sofa.grid import grids, log_ppl_star, variances
from catsofa.scoring.protocols import DEFAULT, Protocol
from catsofa.scoring.run.manifest import CHOICES, MANIFEST
from catsofa.scoring.run.origins import by_protocol
from catsofa.scoring.run.reports import Unfinished, read_report, subset_in
from catsofa.scoring.run.score_files import Models, models_on
from catsofa.scoring.signature import joint_subset, without_hashes
from catsofa.validation.lint import Report
from catsofa.validation.lint.rule import Finding, Severity

TWO = "expected two or more, since items are judged by what sets models apart"
TAKES = "CATs, CrowS-Pairs, probes, association tests, or runs of choose"
MARGINS = "margins"
CHOSEN = "runs of choose"
SEVERITIES: dict[str, Severity] = {"E1": "info", "E2": "warning", "E3": "warning"}

Row = tuple[str, str, str, str]
"""Item, task, domain and term."""
Column = Mapping[str, float]
"""The value of each item by one model."""


def examine(
    scores: Path | str | Iterable[Path | str],
    on: Path | str | None = None,
    *,
    protocol: str = "catsofa",
    resamples: int = RESAMPLES,
    seed: int | None = None,
    groups: Sequence[str] = (),
    short: int = 0,
    out: Path | str | None = None,
    margins: bool = False,
) -> Examination:
    """Measures how well the items of a data set discriminate between these models.

    `scores` are runs of two models or more, folders with runs, or files of scores. Files need `on`, and runs of
    `choose` whose data moved. If every model has several protocols, prompts or samples, they are a facet: models ×
    items × levels. Each of `groups` is a part of model names; its models are compared with the others item by item.
    `short` is the number of items of each task in a short form, chosen to predict the models' scores on all items;
    `out` receives them as JSONL.
    With `margins`, the value of a CAT or a pair is the difference of its two scores instead of the preferred side.
    """
    if out is not None and not short:
        raise ValueError(f"{out} would hold a short form, but its length is not named; expected `short`, 2 or more")
    paths = [place for path in listed(scores) for place in _runs(path)]
    if len(paths) < 2:
        raise ValueError(f"found {quantity(len(paths), 'model')}; {TWO}")
    if _kind_of(paths) == CHOSEN:
        if margins:
            raise ValueError("found runs of `catsofa choose`, whose choices have no margins; expected runs of `score`")
        place = on if on is not None else data_of_choices(read(paths[0])).on
        assert place is not None
        data, sides = sides_on(paths, place, free=(TEMPLATES, SAMPLES))
        if len(sides := joined(paths, sides)) < 2:
            raise ValueError(f"found {quantity(len(paths), 'run')} of one model ({sides[0].model}); {TWO}")
        matrix, notes = _of_choices(sides)
        how = {"resamples": resamples, "seed": seed or 0}
        result = examined(matrix, **how, groups=groups, short=short)
        if out is not None:
            _write_short(result, data.records(), out)
        signature = signature_of(data.name, sides, len(matrix.items), how)
        return replace(result, signature=signature, warnings=(*result.warnings, *notes))
    protocols = by_protocol(paths)
    if protocols:
        loaded, matrix, notes = _of_protocols(protocols, on, protocol, seed, margins)
    else:
        loaded = models_on(paths, on, protocol=protocol, seed=seed)
        matrix, notes = _of_scores(loaded, paths, margins)
    result = examined(matrix, resamples=resamples, seed=loaded.protocol.seed, groups=groups, short=short)
    if out is not None:
        _write_short(result, loaded.records, out)
    signature = replace(loaded.signature, resamples=resamples, way=MARGINS if margins else loaded.signature.way)
    if any(subsets := list(map(subset_in, paths))):
        common = int(np.isfinite(matrix.values).all(axis=1).sum())
        signature = replace(signature, subset=joint_subset(subsets, [common]))
    return replace(result, signature=signature, warnings=(*result.warnings, *notes, *loaded.warnings))


def _write_short(result: Examination, records: Iterable[Any], out: Path | str) -> None:
    """Writes the records of the short forms in their order; for probes, all probes of a chosen stereotype."""
    forms = {task: part.short for task, part in result.parts.items()}
    if lacking := [f"{task}: {result.parts[task].undefined['short']}" for task, form in forms.items() if form is None]:
        raise ValueError(f"no short form for {out}: {'; '.join(lacking)}")
    chosen = {item for form in forms.values() if form for item in form.items}
    names = ((f"{one.category}: {one.stereotype}" if isinstance(one, Probe) else one.id, one) for one in records)
    jsonl.write([record for name, record in names if name in chosen], Path(out))


def _runs(path: Path) -> list[Path]:
    """Returns a file or a run as it is; for another folder, the runs below it."""
    if not path.is_dir() or (path / MANIFEST).is_file() or (path / CHOICES).is_file():
        return [path]
    return places_in(path)


def _kind_of(paths: Sequence[Path]) -> str:
    """Returns the kind of these paths: runs of choose, or scores; refuses a mixture, because a choice is no score."""
    kinds: dict[str, list[Path]] = {}
    for path in paths:
        if (path / ASKED).is_file() and not (path / CHOICES).is_file():
            raise Unfinished(path, "a run that is not finished", "a finished run: run the same choose command again")
        kind = CHOSEN if (path / CHOICES).is_file() else "runs of score" if path.is_dir() else "files of scores"
        kinds.setdefault(kind, []).append(path)
    if CHOSEN in kinds and len(kinds) > 1:
        named = "; ".join(f"{kind}: {', '.join(map(str, group))}" for kind, group in kinds.items())
        raise ValueError(
            f"found choices and scores, which are other numbers of an item ({named}); expected either. Examine each "
            "kind in a command of its own"
        )
    return next(iter(kinds))


def _of_protocols(
    runs: Mapping[str, Sequence[Path]], data_path: Path | str | None, protocol: str, seed: int | None, margins: bool
) -> tuple[Models, ItemMatrix, tuple[str, ...]]:
    """Returns the mean over protocols with a facet of the scores by each protocol, and warnings.

    Each run is read by its own protocol.
    """
    called = " and ".join(runs)
    if protocol != DEFAULT.name:
        raise ValueError(
            f"found the protocol {protocol} for runs by {called}; expected none, since each run is read by its own. "
            "Leave it out"
        )
    if len(next(iter(runs.values()))) < 2:
        raise ValueError(f"found 1 model, by {called}; {TWO}")
    each, parts, notes = [], [], list[str]()
    for paths in runs.values():
        own = protocol_of(read(paths[0]))
        loaded = models_on(paths, data_path, protocol=own if seed is None else replace(own, seed=seed))
        matrix, sentences = _of_scores(loaded, paths, margins)
        each.append(loaded)
        parts.append(matrix)
        notes += [*sentences, *loaded.warnings]
    if margins or not parts[0].preferences:
        raise ValueError(
            f"found scores by {called}, which may have several units; expected runs of one protocol, or CATs or pairs "
            "without margins, where a value is the side that a model prefers"
        )
    values = np.stack([one.values for one in parts], axis=2)
    facet, alike = Levels(name="protocol", levels=tuple(runs), values=values).settled(parts[0].tasks)
    first, signatures = each[0], [loaded.signature for loaded in each]
    signature = replace(
        first.signature,
        protocol=" ".join(runs),
        options=" ".join(one.options for one in signatures),
        dtype=first.signature.dtype if len({one.dtype for one in signatures}) == 1 else "",
    )
    matrix = replace(parts[0], values=facet.means(parts[0].tasks), facets=(facet,))
    return replace(first, signature=signature, warnings=()), matrix, tuple(dict.fromkeys([*alike, *notes]))


def _of_scores(models: Models, paths: Sequence[Path], margins: bool) -> tuple[ItemMatrix, tuple[str, ...]]:
    """Returns the matrix of scores, and warnings."""
    kind = type(models.records[0])
    if margins and kind not in (Cat, Pair):
        raise ValueError(f"found {called(kind)}, whose items have scores and no margins; expected CATs or pairs")
    if kind is AssociationTest:
        reports = [{row["test"]: row for row in read_report(path)["results"]} for path in paths]
        columns: list[Column] = [
            {test: float("nan") if row["effect_size"] is None else row["effect_size"] for test, row in report.items()}
            for report in reports
        ]
        effects = _joined([(test.id, "tests", "", test.id) for test in models.records], columns, list(models.given))
        return replace(effects, preferences=False), ()
    if kind is Probe:
        return _of_probes(models)
    makers: Mapping[type[Any], Callable[[Sequence[Any], Given, Protocol], tuple[list[Row], Column]]] = {
        Cat: _of_cats,
        Pair: _of_pairs,
    }
    if kind not in makers:
        raise ValueError(f"found {called(kind)}; expected {TAKES}, whose items have a score of each model")
    parts = [makers[kind](models.records, score_set, models.protocol) for score_set in models.given.values()]
    columns = [column for _, column in parts]
    if margins:
        columns = [_margins(models.records, score_set) for score_set in models.given.values()]
    matrix = replace(_joined(parts[0][0], columns, list(models.given)), preferences=not margins)
    if kind is Cat:
        votes = [[(vote.label, c.label) for c in cat.candidates for vote in c.votes] for cat in models.records]
        shares = [fmean(one == label for one, label in of_cat) if of_cat else nan for of_cat in votes]
        matrix = replace(matrix, people=np.array(shares))
    return matrix, ()


def _joined(rows: Sequence[Row], columns: Sequence[Column], models: Sequence[str]) -> ItemMatrix:
    """Joins columns by item; an item that a model lacks is NaN."""
    items, tasks, domains, terms = (np.array(names, dtype=np.str_) for names in zip(*rows, strict=True))
    values = [[column.get(item, float("nan")) for column in columns] for item in items.tolist()]
    return ItemMatrix(
        values=np.array(values, dtype=np.float64),
        models=tuple(models),
        items=items,
        tasks=tasks,
        domains=domains,
        terms=terms,
    )


def _of_cats(cats: Sequence[Cat], score_set: Given, _: Protocol) -> tuple[list[Row], Column]:
    """Returns 1 where the stereotype scores above the anti-stereotype, 0 below, ½ for a tie."""
    results = outcomes(cats, score_set.numbers(), ties="half", error=score_set.error)
    return [(cat.id, cat.kind, cat.bias_type, cat.target) for cat in cats], _column(results.ids, results.prefers)


def _of_pairs(pairs: Sequence[Pair], score_set: Given, protocol: Protocol) -> tuple[list[Row], Column]:
    """Returns 1 if the more stereotyping sentence scores higher, 0 if lower, ½ for a tie; each pair is a cluster."""
    sides, rounding = crows_pairs.by_pair(score_set.scores), protocol.crows_pairs.rounding
    results = crows_pairs.preferences(pairs, sides, ties="half", rounding=rounding, error=score_set.error)
    rows = [(pair.id, "pairs", pair.bias_type, pair.id) for pair in pairs]
    return rows, _column([pair.id for pair in pairs], np.where(results.scored, results.won, np.nan))


def _of_probes(loaded: Models) -> tuple[ItemMatrix, tuple[str, ...]]:
    """Returns the variance of log PPL* of each stereotype, whose mean is the SoFa score; categories are tasks.

    A stereotype uses only the identities that every model with a variance there has scored, because variances over
    different identities are not comparable.
    """
    options, rows, blocks, dropped = loaded.protocol.sofa, list[Row](), [], 0
    models = [grids(loaded.records, score_set.scores) for score_set in loaded.given.values()]
    for parts in zip(*models, strict=True):
        values = np.stack(
            [
                log_ppl_star(part.means, options.normalisation, log_base=options.log_base, digits=options.ppl_digits)
                for part in parts
            ]
        )
        scored = np.isfinite(values)
        counts = scored.sum(axis=2, keepdims=True) > max(options.ddof, 1)
        shared = (scored | ~counts).all(axis=0)
        dropped += int(((scored & counts).any(axis=0) & ~shared).sum())
        blocks.append(np.stack([variances(np.where(shared, one, np.nan), options.ddof) for one in values]))
        category = parts[0].category
        rows += [(name := f"{category}: {stereotype}", category, "", name) for stereotype in parts[0].stereotypes]
    columns = [dict(zip((row[0] for row in rows), column.tolist(), strict=True)) for column in np.hstack(blocks)]
    note = f"{quantity(dropped, 'probe')} of {len(loaded.records):,} left out: not every model scored them"
    return replace(_joined(sorted(rows), columns, list(loaded.given)), preferences=False), (note,) if dropped else ()


def _margins(records: Sequence[Cat | Pair], score_set: Given) -> Column:
    """Returns the score of each stereotype minus that of the anti-stereotype; for a pair, of its two sides."""
    sides = crows_pairs.by_pair(score_set.scores)
    numbers = score_set.numbers()
    both = {
        one.id: tuple(numbers.get(one[label].id) for label in ("stereotype", "anti-stereotype"))
        if isinstance(one, Cat)
        else sides.get(one.id, (None, None))
        for one in records
    }
    return {item: nan if more is None or less is None else more - less for item, (more, less) in both.items()}


def _column(items: Iterable[str], values: Array) -> Column:
    """Returns values by item."""
    return dict(zip(map(str, items), values.tolist(), strict=True))


def _of_choices(sides: Sequence[Side]) -> tuple[ItemMatrix, tuple[str, ...]]:
    """Returns the share of the stereotype among the choices of each item, as the mean of both orders, and warnings.

    An item without a choice in one of the orders is unscored, because position might have decided it. Several prompts
    are a facet, and so are several samples; the shares of a level are over all levels of the other facet. The value of
    an item is the mean over prompts. It is missing if a prompt has no value, because the other prompts would replace
    it.
    """
    open_items = {name: item for side in sides for name, item in side.items.items() if item.open}
    if (kind := next(iter(open_items.values())).kind if open_items else WHICH) in (WHICH, WORDS, DECISIONS):
        raise ValueError(f"found choices of {kind}; expected choices between a stereotype and its opposite: {TAKES}")
    each = [(side.rows, list(side.replies.values())) for side in sides]
    rows_of_items = [(item.id, item.kind or "choices", item.domain, item.cluster) for item in open_items.values()]
    models = [side.model for side in sides]
    matrix = _joined(rows_of_items, [shares(rows) for rows, _ in each], models)
    levels = {
        "prompt": [np.array([reply.template for reply in replies]) for _, replies in each],
        "sample": [np.array([str(1 + reply.sample) for reply in replies]) for _, replies in each],
    }
    facets, notes = [], list[str]()
    for name, of_model in levels.items():
        if len(names := list(dict.fromkeys(of_model[0].tolist()))) < 2:
            continue
        values = [
            _joined(
                rows_of_items,
                [shares(rows.take(assigned == level)) for (rows, _), assigned in zip(each, of_model, strict=True)],
                models,
            ).values
            for level in names
        ]
        short = list(map(without_hashes, names))
        called = tuple(short if len(set(short)) == len(short) else names)
        facet = Levels(name=name, levels=called, values=np.stack(values, axis=2), nested=name == "sample")
        settled, sentences = facet.settled(matrix.tasks)
        facets.append(settled)
        notes += sentences
        if not facet.nested:
            matrix = replace(matrix, values=settled.means(matrix.tasks))
    return replace(matrix, facets=tuple(facets)), tuple(notes)


def findings(flags: Iterable[Flag]) -> Report:
    """Returns the flagged items as a report of lint, those below chance first."""
    flagged = [
        Finding(rule=flag.rule, severity=SEVERITIES[flag.rule], item=flag.item, message=flag.message) for flag in flags
    ]
    return Report(findings=sorted(flagged, key=lambda one: one.rule, reverse=True), ran=list(SEVERITIES), missing={})
