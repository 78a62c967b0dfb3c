"""A local Prolific: its calls, states and refusals follow its documentation, with faults on demand."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from helpers.servers.threads import on_a_free_port

TOKEN = "a-token-that-nobody-should-see"
REQUIRED = {"name", "description", "external_study_url", "prolific_id_option", "completion_codes",
            "total_available_places", "estimated_completion_time", "reward"}  # fmt: skip
CODE_TYPES = {"COMPLETED", "FAILED_ATTENTION_CHECK", "NO_CONSENT", "SCREENED_OUT", "OTHER"}
CATEGORIES = {"FAILED_CHECK", "LOW_EFFORT", "NO_CODE", "BAD_CODE", "NO_DATA", "OTHER"}
MOVES = {
    ("UNPUBLISHED", "PUBLISH"): "ACTIVE",
    ("ACTIVE", "PAUSE"): "PAUSED",
    ("PAUSED", "START"): "ACTIVE",
    ("ACTIVE", "STOP"): "COMPLETED",
    ("PAUSED", "STOP"): "COMPLETED",
}
FILTERS = [
    {"filter_id": "current-country-of-residence", "type": "select", "choices": {"0": "Pellora", "1": "United States"}},
    {"filter_id": "approval_rate", "type": "range", "min": 0, "max": 100},
    {"filter_id": "approval_numbers", "type": "range", "min": 0, "max": 10000},
]
AFTERWARDS = {"internal_name", "total_available_places", "access_details", "submissions_config"}
"""Fields of a published study that may change."""


class Refusal(Exception):
    """An error response."""

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


@dataclass
class Prolific:
    """The state of Prolific."""

    url: str = ""
    currency: str = "USD"
    fee: tuple[int, int] = (1, 3)
    """The fee as a share of rewards; taxes are a fifth of the fee."""
    studies: dict[str, dict[str, Any]] = field(default_factory=dict)
    submissions: dict[str, dict[str, Any]] = field(default_factory=dict)
    payments: dict[str, dict[str, int]] = field(default_factory=dict)
    """The cents of each submission in each payment that was set up."""
    paid: Counter[str] = field(default_factory=Counter)
    """The cents that were paid as bonuses, by submission."""
    times: Counter[str] = field(default_factory=Counter)
    """Number of bonuses of each submission."""
    approving: set[str] = field(default_factory=set)
    messages: list[tuple[str, str]] = field(default_factory=list)
    """Messages of rejections and returns, by submission."""
    secrets: list[dict[str, str]] = field(default_factory=list)
    """The secret of the workspace, at most one."""
    hooks: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The subscriptions, each with the secret that confirms it."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    busy: int = 0
    """Number of next requests that get 429."""
    lose: str = ""
    """The end of a path whose next reply is lost after the work, or before it if the value begins with `-`."""
    alters: dict[str, Any] = field(default_factory=dict)
    """Replacements for answers, by path."""

    def hand_in(self, submission: str, person: str, status: str = "AWAITING REVIEW") -> None:
        """Records that a person submitted their work."""
        row = {"id": submission, "participant_id": person, "started_at": "2027-01-01T00:00:00Z"}
        self.submissions[submission] = {**row, "status": status, "return_requested": None, "has_siblings": False}

    def total(self, reward: int, places: int) -> tuple[int, int, int]:
        """Returns rewards, fee and tax in cents."""
        rewards = reward * places
        fee = -(-rewards * self.fee[0] // self.fee[1])
        return rewards, fee, fee // 5

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Returns the answer to a call."""
        place = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(place.query).items()}
        calls: list[tuple[str, str, Callable[..., tuple[int, Any]]]] = [
            ("GET", "filters/", lambda: (200, {"results": FILTERS})),
            ("POST", "studies/", lambda: self._create(body)),
            ("GET", "studies/", lambda: self._search(query)),
            ("GET", "studies/([^/]+)/", self._study),
            ("PATCH", "studies/([^/]+)/", lambda id: self._patch(id, body)),
            ("POST", "studies/([^/]+)/transition/", lambda id: self._move(id, body)),
            ("GET", "studies/([^/]+)/cost/", lambda id: self._cost(id)),
            ("POST", "study-cost-calculator/", lambda: self._calculate(body)),
            ("GET", "submissions/", lambda: self._list(query)),
            ("GET", "submissions/([^/]+)/", self._submission),
            ("POST", "submissions/bulk-approve/", lambda: self._approve(body)),
            ("POST", "submissions/([^/]+)/request-return/", lambda id: self._ask_return(id, body)),
            ("POST", "submissions/([^/]+)/transition/", lambda id: self._reject(id, body)),
            ("POST", "submissions/bonus-payments/", lambda: self._set_up(body)),
            ("POST", "bulk-bonus-payments/([^/]+)/pay/", self._pay),
            ("GET", "projects/project1/", lambda: (200, {"id": "project1", "workspace": "space1"})),
            ("GET", "hooks/secrets/", lambda: (200, {"results": self.secrets})),
            ("POST", "hooks/secrets/", self._make_secret),
            ("GET", "hooks/subscriptions/", lambda: (200, {"results": self._enabled(query)})),
            ("POST", "hooks/subscriptions/", lambda: self._subscribe(body)),
            ("POST", "hooks/subscriptions/([^/]+)/", lambda id: self._confirm(id, body)),
            ("DELETE", "hooks/subscriptions/([^/]+)/", self._unsubscribe),
        ]
        for verb, pattern, act in calls:
            if verb == method and (match := re.fullmatch(f"/{pattern}", place.path)):
                return act(*match.groups())
        raise Refusal(404, "Not found.")

    def _create(self, body: Any) -> tuple[int, Any]:
        if missing := REQUIRED - body.keys():
            raise Refusal(400, {name: ["This field is required."] for name in sorted(missing)})
        codes = body["completion_codes"]
        if len({code["code"] for code in codes}) < len(codes) or {code["code_type"] for code in codes} - CODE_TYPES:
            raise Refusal(400, {"completion_codes": ["Each code must be unique and of a known type."]})
        if len(body.get("content_warnings", [])) > 1 or len(body.get("study_labels", [])) > 1:
            raise Refusal(400, "Select one only.")
        if not isinstance(body["reward"], int) or body["reward"] * 60 < 600 * body["estimated_completion_time"]:
            raise Refusal(400, {"reward": ["The reward is below the minimum."]})
        study_id = f"study{len(self.studies) + 1}"
        self.studies[study_id] = {"project": "project1", **body, "id": study_id, "status": "UNPUBLISHED"}
        return 201, self.studies[study_id]

    def _known(self, study: str) -> dict[str, Any]:
        if study not in self.studies:
            raise Refusal(404, "Not found.")
        return self.studies[study]

    def _study(self, study: str) -> tuple[int, Any]:
        return 200, self._known(study)

    def _patch(self, study: str, body: Any) -> tuple[int, Any]:
        known = self._known(study)
        if known["status"] != "UNPUBLISHED":
            if body.keys() - AFTERWARDS:
                raise Refusal(400, "This cannot change after publishing.")
            if body.get("total_available_places", known["total_available_places"]) < known["total_available_places"]:
                raise Refusal(400, {"total_available_places": ["Places can only be increased."]})
        known.update(body)
        return 200, known

    def _move(self, study: str, body: Any) -> tuple[int, Any]:
        current = self._known(study)
        if (after := MOVES.get((current["status"], body["action"]))) is None:
            raise Refusal(409, f"A study that is {current['status']} does not allow {body['action']}.")
        current["status"] = after
        return 200, current

    def _cost(self, study: str) -> tuple[int, Any]:
        current = self._known(study)
        parts = self.total(current["reward"], current["total_available_places"])
        named = zip(("rewards", "fees", "tax"), parts, strict=True)
        return 200, {"rewards": {name: {"amount": cents, "currency": self.currency} for name, cents in named}}

    def _calculate(self, body: Any) -> tuple[int, Any]:
        return 200, {"total_cost": float(sum(self.total(body["reward"], body["total_available_places"])))}

    def _search(self, query: dict[str, str]) -> tuple[int, Any]:
        matches = [
            {name: study.get(name) for name in ("id", "name", "internal_name", "status", "reward")}
            for study in self.studies.values()
            if any(query["search"] in str(study.get(name)) for name in ("id", "name", "internal_name"))
        ]
        return self._page(matches, query)

    def _list(self, query: dict[str, str]) -> tuple[int, Any]:
        for each in self.approving:
            self.submissions[each]["status"] = "APPROVED"
        self.approving.clear()
        return self._page(list(self.submissions.values()), query)

    def _submission(self, submission: str) -> tuple[int, Any]:
        if submission not in self.submissions:
            raise Refusal(404, "Not found.")
        cents = self.paid[submission]
        return 200, {**self.submissions[submission], "bonus_payments": [cents] if cents else []}

    def _page(self, rows: list[dict[str, Any]], query: dict[str, str]) -> tuple[int, Any]:
        size, page = min(int(query.get("page_size", 20)), 50), int(query.get("page", 1))  # less than the requested size
        selection = rows[(page - 1) * size : page * size]
        if not selection and page > 1:
            raise Refusal(404, "Invalid page.")
        return 200, {"results": selection}

    def _waiting(self, submission: str) -> dict[str, Any]:
        if submission not in self.submissions:
            raise Refusal(404, "Not found.")
        row = self.submissions[submission]
        if row["status"] != "AWAITING REVIEW":
            raise Refusal(409, f"The submission is {row['status']}.")
        return row

    def _approve(self, body: Any) -> tuple[int, Any]:
        if len(body["submission_ids"]) > 1000:
            raise Refusal(400, "At most 1,000 submissions.")
        self.approving |= {self._waiting(each)["id"] for each in body["submission_ids"]}
        return 200, {}

    def _ask_return(self, submission: str, body: Any) -> tuple[int, Any]:
        self._waiting(submission)["return_requested"] = "2027-01-02T00:00:00Z"
        self.messages.append((submission, *body["request_return_reasons"]))
        return 200, self.submissions[submission]

    def _reject(self, submission: str, body: Any) -> tuple[int, Any]:
        if body["action"] != "REJECT" or body.get("rejection_category") not in CATEGORIES:
            raise Refusal(400, {"rejection_category": ["This field is required."]})
        if len(body.get("message", "")) < 100:
            raise Refusal(400, {"message": ["Ensure this field has at least 100 characters."]})
        if self.submissions[submission]["status"] != "REJECTED":
            self._waiting(submission)["status"] = "REJECTED"
            self.messages.append((submission, body["message"]))
        return 200, self.submissions[submission]

    def _set_up(self, body: Any) -> tuple[int, Any]:
        self._known(body["study_id"])
        lines = [line.split(",") for line in body["csv_bonuses"].split()]
        if len(lines) > 200:
            raise Refusal(400, "At most 200 bonuses.")
        if unknown := [name for name, _ in lines if name not in self.submissions]:
            raise Refusal(400, f"These ids took no part in the study: {', '.join(unknown)}")
        payment_id = f"bonus{len(self.payments) + 1}"
        self.payments[payment_id] = {name: int(Decimal(amount) * 100) for name, amount in lines}
        total = sum(self.payments[payment_id].values())
        return 201, {"id": payment_id, "study": body["study_id"], "amount": float(total), "total_amount": total * 1.4}

    def _pay(self, payment: str) -> tuple[int, Any]:
        if payment not in self.payments:
            raise Refusal(404, "Not found.")
        self.paid.update(self.payments[payment])
        self.times.update(self.payments[payment].keys())
        return 202, "We are processing your payments."

    def _make_secret(self) -> tuple[int, Any]:
        self.secrets = [{"id": "secret1", "value": f"a-secret-of-{len(self.asked)}", "workspace_id": "space1"}]
        return 201, self.secrets[0]

    def _enabled(self, query: dict[str, str]) -> list[dict[str, Any]]:
        rows = [
            each for each in self.hooks.values() if each["is_enabled"] and each["workspace_id"] == query["workspace_id"]
        ]
        return [{name: value for name, value in each.items() if name != "secret"} for each in rows]

    def _subscribe(self, body: Any) -> tuple[int, Any]:
        if not (self.secrets and body["target_url"].startswith("https://")):
            raise Refusal(400, {"target_url": ["Make a secret first, and give a public https address."]})
        hook_id = f"hook{len(self.asked)}"
        self.hooks[hook_id] = {**body, "id": hook_id, "is_enabled": False, "secret": f"confirm-{hook_id}"}
        return 201, {"id": hook_id, **body}

    def _confirm(self, hook: str, body: Any) -> tuple[int, Any]:
        if body["secret"] != self.hooks[hook]["secret"]:
            raise Refusal(400, "This secret is another.")
        self.hooks[hook]["is_enabled"] = True
        return 200, {"id": hook}

    def _unsubscribe(self, hook: str) -> tuple[int, Any]:
        del self.hooks[hook]
        return 204, None


class _Handler(BaseHTTPRequestHandler):
    """Answers the calls, or fails as configured."""

    protocol_version = "HTTP/1.1"
    prolific: Prolific

    def do_GET(self) -> None:
        """Handles one call."""
        self._serve(None)

    def do_POST(self) -> None:
        """Handles one call with a body."""
        self._serve(json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null"))

    do_PATCH = do_POST
    do_DELETE = do_GET

    def _serve(self, body: Any) -> None:
        server, path = self.prolific, self.path
        server.asked.append((self.command, path))
        lost = server.lose.removeprefix("-")
        if lost and path.endswith(lost):
            before, server.lose = server.lose.startswith("-"), ""
            if not before:
                server.answer(self.command, path, body)
            self.close_connection = True
            return
        if server.busy:
            server.busy -= 1
            self._send(429, _error(429, "Too many requests.", ""))
        elif self.headers["Authorization"] != f"Token {TOKEN}":
            self._send(401, _error(401, f"Unknown {self.headers['Authorization']}", ""))
        else:
            try:
                status, answer = server.answer(self.command, path, body)
            except Refusal as refusal:
                status, answer = refusal.status, _error(refusal.status, refusal.detail, TOKEN)
            self._send(status, server.alters.get(path, answer))

    def _send(self, status: int, answer: Any) -> None:
        content = b"" if status == 204 else json.dumps(answer).encode()
        self.send_response(status)
        named = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        if self.path == "/hooks/subscriptions/" and status == 201:
            named["X-Hook-Secret"] = self.prolific.hooks[answer["id"]]["secret"]
        for name, value in named.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: Any) -> None:
        """Logs nothing."""


def _error(status: int, detail: Any, more: str) -> Any:
    """Returns an error in Prolific's format, which repeats the token, as no server should."""
    error = {"status": status, "error_code": 140000, "title": "Bad request", "detail": detail}
    return {"error": {**error, "additional_information": more}}


@contextmanager
def serving() -> Iterator[Prolific]:
    """Starts a Prolific on a free port."""
    prolific = Prolific()
    with on_a_free_port(type("Handler", (_Handler,), {"prolific": prolific})) as prolific.url:
        yield prolific
