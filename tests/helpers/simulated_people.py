"""Crowds whose people have a known skill, so that an estimate can be compared with the truth."""

import numpy as np

from catsofa.data.records import Annotation


def crowd(
    seed: int, *, items: int = 1500, people: int = 60, spammers: int = 12, labels: int = 3, judges: int = 5
) -> tuple[dict[str, str], list[Annotation]]:
    """Returns the truth, and five answers per item; the first `spammers` people ignore the item."""
    rng = np.random.default_rng(seed)
    names = [f"label {n}" for n in range(labels)]
    skills = rng.uniform(0.7, 0.95, size=people)
    habits = rng.dirichlet(np.ones(labels), size=people)
    truth: dict[str, str] = {}
    answers: list[Annotation] = []
    for item in range(items):
        right = int(rng.integers(labels))
        truth[f"item {item}"] = names[right]
        for person in rng.choice(people, judges, replace=False):
            chances = np.full(labels, (1 - skills[person]) / (labels - 1))
            chances[right] = skills[person]
            label = names[rng.choice(labels, p=habits[person] if person < spammers else chances)]
            answers.append(Annotation(item=f"item {item}", annotator=f"person {person}", label=label))
    return truth, answers
