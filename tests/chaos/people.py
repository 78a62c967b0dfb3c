"""People at an open study whose server is killed, and sometimes stands still, at random instants."""

import random
from pathlib import Path
from signal import SIGKILL

from chaos.killing import Tally
from helpers.servers.crowd_load import load

PEOPLE = 20
SECONDS = 5.0
"""Seconds of work for each kill."""
KILLS_A_PAUSE = 10


def disturb(kills: int, rng: random.Random, folder: Path) -> Tally:
    """So many kills of one study's server; what is lost, doubled or too much in its store is odd.

    Each answer that was acknowledged must be there, and no item may have more judgements than were asked for.
    """
    pauses, seed = kills // KILLS_A_PAUSE, rng.randrange(10**6)
    found = load(folder, PEOPLE, SECONDS * kills, kills, seed, pauses=pauses)
    tally = Tally(rounds=1)
    tally.kills[SIGKILL] += found.kills
    tally.odd += [f"{found.lost} acknowledged answers are lost"] * bool(found.lost)
    tally.odd += [f"{found.over} items have too many judgements"] * bool(found.over)
    tally.odd += found.faults
    if not found.acknowledged:
        tally.odd.append("nobody answered anything")
    return tally
