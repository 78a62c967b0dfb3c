"""Random events on the store of a crowd study, in memory or in PostgreSQL, and processes that are killed at work."""

import random
import subprocess
import time

from helpers.seats import IDENTITY
from helpers.servers.postgres_server import scratch
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine

from catsofa.annotation.crowd.databases import Connection
from catsofa.annotation.crowd.store import create_tables

IN_MEMORY = settings(
    max_examples=30, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
IN_POSTGRES = settings(IN_MEMORY, max_examples=8)


class StoreEvents(RuleBasedStateMachine):
    """A state machine over a store in memory, without the writer thread."""

    def connected(self) -> Connection:
        """Returns a connection to a store in memory."""
        import sqlite3

        connection = sqlite3.connect(":memory:", isolation_level=None)
        create_tables(connection)
        return connection

    def teardown(self) -> None:
        """Closes the database."""
        if hasattr(self, "connection"):
            self.connection.close()


class InPostgres:
    """The same events in PostgreSQL, in one transaction that is rolled back."""

    def connected(self) -> Connection:
        """Returns a connection to the fixture's server, which the environment names."""
        return scratch(IDENTITY)


def acknowledged_before_kill(command: list[str], draw: random.Random) -> set[str]:
    """Runs a program that prints acknowledged answers, kills it after ten or more, and returns those it printed."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        answers = {process.stdout.readline().strip() for _ in range(11)}
        time.sleep(draw.uniform(0, 0.4))
        process.kill()
        return answers | {line.strip() for line in process.stdout if line.endswith("\n")}
