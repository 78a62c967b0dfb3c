"""Prolific tells that a submission changed: the subscription, and the signature. No message has the secret."""

import base64
import hmac
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from catsofa.annotation.crowd.http.guards import Refused
from catsofa.annotation.crowd.http.watching import EVENTS, Verify
from catsofa.annotation.prolific.client import SECRET, Prolific
from catsofa.annotation.prolific.journal import Journal
from catsofa.annotation.study import Study

EVENT = "submission.status.change"
WINDOW = 300.0
"""Seconds between the time that an event names and its arrival, at most."""


def verifying() -> Verify | None:
    """What verifies events by the secret in PROLIFIC_WEBHOOK_SECRET; None without one."""
    secret = os.environ.get(SECRET, "").strip()
    if not secret.isascii():
        raise ValueError(f"{SECRET} holds no secret; catsofa annotate prolific webhook STUDY on shows the right one")
    return partial(verified, secret) if secret else None


def verified(secret: str, headers: Mapping[str, str], raw: bytes, now: float) -> str:
    """The number of an event that Prolific signed just now; anything else is refused."""
    sent = headers.get("X-Prolific-Request-Timestamp", "")
    right = base64.b64encode(hmac.digest(secret.encode(), sent.encode() + raw, "sha256"))
    if not hmac.compare_digest(right, headers.get("X-Prolific-Request-Signature", "").encode()):
        raise Refused(401, "the signature does not fit")
    try:
        recent = abs(now - float(sent)) <= WINDOW
    except ValueError:
        recent = False
    if not recent:
        raise Refused(401, "this was not sent within the last five minutes")
    try:
        event = json.loads(raw)
    except (ValueError, RecursionError):
        raise Refused(400, "that is no JSON") from None
    number = headers.get("X-Event-ID", "")
    if not (isinstance(event, dict) and number):
        raise Refused(400, "send a JSON object, and its number as X-Event-ID")
    return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """Where Prolific tells of changes of submissions."""

    target: str
    subscribed: bool
    secret: str = field(default="", repr=False)


def switched(study: Study, prolific: Prolific, wanted: Literal["on", "off"] | None) -> Hook:
    """Have Prolific tell the server of a study, or no longer; the address is that of the study there."""
    made = prolific.study(Journal(study).study())
    target = str(made.get("external_study_url", "")).partition("/?")[0] + EVENTS
    workspace = prolific.workspace(str(made.get("project", "")))
    there = prolific.subscriptions(workspace, EVENT, target)
    if wanted is None:
        return Hook(target=target, subscribed=bool(there))
    secret = prolific.secret(workspace) if wanted == "on" else ""
    for each in there:
        prolific.unsubscribe(each)
    if secret:
        prolific.subscribe(workspace, EVENT, target)
    return Hook(target=target, subscribed=bool(secret), secret=secret)
