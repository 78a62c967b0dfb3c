"""Stores of replies that earlier versions wrote."""

from pathlib import Path

import pytest

from catsofa.builders.paraphrases.journal import Journal
from catsofa.builders.paraphrases.prompts import Request as Prompted
from catsofa.builders.paraphrases.replies import Reply, reply_of
from catsofa.data.files import BadInput
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
    """The keys, the checksums and the bytes of a journal and of a store of replies stay what they were."""
    (tmp_path / "journal.jsonl").write_text(JOURNAL)
    with Journal(tmp_path / "journal.jsonl") as journal:
        key = Prompted(item="i", model="m", prompt="Zorbs", settings={"seed": 1}).key
        assert {name: reply_of(reply) for name, reply in journal.replies.items()} == {
            key: Reply(text="Zorbs rise.", model="m")
        }
        assert (journal.uncounted, journal.unchecked) == (1, 0)  # its server counted no tokens
    with ReplyStore(tmp_path / "new.jsonl", server=SERVER) as store:
        store.answered(Request("completions", {"prompt": "Zorbs"}).key, {"choices": [1]})
    assert (tmp_path / "new.jsonl").read_text() == REPLIES
    with pytest.raises(BadInput, match="of another run"):
        ReplyStore(tmp_path / "new.jsonl", server="http://blickets.invalid/v1")
