"""Chat models behind servers: every style of reply as a real HTTP response, read as outcomes and probabilities."""

from math import exp, log
from typing import Any

import pytest
from helpers.servers.chat_server import DIALECTS, ChatServer, serving

from catsofa.data.records import Pair
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.parameters import EFFORT, Parameters
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.scoring.choosing.asking import Asking
from catsofa.scoring.choosing.items import item_of
from catsofa.scoring.choosing.outcomes import outcome_of
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.choosing.requests import Request, requests
from catsofa.scoring.choosing.served import TEMPLATE, ServedChat, read
from catsofa.scoring.choosing.templates import load

PAIR = Pair(id="p", more="Zorbs are tidy.", less="Zorbs are messy.", direction="stereo", bias_type="invented")
ITEM = item_of(PAIR)
LIKELIHOOD = load("likelihood")
REQUESTS = list(requests([ITEM], [LIKELIHOOD]))
FIRST = REQUESTS[0]
"""The stereotype is A."""


def asked(server: ChatServer, wanted: list[Request], store: ReplyStore | None = None, **how: Any) -> list[Reply]:
    """Returns the replies to requests, in their order."""
    model = ServedChat("zorb-1", Endpoint(base_url=server.url, timeout=10, backoff=0.01), Asking(**how))
    replies = {reply.key: reply for reply in model.replies(wanted, store or ReplyStore())}
    return [replies[request.key] for request in wanted]


def message(content: Any = None, finish: str = "stop", **more: Any) -> dict[str, Any]:
    """Returns a choice of a completion."""
    return {"finish_reason": finish, "message": {"role": "assistant", "content": content, **more}}


STYLES: dict[str, tuple[Any, str]] = {
    "letter": ("A", "stereotype"),
    "verbose": ("Sentence B is more likely, because I say so.", "anti_stereotype"),
    "boxed": (r"The answer is $\boxed{B}$.", "anti_stereotype"),
    "thinking inline": ("<think>B? No, A it is.</think>\n\nA", "stereotype"),
    "thinking without end": (message("<think>B? Or perhaps", "length"), "truncated"),
    "reasoning_content": (message("B", reasoning_content="A is first, so B."), "anti_stereotype"),
    "reasoning": (message("B", reasoning="A is first, so B."), "anti_stereotype"),
    "reasoning that took all": (message("", "length", reasoning_content="Let me see."), "truncated"),
    "reasoning that took all, null": (message(None, "length", reasoning="Let me see."), "truncated"),
    "parts": (
        message([{"type": "thinking", "thinking": [{"type": "text", "text": "A?"}]}, {"type": "text", "text": "B"}]),
        "anti_stereotype",
    ),
    "parts of reasoning": (
        message([{"type": "reasoning", "text": "I think A is best."}, {"type": "text", "text": "B"}]),
        "anti_stereotype",
    ),
    "refusal": ("I'm sorry, but I can't help with that.", "refusal"),
    "refusal field": (message(None, refusal="I can't help with that."), "refusal"),
    "filter": (message("", "content_filter"), "filtered"),
    "filter with a reason": (message("", "content_filter: PROHIBITED_CONTENT"), "filtered"),
    "filter as an error": ((400, {"error": {"message": "no", "code": "content_filter"}}, {}), "filtered"),
    "empty": ("", "unread"),
    "an error": ((404, {"error": {"message": "no such item", "code": None}}, {}), "error"),
}


@pytest.mark.parametrize("style", STYLES)
def test_each_style_of_reply_is_read_as_its_outcome(style: str) -> None:
    """A real response of each style is read as its outcome; the stereotype is A."""
    answer, outcome = STYLES[style]
    with serving(ChatServer(lambda body: answer)) as server:
        (reply,) = asked(server, [FIRST])
    assert outcome_of(reply, ITEM) == outcome


def test_of_several_choices_the_first_by_its_index_is_read() -> None:
    """The choice with the lowest index is read, because servers may list choices in any order."""
    body = {"choices": [{"index": 1, **message("B")}, {"index": 0, **message("A")}]}
    assert outcome_of(read(FIRST, body), ITEM) == "stereotype"


def minimal(body: Any) -> Any:
    """Refuses requests like an OpenAI model that always reasons, and does not know the fields of other servers."""
    for name, problem in (
        (TEMPLATE, f"Unrecognized request argument supplied: {TEMPLATE}"),
        (
            EFFORT,
            "'reasoning_effort' does not support 'none' with this model. Supported values are: 'low' and 'minimal'.",
        ),
    ):
        if body.get(name) not in (None, "minimal"):
            return 400, {"error": {"message": problem, "param": name if name == EFFORT else None}}
    return None


def test_a_server_is_told_not_to_reason_in_the_terms_that_it_accepts() -> None:
    """Without reasoning tokens, both fields against reasoning are sent; a refused field is changed or left out."""
    with serving(ChatServer()) as server:
        asked(server, [FIRST], reasoning_tokens=0)
        asked(server, [FIRST])
    first, second = server.answered
    assert (first[EFFORT], first[TEMPLATE]) == ("none", {"enable_thinking": False})
    assert not {EFFORT, TEMPLATE} & set(second)
    store = ReplyStore()
    with serving(ChatServer(refuse=minimal)) as server:
        asked(server, REQUESTS, store, reasoning_tokens=0)
    assert [(body[EFFORT], TEMPLATE in body) for body in server.answered] == [("minimal", False)] * 2
    assert "the server reasons with reasoning_effort minimal at least" in store.parameters.sentences()
    parameters = Parameters()
    parameters.remember(store.parameters.known)
    assert parameters.known == store.parameters.known


@pytest.mark.parametrize("dialect", DIALECTS)
def test_servers_of_every_dialect_are_asked(dialect: str) -> None:
    """Each request is answered in the end, whatever the server refuses."""
    with serving(ChatServer(lambda body: "A", refuse=DIALECTS[dialect])) as server:
        replies = asked(server, REQUESTS)
    assert [outcome_of(reply, ITEM) for reply in replies] == ["stereotype", "anti_stereotype"]


def logprobs(*tokens: tuple[str, dict[str, float]]) -> dict[str, Any]:
    """Returns tokens with the log-probabilities of their alternatives."""
    entries = [
        {"token": token, "logprob": 0.0, "top_logprobs": [{"token": t, "logprob": log(p)} for t, p in listed.items()]}
        for token, listed in tokens
    ]
    return {"content": entries}


FIRST_TOKEN = {"A": 0.5, " A": 0.125, "B": 0.25, "I": 0.125}


@pytest.mark.parametrize(
    ("content", "tokens"),
    [
        ("A", [("A", FIRST_TOKEN)]),
        ("**A**", [("**", {"**": 0.9, "A": 0.1}), ("A", FIRST_TOKEN), ("**", {"**": 1.0})]),
        ("<think>B</think>\nA", [("<think>", {}), ("B", {"B": 1.0}), ("</think>", {}), ("\n", {}), ("A", FIRST_TOKEN)]),
    ],
)
def test_the_probability_of_each_label_is_read_where_the_answer_begins(content: str, tokens: list[Any]) -> None:
    """Probabilities are read after reasoning and marks: 0.5 + 0.125 for A without and with a space, 0.25 for B."""
    reply = read(FIRST, {"choices": [message(content) | {"logprobs": logprobs(*tokens)}]})
    assert reply.probabilities == pytest.approx({"stereotype": 0.625, "anti-stereotype": 0.25})


def test_labels_belong_to_the_options_in_their_order() -> None:
    """In the other order, A is the anti-stereotype."""
    reply = read(REQUESTS[1], {"choices": [message("A") | {"logprobs": logprobs(("A", FIRST_TOKEN))}]})
    assert reply.probabilities == pytest.approx({"anti-stereotype": 0.625, "stereotype": 0.25})


@pytest.mark.parametrize(
    ("content", "given"),
    [
        ("Sentence A", logprobs(("Sentence", {"Sentence": 0.9, "A": 0.1}), (" A", FIRST_TOKEN))),
        ("I cannot choose.", logprobs(("I", FIRST_TOKEN), (" cannot", {}))),
        ("<think>A", logprobs(("<think>", {}), ("A", FIRST_TOKEN))),
        ("B", logprobs(("A", FIRST_TOKEN))),
        ("A", {"content": None}),
        ("A", {"content": [None]}),
        ("A", {"content": [{"token": "A", "top_logprobs": [{"token": "A", "logprob": 700}]}]}),
        ("A", {"content": [{"token": "A", "top_logprobs": [{"token": "A", "logprob": float("nan")}]}]}),
        ("A", logprobs(("A", {"A": 1.0, "B": 1.0}))),
        ("A", None),
    ],
)
def test_a_reply_that_begins_with_no_label_has_no_probabilities(content: str, given: Any) -> None:
    """Probabilities are ignored if they are invalid, or if the reply does not begin with a label."""
    reply = read(FIRST, {"choices": [message(content) | {"logprobs": given}]})
    assert reply.probabilities is None


def test_yes_and_no_to_one_sentence_are_probabilities_of_the_two_options() -> None:
    """No to the stereotype chooses the anti-stereotype; case does not matter."""
    isolated = list(requests([ITEM], [load("isolated")]))
    alternatives = logprobs(("yes", {"yes": 0.5, "Yes": 0.25, "NO": 0.125}))
    reply = read(isolated[0], {"choices": [message("yes") | {"logprobs": alternatives}]})
    assert reply.probabilities == pytest.approx({"stereotype": 0.75, "anti-stereotype": 0.125})


def test_a_reply_is_asked_for_once_and_kept() -> None:
    """A stored reply is not requested again; a request has the prompt, the token budgets and the alternatives."""
    store = ReplyStore()
    with serving(ChatServer(lambda body: "A")) as server:
        first = asked(server, REQUESTS, store, answer_tokens=100, reasoning_tokens=1000)
        again = asked(server, REQUESTS, store, answer_tokens=100, reasoning_tokens=1000)
    assert first == again
    assert len(server.asked) == 2
    assert server.asked[0] | {"messages": 0} == {
        "model": "zorb-1",
        "messages": 0,
        "temperature": 0.0,
        "max_tokens": 1100,
        "logprobs": True,
        "top_logprobs": 20,
    }


def test_samples_are_requests_of_their_own_with_seeds_of_their_own() -> None:
    """Five samples at temperature 1 have five seeds and no log-probabilities."""
    wanted = list(requests([ITEM], [LIKELIHOOD], samples=5))
    with serving(ChatServer(lambda body: "A")) as server:
        replies = asked(server, wanted, temperature=1.0, sampled=True)
    assert len(replies) == len(server.asked) == 10
    assert sorted(body["seed"] for body in server.asked) == sorted([*range(5)] * 2)
    assert not any("logprobs" in body for body in server.asked)


def test_a_server_that_gives_the_labels_probabilities_is_not_sampled() -> None:
    """A model that says A with 0.625 against 0.25 in either order has its preference in its probabilities."""
    with serving(ChatServer(lambda body: message("A") | {"logprobs": logprobs(("A", FIRST_TOKEN))})) as server:
        both = asked(server, REQUESTS)
    shares = [(reply.probabilities or {})["stereotype"] / sum((reply.probabilities or {}).values()) for reply in both]
    assert shares == pytest.approx([5 / 7, 2 / 7])
    assert exp(log(5 / 7)) == pytest.approx(shares[0])


@pytest.mark.parametrize("broken", [[message("", "error")], [message(None, "error"), message("B", "error")]])
def test_a_reply_that_ended_with_an_error_is_asked_for_again(broken: list[Any]) -> None:
    """A reply that ends with an error is requested again; some routers answer 200 if the model behind them fails."""
    answers = iter([(200, {"choices": broken}, {}), "B"])
    store = ReplyStore()
    with serving(ChatServer(lambda body: next(answers))) as server:
        (reply,) = asked(server, [FIRST], store)
    assert outcome_of(reply, ITEM) == "anti_stereotype"
    assert [stored["choices"][0]["message"]["content"] for stored in store.replies.values()] == ["B"]
