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
    "where"
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
    "dry_run",
    "wait"
   ],
   "file": true
  },
  "context": {
   "method": "POST",
   "path": "/v1/users/{user}/context"
  },
  "search": {
   "method": "POST",
   "path": "/v1/users/{user}/search"
  },
  "recall": {
   "method": "POST",
   "path": "/v1/users/{user}/recall"
  },
  "retrieve": {
   "method": "POST",
   "path": "/v1/users/{user}/retrieve"
  },
  "episodes.list": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes",
   "query": [
    "thread",
    "channel",
    "since",
    "until",
    "place",
    "where",
    "limit",
    "cursor"
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
    "limit",
    "cursor"
   ]
  },
  "episodes.pinned": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/pinned",
   "query": [
    "limit",
    "cursor"
   ]
  },
  "episodes.suppressed": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/suppressed",
   "query": [
    "limit",
    "cursor"
   ]
  },
  "episodes.replaced": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/replaced",
   "query": [
    "limit",
    "cursor"
   ]
  },
  "episodes.reencode": {
   "method": "POST",
   "path": "/v1/users/{user}/episodes/reencode"
  },
  "episodes.get": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/{episode_id}"
  },
  "episodes.rename": {
   "method": "PATCH",
   "path": "/v1/users/{user}/episodes/{episode_id}"
  },
  "episodes.card": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/{episode_id}/card"
  },
  "episodes.messages": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/{episode_id}/messages",
   "query": [
    "limit",
    "cursor"
   ]
  },
  "episodes.history": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/{episode_id}/history",
   "query": [
    "limit",
    "cursor"
   ]
  },
  "episodes.reviews": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/{episode_id}/reviews",
   "query": [
    "limit",
    "cursor"
   ]
  },
  "episodes.successor": {
   "method": "GET",
   "path": "/v1/users/{user}/episodes/{episode_id}/successor"
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
    "cursor"
   ]
  },
  "threads.setTimeout": {
   "method": "PUT",
   "path": "/v1/users/{user}/threads/timeout"
  },
  "threads.get": {
   "method": "GET",
   "path": "/v1/users/{user}/threads/{name}"
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
    "limit",
    "cursor"
   ]
  },
  "facts.consolidate": {
   "method": "POST",
   "path": "/v1/users/{user}/facts/consolidate"
  },
  "facts.get": {
   "method": "GET",
   "path": "/v1/users/{user}/facts/{fact_id}"
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
    "cursor"
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
    "cursor"
   ]
  },
  "sessions.start": {
   "method": "POST",
   "path": "/v1/users/{user}/sessions"
  },
  "sessions.get": {
   "method": "GET",
   "path": "/v1/users/{user}/sessions/{episode}"
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
    "cursor"
   ]
  },
  "chains.refusals": {
   "method": "GET",
   "path": "/v1/users/{user}/chains/refusals",
   "query": [
    "limit",
    "cursor"
   ]
  },
  "chains.sequence": {
   "method": "POST",
   "path": "/v1/users/{user}/chains/sequence"
  },
  "chains.replay": {
   "method": "POST",
   "path": "/v1/users/{user}/chains/replay"
  },
  "chains.get": {
   "method": "GET",
   "path": "/v1/users/{user}/chains/{episode}",
   "query": [
    "limit",
    "cursor"
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
    "cursor"
   ]
  },
  "chains.arc": {
   "method": "GET",
   "path": "/v1/users/{user}/chains/{episode}/arc"
  },
  "links.list": {
   "method": "GET",
   "path": "/v1/users/{user}/links",
   "query": [
    "thread",
    "taken_back",
    "limit",
    "cursor"
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
    "cursor"
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
    "other"
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
    "cursor"
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
    "cursor"
   ]
  },
  "skills.get": {
   "method": "GET",
   "path": "/v1/users/{user}/skills/{name}"
  },
  "skills.delete": {
   "method": "DELETE",
   "path": "/v1/users/{user}/skills/{name}"
  },
  "skills.used": {
   "method": "POST",
   "path": "/v1/users/{user}/skills/{name}/used"
  },
  "places.list": {
   "method": "GET",
   "path": "/v1/users/{user}/places",
   "query": [
    "thread",
    "since",
    "until"
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
    "cursor"
   ]
  },
  "places.route": {
   "method": "GET",
   "path": "/v1/users/{user}/threads/{thread}/route",
   "query": [
    "since",
    "until",
    "limit",
    "cursor"
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
    "until"
   ]
  },
  "trace.decisions": {
   "method": "GET",
   "path": "/v1/users/{user}/decisions",
   "query": [
    "since",
    "limit",
    "cursor"
   ]
  },
  "stats": {
   "method": "GET",
   "path": "/v1/users/{user}/stats"
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
    "limit",
    "cursor"
   ]
  },
  "erasures.residue": {
   "method": "POST",
   "path": "/v1/users/{user}/erasures/residue"
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
