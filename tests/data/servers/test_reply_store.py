"""Tests stores of replies that earlier versions wrote."""

import json
from pathlib import Path

import pytest

from catsofa.builders.paraphrases.journal import Journal
from catsofa.builders.paraphrases.prompts import Request as Prompted
from catsofa.builders.paraphrases.replies import Reply, reply_of
from catsofa.data.files import BadInput
from catsofa.data.servers.prices import Price
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.data.servers.requests import Request

JOURNAL = """\
{"event": "asked", "key": "fb7a4f1af65d3f847f3c0005138ccca0", "item": "i", "attempt": 1, "batch": false, "model": "m", \
"messages": [{"role": "user", "content": "Zorbs"}], "seed": 1, "at": "2026-11-22T19:07:53+00:00", \
"checksum": "a94db9f6244e59b3f5adfc9f2f3df1c070942ac44d96ff96d47b82953d78c64e"}
{"event": "answered", "key": "fb7a4f1af65d3f847f3c0005138ccca0", "text": "Zorbs rise.", "ending": "complete", \
"model": "m", "prompt_tokens": null, "completion_tokens": null, "fingerprint": null, "batch": false, \
"at": "2026-11-22T19:07:53+00:00", "checksum": "fd86ff72277327839f63722ca7cddc868e8d187627c25929899a507a76b9755b"}
"""
REPLIES = """\
{"key": "4755e44674df71ef9587bae4351a347671277beb176ed014dd19a19eeda1645e", "reply": {"choices": [1]}, \
"checksum": "767f598d60df83f1030a6cfcd4abc0e09955bfd06168839013cc56eae4ab3dcf"}
"""
SERVER = "http://zorbs.invalid/v1"


def test_stored_replies_of_earlier_versions_are_read_and_written_alike(tmp_path: Path) -> None:
    """The keys, checksums and bytes of a journal and of a reply store do not change between versions."""
    (tmp_path / "journal.jsonl").write_text(JOURNAL)
    with Journal(tmp_path / "journal.jsonl") as journal:
        key = Prompted(item="i", model="m", prompt="Zorbs", settings={"seed": 1}).key
        assert {name: reply_of(reply) for name, reply in journal.replies.items()} == {
            key: Reply(text="Zorbs rise.", model="m")
        }
        assert (journal.uncounted, journal.unchecked) == (1, 0)  # the server reported no token counts
    with ReplyStore(tmp_path / "new.jsonl", server=SERVER) as store:
        store.answered(Request("completions", {"prompt": "Zorbs"}).key, {"choices": [1]})
    assert (tmp_path / "new.jsonl").read_text() == REPLIES
    with pytest.raises(BadInput, match="of another run"):
        ReplyStore(tmp_path / "new.jsonl", server="http://blickets.invalid/v1")


@pytest.mark.parametrize("ending", ["complete", "truncated", "content_filter", "refusal", "empty"])
def test_money_and_batches_of_earlier_journals_count_today(tmp_path: Path, ending: str) -> None:
    """A journal with a reply at $10 and $30 a million, failed and unfinished attempts and a batch has the right
    cost."""
    time = {"at": "2026-11-22T19:07:53+00:00"}

    def asked(key: str, *, batch: bool = False) -> dict[str, object]:
        sent = {"model": "m", "messages": [{"role": "user", "content": "Zorbs"}], "max_completion_tokens": 9}
        return {"event": "asked", "key": key, "item": "i", "attempt": 1, "batch": batch, **sent, **time}

    text = "" if ending == "empty" else "Zorbs rise."
    counts = {"prompt_tokens": 100, "completion_tokens": 20, "fingerprint": None, "batch": False}
    failed = {"event": "failed", "attempt": 1, "reason": "timeout", "said": "", **time}
    events = [
        *(
            asked("a"),
            {"event": "answered", "key": "a", "text": text, "ending": ending, "model": "m", **counts, **time},
        ),
        *(asked("b"), {**failed, "key": "b", "paid": True}),
        *(asked("c"), {**failed, "key": "c", "paid": False}),
        asked("d"),
        {"event": "parameters", "renamed": {"max_tokens": "max_completion_tokens"}, "most": {}, **time},
        asked("e", batch=True),
        {"event": "batch", "tag": "t", "state": "submitted", "keys": ["e"], "id": "batch-1", **time},
    ]
    (tmp_path / "journal.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    with Journal(tmp_path / "journal.jsonl", price=lambda model: Price(10, 30)) as journal:
        assert reply_of(journal.replies["a"]) == Reply(text=text, ending=ending, model="m")  # type: ignore[arg-type]
        assert journal.spent == pytest.approx((100 * 10 + 20 * 30 + 2 * ((5 + 128) * 10 + 9 * 30)) / 1e6)
        assert (journal.uncounted, journal.pending) == (2, {"e"})
        assert journal.parameters.accepted({"max_tokens": 5}) == {"max_completion_tokens": 5}


def test_a_line_that_is_none_of_a_journal_is_refused(tmp_path: Path) -> None:
    """A line with only a time is refused."""
    (tmp_path / "journal.jsonl").write_text('{"at": "now"}\n')
    with pytest.raises(BadInput, match=r"journal\.jsonl: .*without 'key'"):
        Journal(tmp_path / "journal.jsonl")
