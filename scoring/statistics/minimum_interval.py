"""The upper limit of the lesser of two numbers, of which either may be the lesser in truth.

Where the two are far apart it is the upper limit of the one that is less. Where they are near, an interval made from
the limits of both never errs below, so that it holds the truth more often than it says; here what may err below and
what may err above are shared out anew for each value, which is refused where it would be missed too often.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FEWEST = 3
"""Up to so many clusters there are too few resamples to share anything out."""
HALVINGS = 12
"""Of the bracket in which the limit is looked for: to a four-thousandth of its width."""


def upper_limit(values: Array, resampled: Array, tail: float, highest: float) -> float:
    """The greatest value of the lesser of two numbers that is not refused, at most `highest`.

    `resampled` has a row for each resample, `tail` is what an interval may miss on either side. A value m is refused
    if, were it true, intervals would miss it in more than 2 · tail of cases: those whose lower limits both lie above
    m, and those whose lesser number is at most the observed one.
    """
    away = (resampled - values)[np.isfinite(resampled).all(axis=1)]
    less = int(values.argmin())
    a, b, away_a, away_b = values[1 - less], values[less], away[:, 1 - less], away[:, less]
    spread = float(away_b.var())
    if not spread > 0:
        return highest
    slope = float(np.mean(away_a * away_b) - away_a.mean() * away_b.mean()) / spread
    reach_a, reach_b = np.quantile(away_a, tail), np.quantile(away_b, tail)

    def missed(m: float) -> float:
        """How often m would be missed: the lesser number is m, the other what it most likely is then."""
        # mirrored, since percentiles are limits of what would be missed the other way round
        one, other = max(m, a + slope * (m - b)) - away_a, m - away_b
        below = (one + reach_a > m) & (other + reach_b > m)
        return float(np.mean(below | (np.minimum(one, other) <= b)))

    kept, refused = float(b), highest
    if missed(refused) >= 2 * tail:
        return highest
    for _ in range(HALVINGS):
        middle = (kept + refused) / 2
        kept, refused = (middle, refused) if missed(middle) > 2 * tail else (kept, middle)
    return refused
