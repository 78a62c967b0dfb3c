"""One process that serves one study."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import uvicorn

from catsofa.annotation.crowd import arrivals, guards, home, money, settings
from catsofa.annotation.crowd.server import Crowd
from catsofa.annotation.label_studio.server import refuse_taken
from catsofa.annotation.study import Study

LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, slots=True)
class Service:
    """A server that is ready to run, and what its owner should know."""

    says: tuple[str, ...]
    server: uvicorn.Server

    def run(self) -> None:
        """Serve until Ctrl-C."""
        with suppress(KeyboardInterrupt):
            self.server.run()


@contextmanager
def serving(study: Study, host: str, port: int, address: str) -> Iterator[Service]:
    """A server for a study; what would make it unsafe or useless is refused before anybody can come."""
    from filelock import FileLock, Timeout

    place = urlsplit(address)
    if place.scheme not in ("http", "https") or not place.netloc or place.path:
        raise ValueError(f"{address!r} is no address of a server; give one such as https://study.example.org")
    if place.scheme == "http" and not {host, place.hostname} <= LOOPBACK:
        raise ValueError(
            "other machines would send answers in the clear: put a server that speaks HTTPS before this one "
            "(docs/annotation.md shows Caddy's two lines) and name it with --address https://…"
        )
    if not study.settings.contact:
        raise ValueError("people must know whom to ask: make the study with --contact")
    if study.settings.closed:
        raise ValueError(f"the study was closed at {study.settings.closed}; nobody judges any more")
    opening = settings.read(study)
    rules = settings.rules(study, opening)
    refuse_taken(host, port)
    try:
        alone = FileLock(study.folder / ".open").acquire(timeout=0)
    except Timeout:
        raise ValueError(f"another process serves {study.folder} already; stop it first") from None
    with alone, home.open_store(study) as store:
        crowd = Crowd(study, store, opening, address)
        server = uvicorn.Server(config(crowd, host, port, address))
        cost = money.budget(study, rules, home.missing(store))
        yield Service(says=tuple(_says(study, opening, address, cost)), server=server)


def config(crowd: Crowd, host: str, port: int, address: str) -> uvicorn.Config:
    """How uvicorn serves: slow clients are cut off, and only a proxy of this machine may say who asks."""
    return uvicorn.Config(
        crowd.app(),
        host=host,
        port=port,
        http=guards.Patient,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=2000,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=16 * 1024,
        proxy_headers=address.startswith("https:"),
        forwarded_allow_ips="127.0.0.1",
    )


def _says(study: Study, opening: settings.Opening, address: str, cost: money.Budget) -> Iterator[str]:
    """The address for people, what the study costs, and what is missing."""
    platform, title = opening.platform.name, study.settings.title
    link = {
        "prolific": arrivals.prolific_link(address),
        "connect": f"{address}/ (Connect adds participantId and assignmentId)",
        "mturk": f"{address}/ (as the ExternalURL of an ExternalQuestion)",
        "invitation": f"catsofa annotate invite {study.folder} ana@example.org --address {address}",
    }[platform]
    yield f"{title!r} is open at {address}; Ctrl-C stops the server"
    yield f"people come by {link}"
    currency, minutes = study.settings.currency, cost.tasks * study.settings.seconds / 60
    yield (
        f"{cost.judgements:,} judgements are missing: {cost.places:,} places of {cost.tasks} tasks ({minutes:.0f} "
        f"minutes) at {currency} {cost.reward / 100:.2f}, together {currency} {cost.total / 100:,.2f} without the "
        "platform's fee"
    )
    if not any(key.gold for key in study.keys.values()) and study.kind.asks:
        yield "there are no checks and no gold items: nothing tells careful people from others"
