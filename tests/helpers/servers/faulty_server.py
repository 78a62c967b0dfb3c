"""The fault server of `fault_server.py`, started by a test."""

import json
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = Path(__file__).with_name("fault_server.py")


class Server:
    """A running fault server."""

    def __init__(self, folder: Path, share: float, lasting: float = 0.0) -> None:
        self.log = folder / "server.log"
        arguments = [str(self.log), str(share), str(lasting), "7"]
        self.process = subprocess.Popen([sys.executable, str(PROGRAM), *arguments], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}/v1"

    def became(self) -> list[dict[str, str]]:
        """Returns the result of each request so far."""
        lines = self.log.read_text().split("\n")[:-1] if self.log.exists() else []  # the last one may be half written
        return [json.loads(line) for line in lines]

    def settled(self) -> list[dict[str, str]]:
        """Returns the result of each request, once the server has logged the last."""
        before = -1
        while (now := self.log.stat().st_size) != before:
            before = now
            time.sleep(1)
        return self.became()

    def stop(self) -> None:
        """Ends the server."""
        self.process.kill()
        self.process.communicate()
