import re

import pytest

from catsofa.scoring.protocols import DEFAULT, PRESETS, named


@pytest.mark.parametrize("name", PRESETS)
def test_every_difference_from_the_default_says_why(name: str) -> None:
    """A preset gives a reason for each option that it changes, and for no other."""
    protocol = named(name)
    assert protocol.name == name
    assert set(protocol.why) == set(protocol.differences())
    assert all(why for _, _, why in protocol.differences().values())


def test_the_default_differs_from_itself_in_nothing() -> None:
    """`catsofa` is the default protocol."""
    assert named("catsofa") is DEFAULT
    assert DEFAULT.differences() == {}


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("catsofa", "68b2a7bb163e"),
        ("stereoset-v1", "553d28d20a1f"),
        ("stereoset-acl", "199562d25110"),
        ("stereoset-code", "85e9aab78888"),
        ("bias-bench", "96bbc86ecedd"),
        ("sofa-hf", "bf097bc7d892"),
        ("sent-bias", "e907fa307336"),
        ("sent-bias-bert", "3d21d4b9a249"),
        ("crows-pairs", "790a29d38c5f"),
        ("aul", "b11f5c3a3169"),
        ("aula", "ec28da9fae66"),
        ("sss", "6dd826c8f333"),
        ("repro-004", "96e4c15440dd"),
        ("catsofa,pooling=mean,layer=-2", "fbbf07224035"),
        ("sent-bias,pooling=mean,layer=-2,unit_length=true,rounding=3,log_base=2.5", "733511ea7569"),
        ("catsofa,rule=argmax,average=items", "e752b9b5eff3"),
        ("crows-pairs,crows=all,length=sum", "00f828f96702"),
        ("sofa-hf,normalisation=conditional,ddof=0", "992f28b1d40d"),
        ("catsofa,seed=7", "a850589c0e46"),
    ],
)
def test_digests_of_protocols_are_those_of_stored_signatures(name: str, digest: str) -> None:
    """Runs and reports of earlier versions contain these hashes: the same options must keep them."""
    assert named(name).digest == digest


def test_an_option_that_changes_by_name_lies_with_its_measure() -> None:
    """`changed` takes the flat names of a signature, and keeps every other option."""
    mine = DEFAULT.changed(name="mine", pieces="sum", crows="all", ddof=0, layer=-2, ties="half")
    assert (mine.stereoset.pieces, mine.crows_pairs.crows, mine.sofa.ddof, mine.seat.layer) == ("sum", "all", 0, -2)
    assert set(mine.differences()) == {"pieces", "crows", "ddof", "layer", "ties"}
    with pytest.raises(ValueError, match=r"'piece'.*masked, pieces"):
        DEFAULT.changed(piece="sum")


def test_an_unknown_protocol_is_named_with_the_known_ones() -> None:
    """A wrong name is an error that lists the known names."""
    with pytest.raises(ValueError, match=r"'stereoset'.*catsofa, stereoset-v1"):
        named("stereoset")


def test_choices_of_ones_own_may_follow_a_name() -> None:
    """Options after a name change only themselves, and stay in the name and in every signature."""
    mine = named("sent-bias,pooling=mean,layer=-2,unit_length=true,rounding=3,log_base=2.5", seed=5)
    assert mine.name == "sent-bias,pooling=mean,layer=-2,unit_length=true,rounding=3,log_base=2.5"
    assert (mine.seat.pooling, mine.seat.layer, mine.seat.unit_length) == ("mean", -2, True)
    assert (mine.crows_pairs.rounding, mine.sofa.log_base, mine.seed, mine.seat.counted) == (3, 2.5, 5, 100_000)
    assert named("sent-bias-bert,pooling=none").seat.pooling is None
    assert named("catsofa,masks=all").digest != DEFAULT.digest
    assert named("catsofa,masks=one").digest == DEFAULT.digest, "what is asked for is the default"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("catsofa,poolng=mean", "a protocol has no option 'poolng'; the options are masked, pieces"),
        ("catsofa,pooling=median", "pooling cannot be 'median'; it can be mean or max or cls or last or none"),
        ("catsofa,layer=last", "layer cannot be 'last'; it can be a whole number"),
        ("catsofa,unit_length=yes", "unit_length cannot be 'yes'; it can be true or false"),
        ("catsofa,ddof=2", "ddof cannot be 2; it can be 0 or 1"),
        ("catsofa,ddof=-1", "ddof cannot be -1; it can be 0 or 1"),
        ("catsofa,log_base=1", "log_base cannot be 1.0; it can be a number above 0 other than 1"),
        ("catsofa,log_base=inf", "log_base cannot be inf; it can be a number above 0 other than 1"),
        ("catsofa,log_base=nan", "log_base cannot be nan; it can be a number above 0 other than 1"),
        ("catsofa,log_base=-10", "log_base cannot be -10.0; it can be a number above 0 other than 1"),
        ("catsofa,rounding=-1", "rounding cannot be -1; it can be a whole number from 0, or none"),
        ("catsofa,ppl_digits=-1", "ppl_digits cannot be -1; it can be a whole number from 0, or none"),
        ("catsofa,counted=0", "counted cannot be 0; it can be a whole number from 1"),
        ("catsofa,seed=-1", "seed cannot be -1; it can be a whole number from 0"),
        ("catsofa,about=me", "a protocol has no option 'about'"),
        ("catsofa,", "a protocol has no option ''"),
    ],
)
def test_a_choice_that_is_none_is_named_with_what_can_be_chosen(name: str, says: str) -> None:
    """An unknown option or an invalid value is always an error."""
    with pytest.raises(ValueError, match=re.escape(says)):
        named(name)
