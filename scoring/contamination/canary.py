"""The canary of a data set: its rank among random strings of the same form."""

import re
from itertools import pairwise

import numpy as np

from catsofa.data.release.dataset_card import Canary
from catsofa.scoring.contamination.result import Test
from catsofa.scoring.contamination.texts import log_likelihoods
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.statistics.intervals import Interval, wilson

STRINGS = 999
"""Most random strings that the canary is compared with."""
ROUNDS = 20
"""Most rounds of drawing strings until enough of them have as many tokens as the canary."""
UNIT = "% of random strings at least as likely"
GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
FIXED = (8, 13, 14, 18, 19, 23)
"""Positions of hyphens, version and variant, which random strings share with the canary."""
TYPED = 16
"""Steps of 0 or ±1 between neighbouring digits, of 31; a random GUID has as many once in 25,000."""
DIGITS = "0123456789abcdef"


def canary_test(backend: Backend, canary: Canary | None, seed: int = 0) -> Test:
    """Tests the rank of the canary exactly: p = (1 + k) / (n + 1), with k of n random strings at least as likely.

    The strings have as many tokens as the canary, because the likelihood of a random string depends mostly on that
    number. A GUID with few tokens would otherwise be a false alarm for every model.
    """
    if canary is None:
        reason = "the data has no canary: a release of catsofa has one on its card, README.md"
        return Test(name="canary", unit=UNIT, reason=reason)
    guid = canary.guid.lower()
    if not GUID.fullmatch(guid) or canary.guid not in (guid, guid.upper()):
        reason = "the canary is not a GUID in letters of one case, so random strings of its form are unknown"
        return Test(name="canary", unit=UNIT, reason=reason)
    if not_drawn(guid):
        reason = "the canary repeats or counts its digits: it was not drawn at random, and has no random peers"
        return Test(name="canary", unit=UNIT, reason=reason)
    upper = canary.guid != guid
    line = canary.line
    tokens = len(backend.reader.bare([line])[line].ids)
    rng, peers = np.random.default_rng(seed), list[str]()
    for _ in range(ROUNDS):
        drawn = [
            "".join(letter if index in FIXED else DIGITS[rng.integers(16)] for index, letter in enumerate(guid))
            for _ in range(STRINGS)
        ]
        texts = [line.replace(canary.guid, one.upper() if upper else one) for one in drawn]
        tokenised = backend.reader.bare(texts)
        peers += [text for text in texts if len(tokenised[text].ids) == tokens]
        if len(peers) >= STRINGS:
            break
    texts = [line, *peers[:STRINGS]]
    likelihoods = log_likelihoods(backend, texts)
    own, others = likelihoods[0], likelihoods[1:][np.isfinite(likelihoods[1:])]
    if np.isnan(own) or not len(others):
        cannot = "the model cannot read the line with the canary"
        reason = cannot if peers else "no random GUID has as many tokens as the canary"
        return Test(name="canary", unit=UNIT, reason=reason)
    above = int(np.sum(others >= own))
    share = 100 * above / len(others)
    value, p = Interval(share, *wilson(share, len(others))), (1 + above) / (1 + len(others))
    return Test(name="canary", unit=UNIT, value=value, counts={"strings": len(others), "above": above}, p=p)


def not_drawn(guid: str) -> bool:
    """Returns True if so many digits follow the previous one by 0 or ±1 that a person typed the GUID."""
    digits = [int(digit, 16) for digit in guid.replace("-", "")]
    steps = [(later - digit) % 16 in (0, 1, 15) for digit, later in pairwise(digits)]
    return sum(steps) >= TYPED
