"""A sentence as tagged words with their heads, from any spaCy pipeline that uses the labels of en_core_web_sm."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from catsofa.data.files import BadInput

DEFAULT_MODEL = "en_core_web_sm"


@dataclass(frozen=True, slots=True)
class Word:
    """One token: its offset in the text, its Penn tag, its dependency label, and the index of its head."""

    text: str
    start: int
    tag: str
    dep: str
    head: int

    @property
    def lower(self) -> str:
        """The token in lower case."""
        return self.text.lower()


Sentence = tuple[Word, ...]
Parser = Callable[[Iterable[str]], Iterator[Sentence]]
"""A function from texts to their parsed sentences, in order."""


@cache
def spacy_parser(model: str = DEFAULT_MODEL) -> Parser:
    """Returns a parser by the name or the path of a spaCy pipeline."""
    import spacy

    try:
        nlp = spacy.load(model, exclude=["ner", "lemmatizer"])
    except OSError:
        raise BadInput(
            model,
            "no spaCy pipeline of that name or path",
            f"an English one: get the usual one by `python -m spacy download {DEFAULT_MODEL}`, "
            "name another with --spacy-model, or do without by --parser none",
        ) from None
    missing = {"tagger", "parser"} - set(nlp.pipe_names)
    if missing:
        raise BadInput(model, f"a pipeline without {' and '.join(sorted(missing))}", "one that tags and parses English")

    def parse(texts: Iterable[str]) -> Iterator[Sentence]:
        for doc in nlp.pipe(texts, batch_size=256):
            yield tuple(Word(t.text, t.idx, t.tag_, t.dep_, t.head.i) for t in doc)

    return parse
