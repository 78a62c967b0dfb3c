"""A thin client for Label Studio, built on its SDK.

The client turns off the SDK's retries for writes, because a repeated POST creates duplicate tasks. It never shows the
SDK's error messages, because their text holds the session cookie.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from catsofa.annotation.study import Study

TESTED = "1.23"
"""The release series that this client was measured on."""
URL, KEY = "LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"
HINTS = {
    401: f"; {KEY} should hold a token of yours",
    404: f"; is it still there, and is {URL} the address of the server alone, without a page?",
}
"""Hints added to error messages, by HTTP status."""
IN_ONE_QUERY = 200
"""Maximum number of tokens in one query, because the tokens are part of the address."""
EVERYBODY = 10_000
"""The overlap of gold items: more people than any study has."""
_FIELDS = "id,data,annotations,result,completed_by,was_cancelled,lead_time,created_at,updated_at,overlap,is_labeled"


class ServerError(ValueError):
    """The server refused the request or cannot be reached."""


class Unanswered(ServerError):
    """The server did not answer in time; it may have carried out the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The edition and release of a Label Studio server."""

    edition: str
    release: str

    @property
    def doubt(self) -> str:
        """A warning about an edition or release that was not measured; empty for one that was."""
        if self.edition == "Community" and self.release.startswith(f"{TESTED}."):
            return ""
        return f"this is Label Studio {self.release} ({self.edition}); catsofa was tried with {TESTED}, Community"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTask:
    """A task on the server."""

    id: int
    data: Mapping[str, Any]
    overlap: int = 1
    finished: bool = False
    answers: int = 0
    annotations: Sequence[Mapping[str, Any]] = field(default_factory=list)

    @property
    def token(self) -> str:
        """The name that catsofa gave to the task; empty in any other project."""
        return str(self.data.get("item", ""))


class Server:
    """A running Label Studio, accessed with the token of one of its users."""

    def __init__(self, url: str, key: str, timeout: float = 60) -> None:
        """Signs in to the server at `url`; the key is a legacy or a personal access token."""
        from label_studio_sdk import LabelStudio

        if not url.startswith(("http://", "https://")):
            raise ValueError(f"{url!r} is no address of a server; it should begin with http:// or https://")
        self.url = url.rstrip("/")
        # a server on this machine is not reached through a proxy
        local = httpx.URL(self.url).host in ("127.0.0.1", "localhost", "::1")
        self._browser: Any = {"timeout": timeout, "trust_env": not local}
        with self._said("signing in"):
            client = httpx.Client(follow_redirects=True, **self._browser)
            self._sdk = LabelStudio(base_url=self.url, api_key=key, timeout=timeout, httpx_client=client)
        self._once: Any = {"max_retries": 0, "timeout_in_seconds": timeout}

    def _said(self, doing: str) -> AbstractContextManager[None]:
        """Converts the errors of a request into a ServerError that names the server and the request."""
        return _said(f"{self.url}: {doing}")

    def version(self) -> Version:
        """Returns the edition and release, which also shows that the server is reachable."""
        with self._said("asking for the version"):
            answer = self._sdk.versions.get()
        return Version(edition=str(answer.edition or ""), release=str(answer.release or ""))

    def user(self) -> int:
        """Returns the id of the token's user, which also shows that the token is valid."""
        with self._said("signing in"):
            return int(self._sdk.users.whoami().id)

    def create_project(self, title: str, config: str, instruction: str, overlap: int, marker: str) -> int:
        """Creates a project with all settings for blind work by several people; returns its id.

        Returns an existing project if it has this marker.
        """
        with self._said("looking for the project"):
            existing = [int(project.id) for project in self._sdk.projects.list() if project.description == marker]
        if existing:
            return min(existing)
        with self._said("creating the project"):
            created = self._sdk.projects.create(
                title=title,
                description=marker,
                label_config=config,
                expert_instruction=instruction,
                show_instruction=True,
                maximum_annotations=overlap,
                overlap_cohort_percentage=100,
                sampling="Uniform sampling",
                show_skip_button=True,
                skip_queue="REQUEUE_FOR_OTHERS",
                enable_empty_annotation=False,
                show_collab_predictions=False,
                show_annotation_history=False,
                show_ground_truth_first=False,
                show_overlap_first=False,
                request_options=self._once,
            )
        return int(created.id)

    def task_count(self, project: int) -> int:
        """Returns the number of tasks in the project."""
        with self._said(f"reading project {project}"):
            return int(self._sdk.projects.get(project).task_number or 0)

    def find(self, project: int, tokens: Sequence[str]) -> Iterator[ServerTask]:
        """Yields the tasks with these tokens, without people's answers."""
        for start in range(0, len(tokens), IN_ONE_QUERY):
            some = tokens[start : start + IN_ONE_QUERY]
            query = _filter("data.item", "in_list", "String", list(some))
            yield from self._tasks(
                project, query, "task_only", "id,data,overlap,is_labeled,total_annotations", 4 * IN_ONE_QUERY
            )

    def answered_since(self, project: int, since: str, page: int) -> Iterator[ServerTask]:
        """Yields the tasks changed after a time (all tasks, if it is empty), with people's answers."""
        query = _filter("updated_at", "greater", "Datetime", since) if since else {}
        yield from self._tasks(project, query, "all", _FIELDS, page)

    def _tasks(self, project: int, query: dict[str, Any], fields: Any, include: str, page: int) -> Iterator[ServerTask]:
        """Yields tasks ordered by id, page after page."""
        ordered = json.dumps(query | {"ordering": ["tasks:id"]})
        with self._said(f"reading the tasks of project {project}"):
            pages = self._sdk.tasks.list(project=project, query=ordered, fields=fields, include=include, page_size=page)
            for task in pages:
                annotations = (
                    task.annotations if isinstance(task.annotations, list) else json.loads(task.annotations or "[]")
                )
                yield ServerTask(
                    id=int(task.id),
                    data=task.data if isinstance(task.data, dict) else {},
                    overlap=int(task.overlap or 1),
                    finished=bool(task.is_labeled),
                    answers=int(getattr(task, "total_annotations", 0) or 0),
                    annotations=[a if isinstance(a, dict) else a.model_dump(mode="json") for a in annotations],
                )

    def add(self, project: int, tasks: Iterable[Mapping[str, str]]) -> None:
        """Imports tasks, all of them or none; after an Unanswered, the server may still have imported them."""
        with self._said(f"sending tasks to project {project}"):
            self._sdk.projects.import_tasks(
                project, request=[{"data": dict(data)} for data in tasks], request_options=self._once
            )

    def set_overlap(self, task: int, overlap: int, *, finished: bool = False) -> None:
        """Sets the number of people who are shown a task, and whether the task is finished."""
        with self._said(f"changing task {task}"):
            self._sdk.tasks.update(id=str(task), overlap=overlap, is_labeled=finished, request_options=self._once)

    def remove(self, task: int) -> None:
        """Removes a task; a task that is already gone is no error."""
        try:
            with self._said(f"removing task {task}"):
                self._sdk.tasks.delete(id=str(task), request_options=self._once)
        except ServerError as error:
            if "answered 404" not in str(error):
                raise

    def skip_for(self, task: int, user: int, mark: str) -> bool:
        """Skips a task for a user, so that the server never shows it to them; returns True if the skip is new.

        A second skip with the same mark changes nothing.
        """
        try:
            with self._said(f"skipping task {task}"):
                self._sdk.annotations.create(
                    id=task,
                    result=[],
                    was_cancelled=True,
                    ground_truth=False,
                    completed_by=user,
                    unique_id=mark,
                    request_options=self._once,
                )
        except ServerError as error:
            if "answered 409" not in str(error):
                raise
            return False
        return True

    def users(self) -> dict[int, str]:
        """Returns the e-mail address of each user, by user id."""
        with self._said("reading the users"):
            return {int(user.id): str(user.email).casefold() for user in self._sdk.users.list()}

    def sign_up(self, email: str, password: str) -> int:
        """Creates an account through the organisation's invitation link; returns the user's id."""
        with self._said(f"inviting {email}"):
            link = str(self._sdk.organizations.invites.get_invite_link().invite_url)
        address = link if link.startswith("http") else self.url + link
        with self._said(f"making an account for {email}"), httpx.Client(**self._browser) as browser:
            browser.get(address).raise_for_status()
            form = {
                "csrfmiddlewaretoken": browser.cookies["csrftoken"],
                "email": email,
                "password": password,
                "allow_newsletters": "false",
            }
            done = browser.post(address, data=form, headers={"Referer": address})
            if done.status_code != httpx.codes.FOUND:
                raise ServerError(f"making an account for {email}: the server refused the address or the password")
            return int(browser.get(f"{self.url}/api/current-user/whoami").raise_for_status().json()["id"])


def from_environment(url: str = "", timeout: float = 60) -> Server:
    """Returns the server at `url`, or else in LABEL_STUDIO_URL, with the token in LABEL_STUDIO_API_KEY."""
    url = url or os.environ.get(URL, "")
    key = os.environ.get(KEY, "")
    if not url or not key:
        missing = " and ".join(name for name, value in ((URL, url), (KEY, key)) if not value)
        raise ValueError(
            f"set {missing} in the environment: the address of a Label Studio and a token of yours "
            "(Account & Settings); catsofa annotate serve starts one and shows both"
        )
    return Server(url, key, timeout)


def server_of(study: "Study") -> Server:
    """Returns the server that holds the tasks of a study; raises ValueError if no server holds any."""
    return from_environment(study.settings.url if study.project else "")


def _filter(name: str, operator: str, value_type: str, value: Any) -> dict[str, Any]:
    """Returns a query for the Data Manager with one condition."""
    one = {"filter": f"filter:tasks:{name}", "operator": operator, "type": value_type, "value": value}
    return {"filters": {"conjunction": "and", "items": [one]}}


@contextmanager
def _said(doing: str) -> Iterator[None]:
    """Converts errors into a ServerError of one sentence, without headers, cookies or tokens."""
    from label_studio_sdk.core.api_error import ApiError

    try:
        yield
    except ApiError as error:
        kind = Unanswered if (error.status_code or 500) >= 500 else ServerError
        hint = HINTS.get(error.status_code or 0, "")
        body = error.body if isinstance(error.body, Mapping) else {}
        complaint = " ".join(str(body.get("validation_errors") or body.get("detail") or "").split())[:300]
        detail = f": {complaint}" if complaint else ""
        raise kind(f"{doing}: Label Studio answered {error.status_code}{detail}{hint}") from None
    except httpx.HTTPStatusError as error:
        raise ServerError(f"{doing}: Label Studio answered {error.response.status_code}") from None
    except httpx.TransportError as error:
        raise Unanswered(f"{doing}: Label Studio did not answer ({type(error).__name__}); is it running?") from None
