import pytest

from catsofa.builders import association_tests, identities, probes, stereotypes
from catsofa.builders.cats import Association, agreeing
from catsofa.builders.stereotypes.dictionary_parsing import dictionary_parser
from catsofa.data.languages import find
from catsofa.data.languages.slots import faults
from catsofa.data.records import Cat, Identity, Probe, Statement, Stereotype, Term

CHINESE = find("zh")
STATEMENTS = [
    ("大多数面包师都很懒。", "面包师", "都很懒"),
    ("大部分的面包师都很懒", "面包师", "都很懒"),
    ("几乎所有面包师都很懒", "面包师", "都很懒"),
    ("每一个面包师都很懒", "面包师", "都很懒"),
    ("喜欢跟日本女孩聊天", "", "!names_target"),
    ("谁都不喜欢他们", "", "!agrees_with_subject"),
    ("面包师们不会开车", "面包师", "不会开车"),
    ("这位面包师很勤劳，很老实", "面包师", "很勤劳，很老实"),
    ("他们偷面包", "", "偷面包"),
    ("抢我们的面包", "", "!first_or_second_person"),
    ("昨天偷了面包", "", "!past_tense"),
    ("的孩子很聪明", "", "!restricted_subject"),
    ("不喜欢法国人", "", "!names_target"),
    ("面包便宜", "", "!no_verb"),
]


KEPT = (
    "什么都抱怨 周末要打工 每天吃面包 每个星期天都去教堂 天一亮就起床 数学好 忘记自己的承诺 感到孤独 "
    "整天待在房间里 存很多钱 过得很幸福 回家时很累 收入不错 自言自语 饭前洗手 性格开朗 皮肤白 重男轻女 "
    "从小就要帮家里干活 待人热情 脾气不好 好吃懒做 信佛 长得漂亮 当老师 一定要生儿子 太过节俭 结婚过早 爱过生日 "
    "重视过春节 乱过马路 难以通过考试 不喜欢超过别人 很了解自己 觉得自己了不起 吃得了苦 没结过婚 很自我 "
    "以自我为中心 热情好客 爱占便宜 家里很乱 嫌房子太贵 是非常可靠的员工 "
    "把手机看得很重 对手下很严厉 带子女很严格 说法语说得很好 管家里的事 连饭都不会做 除了工作什么都不懂 "
    "既聪明又勤奋 越老越固执 再穷也要讲面子 光说不做 超级懒 有了钱就忘本 喝多了爱闹事 生了孩子也不管 "
    "被宠坏了 做的菜很好吃 写的字很难看 穿的衣服很土 吃饭的时候不说话 过马路时不看红绿灯 身上有一股怪味 "
    "表面上很友好 老爱迟到 言而无信 命苦 直率 刻薄又势利 办事效率低 凭关系找工作"
)
NO_PREDICATE = (
    "学校很贵 教堂很漂亮 骗子都很坏 笑话不好笑 爱情很重要 太阳很大 会议太长 电影很好看 天气很热 晚上很冷 "
    "管理费很高 吃的东西很贵 有人很懒 去过很多国家 通过了考试 以前很穷 昨天迟到了 将来会成功 是非很多 对手很强 "
    "做的人很少 光线很暗 连衣裙很漂亮 超市很远 老师很严厉 净水很贵 脚步声很大 既然如此 被抓了 都搬走了 "
    "把房子卖了 即将离开 要下岗了 听说他们很懒 跟日本女孩结婚 娶外国女人"
)


@pytest.mark.parametrize(
    ("statement", "kept"), [(s, True) for s in KEPT.split()] + [(s, False) for s in NO_PREDICATE.split()]
)
def test_predicates_are_read_by_whole_words(statement: str, kept: bool) -> None:
    """A noun that starts with the character of a verb is no verb; a trait with its comment is a predicate."""
    (record,) = stereotypes.build([Statement(statement=statement, language="zh")], dictionary_parser)
    assert isinstance(record, Stereotype) == kept


@pytest.mark.parametrize(("statement", "target", "expected"), STATEMENTS)
def test_chinese_predicates(statement: str, target: str, expected: str) -> None:
    """The predicate is what follows the subject, if it starts like a predicate."""
    (record,) = stereotypes.build([Statement(statement=statement, target=target, language="zh")], dictionary_parser)
    assert (record.text if isinstance(record, Stereotype) else f"!{record.reason}") == expected


def test_chinese_probes_have_no_space() -> None:
    """Subject and predicate are joined without a space."""
    (baker,) = identities.build([Term(category="x", term="面包师", pos="n", language="zh")])
    (lazy,) = stereotypes.build([Statement(statement="他们很懒", category="x", language="zh")], dictionary_parser)
    assert isinstance(baker, Identity)
    assert isinstance(lazy, Stereotype)
    (probe,) = probes.build([baker], [lazy])
    assert isinstance(probe, Probe)
    assert probe.text == "面包师很懒"


def test_chinese_cats_take_the_classifier_of_their_noun() -> None:
    """`cl` in a slot is the classifier from terms.csv. A template gives one CAT, because no word shows a gender."""
    words = {"stereotype": "懒", "anti-stereotype": "勤劳", "unrelated": "透明"}
    templates = agreeing.templates_of(CHINESE, None, ())
    records = list(agreeing.build(CHINESE, templates, [Association("面包师", "x", words)]))
    cats = {cat.context: cat.candidates[2].text for cat in records if isinstance(cat, Cat)}
    assert cats["隔壁的那名面包师很BLANK。"] == "隔壁的那名面包师很透明。"
    assert len(cats) == len(records)


def test_sentences_of_word_tests_are_said_of_people() -> None:
    """Adjectives of word tests are traits of people, and names have two characters."""
    sentences = association_tests.sentences("诚实", "adjective", CHINESE)
    assert sentences == ["有人很诚实。", "这里的人很诚实。", "那里的人很诚实。"]
    assert all(len(name) == 2 for name in CHINESE.word_sets["kinds"]["name"])


def test_professions_have_one_classifier() -> None:
    """The sentences of a pair do not differ in the classifier."""
    assert {noun.kind for noun in CHINESE.nouns if noun.category == "profession"} == {"名"}


@pytest.mark.parametrize(
    "template", ["{target}{是|都是}BLANK。", "{target}{他|她~target}BLANK。", "{target@dat}BLANK。"]
)
def test_slots_that_a_language_lacks_are_faults(template: str) -> None:
    """Chinese has no number, gender or case, so such slots are faults."""
    assert list(faults(template, CHINESE))
