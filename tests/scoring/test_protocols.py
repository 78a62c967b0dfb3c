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
