"""The nouns: every value that crosses from one room into another, one file an idea.

Observations, frames, threads, episodes, decisions, links, facts, skills, jobs, receipts: what they are is
written at each class, and docs/glossary.md has a table of the words.

**Rules of the room.**
1. Frozen, slotted dataclasses. `ActiveContextFrame` alone is mutable, because seed 000's custom detectors
   write to it.
2. Times are aware UTC. Event time (`at`, `start_at`, `end_at`: when it was) and record time (`created_at`,
   `last_reviewed_at`: when it was written) are never mixed, and a docstring says which one a field is.
3. Units and ranges stand in the docstring: stability in days, surprise in [0, 1], `seq` gapless from 0.
4. A noun carries no behaviour beyond what follows from its own fields.
5. Ids are UUIDs: those of version 7 were made once, those of version 5 follow from what they name and come
   out the same again.
6. This room imports nothing of the package but `errors`.

**To add** a field, give it a default that means "as before", write and read it in `stores/tables`, and look
at the export: a field that equals its default is left out there, so that older files stay valid. To add a
noun, put it where its idea is; a value that only one room uses stays in that room.
"""

from episodic_agent.schemas.audit import AuditEntry, AuditKind, Caller
from episodic_agent.schemas.decisions import Decision
from episodic_agent.schemas.episodes import Encoding, Episode, EpisodeKind, EpisodeState, Frame, Reason
from episodic_agent.schemas.jobs import Job, ModelUse, WorkRow
from episodic_agent.schemas.links import Joined, Link, PendingReview
from episodic_agent.schemas.observations import Kind, Observation, Receipt, TimeSource
from episodic_agent.schemas.readings import ActiveContextFrame, Entity, Reading
from episodic_agent.schemas.sections import Section
from episodic_agent.schemas.threads import Thread
from episodic_agent.schemas.values import Backup, Json, Scope, Vector

__all__ = [
    "ActiveContextFrame",
    "AuditEntry",
    "AuditKind",
    "Backup",
    "Caller",
    "Decision",
    "Encoding",
    "Entity",
    "Episode",
    "EpisodeKind",
    "EpisodeState",
    "Frame",
    "Job",
    "Joined",
    "Json",
    "Kind",
    "Link",
    "ModelUse",
    "Observation",
    "PendingReview",
    "Reading",
    "Reason",
    "Receipt",
    "Scope",
    "Section",
    "Thread",
    "TimeSource",
    "Vector",
    "WorkRow",
]
