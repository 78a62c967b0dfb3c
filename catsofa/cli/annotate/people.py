"""Commands about the people of a study: invite, assign, reopen, close, forget."""

from typing import Annotated

import typer

from catsofa.cli.annotate import crowd, judging
from catsofa.cli.options import StudyFolder
from catsofa.cli.terminal import Json, Quiet, counting, doing, examples, note, print_json, say, table
from catsofa.data.percentages import quantity


def register(room: typer.Typer) -> None:
    """Adds the commands about people."""
    room.command(
        epilog=examples(
            "catsofa annotate invite study ana@example.org ben@example.org --address https://study.example.org",
            "catsofa annotate invite study ana@example.org --accounts",
        )
    )(invite)
    room.command(epilog=examples("catsofa annotate assign study"))(assign)
    room.command(
        epilog=examples(
            "catsofa annotate reopen study --undecided",
            "catsofa annotate reopen study --undecided --need 4 --posterior 0.9",
            "catsofa annotate reopen study --item 5f0c… --item 77ab…",
        )
    )(reopen)
    room.command(epilog=examples("catsofa annotate close study"))(close)
    room.command(
        epilog=examples(
            "catsofa annotate forget study 5f1d7c3e9a2b8d4c6e0f1a2b  # the participant id on Prolific",
            "catsofa annotate forget study W-3F9A0C77B1",
        )
    )(forget)


def invite(
    study: StudyFolder,
    emails: Annotated[list[str], typer.Argument(help="Email address of each person.")],
    address: Annotated[str, typer.Option(help="Public web address of the study.")] = "",
    accounts: Annotated[
        bool,
        typer.Option("--accounts", help="Create accounts at once, for trusted people who use Label Studio itself."),
    ] = False,
) -> None:
    """Make a link to the study for each person, valid on all their devices; or accounts on Label Studio.

    Links and passwords are shown once and not stored. A second invitation replaces the link.
    """
    from catsofa.annotation.label_studio import from_environment, people
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    if accounts:
        server = from_environment(opened.settings.url)
        created = list(people.make_accounts(opened, server, emails))
        table("Accounts", ["address", "first password"], [[person.email, person.password] for person in created])
        note(f"{len(emails) - len(created)} had an account; they sign in at {server.url}")
        return
    if not address:
        raise ValueError("say where people reach the study (--address https://…), or make --accounts on Label Studio")
    for email, code in people.invite(opened, emails).items():
        say(f"{email}  {address.rstrip('/')}/i/{code}")


def assign(study: StudyFolder, quiet: Quiet = False) -> None:
    """Assign items so that no writer validates their own; others get the seat."""
    from catsofa.annotation.label_studio import people, server_of
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    with counting("tasks", quiet=quiet) as report:
        skipped, elsewhere = people.assign(opened, server_of(opened), report)
    say(f"{skipped:,} items were taken out of their writers' hands", quiet=quiet)
    if elsewhere:
        note(f"{elsewhere:,} items have writers without an account on this server", quiet=quiet)


def reopen(
    study: StudyFolder,
    item: Annotated[list[str] | None, typer.Option(help="Item to reopen; repeat for several.")] = None,
    undecided: Annotated[
        bool, typer.Option("--undecided", help="Reopen the items that the judgements so far leave undecided.")
    ] = False,
    need: Annotated[int, typer.Option(help="Votes that decide an item. With 4 of 5, a 3–2 split is undecided.")] = 4,
    posterior: Annotated[
        float | None, typer.Option(help="Posterior probability that decides an item, instead of votes.")
    ] = None,
    more: Annotated[int, typer.Option(help="Further judgements per item.", min=1)] = 2,
) -> None:
    """Ask two more people about items that five did not decide; `validate votes` then counts the first seven."""
    from catsofa.annotation.crowd import databases, home
    from catsofa.annotation.label_studio import people, server_of
    from catsofa.annotation.label_studio.pull import pull
    from catsofa.annotation.results.answers import tokens_of
    from catsofa.annotation.study import open_study

    if not item and not undecided:
        raise ValueError("say which items to reopen: --undecided, or --item ID")
    opened = open_study(study)
    server = None if databases.has_store(study) else server_of(opened)
    items = list(item or ())
    if undecided:
        if server is None:
            home.pull(opened)
        else:
            with counting("tasks read") as report:
                pull(opened, server, report=report)
        items += [decision.item for decision in judging.undecided(opened, need, posterior)[0]]
    if not items:
        say("nothing to reopen: no item that has all its judgements is undecided; annotate status counts missing ones")
        return
    tasks = len(tokens_of(opened, items))
    doing(f"reopening {quantity(tasks, 'task')}")
    changed = home.reopen(opened, items, more) if server is None else people.reopen(opened, server, items, more)
    say(f"{quantity(changed, 'task')} reopened, each for {quantity(more, 'more person')}")
    if tasks > changed:
        say(f"{quantity(tasks - changed, 'task')} left as before: people who were asked earlier have not judged yet")


def close(
    study: StudyFolder,
    erase_identities: Annotated[
        bool, typer.Option("--erase-identities", help="Erase for good who the people are, after all were paid.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Confirm that everybody was paid.")] = False,
    quiet: Quiet = False,
) -> None:
    """Close a study: pull the answers and stop serving tasks. Later answers do not count.

    With --erase-identities the platform's names of the people and the key of the pseudonyms are erased. Answers stay.
    Nobody can be paid afterwards, and a person is forgotten by the number of their last page alone. So where people are
    owed something, nothing is erased without --yes: no platform tells this command whom it has paid.
    """
    from catsofa.annotation.crowd import databases, home, money
    from catsofa.annotation.crowd.people import arrivals, forgetting
    from catsofa.annotation.label_studio import people, pull, server_of
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    if databases.has_store(study):
        closed = home.close(opened)
        records = home.pull(closed).records
        say(f"closed at {closed.settings.closed}; {study} has {quantity(records, 'record')}", quiet=quiet)
        if not erase_identities and (day := arrivals.erase_by(closed)):
            note(crowd.erase(study, day))
        if erase_identities:
            owed, cents = forgetting.unpaid(closed)
            if owed and not yes:
                raise ValueError(
                    f"{quantity(owed, 'submission')} of {study} may be unpaid: {opened.settings.currency} "
                    f"{money.decimal(cents)} by what people did, less the bonuses of prolific settle. "
                    f"Run catsofa annotate pay {study} --out FOLDER for the lists, or catsofa annotate prolific settle "
                    f"{study}; when all are paid, run this command again with --yes. Nothing was erased"
                )
            people_erased, remaining = forgetting.erase_identities(closed)
            erased = quantity(people_erased, "pseudonym")
            say(f"{study} no longer says whose the {erased} are; copies elsewhere are yours to delete", quiet=quiet)
            if remaining:
                note(f"the people can still be found by {', '.join(remaining)}")
                raise typer.Exit(1)
        return
    if erase_identities:
        raise ValueError(f"{study} was not served by catsofa annotate open, which alone keeps identities apart")
    if not opened.settings.project:
        raise ValueError(
            f"no server gives out the tasks of {study}, so there is nothing to close; a batch of Mechanical Turk ends "
            "there, and import-results brings its answers"
        )
    server = server_of(opened)
    with counting("tasks closed", len(opened.keys), quiet=quiet) as report:
        closed = people.close(opened, server, report)
    pulled = pull.pull(closed, server)
    say(f"closed at {closed.settings.closed}; {study} has {quantity(pulled.records, 'record')}", quiet=quiet)


def forget(
    study: StudyFolder,
    person: Annotated[
        str, typer.Argument(help="Pseudonym, platform id, invited address or withdrawal code of the person.")
    ],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Erase a person from every file of a study: answers, drafts, background, identity. It cannot be undone.

    Items that now have too few judgements are named; a study that is open gives them out again. Run the command again
    if it was cut off. Exit code 1: nobody has this name, or a file of the folder still names the person. Pay first:
    afterwards nobody knows whom. Releases that hold the person are named; copies that others have do not change.
    """
    from dataclasses import asdict

    from catsofa.annotation.crowd.people.forgetting import forget as erase
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    doing("erasing")
    erased = erase(opened, person)
    if json:
        print_json({"found": erased is not None, **(asdict(erased) if erased else {})})
    elif erased is None:
        say(f"nobody in {study} has this pseudonym, id, address or withdrawal code; forgotten people have none")
    else:
        say(f"1 person and {quantity(erased.answers, 'answer')} erased", quiet=quiet)
        if erased.due:
            note(f"they were owed {opened.settings.currency} {erased.due / 100:,.2f} in all", quiet=quiet)
        if erased.short:
            named = [f"{item} ({have} of {need})" for item, (have, need) in erased.short.items()]
            shown = ", ".join(named[:10]) + (f" and {len(named) - 10:,} more" if named[10:] else "")
            then = "nobody is asked any more" if opened.settings.closed else "they are given out again"
            say(f"{quantity(len(named), 'item')} short of judgements, {then}: {shown}", quiet=quiet)
        if erased.releases:
            note(f"releases that hold the person; release the set again: {', '.join(erased.releases)}")
        if erased.left:
            note(f"these files still name the person; delete them, or make them anew: {', '.join(erased.left)}")
    if erased is None or erased.left:
        raise typer.Exit(1)
