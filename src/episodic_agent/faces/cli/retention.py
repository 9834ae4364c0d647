"""Commands of what stays: pin, suppress, retention and forget."""

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from string import hexdigits
from typing import Any, Final
from uuid import UUID

import click
from rich.text import Text

from episodic_agent.core.language import plural
from episodic_agent.engine.user import UserMemory
from episodic_agent.engine.visibility.verbs import LetGo, Marked, RetentionState
from episodic_agent.errors import InvalidInput
from episodic_agent.faces import wording
from episodic_agent.faces.cli.app import (
    ID,
    App,
    Listing,
    common,
    everybody,
    make_sure,
    moment,
    out,
    parse_id,
    print_json,
    say,
    table,
    with_json,
)
from episodic_agent.schemas import Observation
from episodic_agent.schemas.erasures import Erasure
from episodic_agent.showing import clipped, plain

_FEW_DIGITS: Final = 8  # of a text that is looked for: an id has 32
NAMED = 5  # messages that hold the same words
EXCERPT = 64  # characters of each that are shown,
BEFORE = 16  # and how many at least before the words that were looked for

NOBODY = "nobody"  # whose database is searched where no user is left


def _about(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command an EPISODE, or a thread in its place."""
    episode = click.argument("episode", required=False)
    thread = click.option("--thread", metavar="NAME", help="A whole thread, with what is still to come.")
    return episode(thread(function))


def _meant(memory: UserMemory, episode: str | None, thread: str | None) -> dict[str, Any]:
    identity = None if episode is None else parse_id(episode, memory)
    return {"episode_id": identity, "thread": thread}


@click.command()
@_about
@click.option("--reason", default="", help="Why, for later readers.")
@common
def pin(app: App, episode: str | None, thread: str | None, reason: str) -> None:
    """Pin an EPISODE: no policy lets it go, and it does not fade."""
    with app.user() as memory:
        marked = memory.episodes.pin(**_meant(memory, episode, thread), reason=reason)
    _tell(app, marked)


@click.command()
@_about
@common
def unpin(app: App, episode: str | None, thread: str | None) -> None:
    """Take the pin off an EPISODE."""
    with app.user() as memory:
        taken = memory.episodes.unpin(**_meant(memory, episode, thread))
    _tell_taken(app, "unpinned", taken)


@click.command()
@common
def pinned(app: App) -> None:
    """List what is pinned."""
    with app.user() as memory:
        markeds = memory.episodes.pinned()
    _list(app, "pinned", markeds)


@click.command()
@_about
@click.option("--words", help="Whatever holds these words, whole and in any case.")
@click.option("--reason", default="", help="Why, for later readers.")
@common
def suppress(app: App, episode: str | None, thread: str | None, words: str | None, reason: str) -> None:
    """Keep an EPISODE, but show it no more."""
    with app.user() as memory:
        marked = memory.episodes.suppress(**_meant(memory, episode, thread), words=words, reason=reason)
    _tell(app, marked)


@click.command()
@_about
@click.option("--words", help="Words on the list.")
@common
def unsuppress(app: App, episode: str | None, thread: str | None, words: str | None) -> None:
    """Show an EPISODE again."""
    with app.user() as memory:
        taken = memory.episodes.unsuppress(**_meant(memory, episode, thread), words=words)
    _tell_taken(app, "unsuppressed", taken)


@click.command()
@common
def suppressed(app: App) -> None:
    """List what is suppressed, with reasons and times."""
    with app.user() as memory:
        markeds = memory.episodes.suppressed()
    _list(app, "suppressed", markeds)


@click.group(cls=Listing)
def retention() -> None:
    """Say what is put away and erased with time, and see it beforehand."""


@retention.command("show")
@common
def show_retention(app: App) -> None:
    """Show the policy and what it has put away."""
    with app.user() as memory:
        state = memory.retention.get()
    _print_state(app, state)


@retention.command("set")
@click.argument("policy", required=False)
@click.option("--default", "as_setting", is_flag=True, help="Go back to EPISODIC_RETENTION.")
@common
def set_retention(app: App, policy: str | None, as_setting: bool) -> None:
    """Set the POLICY: rules such as `age=365d,strength=0.2,count=10000,grace=30d,keep=facts`, or `none`."""
    if (policy is None) != as_setting:
        raise InvalidInput("give a policy, or --default")
    with app.user(create=True) as memory:
        state = memory.retention.set(policy)
    _print_state(app, state)


@retention.command("preview")
@click.option("--policy", metavar="RULES", help="What these rules would do (default: those that are set).")
@click.option("--now", type=moment, help="As if it were this time.")
@common
def preview_retention(app: App, policy: str | None, now: datetime | None) -> None:
    """Show what would be put away or erased, and why; nothing is written."""
    with app.user() as memory:
        releaseds = memory.retention.preview(policy, now=now)
    if not app.answered({"episodes": releaseds}, releaseds, "nothing would go"):
        _print_plan(releaseds)


@retention.command("apply")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def apply_retention(app: App, yes: bool) -> None:
    """Do now what upkeep does bit by bit."""
    with app.user() as memory:
        going = [one for one in memory.retention.preview() if one.action == "erase"]
        if going and not yes and not sys.stdin.isatty():
            raise InvalidInput(f"{plural(len(going), 'episode')} would be erased for good; say so with --yes")
        if going and not yes:
            make_sure(f"{plural(len(going), 'episode is', 'episodes are')} erased for good. Go on?")
        done = memory.retention.apply()
    if app.as_json:
        print_json(done)
    else:
        text = f"{plural(done.archived, 'episode')} archived, {done.returned} returned, {done.erased} erased"
        say(f"{text}; {plural(done.expired, 'expired message')} erased")


def _tell(app: App, marked: Marked) -> None:
    if app.as_json:
        print_json(marked)
    else:
        say(f"{marked.kind}: {_what(marked)}")
        if marked.messages:
            say(f"{plural(marked.messages, 'message holds', 'messages hold')} them now")
        if marked.note:
            say(marked.note)


def _tell_taken(app: App, verb: str, taken: bool) -> None:
    if app.as_json:
        print_json({verb: taken})
    else:
        say(verb if taken else "it was not on the list")


def _what(marked: Marked) -> str:
    if marked.words:
        return f"the words {marked.words!r}"
    if marked.last_seq is None:
        return f"thread {marked.thread}"
    named = ", ".join(str(one)[:ID] for one in marked.episodes) or "the open frame"
    return f"{marked.title} ({named}, thread {marked.thread})"


def _list(app: App, kind: str, markeds: Sequence[Marked]) -> None:
    if app.answered({kind: markeds}, markeds, f"nothing is {kind}"):
        return
    listed = table("what", "since", "reason")
    for marked in markeds:
        listed.add_row(Text(_what(marked)), f"{marked.at:%Y-%m-%d %H:%M}", Text(marked.reason))
    out().print(listed)


def _print_state(app: App, state: RetentionState) -> None:
    if app.as_json:
        print_json(state)
        return
    whose = "own" if state.own else "EPISODIC_RETENTION"
    console = out()
    lets_go = "nothing goes with time" if state.policy == "none" else state.policy
    console.print(Text(f"{lets_go} ({whose})"))
    console.print(
        f"{state.archived} archived, {state.pinned} pinned, "
        f"{plural(state.expiring, 'message expires', 'messages expire')}"
    )


def _print_plan(releaseds: Sequence[LetGo]) -> None:
    listed = table("action", "when", "episode", "ended", "why", "facts", "title")
    for released in releaseds:
        when = "" if released.at is None else f"{released.at:%Y-%m-%d}"
        ended = f"{released.end_at:%Y-%m-%d}"
        listed.add_row(
            released.action,
            when,
            str(released.episode_id)[:ID],
            ended,
            released.reason,
            str(released.facts or ""),
            Text(released.title),
        )
    out().print(listed)
    if any(one.action != "return" for one in releaseds):
        say("an archived episode keeps all, its facts too; erasing takes the messages they rest on")
    if any(one.facts for one in releaseds):
        say("facts that hold would go with them; the rule keep=facts keeps the episodes that tell them")


class Erasing(click.Group):
    """A group whose commands are what is erased: `--thread X` is meant for `thread X`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Name the command where it is given as an option; nothing is erased on a guess."""
        name = args[0].partition("=")[0].removeprefix("--") if args else ""
        if name in self.commands and args[0].startswith("--"):
            hint = f"no such option '--{name}'; `episodic forget {name}` erases by {name}"
            raise click.UsageError(hint, ctx)
        return super().parse_args(ctx, args)


@click.group(cls=Erasing)
def forget() -> None:
    """Erase for good; what was made of it is made again without it."""


def erasing(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of those that erase."""
    dry = click.option("--dry-run", is_flag=True, help="Only count what would go; write nothing.")
    yes = click.option("--yes", is_flag=True, help="Do not ask.")
    later = click.option("--later", is_flag=True, help="Leave cleaning the file to `upkeep`.")
    return dry(yes(later(common(function))))


@forget.command("observation")
@click.argument("id")
@erasing
def forget_observation(app: App, id: str, **options: Any) -> None:
    """Erase one message or step by its ID: as `show --json` prints it, or the one it was added with."""
    _erase(app, {"observation": id}, f"observation {id}", options)


@forget.command("episode")
@click.argument("id")
@erasing
def forget_episode(app: App, id: str, **options: Any) -> None:
    """Erase an episode with all of its messages, by its ID or the beginning of one."""
    with app.user() as memory:
        identifier = parse_id(id, memory)
    _erase(app, {"episode": identifier}, f"episode {identifier}", options)


@forget.command("thread")
@click.argument("name")
@erasing
def forget_thread(app: App, name: str, **options: Any) -> None:
    """Erase a thread with everything in it, by its name, or the title that it alone has."""
    _erase(app, {"thread": name}, f"thread {name!r}", options)


@forget.command("speaker")
@click.argument("name")
@erasing
def forget_speaker(app: App, name: str, **options: Any) -> None:
    """Erase every message that one person wrote, in whatever thread; what others say of them stays."""
    _erase(app, {"speaker": name}, f"everything {name} said", options)


@forget.command("words")
@click.argument("words")
@erasing
def forget_words(app: App, words: str, **options: Any) -> None:
    """Erase every message that holds these WORDS, whole and in capitals or not, whoever wrote it."""
    _erase(app, {"words": words}, f"every message that holds {words!r}", options)


@forget.command("user")
@click.argument("name")
@click.option("--dry-run", is_flag=True, help="Only count what would go; write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--later", is_flag=True, help="Leave cleaning the file to `upkeep`.")
@with_json
@click.pass_obj
def forget_user(app: App, /, name: str, **options: Any) -> None:
    """Erase everything of a user, who must be named."""
    app.user_name = name
    _erase(app, {"everything": True}, f"everything of user {name!r}", options)


@forget.command()
@common
def receipts(app: App) -> None:
    """List what was erased in this space, or of one user, oldest first."""
    with app.memory() as memory:
        erasures = memory.erasures() if app.user_name is None else memory.user(app.user_name).erasures.list()
    if app.answered({"receipts": erasures}, erasures, "nothing was erased"):
        return
    listed = table("receipt", "at", "what", "reason", "state", "residue", "counts")
    listed.columns[0].no_wrap = True
    for erasure in erasures:
        residue = "" if erasure.residue is None else str(erasure.residue)
        when = f"{erasure.at:%Y-%m-%d %H:%M}"
        listed.add_row(
            str(erasure.id),
            when,
            erasure.what.value,
            erasure.reason,
            erasure.state,
            residue,
            wording.erased_words(erasure.counts),
        )
    out().print(listed)
    for remains in dict.fromkeys(one.remains for one in erasures if one.remains):
        out().print(f"bytes may stay: {remains}", markup=False)


@forget.command()
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@common
def check(app: App, texts: tuple[str, ...]) -> None:
    """Look for texts, in capitals or not; exit code 1 when one is found apart from messages that are kept.

    Messages that hold one are counted and named, with what they say there: everybody's, without --user.
    """
    with app.memory() as engine:
        # it is asked for most when everybody was erased: then there is nobody whose memory it could be
        owners = everybody(engine, NOBODY) if app.user_name is None else [app.user_name]
        memories = {name: app.asked(engine.user(name, new=app.user_name is None)) for name in owners}
        # a file is searched as one; on a server each user's rows are
        searched = [*memories.values()] if app.on_server else [*memories.values()][:1]
        left = {text for memory in searched for text in memory.erasures.residue(texts)}
        results = [text for text in texts if text in left]
        repeats = {
            message.id: (name, message)
            for name, memory in memories.items()
            for message in memory.erasures.repeats(texts)
        }
    if app.as_json:
        print_json(
            {
                "found": results,
                "clean": not results,
                "repeated_by": list(repeats),
                "kept": [
                    {"id": message.id, "user": name, "excerpt": _excerpt(message, texts)}
                    for name, message in repeats.values()
                ],
            }
        )
    else:
        for text in results:
            out().print(f"still there: {text}{_perhaps_of_an_id(text)}", markup=False)
        if results:
            out().print(f"{len(results)} of {len(texts)} are still there")
        elif repeats:
            out().print("nothing of it is left apart from messages that are kept")
        else:
            out().print("nothing of it is left")
        if repeats:
            out().print(f"kept messages that hold it: {len(repeats):,}")
        for name, message in [*repeats.values()][:NAMED]:
            whose = f" of {name}" if len(memories) > 1 else ""
            spoken = f"{message.at:%Y-%m-%d} {message.actor}: {_excerpt(message, texts)}"
            out().print(f"  {message.id}{whose}  {spoken}", markup=False, soft_wrap=True)
        if len(repeats) > NAMED:
            out().print("  …")
    if results:
        sys.exit(1)


def _erase(app: App, what: Mapping[str, Any], text: str, arguments: Mapping[str, Any]) -> None:
    with app.user() as memory:
        preview = memory.erase(**what, dry_run=True)
        beside = f"{_pins(preview)}{_repeats(preview)}"
        if arguments["dry_run"]:
            would = f"{text} would go: {wording.erased_words(preview.counts)}{beside}"
            _tell_erasure(app, preview, would)
            return
        if not arguments["yes"]:
            _confirm(text, preview, beside)
        done = memory.erase(**what, sweep=not arguments["later"])
    gone = f"{text} is erased: {wording.erased_words(done.counts)}\n{_state(done)}{_repeats(done)}"
    _tell_erasure(app, done, gone)


def _confirm(text: str, preview: Erasure, beside: str) -> None:
    if not sys.stdin.isatty():
        raise InvalidInput(f"{text} would be erased for good; say so with --yes, or look with --dry-run")
    asked = f"Erase {text} for good ({wording.erased_words(preview.counts)})?{beside}"
    make_sure(asked)


def _tell_erasure(app: App, erasure: Erasure, text: str) -> None:
    if app.as_json:
        print_json({**plain(erasure), "done": erasure.is_done})
    else:
        out().print(text)


def _state(erasure: Erasure) -> str:
    left = "" if erasure.residue is None else f", residue {erasure.residue}"
    if not erasure.is_done:
        why = erasure.waits_for or "the file is not cleaned yet"
        remedy = "" if "`episodic" in why else "; `episodic upkeep` completes it"
        return f"receipt {erasure.id}: pending{left}, {why}{remedy}{_remains(erasure)}"
    return f"receipt {erasure.id}: done{left} ({erasure.measures}){_remains(erasure)}"


def _remains(erasure: Erasure) -> str:
    return f"\nbytes may stay: {erasure.remains}" if erasure.remains else ""


def _repeats(erasure: Erasure) -> str:
    """Say who has a like name, and which messages that stay hold the same words; "" where there is none."""
    went = f"\nsaid as {', '.join(map(repr, erasure.names))}" if len(erasure.names) > 1 else ""
    near = [f"{name!r}: {plural(count, 'message')}" for name, count in erasure.near_names.items()]
    named = went + (f"\nkept, of like names: {', '.join(near)}" if near else "")
    if not erasure.repeated_by:
        return named
    count = plural(len(erasure.repeated_by), "message")
    return f"{named}\nkept, though they hold the same words: {count} ({_ids(erasure.repeated_by)})"


def _excerpt(message: Observation, texts: Sequence[str]) -> str:
    """Return what a message says around the first of some texts, on one line."""
    line, small = " ".join(message.text.split()), [" ".join(text.split()).lower() for text in texts]
    start = min((place for one in small if (place := line.lower().find(one)) >= 0), default=0)
    left = line.rfind(" ", 0, max(start - BEFORE, 0)) + 1
    return f"{'…' if left else ''}{clipped(line[left:], EXCERPT)}"


def _ids(observations: Sequence[UUID]) -> str:
    more = ", …" if len(observations) > NAMED else ""
    return ", ".join(str(one) for one in observations[:NAMED]) + more


def _pins(preview: Erasure) -> str:
    """Say that what would go is pinned, "" where it is not."""
    return "\nit is pinned: no rule erases it, but this does" if preview.counts.get("pins") else ""


def _perhaps_of_an_id(text: str) -> str:
    """Return a remark on a text so short that an id may hold it: the file is searched byte by byte.

    >>> _perhaps_of_an_id("4417"), _perhaps_of_an_id("Odile")
    (' (so few digits may be part of an id or a time)', '')
    """
    few = len(text) <= _FEW_DIGITS and set(text.lower()) <= set(hexdigits)
    return " (so few digits may be part of an id or a time)" if few else ""
