"""The command that writes reports."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote

import typer

from catsofa.cli.data import local
from catsofa.cli.score.tables import show_table
from catsofa.cli.terminal import Bar, Quiet, choices, examples, note, say
from catsofa.cli.validate.sets import CorpusName, Negative, SentimentModel
from catsofa.data.percentages import quantity
from catsofa.data.processes import uncollected

Form = Literal["html", "markdown", "csv", "json", "latex"]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command(
        epilog=examples(
            "catsofa report runs --out report.html",
            "catsofa report runs/gpt2 runs/bert --out report.html --figures figures",
            "catsofa report runs --paraphrase paraphrased/gpt2 --paraphrase paraphrased/bert --out report.html",
            "catsofa report runs robustness.json filter.json --out report.html",
            "catsofa report runs --plan plan.toml --out report.html",
            "catsofa report runs --x step --out training.html",
            "catsofa report runs --out report.html --items items.html",
            "catsofa report examine.json --out measures.html --figures figures",
            "catsofa report contamination.json --out seen.html --figures figures",
            "catsofa report runs --out tables.tex",
            "catsofa report stereoset:dev --out dev.html --corpus wordfreq",
            "catsofa report study release --out people.html",
        )
    )(report)


@uncollected()
def report(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN|DATA",
            help="Folders of `score --out` or `choose --out`, or folders that hold them; data sets, studies, releases.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Output file.")],
    form: Annotated[
        Form | None,
        typer.Option(
            "--format", metavar=choices(Form), help="Format of the file. Default: from the ending of its name."
        ),
    ] = None,
    paraphrase: Annotated[
        list[Path] | None,
        typer.Option(help="Run on paraphrases of the data of a RUN, or a folder above it; repeat for several."),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(help="Plan of `catsofa plan`: what came of its hypotheses, and where the runs depart from it."),
    ] = None,
    x: Annotated[
        str,
        typer.Option(metavar="WORD", help="Word before the number that orders the checkpoints of a model (step)."),
    ] = "",
    items: Annotated[
        Path | None,
        typer.Option(help="Output file of the item browser: one page with each item, its sentences and its scores."),
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="Output folder for the figures as PDF, PNG and SVG.")] = None,
    corpus: CorpusName = "",
    sentiment_model: SentimentModel = "",
    negative: Negative = "",
    quiet: Quiet = False,
) -> None:
    """Report finished runs or data sets: tables with intervals and signatures, figures, and their limits.

    Of a run: its measures, and what each cannot show. Of a data set: sizes, agreement, keywords, refusals, lint.
    """
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # matrix products are small: more threads would wait for each other
    from catsofa.report.dataset import Tools, report_on
    from catsofa.report.dataset.files import is_dataset
    from catsofa.report.formats import format_of, write
    from catsofa.report.inputs import LEFT_OUT

    form = form or format_of(out)
    tools = Tools(corpus=corpus, sentiment_model=sentiment_model, negative=negative)
    planned = None
    if plan:
        from catsofa.planning import read
        from catsofa.planning.section import with_plan

        planned = read(plan)  # fail on an edited plan before the work on the report
    places = [local(one) for one in inputs]
    result = report_on(places, tools, paraphrases=paraphrase or (), x=x, progress=Bar("sections", quiet=quiet))
    if planned:
        result = with_plan(result, planned, [place for place in places if not is_dataset(place)])
    remarks = list[str]()
    try:
        if items:
            remarks = _browser([place for place in places if not is_dataset(place)], items)
            result = replace(result, items=quote(Path(os.path.relpath(items, out.parent)).as_posix()))
    finally:  # write the report even if the item browser fails
        write(result, out, form, figures)
    for left_out in (sentence for sentence in result.notes if sentence.startswith(LEFT_OUT)):
        note(left_out)
    say(f"{out}: {quantity(sum(len(section.tables) for section in result.sections), 'table')}", quiet=quiet)
    if result.summary and not quiet:
        show_table(result.summary)
    for why in remarks[:-1]:
        note(why)
    for count in remarks[-1:]:
        say(count, quiet=quiet)


def _browser(places: Sequence[Path], items: Path) -> list[str]:
    """Writes the item browser of these runs; returns the reasons for omitted items, then a line with the item count."""
    from catsofa.report import items as browser

    count, without = browser.write(places, items)
    return [*(f"{items} leaves out items: {why}" for why in without), f"{items}: {quantity(count, 'item')}"]
