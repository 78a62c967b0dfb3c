"""Commands that show items to people and collect their judgements."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.annotate import crowd, judging, prolific
from catsofa.cli.annotate import people as annotate_people
from catsofa.cli.annotate import server as annotate_server
from catsofa.cli.options import StudyFolder
from catsofa.cli.terminal import (
    NEW_FOLDER,
    Json,
    Quiet,
    counting,
    examples,
    lines_in,
    note,
    print_json,
    progress,
    say,
    table,
)
from catsofa.data.percentages import quantity

if TYPE_CHECKING:
    from catsofa.annotation.crowd.owner.facts import Facts, Money
    from catsofa.annotation.label_studio.pull import Pulled
    from catsofa.annotation.results.status import Status
    from catsofa.annotation.study import Study

room = typer.Typer(
    no_args_is_help=True,
    help="Run studies with people: send items without their answers, collect judgements, pay and release.",
)


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    annotate_server.register(room)
    annotate_people.register(room)
    crowd.register(room)
    prolific.register(room)
    app.add_typer(room, name="annotate")


@room.command(
    epilog=examples(
        "catsofa annotate create study --kind validate-cats --items drafts.jsonl --gold gold.jsonl --pay 15",
        "catsofa annotate create writing --kind write-intrasentence --items targets.txt --contact you@example.org",
        "catsofa annotate create both --kind write-and-judge-associations --items targets.jsonl --texts 5",
        "catsofa annotate create main --kind validate-cats --items more.jsonl --after-pilot pilot --contact a@b.org",
        "catsofa annotate create review --kind review-paraphrases --items paraphrases/review_1.jsonl",
    )
)
def create(
    study: Annotated[Path, typer.Argument(help="Study folder.", metavar=NEW_FOLDER)],
    kind: Annotated[
        str,
        typer.Option(
            help="Kind of study: write-intrasentence, write-intersentence, validate-cats, write-neutral, "
            "validate-neutral, review-paraphrases, judge-probes, judge-associations or write-and-judge-associations."
        ),
    ],
    items: Annotated[
        Path,
        typer.Option(
            help="Items: CATs, paraphrased CATs, probes, associations, terms; or a .txt file with one target per line."
        ),
    ],
    gold: Annotated[
        Path | None, typer.Option(help="Gold items, whose answers are known; every person sees them.")
    ] = None,
    checks: Annotated[
        Path | None, typer.Option(help="Check items, which say what to answer; every person sees them.")
    ] = None,
    title: Annotated[str, typer.Option(help="Title that participants see.")] = "",
    overlap: Annotated[
        int | None,
        typer.Option(help="People per item. Default: 5 for judging (3 for judge-associations), 1 for writing."),
    ] = None,
    texts: Annotated[
        int, typer.Option(help="Texts per target, each by another person (only for write-and-judge-associations).")
    ] = 5,
    seconds: Annotated[float | None, typer.Option(help="Expected seconds per item.")] = None,
    pay: Annotated[float, typer.Option(help="Pay per hour.")] = 15.0,
    currency: Annotated[str, typer.Option(help="Currency of the pay.")] = "USD",
    language: Annotated[
        str,
        typer.Option(
            help="Language of the items, as a word. A code (es) or a language folder also translates the pages."
        ),
    ] = "English",
    contact: Annotated[str, typer.Option(help="Contact for questions and complaints.")] = "",
    after_pilot: Annotated[
        Path | None,
        typer.Option(
            help="Study folder of the pilot. Its participants cannot join, and its median time replaces --seconds."
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Create a study folder: blinded items and gold items, the key, the instructions. Nothing is sent yet."""
    from catsofa.annotation import study as studies
    from catsofa.annotation.crowd.people import pilots
    from catsofa.annotation.crowd.rules import WRITING
    from catsofa.annotation.study.kinds import kind_named

    if after_pilot and seconds is None:
        pace = pilots.pace(after_pilot)
        seconds = pace.seconds
        say(f"{pace.seconds:.1f} seconds an item, the median of {pace.answers:,} answers of the pilot", quiet=quiet)
    judged = kind_named(kind).judged.name
    created = studies.create(
        study,
        kind=kind,
        items=progress(studies.read_items(items, kind), "items", lines_in(items), quiet=quiet),
        gold=studies.read_items(gold, judged) if gold else (),
        checks=studies.read_items(checks, judged) if checks else (),
        title=title,
        overlap=overlap,
        texts=texts,
        seconds=seconds,
        pay=pay,
        currency=currency,
        language=language,
        contact=contact,
        after_pilot=after_pilot,
    )
    s, tasks = created.settings, len(created.keys)
    work = f"{quantity(tasks, 'task')}, {quantity(s.overlap, 'answer')} each"
    hours = tasks * s.overlap * s.seconds / 3600
    if created.kind.judged_as:
        targets = sum(not key.gold for key in created.keys.values())
        to_write, about = quantity(targets * s.texts, "text"), quantity(targets, "target")
        work = f"{to_write} about {about}, {quantity(s.overlap, 'judgement')} each"
        hours = targets * s.texts * (WRITING + s.overlap) * s.seconds / 3600
    say(f"{work}: about {hours:,.2f} hours, {s.currency} {hours * s.pay:,.2f}", quiet=quiet)
    elsewhere = "" if created.kind.judged_as else ", or push for Label Studio"
    say(f"next: catsofa annotate open {study} for people from anywhere{elsewhere}", quiet=quiet)
    if not contact:
        note("annotate open needs a contact: to open this study, create it again with --contact", quiet=quiet)


@room.command(epilog=examples("catsofa annotate push study", "catsofa annotate push study --chunk 250"))
def push(
    study: StudyFolder,
    chunk: Annotated[int, typer.Option(help="Tasks per import.", min=1)] = 1000,
    quiet: Quiet = False,
) -> None:
    """Send the tasks that are not on the server yet. After a stop, run it again: every task is sent once."""
    from catsofa.annotation.label_studio import from_environment
    from catsofa.annotation.label_studio.push import push as send
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    server = from_environment(opened.settings.url)
    if doubt := server.version().doubt:
        note(doubt)
    with counting("tasks sent", len(opened.keys), quiet=quiet) as report:
        opened, pushed = send(opened, server, chunk=chunk, report=report)
    say(
        f"project {opened.settings.project} at {opened.settings.url}: {pushed.sent:,} tasks sent, "
        f"{pushed.there:,} there before, {pushed.removed:,} copies removed, "
        f"{pushed.gold:,} gold tasks shown to everybody",
        quiet=quiet,
    )
    if pushed.asked_anew:
        note(f"{pushed.asked_anew:,} items were shown to another number of people than the study asks; set right")
    if pushed.strangers:
        note(f"{pushed.strangers:,} tasks of the project are not of this study; their answers are not pulled")


@room.command(epilog=examples("catsofa annotate pull study", "catsofa annotate pull study --everything"))
def pull(
    study: StudyFolder,
    everything: Annotated[
        bool, typer.Option("--everything", help="Read all tasks, not only those with recent answers.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Append new answers to raw.jsonl and write annotations.jsonl, or drafts.jsonl where people write."""
    from dataclasses import asdict

    from catsofa.annotation.study import open_study

    opened = open_study(study)
    pulled = _fetch(opened, everything=everything, quiet=quiet or json)
    if json:
        print_json(asdict(pulled))
        return
    noun = "annotations" if opened.kind.asks else f"drafts ({pulled.refused:,} refused, with reasons)"
    say(f"{pulled.new:,} new answers, {pulled.changed:,} changed; {pulled.records:,} {noun} in {study}", quiet=quiet)
    if pulled.late:
        note(f"{pulled.late:,} answers came after the study was closed and do not count", quiet=quiet)


def _fetch(study: "Study", *, everything: bool = False, quiet: bool = False) -> "Pulled":
    """Pulls answers from the study's own store or from Label Studio."""
    from catsofa.annotation.crowd import databases, home
    from catsofa.annotation.label_studio import server_of
    from catsofa.annotation.label_studio.pull import pull as fetch

    if databases.has_store(study.folder):
        return home.pull(study)
    server = server_of(study)
    with counting("tasks read", quiet=quiet) as report:
        return fetch(study, server, everything=everything, report=report)


@room.command(epilog=examples("catsofa annotate status study", "catsofa annotate status study --no-pull --json"))
def status(
    study: StudyFolder,
    pull_first: Annotated[bool, typer.Option("--pull/--no-pull", help="Pull new answers first.")] = True,
    json: Json = False,
) -> None:
    """Show what is done, by whom, how fast and how well, when the study ends, what it costs and what is undecided.

    If the study has no tasks on a server, the command reads its folder; `import-results` adds answers to the folder.
    """
    from dataclasses import asdict

    from catsofa.annotation.crowd import databases
    from catsofa.annotation.crowd.owner.cases import waiting
    from catsofa.annotation.crowd.owner.facts import facts
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    if pull_first and (databases.has_store(study) or opened.settings.project):
        _fetch(opened, quiet=json)
    elif pull_first:
        note("no server has these tasks: the answers are those that import-results brought", quiet=json)
    summary = judging.status_of(opened)
    crowd_facts = facts(opened) if databases.has_store(study) else None
    open_items = waiting(opened, judging.tallies, has_page=crowd_facts is not None)
    if json:
        crowd_part = {"crowd": asdict(crowd_facts)} if crowd_facts else {}
        print_json(asdict(summary) | {"undecided": asdict(open_items)} | crowd_part)
        return
    _say(summary, crowd_facts.money if crowd_facts else None)
    if open_items.items:
        differ = f", {open_items.differ:,} differently by two people" if open_items.differ else ""
        say(f"{quantity(open_items.items, 'undecided item')}, {open_items.decided:,} decided by hand{differ}")
    if open_items.todo:
        say(open_items.todo)
    if crowd_facts:
        _say_crowd(crowd_facts)
    if crowd_facts and crowd_facts.erase_by:
        say(crowd.erase(study, crowd_facts.erase_by))


def _say(state: "Status", owed: "Money | None") -> None:
    """Prints the status of a study; `owed` is the pay in an open study, where pay does not depend on the time spent."""
    say(f"{state.title}: {state.done:,} of {state.items:,} items done, {state.started:,} begun")
    say(
        f"{state.judgements:,} judgements were given; {state.counted:,} of {state.wanted:,} count"
        + (f", {state.missing:,} are missing" if state.missing else "")
        + f"; {state.over:,} items have one too many, {state.repeats:,} were judged twice by one person"
    )
    if state.agreement == state.agreement:
        say(f"agreement so far {state.agreement:.3f} (percent; catsofa validate agreement has the rest)")
    if state.per_hour == state.per_hour:
        say(f"{state.per_hour:,.0f} judgements an hour" + (f", done by {state.ends}" if state.ends else ""))
    if owed:
        sums = [f"{state.currency} {cents / 100:,.2f}" for cents in (owed.owed, owed.expected, owed.worst)]
        say(f"owed so far {sums[0]}, expected in all {sums[1]}, at worst {sums[2]}, without fees")
    else:
        say(f"pay so far {state.currency} {state.cost:,.2f}, in all about {state.currency} {state.expected_cost:,.2f}")
    rows = [
        [
            p.name,
            p.answers,
            p.skipped,
            p.invalid,
            f"{p.seconds:.1f}" if p.seconds == p.seconds else "–",
            f"{p.gold_right}/{p.gold_answers}" if p.gold_answers else "–",
            p.standing.removeprefix("the person "),
        ]
        for p in state.people
    ]
    if rows:
        table("People", ["name", "answers", "skipped", "invalid", "seconds", "gold", "standing"], rows)
    if state.closed:
        say(f"closed since {state.closed}")


def _say_crowd(facts: "Facts") -> None:
    """Prints the facts that only the store of a study has: failed practice, missed gold items, suspicious work."""
    from catsofa.annotation.crowd.owner.states import of_person

    if facts.failed_practice:
        say(f"{facts.failed_practice:,} of those who came did not pass the practice items")
    if bad := [each for each in facts.gold if each.missed]:
        say(f"{quantity(len(bad), 'gold item')} missed by most people: look at them on the owner's page")
    rows = [
        [each.name, of_person(each.state, each.outcome), "; ".join(each.reasons)]
        for each in facts.standings
        if each.reasons
    ]
    if rows:
        table("Suspicious work (reasons to look, not proof)", ["name", "state", "reasons"], rows)
