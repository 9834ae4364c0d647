"""Commands for later work: a worker that does it, and what people do about single jobs."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.text import Text

from episodic_agent.engine.backlog import STATES, JobEntry
from episodic_agent.engine.working import POLL, Worker
from episodic_agent.faces.cli.app import App, common, out, print_json, say

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@click.command()
@click.option("--space", metavar="NAME", help="Only this space (default: EPISODIC_SPACE or `default`).")
@click.option("--all-spaces", is_flag=True, help="Every space of the database (needs a worker's credential).")
@click.option("--kinds", metavar="A,B", help="Only these kinds of jobs (default: all).")
@click.option("--once", is_flag=True, help="Leave when nothing is due.")
@click.option("--poll", type=float, default=POLL, show_default=True, help="Seconds between looks when idle.")
@common
def worker(
    app: App,
    space: str | None,
    all_spaces: bool,
    kinds: str | None,
    once: bool,
    poll: float,
    user: str | None,
    as_json: bool,
) -> None:
    """Do later work (titles, summaries, questions, silent threads) until told to stop.

    Start as many as you like. SIGTERM or Ctrl-C ends one after the batch it is in; a second one at once.
    """
    if space is not None and all_spaces:
        raise click.UsageError("give --space or --all-spaces, not both")
    wanted = None if kinds is None else [k.strip() for k in kinds.split(",") if k.strip()]
    with app.memory(space=space) as memory:
        working = memory.worker(user_id=user, all_spaces=all_spaces, kinds=wanted, poll=poll, say=say)
        with _stopped_by_signals(working):
            ran = working.run(once=once)
    if as_json:
        print_json({"jobs": ran})
    elif not once:
        say(f"stopped after {ran} jobs; what is left waits")
    else:
        out().print(f"{ran} jobs ran")


@contextmanager
def _stopped_by_signals(working: Worker) -> Iterator[None]:
    """Let the first signal stop the worker gently and the next one do what it always does."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may ask for signals
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def stop(_number: int, _frame: object) -> None:
        working.stop()
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in SIGNALS:
        signal.signal(number, stop)
    try:
        yield
    finally:
        restore()


@click.group()
def jobs() -> None:
    """See later work, try it again, cancel it."""


@jobs.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only jobs in this state.")
@common
def jobs_list(app: App, state: str | None, user: str | None, as_json: bool) -> None:
    """List the jobs of a user, or of all users of the space."""
    with app.memory() as memory:
        found = memory.jobs(user_id=user, state=state)
    if as_json:
        print_json({"jobs": found})
    elif found:
        _print(found)
    else:
        out().print("no jobs")


def _print(found: list[JobEntry]) -> None:
    """Print a line for each job, and its last error on one of its own."""
    console = out()
    users, kinds = max(len(e.user_id) for e in found), max(len(e.kind) for e in found)
    for e in found:
        tries = f"{e.attempts:2} {'try' if e.attempts == 1 else 'tries'}"
        line = (
            f"{e.id}  {e.user_id:{users}}  {e.kind:{kinds}}  {e.state:7}  {tries:8}  {e.due:%Y-%m-%d %H:%M}"
        )
        console.print(Text(f"{line}  {e.key}"))
        if e.last_error:
            console.print(Text(f"    {e.last_error}", style="dim"))


@jobs.command("retry")
@click.argument("job", required=False)
@click.option("--dead", is_flag=True, help="All that were given up.")
@common
def jobs_retry(app: App, job: str | None, dead: bool, user: str | None, as_json: bool) -> None:
    """Make a job due now, with all its attempts back; named by its id, or the beginning or end of it."""
    if (job is None) == (not dead):
        raise click.UsageError("name one job, or give --dead for all that were given up")
    with app.memory() as memory:
        if job is not None:
            chosen = memory.retry_job(job, user_id=user)
            count, told = 1, f"{chosen.kind} {chosen.key} waits"
        else:
            count = memory.retry_dead_jobs(user_id=user)
            told = f"{count} jobs wait"
    if as_json:
        print_json({"retried": count})
    else:
        out().print(f"{told} again; a worker (`episodic worker --once`) or the next opening runs it")


@jobs.command("cancel")
@click.argument("job")
@common
def jobs_cancel(app: App, job: str, user: str | None, as_json: bool) -> None:
    """Delete a job that waits or was given up; named as for `retry`."""
    with app.memory() as memory:
        chosen = memory.cancel_job(job, user_id=user)
    if as_json:
        print_json({"cancelled": chosen})
    else:
        out().print(f"cancelled: {chosen.kind} {chosen.key} of {chosen.user_id}")
