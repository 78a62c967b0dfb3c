"""Runs and files of scores as a matrix of items × models, and what it says of the items."""

__all__ = ["examine"]

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from catsofa.data.files import BadInput, jsonl
from catsofa.data.percentages import quantity
from catsofa.data.records import AssociationTest, Cat, Pair, Probe
from catsofa.data.statistics import Array
from catsofa.report.inputs import places_in, read
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
"""What one model makes of each item."""


def examine(
    scores: Sequence[Path | str],
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
    """How good the items of a data set are at telling these models apart.

    `scores` are runs of two models or more, folders that hold runs, or files of scores; files, and runs of `choose`,
    need `on`. Several protocols, prompts or samples of every model are a facet: models × items × levels is studied too.
    Each of `groups` is a part of models' names, whose models are compared with the others item by item. So many items
    of each task as `short` says are chosen that tell the models' scores on all of them, and written to `out` as JSONL.
    With `margins`, a CAT or a pair has the difference of its two scores instead of the side that it prefers.
    """
    if out is not None and not short:
        raise ValueError(f"{out} would hold a short form, but its length is not named; expected `short`, 2 or more")
    paths = [place for path in map(Path, scores) for place in _runs(path)]
    if len(paths) < 2:
        raise ValueError(f"found {quantity(len(paths), 'model')}; {TWO}")
    if _kind_of(paths) == CHOSEN:
        if on is None:
            raise BadInput(paths[0], "a run of `catsofa choose`, which does not say where its data lie", "--on DATA")
        if margins:
            raise ValueError("found runs of `catsofa choose`, whose choices have no margins; expected runs of `score`")
        data, sides = sides_on(paths, on, free=(TEMPLATES, SAMPLES))
        if len(sides := joined(paths, sides)) < 2:
            raise ValueError(f"found {quantity(len(paths), 'run')} of one model ({sides[0].model}); {TWO}")
        matrix, told = _of_choices(sides)
        how = {"resamples": resamples, "seed": seed or 0}
        found = examined(matrix, **how, groups=groups, short=short)
        if out is not None:
            _write_short(found, data.records(), out)
        signature = signature_of(data.name, sides, len(matrix.items), how)
        return replace(found, signature=signature, warnings=(*found.warnings, *told))
    protocols = by_protocol(paths)
    if protocols:
        of, matrix, told = _of_protocols(protocols, on, protocol, seed, margins)
    else:
        of = models_on(paths, on, protocol=protocol, seed=seed)
        matrix, told = _of_scores(of, paths, margins)
    found = examined(matrix, resamples=resamples, seed=of.protocol.seed, groups=groups, short=short)
    if out is not None:
        _write_short(found, of.records, out)
    signature = replace(of.signature, resamples=resamples, way=MARGINS if margins else of.signature.way)
    if any(subsets := list(map(subset_in, paths))):
        common = int(np.isfinite(matrix.values).all(axis=1).sum())
        signature = replace(signature, subset=joint_subset(subsets, [common]))
    return replace(found, signature=signature, warnings=(*found.warnings, *told, *of.warnings))


def _write_short(found: Examination, records: Iterable[Any], out: Path | str) -> None:
    """The records of the short forms, in their order; a probe is one of a stereotype."""
    forms = {task: part.short for task, part in found.parts.items()}
    if lacking := [f"{task}: {found.parts[task].undefined['short']}" for task, form in forms.items() if form is None]:
        raise ValueError(f"no short form for {out}: {'; '.join(lacking)}")
    chosen = {item for form in forms.values() if form for item in form.items}
    names = ((f"{of.category}: {of.stereotype}" if isinstance(of, Probe) else of.id, of) for of in records)
    jsonl.write([record for name, record in names if name in chosen], Path(out))


def _runs(path: Path) -> list[Path]:
    """A file or a run; or the runs below a folder."""
    if not path.is_dir() or (path / MANIFEST).is_file() or (path / CHOICES).is_file():
        return [path]
    return places_in(path)


def _kind_of(paths: Sequence[Path]) -> str:
    """Whether these are runs of choose or scores; a mixture of both is refused, since a choice is no score."""
    kinds: dict[str, list[Path]] = {}
    for path in paths:
        if (path / ASKED).is_file() and not (path / CHOICES).is_file():
            raise Unfinished(path, "a run that is not finished", "a finished run: run the same choose command again")
        kind = CHOSEN if (path / CHOICES).is_file() else "runs of score" if path.is_dir() else "files of scores"
        kinds.setdefault(kind, []).append(path)
    if CHOSEN in kinds and len(kinds) > 1:
        named = "; ".join(f"{kind}: {', '.join(map(str, of))}" for kind, of in kinds.items())
        raise ValueError(
            f"found choices and scores, which are other numbers of an item ({named}); expected either. Examine each "
            "kind in a command of its own"
        )
    return next(iter(kinds))


def _of_protocols(
    runs: Mapping[str, Sequence[Path]], on: Path | str | None, protocol: str, seed: int | None, margins: bool
) -> tuple[Models, ItemMatrix, tuple[str, ...]]:
    """The mean over protocols with the scores by each as a facet, and warnings; each run is read by its protocol."""
    called = " and ".join(runs)
    if protocol != DEFAULT.name:
        raise ValueError(
            f"found the protocol {protocol} for runs by {called}; expected none, since each run is read by its own. "
            "Leave it out"
        )
    if len(next(iter(runs.values()))) < 2:
        raise ValueError(f"found 1 model, by {called}; {TWO}")
    each, parts, told = [], [], list[str]()
    for paths in runs.values():
        own = protocol_of(read(paths[0]))
        of = models_on(paths, on, protocol=own if seed is None else replace(own, seed=seed))
        matrix, sentences = _of_scores(of, paths, margins)
        each.append(of)
        parts.append(matrix)
        told += [*sentences, *of.warnings]
    if margins or not parts[0].preferences:
        raise ValueError(
            f"found scores by {called}, which may have several units; expected runs of one protocol, or CATs or pairs "
            "without margins, where a value is the side that a model prefers"
        )
    values = np.stack([one.values for one in parts], axis=2)
    facet, alike = Levels(name="protocol", levels=tuple(runs), values=values).settled(parts[0].tasks)
    first, signatures = each[0], [of.signature for of in each]
    signature = replace(
        first.signature,
        protocol=" ".join(runs),
        options=" ".join(one.options for one in signatures),
        dtype=first.signature.dtype if len({one.dtype for one in signatures}) == 1 else "",
    )
    matrix = replace(parts[0], values=facet.means(parts[0].tasks), facets=(facet,))
    return replace(first, signature=signature, warnings=()), matrix, tuple(dict.fromkeys([*alike, *told]))


def _of_scores(of: Models, paths: Sequence[Path], margins: bool) -> tuple[ItemMatrix, tuple[str, ...]]:
    """The matrix that scores make of their records, and warnings."""
    kind = type(of.records[0])
    if margins and kind not in (Cat, Pair):
        raise ValueError(f"found {called(kind)}, whose items have scores and no margins; expected CATs or pairs")
    if kind is AssociationTest:
        reports = [{row["test"]: row for row in read_report(path)["results"]} for path in paths]
        columns: list[Column] = [
            {test: float("nan") if row["effect_size"] is None else row["effect_size"] for test, row in report.items()}
            for report in reports
        ]
        found = _joined([(test.id, "tests", "", test.id) for test in of.records], columns, list(of.given))
        return replace(found, preferences=False), ()
    if kind is Probe:
        return _of_probes(of)
    makers: Mapping[type[Any], Callable[[Sequence[Any], Given, Protocol], tuple[list[Row], Column]]] = {
        Cat: _of_cats,
        Pair: _of_pairs,
    }
    if kind not in makers:
        raise ValueError(f"found {called(kind)}; expected {TAKES}, whose items have a score of each model")
    made = [makers[kind](of.records, given, of.protocol) for given in of.given.values()]
    columns = [column for _, column in made]
    if margins:
        columns = [_margins(of.records, given) for given in of.given.values()]
    matrix = replace(_joined(made[0][0], columns, list(of.given)), preferences=not margins)
    if kind is Cat:
        votes = [[(vote.label, c.label) for c in cat.candidates for vote in c.votes] for cat in of.records]
        shares = [fmean(one == label for one, label in of_cat) if of_cat else nan for of_cat in votes]
        matrix = replace(matrix, people=np.array(shares))
    return matrix, ()


def _joined(rows: Sequence[Row], columns: Sequence[Column], models: Sequence[str]) -> ItemMatrix:
    """Columns joined by item; what a model lacks is unscored."""
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


def _of_cats(cats: Sequence[Cat], given: Given, _: Protocol) -> tuple[list[Row], Column]:
    """1 where the stereotype scores above the anti-stereotype, 0 below, ½ for a tie."""
    found = outcomes(cats, given.numbers(), ties="half", error=given.error)
    return [(cat.id, cat.kind, cat.bias_type, cat.target) for cat in cats], _column(found.ids, found.prefers)


def _of_pairs(pairs: Sequence[Pair], given: Given, protocol: Protocol) -> tuple[list[Row], Column]:
    """1 where the more stereotyping sentence scores higher, 0 lower, ½ for a tie; each pair is its own cluster."""
    sides, rounding = crows_pairs.by_pair(given.scores), protocol.crows_pairs.rounding
    found = crows_pairs.preferences(pairs, sides, ties="half", rounding=rounding, error=given.error)
    rows = [(pair.id, "pairs", pair.bias_type, pair.id) for pair in pairs]
    return rows, _column([pair.id for pair in pairs], np.where(found.scored, found.won, np.nan))


def _of_probes(of: Models) -> tuple[ItemMatrix, tuple[str, ...]]:
    """The variance of log PPL* of each stereotype, whose mean is the SoFa score; categories are tasks.

    The identities of a stereotype are those with a score of every model that has a variance there: a variance over
    others is another quantity.
    """
    options, rows, blocks, dropped = of.protocol.sofa, list[Row](), [], 0
    models = [grids(of.records, given.scores) for given in of.given.values()]
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
        rows += [(name := f"{category}: {said}", category, "", name) for said in parts[0].stereotypes]
    columns = [dict(zip((row[0] for row in rows), column.tolist(), strict=True)) for column in np.hstack(blocks)]
    told = f"{quantity(dropped, 'probe')} of {len(of.records):,} left out: not every model scored them"
    return replace(_joined(sorted(rows), columns, list(of.given)), preferences=False), (told,) if dropped else ()


def _margins(records: Sequence[Cat | Pair], given: Given) -> Column:
    """The score of each stereotype less that of the anti-stereotype, or of the two sides of a pair."""
    sides = crows_pairs.by_pair(given.scores)
    numbers = given.numbers()
    both = {
        one.id: tuple(numbers.get(one[label].id) for label in ("stereotype", "anti-stereotype"))
        if isinstance(one, Cat)
        else sides.get(one.id, (None, None))
        for one in records
    }
    return {item: nan if more is None or less is None else more - less for item, (more, less) in both.items()}


def _column(items: Iterable[str], values: Array) -> Column:
    """Values by item."""
    return dict(zip(map(str, items), values.tolist(), strict=True))


def _of_choices(sides: Sequence[Side]) -> tuple[ItemMatrix, tuple[str, ...]]:
    """The share of the stereotype among the choices of each item, the mean of both orders; and warnings.

    An item without a choice in one of the orders is unscored: position might have decided it. Several prompts are a
    facet, and so are several samples: the shares of one are those over all levels of the other. An item has the mean
    over prompts, and none where a prompt lacks it: the others would stand for it.
    """
    known = {name: item for side in sides for name, item in side.items.items() if item.open}
    if (kind := next(iter(known.values())).kind if known else WHICH) in (WHICH, WORDS, DECISIONS):
        raise ValueError(f"found choices of {kind}; expected choices between a stereotype and its opposite: {TAKES}")
    each = [(side.rows, list(side.replies.values())) for side in sides]
    rows_of_items = [(item.id, item.kind or "choices", item.domain, item.cluster) for item in known.values()]
    models = [side.model for side in sides]
    matrix = _joined(rows_of_items, [shares(rows) for rows, _ in each], models)
    levels = {
        "prompt": [np.array([reply.template for reply in replies]) for _, replies in each],
        "sample": [np.array([str(1 + reply.sample) for reply in replies]) for _, replies in each],
    }
    facets, told = [], list[str]()
    for name, of_model in levels.items():
        if len(names := list(dict.fromkeys(of_model[0].tolist()))) < 2:
            continue
        values = [
            _joined(
                rows_of_items,
                [shares(rows.take(of == level)) for (rows, _), of in zip(each, of_model, strict=True)],
                models,
            ).values
            for level in names
        ]
        short = list(map(without_hashes, names))
        called = tuple(short if len(set(short)) == len(short) else names)
        facet = Levels(name=name, levels=called, values=np.stack(values, axis=2), nested=name == "sample")
        settled, sentences = facet.settled(matrix.tasks)
        facets.append(settled)
        told += sentences
        if not facet.nested:
            matrix = replace(matrix, values=settled.means(matrix.tasks))
    return replace(matrix, facets=tuple(facets)), tuple(told)


def findings(flags: Iterable[Flag]) -> Report:
    """The named items as lint names them, those below chance first."""
    found = [
        Finding(rule=flag.rule, severity=SEVERITIES[flag.rule], item=flag.item, message=flag.message) for flag in flags
    ]
    return Report(findings=sorted(found, key=lambda one: one.rule, reverse=True), ran=list(SEVERITIES), missing={})
