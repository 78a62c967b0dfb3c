"""Commands that share results: a leaderboard, exports, a task for lm-evaluation-harness, the Hub."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from catsofa.cli.data import local
from catsofa.cli.options import given, refuse_idle
from catsofa.cli.terminal import (
    DATA,
    NEW_FOLDER,
    Bar,
    Json,
    Quiet,
    doing,
    examples,
    lines_in,
    note,
    print_json,
    progress,
    say,
    table,
)


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command(
        epilog=examples(
            "catsofa leaderboard board --on withheld/test.json",
            "catsofa leaderboard board --on withheld/test.json --protocol stereoset-code --json",
            "catsofa leaderboard board --runs runs",
        )
    )(leaderboard)
    app.command(
        name="export-harness",
        epilog=examples(
            "catsofa export-harness bakers.jsonl --out task --name bakers",
            "catsofa export-harness release --out task --name bakers --quiet",
            "catsofa export-harness bakers.jsonl --out chat-task --name bakers --chat",
        ),
    )(export_harness)
    app.command(
        name="export-results",
        epilog=examples(
            "catsofa export-results runs --format every-eval-ever --organization 'Our lab' --out every-eval-ever",
            "catsofa export-results runs/gpt2 --format model-index",
            "catsofa export-results runs/gpt2 --format eval-results --dataset me/bakers --out bakers.yaml",
        ),
    )(export_results)
    app.command(
        name="push-to-hub",
        epilog=examples(
            "catsofa push-to-hub release --repo me/bakers",
            "catsofa push-to-hub runs/gpt2 runs/bert report.html --repo me/bakers-results --public",
        ),
    )(push_to_hub)


def export_harness(
    data: Annotated[str, typer.Argument(metavar=DATA, help="CATs or pairs.")],
    out: Annotated[Path, typer.Option(metavar=NEW_FOLDER, help="Output folder.")],
    name: Annotated[str, typer.Option(help="Name of the task: catsofa_NAME, with --chat catsofa_NAME_chat.")],
    chat: Annotated[
        bool,
        typer.Option(
            "--chat", help="Write tasks for chat models instead: for lm-evaluation-harness, Inspect and lighteval."
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Write a data set as a task of lm-evaluation-harness, which measures as --protocol stereoset-acl does.

    With --chat, the task asks chat models as `catsofa choose` does. The folder can be moved; the harness finds it by
    --include_path.
    """
    from catsofa.data import sources
    from catsofa.share import chat_export, harness

    path = local(data)
    records = progress(sources.read(path), f"reading {path.name}", lines_in(path), quiet=quiet)
    count = (chat_export if chat else harness).write(records, out, name)
    if chat:
        say(
            f"{count:,} requests; {out / 'README.md'} says how the harness, Inspect and lighteval ask them", quiet=quiet
        )
        return
    say(f"{count:,} documents; lm_eval --tasks catsofa_{name} --include_path {out} measures a model", quiet=quiet)


def export_results(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN", help="Folders of `score --out` or `choose --out`, or folders of runs."),
    ],
    as_format: Annotated[
        Literal["every-eval-ever", "model-index", "eval-results"],
        typer.Option(
            "--format", metavar="FORMAT", help="Every Eval Ever's JSON, or the YAML of a model card, for one model."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Output folder for every-eval-ever, else output file. Default: print the YAML.")
    ] = None,
    organization: Annotated[str, typer.Option(help="Who made the runs, for every-eval-ever.")] = "",
    dataset: Annotated[str, typer.Option(metavar="OWNER/NAME", help="Name of the data on the Hub, for a card.")] = "",
    quiet: Quiet = False,
) -> None:
    """Export the numbers of finished runs with intervals, ideal values and signatures, in schemas of other programs.

    every-eval-ever: a JSON file for each run, with every set. model-index: the metadata of a model card. eval-results:
    a file for the folder `.eval_results` of a model. The YAML holds the numbers over all items.
    """
    from catsofa.data.files import atomic_write
    from catsofa.report.inputs import find
    from catsofa.share.results import every_eval_ever, model_cards

    finished_runs = find(runs).runs
    if as_format == "every-eval-ever":
        if out is None:
            raise ValueError("found no --out; expected a folder for the JSON files of every-eval-ever")
        paths = every_eval_ever.write(finished_runs, out, organization)
        say(f"{len(paths):,} files below {out}", quiet=quiet)
        return
    text = (
        model_cards.model_index(finished_runs, dataset)
        if as_format == "model-index"
        else model_cards.eval_results(finished_runs, dataset)
    )
    if out is None:
        say(text.rstrip())
        return
    with atomic_write(out) as file:
        file.write(text.encode())
    say(str(out), quiet=quiet)


def push_to_hub(
    paths: Annotated[
        list[Path], typer.Argument(help="Releases, probe shards, runs of `catsofa score`, or single result files.")
    ],
    repo: Annotated[str, typer.Option(metavar="OWNER/NAME", help="Dataset repository; created if it does not exist.")],
    public: Annotated[bool, typer.Option("--public", help="Make a new repository public. Default: private.")] = False,
    message: Annotated[str, typer.Option(help="Commit message.")] = "",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Upload data sets and results to the Hub in one commit; files that are there already are skipped.

    The token comes from HF_TOKEN in the environment, the Hub from HF_ENDPOINT if that is set.
    """
    from dataclasses import asdict

    from catsofa.share.hub import push

    doing(f"pushing to {repo}")
    silent = quiet or json or not sys.stderr.isatty()
    pushed = push(paths, repo, public=public, message=message, quiet=silent)
    if json:
        print_json(asdict(pushed))
        return
    say(f"{len(pushed.files):,} files: {pushed.url}", quiet=quiet)
    if pushed.left_out:
        note(f"not pushed, since no release holds them: {', '.join(pushed.left_out)}", quiet=quiet)


def leaderboard(
    context: typer.Context,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder of the page. With --on, it has submissions/NAME.json for each model."
        ),
    ],
    on: Annotated[str, typer.Option(metavar=DATA, help="Withheld split, which must be outside DIR.")] = "",
    runs: Annotated[
        list[Path] | None,
        typer.Option(metavar="RUN", help="Show these finished runs of any measure instead of submissions; repeatable."),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="Protocol, which decides ties and averages: `catsofa protocols list`.")
    ] = "catsofa",
    seed: Annotated[int | None, typer.Option(help="Random seed of the resampling. Default: the protocol's.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score submitted StereoSet predictions on a withheld split; write an append-only history and a static page.

    With --runs: a page of finished runs of every measure. Places are shared where intervals overlap.
    """
    if bool(on) == bool(runs):
        raise ValueError("name a withheld split (--on) for submissions, or runs (--runs): one of the two")
    if runs:
        refuse_idle("--runs", given(context) & {"--protocol", "--seed"})
        _boards(folder, runs, json, quiet)
        return
    from catsofa.report.cells import limited
    from catsofa.share.leaderboard import PAGE, update

    entries = update(
        folder,
        local(on),
        protocol=protocol,
        seed=seed,
        progress=Bar("submissions", quiet=quiet or json),
    )
    if json:
        print_json(entries)
        return
    for entry in entries:
        if entry["refused"]:
            note(f"refused: {entry['name']} ({entry['at'][:10]}): {entry['refused']}", quiet=quiet)
    counted = [entry for entry in entries if not entry["refused"]]
    rows = [
        [e["name"], e["at"][:10], *(str(limited(e["results"]["both"], m)) for m in ("lms", "ss", "icat"))]
        for e in counted
    ]
    if not quiet:
        table(
            f"{len(counted):,} of {len(entries):,} submissions count", ["name", "submitted", "lms", "ss", "icat"], rows
        )
        for signature in dict.fromkeys(entry["signature"] for entry in counted):
            say(signature)
    say(str(folder / PAGE), quiet=quiet)


def _boards(folder: Path, runs: list[Path], json: bool, quiet: bool) -> None:
    """Writes and prints the leaderboard of finished runs."""
    from catsofa.report.summary.sentences import NAMES
    from catsofa.share.leaderboard import PAGE
    from catsofa.share.leaderboard_runs import boards, number, shown_coverage, write
    from catsofa.share.places import written

    leaderboards = boards(runs)
    write(leaderboards, folder / PAGE)
    if json:
        print_json([board.to_dict() for board in leaderboards])
        return
    for board in leaderboards if not quiet else ():
        rows = [[row.model, written(row.place), str(number(row.number)), shown_coverage(row)] for row in board.rows]
        title = f"{NAMES.get(board.kind, board.kind)} ({board.about}): {board.set}, ideal {board.ideal:g}"
        table(title, ["model", "place", board.number, "coverage"], rows)
    say(str(folder / PAGE), quiet=quiet)
