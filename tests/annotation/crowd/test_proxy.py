"""Tests of the server behind Caddy with the documented Caddyfile: HTTPS, one host name, the visitors' own addresses."""

import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from helpers import ROOT
from helpers.records import bakers
from helpers.servers.crowd_server import PATIENCE, Visitor, opened, shown_truth
from helpers.servers.label_studio_server import free_port

from catsofa.annotation.crowd import home
from catsofa.annotation.crowd.http import site
from catsofa.annotation.study import Study, create
from catsofa.cli.annotate.judging import look

NAME = "study.example.org"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("caddy"), reason="no Caddy: make programs installs it with apt"),
]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Returns a study of four CATs for one person."""
    study_ = create(tmp_path / "s", kind="validate-cats", items=bakers(4), overlap=1, contact="a@example.org")
    (study_.folder / "study.toml").write_text('[platform]\nname = "prolific"\ncodes = { completed = "DONE1" }\n')
    return study_


class Named(httpx.HTTPTransport):
    """Transport that connects to this machine under the study's host name, from one of its addresses."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends the request with the study's name for TLS."""
        request.extensions["sni_hostname"] = NAME
        return super().handle_request(request)


class Proxy:
    """Caddy with its own certificate."""

    def __init__(self, folder: Path, server: str) -> None:
        """Starts Caddy in front of the server at this address."""
        (shown,) = re.findall(r'```text title="Caddyfile"\n(.*?)```', (ROOT / "docs/annotation.md").read_text(), re.S)
        assert f"{NAME} {{" in shown
        self._port, self._root = free_port(), folder / "caddy/pki/authorities/local/root.crt"
        # settings for a machine without a public name; the site is the documented one except for the server's port
        ours = "admin off\nlocal_certs\nskip_install_trust\nauto_https disable_redirects\n"
        ours += f"https_port {self._port}\nhttp_port {free_port()}\n"
        (folder / "Caddyfile").write_text(f"{{\n{ours}}}\n" + shown.replace("127.0.0.1:8090", server))
        environment = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [shutil.which("caddy") or "", "run", "--config", "Caddyfile", "--adapter", "caddyfile"],
                cwd=folder,
                env=environment,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + PATIENCE
        while True:
            with suppress(OSError, httpx.HTTPError):
                if self.browser("127.0.0.9").get("/page.css").status_code == 200:
                    return
            assert self.process.poll() is None, (folder / "log").read_text()[-2000:]
            assert time.monotonic() < until, (folder / "log").read_text()[-2000:]
            time.sleep(0.1)

    def browser(self, address: str) -> httpx.Client:
        """Returns a browser at this address of the machine."""
        transport = Named(verify=ssl.create_default_context(cafile=str(self._root)), local_address=address)
        headers = {"Host": NAME, "Origin": f"https://{NAME}"}
        url = f"https://127.0.0.1:{self._port}"
        return httpx.Client(base_url=url, transport=transport, headers=headers, timeout=PATIENCE, trust_env=False)


@contextmanager
def proxied(study: Study, folder: Path) -> Iterator[Proxy]:
    """Starts the study's server behind Caddy."""
    folder.mkdir()
    with opened(study, f"https://{NAME}", look=look) as server:
        proxy = Proxy(folder, server.removeprefix("http://"))
        try:
            yield proxy
        finally:
            proxy.process.terminate()
            proxy.process.wait(PATIENCE)


def test_a_whole_session_over_https(study: Study, tmp_path: Path) -> None:
    """Entry, consent, all tasks and the code work; the cookie is for HTTPS and this name; the owner's
    page is absent.
    """
    with proxied(study, tmp_path / "caddy") as proxy:
        ana = Visitor(f"https://{NAME}", "ANA")
        ana.browser = proxy.browser("127.0.0.2")
        cookie = ana.come().headers["set-cookie"]
        assert all(part in cookie for part in ("__Host-seat=", "Secure", "HttpOnly", "SameSite=lax", "Path=/"))
        assert ana.work(shown_truth(study)) == 4
        end = ana.browser.get("/done")
        assert "cc=DONE1" in end.text
        assert "max-age" in end.headers["strict-transport-security"]
        foreign = {"Origin": "https://elsewhere.example"}
        assert ana.browser.post("/next", json={}, headers=foreign).status_code == 403
        assert proxy.browser("127.0.0.1").get("/owner").status_code == 404
    assert home.pull(study).records == 12


def test_limits_count_the_person_and_not_the_proxy(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After three requests an address waits, even with a forged forwarded address; another address does not."""
    monkeypatch.setattr(site, "BY_ADDRESS", (3.0, 0.0001))
    names = {"PROLIFIC_PID": "P", "SESSION_ID": "S"}
    with proxied(study, tmp_path / "caddy") as proxy:
        one, other = proxy.browser("127.0.0.2"), proxy.browser("127.0.0.3")
        assert [one.get("/", params=names).status_code for _ in range(4)] == [200, 200, 200, 429]
        forged = {"X-Forwarded-For": "192.0.2.7", "Forwarded": "for=192.0.2.7"}
        assert one.get("/", params=names, headers=forged).status_code == 429
        assert other.get("/", params=names).status_code == 200
