"""Tests of the documentation's glossary, and of the terms that a report explains."""

import re
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.report_runs import cats, run

from catsofa.report import document
from catsofa.report.formats import html
from catsofa.report.glossary import TERMS, Term, page


def test_a_report_explains_the_terms_that_it_uses(tmp_path: Path) -> None:
    """A report of CATs explains lms, ss and icat, and neither SoFa nor SEAT; its contents link to the terms."""
    run(tmp_path / "a", cats("x"), "model", "data", "catsofa")
    text = html(document([tmp_path]))
    terms = re.findall(r"<dt>(.*?)</dt><dd>", text.partition('<dl class="terms">')[2].partition("</dl>")[0])
    assert {"lms", "ss", "icat", "signature"} <= set(terms)
    assert {"SoFa score", "SEAT, WEAT", "k-anonymity"}.isdisjoint(terms)
    assert '<a href="#terms">' in text


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_a_term_leads_to_a_page_that_uses_it(term: Term) -> None:
    """Each page that the glossary names exists and contains the term."""
    assert term.is_in((ROOT / "docs" / term.page).read_text(encoding="utf-8")), term.page


def test_the_page_is_the_glossary_of_reports() -> None:
    """docs/glossary.md equals the output of `catsofa.report.glossary.page`."""
    assert (ROOT / "docs/glossary.md").read_text(encoding="utf-8") == page()
