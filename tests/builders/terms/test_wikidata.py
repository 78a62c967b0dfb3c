import bz2
import json
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from catsofa.builders.terms import wikidata
from catsofa.builders.terms.wikidata import dump_terms, query_terms
from catsofa.data.files import BadInput
from catsofa.data.records import Refused, Term


def rows(*found: tuple[str, str, int]) -> str:
    """Returns the reply of a SPARQL endpoint: per item, its label (none if empty) and its number of uses."""
    bindings = [
        {
            "item": {"value": f"http://www.wikidata.org/entity/{item}"},
            **({"label": {"value": label}} if label else {}),
            "uses": {"value": str(uses)},
        }
        for item, label, uses in found
    ]
    return json.dumps({"results": {"bindings": bindings}})


ALL = [("Q1", "baker", 50), ("Q2", "smith", 40), ("Q3", "", 30), ("Q4", "tailor", 20), ("Q5", "fletcher", 10)]


def paged(request: Request) -> Response:
    """Serves ALL by the LIMIT and OFFSET of the query."""
    query = parse_qs(request.get_data(as_text=True))["query"][0]
    limit, offset = (int(query.split(word)[1].split()[0]) for word in ("LIMIT", "OFFSET"))
    return Response(rows(*ALL[offset : offset + limit]))


def test_terms_come_page_by_page_with_their_uses(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five items in pages of two take three requests. An item without a label is refused, not lost."""
    monkeypatch.setattr(wikidata, "PAGE", 2)
    httpserver.expect_request("/sparql").respond_with_handler(paged)
    records = list(query_terms("P106", contact="me@example.org", endpoint=httpserver.url_for("/sparql")))
    assert [(t.term, t.extra["uses"]) for t in records if isinstance(t, Term)] == [
        *(("baker", 50), ("smith", 40), ("tailor", 20)),
        ("fletcher", 10),
    ]
    assert [(r.id, r.reason) for r in records if isinstance(r, Refused)] == [("Q3", "no_label")]
    assert records[0].source == {"from": "Wikidata", "item": "Q1", "property": "P106"}
    assert len(httpserver.log) == 3


def test_requests_say_who_asks_and_what(httpserver: HTTPServer) -> None:
    """The user agent has a contact, as Wikimedia requires. The query names property, threshold and language."""
    httpserver.expect_request("/sparql").respond_with_data(rows())
    address = httpserver.url_for("/sparql")
    assert list(query_terms("P140", contact="me@example.org", endpoint=address, least=25)) == []
    request = httpserver.log[0][0]
    assert "me@example.org" in request.headers["User-Agent"]
    assert request.headers["User-Agent"].startswith("catsofa/")
    query = parse_qs(request.get_data(as_text=True))["query"][0]
    assert all(part in query for part in ("wdt:P140", ">= 25", 'LANG(?label) = "en"'))
    with pytest.raises(ValueError, match="--contact"):
        list(query_terms("P140", contact=" ", endpoint=address))


def test_a_busy_server_is_asked_again_when_it_wishes(httpserver: HTTPServer) -> None:
    """A query is retried after 429 with Retry-After, 503 without, and a truncated reply, with three waits."""
    waits: list[float] = []
    faults = httpserver.expect_ordered_request("/sparql")
    faults.respond_with_data("slow down", status=429, headers={"Retry-After": "7"})
    httpserver.expect_ordered_request("/sparql").respond_with_data("oops", status=503)
    httpserver.expect_ordered_request("/sparql").respond_with_data(rows(*ALL)[:60])
    httpserver.expect_ordered_request("/sparql").respond_with_data(rows(*ALL))
    records = list(query_terms("P106", contact="x", endpoint=httpserver.url_for("/sparql"), sleep=waits.append))
    assert len(records) == 5
    assert waits == [7, 4, 8]


def test_a_server_that_never_answers_is_an_error_that_says_so(httpserver: HTTPServer) -> None:
    """A server error is reported after five attempts, a wrong query at once."""
    httpserver.expect_request("/busy").respond_with_data("oops", status=500)
    httpserver.expect_request("/wrong").respond_with_data("oops", status=400)
    with pytest.raises(BadInput, match="HTTP 500, 5 times"):
        list(query_terms("P106", contact="x", endpoint=httpserver.url_for("/busy"), sleep=lambda _: None))
    with pytest.raises(BadInput, match="HTTP 400"):
        list(query_terms("P106", contact="x", endpoint=httpserver.url_for("/wrong"), sleep=lambda _: None))
    assert len(httpserver.log) == 6
    with pytest.raises(ValueError, match="no Wikidata property"):
        list(query_terms("106", contact="x"))


ENTITY, DIRECT = "<http://www.wikidata.org/entity/", "<http://www.wikidata.org/prop/direct/"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
DUMP = f"""\
{ENTITY}Q10> {DIRECT}P106> {ENTITY}Q1> .
{ENTITY}Q11> {DIRECT}P106> {ENTITY}Q1> .
{ENTITY}Q11> {DIRECT}P172> {ENTITY}Q1> .
{ENTITY}Q12> {DIRECT}P106> {ENTITY}Q2> .
{ENTITY}Q13> {DIRECT}P106> {ENTITY}Q3> .
{ENTITY}Q13> {DIRECT}P569> "1952-03-11T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
{ENTITY}Q1> {LABEL} "Bäcker"@de .
{ENTITY}Q1> {LABEL} "baker"@en .
{ENTITY}Q2> {LABEL} "caf\\u00E9 \\"owner\\" \\U0001F600"@en .
{ENTITY}Q10> {LABEL} "Ada"@en .
"""


@pytest.mark.parametrize("packed", [False, True])
def test_a_dump_gives_the_same_terms_without_a_network(tmp_path: Path, packed: bool) -> None:
    """The objects of the property are counted and sorted by uses, with their English label; Q3 has none."""
    path = tmp_path / ("truthy.nt.bz2" if packed else "truthy.nt")
    path.write_bytes(bz2.compress(DUMP.encode()) if packed else DUMP.encode())
    records = list(dump_terms(path, "P106"))
    assert [(t.term, t.extra["uses"]) for t in records if isinstance(t, Term)] == [("baker", 2), ('café "owner" 😀', 1)]
    assert [(r.id, r.reason) for r in records if isinstance(r, Refused)] == [("Q3", "no_label")]
    assert [t.term for t in dump_terms(path, "P106", least=2) if isinstance(t, Term)] == ["baker"]


def test_half_a_dump_is_refused(tmp_path: Path) -> None:
    """A truncated packed dump is refused."""
    path = tmp_path / "truthy.nt.bz2"
    path.write_bytes(bz2.compress(DUMP.encode() * 50)[:-20])
    with pytest.raises(BadInput, match="cannot be unpacked"):
        list(dump_terms(path, "P106"))
