"""The command group: global options, the list of commands, and one place where errors become exit codes.

Exit codes: 0 done, 1 an internal error, 2 bad input or usage, 3 not found, 4 conflict, 5 the store,
6 an embedder or model, 130 interrupted.
"""

import io
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from types import TracebackType
from typing import Final

import click

from episodic_agent import __version__
from episodic_agent.errors import EpisodicError, InvalidInput
from episodic_agent.faces.cli.saying import listen, say, say_error
from episodic_agent.lazily import load

INTERRUPTED = 130
# Where each command is, and the first sentence of its help: what lists them imports none of them. A test
# holds each sentence to what the command itself says.
COMMANDS: Final[Mapping[str, str]] = {
    "writing.init": "Create the memory file and fetch the embedding model, if need be.",
    "writing.add": "Remember one message.",
    "writing.import_": (
        "Import chat files: JSONL or JSON messages, `[time] Name: text` transcripts, own exports."
    ),
    "running.run": "Run an agent: a sensor's readings become steps, and steps episodes.",
    "running.profiles": "List the profiles an agent can run under.",
    "running.sensors": "List the sensors an agent can perceive with.",
    "reading.search": "Find the facts and episodes that answer a question, with the messages that prove it.",
    "reading.retrieve": (
        "Print what answers a question as Markdown for a prompt; nothing where nothing answers."
    ),
    "reading.context": "Print what a prompt should be told before MESSAGE is answered; stores nothing.",
    "reading.recent": "List the newest episodes first.",
    "reading.episodes": "List all episodes in order, open frames included.",
    "reading.show": "Show one episode: its title, summary and messages.",
    "reading.sequence": "List the episodes of TOPIC in the order of time; without one, the newest.",
    "reading.replay": "Tell the story of TOPIC in order: what happened, and what it went on with.",
    "threads.threads": "List threads by last activity, newest first.",
    "threads.thread": (
        "Show or change one thread; it is called by its name as `threads` lists it, or by its id."
    ),
    "links.link": (
        "Show, explain or change which threads belong together; threads are called as `threads` lists them."
    ),
    "threads.session": (
        "Frame a piece of work: start it with a topic, add to its thread, end it with an outcome."
    ),
    "links.chain": (
        "Show a session with those before it in its chain, the first one first; `summaries` lists sessions."
    ),
    "plots.arc": (
        "Draw the whole tree a session stands in: its branches, and how surely each session goes on."
    ),
    "threads.compact": "Give the parts of threads their summaries now, without waiting until they are due.",
    "threads.summaries": "Show what threads were about, the newest first, or what a QUERY finds.",
    "links.skills": "List skills, the surest first, or those that answer a QUERY, best first.",
    "links.skill": "Show or change one skill; it is called by its name as `skills` lists it, or by its id.",
    "facts.facts": "What lasts of what people said; a fact is called by its id or the beginning of it.",
    "boundaries.tune": (
        "Let links and chains learn from what came of them; it happens by itself every hundred of either."
    ),
    "places.places": "List places with visits and episodes, and the moves between them.",
    "places.visits": "List the visits of a place, each with its episodes and the time since the one before.",
    "places.route": "Show the places a thread went through, in order, with the episodes of each visit.",
    "boundaries.explain": "Say why an episode begins and ends where it does.",
    "boundaries.whatif": (
        "Show what another policy would have made of THREAD (`stats` names them); nothing is written."
    ),
    "boundaries.resegment": (
        "Segment THREAD again (`stats` names them), with the whole of it known; --undo takes it back."
    ),
    "boundaries.reencode": "Find titles and summaries of closed episodes anew; the versions before are kept.",
    "plots.plot": "Plot the cues, probabilities, thresholds and cuts of THREAD (`stats` names them).",
    "boundaries.trace": "Show what was done for one turn: work and its times, decisions, calls of models.",
    "plots.map_": "Map the places of an agent's steps, with episodes, visits and moves.",
    "writing.flush": "Close the open frames now, so that they become episodes.",
    "writing.upkeep": "Close threads that have been silent for long, and run the work that waits.",
    "jobs.worker": "Do later work (titles, summaries, questions, silent threads) until told to stop.",
    "jobs.jobs": "See later work, try it again, cancel it.",
    "serving.serve": "Answer over HTTP (`/api/v0`, `/docs`) until told to stop; needs the extra `serve`.",
    "serving.mcp": (
        "Give an agent the memory as MCP tools, on standard input and output; needs the extra `mcp`."
    ),
    "reading.stats": "Count what the memory holds.",
    "jobs.usage": "Show what language models cost the space, or a user, by day, stage and model.",
    "retention.forget": "Erase for good; what was made of it is made again without it.",
    "retention.pin": "Pin an EPISODE: no policy lets it go, and it does not fade.",
    "retention.unpin": "Take the pin off an EPISODE.",
    "retention.pinned": "List what is pinned.",
    "retention.suppress": "Keep an EPISODE, but show it no more.",
    "retention.unsuppress": "Show an EPISODE again.",
    "retention.suppressed": "List what is suppressed, with reasons and times.",
    "retention.retention": "Say what is put away and erased with time, and see it beforehand.",
    "admin.doctor": "Check the file and every invariant; exit code 1 when something is wrong.",
    "admin.backup": "Copy the whole memory to FILE, verified, while others may write.",
    "reading.export": "Write the memory as JSON lines that `import` takes back without loss.",
    "demo.demo": (
        "Import bundled conversations and run an agent: episodes, answers, why a boundary is where it is."
    ),
    "evaluate.evaluate": "Score the engine on labelled data.",
    "evaluate.calibrate": "Fit another embedder's scale of cosines, for boundaries, recall and confidence.",
    "admin.models": "Fetch and list embedding models.",
    "admin.config": "Show the settings in force and where they come from.",
    "admin.admin": "Look after a PostgreSQL database (with an administrator's URL).",
}
HELPS: Final = {place.partition(".")[2].rstrip("_"): sentence for place, sentence in COMMANDS.items()}


class Commands(MutableMapping[str, click.Command]):
    """The commands by name, each imported when it is asked for: together they take longer than most need."""

    def __init__(self, places: Iterable[str]) -> None:
        self._places = {place.partition(".")[2].rstrip("_"): place for place in places}

    def __getitem__(self, name: str) -> click.Command:
        module, _, attribute = self._places[name].partition(".")
        result: click.Command = getattr(load(f"episodic_agent.faces.cli.{module}"), attribute)
        return result

    def __setitem__(self, name: str, command: click.Command) -> None:
        raise TypeError(f"add {name!r} to COMMANDS")

    def __delitem__(self, name: str) -> None:
        del self._places[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class CommandIndex(click.Group):
    """A group that lists its commands by their first sentences and imports none of them for it."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their helps, as click does."""
        names = self.list_commands(ctx)
        limit = formatter.width - 6 - max(map(len, names))
        shown = [(name, click.Command(name, help=HELPS[name]).get_short_help_str(limit)) for name in names]
        with formatter.section("Commands"):
            formatter.write_dl(shown)


@click.group(
    cls=CommandIndex,
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
    values = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in values
    listen()
    if arguments is None:  # for what nobody foresaw; Python then leaves with code 1
        sys.excepthook = _print_traceback if debug else _one_line
    try:
        cli.main(values, prog_name="episodic", standalone_mode=False)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        say(shown.getvalue().rstrip("\n"))
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
        say_error(error)
        sys.exit(error.exit_code)
    except OSError as error:  # a file the user named cannot be read or written, or the disk is full
        if debug:
            raise
        say_error(f"{error.filename or 'a file'}: {error.strerror or error}")
        sys.exit(InvalidInput.exit_code)


def _one_line(kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    say_error(f"{kind.__name__}: {error} (a fault of this program; --debug shows where)")


def _print_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    say("".join(traceback.format_exception(kind, error, trace)).rstrip("\n"))
