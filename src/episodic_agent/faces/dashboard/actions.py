"""What a form may do: one row an action, with the role its key needs and the words that say it is done."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request, Response

from episodic_agent.core.language import plural
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import EpisodicError, NotFound
from episodic_agent.faces.dashboard.forms import Form, Untrusted, form_of
from episodic_agent.faces.dashboard.pages import Notice, Pages, check_role, done, in_path, space_of, user_of
from episodic_agent.faces.dashboard.strength import erase_named
from episodic_agent.schemas.keys import Role
from episodic_agent.showing import clipped


@dataclass(frozen=True, slots=True)
class Correction:
    """What an action did; `back` is another page than the form named, `undo` what takes it back."""

    text: str
    undo: Mapping[str, str] | None = None
    back: str = ""


@dataclass(frozen=True, slots=True)
class UserAction:
    """A change of one user's memory."""

    run: Callable[[UserMemory, Form], Correction]
    role: Role = Role.WRITE


def _undo(thread: str) -> Mapping[str, str]:
    return {"action": "undo", "thread": thread}


def _rename_episode(ana: UserMemory, form: Form) -> Correction:
    before = ana.episodes.get(form.needed("episode"))
    episode = ana.episodes.rename(before.id, form.text("title"))
    undo = {"action": "rename-episode", "episode": str(episode.id), "title": before.title}
    return Correction(
        f"The episode is called “{clipped(episode.title)}” now.", undo if before.title else None
    )


def _rename_thread(ana: UserMemory, form: Form) -> Correction:
    thread = ana.threads.rename(form.needed("thread"), form.needed("title"))
    return Correction(f"The thread is called “{clipped(thread.title or '')}” now.")


def _cut(ana: UserMemory, form: Form) -> Correction:
    thread, seq = form.needed("thread"), form.number("seq")
    ana.boundaries.resegment(thread, cut=seq)
    return Correction(f"A new episode begins with message {seq}.", _undo(thread), _at(ana, form, thread, seq))


def _join(ana: UserMemory, form: Form) -> Correction:
    thread, seq = form.needed("thread"), form.number("seq")
    ana.boundaries.resegment(thread, join=seq)
    return Correction("The two episodes are one now.", _undo(thread), _at(ana, form, thread, seq))


def _resegment(ana: UserMemory, form: Form) -> Correction:
    thread, threshold = form.needed("thread"), form.needed("threshold")
    made = ana.boundaries.resegment(thread, f"default?threshold={threshold}")
    if not made.written:
        return Correction("This threshold makes the same episodes; nothing changed.")
    text = f"Segmented again: {made.kept} kept, {made.replaced} replaced, {made.new} new."
    back = f"/users/{in_path(ana.name)}/threads/{in_path(thread)}"
    return Correction(text, _undo(thread), back)


def _take_back(ana: UserMemory, form: Form) -> Correction:
    thread = form.needed("thread")
    undone = ana.boundaries.undo(thread)
    back = f"/users/{in_path(ana.name)}/threads/{in_path(thread)}"
    return Correction(f"Taken back: {plural(undone.restored, 'episode')} as before.", None, back)


def _at(ana: UserMemory, form: Form, thread: str, seq: int) -> str:
    """Return the page of the episode that holds a message now."""
    for card in reversed(ana.episodes.list(thread=thread)):
        episode = ana.boundaries.explain(card.episode_id).episode
        if episode.first_seq <= seq <= episode.last_seq:
            return f"/users/{in_path(ana.name)}/episodes/{card.episode_id}"
    return form.back


def _link(ana: UserMemory, form: Form) -> Correction:
    thread, other = form.needed("thread"), form.needed("other")
    ana.links.add(thread, other)
    return Correction("The two threads are linked.", {"action": "unlink", "thread": thread, "other": other})


def _unlink(ana: UserMemory, form: Form) -> Correction:
    thread, other = form.needed("thread"), form.needed("other")
    ana.links.remove(thread, other)
    text = "The link is taken back; the two stay apart."
    return Correction(text, {"action": "link", "thread": thread, "other": other})


def _unchain(ana: UserMemory, form: Form) -> Correction:
    refused = ana.chains.remove(form.needed("episode"), by="dashboard")
    undo = {"action": "chain", "episode": str(refused.child), "parent": str(refused.parent)}
    return Correction("The session goes on from nothing now.", undo)


def _chain(ana: UserMemory, form: Form) -> Correction:
    ana.chains.add(form.needed("episode"), form.needed("parent"))
    return Correction("The session goes on from the one before again.")


def _edit_fact(ana: UserMemory, form: Form) -> Correction:
    category = form.text("category") or None
    card = ana.facts.edit(form.needed("fact"), text=form.needed("text"), category=category)
    back = f"/users/{in_path(ana.name)}/facts/{card.id}"
    return Correction(f"The fact reads “{clipped(card.fact.fact)}” now.", None, back)


def _confirm_fact(ana: UserMemory, form: Form) -> Correction:
    return Correction(f"Confirmed: {clipped(ana.facts.confirm(form.needed('fact')).fact.fact)}")


def _pin_fact(ana: UserMemory, form: Form) -> Correction:
    pinned = form.text("pinned") != "no"
    ana.facts.pin(form.needed("fact"), pinned)
    return Correction("The fact is pinned." if pinned else "The fact is no longer pinned.")


def _delete_fact(ana: UserMemory, form: Form) -> Correction:
    card = ana.facts.delete(form.needed("fact"))
    text = f"Deleted: {clipped(card.fact.fact)}. The same words do not teach it again."
    return Correction(text, None, f"/users/{in_path(ana.name)}/facts")


def _named(form: Form) -> dict[str, Any]:
    """Return what a mark is put on, as the verbs take it: an episode, or a thread."""
    thread = form.text("thread")
    return {"thread": thread} if thread else {"episode_id": form.needed("episode")}


def _pin(ana: UserMemory, form: Form) -> Correction:
    ana.episodes.pin(**_named(form), reason=form.text("reason"))
    return Correction("Pinned: it does not fade and nothing lets it go.", {**form.fields, "action": "unpin"})


def _unpin(ana: UserMemory, form: Form) -> Correction:
    ana.episodes.unpin(**_named(form))
    return Correction("The pin is off.")


def _suppress(ana: UserMemory, form: Form) -> Correction:
    undo = {**form.fields, "action": "unsuppress"}
    if words := form.text("words"):
        marked = ana.episodes.suppress(words=words, reason=form.text("reason"))
        count = plural(marked.messages or 0, "message holds", "messages hold")
        held = f"{count} it now" + (f" ({marked.note})." if marked.note else ".")
        return Correction(f"What holds “{clipped(words)}” is kept, but shown no more. {held}", undo)
    ana.episodes.suppress(**_named(form), reason=form.text("reason"))
    return Correction("It is kept, but no answer and no prompt shows it any more.", undo)


def _unsuppress(ana: UserMemory, form: Form) -> Correction:
    words = form.text("words")
    there = ana.episodes.unsuppress(words=words) if words else ana.episodes.unsuppress(**_named(form))
    return Correction("It is shown again." if there else "It was not suppressed.")


def _flush(ana: UserMemory, form: Form) -> Correction:
    closed = ana.flush(thread=form.text("thread") or None)
    return Correction(f"{plural(closed, 'open episode')} closed.", None, f"/users/{in_path(ana.name)}")


def _add(ana: UserMemory, form: Form) -> Correction:
    ana.add(form.needed("text"), thread=form.text("thread") or None)
    return Correction("Remembered.", None, f"/users/{in_path(ana.name)}")


def _erase(ana: UserMemory, form: Form) -> Correction:
    what = form.needed("what")
    receipt = erase_named(ana, what, form.text("name"))
    counts = ", ".join(f"{number} {kind}" for kind, number in receipt.counts.items() if number)
    back = "/receipts" if what == "everything" else f"/users/{in_path(ana.name)}/strength"
    return Correction(f"Erased: {counts or 'nothing'}. Receipt {receipt.id}.", None, back)


ACTIONS: Final[Mapping[str, UserAction]] = {
    "rename-episode": UserAction(_rename_episode),
    "rename-thread": UserAction(_rename_thread),
    "cut": UserAction(_cut),
    "join": UserAction(_join),
    "resegment": UserAction(_resegment),
    "undo": UserAction(_take_back),
    "link": UserAction(_link),
    "unlink": UserAction(_unlink),
    "chain": UserAction(_chain),
    "unchain": UserAction(_unchain),
    "edit-fact": UserAction(_edit_fact),
    "confirm-fact": UserAction(_confirm_fact),
    "pin-fact": UserAction(_pin_fact),
    "delete-fact": UserAction(_delete_fact),
    "pin": UserAction(_pin),
    "unpin": UserAction(_unpin),
    "suppress": UserAction(_suppress),
    "unsuppress": UserAction(_unsuppress),
    "flush": UserAction(_flush),
    "add": UserAction(_add),
    "erase": UserAction(_erase, Role.ADMIN),
}


def _retry(memory: Memory, form: Form) -> str:
    entry = memory.jobs.retry(form.needed("job"))
    return f"The job ({entry.kind}) is due again, with all its attempts."


def _retry_all(memory: Memory, form: Form) -> str:
    return f"{plural(memory.jobs.retry_dead(), 'job')} will be tried again."


def _cancel(memory: Memory, form: Form) -> str:
    return f"The job ({memory.jobs.cancel(form.needed('job')).kind}) is cancelled."


def _run(memory: Memory, form: Form) -> str:
    return f"{plural(memory.jobs.run(), 'job')} ran."


JOB_ACTIONS: Final[Mapping[str, Callable[[Memory, Form], str]]] = {
    "retry": _retry,
    "retry-all": _retry_all,
    "cancel": _cancel,
    "run": _run,
}


def routes(pages: Pages) -> APIRouter:
    """Return the routes that change something."""
    router = pages.router()

    @router.post("/users/{user}/do/{action}")
    def act(request: Request, user: str, action: str, form: Annotated[Form, Depends(form_of)]) -> Response:
        """Do what a form asks for, and go back to where it stood with what was done, or what was wrong."""
        if action not in ACTIONS:
            return pages.wrong(request, NotFound("there is no such action"))
        try:
            _, ana = user_of(request, user)
            check_role(request, ACTIONS[action].role)
            outcome = ACTIONS[action].run(ana, form)
        except Untrusted:
            raise
        except EpisodicError as error:
            return done(request, form.back, Notice(str(error), "wrong"))
        return done(request, outcome.back or form.back, Notice(outcome.text, undo=outcome.undo))

    @router.post("/jobs/do/{action}")
    def act_on_jobs(request: Request, action: str, form: Annotated[Form, Depends(form_of)]) -> Response:
        """Retry, cancel or run later work."""
        if action not in JOB_ACTIONS:
            return pages.wrong(request, NotFound("there is no such action"))
        try:
            check_role(request, Role.ADMIN)
            text = JOB_ACTIONS[action](space_of(request), form)
        except EpisodicError as error:
            return done(request, "/jobs", Notice(str(error), "wrong"))
        return done(request, "/jobs", Notice(text))

    return router
