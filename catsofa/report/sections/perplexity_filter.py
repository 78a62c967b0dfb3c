"""The report section on SoFa's perplexity filter: the histogram of each category and its cut."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.report import figures
from catsofa.report.cells import Words
from catsofa.report.elements import Figure, Number, Section, Table
from catsofa.scoring.signature import name_of

WORDS = Words(
    "The perplexity filter of stereotypes",
    "Stereotypes whose mean perplexity over the models falls into the lowest bins of their category are kept.",
    "A low perplexity says that models expect a text, not that it is well formed or a stereotype that people hold; "
    "where the histogram is cut is a choice.",
)


def perplexity_filter(name: str, path: Path, result: Mapping[str, Any]) -> Section:
    """Returns the section with the kept stereotypes of each category, and the histograms."""
    drawn = result["histograms"]
    try:
        rows = tuple(
            (
                histogram["category"] or "all",
                f"{sum(histogram['counts'][: histogram['kept_bins']]):,} of {sum(histogram['counts']):,}",
                f"{histogram['kept_bins']} of {len(histogram['counts'])}",
                Number(
                    10 ** histogram["edges"][histogram["kept_bins"]]
                    if histogram["scale"] == "log10"
                    else histogram["edges"][histogram["kept_bins"]]
                ),
            )
            for histogram in drawn
        )
        refused = (
            "; ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in result["refused"].items()) or "none"
        )
    except (KeyError, TypeError, IndexError):
        raise BadInput(path, "histograms that lack a field", "what `catsofa filter perplexity --json` prints") from None
    table = Table(
        name=f"{name}-cuts",
        caption=f"Stereotypes kept and cut, by category: {result['kept']:,} kept",
        columns=("category", "stereotypes kept", "bins kept", "perplexity of the cut"),
        rows=rows,
        signatures=(f"data:{name_of(path)} | filter:perplexity | scale:{drawn[0]['scale']}",),
        notes=(f"Refused: {refused}. Unscored stereotypes are in no bin.",),
    )
    figure = Figure(
        name=f"{name}-histograms",
        caption="Mean perplexity of the stereotypes of each category; full bars are kept, hatched ones cut",
        alt="; ".join(f"{category}: {stereotypes} kept, {bins} bins" for category, stereotypes, bins, _ in rows),
        draw=lambda: figures.histograms(drawn),
    )
    return WORDS.section(name, path.name, [table], [figure])
