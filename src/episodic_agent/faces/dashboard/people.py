"""The first page, whose memories there are; and a user's timeline."""

from fastapi import APIRouter, Request, Response

from episodic_agent.engine.lived import as_lived, lived_at
from episodic_agent.faces.dashboard.door import LIVE
from episodic_agent.faces.dashboard.figures import compact_timeline
from episodic_agent.faces.dashboard.pages import HERE, Pages, ThreadHues, data, space_of, user_of
from episodic_agent.faces.dashboard.wording import clock_seconds
from episodic_agent.faces.http.v1.events import EVERYTHING, event_stream
from episodic_agent.showing import visible

USERS: int = 60  # of a page
NEWEST: int = 24  # episodes of the first view of a timeline
TITLED: int = 5000  # threads whose titles the timeline draws; of more each has its name
MESSAGES: int = 400  # of an episode, drawn on a timeline
_KINDS = {"dashboard.css": "text/css", "dashboard.js": "text/javascript", "timeline.js": "text/javascript",
          "icon.svg": "image/svg+xml"}  # fmt: skip


def routes(pages: Pages) -> APIRouter:
    """Return the routes of users and timelines, and of the files that every page loads."""
    router = pages.router()

    _add_assets(router)
    _add_live(router)

    @router.get("/")
    @pages.endpoint
    def users(request: Request, q: str = "", after: int = 0) -> Response:
        """List whose memories there are."""
        memory = space_of(request)
        names = [name for name in memory.users() if q.lower() in name.lower()]
        shown = names[max(after, 0) : max(after, 0) + USERS]
        stats = [memory.user(name).stats() for name in shown]
        following = after + USERS if len(names) > after + USERS else None
        return pages.page(request, "users.html", q=q, stats=stats, total=len(names), following=following)

    @router.get("/users/{user}")
    @pages.endpoint
    def timeline(request: Request, user: str, thread: str = "", before: int = NEWEST) -> Response:
        """Show a user's memory along time."""
        name, ana = user_of(request, user)
        limit = min(max(before, NEWEST), 1000)
        cards = as_lived(ana, ana.episodes.recent(limit=limit, thread=thread or None, suppressed=True))
        return pages.page(
            request,
            "timeline.html",
            user=name,
            section="timeline",
            stats=as_lived(ana, [ana.stats()])[0],
            cards=cards,
            thread=thread,
            more=limit + NEWEST * 2 if len(cards) >= limit else None,
        )

    @router.get("/users/{user}/timeline.json")
    @pages.endpoint
    def timeline_data(request: Request, user: str, newest: int = 0) -> Response:
        """Return the `newest` episodes for the timeline's script, or all, and whether there are `more`."""
        _, ana = user_of(request, user)
        limit = min(newest, EVERYTHING) if newest > 0 else None
        cards = as_lived(ana, ana.episodes.list(limit=limit))
        titles = {thread.id: thread.title for thread in ana.threads.list(limit=TITLED) if thread.title}
        drawn = compact_timeline(cards, titles, ThreadHues(ana))
        return data(drawn | {"more": limit is not None and len(cards) >= limit})

    @router.get("/users/{user}/episodes/{episode}/messages.json")
    @pages.endpoint
    def messages_data(request: Request, user: str, episode: str) -> Response:
        """Return the messages of an episode for the timeline's script."""
        _, ana = user_of(request, user)
        messages = ana.episodes.messages(episode)[:MESSAGES]
        rows = [
            [clock_seconds(lived_at(m)), visible(m.actor)[:40], visible(m.text)[:120], m.seq]
            for m in messages
        ]
        return data({"messages": rows})

    return router


def _add_assets(router: APIRouter) -> None:
    @router.get("/assets/{name}")
    def asset(request: Request, name: str) -> Response:
        """Return a style, a script or a picture of the dashboard."""
        if name not in _KINDS:
            return Response(status_code=404)
        body = (HERE / "static" / name).read_bytes()
        headers = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
        return Response(body, media_type=_KINDS[name], headers=headers)


def _add_live(router: APIRouter) -> None:
    @router.get(f"/users/{{user}}{LIVE}")
    def live(request: Request, user: str) -> Response:
        """Tell the page what is new, as `/v1/users/{user}/events` does."""
        _, ana = user_of(request, user)
        return event_stream(request, ana)
