"""Pages of the work: one task after another, its drafts and answers, and the final page."""

import json
import time
from dataclasses import asdict
from random import Random
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from catsofa.annotation.crowd import money, quality, seats, texts
from catsofa.annotation.crowd.http import answers, guards
from catsofa.annotation.crowd.http.site import Site
from catsofa.annotation.crowd.people import arrivals
from catsofa.annotation.crowd.people.background import Background
from catsofa.annotation.crowd.practice import Lesson
from catsofa.annotation.crowd.seats import Given, Rest
from catsofa.annotation.crowd.settings import WITH_CODES
from catsofa.annotation.crowd.store import Row, Rows
from catsofa.annotation.label_studio import people
from catsofa.annotation.results import drafts
from catsofa.annotation.study.kinds import Fields, Kind
from catsofa.data.languages.texts import language_of

BACK = "https://app.prolific.com/submissions/complete?cc="


class Work:
    """Handlers for the work of people."""

    def __init__(self, site: Site) -> None:
        """Loads the tasks of the study."""
        self._site, self._background = site, Background(site.study)
        self._lessons = {lesson.task.key.token: lesson for lesson in site.opening.lessons}
        self._tasks = {task.key.token: task for task in site.study.tasks()}
        self._tasks |= {token: lesson.task for token, lesson in self._lessons.items()}
        study = site.study
        for language in {language_of(term) for term in study.items.values()} if study.kind.judged_as else ():
            [*drafts.like("a word", ["another"], language)]  # the first comparison loads tables for seconds
        self._parts = {
            kind.name: [asdict(part) for part in study.shown(kind).parts] for kind in (study.kind, study.kind.judged)
        }

    async def page(self, request: Request) -> Response:
        """Returns the page on which people work, after the questions about them."""
        person = await self._site.do(lambda held: seats.known(held, self._site.who(held, request)))
        if person["state"] in seats.ENDED:
            return RedirectResponse("done", status_code=303)
        if self._site.asked and not await run_in_threadpool(self._background.said, [person["name"]]):
            return RedirectResponse("about-you", status_code=303)
        return self._site.page("work")

    def _kind(self, token: str) -> Kind:
        """Returns the kind of a task; texts of people, gold items and practice items have the judged kind."""
        key = self._site.study.sealed.get(token)
        return self._site.study.kind if key and not key.gold else self._site.study.kind.judged

    def _shown(self, held: Rows, token: str) -> Fields:
        """Returns the fields of a task that people see."""
        if (task := self._tasks.get(token)) is None:
            study, text = self._site.study, texts.shown(held, token)
            assert text is not None, "a task that is given out is one of the study, or a text of somebody"
            term = study.items[study.sealed[text["task"]].item]
            return study.worded(study.kind.judged.show(drafts.association(term, _attribute(text), token), Random(0))[0])
        return self._site.study.worded({name: value for name, value in task.data.items() if name != "item"})

    def _others(self, held: Rows, token: str) -> list[str]:
        """Returns the texts of others about the target of a task, where a new text must not repeat them."""
        return [*map(_attribute, texts.about(held, token))] if self._kind(token).judged_as else []

    async def next(self, request: Request) -> Response:
        """Returns the person's current or next task, or tells the page to rest, to wait or to end.

        A page that was `loaded` again gets the last practice item with its explanation, if nothing came after it.
        """
        sent = await self._site.object(request)

        def job(held: Rows) -> tuple[Given | Rest | str, dict[str, Any]]:
            name, about = self._site.who(held, request), dict[str, Any]()
            assignment: Given | Rest | str | None = seats.explained(held, name) if sent.get("loaded") is True else None
            if isinstance(assignment, Given):
                about = self._feedback(self._lessons[assignment.token])
            else:
                assignment = seats.next_task(held, self._site.rules, name, time.time(), sent.get("rested") is True)
            if isinstance(assignment, Given):
                about["task"] = self._shown(held, assignment.token)
            elif isinstance(assignment, Rest):
                answered = quality.answered(held, name) - quality.practice(held, name).answered
                about["rest"] = {"answered": answered, "until": assignment.until}
            person = seats.known(held, name)
            ended = {**person, "outcome": person["outcome"] or quality.outcome(held, person)}
            pay = money.owed(self._site.study, ended, self._site.opening.practice.pay)
            return assignment, about | {"pay": self._site.amount(pay), "reward": self._site.texts["pay"]}

        assignment, about = await self._site.do(job)
        if isinstance(assignment, Rest):
            return JSONResponse(about)
        if not isinstance(assignment, Given):
            return JSONResponse({"wait": 5} if assignment == "wait" else {"done": True})
        about |= {"draft": json.loads(assignment.draft or "{}"), "nonce": assignment.nonce}
        about |= {
            "place": assignment.place,
            "of": assignment.quota,
            "practice": assignment.practice,
            "warn": assignment.warn,
        }
        about["hold"] = self._site.rules.hold
        return JSONResponse({**about, "parts": self._parts[self._kind(assignment.token).name]})

    @staticmethod
    def _feedback(lesson: Lesson) -> dict[str, Any]:
        """Returns the explanation that a page shows after a practice item."""
        return {"feedback": {"right": lesson.right, "reason": lesson.reason}}

    async def draft(self, request: Request) -> Response:
        """Stores a draft, and returns the problems of its text."""
        nonce, reply = guards.answer_in(await self._site.object(request))

        def job(held: Rows) -> tuple[str, list[str]]:
            name = self._site.who(held, request)
            token = seats.token_of(held, name, nonce)
            answers.refuse_unknown(self._kind(token), reply)
            seats.keep_draft(held, self._site.rules, name, nonce, reply, time.time())
            return token, self._others(held, token)

        token, other_texts = await self._site.do(job)
        problems, warnings = await run_in_threadpool(
            answers.notes, self._site.study, self._kind(token), token, reply, other_texts
        )
        notes = {"problems": problems, "warnings": warnings}
        said_of = {name: [*map(self._site.study.said, sentences)] for name, sentences in notes.items()}
        return JSONResponse({**said_of, "hold": self._site.rules.hold})

    async def answer(self, request: Request) -> Response:
        """Stores an answer; refuses an answer that `pull` calls invalid.

        The response about a practice item contains the right answers and the explanation.
        """
        nonce, reply = guards.answer_in(await self._site.object(request))

        def job(held: Rows) -> Lesson | None:
            name = self._site.who(held, request)
            token = seats.token_of(held, name, nonce)
            if not seats.is_answered(held, name, nonce):  # a repeated text would equal its stored copy
                other_texts = self._others(held, token)
                answers.refuse_invalid(self._site.study, self._kind(token), token, reply, other_texts)
            lesson = self._lessons.get(token)
            right = lesson.mark(reply) if lesson else answers.right(self._site.study, token, reply)
            right = (0, 0) if held.get("about", quality.RETIRED + token) else right
            seats.answer(held, self._site.rules, name, nonce, reply, right, time.time())
            return lesson

        lesson = await self._site.do(job)
        return JSONResponse({"thanks": True, **(self._feedback(lesson) if lesson else {})})

    async def skip(self, request: Request) -> Response:
        """Passes a task on to somebody else."""
        nonce, _ = guards.answer_in(await self._site.object(request) | {"answers": {}})
        await self._site.do(lambda held: seats.skip(held, self._site.who(held, request), nonce))
        return JSONResponse({"thanks": True})

    async def end(self, request: Request) -> Response:
        """Ends a person's work, or also erases it."""
        await guards.sent_form(request)
        if request.url.path == "/withdraw":
            async with self._site.telling:
                name = await self._site.do(lambda held: self._site.who(held, request))
                await run_in_threadpool(self._background.remove, name)  # first, so that a kill cannot leave it behind
                await self._site.do(lambda held: seats.withdraw(held, self._site.who(held, request)))
        else:
            await self._site.do(lambda held: seats.stop(held, self._site.who(held, request)))
        return RedirectResponse("done", status_code=303)

    async def done(self, request: Request) -> Response:
        """Returns the final page with the completion code; redirects a person who is still at work to the tasks."""

        def job(held: Rows) -> tuple[Row, int]:
            person = seats.known(held, self._site.who(held, request))
            return person, quality.answered(held, person["name"])

        person, answered = await self._site.do(job)
        name = person["name"]
        if person["state"] not in seats.ENDED:
            return RedirectResponse("work", status_code=303)
        outcome, key = person["outcome"] or "completed", self._site.key
        invited = await run_in_threadpool(people.invited, self._site.study)
        came_alone = name in {arrivals.name_of(key, "invitation", email) for email in invited}
        platform = "invitation" if came_alone else self._site.platform
        if platform in WITH_CODES:
            code = self._site.opening.code(outcome)
        else:
            code = arrivals.keyed(key, outcome, name)[:8].upper()
        back = BACK + code if code and platform == "prolific" else ""
        about = {"state": person["state"], "outcome": outcome, "done": answered, "code": code, "back": back}
        settings = self._site.study.settings
        about |= {"withdrawal": arrivals.code_of(settings.secret, name), "contact": settings.contact}
        return self._site.page("done", debriefing=self._site.opening.debriefing, platform=platform, **about)


def _attribute(text: Row) -> str:
    """Returns the text that somebody wrote, as `pull` reads it."""
    return " ".join(json.loads(text["said"])["attribute"].split())
