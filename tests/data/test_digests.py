"""Tests digests that stored files contain: ids, manifests, protocols, keys of requests."""

from pathlib import Path

from catsofa.annotation.study.kinds import digest
from catsofa.builders.paraphrases.prompts import Request as Prompted
from catsofa.builders.provenance import hash_of
from catsofa.data.digests import hex_digest, json_digest
from catsofa.data.records import content_id
from catsofa.data.servers.requests import Request
from catsofa.scoring.models.files import digest_of
from catsofa.scoring.protocols import DEFAULT, named
from catsofa.scoring.signature import name_of

VALUE = {"zorb": ["ünlike", 1, 2.5, None], "a": {"b": True}}


def test_digests_stay_what_earlier_versions_stored(tmp_path: Path) -> None:
    """Every digest equals the value recorded before one module computed them all."""
    folder = tmp_path / "zorbs"
    (folder / "inner").mkdir(parents=True)
    (folder / "b.json").write_text("{}\n")
    (folder / "a.safetensors").write_text("Zorbs rise early.\n")
    (folder / "inner" / "c.json").write_text("[1]\n")
    assert json_digest(VALUE) == "2bd8ea83a1a21c3912dc4274a03e0e8672c08afc322e89e1a2c84efa4d4ac1eb"
    assert digest(VALUE) == "b45be2a840b6b7e8"
    assert (DEFAULT.digest, named("stereoset-v1").digest) == ("68b2a7bb163e", "553d28d20a1f")
    request = Request("completions", {"model": "m", "prompt": "Zorbs rise \ud83dé"})
    assert request.key == "9e164fb6d6907b19ae99ff3bc37201bced536cf323e651cd2216fde62a0d8efd"
    assert content_id("request", "m", "Zorbs é \ud83d", [1]) == "39488f08e3cf22b9f47eba74042fc2e2"
    prompted = Prompted(item="x", model="m", prompt="Zorbs", settings={"seed": 1})
    assert prompted.key == "fb7a4f1af65d3f847f3c0005138ccca0"
    assert (hash_of(folder), hash_of(folder / "b.json")) == ("38a12247727ef70a", "ca3d163bab055381")
    assert (name_of(folder), name_of(folder / "b.json")) == ("zorbs@c823f2cac3f0", "b.json@ca3d163bab05")
    (folder / "inner" / "c.json").unlink()
    assert digest_of(folder) == "sha256:0dbd91c0a9f84c14ba270b295d36d60e0c27f12a2ed0991741d8dca4b8c6ce7a"


def test_a_text_and_its_bytes_have_one_digest() -> None:
    """The digest of a text and of its bytes is the SHA-256 of "abc" in FIPS 180-2."""
    assert hex_digest("abc", 16) == hex_digest(b"abc")[:16] == "ba7816bf8f01cfea"
