"""Tests addresses, keys and pauses of servers."""

import asyncio
from datetime import UTC, datetime

import pytest

from catsofa.data.servers.endpoints import Endpoint, Pace, retry_after


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, 30),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds and dates (at 07:28:00) are read; unreadable values give no pause."""
    assert retry_after(headers, datetime(2015, 10, 21, 7, 28, tzinfo=UTC)) == seconds


def test_while_the_server_asks_for_quiet_nobody_starts() -> None:
    """A hold of 0.2 s delays every waiting request; at 600 a minute, requests then start 0.1 s apart."""

    async def starts() -> list[float]:
        pace, loop = Pace(600), asyncio.get_running_loop()
        begin = loop.time()
        pace.hold(0.2)
        times = []

        async def one() -> None:
            await pace.turn()
            times.append(loop.time() - begin)

        await asyncio.gather(*[one() for _ in range(4)])
        return times

    times = sorted(asyncio.run(starts()))
    assert all(time >= 0.2 + 0.1 * number - 0.01 for number, time in enumerate(times)), "a busy machine is only later"


@pytest.mark.parametrize(
    "url", ["http://user:sk-secret@127.0.0.1/v1", "https://x.org/v1?key=sk-secret", "127.0.0.1:8000/v1", "ftp://x/v1"]
)
def test_an_address_must_be_one_and_carry_no_secret(url: str) -> None:
    """An invalid address and one with a key are refused, because addresses appear in logs."""
    with pytest.raises(ValueError, match=r"address") as error:
        Endpoint(base_url=url)
    assert "sk-secret" not in str(error.value)


def test_only_a_server_here_does_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local server needs no key; for others, the error names the missing variable."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert Endpoint(base_url="http://localhost:1/v1").key() == "no-key"
    with pytest.raises(ValueError, match=r"no key.*OPENAI_API_KEY"):
        Endpoint().key()
