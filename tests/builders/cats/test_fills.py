import pytest

from catsofa.builders.cats.fills import Part, in_number, readings, slot_of

USUAL: list[tuple[str, set[Part]]] = [
    ("honest", {"adjective"}),
    ("young", {"adjective"}),
    ("white", {"adjective"}),
    ("wealthy", {"adjective"}),
    ("hardworking", {"adjective"}),
    ("criminal", {"adjective", "noun"}),
    ("snobs", {"noun"}),
    ("early risers", {"noun"}),
    ("Germans", {"noun"}),
    ("teapots", {"noun", "bare noun"}),
    ("honesty", {"bare noun"}),
    ("furniture", {"bare noun"}),
    ("trousers", {"bare noun"}),
    ("evaporate", {"verb", "infinitive"}),
    ("steal", {"verb", "infinitive"}),
    ("smallest", set()),
    ("is rude", set()),
    ("can cook", set()),
    ("like loud music", set()),
    ("even-handed", {"adjective"}),
    ("under", set()),
    ("cut", set()),
    ("does", set()),
    ("she", set()),
    ("slowly", set()),
    ("blorp", set()),
    ("never sing", {"verb"}),
    ("humble people", {"noun"}),
    ("clean their houses", {"verb", "infinitive"}),
    ("selfies", {"noun", "bare noun"}),
    ("geeks", {"noun"}),
    ("goofy", {"adjective"}),
    ("hummus", {"bare noun"}),
    ("stranger", {"noun"}),
    ("marathon", {"noun", "bare noun"}),
]


@pytest.mark.parametrize(("words", "parts"), USUAL)
def test_without_a_sentence_words_are_what_they_usually_are(words: str, parts: set[Part]) -> None:
    """A noun that is mostly an adjective, a verb that needs an object, and unknown words have no reading."""
    assert set(readings(words)) == parts


WRITTEN: list[tuple[str, str, set[Part]]] = [
    ("criminal", "The baker is BLANK.", {"adjective"}),
    ("criminal", "The baker is a BLANK.", {"noun"}),
    ("fat", "The baker was so BLANK.", {"adjective"}),
    ("dancing", "The baker was BLANK.", {"verb", "infinitive"}),
    ("caring", "The BLANK baker left.", {"adjective"}),
    ("lies", "They tell BLANK.", {"verb", "infinitive"}),
    ("snobs", "They are BLANK.", {"noun"}),
    ("gossip", "They always had to BLANK.", {"verb", "infinitive"}),
    ("gossip", "They live for BLANK.", {"bare noun"}),
    ("teapot", "The baker was BLANK.", {"noun", "bare noun"}),
    ("tailor", "The baker met a BLANK.", {"noun"}),
    ("poor", "He was a BLANK old baker.", {"adjective"}),
    ("calm", "The baker is a BLANK! man", {"adjective"}),
]


@pytest.mark.parametrize(("words", "context", "parts"), WRITTEN)
def test_the_sentence_that_words_were_written_for_decides_their_part(
    words: str, context: str, parts: set[Part]
) -> None:
    """The sentence decides unless the dictionary has no such reading: a teapot is no adjective."""
    assert set(readings(words, context)) == parts


HEADS: list[tuple[str, Part, str, str]] = [
    ("man of honour", "noun", "man of honour", "men of honour"),
    ("good cook", "noun", "good cook", "good cooks"),
    ("a liar", "noun", "liar", "liars"),
    ("bakers, barbers and cooks", "noun", "baker, barber and cook", "bakers, barbers and cooks"),
    ("liars and thieves", "noun", "liar and thief", "liars and thieves"),
    ("warm and kind", "adjective", "warm and kind", "warm and kind"),
    ("gossips all day", "verb", "gossips all day", "gossip all day"),
    ("dancing all night", "verb", "dances all night", "dance all night"),
    ("sing and dance", "verb", "sings and dances", "sing and dance"),
    ("does nothing all day", "verb", "does nothing all day", "do nothing all day"),
    ("likes loud music", "verb", "likes loud music", "like loud music"),
    ("germans", "noun", "German", "Germans"),
    ("humble people", "noun", "humble person", "humble people"),
    ("never sing", "verb", "never sings", "never sing"),
    ("beat their drums", "verb", "beats their drums", "beat their drums"),
    ("boils", "bare noun", "boils", "boils"),
]


@pytest.mark.parametrize(("words", "part", "singular", "plural"), HEADS)
def test_the_head_of_several_words_takes_the_number(words: str, part: Part, singular: str, plural: str) -> None:
    """The number is set on the noun or verb on which the phrase is built, not on the first or last word."""
    base = readings(words)[part].words
    assert (in_number(base, part, "singular"), in_number(base, part, "plural")) == (singular, plural)


def test_a_phrase_needs_the_end_of_a_clause() -> None:
    """Participles and adjectives with complements stand after their noun."""
    assert [readings(words)["adjective"].phrase for words in ("made of wood", "asleep", "smaller", "kind")] == [
        *(True, True, True, False)
    ]


def test_words_around_a_blank_say_what_it_takes() -> None:
    """Degree words and nouns require an adjective, articles a noun, `to` a verb; a lone BLANK requires nothing."""
    contexts = (
        "He is very BLANK.",
        "The BLANK man left.",
        "He is a BLANK.",
        "He is BLANK.",
        "He had to BLANK.",
        "BLANK!",
    )
    assert [slot_of(context) for context in contexts] == [
        *({"adjective"}, {"adjective"}, {"article"}, {"predicate"}, {"verb"}),
        None,
    ]
