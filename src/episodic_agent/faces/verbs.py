"""The verbs as routes of `/v1`: method, path, verb, and the role a key needs for it.

The service makes its routes from this table (`faces/http/v1`), and the client its verbs (`faces/client`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from episodic_agent.engine.boundary.verbs import BoundaryRoom
from episodic_agent.engine.chains.verbs import ChainRoom
from episodic_agent.engine.episodes.verbs import EpisodeRoom
from episodic_agent.engine.erase.verbs import ErasureRoom
from episodic_agent.engine.facts.verbs import FactRoom
from episodic_agent.engine.jobs.verbs import JobRoom
from episodic_agent.engine.links.verbs import LinkRoom
from episodic_agent.engine.people.verbs import PeopleRoom
from episodic_agent.engine.recall.verbs import PlaceRoom
from episodic_agent.engine.sections.verbs import SectionRoom
from episodic_agent.engine.skills.verbs import SkillRoom
from episodic_agent.engine.threads.session_verbs import SessionRoom
from episodic_agent.engine.threads.verbs import ThreadRoom
from episodic_agent.engine.trace.turns import TraceRoom
from episodic_agent.engine.tuning.verbs import TuningRoom
from episodic_agent.engine.visibility.verbs import RetentionRoom
from episodic_agent.schemas.keys import Role


@dataclass(frozen=True, slots=True)
class VerbRoute:
    """A verb as a route. A name in braces in the path is the parameter of that name.

    `set_to` are arguments the route itself gives, `without` parameters it does not take, `narrow` the fields
    of a filter it takes. `newest_first` turns a list round that Python returns in the order of time.
    `detailed` answers with every field of the nouns, as clients read them. `name` is the operation's where it
    is not the verb's; `sends` are parameters it takes that others leave to the server. `now_only` tells of a
    route that reads what has no past: everything else that reads a user's memory takes `as_of`.
    """

    method: str
    path: str
    verb: str
    role: Role
    narrow: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    set_to: Mapping[str, Any] = field(default_factory=dict)
    example: Mapping[str, Any] = field(default_factory=dict)
    newest_first: bool = False
    detailed: bool = False
    name: str = ""
    now_only: bool = False
    sends: tuple[str, ...] = ()

    @property
    def unsent(self) -> tuple[str, ...]:
        """Return the parameters that are not sent over HTTP."""
        return tuple(name for name in UNSENT if name not in self.sends)


def _read(path: str, verb: str, **more: Any) -> VerbRoute:
    return VerbRoute("GET", path, verb, Role.READ, **more)


def _ask(path: str, verb: str, **more: Any) -> VerbRoute:
    """Return a route that only reads but takes what belongs into no address."""
    return VerbRoute("POST", path, verb, Role.READ, **more)


def _write(path: str, verb: str, method: str = "POST", **more: Any) -> VerbRoute:
    return VerbRoute(method, path, verb, Role.WRITE, **more)


def _erase(path: str, **more: Any) -> VerbRoute:
    taken = ("observation", "episode", "thread", "speaker", "words", "everything")
    return VerbRoute("DELETE", path, "erase", Role.ADMIN, without=("sweep", *taken), **more)


_OF_EPISODES: Final = ("thread", "channel", "speaker", "since", "until", "place", "where", "project", "only")
_EVERY: Final = (*_OF_EPISODES, "category")
_TIMES: Final = ("since", "until")
_OF_STORIES: Final = (*_TIMES, "where", "project", "only")
_ID: Final = "01890000-0000-7000-8000-000000000000"
_AN_EPISODE: Final = "/episodes/{episode_id}"

OF_USER: Final = (
    # --- recall ---
    _ask("/context", "context", example={"message": "Where did we want to eat in May?", "max_tokens": 800}),
    _ask(
        "/search",
        "search",
        narrow=_EVERY,
        sends=("now",),
        without=("detail",),
        example={"query": "where do I live?"},
    ),
    _ask(
        "/recall",
        "search",
        narrow=_EVERY,
        sends=("now",),
        detailed=True,
        name="recall",
        example={"query": "Lisbon"},
    ),
    _ask(
        "/retrieve",
        "retrieve",
        narrow=_EVERY,
        sends=("now",),
        example={"query": "where is Ana moving?", "detail": "low"},
    ),
    # --- episodes ---
    _read("/episodes", "episodes.list", narrow=_OF_EPISODES, newest_first=True),
    _read("/episodes/recent", "episodes.recent"),
    _read("/episodes/pinned", "episodes.pinned"),
    _read("/episodes/suppressed", "episodes.suppressed"),
    _read("/episodes/replaced", "episodes.replaced"),
    _write("/episodes/reencode", "episodes.reencode", example={"thread": "work"}),
    _read(_AN_EPISODE, "episodes.get"),
    _write(_AN_EPISODE, "episodes.rename", "PATCH", example={"title": "The leak in the kitchen"}),
    _read(f"{_AN_EPISODE}/card", "episodes.card"),
    _read(f"{_AN_EPISODE}/messages", "episodes.messages"),
    _read(f"{_AN_EPISODE}/history", "episodes.history"),
    _read(f"{_AN_EPISODE}/reviews", "episodes.reviews"),
    _read(f"{_AN_EPISODE}/successor", "episodes.successor"),
    _read(f"{_AN_EPISODE}/explanation", "boundaries.explain", now_only=True),
    _erase("/episodes/{episode}"),
    _write("/pins", "episodes.pin", example={"thread": "work", "reason": "needed for the review"}),
    _write("/pins", "episodes.unpin", "DELETE"),
    _write("/suppressions", "episodes.suppress", example={"words": "hospital", "reason": "asked for"}),
    _write("/suppressions", "episodes.unsuppress", "DELETE"),
    # --- threads ---
    _read("/threads", "threads.list"),
    _write("/threads/timeout", "threads.set_timeout", "PUT", example={"minutes": 45, "channel": "sms"}),
    _read("/threads/{name}", "threads.get"),
    _write("/threads/{name}", "threads.rename", "PATCH", example={"title": "The move to Lisbon"}),
    _write("/threads/{name}/close", "threads.close"),
    _write("/threads/{name}/select", "threads.select"),
    _write("/flush", "flush", example={"thread": "work"}),
    _erase("/threads/{thread}"),
    _erase("/observations/{observation}"),
    _erase("/speakers/{speaker}"),
    _erase("/words/{words}"),
    # --- boundaries ---
    _read("/threads/{thread}/boundaries", "boundaries.trace", now_only=True),
    _read("/threads/{thread}/whatif", "boundaries.whatif", now_only=True),
    _write("/threads/{thread}/resegment", "boundaries.resegment", example={"dry_run": True}),
    _write("/threads/{thread}/resegment/undo", "boundaries.undo"),
    # --- facts ---
    _read("/facts", "facts.list"),
    _write("/facts/consolidate", "facts.consolidate"),
    _read("/facts/{fact_id}", "facts.get"),
    _read("/facts/{fact_id}/history", "facts.history"),
    _write("/facts/{fact_id}", "facts.edit", "PATCH", example={"text": "Ana lives in Porto"}),
    _write("/facts/{fact_id}/pin", "facts.pin", example={"pinned": True}),
    _write("/facts/{fact_id}/confirm", "facts.confirm"),
    _write("/facts/{fact_id}", "facts.delete", "DELETE"),
    # --- sessions, chains, links ---
    _read("/sessions", "sessions.list"),
    _write("/sessions", "sessions.start", example={"topic": "move to Lisbon", "key": "ticket-7"}),
    _read("/sessions/{episode}", "sessions.get"),
    _write("/sessions/{episode}/end", "sessions.end", example={"outcome": "success"}),
    _read("/chains", "chains.heads"),
    _read("/chains/refusals", "chains.refusals"),
    _ask("/chains/sequence", "chains.sequence", narrow=_OF_STORIES, example={"topic": "the move"}),
    _ask("/chains/replay", "chains.replay", narrow=_OF_STORIES, example={"topic": "the move"}),
    _read("/chains/{episode}", "chains.get"),
    _read("/chains/{episode}/tree", "chains.tree"),
    _read("/chains/{episode}/arc", "chains.arc"),
    _write("/chains/{episode}", "chains.add", "PUT", example={"parent": _ID}),
    _write("/chains/{episode}", "chains.remove", "DELETE"),
    _read("/links", "links.list"),
    _write("/links", "links.add", example={"thread": "work", "other": "work again"}),
    _write("/links", "links.remove", "DELETE"),
    _read("/links/episodes", "links.episodes"),
    _ask("/links/foresee", "links.foresee", now_only=True, example={"text": "Back to the leak in the cache"}),
    _read("/threads/{thread}/links", "links.explain"),
    _write("/links/{link}/outcome", "links.outcome", example={"outcome": "incorrect"}),
    # --- sections, skills, people, places ---
    _read("/sections", "sections.list"),
    _write("/sections", "sections.compact", example={"thread": "work"}),
    _read("/skills", "skills.list"),
    _read("/skills/{name}", "skills.get"),
    _write("/skills/{name}/used", "skills.used", example={"success": True}),
    _write("/skills/{name}", "skills.delete", "DELETE"),
    _read("/people", "people.list"),
    _write("/people/same", "people.same", example={"name": "Tom W", "other": "Tom Whitfield"}),
    _write("/people/apart", "people.apart", example={"name": "Tom W"}),
    _read("/places", "places.list", narrow=("thread", *_TIMES)),
    _read("/places/{place}/visits", "places.visits", narrow=("thread", *_TIMES)),
    _read("/threads/{thread}/route", "places.route", narrow=_TIMES),
    # --- care ---
    _read("/retention", "retention.get", now_only=True),
    _read("/retention/preview", "retention.preview", now_only=True),
    VerbRoute("PUT", "/retention", "retention.set", Role.ADMIN, example={"policy": "age=365d,grace=30d"}),
    VerbRoute("POST", "/retention/apply", "retention.apply", Role.ADMIN),
    _read("/tuning", "tuning.list", now_only=True),
    _write("/tuning", "tuning.run", example={"what": "link", "dry_run": True}),
    _write("/tuning/rollback", "tuning.rollback", example={"what": "link"}),
    _write("/decisions/{decision}/outcome", "tuning.outcome", example={"outcome": "correct"}),
    _read("/turns/{turn}", "trace.turn", now_only=True),
    _read("/changes", "trace.changes"),
    VerbRoute("GET", "/audit", "trace.audit", Role.ADMIN),
    _read("/decisions", "trace.decisions"),
    _read("/stats", "stats"),
    _write("/upkeep", "upkeep"),
    _read("/erasures", "erasures.list", now_only=True),
    _ask("/erasures/residue", "erasures.residue", now_only=True, example={"texts": ["an erased sentence"]}),
    _ask("/erasures/repeats", "erasures.repeats", now_only=True, example={"texts": ["a sentence"]}),
    _erase("", set_to={"everything": True}),
    _read("/operations/{operation_id}", "jobs.operation", now_only=True),
    _read("/jobs", "jobs.list", now_only=True),
    _read("/jobs/counts", "jobs.counts", now_only=True),
    VerbRoute("POST", "/jobs/run", "jobs.run", Role.ADMIN),
    VerbRoute("POST", "/jobs/retry", "jobs.retry_dead", Role.ADMIN),
    VerbRoute("POST", "/jobs/{job_id}/retry", "jobs.retry", Role.ADMIN),
    VerbRoute("DELETE", "/jobs/{job_id}", "jobs.cancel", Role.ADMIN),
)  # fmt: skip
OF_SPACE: Final = (
    _read("/users", "users"),
    _read("/usage", "usage"),
    _read("/erasures", "erasures"),
    _read("/jobs", "jobs.list"),
    _read("/jobs/counts", "jobs.counts"),
    VerbRoute("POST", "/jobs/run", "jobs.run", Role.ADMIN),
    VerbRoute("POST", "/jobs/retry", "jobs.retry_dead", Role.ADMIN),
    VerbRoute("POST", "/jobs/{job_id}/retry", "jobs.retry", Role.ADMIN),
    VerbRoute("DELETE", "/jobs/{job_id}", "jobs.cancel", Role.ADMIN),
    VerbRoute("POST", "/upkeep", "upkeep", Role.ADMIN),
)
ROOMS: Final[Mapping[str, type]] = {
    "boundaries": BoundaryRoom,
    "chains": ChainRoom,
    "episodes": EpisodeRoom,
    "erasures": ErasureRoom,
    "facts": FactRoom,
    "jobs": JobRoom,
    "links": LinkRoom,
    "people": PeopleRoom,
    "places": PlaceRoom,
    "retention": RetentionRoom,
    "sections": SectionRoom,
    "sessions": SessionRoom,
    "skills": SkillRoom,
    "threads": ThreadRoom,
    "trace": TraceRoom,
    "tuning": TuningRoom,
}
# what is done is done at the server's time, and nobody can be called back over HTTP
UNSENT: Final = ("now", "progress", "watch", "say", "filter", "narrow")
PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
BODIES: Final = ("POST", "PUT", "PATCH")
USER: Final = "/users/{user}"


def verb_of(owner: type, verb: str) -> Callable[..., Any]:
    """Return the function of a verb such as `episodes.list`."""
    room, _, name = verb.rpartition(".")
    function: Callable[..., Any] = getattr(ROOMS[room] if room else owner, name)
    return function


def operation_name(base: str, row: VerbRoute) -> str:
    """Name a route as a generated client's method is called: by its verb, and by its noun where that is
    one of several."""
    if row.name:
        return row.name
    same = [one.path for one in (OF_USER if base else OF_SPACE) if one.verb == row.verb and not one.name]
    name = row.verb.replace(".", "_") if base else f"space_{row.verb.replace('.', '_')}"
    noun = row.path.strip("/").partition("/")[0] or "user"
    return name if len(same) == 1 else f"{name}_{noun}"
