import pytest

from catsofa.builders.paraphrases import Answer, Paraphrase, Rules, build, prompts
from catsofa.builders.paraphrases.replies import Reply
from catsofa.builders.paraphrases.slots import Slots
from catsofa.data.records import Candidate, Cat


def a_cat(context: str, fills: tuple[str, str, str], language: str) -> Cat:
    """Returns a CAT in a language."""
    one, two, three = (Candidate(text=context.replace("BLANK", fill), label="unrelated", fill=fill) for fill in fills)
    labelled = (
        Candidate(text=one.text, label="stereotype", fill=one.fill),
        Candidate(text=two.text, label="anti-stereotype", fill=two.fill),
        three,
    )
    return Cat(kind="intrasentence", bias_type="x", target="x", context=context, candidates=labelled, language=language)


CASES = [
    ("es", "El panadero ayuda a BLANK.", ("ancianos", "ricos", "ovales"), "Ese panadero le echa una mano a [BLANK]."),
    ("zh", "那名面包师很BLANK。", ("懒", "勤劳", "透明"), "那个面包师非常[BLANK]。"),
]


@pytest.mark.parametrize(("language", "context", "fills", "reply"), CASES)
def test_paraphrases_in_other_languages_wait_for_people(
    language: str, context: str, fills: tuple[str, str, str], reply: str
) -> None:
    """The rules of meaning support only English, so each paraphrase goes to review. A Spanish `a` does not become
    `an`."""
    cat = a_cat(context, fills, language)
    rules = Rules(slot=Slots(None), count=1)
    (paraphrase,) = build([Answer(original=cat, reply=Reply(text=reply, ending="complete", model="m"))], rules, {})
    assert isinstance(paraphrase, Paraphrase), paraphrase
    assert paraphrase.queue == "review"
    assert paraphrase.cat["stereotype"].text == reply.replace("[BLANK]", fills[0])


@pytest.mark.parametrize("language", ["de", "es", "fr", "zh"])
def test_the_default_prompt_is_in_the_language_of_the_cats(language: str) -> None:
    """The prompt has the context and no English rule."""
    prompt = prompts.load("default", 2, language).ask(a_cat("Zorb BLANK.", ("a", "b", "c"), language))
    assert "Zorb [BLANK]." in prompt
    assert "Rules:" not in prompt


def test_a_language_without_a_prompt_is_refused() -> None:
    """The English prompt is not used instead."""
    with pytest.raises(ValueError, match="'tlh'"):
        prompts.load("default", 2, "tlh")
