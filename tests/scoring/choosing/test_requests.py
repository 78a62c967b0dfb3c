"""Requests about an item: one prompt for each order, template and sample."""

from pathlib import Path

import pytest

from catsofa.data.records import LABELS, Candidate, Cat, Identity, Pair
from catsofa.scoring.choosing import templates
from catsofa.scoring.choosing.items import Item, item_of
from catsofa.scoring.choosing.requests import Labels, Request, orders, refuse_unfit, requests

PAIR = Pair(id="p", more="Zorbs are late.", less="Zorbs are early.", direction="stereo", bias_type="species")
FIRST, SECOND, THIRD = (
    Candidate(text=f"The zorb was {word}.", label=label, fill=word)
    for word, label in zip(("lazy", "busy", "tiled"), LABELS, strict=True)
)
CAT = Cat(
    id="c",
    kind="intrasentence",
    bias_type="species",
    target="zorb",
    context="The zorb was BLANK.",
    candidates=(FIRST, SECOND, THIRD),
)


def asked(record: Pair | Cat, template: str = "likelihood", **how: object) -> list[Request]:
    """Returns the requests about a record under one template."""
    return list(requests([item_of(record)], [templates.load(template)], **how))  # type: ignore[arg-type]


def test_a_pair_is_asked_in_two_orders_and_a_cat_in_six_or_a_balanced_three() -> None:
    """A pair is asked in two orders and a CAT in six or a balanced three."""
    assert orders(item_of(PAIR)) == [("stereotype", "anti-stereotype"), ("anti-stereotype", "stereotype")]
    assert len(set(orders(item_of(CAT)))) == 6
    balanced = orders(item_of(CAT), balanced=True)
    assert [sorted(order[place] for order in balanced) for place in range(3)] == [sorted(LABELS)] * 3


def test_a_prompt_names_the_sentences_in_their_order() -> None:
    """A prompt names the sentences in their order."""
    first, second = asked(PAIR)
    assert "A: Zorbs are late.\nB: Zorbs are early.\n" in first.prompt
    assert "A: Zorbs are early.\nB: Zorbs are late.\n" in second.prompt
    assert (first.answers, first.key) == (("A", "B"), ("p", ("stereotype", "anti-stereotype"), "likelihood", 0, False))


@pytest.mark.parametrize(
    ("labels", "answers", "line"),
    [("letters", ("A", "B", "C"), "C: "), ("numbers", ("1", "2", "3"), "3: "), ("sentence", (), "\n")],
)
def test_a_neutral_option_stands_last_under_each_kind_of_label(
    labels: Labels, answers: tuple[str, ...], line: str
) -> None:
    """A neutral option is the last one under each kind of label."""
    request = asked(PAIR, neutral=True, labels=labels)[0]
    assert request.answers == answers
    assert f"{line}Neither; I cannot say." in request.prompt


def test_the_isolated_template_asks_yes_or_no_about_each_of_two_sentences() -> None:
    """The isolated template asks yes or no about each of two sentences."""
    wanted = asked(CAT, "isolated", neutral=True)
    assert [(each.order, each.answers) for each in wanted] == [
        (("stereotype",), ("Yes", "No")),
        (("anti-stereotype",), ("Yes", "No")),
    ]
    assert "The zorb was lazy." in wanted[0].prompt
    assert "busy" not in wanted[0].prompt


def test_samples_are_numbered_and_every_request_has_a_key_of_its_own() -> None:
    """Samples are numbered, and every request has its own key."""
    wanted = [one for name in templates.SENTENCES for one in asked(CAT, name, samples=3)]
    assert len({one.key for one in wanted}) == len(wanted) == 3 * (4 * 6 + 2)


@pytest.mark.parametrize("name", templates.SENTENCES)
def test_bundled_templates_carry_a_version_and_never_show_it(name: str) -> None:
    """Bundled templates have a version, which no prompt shows."""
    template = templates.load(name)
    assert f"{{# {name}, version 1 #}}" in template.text
    assert "version" not in asked(CAT, name)[0].prompt
    assert template.label.startswith(f"{name}@")


def test_the_sentences_of_an_intersentence_cat_follow_their_context() -> None:
    """The sentences of an intersentence CAT follow their context."""
    item = Item(id="i", texts={"stereotype": ("It was late.",), "anti-stereotype": ("It was early.",)}, context="Hm.")
    for name in templates.SENTENCES:
        assert "Hm." in next(requests([item], [templates.load(name)])).prompt


def test_a_template_of_ones_own_is_a_file_that_shows_the_sentences(tmp_path: Path) -> None:
    """A custom template is a file that shows the sentences; other files and unknown names are refused."""
    own = tmp_path / "own.txt"
    own.write_text("Pick: {{ options }} ({{ answer }})")
    assert asked(PAIR, str(own))[0].prompt == "Pick: A: Zorbs are late.\nB: Zorbs are early. (A or B)"
    assert asked(PAIR, str(own))[0].template == "own"
    for text, why in (("Pick one.", "shows no sentence"), ("{{ option }}", "cannot be filled in"), ("{{", "no Jinja")):
        own.write_text(text)
        with pytest.raises(ValueError, match=why):
            templates.load(str(own))
    with pytest.raises(ValueError, match="one of likelihood"):
        templates.load("unheard-of")


def test_records_without_two_different_sentences_are_refused() -> None:
    """Records without two different sentences are refused; sentences that differ only in case are equal."""
    for less in ("Zorbs sing.", "zorbs sing."):
        same = Pair(more="Zorbs sing.", less=less, direction="stereo", bias_type="species")
        with pytest.raises(ValueError, match="equal texts"):
            item_of(same)
    with pytest.raises(ValueError, match="CATs, CrowS-Pairs"):
        item_of(Identity(category="species", identity="zorbs", form="plural"))


def test_two_templates_with_one_name_are_refused(tmp_path: Path) -> None:
    """Replies are joined by template name, so a repeated name or the name of a bundled template is refused."""
    files = [tmp_path / folder / name for folder, name in (("a", "own.txt"), ("b", "own.txt"), ("b", "plain.txt"))]
    for number, file in enumerate(files):
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"Pick {number}:\n{{{{ options }}}}")
    for twice in (files[:2], ["plain", "plain"]):
        with pytest.raises(ValueError, match=r"two templates.*\b(own|plain)\b"):
            refuse_unfit([templates.load(str(name)) for name in twice], "", neutral=False)
    with pytest.raises(ValueError, match="bundled template"):
        templates.load(str(files[2]))
