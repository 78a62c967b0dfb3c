"""Requests about CATs to any OpenAI-compatible server: within a budget, every attempt in the journal."""

from collections.abc import Iterable, Iterator

from catsofa.builders.paraphrases.journal import Journal
from catsofa.builders.paraphrases.prices import Budget
from catsofa.builders.paraphrases.prompts import Request
from catsofa.builders.paraphrases.replies import Reply, reply_of
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.requests import Answer, fetch

Completed = Answer[Request, Reply]


def complete(requests: Iterable[Request], endpoint: Endpoint, journal: Journal, budget: Budget) -> Iterator[Completed]:
    """Each request once, as it ends; one whose reply is in the journal is not sent."""
    journal.budget = budget
    return fetch(requests, endpoint, journal, reply_of, lambda said: Reply(text=said, ending="content_filter"))
