import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.alike import difference
from helpers.commands import need_ray
from helpers.records import probes
from helpers.sessions import Counted, Stopped

from catsofa.data import formats
from catsofa.data.progress import SILENT, Progress
from catsofa.data.runs.ray_cluster import Cluster
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.executors.ray_workers import Ray
from catsofa.scoring.run.store import read_scores

Tiny = Callable[[str], Path]

MANY = 20_000
"""Number of probes: three stretches for a tiny model."""


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Returns a file of probes about bakers."""
    need_ray()
    formats.named("jsonl").write(probes(MANY), tmp_path / "many.jsonl")
    return tmp_path / "many.jsonl"


def test_without_ray_a_sentence_says_what_to_install(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra of the engine, and the other engine."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'catsofa\[cluster\]'.*--engine local"):
        evaluate(str(tiny("gpt2")), probes(3), executor=Ray(Cluster()))


def test_the_local_engine_does_without_ray() -> None:
    """Scoring on one machine does not import Ray."""
    code = "import sys, catsofa.cli, catsofa.scoring.executors.ray_workers; print('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


@pytest.mark.slow
def test_a_cluster_gives_the_scores_of_one_machine_whoever_dies(tiny: Tiny, many: Path, tmp_path: Path) -> None:
    """Every worker is killed (SIGKILL) after the first stretch; the scores are the same, each once.

    The cluster listens only on the loopback address.
    """
    psutil = pytest.importorskip("psutil")
    killed: list[int] = []
    listening: set[str] = set()

    class KillOnce(Progress):
        """Kills the workers when the first stretch is stored."""

        def update(self, parts: int = 1) -> None:
            """Kills the workers, once."""
            if killed:
                return
            for process in psutil.Process().children(recursive=True):
                connections = process.net_connections("tcp")
                listening.update(one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN)
                if "_Worker" in " ".join(process.cmdline()):
                    process.kill()
                    killed.append(process.pid)

    single = evaluate(str(tiny("gpt2")), many, out=tmp_path / "here", resamples=10)
    cluster = evaluate(
        str(tiny("gpt2")),
        many,
        executor=Ray(Cluster(workers=2)),
        out=tmp_path / "there",
        resamples=10,
        progress=KillOnce(),
    )
    assert len(killed) >= 1
    assert listening <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}
    assert not difference(read_scores(tmp_path / "there"), read_scores(tmp_path / "here"))
    assert len(read_scores(tmp_path / "there")) == MANY
    assert not difference(cluster.to_dict(), single.to_dict())


@pytest.mark.slow
def test_a_run_begun_on_a_cluster_is_ended_on_one_machine_and_the_other_way_round(
    tiny: Tiny, many: Path, tmp_path: Path
) -> None:
    """Both engines write one kind of run folder, so each skips the scores that the other stored."""

    model, cluster = str(tiny("gpt2")), Ray(Cluster(workers=1))

    def here(folder: str, progress: Progress = SILENT) -> None:
        evaluate(model, many, out=tmp_path / folder, resamples=10, progress=progress)

    def there(folder: str, progress: Progress = SILENT) -> None:
        evaluate(model, many, executor=cluster, out=tmp_path / folder, resamples=10, progress=progress)

    for first, second, folder in ((there, here, "one"), (here, there, "other")):
        with pytest.raises(Stopped):
            first(folder, Counted(stop_after=1))
        assert 0 < len(read_scores(tmp_path / folder)) < MANY
        second(folder)
    assert not difference(read_scores(tmp_path / "one"), read_scores(tmp_path / "other"))
    assert len(read_scores(tmp_path / "one")) == MANY


@pytest.mark.slow
def test_a_command_killed_on_a_cluster_is_ended_by_the_next(tiny: Tiny, many: Path, tmp_path: Path) -> None:
    """After SIGKILL of the main process its workers end within 30 s, and the next command completes the run."""
    psutil = pytest.importorskip("psutil")
    model = str(tiny("gpt2"))
    score = [str(Path(sys.executable).with_name("catsofa")), "score", model, "--on", str(many), "--out", "run"]
    process = subprocess.Popen([*score, "--engine", "ray", "--workers", "1"], cwd=tmp_path, stdout=subprocess.DEVNULL)
    while not (tmp_path / "run/journal.jsonl").exists():
        assert process.poll() is None
        time.sleep(0.1)
    workers = [one for one in psutil.Process(process.pid).children(recursive=True) if "_Worker" in str(one.cmdline())]
    process.kill()
    process.wait()
    assert workers
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert alive == []
    evaluate(model, many, out=tmp_path / "run", resamples=10)
    evaluate(model, many, out=tmp_path / "here", resamples=10)
    assert not difference(read_scores(tmp_path / "run"), read_scores(tmp_path / "here"))


@pytest.mark.slow
def test_what_a_worker_finds_wrong_is_one_sentence(many: Path, tmp_path: Path) -> None:
    """A folder without a model gives the local engine's one-line error, not a traceback of the cluster."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"no config\.json") as error:
        evaluate(str(tmp_path / "empty"), many, executor=Ray(Cluster(workers=1)))
    assert "\n" not in str(error.value)
