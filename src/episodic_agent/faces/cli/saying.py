"""Remarks of the command line, apart from everything that takes long to import."""

import click


def say(line: str) -> None:
    """Print a remark on standard error, where it disturbs no pipe."""
    click.echo(line, err=True)
