"""Tests of `catsofa annotate serve`: it asks before it installs, starts, stops on Ctrl-C, and restarts
with its data.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from helpers.servers.label_studio_server import PATIENCE, free_port

from catsofa.annotation.label_studio.server import Running, _log_of_one

SERVE = [str(Path(sys.executable).with_name("catsofa")), "annotate", "serve"]
LAST = "Ctrl-C stops it; the same command starts it again with everything in it\n"


def environment(**more: str) -> dict[str, str]:
    """Returns the environment without Label Studio variables."""
    return {name: v for name, v in os.environ.items() if not name.startswith("LABEL_STUDIO_")} | more


@pytest.mark.parametrize("answer", ["n\n", ""])
def test_nothing_is_installed_without_a_yes(answer: str, tmp_path: Path) -> None:
    """Without a confirmation the error names the option that helps, and no file is created."""
    done = subprocess.run(
        [*SERVE, "--data", str(tmp_path / "data")],
        input=answer,
        env=environment(XDG_DATA_HOME=str(tmp_path / "home"), HOME=str(tmp_path / "home")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "is not installed. Install it into" in done.stdout
    assert done.stderr.startswith("catsofa: without a server there is nothing to start; --yes installs it")
    assert not list(tmp_path.iterdir())


HANGS = """#!/bin/sh
echo begun
exec sleep 60
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no lock that a child inherits")
def test_one_server_works_on_a_folder(tmp_path: Path) -> None:
    """A second server on any port is refused and leaves the first one's log alone; killing the first
    frees the folder.
    """
    program, data = tmp_path / "label-studio", tmp_path / "data"
    program.write_text(HANGS)
    program.chmod(0o755)
    data.mkdir()
    held = subprocess.Popen([program], stdout=_log_of_one(data))
    while not (data / "server.log").read_text():
        assert held.poll() is None
    try:
        with pytest.raises(ValueError, match=r"another server.*/data"):
            Running(program, data, port=free_port())
        assert (data / "server.log").read_text() == "begun\n"
    finally:
        held.kill()
        held.wait()
    _log_of_one(data).close()


@pytest.mark.labelstudio
@pytest.mark.slow
def test_it_runs_until_ctrl_c_and_again_with_what_was_in_it(program: Path, tmp_path: Path) -> None:
    """The token shown once works, sign-up is closed, Ctrl-C ends cleanly, and the second start has the account."""
    port, data = free_port(), tmp_path / "data"
    command = [*SERVE, "--data", str(data), "--port", str(port)]
    url = f"http://127.0.0.1:{port}"
    token = ""
    for _ in range(2):
        running = subprocess.Popen(
            command, env=environment(LABEL_STUDIO_EXE=str(program)), stdout=subprocess.PIPE, text=True
        )
        try:
            assert running.stdout
            output = ""
            while not output.endswith(LAST) and (line := running.stdout.readline()):
                output += line
            assert f"Label Studio 1.23.2 runs at {url}, for this machine alone" in output
            assert ("both are shown only this once" in output) == (not token)
            token = token or re.findall(r"LABEL_STUDIO_API_KEY=([0-9a-f]{40})", output)[0]
            who = get(f"{url}/api/current-user/whoami", token)
            assert who.json()["email"] == "researcher@example.org"
            assert not signed_up(url)
            assert listening(running.pid) == {"127.0.0.1"}
            refused = subprocess.run(command, env=environment(LABEL_STUDIO_EXE=str(program)), capture_output=True,
                                     text=True, check=False)  # fmt: skip
            assert refused.stderr.startswith(f"catsofa: 127.0.0.1:{port} cannot be used")
        finally:
            running.send_signal(signal.SIGINT)
            end, _ = running.communicate(timeout=PATIENCE)
        assert running.returncode == 0
        assert f"catsofa annotate serve --data {data} --port {port} starts it again" in end
        with pytest.raises(httpx.ConnectError):
            get(url, "")


def listening(pid: int) -> set[str]:
    """Returns the addresses on which a process and its children accept connections."""
    psutil = pytest.importorskip("psutil")
    whole = psutil.Process(pid)
    open_ones = [one for part in (whole, *whole.children(recursive=True)) for one in part.net_connections("tcp")]
    return {one.laddr.ip for one in open_ones if one.status == psutil.CONN_LISTEN}


def signed_up(url: str) -> bool:
    """Returns True if a person without an invitation can create an account."""
    with httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False) as browser:
        browser.get("/user/signup/")
        form = {
            "csrfmiddlewaretoken": browser.cookies["csrftoken"],
            "email": "me@example.org",
            "password": "long-enough",
        }
        return browser.post("/user/signup/", data=form, headers={"Referer": url}).status_code == 302


def get(url: str, token: str) -> httpx.Response:
    """Returns a response of the server."""
    headers = {"Authorization": f"Token {token}"} if token else {}
    return httpx.get(url, headers=headers, timeout=PATIENCE, trust_env=False)
