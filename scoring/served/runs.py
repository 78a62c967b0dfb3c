"""A served model on a data set: every reply and every score kept as it comes, and the measures made of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

from catsofa.data.files import BadInput
from catsofa.data.records import Probe, Score
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.scoring import served
from catsofa.scoring.dataset import Data, Watched, data
from catsofa.scoring.measures import sanity, sofa
from catsofa.scoring.protocols import Protocol, named
from catsofa.scoring.results import Report, report
from catsofa.scoring.run.chunks import WAYS, items_of
from catsofa.scoring.run.store import Run
from catsofa.scoring.served import NO_REPLY
from catsofa.scoring.served.scores import LogProbabilities, refuse, score
from catsofa.scoring.statistics.intervals import RESAMPLES

SCORED_BY = ("first_token", "length", "causal_pair", "crows")
"""The options that a served model's score depends on."""
CHUNK = 256
"""Records whose texts are asked for together."""
REPLIES = "replies.jsonl"


def evaluate(
    name: str,
    on: str | Path | Sequence[Any],
    endpoint: Endpoint,
    *,
    protocol: str | Protocol = "catsofa",
    start: str = "",
    out: str | Path | None = None,
    limit: int | None = None,
    with_terms: bool = False,
    resamples: int = RESAMPLES,
    watch: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> Report:
    """What a served model scores on CATs, CrowS-Pairs or SoFa probes, by the log-probabilities of its server.

    With `out`, every reply is kept in that folder before it is used, so that nothing is paid for twice; a text that
    had no reply is asked for again by the next call.
    """
    chosen, of = named(protocol) if isinstance(protocol, str) else protocol, data(on, limit)
    if of.kind not in WAYS:
        raise BadInput(str(on), of.kind.__name__, "CATs, CrowS-Pairs or probes; a server gives no vectors")
    model = served.connect(name, endpoint, start=start)
    refuse(model.capability, chosen, name)
    identity, about = describe(model.identity(), {"model": name, "label": model.label}, of, chosen)
    store, server = out and Path(out) / REPLIES, model.identity()["at"]
    with Run.begin(out, identity, about) as run, ReplyStore(store, endpoint.hide, server=server) as replies:
        failed = score_all(replace(model, replies=replies), watch(Watched(of.records(), of)), chosen, run)
        found = measured(of, chosen, model, [*run.scores(), *failed], with_terms, resamples)
        run.finish(found.to_dict())
    return found


def describe(
    model: Mapping[str, Any], names: Mapping[str, Any], of: Data, protocol: Protocol
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The identity of a run, in which nothing may change, and facts for a reader of its folder."""
    options = {key: value for key, value in protocol.options().items() if key in SCORED_BY}
    identity = {"catsofa": version("catsofa"), "model": model, "data": of.digest, "protocol": options}
    return identity, {**names, "data": of.name, "on": of.on, "records": of.count, "protocol": protocol.name}


def score_all(model: LogProbabilities, records: Iterable[Any], protocol: Protocol, run: Run) -> list[Score]:
    """Score what the run does not hold yet; those that had no reply are given back and not kept."""
    failed: list[Score] = []
    left = iter(records)
    while chunk := list(islice(left, CHUNK)):
        done = run.done([item for record in chunk for item in items_of(record)])
        missing, begun = [record for record in chunk if not done.issuperset(items_of(record))], monotonic()
        scores = score(model, missing, protocol)
        unanswered = [found for found in scores if found.reason.startswith(NO_REPLY)]
        failed += unanswered
        again = {found.item for found in unanswered}
        complete = sum(again.isdisjoint(items_of(record)) for record in missing)
        took = (complete, round(monotonic() - begun, 3)) if complete else None
        run.add((found for found in scores if not found.reason.startswith(NO_REPLY)), took=took)
    return failed


def measured(
    of: Data, protocol: Protocol, model: LogProbabilities, scores: Sequence[Score], with_terms: bool, resamples: int
) -> Report:
    """The measures of what is scored."""
    name = model.label
    if of.kind is not Probe:
        records = list(of.records())
        found = report(
            records,
            scores,
            protocol,
            data=of.name,
            subset=of.subset,
            model=name,
            resamples=resamples,
            with_terms=with_terms,
        )
        return replace(found, warnings=(*of.skipped, *found.warnings))
    results = sofa.measured(of.records(), scores, protocol)
    return Report(
        protocol=protocol.name,
        results=results,
        warnings=sanity.of_probes(results),
        signature=protocol.signature(of.name, name, subset=of.subset, resamples=resamples),
        unscored=Counter(found.reason for found in scores if found.score is None),
    )
