import re
import shutil
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.edits import replaced_in
from typer.testing import CliRunner

from catsofa.builders.languages.check import check
from catsofa.builders.languages.gold import FUNCTIONS
from catsofa.cli import app
from catsofa.data.files import BadInput
from catsofa.data.languages import find, schema
from catsofa.data.languages.language import Language

FILES = {
    "language.toml": """code = "drv"
name = "Dravian"
status = "draft"
spaces = true
genders = ["m", "f"]
numbers = ["sg", "pl"]
definite = "el"
[subject]
noun = "{el targets}"
adjective = "{el targets} {ADJECTIVE~targets}"
phrase = "{el targets} PHRASE"
people = "zorb"
[statements]
openers = ["nu"]
copulas = ["ta", "tan"]
agreeing = 'sola$'
[statements.readings]
plural = ["tan"]
""",
    "terms.csv": """term,category,pos,m_sg,f_sg,m_pl,f_pl
zorb,people,n,zorb,zorba,zorbim,zorbam
pek,profession,n,pek,peka,pekim,pekam
""",
    "rules.toml": """columns = ["m_sg", "f_sg", "m_pl", "f_pl"]
[lists]
unchanged = ["da"]
[articles]
el = { after = "def", forms = ["el", "ela", "elim", "elim"] }
[[feminine]]
if = '[^x]$'
put = '\\g<0>a'
[[plural]]
if = 'a$'
put = "am"
[[plural]]
if = '[^x]$'
put = '\\g<0>im'
[[finite]]
if = 'a$'
put = "an"
[[reading]]
if = 'an$'
put = "plural"
""",
    "words.csv": "word,pos,gender\nlent,adjective,\noval,adjective,\nrapid,adjective,\nbux,thing,m\n",
    "exceptions.csv": "function,word,features,form\nplural,pex,,pexam\n",
    "templates.toml": '[[templates]]\ncontext = "{el target} ta {BLANK~target}."\nblank = "adjective"\n',
    "gold.csv": "function,input,features,accepted\nplural,lent,,lentim\nphrase,{el oval target}.,pek m,El oval pek.\n",
    "gold_nouns.csv": "noun,gender,singular,plural,feminine\npek,m,el pek,elim pekim,peka\n",
}
"""A small language without a fault."""


@pytest.fixture
def dravian(tmp_path: Path) -> Path:
    """Returns the folder of a small language."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_small_language_has_no_fault(dravian: Path) -> None:
    """Each fault of the other tests comes from the change of the test."""
    assert check(Language(dravian)).faults == ()


ROWS = [
    (
        "gold.csv",
        "finite,quxt,,quxtan",
        "gold.csv:4",
        "finite, quxt: found a refusal (no_finite: quxt); expected quxtan",
    ),
    ("gold.csv", "plural,lent,,", "gold.csv:4", "plural, lent: found lentim; expected a refusal"),
    ("gold.csv", "phrase,{el target} ta.,quxt m,X", "gold.csv:4", "found a refusal (no_gender: quxt); expected X"),
    ("gold.csv", "plurall,lent,,lentim", "gold.csv:4", "the function 'plurall'"),
    ("gold.csv", "phrase,{el target} ta.,,X", "gold.csv:4", "the features '' of phrase"),
    ("gold.csv", "phrase,{el target} ta.,pek x,X", "gold.csv:4", "the features 'pek x' of phrase"),
    ("gold.csv", "phrase,{el targets@dat} ta.,pek m,X", "gold.csv:4", "the case 'dat'"),
    ("gold.csv", "phrase,{el target ta.,pek m,X", "gold.csv:4", "a brace without its partner"),
    ("gold.csv", "phrase,{el target2} ta.,pek m,X", "gold.csv:4", "target2"),
    ("gold.csv", "agree,lent,,lentim", "gold.csv:4", "the features '' of agree"),
    ("gold.csv", "agree,lent,x pl,lentim", "gold.csv:4", "the features 'x pl' of agree"),
    ("gold.csv", "plural,lent,m,lentim", "gold.csv:4", "the features 'm' of plural"),
    ("gold_nouns.csv", "zorb,x,el zorb,elim zorbim,zorba", "gold_nouns.csv:3", "the gender 'x' of 'zorb'"),
    ("exceptions.csv", "finit,vola,pl,volan", "exceptions.csv:3", "the function 'finit'"),
    ("exceptions.csv", "finite,vola,,volan", "exceptions.csv:3", "the features '' of finite"),
    ("exceptions.csv", "plural,lent,zz,lentot", "exceptions.csv:3", "the features 'zz' of plural"),
    ("exceptions.csv", "plural,pex,,pexim", "exceptions.csv:3", "again, with other cells than in exceptions.csv:2"),
    ("words.csv", "forte,adverbo,", "words.csv:6", "the part of speech 'adverbo'"),
    ("words.csv", "bix,thing,x", "words.csv:6", "the gender 'x'"),
    ("words.csv", "lent,adjective,", "words.csv:6", "again, as in words.csv:2"),
    ("words.csv", "bux,thing,f", "words.csv:6", "again, with other cells than in words.csv:5"),
    ("words.csv", f"{'o' * 101},adjective,", "words.csv:6", "a word of 101 letters"),
    ("terms.csv", "pek,profession,n,pek,peka,pekim,pekam", "terms.csv:4", "again, as in terms.csv:3"),
    ("terms.csv", "pek,trait,n,pek,peka,pekim,pekam", "terms.csv:4", "again, with other cells than in terms.csv:3"),
    ("rules.toml", "[[plurall]]\nif = 'a$'\nput = 'b'", "rules.toml:21", "'plurall'"),
    ("rules.toml", "[[plural]]\nif = '<nolist>$'\nput = 'b'", "rules.toml:21", "<nolist>"),
    ("rules.toml", "[[plural]]\nif = 'a$'\nput = 'b'\nputt = 'c'", "rules.toml:21", "the key 'putt'"),
    ("rules.toml", "[[reading]]\nif = 'a$'\nput = 'plurall'", "rules.toml:21", "the reading 'plurall'"),
    ("rules.toml", '[["case pl dat"]]\nif = "a$"\nput = "b"', "rules.toml:21", "'case pl dat'"),
]


@pytest.mark.parametrize(("name", "row", "where", "what"), ROWS)
def test_a_wrong_row_is_named_with_its_line(dravian: Path, name: str, row: str, where: str, what: str) -> None:
    """A row that the code would ignore, or that the rules do not answer, is a fault with its place."""
    (dravian / name).write_text(f"{FILES[name]}{row}\n", encoding="utf-8")
    (fault,) = check(Language(dravian)).faults
    assert fault.where == where
    assert what in fault.what
    assert fault.advice


CHANGES = [
    ("language.toml", "openers =", "opners =", "the key 'opners' in [statements]"),
    ("language.toml", 'definite = "el"', 'definit = "el"', "the key 'definit'"),
    ("language.toml", 'definite = "el"', 'definite = "ell"', "definite = 'ell'"),
    ("language.toml", 'code = "drv"', 'code = "ZZZZ 1"', "code = 'ZZZZ 1'"),
    ("language.toml", 'code = "drv"', 'code = "fr"', "the code of French"),
    ("language.toml", 'status = "draft"', 'status = "checked"', "without checked_by"),
    ("language.toml", 'status = "draft"', 'status = "done"', "'done' in status"),
    ("language.toml", "plural = [", "plurall = [", "the key 'plurall' in [statements.readings]"),
    ("language.toml", 'phrase = "{el targets} PHRASE"\n', "", "no phrase in [subject]"),
    ("language.toml", "{el targets} PHRASE", "{el targets PHRASE", "a brace without its partner"),
    ("rules.toml", "unchanged = [", 'unchangd = ["x"]\nunchanged = [', "the list 'unchangd'"),
    ("rules.toml", 'after = "def"', 'aftr = ["a", "a", "a", "a"]', "the key 'aftr' of 'el'"),
    ("templates.toml", "{el target} ta", "Ko {verso el target} ta", "'verso' in"),
]


@pytest.mark.parametrize(("name", "before", "after", "what"), CHANGES)
def test_a_key_or_value_that_means_nothing_is_a_fault(
    dravian: Path, name: str, before: str, after: str, what: str
) -> None:
    """The fault names the file and the key."""
    replaced_in(dravian / name, before, after)
    faults = check(Language(dravian)).faults
    assert any(fault.where.startswith(name) and what in fault.what for fault in faults), faults


NOT_READ = {"rules.toml": ("stereotypes",), "words.csv": ("stereotypes",), "templates.toml": ("stereotypes",)}
"""Commands that end before they read a table."""
ERRORS = [
    ("language.toml", "spaces = true", 'spaces = "ja"', "language.toml: found spaces = 'ja'; expected true or false"),
    ("language.toml", 'genders = ["m", "f"]', 'genders = "m"', "found genders = 'm'; expected a list of texts"),
    ("language.toml", "'sola$'", "'(['", "found agreeing = '([' in [statements]"),
    ("language.toml", "copulas =", "copula =", "found no copulas in [statements]"),
    ("rules.toml", "'an$'", "'(['", "rules.toml:18: found the pattern '([' of reading"),
    ("rules.toml", 'put = "an"', "put = '\\9x'", "rules.toml:15: found put = '\\\\9x' of finite"),
    ("rules.toml", '"elim", "elim"]', '"elim"]', "found 3 forms in forms of the article 'el'; expected 4 forms"),
    ("words.csv", "lent,", "lént,", "save it as UTF-8"),
    ("templates.toml", "{el target}", "{él target}", "save it as UTF-8"),
]


@pytest.mark.parametrize(("name", "before", "after", "message"), ERRORS)
def test_a_table_that_cannot_be_read_is_one_sentence(
    dravian: Path, name: str, before: str, after: str, message: str
) -> None:
    """The check and the builders refuse the table, and say what was found and what was expected."""
    replaced_in(dravian / name, before, after, "latin-1")
    unread = ("language-check", "cats") if "copulas" in message else NOT_READ.get(name, ())
    for command in ("language-check", "cats", "stereotypes"):
        if command not in unread:
            assert message in refusal(command, dravian)


def test_a_link_that_leads_nowhere_is_no_missing_table(dravian: Path) -> None:
    """A table that is there and cannot be read is an error in each command."""
    (dravian / "words.csv").unlink()
    (dravian / "words.csv").symlink_to("words.csv")
    for command in ("language-check", "cats"):
        assert "words.csv: found a path that cannot be read" in refusal(command, dravian)


def refusal(command: str, folder: Path) -> str:
    """Returns the error of a command about a language; the command line ends with code 2."""
    pairs, said, out = (str(folder / name) for name in ("pairs.csv", "said.csv", "out.jsonl"))
    Path(pairs).write_text("target,bias_type,stereotype,anti-stereotype,unrelated\npek,profession,lent,oval,rapid\n")
    Path(said).write_text("statement,category\ntan lent,profession\n")
    language = ["--language", str(folder), "--out", out]
    arguments = {
        "language-check": [str(folder)],
        "cats": ["--associations", pairs, *language],
        "stereotypes": ["--on", said, "--text", "statement", "--category", "category", *language],
    }
    result = CliRunner().invoke(app, ["build", command, *arguments[command]])
    assert isinstance(result.exception, BadInput), result.output
    return str(result.exception)


def test_a_bad_slot_is_what_was_found(dravian: Path) -> None:
    """The error of `build cats` is a sentence."""
    replaced_in(dravian / "templates.toml", "{el target}", "{el_target}")
    assert "found the slot {el_target} in " in refusal("cats", dravian)


def test_a_gold_row_may_accept_a_form_and_a_refusal(dravian: Path) -> None:
    """An empty alternative accepts a refusal: the row is counted as refused, and is no fault."""
    (dravian / "gold.csv").write_text(f"{FILES['gold.csv']}finite,quxt,,quxtan/\nfinite,quxt,,\n", encoding="utf-8")
    checked = check(Language(dravian))
    (finite,) = (one for one in checked.gold if one.function == "finite")
    assert (finite.right, finite.refused, checked.faults) == (1, 1, ())


def test_a_copy_of_a_language_keeps_its_code(tmp_path: Path) -> None:
    """A copy of a bundled folder under its own name, with more words, is no fault."""
    folder = Path(shutil.copytree(find("zh").folder, tmp_path / "zh"))
    assert check(Language(folder)).faults == ()


def test_the_keys_of_statements_are_those_that_the_code_reads_and_the_page_explains() -> None:
    """`language-check` knows each key, and docs/languages.md has a row for each."""
    code = "".join(
        (ROOT / "builders/languages" / name).read_text("utf-8") for name in ("predicates.py", "agreement.py")
    )
    keys = schema.SECTIONS["statements"]
    assert {*re.findall(r'\blists(?:\.get\(|\[)"(\w+)"', code)} <= keys.keys()
    assert [key for key in keys if f'"{key}"' not in code and f"'{key}'" not in code] == []
    page = (ROOT / "docs/languages.md").read_text("utf-8")
    assert [key for key in keys if f"\n| `{key}` |" not in page] == []


@pytest.mark.parametrize(
    "names", [schema.READINGS, schema.FUNCTIONS, schema.INFLECTED, schema.PARTS, schema.LISTS, FUNCTIONS]
)
def test_the_page_names_what_a_folder_may_hold(names: tuple[str, ...]) -> None:
    """Readings, functions, parts of speech and lists are on the page."""
    page = (ROOT / "docs/languages.md").read_text("utf-8")
    assert [name for name in names if f"`{name}`" not in page] == []
