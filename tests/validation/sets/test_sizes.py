"""Tests tables 1 to 3 of StereoSet: sizes, sentiment, keywords."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.records import a_cat, a_pair
from helpers.samples import write_sample

from catsofa.data import formats
from catsofa.data.records import Annotation, Probe
from catsofa.validation.json_reports import stats_report
from catsofa.validation.sets.keywords import (
    corpus_reference,
    keyness,
    keywords,
    not_counted,
    reference,
    spacy_lemmas,
    spacy_pipeline,
    wordfreq_reference,
)
from catsofa.validation.sets.sentiment import is_positive, sentiments
from catsofa.validation.sets.sizes import Size, sizes

TABLE_3 = {
    "gender": """stepchild masculine bossy ma uncare breadwinner immature naggy feminine rowdy possessive manly polite
        studious homemaker burly""",
    "profession": """nerdy uneducated bossy hardwork pushy unintelligent studious dumb rude snobby greedy sloppy
        disorganize talkative uptight dishonest""",
    "race": """poor beautiful uneducated smelly snobby immigrate wartorn rude industrious wealthy dangerous accent
        impoverish lazy turban scammer""",
    "religion": """commandment hinduism savior hijab judgmental diety peaceful unholy classist forgiving terrorist
        reborn atheist monotheistic coworker devout""",
}
"""Nadeem et al. 2021, table 3."""


def test_sizes_by_hand() -> None:
    """A filled sentence has four words, next sentences three or two. Overall has the mean of all and the mean of
    domains."""
    records = [
        a_cat(),
        a_cat("The florin came.", "He sang.", "He slept.", "Roses grow.", target="florin", bias_type="other", id="two"),
        a_cat("The zorb came.", "He sang.", "He slept.", "Roses grow.", id="three"),
        a_cat("A zorb came.", "He sang.", "He slept.", "Roses grow there.", id="four"),
    ]
    table = sizes(records)
    assert (table["intrasentence"]["invented"].items, table["intrasentence"]["invented"].words) == (1, 4)
    follow = table["intersentence"]
    assert {domain: (s.terms, s.items) for domain, s in follow.items()} == {
        "invented": (1, 2),
        "other": (1, 1),
        "overall": (2, 3),
    }
    assert follow["invented"].words == pytest.approx((5 * 5 + 6) / 6)
    assert follow["overall"].words_of_domains == pytest.approx((5 + 31 / 6) / 2)
    assert (table["overall"]["overall"].terms, table["overall"]["overall"].items) == (2, 4)


def test_pairs_and_probes_have_sizes_too() -> None:
    """Pairs have sizes by bias type, probes by category; annotations are refused, because they have no sentences."""
    table = sizes(
        [a_pair("Zorbs sing.", "Florins do not sing."), Probe(category="c", identity="zorbs", stereotype="sing")]
    )
    assert table["pairs"]["invented"].words == 3
    assert (table["probes"]["c"].terms, table["probes"]["c"].words) == (1, 2)
    with pytest.raises(ValueError, match=r"Annotation.*no sentences"):
        sizes([Annotation(item="i", annotator="a", label="x")])


def test_table_1_of_the_paper(shared: Path) -> None:
    """Counts and means from dev and test equal the printed ones where the data are complete.

    Complete is intrasentence, except for one profession CAT. The paper prints 3,996 race and 623 religion CATs, which
    do not add up to its total of 8,498; the released 3,938 and 326 do. Its means of gender 7.98 and race 7.63 are 7.97
    and 7.64 in the released text. The test set's intersentence CATs are incomplete.
    """
    records = [
        *formats.read(shared / "data/stereoset/dev.json"),
        *formats.read(shared / "data/stereoset/test_intrasentence.json"),
    ]
    table = sizes(records)["intrasentence"]
    assert {domain: size.terms for domain, size in table.items()} == {
        "gender": 40, "profession": 120, "race": 149, "religion": 12, "overall": 321,
    }  # fmt: skip
    assert (table["gender"].items, table["profession"].items + 1, table["overall"].items + 1) == (1026, 3208, 8498)
    assert (table["race"].items, table["religion"].items) == (3938, 326)
    printed = {"gender": 7.97, "profession": 8.30, "race": 7.64, "religion": 8.18}
    assert {domain: round(table[domain].words, 2) for domain in printed} == printed
    assert round(table["overall"].words_of_domains, 2) == 8.02


def test_table_1_intersentence_counts_add_up(shared: Path) -> None:
    """The 8,497 intersentence CATs are as printed: 2,123 in dev and 6,374 in test. The paper's counts by domain
    differ."""
    dev = sizes(formats.read(shared / "data/stereoset/dev.json"))["intersentence"]
    pairs = json.loads((shared / "data/stereoset/test_intersentence_pairs.json").read_text())
    counts = {
        domain: dev[domain].items + sum(p["bias_type"] == domain for p in pairs)
        for domain in dev
        if domain != "overall"
    }
    assert sum(counts.values()) == dev["overall"].items + len(pairs) == 8497
    assert counts == {"gender": 993, "profession": 3262, "race": 3923, "religion": 319}


def test_neutral_counts_as_positive() -> None:
    """As in table 2, every class that is not negative counts as positive."""
    cats = [a_cat(id=str(n), stereotype=word) for n, word in enumerate(["bad", "bad", "fine", "so so"])]
    classes = {"bad": "NEGATIVE", "fine": "POSITIVE", "so so": "neutral", "early": "5 stars"}
    shares = sentiments(cats, lambda texts: [next(c for word, c in classes.items() if word in text) for text in texts])
    assert (shares["stereotype"].positive, shares["stereotype"].negative, shares["stereotype"].texts) == (0.5, 0.5, 4)
    assert shares["anti-stereotype"].positive == 1
    by_pair = sentiments([a_pair("bad", "fine")], lambda texts: [classes[text] for text in texts])
    assert (by_pair["more"].positive, by_pair["less"].positive) == (0, 1)


def test_a_class_nobody_knows_is_refused() -> None:
    """LABEL_0 may be positive or negative, so it is refused unless the negative class is named."""
    with pytest.raises(ValueError, match="classes label_0, label_1"):
        is_positive(["a", "b"], lambda texts: ["LABEL_0", "LABEL_1"])
    assert is_positive(["a", "b"], lambda texts: ["LABEL_0", "LABEL_1"], ["LABEL_0"]) == [False, True]
    with pytest.raises(ValueError, match=r"no CATs.*no pairs"):
        sentiments([Probe(category="c", identity="zorbs", stereotype="sing")], lambda texts: ["pos"] * len(texts))


def test_table_2_of_the_paper(shared: Path) -> None:
    """The released sentiment model on dev, intrasentence, gives the paper's digits 59, 41, 67 and 33, but swapped.

    The paper prints 59 % positive stereotypes and 67 % positive anti-stereotypes. By the released scores, which are
    probabilities of a negative text, 67 % of the stereotypes and 59 % of the anti-stereotypes are negative.
    """
    released = json.loads((shared / "data/stereoset/released_predictions/predictions_SentimentModel.json").read_text())
    negative = {row["id"]: row["score"] for task in released.values() for row in task}
    cats = [c for c in formats.read(shared / "data/stereoset/dev.json") if c.kind == "intrasentence"]
    by_text = {c.text: negative[c.id] for cat in cats for c in cat.candidates}
    sentiment = sentiments(cats, lambda texts: ["negative" if by_text[text] > 0.5 else "positive" for text in texts])
    shares = {label: (round(100 * s.positive), round(100 * s.negative)) for label, s in sentiment.items()}
    assert shares == {"stereotype": (33, 67), "anti-stereotype": (41, 59)}


def test_simple_maths_by_hand() -> None:
    """(fpm + 1) / (reference fpm + 1): 99 against 9 is 10."""
    assert keyness(99, 9) == 10


def test_keywords_leave_target_terms_out() -> None:
    """In `The zorb was late/early`, zorb is the target and left out; "the" is common, "late" and "early" are not."""
    common = {"the": 50000.0, "was": 10000.0, "late": 10.0, "early": 100.0}
    by_domain = keywords([a_cat(), a_cat("The zorbs' BLANK.", id="two")], lambda word: common.get(word, 1.0), top=2)
    assert [(word.word, word.count) for word in by_domain["invented"]] == [("late", 2), ("early", 2)]


def test_keywords_take_lemmas_and_a_corpus(tmp_path: Path) -> None:
    """Lemmas are counted instead of words. In a corpus of four words, each word has 250,000 per million."""
    (tmp_path / "corpus.txt").write_text("The zorb's late.\nRoses.")
    assert corpus_reference(tmp_path / "corpus.txt")("late") == 250_000
    assert reference(str(tmp_path / "corpus.txt"))("early") == 0

    def lemmas(texts: Sequence[str]) -> list[list[str]]:
        return [["be", "late"] for _ in texts]

    by_domain = keywords([a_cat()], lambda word: 1.0, lemmas=lemmas)
    assert {word.word for word in by_domain["invented"]} == {"be", "late"}


def test_table_3_of_the_paper(shared: Path) -> None:
    """Against wordfreq instead of TenTen, 25 of the paper's 64 keywords are in the top 16 per domain, 46 in the top
    100."""
    records = [
        *formats.read(shared / "data/stereoset/dev.json"),
        *formats.read(shared / "data/stereoset/test_intrasentence.json"),
    ]
    by_domain = {
        domain: [w.word for w in ranked] for domain, ranked in keywords(records, wordfreq_reference(), top=100).items()
    }
    printed = {domain: set(words.split()) for domain, words in TABLE_3.items()}
    assert sum(len(printed[d] & set(ranked[:16])) for d, ranked in by_domain.items()) == 25
    assert sum(len(printed[d] & set(ranked)) for d, ranked in by_domain.items()) == 46


def test_lemmas_come_from_a_pipeline(shared: Path) -> None:
    """The small spaCy pipeline gives "be" for "were" and "baker" for "bakers"."""
    lemmas = spacy_lemmas(spacy_pipeline(str(shared / "models/spacy-en-small")))
    assert list(lemmas(["The zorbs were bakers."])) == [["the", "zorb", "be", "baker"]]


def test_the_report_has_what_was_asked_for() -> None:
    """Sizes are always reported, sentiment and keywords if a classifier and frequencies are given."""
    assert set(stats_report([a_cat()])) == {"sizes"}
    whole = stats_report([a_cat()], classify=lambda texts: ["pos"] * len(texts), reference=lambda word: 1.0, top=1)
    assert whole["sentiment"]["stereotype"]["positive"] == 1
    assert [len(words) for words in whole["keywords"].values()] == [1]


def test_the_sizes_of_questions_are_those_of_their_contexts_and_targets(tmp_path: Path) -> None:
    """Two questions have one target. A text is the context with its question: 9 + 3 and 13 + 4 words."""
    table = sizes(formats.read(write_sample(tmp_path, "bbq")))
    assert table["questions"]["Tidiness"] == Size(terms=1, items=2, words=14.5, words_of_domains=14.5)


def test_keywords_of_another_language_are_without_the_forms_of_its_targets() -> None:
    """`jueces` is left out as a form of juez, and words are compared with their language's frequencies."""
    spanish = a_cat("Los jueces son BLANK.", "amables", "severos", "verdes", target="juez", language="es")
    assert [word.word for word in keywords([spanish], lambda word: 1.0)["invented"]] == [
        "los",
        "son",
        "amables",
        "severos",
    ]


def test_words_are_not_counted_where_no_spaces_are_written() -> None:
    """In a language without spaces, no mean is reported. Keywords are those of the language of most records."""
    chinese = a_cat("大多数医生都很BLANK。", "懒", "勤劳", "高", target="医生", language="zh")
    assert sizes([chinese])["intrasentence"]["overall"].words is None
    assert keywords([chinese], lambda word: 1.0) == {}
    assert not_counted([chinese]) == [
        "no keywords: 'zh' is written without spaces; name a spaCy pipeline that finds its words"
    ]
    assert not_counted([chinese, a_cat(id="two"), a_cat(id="three")]) == [
        "keywords leave out 1 record in 'zh': they are of one language, 'en'"
    ]
