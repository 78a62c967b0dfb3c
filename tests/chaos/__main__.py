"""`make chaos`: kills at random instants, spread over what takes long; the end must be as without them.

    PYTHONPATH=tests python -m chaos --seed 7 --kills 100 --only scoring --only building

Most of the commands are copies of this process, whose imports are done, so that a kill meets work and not an import.
"""

import argparse
import importlib
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from chaos import people, targets
from chaos.killing import Tally, Target, disturb
from helpers.tiny_models import BUILDERS

IMPORTS = ("torch", "transformers", "openai", "label_studio_sdk", "pyarrow.parquet", "catsofa.scoring.evaluate")
"""Modules that take long to import, and are imported once."""
Disturb = Callable[[int, random.Random, Path], Tally]
"""Kills a target so many times, with this random generator, in a folder."""
NAMES = ("scoring", "multiverse", "building", "paraphrasing", "choosing", "pushing", "pulling", "answering")


def main() -> int:
    """Kills, and prints seed, counts and irregularities; returns 1 if there are any."""
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--only", action="append", choices=NAMES)
    options = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
    for module in IMPORTS:
        importlib.import_module(module)
    seed = random.randrange(10**6) if options.seed is None else options.seed
    names = tuple(options.only or NAMES)
    print(f"seed {seed}: {options.kills} kills over {', '.join(names)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder, ExitStack() as open_targets:
        actions = {name: act for name in names if (act := _open(name, Path(folder), open_targets))}
        odd = 0
        for number, (name, act) in enumerate(actions.items()):
            kills = options.kills // len(actions) + (number < options.kills % len(actions))
            begun = time.monotonic()
            tally = act(kills, random.Random(f"{seed} {name}"), Path(folder, name))
            print(f"{name}: {tally}, {time.monotonic() - begun:.0f} s", flush=True)
            for text in tally.odd:
                print(f"  {text}", flush=True)
            odd += len(tally.odd)
    print("odd" if odd else "every end is that of an undisturbed run")
    return int(odd > 0)


def _open(name: str, folder: Path, stack: ExitStack) -> Disturb | None:
    """Returns the disturbance of a target, or None after printing why the target is skipped."""
    if name == "answering":
        return people.disturb
    target = _target(name, folder, stack)
    return partial(disturb, target) if target else None


def _target(name: str, folder: Path, stack: ExitStack) -> Target | None:
    """Returns a target with its inputs, or None after printing why it is skipped."""
    inputs = folder / f"{name}-inputs"
    inputs.mkdir()
    match name:
        case "scoring":
            return stack.enter_context(targets.scoring(inputs, _model(folder / "model")))
        case "multiverse":
            return stack.enter_context(targets.multiverse(inputs, _model(folder / "model")))
        case "building":
            return stack.enter_context(targets.building(inputs))
        case "paraphrasing" | "choosing":
            return stack.enter_context(getattr(targets, name)(inputs, folder / f"{name}.log"))
    if not (server := _label_studio(folder, stack)):
        print(f"{name}: skipped, there is no Label Studio here (make labelstudio)")
        return None
    return stack.enter_context(getattr(targets, name)(inputs, *server))


def _model(folder: Path) -> Path:
    """Writes a tiny causal model, as the scoring tests build it."""
    folder.mkdir()
    BUILDERS["gpt2"](folder)
    return folder


def _label_studio(folder: Path, stack: ExitStack) -> tuple[str, str] | None:
    """Returns address and token of a private server, started once, or None if it is not installed."""
    from helpers.servers.label_studio_server import ADMIN, start

    from catsofa.annotation.label_studio import server

    root = Path(__file__).parent.parent.parent
    local = root / ".venv-labelstudio" / "bin" / "label-studio"
    program = local if local.exists() else server.executable()
    if program is None:
        return None
    if (url_file := folder / "server.url").exists():
        return url_file.read_text(), ADMIN.token
    running = stack.enter_context(start(program, root / ".pytest_cache" / "label-studio", folder / "server"))
    url_file.write_text(running.url)
    return running.url, ADMIN.token


if __name__ == "__main__":
    sys.exit(main())
