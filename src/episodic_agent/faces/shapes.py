"""What every face shows of a noun, once: as JSON for scripts, as an item for a model, as seed 003's record.

Keys and their order are the wire form (`tests/faces/test_wire.py` holds them). What somebody wrote stands
`harmless` on the line a model reads, and names as `shown_name`; in the data of an item a message keeps its
own line ends, which JSON quotes. Where people read, `faces/cli` makes what acts unseen visible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from episodic_agent.core.context.quoting import harmless, shown_name
from episodic_agent.core.context.retrieved import LONGEST_PROOF, heading
from episodic_agent.core.language import plural
from episodic_agent.core.strength import initial_strength
from episodic_agent.engine.lived import as_lived, lived_at
from episodic_agent.engine.results import Commitment, EpisodeCard, Evidence, FactHit, FullEpisode, Hit, Recall
from episodic_agent.faces.wording import minute, reason
from episodic_agent.schemas import Observation, Thread
from episodic_agent.schemas.facts import since_when
from episodic_agent.schemas.observations import by_clock

if TYPE_CHECKING:
    from episodic_agent.engine.boundary.explain import Explanation
    from episodic_agent.engine.chains.sequences import Sequenced
    from episodic_agent.engine.facts.verbs import FactCard
    from episodic_agent.engine.threads.sessions import Session
    from episodic_agent.engine.user import UserMemory


STRENGTH: Final = (  # of a stored episode, as seed 003 records it
    "stability", "difficulty", "surprise", "created_at", "last_reviewed_at", "consolidated_at"
)  # fmt: skip


# --- JSON for scripts: the contract of `episodic search --json` ------------------------------------------


def recall_json(recall: Recall, *, explain: bool = False, suppressed: bool = False) -> dict[str, Any]:
    """Shape an answer; `explain` adds the scores of each leg and the candidates, `suppressed` the hidden."""
    shaped = {
        "facts": [{**found.fact.as_record(), "score": found.score} for found in recall.facts],
        "hits": [hit_json(hit, explain=explain) for hit in recall.hits],
        "observations": [evidence_json(proof, explain=explain) for proof in recall.observations],
        "abstained": recall.abstained,
        "confidence": recall.confidence,
        "notes": list(recall.notes),
    }
    if recall.commitments:
        shaped["commitments"] = [commitment_json(one) for one in recall.commitments]
    if explain:
        shaped["candidates"] = [hit_json(hit, explain=True) for hit in recall.candidates]
    if suppressed:
        shaped["suppressed"] = [
            {**hit_json(hidden.hit, explain=explain), "reason": hidden.reason} for hidden in recall.suppressed
        ]
    return shaped


def commitment_json(commitment: Commitment) -> dict[str, Any]:
    """Shape something that was taken on, with what settled it."""
    done = commitment.settled_by
    return {
        "by": commitment.by,
        "to": commitment.to,
        "text": commitment.text,
        "at": commitment.observation.at,
        "due": commitment.due,
        "settled_by": None if done is None else {"actor": done.actor, "text": done.text, "at": done.at},
    }


def hit_json(hit: Hit, *, explain: bool = False) -> dict[str, Any]:
    """Shape a recalled episode with the messages that prove it."""
    shaped = {
        "episode_id": hit.episode_id,
        "title": hit.title,
        "summary": hit.summary,
        "score": hit.score,
        "confidence": hit.confidence,
        "start_at": hit.start_at,
        "end_at": hit.end_at,
        "state": hit.state,
        "retrievability": hit.retrievability,
        "key_moment": hit.key_moment,
        "observations": [evidence_json(proof, explain=explain) for proof in hit.evidence],
    }
    return {**shaped, "legs": hit.legs} if explain else shaped


def evidence_json(proof: Evidence, *, explain: bool = False) -> dict[str, Any]:
    """Shape a message that proves a hit."""
    o = proof.observation
    shaped = {"id": proof.id, "actor": o.actor, "text": o.text, "at": o.at, "score": proof.score}
    return {**shaped, "legs": proof.legs} if explain else shaped


# --- items for a model: lines, and the same as data ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AnswerItem:
    """One thing of an answer: its lines for a model, and its data."""

    text: str
    data: Mapping[str, Any]


def fact_item(hit: FactHit, spoken: Sequence[Observation] = ()) -> AnswerItem:
    """Show a fact that answers, its day by the clock of what is nearest to it of messages found with it."""
    fact = hit.fact
    nearest = min(spoken, key=lambda one: abs(one.at - fact.valid_at), default=None)
    if nearest is not None:
        fact = replace(fact, valid_at=by_clock(fact.valid_at, nearest.utc_offset))
    since, text = f"{fact.valid_at:%Y-%m-%d}", harmless(fact.fact)
    data: dict[str, Any] = {"kind": "fact", "title": text, "start": since, "episode_id": None, "messages": []}
    return AnswerItem(f"- fact {since_when(fact)}: {text}", data)


def commitment_item(commitment: Commitment) -> AnswerItem:
    """Show something that was taken on, when it is due or what settled it."""
    text, start = harmless(commitment.line), f"{lived_at(commitment.observation):%Y-%m-%d}"
    data: dict[str, Any] = {
        "kind": "commitment",
        "title": text,
        "start": start,
        "episode_id": None,
        "messages": [],
    }
    return AnswerItem(f"- [{start}] {text}", data)


def hit_item(hit: Hit, query: str) -> AnswerItem:
    """Show a recalled episode with the messages that prove it, of long ones what answers the query."""
    title = harmless(hit.heading)
    messages = [replace(one.observation, text=one.excerpt(query, LONGEST_PROOF)) for one in hit.evidence]
    data = {
        "kind": "episode",
        "title": title,
        "start": hit.start_at.isoformat(),
        "episode_id": str(hit.episode_id),
        "messages": [f"{shown_name(o.actor)}: {harmless(o.text, lines=True)}" for o in messages],
    }
    lines = [f"  {shown_name(o.actor)}: {harmless(o.text)}" for o in messages]
    if hit.decisions:
        lines.append(f"  decided: {harmless('; '.join(hit.decisions))}")
    return AnswerItem(
        "\n".join([f"- [{minute(hit.lived_at)}] {title} (episode {hit.episode_id})", *lines]), data
    )


def fact_card_item(card: "FactCard") -> AnswerItem:
    """Show a fact of a listing."""
    fact, category = harmless(card.fact.fact), card.fact.category.value
    data = {"fact": fact, "category": category, "since": f"{card.fact.valid_at:%Y-%m-%d}"}
    return AnswerItem(f"- [{category}] {since_when(card.fact)}: {fact}", data)


def session_data(session: "Session") -> dict[str, Any]:
    """Return the data of a session that was started or ended."""
    parent = session.parent_episode_id
    return {
        "session_id": str(session.id),
        "thread": shown_name(session.thread),
        "state": session.state,
        "continues": None if parent is None else str(parent),
        "outcome": session.outcome,
    }


def episode_item(card: EpisodeCard) -> AnswerItem:
    """Show an episode of a listing."""
    title, summary = harmless(card.heading), harmless(card.summary)
    data = _episode_data(card, title, summary)
    beside = f": {summary}" if summary else ""
    return AnswerItem(f"- [{minute(card.start_at)}] {title}{beside} (episode {card.episode_id})", data)


def sequenced_data(episode: "Sequenced") -> dict[str, Any]:
    """Return the data of an episode of a story, whose lines the story tells."""
    return {
        **_episode_data(episode, harmless(episode.title), harmless(episode.summary)),
        "relevance": episode.relevance,
        "continues": None if episode.parent_episode_id is None else str(episode.parent_episode_id),
        "outcome": episode.metadata.outcome,
    }


def _episode_data(episode: "EpisodeCard | Sequenced", title: str, summary: str) -> dict[str, Any]:
    return {
        "episode_id": str(episode.episode_id),
        "title": title,
        "summary": summary,
        "start": episode.start_at.isoformat(),
        "end": episode.end_at.isoformat(),
    }


def thread_item(thread: Thread) -> AnswerItem:
    """Show a thread of a listing."""
    name, last = shown_name(thread.origin), thread.last_activity_at
    title = None if thread.title is None else harmless(thread.title)
    data = {"name": name, "title": title, "last": last.isoformat(), "status": thread.status}
    return AnswerItem(f"- {name}: {title or 'untitled'}, last {minute(last)}", data)


def message_item(message: Observation) -> AnswerItem:
    """Show a message of an episode."""
    actor = shown_name(message.actor)
    data = {"id": str(message.id), "actor": actor, "text": harmless(message.text, lines=True)}
    return AnswerItem(f"- [{minute(lived_at(message))}] {actor}: {harmless(message.text)}", data)


def explanation_item(explained: "Explanation") -> AnswerItem:
    """Show what an episode is called, and why it begins and ends where it does."""
    episode = explained.episode
    data = {
        "episode_id": str(episode.id),
        "title": harmless(heading(episode.title, episode.start_at)),
        "begins": harmless(explained.begins.sentence),
        "ends": harmless(explained.ends.sentence),
    }
    return AnswerItem(f"{data['title']}\nbegins: {data['begins']}\nends: {data['ends']}", data)


# --- records of seed 003 ---------------------------------------------------------------------------------


def fact_record(hit: FactHit, conversation: str | None) -> dict[str, Any]:
    """Return seed 003's fields of a fact; its conversation is the first that proves it."""
    fact = hit.fact
    return {
        "id": fact.id,
        "conversation_id": conversation or hit.origin,
        "category": fact.category.value,
        "fact": fact.fact,
        "keywords": list(fact.keywords),
        "source_episodic_ids": list(hit.episodes),
        "valid_at": fact.valid_at,
        "invalid_at": fact.invalid_at,
        "score": hit.score,
    }


def episode_record(
    content: FullEpisode, episode: Hit | EpisodeCard, conversation: str | None
) -> dict[str, Any]:
    """Return seed 003's fields of an episode; one that is still open has the strength it would begin with."""
    messages = content.messages
    shared = {
        "id": episode.episode_id,
        "conversation_id": conversation or content.origin,
        "messages": [{"role": o.actor, "content": o.text, "timestamp": o.at} for o in messages],
        "title": episode.title,
        "summary": episode.summary,
        "start_at": episode.start_at,
        "end_at": episode.end_at,
    }
    if content.episode is not None:
        return shared | {name: getattr(content.episode, name) for name in STRENGTH}
    strength, begun = initial_strength(), min(o.received_at for o in messages)
    fresh = (strength.stability, strength.difficulty, 0.0, begun, episode.end_at, None)
    return shared | dict(zip(STRENGTH, fresh, strict=True))


# --- Markdown --------------------------------------------------------------------------------------------


def episode_markdown(card: EpisodeCard, messages: Sequence[Observation]) -> str:
    """Return an episode as a page with the messages that are its evidence."""
    origin = shown_name(card.origin).replace("`", "'")
    lines = [
        f"# {harmless(card.heading)}",
        "",
        f"- from {minute(card.start_at)} to {minute(card.end_at)} UTC, thread `{origin}`",
        f"- {plural(card.observations, 'message')}; ended by: {reason(card.reason or 'open')}",
        f"- surprise {card.surprise:.2f}, stability {card.stability:.2f} days, R {card.retrievability:.2f}",
        f"- id `{card.episode_id}`",
        "",
    ]
    if card.summary:
        lines += ["## Summary", "", harmless(card.summary), ""]
    lines += ["## Messages", ""]
    for o in messages:
        body = "\n".join(f"> {line}" for line in harmless(o.text, lines=True).split("\n"))
        lines += [f"**{shown_name(o.actor)}** · {minute(o.at)}", "", body, ""]
    return "\n".join(lines)


def facts_as_lived(memory: "UserMemory", cards: "Sequence[FactCard]") -> "list[FactCard]":
    """Return facts with their days, and the times of what was said, as they were lived."""
    facts = as_lived(memory, [card.fact for card in cards])
    return [
        replace(card, fact=fact, quotes=as_lived(memory, card.quotes))
        for card, fact in zip(cards, facts, strict=True)
    ]
