"""The matrix of architectures: every family by the engine and by a plain loop, with the largest difference."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

from helpers.architectures import loop
from helpers.architectures.family import LONGEST, Family, Words
from helpers.architectures.records import CATS, PAIRS, PROBES
from helpers.tiny_tokenizers import (
    save_byte_level,
    save_masked_byte_level,
    save_sentinels,
    save_word_piece,
    save_xlnet_words,
)

from catsofa.data.records import Score
from catsofa.scoring.items.score import score as score_records
from catsofa.scoring.likelihood import causal
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.self_check import TREES
from catsofa.scoring.models import load
from catsofa.scoring.models.model import Model
from catsofa.scoring.protocols import Protocol, named

CLOSE = 1e-4
"""Nats by which a sum of log-probabilities in float32 may differ from the plain loop's sum."""
BATCH_TOKENS = (None, 64, 1)
TOKENIZERS: dict[Words, Callable[[Path], None]] = {
    "byte-level": save_byte_level,
    "word-piece": save_word_piece,
    "masked byte-level": save_masked_byte_level,
    "sentinels": save_sentinels,
    "xlnet": save_xlnet_words,
}
Totals = dict[tuple[str, ...], float]
"""Sum of log-probabilities behind a score, by task and item, or by protocol, task and item."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one family: the largest difference of a sum, and the engine's batching."""

    family: Family
    differences: dict[str, float]
    between: float
    """The largest difference between two settings, which must not depend on the size of batches."""
    model_type: str
    batching: str

    @property
    def largest(self) -> float:
        """The largest difference of all settings."""
        return max(self.differences.values())


def protocols(kind: str) -> Sequence[Protocol]:
    """Returns the default protocol, and pseudo-likelihood for masked models."""
    if kind != "masked":
        return [named("catsofa")]
    # no family here has a trained next-sentence head
    return [named("catsofa,masked_pair=pseudo"), named("catsofa,masked_pair=pseudo,masked=pseudo")]


def compare(family: Family, folder: Path, device: str = "cpu") -> Result:
    """Scores all records by the engine on a device in each setting, and compares them with the plain
    loop on the CPU.
    """
    import transformers

    tokenizers = folder / "tokenizers" / family.words.replace(" ", "-")
    if not tokenizers.is_dir():
        tokenizers.mkdir(parents=True)
        TOKENIZERS[family.words](tokenizers)
    place = folder / family.name
    shutil.copytree(tokenizers, place)
    family.build().save_pretrained(place)
    # both sides read the saved files: transformers picks the tokenizer by model, and loading may change the pad row
    module = getattr(transformers, family.model).from_pretrained(place).eval()
    plain = loop.Plain(family.kind, module, transformers.AutoTokenizer.from_pretrained(place))
    expected = all_totals(family, partial(plain_totals, plain))
    model = load(str(place), device=device, dtype="float32")
    if model.kind != family.kind:
        raise ValueError(f"{family.name} is loaded as a {model.kind} model; expected {family.kind}")
    totals: dict[str, Totals] = {}
    batching = ""
    for setting, backend in settings(model):
        backend.reader.limit = LONGEST if family.beyond else backend.reader.limit
        narrow = causal.CPU_WIDTH
        causal.CPU_WIDTH = causal.GPU_WIDTH if setting == "width of a GPU" else narrow
        try:
            totals[setting] = all_totals(family, partial(engine_totals, backend))
        finally:
            causal.CPU_WIDTH = narrow
        batching = batching or _batching(backend)
    return Result(
        family,
        {setting: _largest(setting_totals, expected) for setting, setting_totals in totals.items()},
        max(_largest(one, other) for one, other in combinations(totals.values(), 2)),
        str(module.config.model_type),
        batching,
    )


def all_totals(family: Family, totals: Callable[[Protocol], Totals]) -> Totals:
    """Returns the sums by each protocol of a family."""
    return {
        (protocol.name, *key): value for protocol in protocols(family.kind) for key, value in totals(protocol).items()
    }


def settings(model: Model) -> list[tuple[str, Backend]]:
    """Returns the engine at several batch sizes, and with rows as wide as on a GPU for models that use prefix trees."""
    backends = [(f"batch_tokens={tokens or 'default'}", Backend(model, tokens)) for tokens in BATCH_TOKENS]
    return [*backends, ("width of a GPU", Backend(model))] if model.kind == "causal" else backends


def engine_totals(backend: Backend, protocol: Protocol) -> Totals:
    """Returns all scores of the engine, as sums."""
    scores = score_records(backend, CATS, protocol)
    if protocol.stereoset.masked == "left-to-right":  # the other protocol changes only CATs
        scores += score_records(backend, PAIRS, protocol) + score_records(backend, PROBES, protocol)
    return {(score.task, score.item): _total(backend, score) for score in scores}


def _total(backend: Backend, score: Score) -> float:
    """Returns the sum behind a mean score; a masked model's sides of a pair are sums already."""
    if score.score is None or score.tokens is None:
        raise ValueError(f"{score.item} is not scored: {score.reason}")
    is_sum = backend.model.kind == "masked" and score.task in ("more", "less")
    return score.score if is_sum else score.score * score.tokens


def plain_totals(plain: loop.Plain, protocol: Protocol) -> Totals:
    """Returns all scores of the plain loop, as sums."""
    totals: Totals = {}
    for cat in CATS:
        for c in cat.candidates:
            total = (
                loop.inside(plain, cat, c, protocol.stereoset.masked == "pseudo")
                if cat.kind == "intrasentence"
                else loop.after(plain, cat, c)
            )
            totals[cat.kind, c.id] = total[0]
    if protocol.stereoset.masked == "pseudo":
        return totals
    for pair in PAIRS:
        totals |= {(name, pair.id): loop.side(plain, pair, name)[0] for name in ("more", "less")}
    return totals | {("probe", record.id): loop.probe(plain, record)[0] for record in PROBES}


def _largest(found: Totals, expected: Totals) -> float:
    """Returns the largest difference; other items or a NaN count as infinite."""
    if found.keys() != expected.keys():
        return float("inf")
    gaps = [abs(found[key] - expected[key]) for key in expected]
    return float("inf") if any(gap != gap for gap in gaps) else max(gaps)


def _batching(backend: Backend) -> str:
    """Returns the engine's batching of a model: trees or rows, parts left out by the self-check, and full logits."""
    rows = "prefix trees" if backend.packs and backend.uses(TREES) else "rows"
    check = f"self-check: {backend.batching.signature}" if backend.batching.signature else ""
    return "; ".join(part for part in (rows, "" if backend.head.cut else "all logits", check) if part)


def table(results: Sequence[Result]) -> str:
    """Returns the matrix as Markdown, with one row per family."""
    lines = ["| family | kind | model type | batched as | largest difference in nats |", "|---|---|---|---|---|"]
    for result in results:
        family = result.family
        lines.append(
            f"| {family.name} | {family.kind} | `{result.model_type}` | {result.batching} | {result.largest:.1e} |"
        )
    return "\n".join(lines)
