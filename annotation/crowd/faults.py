"""Finds faults of a store: rows that changed, and rows that contradict one another."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

from catsofa.annotation.crowd import texts
from catsofa.annotation.crowd.acts import acts
from catsofa.annotation.crowd.moves import ANSWERED, LIMITED
from catsofa.annotation.crowd.quality import SET_ASIDE, is_excluded
from catsofa.annotation.crowd.rules import WRITING
from catsofa.annotation.crowd.store import Row, Rows

COUNTED = ({"valid", "surplus"}, {"void"})
"""States of an answer of a person who counts, and of a person who does not."""
WITHOUT = {"held", "expired", "skipped", "own", "withdrawn"}
"""States of a seat without an answer."""


def faults(rows: Rows, tokens: Collection[str]) -> Iterator[str]:
    """Yields each fault of a store as one sentence; `tokens` are the tasks of its study."""
    for table, row in rows.changed():
        yield f"a {table} whose checksum does not fit: {row.get('name') or row.get('token') or row.get('nonce') or ''}"
    people = {row["name"]: row for row in rows.all("SELECT * FROM person")}
    tasks = {row["token"]: row for row in rows.all("SELECT * FROM task")}
    seats = rows.all("SELECT * FROM seat")
    kinds = {token: task["kind"] for token, task in tasks.items()}
    done = [seat for seat in seats if kinds.get(seat["task"]) == "write" and seat["state"] == "valid"]
    writers = {texts.token_of(seat["nonce"]): seat["person"] for seat in done}
    if not writers.items() <= {(token, task["writer"]) for token, task in tasks.items() if task["kind"] == "item"}:
        yield "a text that nobody is asked to judge"
    if not writers.items() <= {(seat["task"], seat["person"]) for seat in seats if seat["state"] == "own"}:
        yield "a text that its writer may judge"
    apart = writers.keys() | {token for token, kind in kinds.items() if kind in {"practice", "gone"}}
    if (study_tasks := tasks.keys() - apart) != set(tokens):
        yield f"{len(study_tasks):,} tasks, and {len(tokens):,} in the study"
    if sorted(row["number"] for row in people.values()) != [*range(1, len(people) + 1)]:
        yield "a person is missing"
    decided = acts(rows)
    if [act["number"] for act in decided] != [*range(1, len(decided) + 1)]:
        yield "a decision of the owner about a person is missing"
    last = {act["person"]: act["act"] for act in decided}
    for name, person in people.items():
        ended = {"voided": "void"}.get(person["state"]) or {"paused_by_owner": "pause"}.get(person["outcome"])
        if ended and person["state"] != "withdrawn" and last.get(name) != ended:
            yield f"person {name}: set aside by the owner, and no decision says so"
    states = defaultdict[str, Counter[str]](Counter)
    for seat in seats:
        states[seat["task"]][seat["state"]] += 1
        if seat["task"] not in tasks or seat["person"] not in people:
            yield "a seat without its task or its person"
        if seat["state"] not in ANSWERED | WITHOUT:
            yield f"a seat in the state {seat['state']!r}"
    for token, task in tasks.items():
        counts = states[token]
        if task["kind"] in LIMITED and (counts["valid"], counts["held"]) != (task["valid"], task["held"]):
            yield f"task {token}: {task['valid']} valid, {task['held']} held; its seats say otherwise"
        if task["kind"] not in LIMITED and counts.keys() & {"valid", "void", "surplus"}:
            yield f"task {token}: a gold item or check that counts as a judgement"
    yield from _of_people(rows, people, tasks, seats)
    yield from _of_plan(rows, tasks, seats)


def _of_people(rows: Rows, people: dict[str, Row], tasks: dict[str, Row], seats: list[Row]) -> Iterator[str]:
    """Yields faults in people's answers, counts, seats and states."""
    answers = {row["nonce"]: row for row in rows.all("SELECT * FROM answer")}
    done, right, questions = Counter[str](), Counter[str](), Counter[str]()
    positions = defaultdict[str, list[int]](list)
    held = Counter(seat["person"] for seat in seats if seat["state"] == "held")
    for seat in seats:
        if seat["position"]:
            positions[seat["person"]].append(seat["position"])
        answer = answers.pop(seat["nonce"], None)
        if (answer is not None) != (seat["state"] in ANSWERED):
            yield f"a seat in the state {seat['state']!r} {'with' if answer else 'without'} an answer"
        if answer:
            done[seat["person"]] += WRITING if tasks.get(seat["task"], {}).get("kind") == "write" else 1
        if answer and tasks.get(seat["task"], {}).get("kind") != "practice":
            right[seat["person"]] += answer["gold_right"]
            questions[seat["person"]] += answer["gold_asked"]
    if answers:
        yield f"{len(answers):,} answers without a seat"
    judged = [seat for seat in seats if tasks.get(seat["task"], {}).get("kind") == "item"]
    counting, aside = ({seat["person"] for seat in judged if seat["state"] in states} for states in COUNTED)
    for name, person in people.items():
        if name in (counting if person["state"] in SET_ASIDE or is_excluded(person) else aside):
            yield f"person {name}: judgements that count although the person failed, or the reverse"
        counts = (person["done"] if person["state"] == "withdrawn" else done[name], right[name], questions[name])
        if counts != (person["done"], person["gold_right"], person["gold_asked"]):
            yield f"person {name}: other counts than their answers"
        if sorted(positions[name]) != [*range(1, person["given"] + 1)]:
            yield f"person {name}: a seat is missing"
        if held[name] > (person["state"] == "working"):
            yield f"person {name}: {held[name]} tasks in hand, in the state {person['state']!r}"


def _of_plan(rows: Rows, tasks: dict[str, Row], seats: list[Row]) -> Iterator[str]:
    """Yields gold items, checks and practice items that the person's plan does not contain."""
    plan = {(row["person"], row["task"]): row["position"] for row in rows.all("SELECT * FROM plan")}
    for seat in seats:
        gold = tasks.get(seat["task"], {}).get("kind") in {"gold", "check", "practice"}
        if gold and seat["state"] != "withdrawn" and (seat["person"], seat["task"]) not in plan:
            yield f"person {seat['person']}: a gold item or check that was not planned"
