"""The whole journey, offline, on models whose stereotypes are known: build, judge, train, measure, compare.

The same small models are trained twice: on text that plants a stereotype, and on its balanced twin. A measure that
works must find the first and must not find the second.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from catsofa import demo_items, planted
from catsofa.data import jsonl
from catsofa.data.files import atomic_write
from catsofa.data.folders import atomic_folder
from catsofa.data.records import AssociationTest, Cat, Pair, Probe

Tell = Callable[[str], None]
STRENGTHS = {"planted": 0.95, "balanced": 0.5}
TRAIN = {"causal": planted.train_causal, "masked": planted.train_masked}


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """What the demo builds."""

    cats: list[Cat]
    pairs: list[Pair]
    probes: list[Probe]
    test: AssociationTest


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One measure of both worlds, and whether it tells them apart as it must."""

    model: str
    measure: str
    planted: tuple[float, float, float]
    balanced: tuple[float, float, float]
    """Value, low, high."""
    rule: str
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What the demo found, and where its files lie."""

    folder: Path
    people: dict[str, Any]
    checks: list[Check]

    @property
    def passed(self) -> bool:
        """Whether every known answer was found."""
        return bool(self.people["found"]) and all(check.holds for check in self.checks)


def run(folder: Path | str, *, seed: int = 0, tell: Tell = lambda text: None) -> Demo:
    """Run the journey into `folder`; models that it has trained before are used again."""
    folder = Path(folder)
    items = build(folder / "items")
    tell(
        f"built {len(items.cats)} CATs, {len(items.pairs)} pairs, {len(items.probes)} SoFa probes and one SEAT test "
        "about invented groups"
    )
    people = judge(items.cats, folder / "annotations.jsonl", seed)
    tell(
        f"{people['judgements']:,} simulated judgements decide {people['decided']} of {people['items']} associations "
        f"(Krippendorff's alpha {people['alpha']:.2f}); to exclude: {'; '.join(people['exclude']) or 'nobody'}"
    )
    models = folder / "models"
    measured = {world: _measure(models / world, items, strength, seed, tell) for world, strength in STRENGTHS.items()}
    done = Demo(folder=folder, people=people, checks=list(_checks(measured["planted"], measured["balanced"])))
    with atomic_write(folder / "results.json") as file:
        results = {"people": people, "checks": [asdict(check) for check in done.checks], "passed": done.passed}
        file.write(json.dumps(results, indent=1).encode())
    return done


def build(folder: Path) -> Items:
    """The demo's items, also written as JSONL."""
    items = Items(
        cats=list(demo_items.cats()),
        pairs=list(demo_items.pairs()),
        probes=demo_items.grid(),
        test=demo_items.association(),
    )
    files: dict[str, Sequence[Any]] = {
        "cats": items.cats,
        "pairs": items.pairs,
        "probes": items.probes,
        "seat": [items.test],
    }
    for name, records in files.items():
        jsonl.write(records, folder / f"{name}.jsonl")
    return items


def judge(cats: Sequence[Cat], path: Path, seed: int) -> dict[str, Any]:
    """Simulated people judge the CATs: a majority of five decides, and the careless and the adversarial are found."""
    from catsofa.validation.agreement import agreement
    from catsofa.validation.annotators import annotators
    from catsofa.validation.votes import vote

    judged = list(demo_items.judgements(cats, seed))
    jsonl.write(judged, path)
    votes = vote(judged, group=lambda annotation: annotation.extra["cat"])
    gold = {candidate.id: candidate.label for cat in cats for candidate in cat.candidates}
    exclude = sorted(person.name for person in annotators(judged) if person.exclude)
    return {
        "judgements": len(judged),
        "items": len(votes.decisions),
        "decided": len(votes.decisions) - len(votes.undecided),
        "right": sum(decision.label == gold[item] for item, decision in votes.decisions.items()),
        "alpha": agreement(judged).krippendorff_alpha,
        "exclude": exclude,
        "found": exclude == sorted(name for name, skill in demo_items.PEOPLE.items() if skill < 0.5),
    }


def _measure(folder: Path, items: Items, strength: float, seed: int, tell: Tell) -> dict[tuple[str, str], Any]:
    """Train the models of a world, and take every measure of them: (model, measure) to interval."""
    from catsofa.scoring import encoders, seat

    world = planted.World(strength=strength, seed=seed)
    found: dict[tuple[str, str], Any] = {}
    for kind, train in TRAIN.items():
        if not (folder / kind).exists():
            tell(f"training a small {kind} model on the {folder.name} text")
            with atomic_folder(folder / kind, lambda file: True) as fresh:
                train(world, fresh)
        found |= {(kind, measure): interval for measure, interval in _of_model(folder / kind, items)}
    vectors = planted.train_vectors(world, folder / "vectors.txt")
    (row,) = seat.evaluate([items.test], encoders.load(str(vectors)))["results"]
    found["vectors", "SEAT d"] = row
    return found


def _of_model(folder: Path, items: Items) -> Iterator[tuple[str, Any]]:
    """ss of both tasks, CrowS-Pairs, and for a causal model the SoFa score, each with its interval."""
    from catsofa.scoring import crows_pairs, models, sofa, stereoset
    from catsofa.scoring.backend import Backend
    from catsofa.scoring.cat_outcomes import outcomes
    from catsofa.scoring.protocols import DEFAULT
    from catsofa.scoring.score_cats import score_cats
    from catsofa.scoring.score_pairs import score_pairs
    from catsofa.scoring.score_probes import score_probes

    backend = Backend(models.load(str(folder)))
    causal = backend.model.kind == "causal"
    # the small masked model's next-sentence head learns topics, not traits: its second task has no known answer
    cats = items.cats if causal else [cat for cat in items.cats if cat.kind == "intrasentence"]
    by_id = {score.item: score.score for score in score_cats(backend, cats, DEFAULT)}
    for task, domains in stereoset.results(outcomes(cats, by_id)).tasks.items():
        yield f"ss {task}", domains["overall"].ss
    sides = crows_pairs.by_pair(score_pairs(backend, items.pairs, DEFAULT))
    yield "CrowS-Pairs", crows_pairs.results(crows_pairs.preferences(items.pairs, sides)).overall.score
    if causal:
        yield "SoFa score", sofa.evaluate(items.probes, score_probes(backend, items.probes, DEFAULT)).score


def _checks(there: dict[tuple[str, str], Any], here: dict[tuple[str, str], Any]) -> Iterator[Check]:
    """Whether each measure finds the planted stereotype and does not find one in the twin."""
    for (model, measure), found in there.items():
        twin = here[model, measure]
        if measure == "SEAT d":
            holds = found["p_value"] < 0.05 <= twin["p_value"]
            rule = f"p below 0.05 ({found['p_value']:.4f}), the twin's not ({twin['p_value']:.2f})"
            yield _check(model, measure, _effect(found), _effect(twin), rule, holds)
            continue
        one, other = (found.value, found.low, found.high), (twin.value, twin.low, twin.high)
        if measure == "SoFa score":
            yield _check(model, measure, one, other, "the intervals lie apart", one[1] > other[2])
        else:
            # a twin at 50 in every term has no spread, and so no limits
            holds = one[1] > 50 and (other[0] == 50 or other[1] <= 50 <= other[2])
            yield _check(model, measure, one, other, "its interval excludes 50, the twin's holds it", holds)


def _effect(row: dict[str, Any]) -> tuple[float, float, float]:
    """An effect size with its limits."""
    limits = row["intervals"]["effect_size"]
    return row["effect_size"], limits["low"], limits["high"]


def _check(
    model: str, measure: str, one: tuple[float, float, float], other: tuple[float, float, float], rule: str, holds: bool
) -> Check:
    """A check of a model and a measure."""
    return Check(model=model, measure=measure, planted=one, balanced=other, rule=rule, holds=bool(holds))
