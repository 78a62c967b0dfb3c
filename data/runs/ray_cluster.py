"""Distributes work over the processes of a Ray cluster: results come in order, even if workers die.

The input is split into stretches. Each worker sets up its state once (for example, loads a model). At most `AHEAD`
stretches per worker are in progress, so that neither input nor results fill the memory. A worker that dies is
restarted, here or on another machine, and its stretch is repeated. Only Ray actors are used: Ray tasks could starve in
a cluster full of actors.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, Self, TypeVar

from catsofa.data import extras
from catsofa.data.closing import Closing

Stretch = TypeVar("Stretch")
Result = TypeVar("Result")
About = TypeVar("About")

AHEAD = 4
"""Stretches per worker that are begun but whose results are not consumed yet."""
QUEUED = 2
"""Stretches queued at one worker, so that the worker is never idle."""
DEATHS = 3
"""Number of times that one stretch may kill its worker before the stretch counts as the cause."""
ATTEMPTS = 3
"""Attempts to start an own cluster."""
OWN = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # the cluster then listens only on this machine, on any system
    "RAY_worker_register_timeout_seconds": "300",  # a busy machine is slow
}
"""Environment variables that Ray reads for an own cluster."""
PATIENCE = 600.0
"""Seconds to wait for the first worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The cluster of the workers: a running cluster by address, or an own cluster on this machine."""

    address: str | None = None
    workers: int | None = None
    """Number of workers; by default one per GPU, or one per CPU if there is no GPU."""


@dataclass(frozen=True, slots=True)
class _Refused:
    """An error that a worker found, as one sentence."""

    said: str


class Workers(Closing, Generic[About, Stretch, Result]):
    """Worker processes that each call `start` once; it returns a description and a function for stretches."""

    def __init__(self, start: Callable[[], tuple[About, Callable[[Stretch], Result]]], cluster: Cluster) -> None:
        self._start, self._cluster, self._open = start, cluster, ExitStack()
        self._coming: dict[Any, Any] = {}
        self._load: dict[Any, int] = {}
        self.about: About
        """The description from the first worker; those of the others must be equal."""

    def __enter__(self) -> Self:
        """Start the workers, and wait until at least one is ready."""
        with ExitStack() as stack:
            ray = stack.enter_context(_connected(self._cluster))
            gpus = int(ray.cluster_resources().get("GPU", 0))
            number = self._cluster.workers or gpus or int(ray.cluster_resources().get("CPU", 1))
            worker_class = ray.remote(_Worker).options(
                num_cpus=1, num_gpus=min(1, gpus / number), max_restarts=-1, max_task_retries=DEATHS
            )
            actors = [worker_class.remote(self._start) for _ in range(number)]
            stack.callback(lambda: [ray.kill(actor) for actor in actors])
            self._coming = {actor.about.remote(): actor for actor in actors}
            self._welcome(PATIENCE)
            if not self._load:
                raise ValueError(
                    f"no worker came up in {PATIENCE:.0f} s; the cluster has no room for {number} of them "
                    "(`ray status` shows what is taken): ask for fewer with --workers"
                )
            self._open = stack.pop_all()
        return self

    def close(self) -> None:
        """Stop the workers, and the cluster if it is an own one."""
        self._open.close()

    def map(self, stretches: Iterable[Stretch]) -> Iterator[tuple[Stretch, Result]]:
        """Each stretch with its result, in order."""
        import ray

        waiting, begun, wanted = enumerate(stretches), 0, 0
        running: dict[Any, tuple[int, Any, Stretch]] = {}
        done: dict[int, tuple[Stretch, Result]] = {}
        while True:
            room = AHEAD * len(self._load) - (begun - wanted)
            free = sum(QUEUED - load for load in self._load.values())
            for number, stretch in islice(waiting, min(room, free)):
                actor = min(self._load, key=lambda one: self._load[one])
                running[actor.do.remote(stretch)] = (number, actor, stretch)
                self._load[actor] += 1
                begun = number + 1
            if not running and wanted == begun:
                return
            ended, _ = ray.wait([*running, *self._coming], num_returns=1)
            for reference in ended:
                if reference in running:
                    number, actor, stretch = running.pop(reference)
                    self._load[actor] -= 1
                    done[number] = (stretch, _result(reference))
            self._welcome(0)
            while wanted in done:
                yield done.pop(wanted)
                wanted += 1

    def _welcome(self, seconds: float) -> None:
        """Register workers that are ready; raises a ValueError if their descriptions differ."""
        import ray

        ready, _ = ray.wait([*self._coming], num_returns=1, timeout=seconds) if self._coming else ([], [])
        for reference in ready:
            about: About = _result(reference)
            if not self._load:
                self.about = about
            elif about != self.about:
                raise ValueError(f"the workers do not work with the same: one has {self.about}, another {about}")
            self._load[self._coming.pop(reference)] = 0


class _Worker:
    """A worker process of the cluster; after a restart it calls `start` again."""

    def __init__(self, start: Callable[[], tuple[Any, Callable[[Any], Any]]]) -> None:
        self._start = start
        self._made: tuple[Any, Callable[[Any], Any]] | None = None

    def about(self) -> Any:
        """The description that `start` returned."""
        return self._try(lambda pair: pair[0])

    def do(self, stretch: Any) -> Any:
        """The result of a stretch."""
        return self._try(lambda pair: pair[1](stretch))

    def _try(self, use: Callable[[tuple[Any, Callable[[Any], Any]]], Any]) -> Any:
        """The result of `use`, or a ValueError as `_Refused`, since not every error class can be pickled."""
        try:
            self._made = self._made or self._start()
            return use(self._made)
        except ValueError as error:
            return _Refused(str(error))


def _result(reference: Any) -> Any:
    """The result of a worker; a refusal, or repeated deaths of workers, become an error."""
    import ray
    from ray.exceptions import RayActorError, RayTaskError

    try:
        result = ray.get(reference)
    except RayActorError:
        raise ValueError(
            f"workers died {DEATHS + 1} times over one stretch, most likely for want of memory: "
            "ask for fewer --workers; what was finished is kept"
        ) from None
    except RayTaskError as error:
        raise error.cause from None
    if isinstance(result, _Refused):
        raise ValueError(result.said)
    return result


@contextmanager
def _connected(cluster: Cluster) -> Iterator[Any]:
    """Ray, connected to the cluster; an own cluster listens only on this machine and ends with this process."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0"} | ({} if cluster.address else OWN)
    try:
        import ray
    except ModuleNotFoundError as error:
        raise extras.MissingExtra(f"{extras.sentence('ray')}, or use --engine local", name=error.name) from None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "include_dashboard": False}
    if cluster.address:
        quiet.pop("include_dashboard")
        where: dict[str, Any] = {"address": cluster.address}
    else:
        where = {
            "address": "local",
            "num_cpus": cluster.workers,
        }  # otherwise Ray would join a cluster that already runs here
    with redirect_stdout(sys.stderr), _signals_as_they_were():
        _begin(ray, where | quiet, attempts=1 if cluster.address else ATTEMPTS)
    try:
        with redirect_stdout(sys.stderr):  # Ray reports dead workers here; stdout is for results
            yield ray
    finally:
        ray.shutdown()


def _begin(ray: Any, options: Mapping[str, Any], attempts: int) -> None:
    """Connect to or start a cluster; retried, since Ray's half minute per node is short on a busy machine."""
    for tries_left in range(attempts, 0, -1):
        try:
            ray.init(**options)
            return
        except Exception as error:  # noqa: BLE001 - Ray raises this very class if a node does not start in time
            ray.shutdown()
            if tries_left == 1:
                message = next(iter(str(error).splitlines()), type(error).__name__)
                raise ValueError(
                    f"no Ray cluster at {options['address']} ({message}); run the same command again when it is up"
                ) from None


@contextmanager
def _signals_as_they_were() -> Iterator[None]:
    """Restore the SIGTERM handler after Ray replaces it, since catsofa's handler tells the user how to resume."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM)
    yield
    if main:
        signal.signal(signal.SIGTERM, before)
