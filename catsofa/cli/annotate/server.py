"""Commands that run servers: the server of a study, and Label Studio."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from catsofa.cli.annotate import judging
from catsofa.cli.options import StudyFolder
from catsofa.cli.terminal import Quiet, confirm, doing, examples, note, say
from catsofa.data.percentages import quantity

if TYPE_CHECKING:
    from catsofa.annotation.label_studio.server import Credentials, Running


def register(room: typer.Typer) -> None:
    """Adds the commands about servers."""
    room.command(
        epilog=examples(
            "catsofa annotate serve",
            "catsofa annotate serve --port 8090 --data studies/server",
            "PGPASSWORD=… catsofa annotate serve --database postgresql://me@db.example.org/studies",
        )
    )(serve)
    room.command(
        name="open",
        epilog=examples(
            "catsofa annotate open study",
            "catsofa annotate open study --address https://study.example.org  # behind a server that speaks HTTPS",
        ),
    )(open_)
    room.command(epilog=examples("catsofa annotate backup study --out /backups/study-monday"))(backup)
    room.command(hidden=True)(gate)


def serve(
    data: Annotated[
        Path | None, typer.Option(help="Data folder of the server. Default: a folder in your user data folder.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8080,
    database: Annotated[
        str, typer.Option(help="PostgreSQL URL, needed for more than five people at once. Default: SQLite.")
    ] = "",
    email: Annotated[str, typer.Option(help="E-mail address of the first account.")] = "researcher@example.org",
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Install the server without asking for confirmation.")
    ] = False,
) -> None:
    """Start Label Studio for this machine only, without open sign-up or telemetry. Ctrl-C stops it.

    The first start installs it into an environment of its own.
    """
    from catsofa.annotation.label_studio import server

    program = server.executable() or _installed(yes)
    folder = (data or server.home() / "label-studio-data").resolve()
    server.refuse_taken(server.LOOPBACK, port)
    if not folder.exists():
        note("preparing the database, which takes a minute …")
    doing("preparing the database")
    first = server.prepare(program, folder, database, server.Credentials(email=email))
    # print the account before the next step can fail: the password is shown only once
    _say_account(first, f"http://{server.LOOPBACK}:{port}")
    doing("starting the server")
    try:
        with server.Running(program, folder, port=port, database=database) as running:
            _say_running(running, folder)
            if running.wait():
                raise ValueError(f"the server ended; {folder / 'server.log'} says why")
    except KeyboardInterrupt:
        say(f"\nLabel Studio was stopped; catsofa annotate serve --data {folder} --port {port} starts it again")


def _installed(yes: bool) -> Path:
    """Installs the server if the user agrees, and returns its path; otherwise raises ValueError."""
    from catsofa.annotation.label_studio import server

    question = f"Label Studio {server.VERSION} is not installed. Install it into {server.home()} (a gigabyte)?"
    refused = f"without a server there is nothing to start; --yes installs it, {server.EXECUTABLE} names one you have"
    try:
        agreed = yes or confirm(question)
    except typer.Abort:
        raise ValueError(refused) from None
    if not agreed:
        raise ValueError(refused)
    note("installing, which takes some minutes …")
    doing("installing")
    return server.install()


def _say_account(first: "Credentials | None", url: str) -> None:
    """Prints the first account, and the environment variables that the other commands need."""
    from catsofa.annotation.label_studio import KEY, URL

    if first:
        say(f"sign in as {first.email} with the password {first.password}; both are shown only this once")
        say(f"export {URL}={url} {KEY}={first.token}")
    else:
        say(f"export {URL}={url} {KEY}=…   (your token is shown under Account & Settings)")


def _say_running(running: "Running", folder: Path) -> None:
    """Prints the address of the server and how to stop it."""
    version = running.version()
    say(f"Label Studio {version.release} runs at {running.url}, for this machine alone; its data are in {folder}")
    if version.doubt:
        note(version.doubt)
    say("Ctrl-C stops it; the same command starts it again with everything in it")


def open_(
    study: StudyFolder,
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8090,
    host: Annotated[
        str, typer.Option(help="Network address to listen on. 0.0.0.0 accepts other machines.")
    ] = "127.0.0.1",
    address: Annotated[
        str, typer.Option(help="Public web address of the study, behind a proxy that speaks HTTPS.")
    ] = "",
    owner: Annotated[
        Literal["local", "remote", "off"],
        typer.Option(
            help="Owner's page: on this machine only (local), at the address of the study (remote), or not at "
            "all (off)."
        ),
    ] = "local",
    store: Annotated[
        str, typer.Option(help="URL of a PostgreSQL database for the answers, without the password (PGPASSWORD).")
    ] = "",
) -> None:
    """Open a study to people: consent, one task after another, a code at the end. Ctrl-C stops the server.

    People come by a link of Prolific, Mechanical Turk or Connect, or by an invitation (`catsofa annotate invite`).
    `study.toml` in the study's folder says which; docs/annotation.md lists its keys. Everything is kept in the
    study's folder; start the command again to go on. With --store the seats and answers are in a PostgreSQL database
    instead, which the folder remembers.

    Your own page shows progress, pace, agreement, money and suspicious work. The command prints a link to it that works
    once.
    """
    from catsofa.annotation.crowd import home
    from catsofa.annotation.crowd.http import service
    from catsofa.annotation.crowd.people.forgetting import forget
    from catsofa.annotation.prolific.watch import watching
    from catsofa.annotation.prolific.webhook import verifying
    from catsofa.annotation.study import open_study

    address = address.rstrip("/") or f"http://127.0.0.1:{port}"
    opened = open_study(study)
    doing("opening the study")
    watch, verify = watching(opened, forget), verifying()
    with service.serving(
        opened, host, port, address, look=judging.look, owner=owner, store=store, watch=watch, verify=verify
    ) as server:
        for line in server.says:
            say(line)
        server.run()
    pulled = home.pull(opened)
    new, records = quantity(pulled.new, "new answer"), quantity(pulled.records, "record")
    say(f"stopped; {new}, {study} has {records}; rerun the command to continue")


def backup(
    study: StudyFolder,
    out: Annotated[Path, typer.Option(help="Folder for the copy; it must not be there yet.")],
    quiet: Quiet = False,
) -> None:
    """Copy a study while its server runs, and check the copy. The copy is a study that can be opened."""
    from catsofa.annotation.crowd import backups
    from catsofa.annotation.study import open_study
    from catsofa.annotation.study.checks import check_study

    backups.backup(open_study(study), out)
    verdict = check_study(out)
    if verdict is None or not verdict.right:
        raise ValueError(f"the copy {out} is damaged, as the study is: catsofa verify {study} names the faults")
    say(f"{out}: {', '.join(verdict.checked)}; people who are forgotten or withdraw later are still in it", quiet=quiet)


def gate(study: StudyFolder) -> None:
    """Renamed: `catsofa annotate open`."""
    raise ValueError(f"the gate is part of the study's own server: catsofa annotate open {study}, with invitations")
