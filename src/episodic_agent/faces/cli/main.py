"""The command group: options that stand anywhere, the list of commands, and where errors become exit codes.

Exit codes: 0 done, 1 an internal error, 2 bad input or usage, 3 not found, 4 conflict, 5 the store,
6 an embedder or model, 130 interrupted.
"""

import atexit
import difflib
import gc
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from types import TracebackType
from typing import Any, Final

import click
from click.core import ParameterSource

from episodic_agent import __version__
from episodic_agent.errors import EpisodicError, InvalidInput
from episodic_agent.faces.cli.saying import listen, say, say_error
from episodic_agent.lazily import load

INTERRUPTED = 130
YOUNG: Final = 100_000  # new objects between two searches for garbage (Python: 700)
EVERYDAY: Final = "Everyday"
EXIT_CODES: Final = (
    "0 done, 1 an internal error or a broken memory, 2 bad input or usage, 3 not found, 4 conflict, 5 the "
    "store, 6 an embedder or model, 130 interrupted."
)
OPTIONS_ANYWHERE: Final = "The options of `episodic --help` may stand here too: --db, --embedder, --debug …"
# What may stand before a command and after it: the name of its value, if it has one, and what it is.
SHARED: Final[Mapping[str, tuple[str | None, str]]] = {
    "--db": ("FILE|URL", "The memory (default: EPISODIC_DB or ./episodic.db)."),
    "--user": ("NAME", "Whose memory (default: EPISODIC_USER, or the only user there is)."),
    "--json": (None, "Print one JSON object for scripts."),
    "--policy": ("NAME", "Boundary policy for new threads (default: `default`)."),
    "--embedder": (
        "NAME",
        "auto, minilm, minilm-int8, hf:OWNER/MODEL, a folder, openai:MODEL, hashing or none (default: auto).",
    ),
    "--calibration": ("FILE", "Of another embedder: auto, none or a file (default: auto)."),
    "--llm": ("NAME", "Language model: openai:MODEL or none (default: none)."),
    "--debug": (None, "Show a traceback on errors."),
}
# Those that say how the memory is opened, with the fields of `App`; the others are arguments of commands.
OF_OPENING: Final = {name: name[2:] for name in SHARED if name not in ("--user", "--json")}
# Where each command is, and the first sentence of its help: what lists them imports none of them. A test
# holds each sentence to what the command itself says.
COMMANDS: Final[Mapping[str, str]] = {
    "writing.init": "Create the memory file and fetch the embedding model, if need be.",
    "writing.add": "Remember one message; the TEXT `-` is read from standard input.",
    "writing.import_": "Import conversations: a file, a folder or a zip; the path `-` is standard input.",
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
        "Show or change one thread; it is called by its name or title as `threads` lists them, or by its id."
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
    "links.people": "List who speaks here, and say which names are one person's or are not.",
    "facts.facts": "List facts, what lasts of what people said; subcommands find and correct them.",
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
    "boundaries.rename": "Give a closed EPISODE a title by hand; the titles before are kept.",
    "boundaries.decisions": (
        "List what was decided: boundaries, links, facts, corrections; the newest last."
    ),
    "plots.plot": "Plot the cues, probabilities, thresholds and cuts of THREAD (`stats` names them).",
    "boundaries.trace": "Show what was done for one turn: work and its times, decisions, calls of models.",
    "plots.map_": "Map the places of an agent's steps, with episodes, visits and moves.",
    "writing.flush": "Close the open frames now, so that they become episodes.",
    "writing.upkeep": "Close threads that have been silent for long, and run the work that waits.",
    "jobs.worker": "Do later work (titles, summaries, questions, silent threads) until told to stop.",
    "jobs.jobs": "See later work, try it again, cancel it.",
    "serving.serve": "Answer over HTTP (`/v1`, `/docs`) until told to stop; needs the extra `serve`.",
    "admin.keys": "Make, list, rotate and revoke the keys of the HTTP service.",
    "serving.mcp": (
        "Give an agent the memory as MCP tools, on standard input and output; needs the extra `mcp`."
    ),
    "serving.hooks": "Let a coding agent remember by itself: write its hooks, show them, undo them.",
    "reading.stats": "Count what the memory holds.",
    "reading.audit": "List who did what to a user's memory, the newest first; never what was said.",
    "reading.changes": "List what the memory took in, learned and let go lately, the oldest first.",
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
        "Show what a memory does, on bundled conversations: episodes, answers, facts, a prompt's context."
    ),
    "evaluate.evaluate": "Score the engine on labelled data.",
    "evaluate.calibrate": "Fit another embedder's scale of cosines, for boundaries, recall and confidence.",
    "admin.models": "Fetch and list embedding models.",
    "admin.config": "Show the settings in force, each by the name of the variable that sets it.",
    "admin.admin": "Look after a PostgreSQL database (with an administrator's URL).",
}
# The order and the headings of `episodic --help`; a test asks that each command stands under one of them.
GROUPS: Final[Mapping[str, str]] = {
    "Everyday": "add import search context episodes facts explain serve doctor",
    "Threads and sessions": "threads thread session summaries compact flush",
    "Links and chains": "link chain arc sequence replay tune",
    "Episodes and recall": "recent show rename retrieve changes audit decisions stats trace",
    "Boundaries": "whatif resegment reencode plot",
    "Skills and people": "skills skill people",
    "Agents and places": "run profiles sensors places visits route map mcp hooks",
    "Forgetting and retention": "forget retention pin unpin pinned suppress unsuppress suppressed",
    "Later work and its cost": "upkeep worker jobs usage",
    "Set up and keep": "init config models export backup keys admin",
    "Measure": "demo evaluate calibrate",
}
# What people type whose letters are like no command's that does it.
MEANT: Final[Mapping[str, str]] = {
    "timeline": "recent episodes",
    "history": "recent changes",
    "log": "recent changes",
    "why": "explain",
    "list": "recent threads facts",
    "ls": "recent threads facts",
    "ask": "search",
    "find": "search",
    "query": "search",
    "recall": "search",
    "remember": "add",
    "write": "add",
    "delete": "forget",
    "remove": "forget",
    "erase": "forget",
    "check": "doctor",
    "status": "stats",
}
HELPS: Final = {place.partition(".")[2].rstrip("_"): sentence for place, sentence in COMMANDS.items()}


class Commands(MutableMapping[str, click.Command]):
    """The commands by name, each imported when it is asked for: together they take longer than most need."""

    def __init__(self, places: Iterable[str]) -> None:
        self._places = {place.partition(".")[2].rstrip("_"): place for place in places}

    def __getitem__(self, name: str) -> click.Command:
        module, _, attribute = self._places[name].partition(".")
        command: click.Command = getattr(load(f"episodic_agent.faces.cli.{module}"), attribute)
        return taking_shared(command)

    def __setitem__(self, name: str, command: click.Command) -> None:
        raise TypeError(f"add {name!r} to COMMANDS")

    def __delitem__(self, name: str) -> None:
        del self._places[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class CommandIndex(click.Group):
    """A group that lists its commands by their first sentences, under headings, and imports none for it."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader of our output who goes away (`| head`) has read enough."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would leave with 1, the code of an internal error
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what waits to be written
            ctx.exit(0)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; who types another word for one is told which there is."""
        if args[0] in MEANT and args[0] not in self.commands:
            names = ", ".join(map(repr, MEANT[args[0]].split()))
            ctx.fail(f"No such command {args[0]!r}. Did you mean one of: {names}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the everyday commands with all that their first sentences say, the others in a line each."""
        widest = max(map(len, HELPS))
        limit = formatter.width - 6 - widest
        for heading, names in GROUPS.items():
            rows = [
                (f"{name:{widest}}", HELPS[name] if heading == EVERYDAY else brief(HELPS[name], limit))
                for name in names.split()
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what holds for all commands."""
        with formatter.section("Exit codes"):
            formatter.write_text(EXIT_CODES)


def brief(sentence: str, limit: int) -> str:
    """Return a sentence without its last clauses and what stands in brackets, where it is too long.

    >>> brief("Copy the whole memory to FILE, verified, while others may write.", 45)
    'Copy the whole memory to FILE, verified.'
    """
    if len(sentence) <= limit:
        return sentence
    text = re.sub(r" \([^)]*\)", "", sentence).rstrip(".")
    while len(text) >= limit and (clauses := re.match(r"(.+)[;:] ", text) or re.match(r"(.+), ", text)):
        text = clauses[1]
    return f"{text}." if len(text) < limit else click.Command("", help=sentence).get_short_help_str(limit)


def _remember(context: click.Context, option: click.Parameter, value: Any) -> None:
    """Keep what was given before or between the names of commands, or after them, for the whole call."""
    if context.get_parameter_source(option.name or "") is not ParameterSource.COMMANDLINE:
        return
    name = option.opts[0]
    context.meta[name] = value
    app = context.find_root().obj
    if app is not None and name in OF_OPENING:  # it was made when the options before were read
        setattr(app, OF_OPENING[name], value)


def _refuse(context: click.Context, option: click.Parameter, value: Any) -> None:
    """Refuse what means nothing to a command, wherever it stands: it would be dropped in silence."""
    if value or option.opts[0] in context.meta:
        raise click.UsageError(f"`{context.command_path}` takes no {option.opts[0]}; leave it out")


def _shared(*, shown: bool) -> list[click.Option]:
    """Return the options that may stand before and after every command."""
    return [
        click.Option(
            (name, f"anywhere_{name[2:]}"),  # a name that no command's own argument has
            is_flag=metavar is None,
            metavar=metavar,
            help=text,
            hidden=not shown,
            expose_value=False,
            callback=_remember,
        )
        for name, (metavar, text) in SHARED.items()
    ]


def taking_shared(command: click.Command) -> click.Command:
    """Let a command, and those of a group, take the shared options that they do not have themselves."""
    own = {name for parameter in command.params for name in parameter.opts}
    group = isinstance(command, click.Group)
    for option in _shared(shown=False):
        name = option.opts[0]
        if name in own:
            continue
        if name not in OF_OPENING and not group:
            option.callback = _refuse
        command.params.append(option)
    command.epilog = None if group else OPTIONS_ANYWHERE
    if isinstance(command, click.Group):
        for name in command.commands:
            taking_shared(command.commands[name])
    return command


@click.group(
    cls=CommandIndex,
    commands=Commands(COMMANDS),
    params=_shared(shown=True),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="episodic")
@click.pass_context
def cli(context: click.Context) -> None:
    """Episodic memory for AI agents: import, segment, recall, explain.

    The options below may stand before a command or after it; `episodic COMMAND --help` shows its own.
    """
    # by now the command has imported it
    options = {field: context.meta[name] for name, field in OF_OPENING.items() if name in context.meta}
    context.obj = load("episodic_agent.faces.cli.app").App(**options)


def main(arguments: "list[str] | None" = None) -> None:
    """Run the command and leave with its exit code; errors are one line with the remedy."""
    values = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in values
    _open_what_is_closed()
    listen()
    if arguments is None:  # the process is ours
        # of what nobody foresaw; Python then leaves with code 1
        sys.excepthook = _print_traceback if debug else _one_line
        _look_for_garbage_seldom()
    try:
        cli.main(values, prog_name="episodic", standalone_mode=False)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.exceptions.NoArgsIsHelpError as nothing:  # who asks for nothing is shown what there is
        say(nothing.format_message())
        sys.exit(nothing.exit_code)
    except (KeyboardInterrupt, click.Abort):
        say("interrupted; everything acknowledged is kept")
        sys.exit(INTERRUPTED)
    except (click.ClickException, EpisodicError, OSError) as error:
        if debug and not isinstance(error, click.ClickException):
            raise
        say_error(_problem(error))
        sys.exit(getattr(error, "exit_code", InvalidInput.exit_code))


def _look_for_garbage_seldom() -> None:
    """Spare a command a fifth of its time: it ends before it has made cycles worth a search.

    What serves or imports for hours still collects, the young after as many new objects. At the end the
    system takes all memory back, and a last search of what was loaded would find nothing to close.
    """
    gc.set_threshold(YOUNG)
    atexit.register(gc.freeze)


def _open_what_is_closed() -> None:
    """Stand in for standard streams that whoever started us has closed: Python has None in their places."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _problem(error: Exception) -> str:
    """Return what went wrong; an OSError is a file the user named, or a disk that is full."""
    if isinstance(error, click.ClickException):
        return _usage(error)
    if isinstance(error, OSError):
        reason = error.strerror or error
        return f"{error.filename}: {reason}" if error.filename else f"{reason}; check the disk and the output"
    return str(error)


_ALIKE: Final = 0.7  # of two options' names, from which one may be a slip of the other
_FEW: Final = 3  # options that one call may have meant
_WORDS: Final = re.compile(r"\w+")

# What click says as programmers do, for people.
_PLAINLY: Final = {
    r" is not a valid integer( range)?$": " is no whole number",
    r" is not a valid float( range)?$": " is no number",
    r" is not in the range (-?[\d.]+)<=x<=(-?[\d.]+)$": r" does not lie from \1 to \2",
    r" does not match the format '%Y-%m-%d'$": " is no day; write it as 2026-03-01",
    r"^got unexpected extra arguments? \((.*)\)$": r"unexpected extra argument '\1'",
    r" is not in the range x>=(-?[\d.]+)$": r" is less than \1",
    r"(?s)\. Choose from:.*": "",  # its name lists them
}


def _usage(error: click.ClickException) -> str:
    """Return what is wrong with a call as one line that ends with where the right way stands."""
    text = error.format_message().strip().rstrip(".")
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        text = f"no such option {error.option_name!r}"
        text += _options_like(error.option_name, error.ctx.command)
    text = text[:1].lower() + text[1:]
    for form, plainly in _PLAINLY.items():
        text = re.sub(form, plainly, text)
    if guess := re.fullmatch(r"(.*?)\.? \(?Did you mean (?:one of: )?(.*)\?\)?", text):
        text = f"{guess[1]}; did you mean {guess[2].replace(', ', ' or ')}?"
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return text
    if "unexpected extra" in text and any(one.name == "output" for one in context.command.params):
        text += "; a file to write is named with --output"
    return f"{text}{'' if text.endswith('?') else ';'} `{context.command_path} --help` shows what there is"


def _options_like(name: str, command: click.Command) -> str:
    """Return which options of a command may be meant by one it has not: alike, or told of by that word."""
    known = {
        option.opts[-1]: option.help or ""
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden
    }
    word = name.lstrip("-").casefold()
    alike = difflib.get_close_matches(word, [one.lstrip("-") for one in known], cutoff=_ALIKE)
    meant = [f"'--{one}'" for one in alike]
    if not meant:
        forms = {word, word.removesuffix("s"), f"{word}s"}
        of_it = [one for one, text in known.items() if forms & set(_WORDS.findall(text.casefold()))]
        meant = [f"{one!r} ({known[one].rstrip('.')})" for one in of_it]
    return f"; did you mean {' or '.join(meant)}?" if 0 < len(meant) <= _FEW else ""


def _one_line(kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    say_error(f"{kind.__name__}: {error} (a fault of this program; --debug shows where)")


def _print_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    say("".join(traceback.format_exception(kind, error, trace)).rstrip("\n"))
