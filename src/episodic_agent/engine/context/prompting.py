"""The default context: what is known, what has worked, the session before, this talk, what was earlier.

Everything is read in the caller's transaction; `core/context/telling.py` chooses and writes. Of standing
wishes those to the assistant count, in a conversation of whom it is written with.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial
from itertools import chain, islice
from typing import Final
from uuid import UUID

from episodic_agent.core import recall as ranking
from episodic_agent.core.chains.metadata import UNKNOWN, read_metadata
from episodic_agent.core.context.frames import ContextPhrases, frame_for
from episodic_agent.core.context.quoting import as_sentence
from episodic_agent.core.context.relevance import RIVALS
from episodic_agent.core.context.telling import (
    BAR,
    LONGEST,
    SHARES,
    Block,
    Continued,
    QuotedText,
    tell,
    told_within,
)
from episodic_agent.core.context.tokens import estimate
from episodic_agent.core.episodes.repeats import title_beside, unsaid
from episodic_agent.core.facts.harm import is_about_eating, tells_of_diet
from episodic_agent.core.facts.quoting import is_quotation
from episodic_agent.core.facts.rules import asks_for_rules
from episodic_agent.core.facts.speakers import OWNER, as_prompted, person_of
from episodic_agent.core.facts.stating import WISH, wish
from episodic_agent.core.identity import episode_id
from episodic_agent.core.language import excerpt, tokens
from episodic_agent.core.skills.confidence import present_confidence
from episodic_agent.core.skills.requests import fit
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.engine.chains.ancestry import parents_above
from episodic_agent.engine.context.declaring import came_to, decided
from episodic_agent.engine.context.gathering import NEWEST, OF_EACH, Situation, gathered, link_worth
from episodic_agent.engine.context.lines import are_named, replier, says_nothing
from episodic_agent.engine.context.passages import PieceReading, with_nearness
from episodic_agent.engine.context.replacing import (
    Surroundings,
    beside_what_holds,
    not_over,
    with_corrections,
    with_late_answers,
    without_replaced,
)
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.listening import calling, lines_around, listeners
from episodic_agent.engine.facts.quoting import knows_meaning
from episodic_agent.engine.links.linked import NearThread, on_both_sides
from episodic_agent.engine.recall.facts import PER_LEG, after_what_holds, best_facts
from episodic_agent.engine.threads.resolving import given_name, is_place
from episodic_agent.engine.threads.session_records import SessionFacts, declared, session_at
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import FACTS, Transaction, ref_of
from episodic_agent.schemas import Episode, Observation, Section, Thread
from episodic_agent.schemas.contexts import Basis, Context, ContextItem, LineKind
from episodic_agent.schemas.facts import Category, Fact, StoredFact
from episodic_agent.schemas.observations import by_clock
from episodic_agent.schemas.skills import SkillState

STANDING: Final = (Category.GUIDELINE, Category.IDENTITY, Category.PREFERENCE)
MOST_STANDING: Final = 6  # facts told whatever is asked,
MOST_WISHES: Final = 16  # or so many, where they are standing wishes or pinned: each counts until taken back
MOST_FACTS: Final = 10
_LOOKED_AT: Final = 400  # the newest facts, for those that always stand
_BEST: Final = 60  # facts that bear on the message the likeliest
_BEARS: Final = 0.25  # score from which a fact bears on the message
HERE: Final = 6  # messages of this conversation, in any case
_MOST_HERE: Final = 40  # where the budget has room for them
MOST_SKILLS: Final = 2
_FITS: Final = 0.5  # share of what a skill's requests have in common that the message has
_SURE: Final = 0.5  # confidence
_TURNS: Final = 8  # of a skill, the newest, among which one is its source
_TOLD_WISH: Final = 0.55  # from which a standing wish is told whatever is said
_LASTS: Final = 1.0  # log-odds that being a fact adds to what a quotation is worth
_UNKNOWN: Final = -99.0  # of a quotation that nothing leads to from this message
_PINNED: Final = 1.0  # above what else stands first
_FIRST: Final = 6.0  # worth of what stands first, above all that is recalled
_SESSION: Final = 4.0
_PROMISED: Final = 6.0
_LONGEST_PROMISE: Final = 160  # characters of what was taken on, and of what settled it
_HERE: Final = 3.0
_STEP: Final = 0.5
_LEAST_HERE: Final = -3.0
_AROUND: Final = 3  # tokens of a line beside its text
_SHORTEST_BREAK: Final = timedelta(minutes=5)  # which is told of at all,
_LONGEST_BREAK: Final = timedelta(weeks=3)  # and of what nobody linked: no life with labels has a longer one
_ASKED: Final = 40  # texts the language of the frame is read from


@dataclass(frozen=True, slots=True)
class Prompt:
    """A context as it was written, with what names the sources of its lines."""

    context: Context
    episodes: Mapping[int, UUID]  # by line
    threads: Mapping[UUID, Thread]
    names: Mapping[tuple[UUID, int], str]  # of observations


def prompt(
    tx: Transaction,
    deps: Deps,
    *,
    current: Situation,
    near: Sequence[NearThread],
    explicit: bool,
    max_tokens: int,
    visibility: Visibility,
    policy: str = RIVALS,
    called: Callable[[Thread], str],
    pieces: PieceReading,
) -> Prompt:
    """Return the default context of a message, by what it is said into.

    `called` gives the title of a thread that it may go on from, `pieces` how near those of long texts are.
    """
    facts, proofs = _known(tx, deps, current, visibility, policy)
    here = _here(current, max_tokens)
    number = current.number or 0
    shown = frozenset(ref_of(number, item.first_seq) for item in here)
    linked = {
        item.thread.id: link_worth(chosen=item.basis is not Basis.CONTINUITY, uncertain=item.uncertain)
        for item in near
    }
    apart = set() if current.thread is None else on_both_sides(tx, current.thread.id) - set(linked)
    earlier: list[QuotedText] = []
    stored: dict[int, Observation] = {}
    if policy != RIVALS or not says_nothing(current.text):
        earlier, stored = gathered(
            tx, deps, current, linked=linked, apart=apart, visibility=visibility, shown=shown, policy=policy
        )
    here = _named(here, named=are_named((*current.before, *stored.values())))
    frame = frame_for(current.text, _asked(tx, current, earlier, visibility), deps.language)
    session = _session(tx, deps, current, visibility, [item.text for item in here], frame)
    if policy == RIVALS:
        bounded = _is_bounded(current, earlier)
        facts = _of_its_time(_bearing(facts, earlier, current), current, alone=bounded)
        around = Surroundings(current, visibility, frozenset(apart), shown, deps.language)
        earlier, stored = with_late_answers(tx, around, earlier, stored)
        earlier, stored = beside_what_holds(tx, around, earlier, stored, max_tokens=max_tokens)
        earlier = _of_its_time(earlier, current, alone=bounded)
        facts, earlier = with_corrections(tx, deps, facts, earlier, stored)
        for line, spoken in decided(tx, current, earlier, session, apart, visibility=visibility, frame=frame):
            earlier.append(line)
            proofs.append(spoken)
    else:
        earlier = without_replaced(tx, earlier, stored, current.at)
    lines = [*facts, *_skills(tx, current, visibility), *session, *here, *earlier]
    lines = with_nearness(lines, current, pieces) if policy == RIVALS else lines
    write = partial(
        tell,
        current.text,
        [*lines, *_promised(current, frame)],
        continued=None if explicit else _continued(current, near, called, policy),
        frame=frame,
        policy=policy,
        place_of=_places(tx, current.thread),
    )
    return _sourced(tx, told_within(max_tokens, write), [*stored.values(), *current.before, *proofs])


def _of_its_time(lines: Sequence[QuotedText], now: Situation, *, alone: bool) -> list[QuotedText]:
    """Return lines without those of other days than the ones alone that are told; wishes count always."""
    return [line for line in lines if not alone or line.wish or now.when is None or now.when.holds(line.at)]


def _is_bounded(now: Situation, earlier: Sequence[QuotedText]) -> bool:
    """Tell whether the days asked for alone are told: of what bears on the message nothing else is left."""
    if now.when is None or not now.when.bounds:
        return False
    bearing = [now.when.holds(line.at) for line in earlier if line.worth >= BAR]
    return bool(bearing) and all(bearing)


def _asked(
    tx: Transaction, now: Situation, earlier: Sequence[QuotedText], visibility: Visibility
) -> list[str]:
    """Return what the user said, for the language they speak: here and earlier, else in the latest threads.

    Where they said nothing yet, what they were told stands for it.
    """
    asked = [item.text for item in now.before if not is_reply(item)]
    asked += [item.text for item in sorted(earlier, key=lambda item: -item.worth) if not item.reply][:_ASKED]
    if asked:
        return asked
    read: list[Observation] = []
    for thread in tx.threads.list(begun=now.at, limit=NEWEST):
        if not now.others.hold_thread(tx, thread.id):
            number, end = tx.threads.number(thread.id), tx.threads.frame(thread.id).next_seq
            last = tx.observations.read(thread.id, max(0, end - OF_EACH), end - 1) if end else ()
            read += [item for item in visibility.visible(number, last) if item.at <= now.at]
    return [item.text for item in read if not is_reply(item)] or [item.text for item in read]


def _places(tx: Transaction, current: Thread | None) -> Callable[[UUID], str]:
    """Return what tells the name of a thread that people come back to; "" for this one and all others.

    Said into such a place, a line of a named thread without its name would be taken to be from here.
    """
    here = current is not None and is_place(current)

    @cache
    def place_of(thread_id: UUID) -> str:
        thread = None if current is not None and thread_id == current.id else tx.threads.get(thread_id)
        return given_name(thread) if thread is not None and (here or is_place(thread)) else ""

    return place_of


def _sourced(tx: Transaction, context: Context, observations: Sequence[Observation]) -> Prompt:
    names = {(item.thread_id, item.seq): item.external_id or str(item.id) for item in observations}
    ids = list(dict.fromkeys(item.thread_id for item in context.items))
    threads = {item.id: item for item in tx.threads.list(ids=ids)} if ids else {}
    numbers = {item: tx.threads.number(item) for item in threads}
    refs = {item.line: ref_of(numbers[item.thread_id], item.first_seq) for item in context.items}
    owners = tx.index.episode_marks(list(refs.values()), covering=True)
    frames = tx.threads.frame(ids) if ids else {}
    episodes: dict[int, UUID] = {}
    for item in context.items:
        mark = owners.get(refs[item.line])
        frame = frames.get(item.thread_id)
        if mark is not None:
            episodes[item.line] = UUID(hex=mark.name)
        elif frame is not None and item.first_seq >= frame.first_seq:
            thread = threads[item.thread_id]
            episodes[item.line] = episode_id(thread.id, frame.first_seq, thread.generation)
    return Prompt(context, episodes, threads, names)


def source_of(item: ContextItem, prompt: Prompt) -> tuple[str, ...]:
    """Return the observations an item rests on, as their caller named them."""
    seqs = range(item.first_seq, item.last_seq + 1)
    return tuple(name for seq in seqs if (name := prompt.names.get((item.thread_id, seq))))


def _bearing(facts: Sequence[QuotedText], earlier: Sequence[QuotedText], now: Situation) -> list[QuotedText]:
    """Let a quoted fact compete by what its source is worth for this message; wishes and pinned ones stand.

    A quotation stands for who this is only as far as a judge of sentences can tell, which is not far enough
    to tell it to every message. How to answer is told with each, whatever that is about; a diet with what is
    about eating.
    """
    eating = is_about_eating(now.text)
    worths = {(item.thread_id, item.first_seq): item.worth for item in earlier}
    result = []
    for fact in facts:
        worth = worths.get((fact.thread_id, fact.first_seq))
        stands = fact.wish or fact.worth > _FIRST or (eating and tells_of_diet(fact.text))
        if fact.quotation and not stands:
            result.append(replace(fact, worth=_UNKNOWN if worth is None else worth + _LASTS))
        else:
            result.append(fact)
    return result


def _named(lines: Sequence[QuotedText], *, named: bool) -> list[QuotedText]:
    """Return lines of this conversation; where one person writes and nobody is `named`, it is who asks."""
    return [line if named or line.reply else replace(line, speaker="") for line in lines]


def _here(now: Situation, max_tokens: int) -> list[QuotedText]:
    """Return the last messages of this conversation, as many as there is room for, the newest worth most.

    A caller who sends this text and the message alone has no other history of it.
    """
    count, room = 0, SHARES[Block.HERE] * max_tokens
    for item in reversed(now.sitting[-_MOST_HERE:]):
        room -= min(estimate(item.text), LONGEST) + _AROUND
        if room < 0:
            break
        count += 1
    last = list(now.before[-max(HERE, count) :])
    if last and len(now.before) > len(last) and is_reply(last[0]):
        last = last[1:]
    return [
        QuotedText(
            Block.HERE,
            LineKind.PAIR,
            item.text,
            item.thread_id,
            None,
            item.seq,
            item.seq,
            item.at,
            max(_HERE - _STEP * place, _LEAST_HERE),
            speaker=replier(item) or item.actor,
            reply=is_reply(item),
        )
        for place, item in enumerate(reversed(last))
        if item.text.strip() and not (place == 0 and item.text == now.text)
    ]


def _promised(now: Situation, frame: ContextPhrases) -> list[QuotedText]:
    """Return the commitments asked for: who to whom, the words, when due, and what settled them."""
    quotes = []
    every = [listed.commitment for listed in now.taken_on.listed]
    for place, commitment in enumerate(every):
        item, done, due = commitment.observation, commitment.settled_by, commitment.due
        words = excerpt(commitment.text, now.text, _LONGEST_PROMISE)
        state = "" if due is None else f" ({frame.due.replace('{}', due.isoformat())})"
        if done is not None:
            report = excerpt(done.text, now.text, _LONGEST_PROMISE)
            when = frame.done.replace("{}", f"{by_clock(done.at, done.utc_offset):%Y-%m-%d}")
            reporter = "" if done.actor == item.actor else f"{done.actor} "
            state = f" ({when} – {reporter}“{report}”)"
        worth = _PROMISED - place / len(every)
        thread, seq = item.thread_id, item.seq
        quotes.append(
            QuotedText(
                Block.PROMISED,
                LineKind.RECALLED,
                f"{words}{state}",
                thread,
                None,
                seq,
                seq,
                item.at,
                worth,
                speaker=f"{item.actor} → {commitment.to}" if commitment.to else item.actor,
            )
        )
    return quotes


def _asks_days_alone(now: Situation) -> bool:
    """Tell whether a message asks only what is due: of any matter, so that it goes on from none."""
    return now.when is not None and now.when.due and now.when.alone


def _continued(
    now: Situation, near: Sequence[NearThread], called: Callable[[Thread], str], policy: str
) -> Continued | None:
    """Return the most recent linked thread that ended before this one began.

    Only as this one begins: after a first exchange it is its own words that a message goes on with. What
    ended a moment ago is no break yet, and after weeks a word in common says too little, unless a hand or
    the user linked them.
    """
    if _asks_days_alone(now) or any(is_reply(item) for item in now.sitting):
        return None
    began = now.at if now.thread is None else min(now.at, now.thread.created_at)
    if now.before:
        began = min(began, now.before[0].at)
    ended = [item for item in near if item.thread.last_activity_at <= began]
    if not ended:
        return None
    last = max(ended, key=lambda item: (item.thread.last_activity_at, item.thread.id))
    gap = began - last.thread.last_activity_at
    guessed = last.basis is Basis.CONTINUITY
    if policy == RIVALS and (gap < _SHORTEST_BREAK or (guessed and gap > _LONGEST_BREAK)):
        return None
    title, at = called(last.thread), last.thread.last_activity_at
    return Continued(last.thread.id, 0, at, began, last.uncertain, title) if title.strip() else None


def _skills(tx: Transaction, now: Situation, visibility: Visibility) -> list[QuotedText]:
    """Return how the like of this message was dealt with: active skills that fit it, best first."""
    fitting = [
        (fit(stored.skill, now.text), present_confidence(stored.skill, now.at), stored)
        for stored in tx.knowledge.skills(state=SkillState.ACTIVE)
    ]
    fitting = [row for row in fitting if row[0] >= _FITS and row[1] >= _SURE]
    fitting.sort(key=lambda row: (-row[0], -row[1], row[2].id))
    quotes: list[QuotedText] = []
    for share, sure, stored in fitting[:MOST_SKILLS]:
        source = _shown_turn(tx, stored.id, now, visibility)
        if source is None:
            continue
        text = " → ".join([stored.skill.description, *stored.skill.steps])
        thread, seq, at = source.thread_id, source.seq, source.at
        worth = _HERE + share * sure
        quotes.append(QuotedText(Block.SKILLS, LineKind.SKILL, text, thread, None, seq, seq, at, worth))
    return quotes


def _shown_turn(tx: Transaction, skill: UUID, now: Situation, visibility: Visibility) -> Observation | None:
    """Return the newest shown message, said by now, that begins a turn which shows the skill."""
    learned = tx.knowledge.evidence(skill)
    if now.others.outside(turn.thread_id for turn in learned):
        return None  # its words may be those of any of them
    turns = learned[-_TURNS:]
    numbers = {thread: tx.threads.number(thread) for thread in {turn.thread_id for turn in turns}}
    refs = {ref_of(numbers[turn.thread_id], turn.seq): turn for turn in turns}
    hidden = visibility.why(list(refs))
    read = [
        observation
        for ref, turn in refs.items()
        if ref not in hidden
        for observation in tx.observations.read(turn.thread_id, turn.seq, turn.seq)
        if observation.at <= now.at and not now.others.hold_thread(tx, turn.thread_id)
    ]
    return max(read, key=lambda item: (item.at, item.seq), default=None)


def _session(
    tx: Transaction,
    deps: Deps,
    now: Situation,
    visibility: Visibility,
    here: Sequence[str],
    frame: ContextPhrases,
) -> list[QuotedText]:
    """Return what the session before this one came to: its summary, outcome and decisions.

    `here` are texts that stand in this conversation: they are not said again. Where a session grew into
    several parts, both the part before and the session before are told.
    """
    if now.thread is None or now.place == -1:
        return []
    section = tx.threads.section(now.thread.id, now.place)
    if section is None:
        return []
    above, session = parents_above(tx, [section.episode_id]), session_at(tx, section)
    if session is None and now.before and not now.sitting and now.place != now.end:
        return []  # after a pause the session before is the one whose last messages stand here
    parents = [above.get(section.episode_id)]
    if session is not None and section.episode_id != session.episode_id:
        parents.append(above.get(session.episode_id))
    named = [one for one in dict.fromkeys(parents) if one is not None]
    stored = tx.episodes.get(named)
    episodes = [stored[one] for one in named if one in stored]
    latest = max(now.at, section.first_at)  # a clock may be behind what was said; what went before is over
    shown = [
        one
        for one in episodes
        if one.end_at <= latest
        and not now.others.hold_thread(tx, one.thread_id)
        and _goes_before(tx, one, section, session)
        and not visibility.why_episode(one)
    ]
    return [
        quote
        for one in shown
        for quote in _session_quote(tx, visibility.worded(one), deps.language, here, frame)
    ]


def _goes_before(tx: Transaction, parent: Episode, section: Section, session: SessionFacts | None) -> bool:
    """Tell whether an episode is what a part goes on from, or the part just before it in its thread.

    What a part of a running thread is like somewhere further up in it is not the session before: that was
    another.
    """
    if session is not None or parent.thread_id != section.thread_id:
        return True
    before = tx.threads.section(section.thread_id, section.first_seq - 1) if section.first_seq else None
    return before is not None and before.episode_id == parent.id


def _session_quote(
    tx: Transaction, episode: Episode, language: str | None, here: Sequence[str], frame: ContextPhrases
) -> list[QuotedText]:
    summary = _came_to(tx, episode, language, here, frame)
    if not summary:
        return []
    first, last = episode.first_seq, max(episode.first_seq, episode.last_seq)
    thread = episode.thread_id
    source = QuotedText(
        Block.SESSION, LineKind.SESSION, summary, thread, episode.id, first, last, episode.end_at, _SESSION
    )
    return [source]


def _came_to(
    tx: Transaction, episode: Episode, language: str | None, here: Sequence[str], frame: ContextPhrases
) -> str:
    metadata = declared(tx, episode)
    encoded = read_metadata(episode.metadata)
    outcome = metadata.outcome if metadata.outcome != UNKNOWN else encoded.outcome
    rest = unsaid(episode.summary, here, language)
    # all of it stands below: its title would only say so again
    title = (
        as_sentence(title_beside(episode.title, episode.summary, language))
        if rest or not episode.summary
        else ""
    )
    ending = came_to(frame, outcome, metadata.key_decisions or encoded.key_decisions)
    return " ".join(part for part in (title, rest, ending) if part)


def _known(
    tx: Transaction, deps: Deps, now: Situation, visibility: Visibility, policy: str
) -> tuple[list[QuotedText], list[Observation]]:
    """Return standing wishes and who this is, then facts that bear on the message, and their proofs."""
    kept_facts = tx.knowledge.facts(current=now.at, limit=_LOOKED_AT)
    asked = policy == RIVALS and asks_for_rules(now.text, now.vector if knows_meaning(deps) else None)
    wishes = _wishes(tx, deps, kept_facts, every=asked)
    lasts = wishes | (_diets(kept_facts, now) if policy == RIVALS else frozenset())
    standing = _standing(tx, [kept.fact for kept in kept_facts], now, lasts)
    if not standing and not tx.count("facts", limit=1):
        return [], []
    pairs = _best(tx, deps, now)
    if policy == RIVALS:
        standing, pairs = _meant_here(tx, standing, pairs, now)
    scores = {fact.id: score for fact, score in pairs}
    standing.sort(key=lambda item: _weightiest_first(item, lasts, scores))
    standing = list(islice(not_over(tx, standing, now.at), MOST_WISHES))
    lasting = sum(item.pinned or item.id in lasts for item in standing)
    standing = standing[: max(lasting, MOST_STANDING)]
    bearing = not_over(tx, (fact for fact, score in pairs if score >= _BEARS), now.at)
    ranked: dict[UUID, Fact] = {item.id: item for item in chain(standing, islice(bearing, MOST_FACTS))}
    chosen = list(ranked.values())[: max(MOST_FACTS, len(standing) + MOST_FACTS - MOST_STANDING)]
    proofs = tx.observations.get([e.observation_id for item in chosen for e in item.evidence])
    quotes, used = [], []
    numbers = {item.thread_id: tx.threads.number(item.thread_id) for item in proofs.values()}
    elsewhere = now.others.among(tx, numbers)
    for place, fact in enumerate(chosen):
        proof = _proof(fact, proofs, numbers, elsewhere, now, visibility)
        if proof is None or visibility.holds(fact.fact) or not tokens(fact.fact):
            continue
        used.append(proof)
        standing_line = place < len(standing)
        # what was said at a time stands under its day, in its own words; wishes count whatever is asked
        when = now.when if now.when is not None and now.when.alone and not fact.pinned else None
        dropped = is_quotation(fact) or not (standing_line or (when is not None and when.holds(proof.at)))
        if when is not None and fact.id not in lasts and dropped:
            continue
        worth = _FIRST - 0.1 * place if standing_line else _HERE + scores.get(fact.id, 0.0)
        rule = asked and fact.id in wishes
        worth += _PINNED if rule or (fact.pinned and policy == RIVALS) else 0.0
        quotes.append(
            QuotedText(
                Block.KNOWN,
                LineKind.FACT,
                as_prompted(fact.fact),
                proof.thread_id,
                None,
                proof.seq,
                proof.seq,
                by_clock(fact.stated_at, proof.utc_offset),
                worth,
                quotation=is_quotation(fact),
                wish=standing_line and (fact.id in wishes or fact.pinned),
                rule=rule,
            )
        )
    return quotes, used


def _best(tx: Transaction, deps: Deps, now: Situation) -> list[tuple[Fact, float]]:
    """Return the facts that bear on a message the likeliest, none from elsewhere, with their scores."""
    query = ranking.analyse(now.text, (), now.at, language=deps.language)
    pairs = best_facts(tx, deps, query, now.vector, limit=PER_LEG if now.others else _BEST, at=now.at)
    here = now.others.proved(tx, (fact for fact, _ in pairs))
    return [(here[fact.id], score) for fact, score in pairs if fact.id in here][:_BEST]


def _diets(kept_facts: Sequence[StoredFact], now: Situation) -> frozenset[UUID]:
    """Return the newest facts that tell of allergies and diets, where a message is about eating."""
    if not is_about_eating(now.text):
        return frozenset()
    named = [kept for kept in kept_facts if tells_of_diet(kept.fact.value or kept.fact.fact)]
    named.sort(key=lambda kept: (kept.fact.stated_at, kept.id), reverse=True)
    return frozenset(kept.id for kept in named[:MOST_STANDING])


def _standing(tx: Transaction, facts: Sequence[Fact], now: Situation, lasts: AbstractSet[UUID]) -> list[Fact]:
    """Return the facts that hold here and may stand before every message, whatever that is about."""
    holding = [fact for fact in facts if fact.holds and fact.held_at(now.at)]
    some = [fact for fact in holding if fact.category in STANDING or fact.pinned or fact.id in lasts]
    here = now.others.proved(tx, some)
    return list(after_what_holds(tx, list(here.values()), now.at).values())


def _weightiest_first(
    fact: Fact, wishes: AbstractSet[UUID], scores: Mapping[UUID, float]
) -> tuple[bool, bool, int, float, float, UUID]:
    return (
        not fact.pinned,
        fact.id not in wishes,
        STANDING.index(fact.category) if fact.category in STANDING else 0,
        -scores.get(fact.id, 0.0),
        -fact.stated_at.timestamp(),
        fact.id,
    )


def _meant_here(
    tx: Transaction, standing: Sequence[Fact], pairs: Sequence[tuple[Fact, float]], now: Situation
) -> tuple[list[Fact], list[tuple[Fact, float]]]:
    """Return facts that stand and that bear on a message without wishes that are not meant here.

    Elsewhere such a wish is something that was said, and no more.
    """
    bearing = (fact for fact, score in pairs if score >= _BEARS)
    wishes = {fact.id: fact for fact in (*standing, *bearing) if _worded_as_wish(fact)}
    apart = not_meant_here(tx, list(wishes.values()), now)
    rest = [fact for fact in standing if fact.id not in apart]
    return rest, [(fact, score) for fact, score in pairs if fact.id not in apart]


def _worded_as_wish(fact: Fact) -> bool:
    """Tell whether a fact is a wish or, by its words alone, may be one that colleagues ask of each other."""
    return fact.category is Category.GUIDELINE or (is_quotation(fact) and wish(fact.value) >= WISH)


def _wishes(tx: Transaction, deps: Deps, kept_facts: Sequence[StoredFact], *, every: bool) -> frozenset[UUID]:
    """Return what surely are standing wishes, each told with every message; or `every` likely one."""
    some = [kept for kept in kept_facts if kept.fact.category is Category.GUIDELINE]
    if every:
        return frozenset(kept.id for kept in some)
    means = bool(some) and knows_meaning(deps)
    vectors = tx.index.vectors(FACTS, deps.embedder_name, [kept.number for kept in some]) if means else {}
    return frozenset(
        kept.id
        for kept in some
        if not is_quotation(kept.fact) or wish(kept.fact.value, vectors.get(kept.number)) >= _TOLD_WISH
    )


def _proof(
    fact: Fact,
    proofs: Mapping[UUID, Observation],
    numbers: Mapping[UUID, int],
    elsewhere: AbstractSet[UUID],
    now: Situation,
    visibility: Visibility,
) -> Observation | None:
    """Return the newest shown observation, said by now, that proves a fact."""
    there = [proofs[e.observation_id] for e in fact.telling if e.observation_id in proofs]
    there = [item for item in there if item.at <= now.at]
    # a wish of another project that holds everywhere has its proof there
    there = [item for item in there if item.thread_id not in elsewhere] or there
    refs = {ref_of(numbers[item.thread_id], item.seq): item for item in there}
    leads = [proofs[e.observation_id] for e in fact.leads if e.observation_id in proofs]
    hidden = visibility.why([*refs, *(ref_of(numbers[item.thread_id], item.seq) for item in leads)])
    if any(ref_of(numbers[item.thread_id], item.seq) in hidden for item in leads):
        return None  # its sentence holds those words
    shown = [item for ref, item in refs.items() if ref not in hidden]
    return max(shown, key=lambda item: (item.at, item.seq), default=None)


_LAST_LOOKED_AT: Final = 40  # wishes, the newest


def not_meant_here(tx: Transaction, wishes: Sequence[Fact], now: Situation) -> set[UUID]:
    """Return the wishes that are not to the assistant, or of somebody else than it is written with.

    Those nobody quoted always count: they were made for this.
    """
    quoted = [fact for fact in wishes if is_quotation(fact)]
    there = listeners(tx) if quoted else None
    if there is None or not there.several:
        return set()
    writing = {person_of(item.actor, there.user) for item in now.before if not is_reply(item)}
    counting = {OWNER, *writing}
    apart = set()
    if writing and OWNER not in writing:
        apart = {fact.id for fact in quoted if person_of(fact.subject, there.user) not in counting}
    asked = sorted((fact for fact in quoted if fact.id not in apart), key=lambda fact: fact.valid_at)
    names = {fact.id: fact.telling[-1].observation_id for fact in asked[-_LAST_LOOKED_AT:]}
    proofs = tx.observations.get(list(names.values()))
    around = dict(zip(proofs, lines_around(tx, list(proofs.values())), strict=True))
    unheard = {name for name, item in proofs.items() if not there.hears(item, around[name])}
    unheard -= calling(tx, [proofs[name] for name in unheard])
    return apart | {identity for identity, name in names.items() if name in unheard}
