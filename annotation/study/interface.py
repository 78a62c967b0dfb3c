"""Interfaces: the XML of a project, kept as a file, and the questions in it.

Label Studio, the gate and the exported HTML tasks show the same file. Answers are checked against it, because Label
Studio's API checks nothing.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parents[1] / "interfaces"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question to an annotator: a choice among `choices`, or a text if there are none."""

    name: str
    about: str
    """The name of the element that the question is about."""
    choices: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """The texts that people read in place of the choices, on a page in another language than English."""
    hints: tuple[str, ...] = ()
    required: bool = True
    several: bool = False
    placeholder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A headline or a text on the page; `$name` is a placeholder for a field of the task."""

    words: str
    headline: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """The XML of an interface, and its parts from top to bottom."""

    name: str
    xml: str
    parts: tuple[Line | Question, ...]

    @property
    def questions(self) -> dict[str, Question]:
        """The questions by name."""
        return {part.name: part for part in self.parts if isinstance(part, Question)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers by question, with several choices joined by `|`; `wrong` has the reasons why they are invalid."""

    given: Mapping[str, str]
    wrong: tuple[str, ...] = ()


@cache
def interface(name: str) -> Interface:
    """Returns the interface in the file of this name."""
    xml = (FOLDER / f"{name}.xml").read_text("utf-8")
    parts: list[Line | Question] = []
    for element in ElementTree.fromstring(xml).iter():
        match element.tag:
            case "Header" | "Text":
                parts.append(Line(words=element.attrib["value"], headline=element.tag == "Header"))
            case "Choices" | "TextArea":
                choices = element.findall("Choice")
                parts.append(
                    Question(
                        name=element.attrib["name"],
                        about=element.attrib["toName"],
                        choices=tuple(choice.attrib["value"] for choice in choices),
                        hints=tuple(choice.get("hint", "") for choice in choices),
                        required=element.get("required") == "true",
                        several=element.get("choice") == "multiple",
                        placeholder=element.get("placeholder", ""),
                    )
                )
    return Interface(name=name, xml=xml, parts=tuple(parts))


def answers(form: Interface, result: Any) -> Answers:
    """Returns the answers in a Label Studio result; unknown, missing or repeated answers make it invalid."""
    accepted: dict[str, str] = {}
    wrong: list[str] = []
    met: set[str] = set()
    for region in result if isinstance(result, list) else ():
        name, values = _values(region)
        question = form.questions.get(name)
        if question is None:
            wrong.append(f"an answer to {name or 'nothing'!r}, which was not asked")
        elif name in met:
            wrong.append(f"{name} answered twice")
        elif problem := _problem(question, values):
            wrong.append(problem)
        else:
            accepted[name] = "|".join(values)
        met.add(name)
    wrong += [f"{name} not answered" for name, q in form.questions.items() if q.required and name not in met]
    return Answers(given=accepted, wrong=tuple(wrong))


def _values(region: Any) -> tuple[str, list[str]]:
    """Returns the question that a region answers, and the values it gives; a malformed region gives no values."""
    value = region.get("value") if isinstance(region, Mapping) else None
    if not isinstance(value, Mapping):
        return "", []
    content = value.get("choices", value.get("text"))
    values = [content] if isinstance(content, str) else content
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        return str(region.get("from_name", "")), []
    return str(region.get("from_name", "")), [" ".join(one.split()) for one in values]


def _problem(question: Question, values: Sequence[str]) -> str:
    """Returns why these values do not answer the question; empty if they do."""
    if not any(values):
        return f"{question.name} is empty"
    if len(values) > 1 and not question.several:
        return f"{question.name} has {len(values)} answers"
    if question.choices and len({*values}) < len(values):
        return f"{question.name} has a choice twice"
    if question.choices and (unknown := set(values) - set(question.choices)):
        return f"{question.name} has no choice {min(unknown)!r}"
    return ""


def result_of(form: Interface, by_question: Mapping[str, str | Iterable[str]]) -> list[dict[str, Any]]:
    """Returns answers as a Label Studio result."""
    regions = []
    for name, answer in by_question.items():
        question = form.questions[name]
        values = [answer] if isinstance(answer, str) else list(answer)
        kind: Literal["choices", "textarea"] = "choices" if question.choices else "textarea"
        value = {"choices": values} if question.choices else {"text": values}
        regions.append({"from_name": name, "to_name": question.about, "type": kind, "value": value})
    return regions


def instructions(
    name: str, *, language: str, seconds: float, pay: str, piece: str, contact: str = "", writes: bool = False
) -> str:
    """Returns the HTML that people read before their first task: warning and consent first."""
    facts = {"language": language, "seconds": f"{seconds:.0f}", "pay": pay, "piece": piece, "contact": contact}
    return filled(f"{name}.html", **facts, writes=writes)


def filled(template: str, /, **values: Any) -> str:
    """Returns a page of the folder filled with these values; a missing value is an error."""
    return pages().get_template(template).render(**values)


@cache
def pages() -> "Environment":
    """Returns the templates of the folder, all read at once: a server shows the same pages as long as it runs."""
    from jinja2 import DictLoader, Environment, StrictUndefined

    texts = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.html")}
    return Environment(loader=DictLoader(texts), undefined=StrictUndefined, autoescape=True)


def in_script(value: Any) -> str:
    """Returns a value as JSON that is safe inside a script element."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def spaced(html: str) -> str:
    """Returns a page with blank lines and dashes as text, because Label Studio removes margins, bullets and styles."""
    for before, after in (("</p>", "<br><br></p>"), ("<li>", "<li>– "), ("</ul>", "<br></ul>"), ("</ol>", "<br></ol>")):
        html = html.replace(before, after)
    return html
