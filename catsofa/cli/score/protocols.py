"""Commands that describe protocols: every option, the differences from the default, and the reasons."""

from typing import Annotated

import typer

from catsofa.cli.terminal import Json, examples, print_json, say, table, warn

ProtocolName = Annotated[
    str,
    typer.Option(
        "--protocol",
        help="Protocol, as in `catsofa protocols list`. Settings can follow: catsofa,pooling=mean.",
    ),
]
Seed = Annotated[int | None, typer.Option(help="Random seed of the resampling. Default: the protocol's.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    group = typer.Typer(no_args_is_help=True, help="List the protocols and show what each does.")
    group.command("list", epilog=examples("catsofa protocols list"))(show_all)
    group.command(
        "show",
        epilog=examples(
            "catsofa protocols show stereoset-code",
            "catsofa protocols show catsofa,pooling=mean,layer=-2",
        ),
    )(show)
    app.add_typer(group, name="protocols")


def show_all(json: Json = False) -> None:
    """List the protocols: what each reproduces."""
    from catsofa.scoring.protocols import plugins, presets

    known, broken = presets(), list(plugins().broken.values())
    if json:
        facts = {name: {"about": p.about, "reproduces": p.reproduces} for name, p in known.items()}
        print_json({"protocols": facts, "warnings": broken})
        return
    warn(broken)
    table("protocols", ["name", "about", "reproduces"], [[p.name, p.about, p.reproduces] for p in known.values()])


def show(name: Annotated[str, typer.Argument(help="Name of the protocol.")], json: Json = False) -> None:
    """Show what a protocol does, where it differs from the default, and why."""
    from catsofa.scoring.protocols import named

    protocol = named(name)
    differences = protocol.differences()
    if json:
        why = {option: reason for option, (_, _, reason) in differences.items()}
        about = {"name": protocol.name, "about": protocol.about, "reproduces": protocol.reproduces}
        print_json({**about, "options": protocol.options(), "differs": why})
        return
    say(protocol.about)
    say(f"Reproduces: {protocol.reproduces or 'nothing; it is our own'}")
    homes = {option: measure for measure, options in protocol.by_measure().items() for option in options}
    rows = [
        [homes[option], option, str(current), str(default), why]
        for option, (current, default, why) in differences.items()
    ]
    table("where it differs from the default", ["measure", "option", "here", "default", "why"], rows)
    for measure, options in protocol.by_measure().items():
        same = [f"{option}={value}" for option, value in options.items() if option not in differences]
        if same:
            say(f"same as the default, {measure}: {', '.join(same)}")
