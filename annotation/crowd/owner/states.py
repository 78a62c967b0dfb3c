"""States of people and of their tasks, in words for the owner."""

RESTING = "resting"
"""State of a person at work who did the minutes of a day; the store does not have it."""
PEOPLE = {
    "working": "at work",
    RESTING: "at work, did the minutes of a day",
    "finished": "finished",
    "failed": "failed the checks",
    "paused": "paused",
    "voided": "judgements set aside",
    "screened": "did not pass practice",
    "full": "came when no work was left",
    "declined": "did not agree",
    "withdrawn": "withdrew",
}
OUTCOMES = {
    "paused_for_checks": "paused after failed checks",
    "paused_for_pace": "paused after answers that were too fast",
}
"""Outcomes that are more specific than the state."""
EARLY = {"failed_practice": "stopped during practice", "screened_out": "stopped before the first task"}
"""Outcomes of people who finished without a task that counts."""
TASKS = {
    "held": "in somebody’s hands",
    "valid": "judged, count",
    "surplus": "judged, more than wanted",
    "void": "judged, set aside",
    "checked": "judged, the text is gone",
    "skipped": "skipped",
    "expired": "given to others after a long time",
    "own": "texts, kept from their writers",
    "withdrawn": "withdrawn",
}
ACTS = {"pause": "paused", "void": "set aside", "restore": "taken back"}
"""Decisions of the owner about a person."""


def of_person(state: str, outcome: str = "") -> str:
    """Returns the state of a person in words."""
    words = {"paused": OUTCOMES, "finished": EARLY}.get(state, {})
    return words.get(outcome, PEOPLE.get(state, state))
