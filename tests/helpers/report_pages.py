"""Pages of reports with one text in every text field, and pages of tasks."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from catsofa.annotation.crowd.pages import export
from catsofa.annotation.study import Study
from catsofa.data.files import jsonl
from catsofa.data.files.json_files import finite
from catsofa.report import dataset, document
from catsofa.report.elements import Document
from catsofa.report.formats import WRITE
from catsofa.scoring.examine import ItemMatrix, Levels, examine
from helpers.records import a_cat
from helpers.report_runs import a_release, association, cats, evil, judged, pairs, probes, run, scored

HIT = "document.title='hit'"
EVIL = (
    f'<script>{HIT}</script>"\'><img src=x onerror="{HIT}"><svg onload="{HIT}"></svg>'
    f'</title></style></details><iframe srcdoc="<script>parent.{HIT}</script>"></iframe>'
    f'<a href="javascript:{HIT}">a</a>'
)


def models(folder: Path, text: str) -> Document:
    """Returns a report with this text in every field: names, terms, contexts, categories, reasons, protocols."""
    term = {"term": text, "domain": text, "items": 8, "ss": 60.0, "ss_low": 50.0, "ss_high": 70.0}
    for number in range(3):
        name = f"{text} {number}"
        run(folder / f"a{number}", cats(text), name, text, text, terms=[term], unscored={text: 3}, warnings=[text])
        run(folder / f"b{number}", probes(text), name, text, text)
        run(folder / f"c{number}", association(text, 0.01), name, text, text)
        run(folder / f"d{number}", pairs(text), name, text, text)
    for name, verb in (("one", "was"), ("two", "seemed")):
        records = [a_cat(f"{text} {verb} BLANK.", id=text, target=text, bias_type=text)]
        jsonl.write(records, folder / f"{name}.jsonl")
        scored(folder / "x" / name, folder / f"{name}.jsonl", records, [] if name == "one" else [text], model=text)
    histogram = {"category": text, "scale": "log10", "edges": [0, 1, 2], "counts": [3, 1], "kept_bins": 1}
    (folder / "filter.json").write_text(json.dumps({"kept": 3, "refused": {text: 1}, "histograms": [histogram]}))
    runs = [folder / f"{kind}{number}" for kind in "abcd" for number in range(3)]
    return document([*runs, folder / "x" / "one", folder / "filter.json"], text, paraphrases=[folder / "x" / "two"])


def data(folder: Path, text: str) -> Document:
    """Returns a report of a folder with this text everywhere, of a release, and of judgements."""
    corpus = folder / "corpus.txt"
    corpus.write_text("plain words\n")
    (folder / "set").mkdir()
    evil(folder / "set", text)
    tools = dataset.Tools(corpus=str(corpus))
    jsonl.write(judged(), folder / "annotations.jsonl")
    report = dataset.document([folder / "set", a_release(folder, text), folder / "annotations.jsonl"], tools)
    return replace(report, title=text)


def items(folder: Path, text: str) -> Document:
    """Returns a report of an examination of five tasks under three protocols, with this text as every name."""
    draw = np.random.default_rng(0)
    values = (draw.random((60, 6, 3)) < np.linspace(0.2, 0.8, 6)[:, None]).astype(float)
    places, name = np.arange(60), text[:20]
    matrix = ItemMatrix(
        values=values.mean(axis=2),
        models=tuple(f"{text} {number}" for number in range(6)),
        items=np.array([f"{text} {number}" for number in places]),
        tasks=np.array([f"{name} {number // 12}" for number in places]),
        domains=np.array([f"{name} {number % 2}" for number in places]),
        terms=np.array([f"{text} {number // 3}" for number in places]),
        facets=(Levels(name="protocol", levels=(text, f"{text},ties=half", "catsofa"), values=values),),
    )
    signature = {"data": text, "line": f"data:{text} | model:{' '.join(matrix.models)} | protocol:{text}"}
    result = {**finite(examine(matrix, resamples=10, groups=[f"{text} 1"]).to_dict()), "signature": signature}
    (folder / "examine.json").write_text(json.dumps(result))
    return document([folder / "examine.json"], text)


def task_page(study: Study, folder: Path) -> Path:
    """Writes the first page of a study for Mechanical Turk, filled in as Mechanical Turk does."""
    export(study, folder / "out")
    text = (folder / "out" / "task.html").read_text("utf-8")
    with (folder / "out" / "input.csv").open(newline="") as file:
        row = next(csv.DictReader(file))
    for name, value in row.items():
        text = text.replace(f"${{{name}}}", value)
    (folder / "task.html").write_text(text, "utf-8")
    return folder / "task.html"


def page(make: Callable[[Path, str], Document], folder: Path, text: str) -> Path:
    """Writes the page of such a report."""
    (folder / "report.html").write_text(WRITE["html"](make(folder, text)), encoding="utf-8")
    return folder / "report.html"


of_models, of_data, of_items = (partial(page, make) for make in (models, data, items))
