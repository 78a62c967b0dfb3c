import re

import pytest

from catsofa.scoring.protocols import DEFAULT, PRESETS, named


@pytest.mark.parametrize("name", PRESETS)
def test_every_difference_from_the_default_says_why(name: str) -> None:
    """A preset gives a reason for each option it changes, and for no other."""
    protocol = named(name)
    assert protocol.name == name
    assert set(protocol.why) == set(protocol.differences())
    assert all(why for _, _, why in protocol.differences().values())


def test_the_default_differs_from_itself_in_nothing() -> None:
    """`catsofa` is the default protocol."""
    assert named("catsofa") is DEFAULT
    assert DEFAULT.differences() == {}


def test_an_unknown_protocol_is_named_with_the_known_ones() -> None:
    """A wrong name is an error that lists the right ones."""
    with pytest.raises(ValueError, match=r"no protocol 'stereoset'; the protocols are catsofa, stereoset-v1"):
        named("stereoset")


def test_choices_of_ones_own_may_follow_a_name() -> None:
    """They change the options they name and no other, stay in the name, and so in every signature."""
    found = named("sent-bias,pooling=mean,layer=-2,unit_length=true,rounding=3,log_base=2.5", seed=5)
    assert found.name == "sent-bias,pooling=mean,layer=-2,unit_length=true,rounding=3,log_base=2.5"
    assert (found.pooling, found.layer, found.unit_length, found.rounding) == ("mean", -2, True, 3)
    assert (found.log_base, found.seed, found.counted) == (2.5, 5, 100_000)
    assert named("sent-bias-bert,pooling=none").pooling is None
    assert named("catsofa,masks=all").digest != DEFAULT.digest
    assert named("catsofa,masks=one").digest == DEFAULT.digest, "what is asked for is the default"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("catsofa,poolng=mean", "a protocol has no option 'poolng'; the options are masked, pieces"),
        ("catsofa,pooling=median", "pooling cannot be 'median'; it can be mean or max or cls or last or none"),
        ("catsofa,layer=last", "layer cannot be 'last'; it can be a whole number"),
        ("catsofa,unit_length=yes", "unit_length cannot be 'yes'; it can be true or false"),
        ("catsofa,about=me", "a protocol has no option 'about'"),
        ("catsofa,", "a protocol has no option ''"),
    ],
)
def test_a_choice_that_is_none_is_named_with_what_can_be_chosen(name: str, says: str) -> None:
    """A slip in an option or a value is never passed over."""
    with pytest.raises(ValueError, match=re.escape(says)):
        named(name)
