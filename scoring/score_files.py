"""Per-item scores from files, and the reports made from them."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from catsofa.data import sources
from catsofa.data.files import BadInput
from catsofa.data.formats import read_as
from catsofa.data.manifests import differences
from catsofa.data.records import Cat, Pair, Probe, Score, kind_name
from catsofa.scoring import runs, sofa, sofa_rankings
from catsofa.scoring.cat_outcomes import outcomes
from catsofa.scoring.comparison import ModelComparison, compare
from catsofa.scoring.intervals import RESAMPLES
from catsofa.scoring.protocols import Protocol, named
from catsofa.scoring.results import Report, report
from catsofa.scoring.robustness import robustness
from catsofa.scoring.robustness_report import Compared, RobustnessReport, robustness_report
from catsofa.scoring.signature import DIGITS, Signature, name_of
from catsofa.scoring.sofa_rankings import Agreement

KINDS = (Cat, Pair)


def read_scores(path: Path | str) -> list[Score]:
    """The scores of a file or of a run; a text that is scored twice is refused, since only one can be meant."""
    if Path(path).is_dir():
        return runs.read_scores(path)
    scores = list(read_as(path, Score))
    seen = set()
    for score in scores:
        if (score.item, score.task) in seen:
            raise BadInput(path, f"two scores of {score.item!r} (task {score.task!r})", "one score a text")
        seen.add((score.item, score.task))
    return scores


def scores_of(path: Path | str) -> dict[str, float | None]:
    """Candidate id to score; None is unscored."""
    if Path(path).is_dir():
        return runs.read_numbers(path)
    return {score.item: score.score for score in read_scores(path)}


def refuse_other_ways(path: Path | str, protocol: Protocol) -> None:
    """Refuse to measure a run by a protocol that would have scored its texts otherwise; a file does not say."""
    if not Path(path).is_dir():
        return
    manifest = runs.read_manifest(path)
    identity = manifest["identity"]
    given = ("causal_pair", "masked_pair") if "nsp" in identity else ()
    before = {option: way for option, way in identity.get("protocol", {}).items() if option not in given}
    now = {option: getattr(protocol, option, None) for option in before}
    if changed := list(differences(before, now)):
        name = manifest.get("about", {}).get("protocol", "another protocol")
        raise ValueError(
            f"{path} was scored by {name}, and {protocol.name} scores texts otherwise ({'; '.join(changed)}); "
            f"measure it with --protocol {name}, or score again"
        )


def refuse_other_models(original: Path, paraphrase: Path) -> None:
    """Refuse two runs whose scores differ by more than the texts; files do not say."""
    if original.is_dir() and paraphrase.is_dir():
        one, other = (_apart_from_data(path) for path in (original, paraphrase))
        if changed := list(differences(one, other)):
            raise ValueError(
                f"{original} and {paraphrase} were not scored alike ({'; '.join(changed)}); only then is a change "
                "one of the texts"
            )


def _apart_from_data(run: Path) -> dict[str, Any]:
    """What the scores of a run depend on besides its texts."""
    return {name: of for name, of in runs.read_manifest(run)["identity"].items() if name != "data"}


def scored_by(path: Path | str) -> str:
    """What made these scores: a file by its bytes, a run by its model and all that its scores depend on."""
    if not Path(path).is_dir():
        return name_of(path)
    manifest = runs.read_manifest(path)
    digest = sha256(json.dumps(manifest["identity"], sort_keys=True).encode()).hexdigest()
    return f"{manifest.get('about', {}).get('model', Path(path).name)}@{digest[:DIGITS]}"


def data_of(path: Path | str) -> str:
    """Where the data of a run lie, which must still be what it scored; a prediction file does not say."""
    if not Path(path).exists():
        raise BadInput(path, "no such file or folder", "the folder of a run of catsofa, or a file of scores")
    if not Path(path).is_dir():
        raise BadInput(path, "scores that do not say what they are of", "--on with their CATs")
    about = runs.read_manifest(path).get("about", {})
    if not isinstance(on := about.get("on"), str):
        raise BadInput(path, "a run that does not say where its data lie", "--on with its CATs")
    if name_of(sources.resolve(on)) != about.get("data"):
        raise BadInput(on, f"other data than {path} was scored on ({about.get('data')})", "--on with the same CATs")
    return on


def report_on(
    predictions: Path, on: str | Path, *, protocol: str = "catsofa", seed: int | None = None, with_terms: bool = False
) -> Report:
    """What the scores in a file or run say of CATs or pairs, in a file or a released set by name."""
    place, records = sources.resolve(on), list(sources.read(on))
    if not isinstance(records[0], KINDS):
        raise BadInput(place, kind_name(type(records[0])), "CATs or CrowS-Pairs, which have measures made from scores")
    scores, chosen = read_scores(predictions), named(protocol, seed=seed)
    refuse_other_ways(predictions, chosen)
    return report(records, scores, chosen, data=name_of(place), model=scored_by(predictions), with_terms=with_terms)


def robustness_on(
    originals: Sequence[Path],
    paraphrases: Sequence[Path],
    on: Sequence[str | Path] = (),
    *,
    protocol: str = "catsofa",
    seed: int | None = None,
    watch: Callable[[Sequence[Path]], Iterable[Path]] = iter,
) -> RobustnessReport:
    """Compare scores of originals with those of paraphrases, files or runs.

    `on` names the originals' CATs first, then those of each paraphrase, which may be left out where they have the
    originals' ids; runs know their data. Several models: as many paraphrases each, in the order of the originals.
    """
    each, rest = divmod(len(paraphrases), max(1, len(originals)))
    if not each or rest:
        raise ValueError(f"each original needs as many paraphrases; found {len(originals)} and {len(paraphrases)}")
    places = list(on) or [data_of(originals[0]), *map(data_of, paraphrases[:each])]
    if len(places) not in (1, 1 + each):
        raise ValueError(f"name the data of the originals, and that of each paraphrase or of none; found {len(on)}")
    cats, *others = [list(cats_on(place)) for place in places]
    chosen, compared = named(protocol, seed=seed), []
    for number, path in enumerate(watch(paraphrases)):
        original = originals[number // each]
        refuse_other_ways(original, chosen)
        refuse_other_models(original, path)
        comparison = robustness(
            cats,
            scores_of(original),
            others[number % each] if others else cats,
            scores_of(path),
            ties=chosen.ties,
            rule=chosen.rule,
            average=chosen.average,
            seed=chosen.seed,
        )
        compared.append(Compared(scored_by(original), scored_by(path), number % each, comparison))
    return robustness_report(compared, chosen, data=" ".join(name_of(sources.resolve(place)) for place in places))


def compare_on(
    models: Sequence[Path], on: str | Path | None = None, *, protocol: str = "catsofa", seed: int | None = None
) -> ModelComparison | Agreement:
    """Compare models by their files of scores, or by runs, which know their data and must be of the same.

    On CATs by paired changes; on probes, by the identities and stereotypes that their orders begin and end with.
    """
    places = [on] if on is not None else list(map(data_of, models))
    names = {name_of(sources.resolve(place)) for place in places}
    if len({name.rpartition("@")[2] for name in names}) > 1:
        raise ValueError(f"only models on the same data can be compared; found {' and '.join(sorted(names))}")
    chosen = named(protocol, seed=seed)
    for path in models:
        refuse_other_ways(path, chosen)
    signature = Signature(
        data=name_of(sources.resolve(places[0])),
        model=" ".join(map(scored_by, models)),
        protocol=chosen.name,
        options=chosen.digest,
        seed=chosen.seed,
        version=version("catsofa"),
    )
    records = list(sources.read(places[0]))
    if isinstance(records[0], Probe):
        measured = {scored_by(path): sofa.measured(records, read_scores(path), chosen, resamples=0) for path in models}
        if len(measured) < 2:
            raise ValueError("a comparison needs two models or more; found one")
        return Agreement(sofa_rankings.compare(measured), signature)
    cats = list(cats_on(places[0]))
    scored = {scored_by(m): outcomes(cats, scores_of(m), ties=chosen.ties, rule=chosen.rule) for m in models}
    found = compare(scored, average=chosen.average, seed=chosen.seed)
    return replace(found, signature=replace(signature, resamples=RESAMPLES))


def cats_on(on: str | Path) -> Iterator[Cat]:
    """The CATs of a file, or of a released set by name."""
    for record in sources.read(on):
        if not isinstance(record, Cat):
            raise BadInput(on, kind_name(type(record)), "CATs")
        yield record
