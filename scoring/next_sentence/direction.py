"""Pairs with known answers: does a next-sentence head tell which sentence follows, and in the right direction?"""

from collections.abc import Callable, Sequence
from math import comb, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from catsofa.data.percentages import in_percent

Known = tuple[str, str, bool]
"""Two sentences, and True if the second follows the first."""

STORIES = (
    ("The kettle began to whistle.", "She took it off the stove and poured the tea."),
    ("It had rained all night.", "In the morning the garden was full of puddles."),
    ("The train was two hours late.", "The passengers waited on the platform and read their newspapers."),
    ("He forgot his umbrella at home.", "When the rain started he got very wet."),
    ("My sister bought a new bicycle.", "She rides it to work every day."),
    ("The cat jumped onto the table.", "It knocked over a glass of milk."),
    ("We planted tomatoes in the spring.", "By August we had more than we could eat."),
    ("The library closes at six.", "After that you can return books through the box at the door."),
    ("The baker gets up at three in the morning.", "The first loaves are ready when the shop opens."),
    ("The children built a castle of sand.", "Then a wave came and washed it away."),
    ("He lost his keys on the way home.", "He had to climb in through the kitchen window."),
    ("The bridge was closed for repairs.", "Drivers had to take the long way around the river."),
    ("She had never been on a plane before.", "She held her mother's hand until they were in the air."),
    ("The soup was too salty.", "He added some water and a potato."),
    ("The museum opened a new wing last year.", "It shows paintings from the seventeenth century."),
    ("The team lost the first three games.", "After that they won every match of the season."),
    ("The old clock in the hall had stopped.", "My grandfather wound it up and it began to tick again."),
    ("There was a strange noise in the attic.", "It turned out to be a family of owls."),
    ("The teacher wrote a question on the board.", "Only one pupil raised her hand."),
    ("They moved to a small village by the sea.", "He learned to sail and she opened a shop."),
    ("The power went out during the storm.", "We lit candles and played cards."),
    ("The dog ran after the ball.", "It came back with a stick instead."),
    ("The concert was sold out within an hour.", "Many fans could not get a ticket."),
    ("The doctor looked at his throat.", "She told him to stay in bed for a week."),
    ("The factory was built in 1902.", "It made bricks until the war."),
    ("The lake freezes every winter.", "People come from the town to skate on it."),
    ("The letter arrived a week late.", "The party it invited us to was already over."),
    ("The tailor measured his shoulders.", "The jacket would be ready on Friday."),
    ("She practised the piano every evening.", "After a year she could play her favourite song."),
    ("The road ends at the foot of the mountain.", "From there a path leads up to the hut."),
    ("The farmer sold his cows.", "He keeps only a few chickens now."),
    ("A window on the second floor was open.", "The curtains moved in the wind."),
    ("The film was three hours long.", "Half of the audience fell asleep."),
    ("The mayor gave a short speech.", "Then he cut the ribbon and the new school was open."),
    ("We ran out of flour.", "I went to the neighbours and asked for a cup."),
    ("The river rose after the storm.", "Several cellars near the bank were flooded."),
    ("He wanted to surprise his wife.", "He baked a cake and hid it in the cupboard."),
    ("The ship left the harbour at dawn.", "Three days later it reached the island."),
    ("The chess players sat down at the table.", "The game lasted more than five hours."),
    ("Her phone fell into the water.", "She put it in a bag of rice to dry."),
    ("The author wrote her first novel at night.", "It was published when she was forty."),
    ("The tree in front of the house was sick.", "Last week it had to be cut down."),
    ("The bus was full.", "An elderly man asked whether he could sit down."),
    ("The company hired twenty new workers.", "They will start next month."),
    ("The shop sells old maps.", "The oldest one was drawn in 1610."),
    ("The baby cried all afternoon.", "At last it fell asleep in its father's arms."),
    ("The king had no children.", "After his death his brother took the throne."),
    ("The guests arrived too early.", "The host was still in the kitchen."),
    ("The paint on the fence was old.", "We spent the weekend giving it a new coat."),
    ("The hikers lost their way in the fog.", "A shepherd showed them the path down to the valley."),
)

SHIFT = 17
"""Each first sentence is asked with the second sentence of the 17th story after its own."""
CLEAR = 0.001
WEAK = 0.01
"""Largest p-values of a head that passes: `CLEAR` by fifty comparisons, `WEAK` by all of them."""
SHUFFLES = 9999
Asks = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""Maps pairs of sentences to the log-probability that the second follows the first."""

DEVIATIONS = 3.0
CHANGE = 0.1
"""Largest change of a separation with another device or precision."""
Verdict = Literal["right", "chance", "inverted"]


def accuracy(scores: ArrayLike, follows: ArrayLike) -> float:
    """Returns the share of pairs that are classified correctly; a pair without a score or a decision counts half."""
    values, half = np.asarray(scores, dtype=np.float64), np.log(0.5)
    right = np.where(np.asarray(follows, dtype=np.bool_), values > half, values < half).astype(np.float64)
    right[np.isnan(values) | (values == half)] = 0.5
    return float(right.mean())


def separation(scores: ArrayLike, follows: ArrayLike) -> float:
    """Returns the share of (following, not following) comparisons with scores in the right order; ties count half.

    Unlike the accuracy, it does not suffer from a head that assigns one class to everything. NaN scores are left out.
    """
    values, answers = np.asarray(scores, dtype=np.float64), np.asarray(follows, dtype=np.bool_)
    readable = np.isfinite(values)
    right, wrong = values[readable & answers][:, None], values[readable & ~answers]
    return float(((right > wrong) + 0.5 * (right == wrong)).mean())


def verdict(separated: float, following: int, others: int) -> Verdict:
    """Returns the verdict on a separation: not chance if it is three standard errors of Wilcoxon's statistic from ½."""
    error = DEVIATIONS * sqrt((following + others + 1) / (12 * following * others))
    return "right" if separated > 0.5 + error else "inverted" if separated < 0.5 - error else "chance"


def refuse_if_wrong(scores: ArrayLike, known: Sequence[Known], name: str, before: float | None = None) -> None:
    """Raises ValueError for a head whose answers are inverted, or not as they were when it was saved."""
    follows = [answer for *_, answer in known]
    now = separation(scores, follows)
    if verdict(now, sum(follows), len(follows) - sum(follows)) == "inverted":
        raise ValueError(
            f"{name} puts sentences that follow above others in {in_percent(now, 0)} of {len(known)} known pairs. "
            "Its answers are the wrong way round: its next_label names the other class"
        )
    if before is not None and abs(now - before) > CHANGE:
        raise ValueError(
            f"{name} separates its known pairs in {in_percent(now, 0)} of cases and did in {in_percent(before, 0)} "
            "when it was saved: its weights or its tokenizer have changed; copy it again"
        )


def refuse_if_guessing(separated: float, known: Sequence[Known], name: str) -> None:
    """Raises ValueError for a head whose saved separation of its held-out pairs is no better than chance."""
    following = sum(answer for *_, answer in known)
    if verdict(separated, following, len(known) - following) == "chance":
        raise ValueError(
            f"the next-sentence head of {name} puts sentences that follow above others in {in_percent(separated, 0)} "
            f"of its {len(known)} held-out pairs. This is within {DEVIATIONS:g} standard errors of chance: train it "
            "longer, or hold out more pairs"
        )


def refuse_if_untrained(ask: Asks, stories: Sequence[tuple[str, str]], name: str) -> None:
    """Raises ValueError for a head that does not tell which sentence follows clearly better than chance.

    Fifty comparisons and an exact binomial test suffice for most trained heads. A head that does not pass is asked
    every second sentence after every first one. Then a permutation test over the assignment of the second sentences
    decides.
    """
    firsts, seconds = [first for first, _ in stories], [second for _, second in stories]
    shifted = seconds[SHIFT % len(stories) :] + seconds[: SHIFT % len(stories)]
    follows, others = (np.asarray(ask(list(zip(firsts, some, strict=True)))) for some in (seconds, shifted))
    right = int((follows > others).sum())
    if binomial(right, len(stories)) <= CLEAR:
        return
    every = np.asarray(ask([(first, second) for first in firsts for second in seconds]), dtype=np.float64)
    right, above, below = shuffled(every.reshape(len(stories), len(stories)))
    if above <= WEAK:
        return
    compared = len(stories) * (len(stories) - 1)
    if below <= WEAK:
        raise ValueError(
            f"the next-sentence head of {name} puts the sentence that follows first in only {right:,} of {compared:,} "
            "known comparisons. Its answers are the wrong way round: its next_label names the other class"
        )
    raise ValueError(
        f"the next-sentence head of {name} puts the sentence that follows first in {right:,} of {compared:,} known "
        f"comparisons in English (p = {above:.2f}). A trained head must beat chance (p ≤ {WEAK}). Name a head of "
        "`catsofa nsp train` with --nsp, or choose --protocol catsofa,masked_pair=pseudo"
    )


def binomial(right: int, trials: int) -> float:
    """Returns P(at least `right` correct answers) of a head that guesses."""
    return float(sum(comb(trials, k) for k in range(right, trials + 1)) / 2**trials)


def shuffled(scores: NDArray[np.float64]) -> tuple[int, float, float]:
    """Returns how many scores of a row lie below its diagonal, and the p-values of so many and of so few.

    Rows are first sentences, columns second ones. If a head knows nothing, any second could belong to any first.
    """
    below = (scores[:, None, :] < scores[:, :, None]).sum(-1)
    rows = np.arange(len(scores))
    rng = np.random.default_rng(0)
    orders = rng.permuted(np.tile(rows, (SHUFFLES, 1)), axis=1)
    chance = below[rows, orders].sum(axis=1)
    right = int(below.trace())
    p_above, p_below = ((1 + int(beyond.sum())) / (1 + SHUFFLES) for beyond in (chance >= right, chance <= right))
    return right, p_above, p_below
