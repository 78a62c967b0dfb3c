from pathlib import Path

import pytest
from helpers.commands import need_ray
from helpers.records import bakers

from catsofa.builders import stereotypes
from catsofa.builders.probes import shards
from catsofa.builders.similarity import Cut, Models, filter
from catsofa.builders.similarity.encoders import sentence_encoder
from catsofa.builders.stereotypes.dictionary_parsing import dictionary_parser
from catsofa.builders.stereotypes.parsing import spacy_parser
from catsofa.data import formats
from catsofa.data.formats.repeats import numbered
from catsofa.data.progress import Progress
from catsofa.data.records import Identity, Statement, Stereotype
from catsofa.data.runs.ray_cluster import Cluster

FORMS = (
    "zorbs are {} bakers",
    "are kind to {} cats",
    "zorbs love {} gardens",
    "they were {} weavers",
    "zorbs are kind",
)


@pytest.mark.slow
@pytest.mark.parametrize("parsed", [False, True])
def test_statements_read_on_a_cluster_are_those_read_here(parsed: bool, shared: Path) -> None:
    """2,500 statements in three batches on two workers give the same predicates and refusals in the same order."""
    need_ray()
    pipeline = str(shared / "models" / "spacy-en-small") if parsed else None
    statements = list(numbered(Statement(statement=FORMS[n % 5].format(n // 7), target="zorbs") for n in range(2500)))
    local = list(stereotypes.build(statements, spacy_parser(pipeline) if pipeline else dictionary_parser))
    assert list(stereotypes.build_on(Cluster(workers=2), statements, pipeline)) == local
    assert len({type(one) for one in local}) == 2


@pytest.mark.slow
def test_paraphrases_compared_on_a_cluster_are_filtered_as_those_compared_here(
    static_model: Path, tmp_path: Path
) -> None:
    """200 pairs on two workers give the same partitions, queues and refusals. Filtering then reuses every score."""
    need_ray()
    (tmp_path / "given").mkdir()
    formats.named("jsonl").write(bakers(200), tmp_path / "cats.jsonl")
    formats.named("jsonl").write(bakers(200), tmp_path / "given" / "partition_1.jsonl")
    pairs = filter.read_pairs(tmp_path / "given", tmp_path / "cats.jsonl")
    models = Models(encoder=sentence_encoder(str(static_model)))
    filter.score_on(Cluster(workers=2), pairs, tmp_path / "given", tmp_path / "there", models)
    counts = [
        filter.filter_pairs(pairs, tmp_path / "given", tmp_path / name, models, Cut(same=100.0))
        for name in ("there", "here")
    ]
    assert [count.pop("scores reused") for count in counts] == [200, 0]
    assert counts[0] == counts[1]
    for file in (tmp_path / "here").iterdir():
        assert (tmp_path / "there" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.slow
def test_probes_made_on_a_cluster_are_those_made_here_whoever_dies(tmp_path: Path) -> None:
    """After SIGKILL of every worker at the first of 20 shards, the files are the same, byte for byte."""
    need_ray()
    psutil = pytest.importorskip("psutil")
    identities = [Identity(category="job", identity=f"Weavers of room {n}", form="noun") for n in range(40)]
    habits = [Stereotype(text=f"get up at {n}", category="job") for n in range(200)]
    killed: list[int] = []

    class KillOnce(Progress):
        """Kills the workers when the first shard is written."""

        def begin(self, total: int | None = None) -> None:
            """Asserts that there are 20 shards."""
            assert total == 20

        def update(self, parts: int = 1) -> None:
            """Kills the workers once."""
            for process in psutil.Process().children(recursive=True) if not killed else ():
                if "_Worker" in " ".join(process.cmdline()):
                    process.kill()
                    killed.append(process.pid)

    local = shards.write(identities, habits, tmp_path / "here", rows=400)
    remote = shards.write(
        identities, habits, tmp_path / "there", rows=400, cluster=Cluster(workers=2), progress=KillOnce()
    )
    assert local == remote == {"kept": 8000}
    assert len(killed) == 2
    files = {file.name: file.read_bytes() for file in (tmp_path / "here/data").iterdir()}
    assert {file.name: file.read_bytes() for file in (tmp_path / "there/data").iterdir()} == files
    assert len(files) == 20
