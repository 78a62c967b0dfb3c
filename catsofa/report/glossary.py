"""The glossary of the field: each term of reports and documentation in one or two sentences."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from catsofa.report.elements import Document


@dataclass(frozen=True, slots=True)
class Term:
    """A term, its other names, and its meaning."""

    name: str
    meaning: str
    page: str = ""
    """The documentation page with more about the term."""
    also: tuple[str, ...] = ()
    """Other names of the term in texts."""

    def is_in(self, text: str) -> bool:
        """Returns True if a text uses the term."""
        words = "|".join(re.escape(word) for word in (self.name, *self.also))
        return re.search(rf"(?<!\w)(?:{words})(?!\w)", text) is not None


TERMS = (
    Term(
        "AUL, AULA",
        "All unmasked likelihood: the mean log-probability of a sentence's tokens, none of them masked. AULA "
        "weighs each token by the attention that it gets.",
        "measures/crows-pairs.md",
        ("AUL", "AULA"),
    ),
    Term(
        "SSS",
        "StereoSet score of CrowS-Pairs: the mean log-probability of the tokens in which the two sentences differ, all "
        "masked at once.",
        "measures/crows-pairs.md",
    ),
    Term(
        "CAT",
        "Context association test: a context about a target, with three associations: a stereotype, an "
        "anti-stereotype and one without meaning (unrelated).",
        "measures/stereoset.md",
        ("CATs",),
    ),
    Term(
        "intrasentence, intersentence",
        "The two kinds of CAT: a word that fills a gap in the context, or a sentence that follows the context.",
        "measures/stereoset.md",
        ("intrasentence", "intersentence"),
    ),
    Term(
        "lms",
        "Language modelling score: how often, in per cent, the model prefers a meaningful association to the "
        "unrelated one. The ideal is 100.",
        "measures/stereoset.md",
    ),
    Term(
        "ss",
        "Stereotype score: how often, in per cent, the model prefers the stereotype to the anti-stereotype. The "
        "ideal is 50.",
        "measures/stereoset.md",
    ),
    Term(
        "icat",
        "Idealized CAT score: lms · min(ss, 100 − ss) / 50. The ideal is 100; a model that answers at random has 50.",
        "measures/stereoset.md",
    ),
    Term(
        "CrowS-Pairs score",
        "The share of minimal pairs, in per cent, of which the model finds the more stereotyping sentence "
        "likelier. The ideal is 50.",
        "measures/crows-pairs.md",
        ("CrowS-Pairs",),
    ),
    Term(
        "minimal pair",
        "Two sentences that differ in few words: one is more stereotyping, or one names another group.",
        "measures/crows-pairs.md",
        ("minimal pairs", "pairs", "pair"),
    ),
    Term(
        "SoFa score",
        "The variance of log PPL* over the identities that a stereotype is joined with, averaged over stereotypes. "
        "The ideal is 0.",
        "measures/sofa.md",
        ("SoFa",),
    ),
    Term(
        "perplexity",
        "The exponential of minus the mean log-probability of a text's tokens: the lower, the likelier the text.",
        "measures/sofa.md",
    ),
    Term(
        "PPL*",
        "The perplexity of a probe divided by the perplexity of its identity alone, so that rare names do not count.",
        "measures/sofa.md",
        ("PPL",),
    ),
    Term(
        "DDS",
        "Delta disparity score of a stereotype: the largest log PPL* of its identities less the smallest.",
        "measures/sofa.md",
    ),
    Term(
        "probe",
        "An identity joined with a stereotype: a cell of SoFa's grid of identities and stereotypes.",
        "measures/sofa.md",
        ("probes",),
    ),
    Term(
        "SEAT, WEAT",
        "Sentence and word encoder association tests: whether two sets of targets are nearer, by the cosine of "
        "their vectors, to one of two sets of attributes.",
        "measures/seat.md",
        ("SEAT", "WEAT"),
    ),
    Term(
        "effect size",
        "Of SEAT and WEAT: the difference of the mean associations of two target sets, divided by their standard "
        "deviation. The ideal is 0.",
        "measures/seat.md",
        ("effect sizes", "effect_size"),
    ),
    Term(
        "flip",
        "An item on which the verdict of a model changes when the item is paraphrased.",
        "measures/robustness.md",
        ("flips",),
    ),
    Term(
        "position effect",
        "How far the place of an option in the question, and not its content, decides what a chat model answers.",
        "measures/choices.md",
    ),
    Term(
        "protocol",
        "All choices that a number depends on, under one name: how texts are scored, what a tie counts, how items "
        "are averaged.",
        "reference/protocols.md",
        ("protocols",),
    ),
    Term(
        "multiverse",
        "The same data scored by every protocol that applies, to see how far the protocol decides the result.",
        "measures/multiverse.md",
    ),
    Term(
        "signature",
        "How a number was computed: data and model with their hashes, protocol, seed and version. Numbers may be "
        "compared where signatures differ in the model alone.",
        "reference/protocols.md",
        ("signatures", "Signature", "Signatures"),
    ),
    Term(
        "coverage",
        "The share of comparisons that have a verdict. Items without a score, and ties, lower it.",
        "measures/stereoset.md",
    ),
    Term(
        "tie",
        "Two scores that differ by less than the error of computing them. A tie has no verdict. Some protocols "
        "count it against the model, as the code of their paper does.",
        "measures/stereoset.md",
        ("ties",),
    ),
    Term(
        "unscored",
        "An item for which the model gave no number; the report says why.",
        "measures/stereoset.md",
        ("Unscored",),
    ),
    Term(
        "95 % interval",
        "Limits that hold the true value in 95 of 100 repetitions of the study. A cluster bootstrap over target "
        "terms gives them unless the table says otherwise.",
        "measures/intervals.md",
        ("95 % intervals", "interval", "intervals"),
    ),
    Term(
        "cluster bootstrap",
        "Intervals from resampling whole target terms, since items about one term are not independent.",
        "measures/intervals.md",
        ("bootstrap",),
    ),
    Term(
        "Holm's correction",
        "A stricter limit for p-values where several tests are made, so that the chance of any false finding "
        "stays at 5 %.",
        "measures/plan.md",
        ("Holm",),
    ),
    Term(
        "equivalence",
        "The evidence that two numbers differ by less than a margin (two one-sided tests); not the same as no "
        "significant difference.",
        "gate.md",
        ("equivalent",),
    ),
    Term(
        "power",
        "The probability that a study finds an effect of a given size, if it exists.",
        "measures/power.md",
    ),
    Term(
        "contamination",
        "The model has seen the test set in training, so that its numbers say less.",
        "measures/contamination.md",
    ),
    Term(
        "item–rest correlation",
        "How far an item agrees with the sum of the other items about the order of models.",
        "measures/examine.md",
    ),
    Term(
        "Krippendorff's α, Cohen's κ",
        "Agreement of annotators beyond chance: 1 is perfect, 0 is chance.",
        "measures/agreement.md",
        ("α", "κ", "Krippendorff", "kappa"),
    ),
    Term(
        "Dawid–Skene, GLAD",
        "Models of annotators' errors: they give each label a probability that weighs people by their "
        "reliability, and GLAD also items by their difficulty.",
        "measures/agreement.md",
        ("Dawid", "GLAD"),
    ),
    Term(
        "k-anonymity",
        "Each published combination of answers about people is shared by k people or more.",
        "annotation.md",
        ("k-anonymous", "k people"),
    ),
)


def used(document: Document) -> tuple[Term, ...]:
    """Returns the terms that a report uses, in the order of the glossary."""
    text = "\n".join(["signature interval", *_texts(document)])  # every report has these two terms
    return tuple(term for term in TERMS if term.is_in(text))


def _texts(document: Document) -> Iterator[str]:
    """Yields the texts of a report except cells, which contain names of models, terms and identities."""
    for finding in document.findings:
        yield from finding.sentences
    tables = [table for section in document.sections for table in section.tables]
    for table in [*tables, *filter(None, [document.summary])]:
        yield from (table.caption, *table.columns, *table.notes)
    for section in document.sections:
        yield from (section.title, section.lead, section.limits)


def page() -> str:
    """Returns the glossary as a Markdown page."""
    rows = [f"| {term.name} | {term.meaning}{f' [More]({term.page})' if term.page else ''} |" for term in TERMS]
    head = "# Glossary\n\nA report lists the terms that it uses at its end.\n\n| term | means |\n|---|---|"
    return "\n".join([head, *rows, ""])
