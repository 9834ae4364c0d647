// Made from the service's OpenAPI document by tools/typescript_client.py; change it there.
export default {
 "user": {
  "add": {
   "method": "POST",
   "path": "/v1/users/{user}/messages",
   "query": [
    "wait"
   ],
   "header": [
    "idempotency-key"
   ]
  },
  "export": {
   "method": "GET",
   "path": "/v1/users/{user}/export",
   "query": [
    "where",
    "as_of"
   ],
   "lines": true
  },
  "importFile": {
   "method": "POST",
   "path": "/v1/users/{user}/import",
   "query": [
    "name",
    "source",
    "encoding",
    "timezone",
    "dates",
    "began",
    "me",
    "speaker",
    "dry_run",
    "wait"
   ],
   "file": true
  },
  "context": {
   "method": "POST",
   "path": "/v1/users/{user}/context",
   "query": [
    "as_of"
   ]
  },
  "search": {
   "method": "POST",
   "path": "/v1/users/{user}/search",
   "query": [
    "as_of"
   ]
  },
  "recall": {
   "method": "POST",
   "path": "/v1/users/{user}/recall",
   "query": [
    "as_of"
   ]
  },
  "retrieve": {
   "method": "POST",
   "path": "/v1/users/{user}/retrieve",
   "query": [
    "as_of"
   ]
  },
  "episodes.list": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes",
   "query": [
    "thread",
    "channel",
    "speaker",
    "since",
    "until",
    "place",
    "where",
    "project",
    "only",
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "episodes.recent": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/recent",
   "query": [
    "days",
    "thread",
    "where",
    "suppressed",
    "project",
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "episodes.pinned": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/pinned",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "episodes.suppressed": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/suppressed",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "episodes.replaced": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/replaced",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "episodes.reencode": {
   "method": "POST",
   "path": "/v1/users/{user}/episodes/reencode"
  },
  "episodes.get": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/{episode_id}",
   "query": [
    "as_of"
   ]
  },
  "episodes.rename": {
   "method": "PATCH",
   "path": "/v1/users/{user}/episodes/{episode_id}"
  },
  "episodes.card": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/{episode_id}/card",
   "query": [
    "as_of"
   ]
  },
  "episodes.messages": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/{episode_id}/messages",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "episodes.history": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/{episode_id}/history",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "episodes.reviews": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/{episode_id}/reviews",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "episodes.successor": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/{episode_id}/successor",
   "query": [
    "as_of"
   ]
  },
  "boundaries.explain": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/{episode_id}/explanation"
  },
  "eraseEpisodes": {
   "method": "DELETE",
   "path": "/v1/users/{user}/episodes/{episode}",
   "query": [
    "dry_run"
   ]
  },
  "episodes.pin": {
   "method": "POST",
   "path": "/v1/users/{user}/pins"
  },
  "episodes.unpin": {
   "method": "DELETE",
   "path": "/v1/users/{user}/pins",
   "query": [
    "episode_id",
    "thread"
   ]
  },
  "episodes.suppress": {
   "method": "POST",
   "path": "/v1/users/{user}/suppressions"
  },
  "episodes.unsuppress": {
   "method": "DELETE",
   "path": "/v1/users/{user}/suppressions",
   "query": [
    "episode_id",
    "thread",
    "words"
   ]
  },
  "threads.list": {
   "method": "GET",
   "path": "/v1/users/{user}/threads",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "threads.setTimeout": {
   "method": "PUT",
   "path": "/v1/users/{user}/threads/timeout"
  },
  "threads.get": {
   "method": "GET",
   "path": "/v1/users/{user}/threads/{name}",
   "query": [
    "as_of"
   ]
  },
  "threads.rename": {
   "method": "PATCH",
   "path": "/v1/users/{user}/threads/{name}"
  },
  "threads.close": {
   "method": "POST",
   "path": "/v1/users/{user}/threads/{name}/close"
  },
  "threads.select": {
   "method": "POST",
   "path": "/v1/users/{user}/threads/{name}/select"
  },
  "flush": {
   "method": "POST",
   "path": "/v1/users/{user}/flush"
  },
  "eraseThreads": {
   "method": "DELETE",
   "path": "/v1/users/{user}/threads/{thread}",
   "query": [
    "dry_run"
   ]
  },
  "eraseObservations": {
   "method": "DELETE",
   "path": "/v1/users/{user}/observations/{observation}",
   "query": [
    "dry_run"
   ]
  },
  "eraseSpeakers": {
   "method": "DELETE",
   "path": "/v1/users/{user}/speakers/{speaker}",
   "query": [
    "dry_run"
   ]
  },
  "eraseWords": {
   "method": "DELETE",
   "path": "/v1/users/{user}/words/{words}",
   "query": [
    "dry_run"
   ]
  },
  "boundaries.trace": {
   "method": "GET",
   "path": "/v1/users/{user}/threads/{thread}/boundaries"
  },
  "boundaries.whatif": {
   "method": "GET",
   "path": "/v1/users/{user}/threads/{thread}/whatif",
   "query": [
    "policy"
   ]
  },
  "boundaries.resegment": {
   "method": "POST",
   "path": "/v1/users/{user}/threads/{thread}/resegment"
  },
  "boundaries.undo": {
   "method": "POST",
   "path": "/v1/users/{user}/threads/{thread}/resegment/undo"
  },
  "facts.list": {
   "method": "GET",
   "path": "/v1/users/{user}/facts",
   "query": [
    "query",
    "category",
    "subject",
    "at",
    "known_by",
    "history",
    "project",
    "only",
    "suppressed",
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "facts.consolidate": {
   "method": "POST",
   "path": "/v1/users/{user}/facts/consolidate"
  },
  "facts.get": {
   "method": "GET",
   "path": "/v1/users/{user}/facts/{fact_id}",
   "query": [
    "as_of"
   ]
  },
  "facts.edit": {
   "method": "PATCH",
   "path": "/v1/users/{user}/facts/{fact_id}"
  },
  "facts.delete": {
   "method": "DELETE",
   "path": "/v1/users/{user}/facts/{fact_id}"
  },
  "facts.history": {
   "method": "GET",
   "path": "/v1/users/{user}/facts/{fact_id}/history",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "facts.pin": {
   "method": "POST",
   "path": "/v1/users/{user}/facts/{fact_id}/pin"
  },
  "facts.confirm": {
   "method": "POST",
   "path": "/v1/users/{user}/facts/{fact_id}/confirm"
  },
  "sessions.list": {
   "method": "GET",
   "path": "/v1/users/{user}/sessions",
   "query": [
    "state",
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "sessions.start": {
   "method": "POST",
   "path": "/v1/users/{user}/sessions"
  },
  "sessions.get": {
   "method": "GET",
   "path": "/v1/users/{user}/sessions/{episode}",
   "query": [
    "as_of"
   ]
  },
  "sessions.end": {
   "method": "POST",
   "path": "/v1/users/{user}/sessions/{episode}/end"
  },
  "chains.heads": {
   "method": "GET",
   "path": "/v1/users/{user}/chains",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "chains.refusals": {
   "method": "GET",
   "path": "/v1/users/{user}/chains/refusals",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "chains.sequence": {
   "method": "POST",
   "path": "/v1/users/{user}/chains/sequence",
   "query": [
    "as_of"
   ]
  },
  "chains.replay": {
   "method": "POST",
   "path": "/v1/users/{user}/chains/replay",
   "query": [
    "as_of"
   ]
  },
  "chains.get": {
   "method": "GET",
   "path": "/v1/users/{user}/chains/{episode}",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "chains.add": {
   "method": "PUT",
   "path": "/v1/users/{user}/chains/{episode}"
  },
  "chains.remove": {
   "method": "DELETE",
   "path": "/v1/users/{user}/chains/{episode}",
   "query": [
    "by"
   ]
  },
  "chains.tree": {
   "method": "GET",
   "path": "/v1/users/{user}/chains/{episode}/tree",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "chains.arc": {
   "method": "GET",
   "path": "/v1/users/{user}/chains/{episode}/arc",
   "query": [
    "as_of"
   ]
  },
  "links.list": {
   "method": "GET",
   "path": "/v1/users/{user}/links",
   "query": [
    "thread",
    "taken_back",
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "links.add": {
   "method": "POST",
   "path": "/v1/users/{user}/links"
  },
  "links.remove": {
   "method": "DELETE",
   "path": "/v1/users/{user}/links",
   "query": [
    "thread",
    "other"
   ]
  },
  "links.episodes": {
   "method": "GET",
   "path": "/v1/users/{user}/links/episodes",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "links.foresee": {
   "method": "POST",
   "path": "/v1/users/{user}/links/foresee"
  },
  "links.explain": {
   "method": "GET",
   "path": "/v1/users/{user}/threads/{thread}/links",
   "query": [
    "other",
    "as_of"
   ]
  },
  "links.outcome": {
   "method": "POST",
   "path": "/v1/users/{user}/links/{link}/outcome"
  },
  "sections.list": {
   "method": "GET",
   "path": "/v1/users/{user}/sections",
   "query": [
    "query",
    "thread",
    "resolution",
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "sections.compact": {
   "method": "POST",
   "path": "/v1/users/{user}/sections"
  },
  "skills.list": {
   "method": "GET",
   "path": "/v1/users/{user}/skills",
   "query": [
    "query",
    "kind",
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "skills.get": {
   "method": "GET",
   "path": "/v1/users/{user}/skills/{name}",
   "query": [
    "as_of"
   ]
  },
  "skills.delete": {
   "method": "DELETE",
   "path": "/v1/users/{user}/skills/{name}"
  },
  "skills.used": {
   "method": "POST",
   "path": "/v1/users/{user}/skills/{name}/used"
  },
  "people.list": {
   "method": "GET",
   "path": "/v1/users/{user}/people",
   "query": [
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "people.same": {
   "method": "POST",
   "path": "/v1/users/{user}/people/same"
  },
  "people.apart": {
   "method": "POST",
   "path": "/v1/users/{user}/people/apart"
  },
  "places.list": {
   "method": "GET",
   "path": "/v1/users/{user}/places",
   "query": [
    "thread",
    "since",
    "until",
    "as_of"
   ]
  },
  "places.visits": {
   "method": "GET",
   "path": "/v1/users/{user}/places/{place}/visits",
   "query": [
    "order",
    "thread",
    "since",
    "until",
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "places.route": {
   "method": "GET",
   "path": "/v1/users/{user}/threads/{thread}/route",
   "query": [
    "since",
    "until",
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "retention.get": {
   "method": "GET",
   "path": "/v1/users/{user}/retention"
  },
  "retention.set": {
   "method": "PUT",
   "path": "/v1/users/{user}/retention"
  },
  "retention.preview": {
   "method": "GET",
   "path": "/v1/users/{user}/retention/preview",
   "query": [
    "policy",
    "limit",
    "cursor"
   ]
  },
  "retention.apply": {
   "method": "POST",
   "path": "/v1/users/{user}/retention/apply"
  },
  "tuning.list": {
   "method": "GET",
   "path": "/v1/users/{user}/tuning",
   "query": [
    "limit",
    "cursor"
   ]
  },
  "tuning.run": {
   "method": "POST",
   "path": "/v1/users/{user}/tuning"
  },
  "tuning.rollback": {
   "method": "POST",
   "path": "/v1/users/{user}/tuning/rollback"
  },
  "tuning.outcome": {
   "method": "POST",
   "path": "/v1/users/{user}/decisions/{decision}/outcome"
  },
  "trace.turn": {
   "method": "GET",
   "path": "/v1/users/{user}/turns/{turn}",
   "query": [
    "text"
   ]
  },
  "trace.changes": {
   "method": "GET",
   "path": "/v1/users/{user}/changes",
   "query": [
    "since",
    "until",
    "as_of"
   ]
  },
  "trace.audit": {
   "method": "GET",
   "path": "/v1/users/{user}/audit",
   "query": [
    "since",
    "until",
    "kind",
    "by",
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "trace.decisions": {
   "method": "GET",
   "path": "/v1/users/{user}/decisions",
   "query": [
    "since",
    "limit",
    "cursor",
    "as_of"
   ]
  },
  "stats": {
   "method": "GET",
   "path": "/v1/users/{user}/stats",
   "query": [
    "as_of"
   ]
  },
  "upkeep": {
   "method": "POST",
   "path": "/v1/users/{user}/upkeep"
  },
  "erasures.list": {
   "method": "GET",
   "path": "/v1/users/{user}/erasures",
   "query": [
    "observation",
    "episode",
    "thread",
    "speaker",
    "words",
    "limit",
    "cursor"
   ]
  },
  "erasures.residue": {
   "method": "POST",
   "path": "/v1/users/{user}/erasures/residue"
  },
  "erasures.repeats": {
   "method": "POST",
   "path": "/v1/users/{user}/erasures/repeats"
  },
  "eraseUser": {
   "method": "DELETE",
   "path": "/v1/users/{user}",
   "query": [
    "dry_run"
   ]
  },
  "jobs.operation": {
   "method": "GET",
   "path": "/v1/users/{user}/operations/{operation_id}"
  },
  "jobs.list": {
   "method": "GET",
   "path": "/v1/users/{user}/jobs",
   "query": [
    "state",
    "limit",
    "cursor"
   ]
  },
  "jobs.counts": {
   "method": "GET",
   "path": "/v1/users/{user}/jobs/counts"
  },
  "jobs.run": {
   "method": "POST",
   "path": "/v1/users/{user}/jobs/run"
  },
  "jobs.retryDead": {
   "method": "POST",
   "path": "/v1/users/{user}/jobs/retry"
  },
  "jobs.retry": {
   "method": "POST",
   "path": "/v1/users/{user}/jobs/{job_id}/retry"
  },
  "jobs.cancel": {
   "method": "DELETE",
   "path": "/v1/users/{user}/jobs/{job_id}"
  }
 },
 "space": {
  "users": {
   "method": "GET",
   "path": "/v1/users",
   "query": [
    "limit",
    "cursor"
   ]
  },
  "usage": {
   "method": "GET",
   "path": "/v1/usage",
   "query": [
    "since",
    "until",
    "user",
    "limit",
    "cursor"
   ]
  },
  "erasures": {
   "method": "GET",
   "path": "/v1/erasures",
   "query": [
    "limit",
    "cursor"
   ]
  },
  "jobs.list": {
   "method": "GET",
   "path": "/v1/jobs",
   "query": [
    "state",
    "limit",
    "cursor"
   ]
  },
  "jobs.counts": {
   "method": "GET",
   "path": "/v1/jobs/counts"
  },
  "jobs.run": {
   "method": "POST",
   "path": "/v1/jobs/run"
  },
  "jobs.retryDead": {
   "method": "POST",
   "path": "/v1/jobs/retry"
  },
  "jobs.retry": {
   "method": "POST",
   "path": "/v1/jobs/{job_id}/retry"
  },
  "jobs.cancel": {
   "method": "DELETE",
   "path": "/v1/jobs/{job_id}"
  },
  "upkeep": {
   "method": "POST",
   "path": "/v1/upkeep"
  }
 }
};
