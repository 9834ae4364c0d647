"""Print the reference of all commands as Markdown, from click: what each does, its arguments and options.

`make docs` puts it into docs/cli.md.
"""

import inspect
import re
from collections.abc import Iterator

import click

from episodic_agent.faces.cli.main import GROUPS, cli


def reference() -> Iterator[str]:
    """Yield the reference of all commands as Markdown, by the groups of `episodic --help`."""
    root = click.Context(cli, info_name="episodic")
    for title, names in GROUPS.items():
        yield f"\n### {title}\n"
        for name in names.split():
            command = cli.get_command(root, name)
            if command is None:
                raise ValueError(f"`episodic --help` lists {name}, which is no command")
            yield from described(command, click.Context(command, info_name=name, parent=root))


def described(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield what a command does, its arguments and options, and the same of its subcommands."""
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"#### {context.command_path}\n"
    yield f"```text\n{usage}\n```\n"
    yield f"{_plain(command.help or '')}\n"
    rows = [record for one in command.params if (record := one.get_help_record(context))]
    if rows:
        yield "| option | |\n|---|---|"
        yield from (f"| `{_cell(names)}` | {_cell(_plain(text))} |" for names, text in rows)
        yield ""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from described(inner, click.Context(inner, info_name=name, parent=context))


def _plain(text: str) -> str:
    """Return a help text as Markdown: paragraphs as they are, marks of click gone."""
    return re.sub(r"[\b\f]", "", inspect.cleandoc(text)).replace("<", "&lt;")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print("\n".join(reference()))
