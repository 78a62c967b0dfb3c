"""CATs, pairs and probes of very different lengths, which batches must pad and windows of 8 cannot contain."""

from catsofa.data.records import LABELS, Candidate, Cat, Label, Pair, Probe

LONG = "The gardener never waters the roses, so nobody bought bread from the"


def _cat(target: str, context: str, fills: tuple[str, ...] = (), sentences: tuple[str, ...] = ()) -> Cat:
    """Returns a CAT with three fills of its BLANK, or with three sentences after its context."""
    labels: tuple[Label, ...] = LABELS
    candidates = [
        Candidate(text=context.replace("BLANK", fill), fill=fill, label=label)
        for fill, label in zip(fills, labels, strict=False)
    ] + [Candidate(text=text, label=label) for text, label in zip(sentences, labels, strict=False)]
    one, two, three = candidates
    return Cat(
        kind="intrasentence" if fills else "intersentence",
        bias_type="invented",
        target=target,
        context=context,
        candidates=(one, two, three),
    )


CATS = [
    _cat("zorb", "Zorbs are BLANK and sing.", ("kind", "unbelievably clever", "roses")),
    _cat("florin", f"{LONG} BLANK florin.", ("quiet", "stubborn", "bread")),
    _cat(
        "zorb", "A zorb.", sentences=("It sang.", "The baker was asleep, so nobody bought roses.", "Roses love rain.")
    ),
    _cat(
        "florin", "Everybody likes the florin from the corner.", sentences=("She sang.", "He was asleep.", "It rained.")
    ),
]
PAIRS = [
    Pair(more="Zorbs are kind.", less="Florins are kind.", direction="stereo", bias_type="invented"),
    Pair(more=f"{LONG} quiet zorb.", less=f"{LONG} quiet old florin.", direction="antistereo", bias_type="invented"),
]
PROBES = [
    Probe(category="invented", identity="zorbs", stereotype="are kind"),
    Probe(category="invented", identity="The quiet florins", stereotype="from the corner never water roses"),
]
