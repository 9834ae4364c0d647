"""Say why episodes begin and end where they do, and what another policy would have done."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.core.boundary.contract import (
    Arrival,
    Boundary,
    Input,
    ManualCut,
    Policy,
    Question,
    Record,
    Tick,
    Verdict,
)
from episodic_agent.core.boundary.conversation import asking, reading
from episodic_agent.core.boundary.machine import Answer, unpack_record
from episodic_agent.core.boundary.machine import replay as replay_inputs
from episodic_agent.core.boundary.policies import asking as asking_policy
from episodic_agent.core.boundary.steps.default import PLACE
from episodic_agent.core.context.retrieved import heading
from episodic_agent.core.echo import echo_of, own_words
from episodic_agent.core.language import plural
from episodic_agent.engine.deps import NO_EMBEDDER
from episodic_agent.engine.episodes.listing import open_frame, successor, with_words
from episodic_agent.engine.sections.bounds import with_end
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import OBSERVATIONS, Transaction, ref_of, stored_decision
from episodic_agent.schemas import (
    Decision,
    Episode,
    EpisodeKind,
    EpisodeState,
    Observation,
    Reason,
    TimeSource,
)
from episodic_agent.showing import as_card, described, visible

NEAR = 3  # how many runner-up gaps an explanation names
_OF_MODELS: Final = (*asking.LEFT, *reading.LEFT)  # cues that tell what a model said
HAND: Final = "hand"  # the mode of a boundary that somebody put, and of the generation it began
JOINED: Final = "joined"  # seqs at which two episodes were joined, in the decision of what they became


@dataclass(frozen=True, slots=True)
class Edge:
    """One end of an episode and what decided it; `decision` is None where the thread begins or is open."""

    seq: int
    reason: str
    sentence: str
    observation: Observation | None
    decision: Decision | None

    def __repr__(self) -> str:
        return described(self, f"at {self.seq}", self.sentence)


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """A gap inside the episode that nearly became a boundary: what would have been needed."""

    seq: int
    probability: float
    threshold: float
    observation: Observation | None
    held: str = ""  # why a score over the threshold did not cut

    def __repr__(self) -> str:
        return described(self, f"at {self.seq}", f"{self.probability:.2f} of {self.threshold:.2f}")


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an episode begins and ends where it does.

    `asked` is the id of the replaced episode that was asked for, where this one stands in its place. `echoes`
    tell which of its messages only repeat what was recalled.
    """

    episode: Episode
    begins: Edge
    ends: Edge
    runners_up: Sequence[RunnerUp]
    what_would_change: Sequence[str]
    asked: UUID | None = None
    echoes: Sequence[str] = ()

    def __repr__(self) -> str:
        return described(
            self,
            self.episode.start_at,
            self.episode.title,
            f"begins: {self.begins.sentence}",
            f"ends: {self.ends.sentence}",
        )

    def __str__(self) -> str:
        """Say what the episode is called, why it begins and ends there, and what nearly cut it."""
        return visible("\n".join([_heading(self), *_lines(self)]))

    def _repr_html_(self) -> str:
        """Show the explanation in a notebook."""
        return as_card(_heading(self), lines=_lines(self))


def _heading(explanation: Explanation) -> str:
    return (
        f"{explanation.episode.start_at:%Y-%m-%d %H:%M} "
        f"{heading(explanation.episode.title, explanation.episode.start_at)}"
    )


def _lines(explanation: Explanation) -> list[str]:
    near = [
        f"nearly cut at {one.seq}: {one.probability:.2f} of {one.threshold:.2f}"
        + (f", not cut: {one.held}" if one.held else "")
        for one in explanation.runners_up
    ]
    return [
        f"begins: {explanation.begins.sentence}",
        f"ends: {explanation.ends.sentence}",
        *near,
        *explanation.what_would_change,
    ]


def explain(tx: Transaction, episode_id: UUID) -> Explanation:
    """Explain an episode, or an open frame, from stored decisions and records; NotFound for an unknown id.

    For a replaced episode, the one that stands in its place is explained.
    """
    identifier = successor(tx, episode_id)
    episode = tx.episodes.get(identifier) or _open_episode(tx, identifier)
    if episode is None:
        raise NotFound(f"no episode {episode_id} in this memory; `episodic episodes` lists the ids")
    if episode.kind is EpisodeKind.CROSS_THREAD:
        raise InvalidInput(
            f"episode {identifier} is made of linked threads; `episodic link explain` tells of each"
        )
    if episode.kind is EpisodeKind.PRIMARY:
        return _explain_section(tx, with_end(tx, episode))
    thread = tx.episodes.list(threads=[episode.thread_id])
    before = next((e for e in thread if e.last_seq == episode.first_seq - 1), None)
    ends = episode.last_seq + 1
    records = read_records(tx, episode.thread_id, episode.first_seq, ends)
    around = max(0, episode.first_seq - 1), ends
    words = {o.seq: o for o in tx.observations.read(episode.thread_id, *around)}
    began = stored_decision(tx, before.decision_id if before else None)
    ended = stored_decision(tx, episode.decision_id)
    within = set(range(episode.first_seq + 1, episode.last_seq + 1)) - _looked_back(began)
    inner = [r for seq, r in records.items() if seq in within and r.probability > 0]
    nearest = sorted(inner, key=lambda r: (-r.probability, r.seq))[:NEAR]
    return Explanation(
        episode=episode,
        begins=_edge(episode.first_seq, began, words, "the thread begins here"),
        ends=_edge(ends, ended, words, "the episode is still open"),
        runners_up=[
            RunnerUp(
                r.seq, r.probability, r.threshold, words.get(r.seq), _held(r, r.seq - episode.first_seq + 1)
            )
            for r in nearest
        ],
        what_would_change=_changes(began, ended, nearest),
        asked=None if identifier == episode_id else episode_id,
        echoes=[text for seq in range(episode.first_seq, ends) if (text := _echo(words.get(seq)))],
    )


def _echo(observation: Observation | None) -> str:
    """Say that an observation repeats recalled text, and of what it is an echo; "" where it does not."""
    echo = None if observation is None else echo_of(observation.extras, observation.text)
    if observation is None or echo is None:
        return ""
    share = sum(end - first for first, end in echo.spans) / len(observation.text)
    known = {"form": "by its form", "paste": "by its words", "quote": "quoted"}[echo.by]
    of = ", ".join(name[:8] for name in echo.sources if name)
    source = f"an echo of {of}" if of else "an echo of recalled text"
    how = "all of it" if echo.is_complete else f"{share:.0%} of it"
    return f"message {observation.seq} is {source} ({how}, {known}): no new memory"


_BEGAN: Final = {
    "": "the thread begins here",
    "size": "the part before was full",
    "time": "the part before was a day old",
    "reopened": "the thread went on after it was over",
}
_DUE: Final = {
    "manual": "somebody asked for it",
    "thread_end": "its thread was over",
    "size": "it was full",
    "time": "it was a day old",
}


def _explain_section(tx: Transaction, episode: Episode) -> Explanation:
    """Explain a part of a thread: why it was begun, and why and how it was compacted."""
    section = tx.threads.section(episode.thread_id, episode.first_seq)
    decision = stored_decision(tx, episode.decision_id)
    ends = episode.last_seq + 1
    words = {
        seq: o for seq in (episode.first_seq, ends) for o in tx.observations.read(episode.thread_id, seq, seq)
    }
    why = section.opened_for if section is not None else ""
    if decision is None:
        text = "the part is not compacted yet"
    else:
        compared = f"{decision.score:.4g} of {decision.threshold:.4g}"
        text = f"compacted by {decision.policy_version} because {_DUE[decision.verdict]} ({compared})"
    begins = Edge(episode.first_seq, why, _BEGAN.get(why, why), words.get(episode.first_seq), None)
    verdict = "" if decision is None else decision.verdict
    return Explanation(episode, begins, Edge(ends, verdict, text, words.get(ends), decision), (), ())


def _looked_back(began: Decision | None) -> set[int]:
    """Return the step whose check cut off an earlier one: it says nothing about a cut at itself."""
    answer = began.detail.get("decided_at_seq") if began and began.detail.get("action") == PLACE else None
    return {answer} if isinstance(answer, int) else set()


def _open_episode(tx: Transaction, episode_id: UUID) -> Episode | None:
    """Describe the open frame listed under this id as the episode it would be if it were cut now."""
    card = open_frame(tx, episode_id)
    if card is None:
        return None
    [card] = with_words(tx, [card])
    frame = tx.threads.frame(card.thread_id)
    return Episode(
        id=episode_id,
        thread_id=card.thread_id,
        first_seq=frame.first_seq,
        last_seq=frame.next_seq - 1,
        start_at=card.start_at,
        end_at=card.end_at,
        created_at=card.end_at,
        reason="",
        surprise=0.0,
        stability=card.stability,
        difficulty=0.0,
        last_reviewed_at=card.end_at,
        state=EpisodeState.OPEN,
        title=card.title,
    )


def _edge(seq: int, decision: Decision | None, words: Mapping[int, Observation], otherwise: str) -> Edge:
    observation = words.get(seq)
    if decision is None:
        return Edge(seq, "", otherwise, observation, None)
    sentence = _sentence(decision) + silence(words.get(seq - 1), observation)
    return Edge(seq, decision.verdict, sentence, observation, decision)


def silence(before: Observation | None, after: Observation | None) -> str:
    """Say how long nobody spoke between two observations whose times were given; "" under two minutes."""
    if before is None or after is None or TimeSource.ASSUMED in (before.at_source, after.at_source):
        return ""
    minutes = (after.at - before.at).total_seconds() / 60
    if minutes < 2:
        return ""
    days, hours = minutes / 1440, minutes / 60
    text = f"{days:.0f} days" if days >= 2 else f"{hours:.0f} h" if hours >= 2 else f"{minutes:.0f} min"
    return f", after {text} of silence"


_ENDED: Final[Mapping[str, str]] = {  # what closes everything taken in, whatever a policy says
    Reason.WORLD_END: "the world's episode was over, and it was set up anew",
    Reason.END_OF_STREAM: "the sensor gave no more",
    Reason.THREAD_END: "its thread was closed or its session ended",
}


def _sentence(decision: Decision) -> str:
    who = "the clock" if "tick" in str(decision.detail.get("input", "")) else ""
    if decision.verdict == Reason.MANUAL:
        by_hand = decision.detail.get("mode") == HAND
        return (
            "somebody cut it here by hand" if by_hand else "a flush closed everything taken in so far"
        ) + _hand_joins(decision)
    if decision.verdict in _ENDED and decision.detail.get("input"):
        return f"{decision.verdict}: {_ENDED[decision.verdict]}" + _hand_joins(decision)
    if decision.verdict == Reason.SIZE_CAP and decision.score < decision.threshold:
        text = f"probability {decision.score:.2f} of {decision.threshold:.2f}"
        return f"size_cap: the episode had grown too long and was cut where it was likeliest ({text})"
    weighed, part = asking.read(decision.features), reading.read(decision.features)
    strongest = sorted(_unasked(decision.features).items(), key=lambda kv: (-abs(kv[1]), kv[0]))[:4]
    cues = ", ".join(f"{name} {value:.2f}" for name, value in strongest)
    text = f"probability {decision.score:.2f} reached the threshold {decision.threshold:.2f}"
    if part is not None:
        text += f"; a language model that read all of it began a part here, else it was {part.unread:.2f}"
    elif weighed is not None:
        word = "yes" if weighed.boundary else "no"
        text += (
            f"; a language model said {word} ({weighed.confidence:.2f}), without it it was "
            f"{weighed.unasked:.2f}"
        )
    if str(decision.detail.get("mode", "")).startswith("whole"):
        text += " with the whole thread known"
    why = f"{decision.verdict}{' by ' + who if who else ''}: {text}" + (f" ({cues})" if cues else "")
    return why + _hand_joins(decision)


def _held(record: Record, steps: int) -> str:
    """Say why a score over the threshold did not cut; "" where it was not over. `steps` is its episode's."""
    if record.probability <= record.threshold:
        return ""
    if record.cues.get("armed") == 0.0 and not record.cues.get("location"):
        return "since the last cut the score had not been low yet"
    if "armed" in record.cues:
        return f"the episode had too few steps ({steps})"
    return "a rule of the policy kept it together"


def _hand_joins(decision: Decision) -> str:
    """Say where somebody joined what is one episode now; "" where nobody did."""
    joins = decision.detail.get(JOINED)
    if not isinstance(joins, Sequence) or not joins:
        return ""
    return f"; what was cut before message {', '.join(map(str, joins))} was joined by hand"


def _unasked(cues: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in cues.items() if name not in _OF_MODELS}


def _without_models(cues: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield what a model said of a gap, and the probability without that."""
    if (part := reading.read(cues)) is not None:
        yield "reading", part.unread
    if (answer := asking.read(cues)) is not None:
        yield "answer", answer.unasked


def _changes(began: Decision | None, ended: Decision | None, nearest: Sequence[Record]) -> list[str]:
    changes = [
        f"a threshold above {d.score:.2f} (it is {d.threshold:.2f}) would have joined this to the {side}"
        if d.score < 1
        else f"no threshold would have joined this to the {side}: {d.verdict} was certain"
        for d, side in ((began, "one before"), (ended, "one after"))
        if d is not None and d.verdict not in (Reason.MANUAL, Reason.SIZE_CAP)
    ]
    changes += [
        f"without the language model's {said} this would have been joined to the {side}"
        for d, side in ((began, "one before"), (ended, "one after"))
        if d is not None
        for said, without in _without_models(d.features)
        if without < d.threshold
    ]
    changes += [
        f"without the language model's {said} it would have been split before message {r.seq}"
        for r in nearest
        for said, without in _without_models(r.cues)
        if without >= r.threshold > r.probability
    ]
    below = [one for one in nearest if one.probability <= one.threshold]
    if below:
        best = below[0]
        changes.append(
            f"a threshold of {best.probability:.2f} or less would have split it before message {best.seq}"
        )
    return changes


def read_records(tx: Transaction, thread_id: UUID, first_seq: int, last_seq: int) -> dict[int, Record]:
    """Read the checks' records of a span."""
    packed = tx.observations.records(thread_id, first_seq, last_seq)
    return {seq: unpack_record(seq, body) for seq, body in packed.items()}


# --- replay ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExplainedSpan:
    """A would-be episode: its seqs (inclusive) and why it ends; an open end has the reason `open`."""

    first_seq: int
    last_seq: int
    reason: str


@dataclass(frozen=True, slots=True)
class Replay:
    """What a policy makes of a thread's stored observations."""

    spans: Sequence[ExplainedSpan]
    cuts: Sequence[Boundary]
    records: Sequence[Record]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The stored episodes of a thread beside those of another policy; nothing was written."""

    thread_id: UUID
    policy: str
    stored: Sequence[ExplainedSpan]
    proposed: Sequence[ExplainedSpan]
    same: int
    removed: Sequence[int] = field(default=())
    added: Sequence[int] = field(default=())

    def __repr__(self) -> str:
        return described(
            self,
            self.policy,
            plural(len(self.proposed), "episode") + f" instead of {len(self.stored)}",
            f"{self.same} the same",
        )


def replay(tx: Transaction, thread_id: UUID, policy: Policy[Any], embedder: str) -> Replay:
    """Run a policy over exactly the recorded inputs of a thread: observations, flushes and clock ticks (I7).

    What a language model said of a gap is kept with it and said again where `default` would ask; every other
    question is answered by the fallback.
    """
    inputs = stored_inputs(tx, thread_id, embedder)
    step = replay_inputs(inputs, asking_policy(policy), answer=_recorded(tx, thread_id))
    return Replay(spans_of(step.cuts, tx.threads.frame(thread_id).next_seq), step.cuts, step.records)


def _recorded(tx: Transaction, thread_id: UUID) -> Answer:
    """Return who says again what a model said when the thread's gaps were decided."""

    def answer(question: Question) -> Verdict | None:
        record = read_records(tx, thread_id, question.asked_of, question.asked_of).get(question.asked_of)
        weighed = None if record is None else asking.read(record.cues)
        return None if weighed is None else Verdict(weighed.boundary, weighed.confidence)

    return answer


def stored_inputs(
    tx: Transaction, thread_id: UUID, embedder: str, before_seq: int | None = None
) -> Iterator[Input]:
    """Yield a thread's recorded inputs in their order (only those before a seq)."""
    end = tx.threads.frame(thread_id).next_seq if before_seq is None else before_seq
    number = tx.threads.number(thread_id)
    drains = recorded_drains(tx, tx.episodes.list(threads=[thread_id]))
    for start in range(0, end, 1024):
        observations = tx.observations.read(thread_id, start, min(start + 1024, end) - 1)
        refs = [ref_of(number, o.seq) for o in observations]
        vectors = {} if embedder == NO_EMBEDDER else tx.index.vectors(OBSERVATIONS, embedder, refs)
        for ref, observation in zip(refs, observations, strict=True):
            yield Arrival(own_words(observation), vectors.get(ref))
            if observation.seq in drains:
                yield drains[observation.seq]


def recorded_drains(tx: Transaction, episodes: Sequence[Episode]) -> Mapping[int, Input]:
    """Return the flushes, thread ends and ticks that closed episodes, each by the last seq it closed."""
    results: dict[int, Input] = {}
    for episode in episodes:
        decision = stored_decision(tx, episode.decision_id)
        arguments = decision.detail.get("input") if decision is not None else None
        if not isinstance(arguments, Mapping):
            continue
        if "tick" in arguments:
            results[episode.last_seq] = Tick(datetime.fromisoformat(str(arguments["tick"])))
        else:
            at, reason = str(arguments["manual"]), str(arguments["reason"])
            results[episode.last_seq] = ManualCut(datetime.fromisoformat(at), Reason(reason))
    return results


def spans_of(cuts: Sequence[Boundary], next_seq: int) -> list[ExplainedSpan]:
    """Return what cuts make of the observations before `next_seq`."""
    spans: list[ExplainedSpan] = []
    first = 0
    for cut in cuts:
        spans.append(ExplainedSpan(first, cut.before_seq - 1, str(cut.reason)))
        first = cut.before_seq
    return [*spans, ExplainedSpan(first, next_seq - 1, "open")] if first < next_seq else spans


def stored_spans(tx: Transaction, thread_id: UUID) -> list[ExplainedSpan]:
    """Return a thread's current episodes and its open frame."""
    frame = tx.threads.frame(thread_id)
    stored = [ExplainedSpan(e.first_seq, e.last_seq, e.reason) for e in tx.episodes.list(threads=[thread_id])]
    if frame.first_seq < frame.next_seq:
        stored.append(ExplainedSpan(frame.first_seq, frame.next_seq - 1, "open"))
    return stored


def whatif(tx: Transaction, thread_id: UUID, policy: Policy[Any], embedder: str) -> WhatIf:
    """Compare a thread's stored episodes with those another policy would make; writes nothing."""
    if tx.threads.get(thread_id) is None:
        raise NotFound(f"no thread {thread_id} in this memory")
    proposed = replay(tx, thread_id, policy, embedder).spans
    stored = stored_spans(tx, thread_id)
    before, after = ({s.first_seq for s in spans if s.first_seq} for spans in (stored, proposed))
    both = {(s.first_seq, s.last_seq) for s in stored} & {(s.first_seq, s.last_seq) for s in proposed}
    return WhatIf(
        thread_id, policy.name, stored, proposed, len(both), sorted(before - after), sorted(after - before)
    )
