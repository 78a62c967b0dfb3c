"""Pages of reports in whose every text field one text stands."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from catsofa.data.files import jsonl
from catsofa.report import dataset, document
from catsofa.report.elements import Document
from catsofa.report.formats import WRITE
from helpers.records import a_cat
from helpers.report_runs import a_release, association, cats, evil, judged, pairs, probes, run, scored

HIT = "document.title='hit'"
EVIL = (
    f'<script>{HIT}</script>"\'><img src=x onerror="{HIT}"><svg onload="{HIT}"></svg>'
    f'</title></style></details><iframe srcdoc="<script>parent.{HIT}</script>"></iframe>'
    f'<a href="javascript:{HIT}">a</a>'
)


def models(folder: Path, text: str) -> Document:
    """A report in whose every text field this text stands: names, terms, contexts, categories, reasons, protocols."""
    term = {"term": text, "domain": text, "items": 8, "ss": 60.0, "ss_low": 50.0, "ss_high": 70.0}
    for at in range(3):
        name = f"{text} {at}"
        run(folder / f"a{at}", cats(text), name, text, text, terms=[term], unscored={text: 3}, warnings=[text])
        run(folder / f"b{at}", probes(text), name, text, text)
        run(folder / f"c{at}", association(text, 0.01), name, text, text)
        run(folder / f"d{at}", pairs(text), name, text, text)
    for name, verb in (("one", "was"), ("two", "seemed")):
        of = [a_cat(f"{text} {verb} BLANK.", id=text, target=text, bias_type=text)]
        jsonl.write(of, folder / f"{name}.jsonl")
        scored(folder / "x" / name, folder / f"{name}.jsonl", of, [] if name == "one" else [text], model=text)
    histogram = {"category": text, "scale": "log10", "edges": [0, 1, 2], "counts": [3, 1], "kept_bins": 1}
    (folder / "filter.json").write_text(json.dumps({"kept": 3, "refused": {text: 1}, "histograms": [histogram]}))
    runs = [folder / f"{kind}{at}" for kind in "abcd" for at in range(3)]
    return document([*runs, folder / "x" / "one", folder / "filter.json"], text, paraphrases=[folder / "x" / "two"])


def data(folder: Path, text: str) -> Document:
    """A report of a folder with this text everywhere, of a release, and of judgements."""
    corpus = folder / "corpus.txt"
    corpus.write_text("plain words\n")
    (folder / "set").mkdir()
    evil(folder / "set", text)
    tools = dataset.Tools(corpus=str(corpus))
    jsonl.write(judged(), folder / "annotations.jsonl")
    found = dataset.document([folder / "set", a_release(folder, text), folder / "annotations.jsonl"], tools)
    return replace(found, title=text)


def page(make: Callable[[Path, str], Document], folder: Path, text: str) -> Path:
    """The page of such a report."""
    (folder / "report.html").write_text(WRITE["html"](make(folder, text)), encoding="utf-8")
    return folder / "report.html"


of_models, of_data = partial(page, models), partial(page, data)
