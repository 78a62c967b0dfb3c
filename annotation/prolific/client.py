"""Prolific's API, as far as a study needs it. The token comes from the environment and appears in no message."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import urlencode

import httpx

from catsofa.data.closing import Closing

API = "https://api.prolific.com/api/v1"
TOKEN, SECRET = "PROLIFIC_TOKEN", "PROLIFIC_WEBHOOK_SECRET"
WAITS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Seconds before each retry, after a rate limit or a failed read."""
LONGEST = 120.0
"""Maximum number of seconds that Prolific may ask to wait."""
TIMEOUT = 60.0
SHORTEST_MESSAGE = 100
"""Minimum number of characters in the message of a rejection."""
MOST_APPROVED, MOST_PAID, PAGE = 1000, 200, 100
"""Maximum number of submissions per approval, per bonus payment, and per page of a list."""
HINTS = {
    401: f"; {TOKEN} should hold an API token of your account (Settings, Go to API token page)",
    403: f"; the token in {TOKEN} may not do this in this workspace",
}
CHANGED = {400, 404, 409}
"""HTTP statuses for a submission that is not in the state that a call needs."""
Action = Literal["publish", "pause", "start", "stop"]


class ProlificError(ValueError):
    """Prolific refused the request or cannot be reached."""

    status: int = 0


class Unanswered(ProlificError):
    """The reply was lost; Prolific may have carried out the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A submission as Prolific lists it."""

    id: str
    person: str
    status: str
    """RESERVED, ACTIVE, AWAITING REVIEW, APPROVED, REJECTED, RETURNED, TIMED-OUT or SCREENED OUT."""
    return_requested: bool


class Prolific(Closing):
    """A client for Prolific with one researcher's token."""

    def __init__(self) -> None:
        """Opens a client with the token in PROLIFIC_TOKEN; raises ValueError without a valid token."""
        token = os.environ.get(TOKEN, "").strip()
        if not token:
            raise ValueError(f"set {TOKEN} in the environment to an API token of your Prolific account")
        if not (token.isascii() and token.isprintable() and " " not in token):
            raise ValueError(f"{TOKEN} holds something that is no token; copy it again from your account's settings")
        self._token = token
        local = httpx.URL(API).host in ("127.0.0.1", "localhost")
        self._client = httpx.Client(
            headers={"Authorization": f"Token {token}"}, timeout=TIMEOUT, trust_env=not local, follow_redirects=False
        )

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def create(self, study: Mapping[str, Any]) -> str:
        """Creates a draft and returns its id."""
        created = self._call("making the study", "POST", "/studies/", study)
        with _documented("making the study"):
            return str(created["id"])

    def named(self, internal_name: str) -> dict[str, str]:
        """Returns the status of each study with this internal name, by id; no participant sees that name."""
        query = urlencode({"search": internal_name})
        listed = self._listed("looking for the study", f"/studies/?{query}")
        return {str(row["id"]): str(row["status"]) for row in listed if row.get("internal_name") == internal_name}

    def update(self, study: str, changes: Mapping[str, Any]) -> None:
        """Changes a draft; Prolific allows few changes to a published study."""
        self._call("changing the draft", "PATCH", f"/studies/{study}/", changes)

    def study(self, study: str) -> Mapping[str, Any]:
        """Returns a study with its status and places."""
        return cast("Mapping[str, Any]", self._call("reading the study", "GET", f"/studies/{study}/"))

    def filters(self) -> dict[str, Mapping[str, Any]]:
        """Returns the filters that Prolific offers, by id, with their choices or ranges."""
        answer = self._call("reading the filters", "GET", "/filters/")
        with _documented("reading the filters"):
            return {str(each["filter_id"]): each for each in answer["results"]}

    def set_places(self, study: str, places: int) -> None:
        """Changes the number of places; Prolific refuses a lower number once the study is published."""
        self._call("changing the places", "PATCH", f"/studies/{study}/", {"total_available_places": places})

    def move(self, study: str, action: Action) -> None:
        """Publishes, pauses, starts or stops a study."""
        self._call(f"asking to {action} the study", "POST", f"/studies/{study}/transition/", {"action": action.upper()})

    def cost(self, reward: int, places: int) -> int:
        """Returns the cost of so many places with fees and taxes, in cents of the account's currency."""
        body = {"reward": reward, "total_available_places": places}
        answer = self._call("asking for the cost", "POST", "/study-cost-calculator/", body)
        with _documented("asking for the cost"):
            total: int = round(answer["total_cost"])
            return total

    def currency(self, study: str) -> str:
        """Returns the currency in which a study is paid; empty if Prolific does not report it."""
        answer = self._call("asking for the cost", "GET", f"/studies/{study}/cost/?is_projected=true")
        match answer:
            case {"rewards": {"rewards": {"currency": str(currency)}}}:
                return currency
        return ""

    def submissions(self, study: str) -> Iterator[Submission]:
        """Yields all submissions of a study, each once."""
        query = f"study={study}&ordering=started_at&page_size={PAGE}"
        for row in self._listed("reading the submissions", f"/submissions/?{query}"):
            with _documented("reading the submissions"):
                yield Submission(
                    id=str(row["id"]),
                    person=str(row["participant_id"]),
                    status=str(row["status"]).upper().replace("_", " "),
                    return_requested=bool(row.get("return_requested")),
                )

    def workspace(self, project: str) -> str:
        """Returns the workspace of a project."""
        answer = self._call("reading the project", "GET", f"/projects/{project}/")
        with _documented("reading the project"):
            return str(answer["workspace"])

    def secret(self, workspace: str) -> str:
        """Returns the secret with which Prolific signs a workspace's events.

        Creates a missing secret, and never replaces one.
        """
        answer = self._call("reading the secret", "GET", f"/hooks/secrets/?{urlencode({'workspace_id': workspace})}")
        with _documented("reading the secret"):
            if not answer["results"]:
                body = {"workspace_id": workspace}
                answer = {"results": [self._call("making the secret", "POST", "/hooks/secrets/", body)]}
            return str(answer["results"][0]["value"])

    def subscriptions(self, workspace: str, event: str, target: str) -> list[str]:
        """Returns the ids of a workspace's subscriptions to this event at this address."""
        query = urlencode({"workspace_id": workspace})
        answer = self._call("reading the subscriptions", "GET", f"/hooks/subscriptions/?{query}")
        with _documented("reading the subscriptions"):
            matches = [
                each for each in answer["results"] if (each["event_type"], each["target_url"]) == (event, target)
            ]
            return [str(each["id"]) for each in matches]

    def subscribe(self, workspace: str, event: str, target: str) -> None:
        """Subscribes this address to such events, and confirms the subscription."""
        body = {"workspace_id": workspace, "event_type": event, "target_url": target}
        answer = self._sent("subscribing", "POST", "/hooks/subscriptions/", body)
        with _documented("subscribing"):
            created, secret = answer.json(), answer.headers["X-Hook-Secret"]
            number = created["id"] if "id" in created else created["results"][-1]["id"]
        self._call("confirming the subscription", "POST", f"/hooks/subscriptions/{number}/", {"secret": secret})

    def unsubscribe(self, subscription: str) -> None:
        """Ends a subscription."""
        self._call("ending the subscription", "DELETE", f"/hooks/subscriptions/{subscription}/")

    def bonuses(self, submission: str) -> int:
        """Returns the cents of all bonuses that Prolific has paid for a submission, whoever requested them."""
        answer = self._call("reading the bonuses", "GET", f"/submissions/{submission}/")
        with _documented("reading the bonuses"):
            return sum(round(cents) for cents in answer["bonus_payments"])

    def _listed(self, doing: str, path: str) -> Iterator[Mapping[str, Any]]:
        """Yields the rows of a list that comes in pages, each once."""
        ids, page = set[str](), 0
        while True:
            page += 1
            try:
                answer = self._call(doing, "GET", f"{path}&page={page}")
            except ProlificError as error:
                if error.status == httpx.codes.NOT_FOUND and page > 1:  # past the last page
                    return
                raise
            with _documented(doing):
                fresh = [row for row in answer["results"] if str(row["id"]) not in ids]
                ids |= {str(row["id"]) for row in fresh}
            if not fresh:
                return
            yield from fresh

    def approve(self, submissions: Sequence[str]) -> None:
        """Approves up to 1,000 submissions; Prolific does so within minutes, and each only once."""
        self._call("approving", "POST", "/submissions/bulk-approve/", {"submission_ids": list(submissions)})

    def ask_return(self, submission: str, reason: str) -> None:
        """Asks a person to return their submission."""
        reasons = {"request_return_reasons": [reason]}
        self._call("asking for a return", "POST", f"/submissions/{submission}/request-return/", reasons)

    def reject(self, submission: str, message: str) -> None:
        """Rejects a submission for failed checks; a second call changes nothing."""
        if len(message) < SHORTEST_MESSAGE:
            raise ValueError(
                f"a message of {len(message)} characters for a rejection: Prolific asks for {SHORTEST_MESSAGE} or more"
            )
        body = {"action": "REJECT", "message": message, "rejection_category": "FAILED_CHECK"}
        self._call("rejecting", "POST", f"/submissions/{submission}/transition/", body)

    def set_up_bonuses(self, study: str, lines: Sequence[str]) -> tuple[str, int]:
        """Sets up a payment of up to 200 bonuses, with lines of `submission,1.50`; pays nothing yet.

        Returns the id of the payment and its cents without fees.
        """
        body = {"study_id": study, "csv_bonuses": "\n".join(lines)}
        payment = self._call("setting up bonuses", "POST", "/submissions/bonus-payments/", body)
        with _documented("setting up bonuses"):
            return str(payment["id"]), round(payment["amount"])

    def pay_bonuses(self, payment: str) -> None:
        """Pays the bonuses of a payment.

        Prolific pays again at every call: note the payment before, and call once.
        """
        self._call("paying bonuses", "POST", f"/bulk-bonus-payments/{payment}/pay/")

    def _call(self, doing: str, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Sends one request and returns the content of the answer."""
        return _content(self._sent(doing, method, path, body))

    def _sent(self, doing: str, method: str, path: str, body: Mapping[str, Any] | None) -> httpx.Response:
        """Sends one request and returns the answer.

        Raises ProlificError if Prolific refuses the request or cannot be reached, and Unanswered if Prolific may have
        carried it out. Retries only reads, and requests that Prolific turned away unread.
        """
        for wait in (*WAITS, None):
            try:
                answer = self._client.request(method, f"{API}{path}", json=body)
            except httpx.TransportError as error:
                if method == "GET" and wait is not None:
                    time.sleep(wait)
                    continue
                reached = not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                kind, problem = (Unanswered, "did not answer") if reached else (ProlificError, "cannot be reached")
                raise kind(f"{doing}: Prolific {problem} ({type(error).__name__})") from None
            again = answer.status_code == httpx.codes.TOO_MANY_REQUESTS or (answer.is_server_error and method == "GET")
            if not again or wait is None:
                break
            delay = answer.headers.get("Retry-After", "")
            time.sleep(min(max(wait, float(delay) if delay.isdecimal() else 0.0), LONGEST))
        if answer.is_success:
            return answer
        content = _content(answer)
        problem = content.get("error", content) if isinstance(content, dict) else content
        parts = (
            [problem.get(name) for name in ("title", "detail", "additional_information")]
            if isinstance(problem, dict)
            else []
        )
        sentence = ": ".join(str(part) for part in parts if part)[:500].replace(self._token, "***")
        busy = "; wait some minutes and run the command again" if answer.status_code == 429 else ""
        hint = HINTS.get(answer.status_code, busy)
        refusal = (Unanswered if answer.is_server_error else ProlificError)(
            f"{doing}: Prolific answered {answer.status_code}{': ' * bool(sentence)}{sentence}{hint}"
        )
        refusal.status = answer.status_code
        raise refusal


def _content(answer: httpx.Response) -> Any:
    """Returns the JSON of an answer; an empty dict if the content is no JSON."""
    try:
        return answer.json() if answer.content else {}
    except ValueError:
        return {}


@contextmanager
def _documented(doing: str) -> Iterator[None]:
    """Raises ProlificError if an answer lacks what Prolific's documentation promises."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise ProlificError(f"{doing}: the answer of Prolific has another form than documented ({error!r})") from None
