from collections import Counter
from pathlib import Path

import pytest

from catsofa.builders.sentence_pairs import Limits, SentencePair, build, split_of, write
from catsofa.builders.sentence_pairs.documents import Document, read_dataset, read_folder, sentences
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Refused


def article(number: int, length: int = 6) -> Document:
    """Returns an article whose sentences name their positions."""
    text = " ".join(f"Sentence {place} of article {number} is here." for place in range(length))
    return Document(f"a{number}", text)


ARTICLES = [article(number) for number in range(60)]


def pairs(documents: list[Document], **options: object) -> list[SentencePair]:
    """Returns the pairs of some documents."""
    return [p for p in build(documents, **options) if isinstance(p, SentencePair)]  # type: ignore[arg-type] # of build


def test_a_positive_is_the_next_sentence_and_a_negative_another_documents() -> None:
    """Six sentences have five successions: five positives, and five negatives with the same first sentences."""
    article_pairs = pairs(ARTICLES, held_out=0.0)
    assert Counter(pair.follows for pair in article_pairs) == {True: 300, False: 300}
    for positive, negative in zip(article_pairs[::2], article_pairs[1::2], strict=True):
        place, number = int(positive.first.split()[1]), positive.document.removeprefix("a")
        assert positive.second == f"Sentence {place + 1} of article {number} is here."
        assert negative.first == positive.first
        assert f"of article {negative.other.removeprefix('a')} " in negative.second
        assert negative.other != negative.document == positive.document


def test_chinese_sentences_end_without_a_space() -> None:
    """A full stop ends a sentence together with a following quote or bracket; a decimal point and `……` do not."""
    text = "面包师用3.5元买面粉。他起得早！“好吗？！”（真的。）面包师……睡了。"
    assert sentences(text) == ["面包师用3.5元买面粉。", "他起得早！", "“好吗？！”", "（真的。）", "面包师……睡了。"]


def test_two_chinese_characters_are_a_word_of_the_limits() -> None:
    """Sentences of eight characters pass the limit of four words; those of seven do not."""
    texts = [f"第{number}个面包师起得早。他的邻居买了面包。他们都很高兴了。" for number in "一二三"]
    chinese_pairs = pairs([Document(text[1], text) for text in texts], held_out=0.0)
    assert {pair.second for pair in chinese_pairs if pair.follows} == {"他的邻居买了面包。"}


def test_no_document_is_on_both_sides_nor_a_copy_of_one() -> None:
    """The rule holds for first sentences and negatives. The split depends on the text, so a copy is on its original's
    side."""
    copies = [Document(f"copy of {d.name}", d.text + "\n") for d in ARTICLES]
    all_pairs = pairs([*ARTICLES, *copies], held_out=0.3, seed=5)
    sides = {
        side: {n for p in all_pairs if p.split == side for n in (p.document, p.other)} - {""}
        for side in ("train", "held-out")
    }
    assert sides["train"] & sides["held-out"] == set()
    assert len(sides["held-out"]) == sum(split_of(d.text, 0.3, 5) == "held-out" for d in ARTICLES)
    assert all(split_of(d.text, 0.3, 5) == split_of(c.text, 0.3, 5) for d, c in zip(ARTICLES, copies, strict=True))
    texts = {side: {s for p in all_pairs if p.split == side for s in (p.first, p.second)} for side in sides}
    assert texts["train"] & texts["held-out"] == set()


def test_the_seed_decides_everything() -> None:
    """The same seed gives the same pairs in the same order; another seed gives other sides and negatives."""
    assert pairs(ARTICLES, seed=1) == pairs(ARTICLES, seed=1)
    assert pairs(ARTICLES, seed=1) != pairs(ARTICLES, seed=2)


def test_what_gives_no_pairs_is_refused() -> None:
    """A repeated document, a single sentence, too long sentences, and a document alone on its side are refused."""
    long = Document("long", ". ".join(["Word " * 80] * 3))
    records = list(
        build([*ARTICLES[:3], ARTICLES[0], Document("short", "One sentence only stands here."), long], held_out=0.0)
    )
    assert [(r.id, r.reason) for r in records if isinstance(r, Refused)] == [
        *(("a0", "duplicate"), ("short", "too_few_sentences")),
        ("long", "too_few_sentences"),
    ]
    assert [r.reason for r in build(ARTICLES[:1], held_out=0.0) if isinstance(r, Refused)] == ["alone_on_its_side"]


def test_a_short_sentence_breaks_the_succession() -> None:
    """The sentences before and after "Yes." do not count as successive."""
    text = "The first one is long enough. Yes. The second one is long enough. The third one is too."
    document_pairs = pairs([Document("x", text), *ARTICLES[:2]], held_out=0.0)
    assert [p.first for p in document_pairs if p.document == "x" and p.follows] == ["The second one is long enough."]


def test_a_document_gives_so_many_positives_at_most() -> None:
    """The positives are chosen at random and keep their order."""
    limited_pairs = pairs(ARTICLES, held_out=0.0, limits=Limits(per_document=2))
    assert Counter(p.document for p in limited_pairs if p.follows) == {d.name: 2 for d in ARTICLES}


SPLIT = [
    ("Dr. Smith went to St. Ives. He left!", ["Dr. Smith went to St. Ives.", "He left!"]),
    ('He said "Go." Then he went.', ['He said "Go."', "Then he went."]),
    ("J. R. Roe wrote it, e.g. in 1937. It cost 3.50.", ["J. R. Roe wrote it, e.g. in 1937.", "It cost 3.50."]),
    ("A heading\n\nA text. It ends", ["A heading", "A text.", "It ends"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "found"), SPLIT)
def test_sentences_end_at_stops_that_are_no_abbreviations(text: str, found: list[str]) -> None:
    """Sentences end at full stops that are no abbreviations, and at the end of a paragraph."""
    assert sentences(text) == found


def test_wrapped_lines_are_one_paragraph_and_headings_are_not() -> None:
    """Lines of equal width are joined; a short line, and lines of very different length, end a paragraph each."""
    lines = (
        "The bakers of the old town sing on the square each",
        "Monday, and nobody minds. They sing well, and",
        "stop.",
    )
    wrapped = [
        "The bakers of the old town sing on the square each Monday, and nobody minds.",
        "They sing well, and stop.",
    ]
    assert sentences("\n".join(lines)) == wrapped
    assert sentences("History\nThe bakers sing.\n\nMusic\nThey sing well.") == [
        *("History", "The bakers sing.", "Music", "They sing well.")
    ]
    assert sentences(f"{'The bakers sing well. ' * 9}\nThey stop") == [*["The bakers sing well."] * 9, "They stop"]


def test_documents_come_from_a_folder_of_texts_or_a_dataset(tmp_path: Path) -> None:
    """Text files and JSONL are read by name, and a folder of JSON by `datasets` without a network."""
    folder = tmp_path / "articles"
    folder.mkdir()
    (folder / "b.txt").write_text("B.")
    (folder / "a.jsonl").write_text('{"text": "A."}\n{"text": "AA."}\n')
    (folder / "c.txt").write_text("")
    assert [(d.name, d.text) for d in read_folder(folder)] == [
        ("a.jsonl:1", "A."),
        ("a.jsonl:2", "AA."),
        ("b.txt", "B."),
    ]
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="file that ends"):
        list(read_folder(tmp_path / "empty"))
    dump = tmp_path / "dump"
    dump.mkdir()
    (dump / "train.jsonl").write_text('{"id": "7", "title": "T", "text": "One. Two."}\n')
    assert list(read_dataset(str(dump))) == [Document("7", "One. Two.")]
    with pytest.raises(BadInput, match="column 'body'"):
        list(read_dataset(str(dump), column="body"))


def test_the_three_files_hold_every_record(tmp_path: Path) -> None:
    """Train, held-out and refused together have every record."""
    counts = write(build([*ARTICLES, ARTICLES[0]], held_out=0.5, seed=3), tmp_path / "out")
    lines = {f.stem: len(f.read_text().splitlines()) for f in (tmp_path / "out").iterdir()}
    assert lines == {"train": counts["train"], "held-out": counts["held-out"], "refused": 1}
    assert counts["train"] + counts["held-out"] == 600
    assert next(jsonl.read(tmp_path / "out" / "refused.jsonl", Refused)).reason == "duplicate"


def test_headings_and_rows_of_tables_are_in_no_pair() -> None:
    """Where most lines end with a stop, one without is a heading; those around a heading are not in a row."""
    text = """# The bakers of the town

The bakers sing in the morning. They stop at eight o'clock.

The millers of the next town

| name of the miller | songs |
The millers sing in the evening. They stop at nine o'clock."""
    found = pairs([Document("a", text), article(1)], held_out=0.0)
    assert {(pair.first, pair.second) for pair in found if pair.follows and pair.document == "a"} == {
        ("The bakers sing in the morning.", "They stop at eight o'clock."),
        ("The millers sing in the evening.", "They stop at nine o'clock."),
    }
    assert not any("name of" in pair.second or "next town" in pair.second or "#" in pair.second for pair in found)
    lines = "\n".join(f"the bakers sing song number {number}" for number in range(4))
    assert sum(pair.follows for pair in pairs([Document("b", lines), article(2)], held_out=0.0)) == 3 + 5
