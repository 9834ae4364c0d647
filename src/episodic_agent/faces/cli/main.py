"""The command group: global options, the list of commands, and one place where errors become exit codes.

Exit codes: 0 done, 1 an internal error, 2 bad input or usage, 3 not found, 4 conflict, 5 the store,
6 an embedder or model, 130 interrupted.
"""

import sys
from collections.abc import Iterable, Iterator, MutableMapping
from types import TracebackType

import click

from episodic_agent import __version__
from episodic_agent.errors import EpisodicError, InvalidInput
from episodic_agent.faces.cli.loading import load
from episodic_agent.faces.cli.saying import say

INTERRUPTED = 130
COMMANDS = (  # by module: only that of the command that was asked for is imported
    "writing.init",
    "writing.add",
    "writing.import_",
    "running.run",
    "running.profiles",
    "running.sensors",
    "reading.search",
    "reading.retrieve",
    "context.context",
    "reading.recent",
    "reading.episodes",
    "reading.show",
    "agents.sequence",
    "agents.replay",
    "threads.threads",
    "threads.thread",
    "linking.link",
    "sessions.session",
    "chaining.chain",
    "chaining.arc",
    "compacting.compact",
    "compacting.summaries",
    "skills.skills",
    "skills.skill",
    "facts.facts",
    "tuning.tune",
    "places.places",
    "places.visits",
    "places.route",
    "why.explain",
    "why.whatif",
    "why.resegment",
    "encoding.reencode",
    "why.plot",
    "turns.trace",
    "mapping.map_",
    "writing.flush",
    "writing.upkeep",
    "jobs.worker",
    "jobs.jobs",
    "serving.serve",
    "agents.mcp",
    "reading.stats",
    "spending.usage",
    "forgetting.forget",
    "keeping.pin",
    "keeping.unpin",
    "keeping.pinned",
    "keeping.suppress",
    "keeping.unsuppress",
    "keeping.suppressed",
    "keeping.retention",
    "care.doctor",
    "reading.export",
    "demo.demo",
    "evaluating.evaluate",
    "calibrating.calibrate",
    "care.models",
    "care.config",
    "admin.admin",
)


class Commands(MutableMapping[str, click.Command]):
    """The commands by name, each imported when it is asked for: together they take longer than most need."""

    def __init__(self, places: Iterable[str]) -> None:
        self._places = {place.partition(".")[2].rstrip("_"): place for place in places}

    def __getitem__(self, name: str) -> click.Command:
        module, _, attribute = self._places[name].partition(".")
        found: click.Command = getattr(load(f"episodic_agent.faces.cli.{module}"), attribute)
        return found

    def __setitem__(self, name: str, command: click.Command) -> None:
        raise TypeError(f"add {name!r} to COMMANDS")

    def __delitem__(self, name: str) -> None:
        del self._places[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@click.group(
    commands=Commands(COMMANDS),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--db", metavar="FILE|URL", help="The memory (default: EPISODIC_DB or ./episodic.db).")
@click.option("--policy", metavar="NAME", help="Boundary policy for new threads (default: `default`).")
@click.option(
    "--embedder", metavar="NAME", help="auto, minilm, openai:MODEL, hashing or none (default: auto)."
)
@click.option(
    "--calibration", metavar="FILE", help="Of another embedder: auto, none or a file (default: auto)."
)
@click.option("--llm", metavar="NAME", help="Language model: openai:MODEL or none (default: none).")
@click.option("--debug", is_flag=True, help="Show a traceback on errors.")
@click.version_option(__version__, prog_name="episodic")
@click.pass_context
def cli(
    context: click.Context,
    db: str | None,
    policy: str | None,
    embedder: str | None,
    calibration: str | None,
    llm: str | None,
    debug: bool,
) -> None:
    """Episodic memory for AI agents: import, segment, recall, explain."""
    # by now the command has imported it
    context.obj = load("episodic_agent.faces.cli.app").App(db, policy, embedder, debug, calibration, llm)


def main(arguments: "list[str] | None" = None) -> None:
    """Run the command and leave with its exit code; errors are one line with the remedy."""
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    if arguments is None and not debug:
        sys.excepthook = _one_line  # for what nobody foresaw; Python then leaves with code 1
    try:
        cli.main(given, prog_name="episodic", standalone_mode=False)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        say("interrupted; everything acknowledged is kept")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output went away: nothing to tell anybody
        sys.exit(0)
    except EpisodicError as error:
        if debug:
            raise
        say(f"error: {error}")
        sys.exit(error.exit_code)
    except OSError as error:  # a file the user named cannot be read or written, or the disk is full
        if debug:
            raise
        say(f"error: {error.filename or 'a file'}: {error.strerror or error}")
        sys.exit(InvalidInput.exit_code)


def _one_line(kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    say(f"error: {kind.__name__}: {error} (a fault of this program; --debug shows where)")
