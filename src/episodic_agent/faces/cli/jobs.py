"""Commands of later work and what it cost: worker, jobs and usage."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime

import click
from rich.table import Table
from rich.text import Text

from episodic_agent.core.boundary.policies import MEASURED
from episodic_agent.core.calibration import LEAST_NEIGHBOURS
from episodic_agent.core.language import plural
from episodic_agent.engine.evaluate.calibrating import conversations_of
from episodic_agent.engine.jobs.backlog import STATES, JobEntry
from episodic_agent.engine.jobs.verbs import JobRoom
from episodic_agent.engine.jobs.worker import POLL, Worker
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.trace.usage import summed
from episodic_agent.errors import InvalidInput, ProviderError
from episodic_agent.faces.cli.app import App, Listing, common, out, print_json, say
from episodic_agent.providers.embedders.minilm import NAME as DEFAULT_MODEL
from episodic_agent.schemas import ModelUse
from episodic_agent.wiring import (
    budget_of,
    calibrate,
    calibration_file,
    demo_conversations,
    embedder_by_name,
    load_settings,
    make_embedder,
    utc_now,
)

SIGNALS = (signal.SIGTERM, signal.SIGINT)
DAY = click.DateTime(["%Y-%m-%d"])
COLUMNS = (
    "day", "stage", "model", "calls", "used", "refused", "late", "failed", "tokens in", "tokens out",
    "s a call",
)  # fmt: skip


@click.command()
@click.option("--space", metavar="NAME", help="Only this space (default: EPISODIC_SPACE or `default`).")
@click.option("--all-spaces", is_flag=True, help="Every space of the database (needs a worker's credential).")
@click.option("--kinds", metavar="A,B", help="Only these kinds of jobs (default: all).")
@click.option("--once", is_flag=True, help="Leave when nothing is due.")
@click.option("--poll", type=float, default=POLL, show_default=True, help="Seconds between looks when idle.")
@common
def worker(app: App, space: str | None, all_spaces: bool, kinds: str | None, once: bool, poll: float) -> None:
    """Do later work (titles, summaries, questions, silent threads) until told to stop.

    Start as many as you like. SIGTERM or Ctrl-C ends one after the batch it is in; a second one at once.
    """
    if space is not None and all_spaces:
        raise click.UsageError("give --space or --all-spaces, not both")
    targets = None if kinds is None else [k.strip() for k in kinds.split(",") if k.strip()]
    with app.memory(space=space) as memory:
        working = _jobs(app, memory).worker(all_spaces=all_spaces, kinds=targets, poll=poll, say=say)
        with _stopped_by_signals(working):
            ran = working.run(once=once)
    if app.as_json:
        print_json({"jobs": ran})
    elif not once:
        say(f"stopped after {plural(ran, 'job')}; what is left waits")
    else:
        out().print(f"{plural(ran, 'job')} ran")


def _jobs(app: App, memory: Memory) -> JobRoom:
    return memory.jobs if app.user_name is None else memory.user(app.user_name).jobs


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


@click.group(cls=Listing)
def jobs() -> None:
    """See later work, try it again, cancel it."""


@jobs.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only jobs in this state.")
@common
def jobs_list(app: App, state: str | None) -> None:
    """List the jobs of a user, or of all users of the space."""
    with app.memory() as memory:
        entries = _jobs(app, memory).list(state=state)
    if app.as_json:
        print_json({"jobs": entries})
    elif entries:
        _print(entries)
    else:
        out().print("no jobs")


def _print(entries: Sequence[JobEntry]) -> None:
    """Print a line for each job, and its last error on one of its own."""
    console = out()
    users, kinds = max(len(e.user_id) for e in entries), max(len(e.kind) for e in entries)
    for e in entries:
        tries = f"{plural(e.attempts, 'try', 'tries'):>7}"
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
def jobs_retry(app: App, job: str | None, dead: bool) -> None:
    """Make a job due now, with all its attempts back; named by its id, or the beginning or end of it."""
    if (job is None) == (not dead):
        raise click.UsageError("name one job, or give --dead for all that were given up")
    with app.memory() as memory:
        if job is not None:
            chosen = _jobs(app, memory).retry(job)
            count, text = 1, f"{chosen.kind} {chosen.key} waits"
        else:
            count = _jobs(app, memory).retry_dead()
            text = plural(count, "job waits", "jobs wait")
    app.reply(
        {"retried": count}, f"{text} again; a worker (`episodic worker --once`) or the next opening runs it"
    )


@jobs.command("cancel")
@click.argument("job")
@common
def jobs_cancel(app: App, job: str) -> None:
    """Delete a job that waits or was given up; named as for `retry`."""
    with app.memory() as memory:
        chosen = _jobs(app, memory).cancel(job)
    app.reply({"cancelled": chosen}, f"cancelled: {chosen.kind} {chosen.key} of {chosen.user_id}")


@jobs.command("reembed")
@click.option(
    "--later", is_flag=True, help="Only ask for it: workers, or the next process that stays, do it."
)
@click.option(
    "--no-calibrate", is_flag=True, help="Do not fit the embedder's scale on this memory afterwards."
)
@common
def jobs_reembed(app: App, later: bool, no_calibrate: bool) -> None:
    """Embed again what has no vector of the embedder, as after it was changed; search works meanwhile.

    Where it is stopped, it goes on when it is called again. Then the embedder's scale of cosines is fitted on
    the texts of the memory itself, unless that was done before.
    """
    with app.memory() as memory:
        count = _jobs(app, memory).reembed(wait=not later, progress=_shares())
        fitted = None if later or no_calibrate else _fitted(app, memory)
    if app.as_json:
        print_json({"users" if later else "texts": count, "calibration": fitted})
    elif later:
        out().print(f"asked for {plural(count, 'user')}; `episodic jobs list` shows what waits")
    else:
        out().print(f"{plural(count, 'text')} embedded" + (f"; calibration in {fitted}" if fitted else ""))


def _shares() -> Callable[[int, int], None]:
    """Return what prints how far it is, at each twentieth."""
    printed = 0

    def tell(done: int, total: int) -> None:
        nonlocal printed
        if (share := done * 20 // total) > printed:
            printed = share
            say(f"{done:,} of {total:,} observations ({share * 5} %)")

    return tell


def _fitted(app: App, memory: Memory) -> str | None:
    """Fit the scale of another embedder than the default on what the memory holds; return where it is kept.

    None where that is not needed, or cannot be done, which is said.
    """
    settings = load_settings()
    embedder = make_embedder(app.embedder or settings.embedder, settings)
    chosen = app.calibration or settings.calibration
    if embedder is None or chosen != "auto" or embedder.name.startswith(MEASURED):
        return None
    path = calibration_file(embedder.name, settings)
    if path.is_file():
        return None
    if embedder_by_name(DEFAULT_MODEL, settings) is None:
        say(
            "not calibrated: the default embedder, which it is compared with, is not at hand; run "
            "`episodic models pull`, then `episodic calibrate --own`"
        )
        return None
    names = memory.users() if app.user_name is None else [app.user_name]
    texts = [talk for name in names for talk in conversations_of(memory.user(name))]
    if sum(max(0, len(talk) - 1) for talk in texts) < LEAST_NEIGHBOURS:
        say("calibrating on the shipped conversations: this memory holds too few messages yet")
        texts = demo_conversations()
    try:
        calibrate(embedder, texts, say=say)
    except (InvalidInput, ProviderError) as error:
        say(f"not calibrated: {error}")
        return None
    return str(path)


@click.command()
@click.option("--since", type=DAY, help="First day (UTC), YYYY-MM-DD.")
@click.option("--until", type=DAY, help="Last day (UTC).")
@common
def usage(app: App, since: datetime | None, until: datetime | None) -> None:
    """Show what language models cost the space, or a user, by day, stage and model."""
    first = since.date() if since else date.min
    last = until.date() if until else date.max
    with app.memory() as memory:
        uses = memory.usage(first, last, user=app.user_name)
        today = utc_now().date()
        spent = sum(use.tokens for use in memory.usage(today, today))
    budget = budget_of(load_settings())
    if app.as_json:
        print_json({"usage": uses, "spent_today": spent, "budget": budget})
        return
    if uses:
        out().print(_table(uses))
    limit = "no budget is set" if budget is None else f"of a budget of {budget:,} a day"
    out().print(f"{'' if uses else 'no calls; '}today (UTC) {plural(spent, 'token')}, {limit}")


def _table(uses: list[ModelUse]) -> Table:
    table = Table(*COLUMNS, box=None, show_footer=False)
    for column in table.columns[3:]:
        column.justify = "right"
    total = summed(uses)
    assert total is not None
    for use in uses:
        table.add_row(f"{use.day}", use.stage, use.model, *_counts(use))
    if len(uses) > 1:
        table.add_row("all", "", "", *_counts(total))
    return table


def _counts(use: ModelUse) -> tuple[str, ...]:
    other = use.failures - use.refused - use.late
    numbers = (use.calls, use.used, use.refused, use.late, other, use.prompt_tokens, use.completion_tokens)
    return (*(f"{number:,}" for number in numbers), f"{use.seconds / max(use.calls, 1):.2f}")
