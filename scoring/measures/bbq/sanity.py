"""Warnings beside BBQ's numbers: answers by chance, contexts that lean to one side, questions without a target."""

from collections.abc import Iterator
from math import isnan

from catsofa.data.percentages import quantity
from catsofa.scoring.measures import bbq, sanity

CHANCE = 1 / 3
"""The accuracy of a model that guesses."""
ROUNDING = 1e-9
"""The tolerance for rounding above chance."""


def warnings(results: bbq.Results) -> tuple[str, ...]:
    """The warnings beside accuracy and bias."""
    whole, parts = results.overall, results.categories
    tied = sanity.counted({"": (whole.ties, whole.questions)}, whole.counted)
    often = sanity.often(whole.ties, whole.questions)
    return (
        *([f"the likeliest answers tie in {tied}; they are left out"] if often else []),
        *sanity.unknown({"": (whole.unknown_tokens, whole.questions)}, whole.counted),
        *_guesses(whole),
        *_unbalanced(whole),
        *_untargeted(whole),
        *sanity.nothing(
            {name: (round(part.coverage * part.questions) + part.ties, part.questions) for name, part in parts.items()},
            whole.counted,
        ),
        *sanity.few({name: part.templates for name, part in parts.items() if part.coverage}, "templates"),
        *_unlimited(results),
    )


def _guesses(whole: bbq.Part) -> Iterator[str]:
    """Warns if the accuracy on disambiguated contexts, which state the answer, may be chance or is below it."""
    least = whole.acc_dis.value if isnan(whole.acc_dis.low) else whole.acc_dis.low
    if least <= CHANCE + ROUNDING:
        yield (
            f"acc_dis {whole.acc_dis:.3f} is no better than chance ({CHANCE:.3f}): the bias scores say little about a "
            "model that does not read the context"
        )


def _unlimited(results: bbq.Results) -> Iterator[str]:
    """Says why numbers have no interval."""
    parts = {"overall": results.overall, **(results.categories if len(results.categories) > 1 else {})}
    without = {
        name: [one for one in bbq.NUMBERS if not isnan((number := getattr(part, one)).value) and isnan(number.low)]
        for name, part in parts.items()
    }
    if sets := [f"{', '.join(names)} of {name}" for name, names in without.items() if names]:
        yield f"no interval from one template, or if all templates have the same value: {sanity.listed(sets)}"


def _unbalanced(whole: bbq.Part) -> Iterator[str]:
    """Contexts that agree with the stereotype more or less often than not, so that the right answers are one-sided."""
    if abs(whole.s_dis_if_right) > sanity.SHARE:
        yield (
            f"right answers to these disambiguated questions have s_dis {whole.s_dis_if_right:.3f}, not 0: compare "
            "s_dis with that"
        )


def _untargeted(whole: bbq.Part) -> Iterator[str]:
    """Questions that count for no bias score."""
    if without := sum(whole.without_target.values()):
        why = ", ".join(f"{reason.replace('_', ' ')}: {count:,}" for reason, count in whole.without_target.items())
        yield f"{quantity(without, 'question')} without a target count for accuracy alone ({why})"
