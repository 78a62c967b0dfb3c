import time

import pytest

from catsofa.builders.paraphrases.checks import odd_characters
from catsofa.builders.paraphrases.replies import LONGEST, parse, refuses, reply_of
from catsofa.data.language import blanks
from catsofa.data.servers.requests import completion

TWO = ("The gardener is [BLANK].", "The keeper is [BLANK].")


@pytest.mark.parametrize(
    ("reply", "notes"),
    [
        ("{}\n{}", ()),
        ("{}\n\n{}", ()),
        ("{}\r\n{}\r\n", ()),
        ("  {}  \n \t \n{}", ()),
        ("1. {}\n2. {}", ("numbered",)),
        ("1) {}\n2) {}", ("numbered",)),
        ("(1) {}\n(2) {}", ("numbered",)),
        ("**1.** {}\n**2.** {}", ("numbered",)),
        ("- {}\n- {}", ("bullets",)),
        ("• {}\n* {}", ("bullets",)),
        ("Sentence 1: {}\nSentence 2: {}", ("numbered",)),
        ("**Paraphrase one:** {}\n**Paraphrase two:** {}", ("numbered",)),
        ('"{}"\n"{}"', ("quotes",)),
        ("'{}'\n'{}'", ("quotes",)),
        ("“{}”\n‘{}’", ("quotes",)),
        ('1. "{}"\n2. "{}"', ("numbered", "quotes")),
        ("Sure! Here are two sentences:\n\n{}\n{}", ("chatter",)),
        ("{} {}", ("one_line",)),
        ("{} / {}", ("one_line",)),
        ("a) {}\nb) {}", ("numbered",)),
        ("(a) {}\n(b) {}", ("numbered",)),
        ("<think>\nThe slot must stay: [BLANK].\n</think>\n\n{}\n{}", ("reasoning",)),
        ("A reasoner whose server ate the first tag. [BLANK]!\n</think>\n{}\n{}", ("reasoning",)),
        ("```\n{}\n{}\n```", ("markdown",)),
        ("```text\n1. {}\n2. {}\n```", ("markdown", "numbered")),
        ("Sure! Here are two paraphrases.\n{}\n{}", ("chatter",)),
        ("Certainly, I can help\n\n{}\n{}", ("chatter",)),
        ("{}\n{}\n\nLet me know if you need more!", ("chatter",)),
        ("{}\n{}\nNote: both keep the slot.", ("chatter",)),
        ("{}\n{}\nNote: I kept [BLANK] in both.", ("chatter",)),
        ("{} 😊\n🌟 {}", ("pictures",)),
        ("<p>{}</p>\n<p>{}</p>", ("html",)),
        ("<ol><li>{}</li>\n<li>{}</li></ol>", ("html",)),
        ("\u200b{}\n\ufeff{}", ("invisible",)),
    ],
)
def test_wrapping_is_taken_off_and_noted(reply: str, notes: tuple[str, ...]) -> None:
    """Both sentences are returned unchanged, without the markup or text around them."""
    parsed = parse(reply.format(*TWO))
    assert parsed.sentences == TWO
    assert parsed.notes == notes
    assert not parsed.refusal


@pytest.mark.parametrize(
    ("reply", "sentences"),
    [
        ("A BLANK man.\nA BLANK boy.", ("A BLANK man.", "A BLANK boy.")),
        ("A **[BLANK]** man.\nA `BLANK` boy.", ("A [BLANK] man.", "A BLANK boy.")),
        ("*A [BLANK] man.*\n__A [BLANK] boy.__", ("A [BLANK] man.", "A [BLANK] boy.")),
        ("'Jo' is a [BLANK] name.\nThey call it 'Jo'.", ("'Jo' is a [BLANK] name.", "They call it 'Jo'.")),
        ("'How [BLANK],' he said, 'is Jo'", ("'How [BLANK],' he said, 'is Jo'",)),
        ("'It isn't [BLANK].'", ("It isn't [BLANK].",)),
        ('He said, "a [BLANK]!"', ('He said, "a [BLANK]!"',)),
        ("Mr. Po is [BLANK]. He is.", ("Mr. Po is [BLANK]. He is.",)),
        ("Here they are:", ()),
        ("", ()),
        (" \n\r\n", ()),
    ],
)
def test_words_are_never_changed(reply: str, sentences: tuple[str, ...]) -> None:
    """Markdown is removed, a quotation inside a sentence stays, and a line is split only into the wanted sentences."""
    assert parse(reply).sentences == sentences


@pytest.mark.parametrize(
    ("reply", "faults"),
    [
        ("A man is [BLANK].\nA boy is [BLANK].", [None, None]),
        ("A [blank] man.\nA ____ boy.", ["malformed_blank", "malformed_blank"]),
        ("He enjoys [BLANK]ing.\nThe [BLANK]ness.", ["glued_blank", "glued_blank"]),
        ("A <BLANK> man.\nA blank man.", ["malformed_blank", "no_blank"]),
        ("A &#91;BLANK&#93; man.\nA &lt;BLANK&gt; man.", [None, "malformed_blank"]),
        ("[BLANK] and [BLANK].\nA man.", ["several_blanks", "no_blank"]),
        ("A [BLANK] and [BLANK] man", ["several_blanks"]),
    ],
)
def test_only_a_free_blank_counts(reply: str, faults: list[str | None]) -> None:
    """The parser's sentences are checked unchanged; nothing is repaired."""
    assert [blanks.check(sentence) for sentence in parse(reply).sentences] == faults


@pytest.mark.parametrize(
    "sentence",
    [
        "I'm sorry, but I cannot fulfill this request.",
        "I’m sorry, but I can’t help with that.",
        "Sorry, I won't do that.",
        "As an AI language model, I have no opinion.",
        "I cannot assist with this.",
        "Unfortunately, I am unable to comply.",
        "This goes against my guidelines.",
    ],
)
def test_a_refusal_is_known(sentence: str) -> None:
    """A reply with such a sentence and no BLANK is a refusal."""
    assert refuses(sentence)
    assert parse(sentence).refusal


@pytest.mark.parametrize(
    "sentence",
    ["I can't believe how [BLANK] he is.", "He was sorry to be [BLANK].", "She cannot drive.", "An AI is [BLANK]."],
)
def test_a_sentence_with_the_same_words_is_no_refusal(sentence: str) -> None:
    """Being sorry, or unable to do something else, is no refusal."""
    assert not refuses(sentence)


def body(**message: object) -> dict[str, object]:
    """Returns a chat completion with this message."""
    finish = message.pop("finish", "stop")
    return {"choices": [{"message": message, "finish_reason": finish}], "model": "m"}


def test_how_an_answer_ended_is_an_outcome() -> None:
    """A content filter, a refusal, a truncated and an empty reply have different endings; only a complete one is
    used."""
    assert reply_of(body(content="A")).ending == "complete"
    assert reply_of(body(content="A", finish="length")).ending == "truncated"
    assert reply_of(body(content="A", finish="content_filter")).ending == "content_filter"
    assert reply_of(body(content=None, refusal="no")).ending == "refusal"
    assert reply_of(body(content=None)).ending == "empty"
    assert reply_of(body(content=" \n")).ending == "empty"
    assert reply_of({"choices": []}).ending == "empty"


@pytest.mark.parametrize("junk", [None, [], "text", {}, {"choices": None}, {"error": {"message": "x"}}])
def test_what_is_no_chat_completion_is_an_error(junk: object) -> None:
    """An invalid completion is an error, although it may have been paid for."""
    with pytest.raises(ValueError, match="no completion"):
        completion(junk)


HOSTILE = {
    "blank lines": "\n" * LONGEST + "x",
    "spaces": "a" + " " * LONGEST + "b BLANK",
    "bullets": "- " * (LONGEST // 2) + "BLANK",
    "quotes": "“‘" * (LONGEST // 4) + "x" + "’”" * (LONGEST // 4),
    "pictures": "\U0001f600" * LONGEST + "x",
    "slashes": " / " * (LONGEST // 3),
    "tags": "<think>" * (LONGEST // 7),
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_the_time_to_read_a_reply_grows_as_its_length_whatever_it_holds(shape: str) -> None:
    """The longest reply that is read takes under a second; in quadratic time, one of these took over a minute."""
    begun = time.process_time()
    parse(HOSTILE[shape])
    assert time.process_time() - begun < 10


def test_a_reply_beyond_all_that_was_asked_for_is_truncated() -> None:
    """Of eleven million characters, the first 200,000 are read, and the reply counts as truncated."""
    reply = reply_of({"choices": [{"finish_reason": "stop", "message": {"content": "tidy\n" * 2_200_000}}]})
    assert (reply.ending, len(reply.text)) == ("truncated", LONGEST)
    assert reply_of({"choices": [{"finish_reason": "stop", "message": {"content": "tidy"}}]}).ending == "complete"


def test_half_a_surrogate_pair_in_a_reply_costs_that_line_and_not_the_build() -> None:
    """Half a surrogate pair becomes the replacement character, because no file can hold it, and the checks refuse that
    line."""
    reply = reply_of({"choices": [{"message": {"content": "tidy\ud800\nloud"}}]})
    first, second = parse(reply.text).sentences
    assert (odd_characters(first), second) == ({"\ufffd"}, "loud")
