"""Prolific's events for changed submissions: the subscription and the signature. No message shows the secret."""

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
"""Maximum number of seconds between the time in an event and its arrival."""


def verifying() -> Verify | None:
    """Returns a function that verifies events with the secret in PROLIFIC_WEBHOOK_SECRET; None without a secret."""
    secret = os.environ.get(SECRET, "").strip()
    if not secret.isascii():
        raise ValueError(f"{SECRET} holds no secret; catsofa annotate prolific webhook STUDY on shows the right one")
    return partial(verified, secret) if secret else None


def verified(secret: str, headers: Mapping[str, str], raw: bytes, now: float) -> str:
    """Returns the id of an event that Prolific signed within the last five minutes; raises Refused for any other."""
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
    """The address to which Prolific reports changes of submissions, and whether the subscription exists."""

    target: str
    subscribed: bool
    secret: str = field(default="", repr=False)


def switched(study: Study, prolific: Prolific, wanted: Literal["on", "off"] | None) -> Hook:
    """Turns Prolific's reports to the server of a study on or off, or reads their state if `wanted` is None.

    The address comes from the study on Prolific.
    """
    remote = prolific.study(Journal(study).study())
    target = str(remote.get("external_study_url", "")).partition("/?")[0] + EVENTS
    workspace = prolific.workspace(str(remote.get("project", "")))
    subscriptions = prolific.subscriptions(workspace, EVENT, target)
    if wanted is None:
        return Hook(target=target, subscribed=bool(subscriptions))
    secret = prolific.secret(workspace) if wanted == "on" else ""
    for each in subscriptions:
        prolific.unsubscribe(each)
    if secret:
        prolific.subscribe(workspace, EVENT, target)
    return Hook(target=target, subscribed=bool(secret), secret=secret)
