"""Tests of texts that people write in other languages, as drafts of CATs."""

from catsofa.annotation.results.drafts import problems, warnings


def test_drafts_in_other_languages() -> None:
    """A BLANK between Chinese characters counts as alone, and a target is recognised in any form of its tables."""
    texts = {"stereotype": "懒", "anti_stereotype": "勤劳", "unrelated": "高"}
    chinese = {"context": "大多数医生都很BLANK。", **texts}
    assert list(problems("intrasentence", "医生", chinese, "zh")) == []
    assert list(problems("intrasentence", "juez", {"context": "Los jueces son BLANK."}, "es")) == []
    assert list(problems("intrasentence", "juez", {"context": "Los juegos son BLANK."}, "es")) == [
        "the sentence does not name the target 'juez'"
    ]
    assert list(warnings("intersentence", {"stereotype": "他们都很懒。"}, "zh")) == []
