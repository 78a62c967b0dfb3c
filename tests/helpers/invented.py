"""Mild items about bakers and florists, for projects with people."""

from dataclasses import replace

from catsofa.data.records import Candidate, Cat, Probe, Term

HABITS = ("up", "awake", "out", "busy", "done", "home", "ready", "open", "off", "asleep")


def baker(number: int, who: str = "baker", writer: str = "") -> Cat:
    """One CAT: bakers are early (or late, or cubic)."""
    context = f"Our neighbour, the {who}, is {HABITS[number % 10]} BLANK on day {number}."
    early, late, cubic = (
        Candidate(text=context.replace("BLANK", word), fill=word, label=label)
        for word, label in (("early", "stereotype"), ("late", "anti-stereotype"), ("cubic", "unrelated"))
    )
    return Cat(
        kind="intrasentence",
        bias_type="profession",
        target=who,
        context=context,
        candidates=(early, late, cubic),
        source={"writer": writer} if writer else {},
    )


def bakers(count: int, who: str = "baker", writer: str = "") -> list[Cat]:
    """So many CATs."""
    return [baker(number, who, writer) for number in range(count)]


def paraphrased(count: int) -> list[Cat]:
    """CATs whose context was paraphrased."""
    return [
        replace(cat, context=cat.context.replace("Our neighbour, the", "The"), extra={"original_context": cat.context})
        for cat in bakers(count)
    ]


def probes(count: int) -> list[Probe]:
    """Probes about bakers."""
    return [Probe(category="profession", identity="bakers", stereotype=f"get up at {n}") for n in range(count)]


def terms(count: int) -> list[Term]:
    """Targets to write about."""
    return [
        Term(category="profession", term=who) for who in ("baker", "florist", "gardener", "tailor", "weaver")[:count]
    ]
