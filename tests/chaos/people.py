"""Tests people at an open study whose server is killed, and sometimes paused, at random moments."""

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
    """Kills one study's server so many times; lost, doubled or surplus data in its store is an irregularity.

    Each acknowledged answer must be stored, and no item may have more judgements than requested.
    """
    pauses, seed = kills // KILLS_A_PAUSE, rng.randrange(10**6)
    figures = load(folder, PEOPLE, SECONDS * kills, kills, seed, pauses=pauses)
    tally = Tally(rounds=1)
    tally.kills[SIGKILL] += figures.kills
    tally.odd += [f"{figures.lost} acknowledged answers are lost"] * bool(figures.lost)
    tally.odd += [f"{figures.over} items have too many judgements"] * bool(figures.over)
    tally.odd += figures.faults
    if not figures.acknowledged:
        tally.odd.append("nobody answered anything")
    return tally
