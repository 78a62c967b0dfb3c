"""Terms from Wikidata: the objects of a property, from a SPARQL endpoint or a dump on disk."""

import bz2
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from catsofa.builders.terms import USES
from catsofa.data.files import BadInput, existing_file, open_to_read
from catsofa.data.records import Refused, Term
from catsofa.data.servers.endpoints import LONGEST_WAIT, retry_after

ENDPOINT = "https://query.wikidata.org/sparql"
PROPERTIES = {"P106": "profession", "P172": "race", "P140": "religion"}
"""The properties that StereoSet took its terms from, with the category of each."""

PAGE, ATTEMPTS = 1000, 5
"""Items in one query, and attempts for one query."""

DUMP = "a dump of Wikidata in N-Triples"

_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_DIRECT = "http://www.wikidata.org/prop/direct/"
_TRIPLE = re.compile(
    rb"<http://www\.wikidata\.org/entity/(Q\d+)> <([^>]+)> (?:<http://www\.wikidata\.org/entity/(Q\d+)>|(.+)) \.\s*"
)
_LABEL = b"http://www.w3.org/2000/01/rdf-schema#label"

QUERY = """\
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?item ?label ?uses WHERE {{
  {{ SELECT ?item (COUNT(?subject) AS ?uses) WHERE {{ ?subject wdt:{property} ?item }}
     GROUP BY ?item HAVING (COUNT(?subject) >= {least}) ORDER BY DESC(?uses) ?item LIMIT {limit} OFFSET {offset} }}
  OPTIONAL {{ ?item rdfs:label ?label . FILTER(LANG(?label) = "en") }}
}} ORDER BY DESC(?uses) ?item
"""


def query_terms(
    property_id: str,
    *,
    contact: str,
    endpoint: str = ENDPOINT,
    least: int = 1,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Term | Refused]:
    """Yields the objects of a property that are used at least `least` times, page by page, with their counts.

    `contact` (a mail or web address) goes into the user agent, as Wikimedia asks; a busy server is retried.
    """
    category = category_of(property_id)
    if not contact.strip():
        raise ValueError("Wikidata asks for a way to reach you: give a mail or web address as contact (--contact)")
    offset = 0
    while True:
        query = QUERY.format(property=property_id, least=least, limit=PAGE, offset=offset)
        rows = _answer(endpoint, query, contact, sleep)
        for row in rows:
            item, label = row["item"]["value"].rsplit("/", 1)[-1], row.get("label", {}).get("value", "")
            yield _term(item, label, int(row["uses"]["value"]), category, property_id)
        if len(rows) < PAGE:
            return
        offset += PAGE


def category_of(property_id: str) -> str:
    """Returns the category of a property; a property that StereoSet did not use is its own category."""
    if not re.fullmatch(r"P\d+", property_id):
        raise ValueError(f"{property_id!r} is no Wikidata property; one is written P106")
    return PROPERTIES.get(property_id, property_id)


def _term(item: str, label: str, uses: int, category: str, property_id: str) -> Term | Refused:
    """Returns a term, or a refusal of an item without an English label."""
    source = {"from": "Wikidata", "item": item, "property": property_id}
    if not label:
        return Refused(id=item, reason="no_label", text=item, score=uses, source=source)
    return Term(category=category, term=label, pos="n", source=source, extra={USES: uses})


def _answer(endpoint: str, query: str, contact: str, sleep: Callable[[float], None]) -> list[dict[str, Any]]:
    """Returns the rows of one query; retries transient errors, after the delay that the server asks for."""
    agent = f"catsofa/{version('catsofa')} ({contact}) python-urllib"
    headers = {"Accept": "application/sparql-results+json", "User-Agent": agent}
    request = Request(endpoint, data=urlencode({"query": query}).encode(), headers=headers)
    for attempt in range(1, ATTEMPTS + 1):
        wait = min(60.0, 2.0**attempt)
        try:
            with urlopen(request, timeout=120) as reply:
                rows: list[dict[str, Any]] = json.loads(reply.read())["results"]["bindings"]
                return rows
        except HTTPError as error:
            fault = f"HTTP {error.code}"
            if error.code not in _PASSING:
                raise BadInput(endpoint, f"{fault} ({error.reason})", "the answer to a SPARQL query") from None
            delay = retry_after(error.headers)
            wait = wait if delay is None else min(LONGEST_WAIT, delay)
        except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
            fault = str(getattr(error, "reason", error)) or type(error).__name__
        except (ValueError, KeyError, TypeError):
            fault = "an answer that is cut short or no SPARQL result"
        if attempt < ATTEMPTS:
            sleep(wait)
    raise BadInput(
        endpoint, f"{fault}, {ATTEMPTS} times", "the answer to a SPARQL query; try again later or use a dump"
    )


def dump_terms(path: Path | str, property_id: str, *, least: int = 1) -> Iterator[Term | Refused]:
    """Yields the objects of a property in a truthy N-Triples dump (plain, .gz or .bz2), most used first.

    The dump is read twice.
    """
    category, wanted = category_of(property_id), (_DIRECT + property_id).encode()
    uses = Counter(triple[3] for triple in _triples(Path(path)) if triple[2] == wanted and triple[3])
    often = {item: count for item, count in uses.items() if count >= least}
    labels: dict[bytes, str] = {}
    for triple in _triples(Path(path)):
        if triple[2] == _LABEL and triple[1] in often and triple[4] and triple[4].endswith(b"@en"):
            labels[triple[1]] = _unescaped(triple[4].rsplit(b"@", 1)[0])
    for item, count in sorted(often.items(), key=lambda pair: (-pair[1], pair[0])):
        yield _term(item.decode(), labels.get(item, ""), count, category, property_id)


def _unescaped(literal: bytes) -> str:
    """Returns the text of a quoted literal, or an empty string if it is damaged.

    The escapes are those of JSON, except for long code points.
    """
    try:
        text: str = json.loads(re.sub(r"\\U([0-9A-Fa-f]{8})", lambda match: chr(int(match[1], 16)), literal.decode()))
    except (ValueError, OverflowError, RecursionError):
        return ""
    return text


def _triples(path: Path) -> Iterator[re.Match[bytes]]:
    """Yields the triples of a dump that describe an item."""
    with _open(path) as file:
        try:
            for line in file:
                if triple := _TRIPLE.fullmatch(line):
                    yield triple
        except (OSError, EOFError) as error:
            raise BadInput(path, f"a dump that cannot be unpacked ({error})", DUMP) from None


@contextmanager
def _open(path: Path) -> Iterator[Iterable[bytes]]:
    """Opens a dump and yields its lines, unpacked."""
    with open_to_read(existing_file(path, DUMP), DUMP) as file:
        if path.suffix == ".bz2":
            yield bz2.BZ2File(file)
        else:
            yield file
