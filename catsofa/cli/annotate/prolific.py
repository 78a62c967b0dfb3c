"""Commands for a study on Prolific: make the draft, see and change its state, settle its submissions."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from catsofa.cli.options import StudyFolder
from catsofa.cli.terminal import Json, confirm, doing, examples, note, print_json, say, table
from catsofa.data.percentages import quantity

if TYPE_CHECKING:
    from catsofa.annotation.prolific.settle import Plan
    from catsofa.annotation.study import Study

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Act without asking for confirmation.")]
prolific = typer.Typer(
    no_args_is_help=True, help="Manage a study on Prolific through its API. The token is read from PROLIFIC_TOKEN."
)


def register(room: typer.Typer) -> None:
    """Adds the commands about Prolific."""
    room.add_typer(prolific, name="prolific")


@prolific.command(
    epilog=examples(
        "catsofa annotate prolific create study --address https://study.example.org",
        "catsofa annotate prolific create study --address https://study.example.org --places 20",
    )
)
def create(
    study: StudyFolder,
    address: Annotated[str, typer.Option(help="Public web address of the study.")],
    places: Annotated[
        int | None, typer.Option(help="Number of people. Default: enough for the missing judgements.", min=1)
    ] = None,
    json: Json = False,
) -> None:
    """Create a draft of the study on Prolific and show its cost. Nothing is published or paid.

    Reward, time and codes are those of the study; the table `platform` of study.toml has devices,
    filters and the warning.
    """
    from catsofa.annotation.prolific import draft
    from catsofa.annotation.prolific.client import Prolific
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    doing("making the draft")
    with Prolific() as client:
        draft_id, cost = draft.create(opened, client, address, places)
    if json:
        print_json(
            {"id": draft_id, "places": cost.places, "reward": cost.reward, "fees": cost.fees, "total": cost.total}
            | {"currency": opened.settings.currency}
        )
        return
    say(f"draft {draft_id} on Prolific: {_cost(opened, cost.places, cost.reward, cost.total)}")
    say(f"look at it there, and open the study to people; then catsofa annotate prolific state {study} publish")


@prolific.command(
    epilog=examples(
        "catsofa annotate prolific state study",
        "catsofa annotate prolific state study publish",
        "catsofa annotate prolific state study --places 80",
    )
)
def state(
    study: StudyFolder,
    action: Annotated[
        Literal["publish", "pause", "start", "stop"] | None,
        typer.Argument(help="Action to take. Default: only show the state.", metavar="[ACTION]"),
    ] = None,
    places: Annotated[
        int | None, typer.Option(help="New number of people. A published study can only get more.", min=1)
    ] = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Show the study on Prolific and its submissions, or publish, pause, start or stop it.

    Publishing and further places cost money: the exact cost is shown first, and you are asked.
    """
    from collections import Counter
    from dataclasses import asdict

    from catsofa.annotation.prolific import draft
    from catsofa.annotation.prolific.client import Prolific
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    doing("asking Prolific")
    with Prolific() as client:
        now = draft.state(opened, client)
        wanted = now.places if places is None else places
        if action or wanted != now.places:
            if action == "publish" or wanted > now.places:
                total = client.cost(now.reward, wanted)
                _ask(f"In all {_cost(opened, wanted, now.reward, total)}. Go on?", yes)
            draft.change(opened, client, now, action, places)
            now = draft.state(opened, client)
        submissions = list(client.submissions(now.id))
    counts = Counter(each.status for each in submissions)
    if json:
        print_json(asdict(now) | {"submissions": dict(counts)})
        return
    reward = f"{opened.settings.currency} {now.reward / 100:,.2f}"
    say(f"{now.id} is {now.status}: {quantity(now.places, 'place')} at {reward}")
    if counts:
        table("Submissions", ["status", "people"], [[name, count] for name, count in sorted(counts.items())])


@prolific.command(
    epilog=examples(
        "catsofa annotate prolific settle study",
        "catsofa annotate prolific settle study --reject  # a week after people were asked to return",
    )
)
def settle(
    study: StudyFolder,
    reject: Annotated[
        bool,
        typer.Option(
            "--reject", help="Reject people who failed the checks and did not return their submission when asked."
        ),
    ] = False,
    lost_payment: Annotated[
        Literal["paid", "unpaid"] | None,
        typer.Option(help="State that Prolific shows for a payment whose reply was lost.", metavar="paid | unpaid"),
    ] = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Approve who completed the study, ask who failed the checks for a return, and pay bonuses, each once.

    It shows what it would do and asks. A person who failed the checks gets a bonus for their tasks when the submission
    is returned or rejected. What does not match is left to you. With --json and without --yes nothing is sent.
    """
    from catsofa.annotation.prolific import settle as settling
    from catsofa.annotation.prolific.client import Prolific
    from catsofa.annotation.prolific.journal import Journal
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    doing("asking Prolific")
    with Prolific() as client, opened.locked():
        journal = Journal(opened)
        submissions = list(client.submissions(journal.study()))
        settling.refuse_lost(opened, journal, lost_payment)
        todo = settling.less_paid(settling.plan(opened, submissions, journal, reject=reject), client)
        if json:
            print_json(_numbers(todo))
        else:
            _say_plan(opened, todo)
        if not todo.calls or (json and not yes):
            return
        _ask("Do this on Prolific?", yes)
        doing("settling")
        changed = settling.carry_out(opened, client, journal, todo)
    note("done; Prolific approves and pays within some minutes", quiet=json)
    for submission, message in changed:
        note(f"{submission}: {message}; run the command again")


@prolific.command(
    epilog=examples("catsofa annotate prolific webhook study on", "catsofa annotate prolific webhook study off")
)
def webhook(
    study: StudyFolder,
    wanted: Annotated[
        Literal["on", "off"] | None,
        typer.Argument(help="Whether to subscribe. Default: only show it.", metavar="[on | off]"),
    ] = None,
    json: Json = False,
) -> None:
    """Have Prolific tell the study's server at once when a submission changes, or no longer.

    `annotate open` asks Prolific every five minutes all the same. It takes what Prolific tells where
    PROLIFIC_WEBHOOK_SECRET is in its environment; `on` prints the secret unless it is there already.
    """
    import os

    from catsofa.annotation.prolific import webhook as hooks
    from catsofa.annotation.prolific.client import SECRET, Prolific
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    doing("asking Prolific")
    with Prolific() as client:
        hook = hooks.switched(opened, client, wanted)
    new = hook.secret if hook.secret != os.environ.get(SECRET, "").strip() else ""
    if json:
        print_json({"target": hook.target, "subscribed": hook.subscribed} | ({"secret": new} if new else {}))
        return
    say(f"Prolific tells {hook.target} {'of each change of a submission' if hook.subscribed else 'nothing'}")
    if new:
        say(f"before catsofa annotate open: export {SECRET}={new}")


def _cost(study: "Study", places: int, reward: int, total: int) -> str:
    """Returns the cost of places as text."""
    currency, people = study.settings.currency, places * reward
    return (
        f"{quantity(places, 'place')} at {currency} {reward / 100:,.2f}: {currency} {people / 100:,.2f} for people, "
        f"{currency} {(total - people) / 100:,.2f} of fees and taxes, {currency} {total / 100:,.2f} together"
    )


def _ask(question: str, yes: bool) -> None:
    """Raises a ValueError unless the user agrees, or `yes` is set."""
    try:
        agreed = yes or confirm(question)
    except typer.Abort:
        agreed = False
    if not agreed:
        raise ValueError("nothing was sent to Prolific; --yes does it without asking")


def _numbers(todo: "Plan") -> dict[str, object]:
    """Returns the plan for JSON output; amounts are in cents."""
    sums = {"approve": sum(due.due for due in todo.approve), "bonus": sum(owed for _, owed in todo.bonus)}
    return {
        "approve": [due.submission for due in todo.approve],
        "ask_return": [due.submission for due in todo.ask_return],
        "reject": [due.submission for due in todo.reject],
        "bonus": {due.submission: owed for due, owed in todo.bonus},
        "cents": sums,
        "left": dict(todo.left),
    }


def _say_plan(study: "Study", todo: "Plan") -> None:
    """Prints the plan as a table, and the reasons for submissions that are left to the owner."""
    currency = study.settings.currency
    approved, bonuses = sum(due.due for due in todo.approve), sum(owed for _, owed in todo.bonus)
    rows = [
        ["approve", len(todo.approve), f"{currency} {approved / 100:,.2f}"],
        ["ask for a return", len(todo.ask_return), "–"],
        ["reject", len(todo.reject), "–"],
        ["pay a bonus", len(todo.bonus), f"{currency} {bonuses / 100:,.2f}"],
        ["left to you", len(todo.left), "–"],
    ]
    table("Submissions", ["what", "people", "without fees"], rows)
    for submission, why in todo.left:
        say(f"{submission}: {why}")
