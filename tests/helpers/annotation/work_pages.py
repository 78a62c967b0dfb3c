"""The pages of an open study in Chromium: its settings, its link and the consent of a person."""

from typing import Any

TOML = """
[platform]
name = "prolific"
codes = { completed = "DONE1", no_consent = "NOPE2" }
[quality]
first = 3
[ethics]
institution = "Example University"
protocol = "2027-014"
debriefing = "after.txt"
"""
LINK = "/?PROLIFIC_PID=P1&SESSION_ID=S1"


def agree(page: Any, address: str) -> None:
    """Opens a link of the platform and gives consent."""
    page.goto(address + LINK)
    page.get_by_label("I am 18 or older").check()
    page.get_by_role("button", name="I have read this and agree").click()


def answer_first(page: Any, address: str) -> None:
    """Gives consent and answers the first of five tasks."""
    agree(page, address)
    page.get_by_text("1 of 5").wait_for()
    page.keyboard.type("159")
    page.keyboard.press("Enter")
    page.get_by_text("2 of 5").wait_for()
