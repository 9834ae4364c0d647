"""A part of a thread at three resolutions, without a language model (seed 002, section 4.2).

- *micro*, one to three sentences, at most 100 tokens: what it was about;
- *meso*, a paragraph, at most 500: the sentences that together say most, with who said them and when;
- *macro*, at most 1000: what it was about, what was asked again and again, skills, decisions, and facts that
  found no room before.

Micro and meso hold the last answer where the budget allows: how a matter ended is what is asked for most.

Compaction never grows: no text has more tokens than what it stands for, and macro has what meso leaves of
those (or room for a line of subjects). Micro is not taken off: it is read in their place. Every sentence is
one that was said; only long ones are cut, and relative times get their date.

A summary is read to answer questions nobody has asked yet, so what counts is how much of what was said can
still be found in it. Each content word is a unit of that; names, numbers and times weigh more, talk words
little, and a word that is there already nothing. The best sentence for its cost is taken again and again; an
answer that says nothing alone brings its question along.
"""

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import groupby
from typing import Final

from episodic_agent.core.context.tokens import cut_to, estimate, tenths
from episodic_agent.core.episodes.clauses import Clause, clauses, plain_text
from episodic_agent.core.episodes.languages import ASSISTANTS, USERS, guess_language, phrasebook
from episodic_agent.core.episodes.selection import choose, distinctiveness, shortened, term_weights
from episodic_agent.core.episodes.times import grounded
from episodic_agent.core.language import script, sentences, tokens
from episodic_agent.core.skills.mining import request_form
from episodic_agent.core.skills.requests import Exchange, recurring
from episodic_agent.core.threads.turns import role_of
from episodic_agent.schemas import Observation, TimeSource
from episodic_agent.schemas.skills import TurnRef

_NAME: Final = re.compile(r"(?<=[\w,;:’')] )[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*")
_NUMBER: Final = re.compile(r"\d[\d.,:/%-]*")
_TIME: Final = re.compile(
    r"(?i)\b(?:today|tonight|tomorrow|yesterday|week(?:end)?s?|months?|years?|days?|ago|next|last|since|until"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september"
    r"|october|november|december|morning|evening|noon|midnight)\b"
)
_DECIDES: Final = re.compile(
    r"(?i)\b(?:decided|agreed|booked|ordered|bought|signed|chose|cancel+ed|promised|scheduled|confirmed|planned"
    r"|i(?:'|’)ll|i will|we(?:'|’)ll|we will|let(?:'|’)s|i(?:'|’)m going to|we(?:'|’)re going to|prefer"
    r"|allerg\w+|deadline)\b"
)
_NAMED: Final = 2.0  # how much more a name weighs than another word, and a number, and a decision's sentence
_NUMBERED: Final = 1.6
_DECIDED: Final = 1.15
_DATED: Final = 1.1
_REPLIED: Final = 0.85  # on top of what a clause's own weight says of assistants
_QUESTION: Final = 0.55  # a question says what was asked, its answer what is so
_POWER: Final = 0.9  # of the cost: neither the longest sentence nor the shortest wins
_FLAT: Final = 3.0  # tokens added to a sentence's cost: who said it
_LEAST_SHARE: Final = 0.7  # that a sentence must add: less is an exclamation
_FEW_TERMS: Final = 3  # an answer of so few terms needs its question


@dataclass(frozen=True, slots=True)
class ClauseCandidate:
    """One clause, or an answer with its question: what may be taken at once.

    `clauses` are places in the list of clauses; `units` weighs its words; `cost` is in tokens.
    """

    clauses: tuple[int, ...]
    units: Mapping[str, float]
    factor: float
    cost: float


def candidates(
    clauses: Sequence[Clause], observations: Sequence[Observation], weights: Mapping[str, float]
) -> list[ClauseCandidate]:
    """Return what may be taken, in order; `weights` says how much each term tells (`term_weights`)."""
    made: list[ClauseCandidate] = []
    last_question: int | None = None
    for number, clause in enumerate(clauses):
        observation = observations[clause.place]
        made.append(_candidate((number,), clauses, observation, weights))
        needs = last_question is not None and len(clause.terms) <= _FEW_TERMS and not clause.asks
        if needs and last_question is not None:
            before = clauses[last_question]
            near = clause.place - before.place <= 2
            if near and observations[before.place].actor != observation.actor:
                made.append(_candidate((last_question, number), clauses, observation, weights))
        if clause.asks:
            last_question = number
    return made


def _candidate(
    members: tuple[int, ...],
    clauses: Sequence[Clause],
    observation: Observation,
    weights: Mapping[str, float],
) -> ClauseCandidate:
    units: dict[str, float] = {}
    for member in members:
        for term, weight in _units(clauses[member], weights).items():
            units[term] = max(units.get(term, 0.0), weight)
    clause = clauses[members[-1]]
    text = " ".join(shortened(clauses[member].text) for member in members)
    factor = clause.weight * (_QUESTION if clause.asks else 1.0)
    factor *= _REPLIED if role_of(observation).casefold() in ASSISTANTS else 1.0
    factor *= _DECIDED if decides(text) else 1.0
    factor *= _DATED if _TIME.search(text) else 1.0
    return ClauseCandidate(members, units, factor, estimate(text) + _FLAT * len(members))


def _units(clause: Clause, weights: Mapping[str, float]) -> dict[str, float]:
    """Return what each term of a clause weighs: names and numbers more than other words."""
    named = {term for name in _NAME.findall(clause.text) for term in tokens(name)}
    counted = {term for number in _NUMBER.findall(clause.text) for term in tokens(number)}
    values: dict[str, float] = {}
    for term in clause.terms:
        factor = _NUMBERED if term in counted else _NAMED if term in named else 1.0
        # a number's own distinctiveness is low because "2" is in every text; as an answer it is not
        value = max(weights.get(term, 0.0), 0.8) if term in counted else weights.get(term, 0.0)
        values[term] = value * factor
    return values


def decides(text: str) -> bool:
    """Tell whether a sentence settles something: a decision, a promise, a plan.

    >>> decides("We booked the 9:40 train"), decides("Nice weather")
    (True, False)
    """
    return _DECIDES.search(text) is not None


def plain_weights(terms: Iterable[str]) -> dict[str, float]:
    """Return how much each term tells, however often it was said: what was said once may be asked for too."""
    return {term: distinctiveness(term) for term in terms}


def select(
    offered: Sequence[ClauseCandidate],
    budget: float,
    covered: set[str],
    *,
    taken: Iterable[int] = (),
    most: int | None = None,
) -> list[int]:
    """Return the clauses to take within a budget of tokens, in the order taken; `covered` grows.

    Lazy greedy: what a candidate adds only falls as others are taken, so the best of the old values is
    looked at again before it wins. `taken` are clauses not to be taken again, `most` bounds their number.
    """
    used = set(taken)
    chosen: list[int] = []
    left = budget
    queue = [(-_value(candidate, covered), number) for number, candidate in enumerate(offered)]
    heapq.heapify(queue)
    while queue and (most is None or len(chosen) < most):
        _, number = heapq.heappop(queue)
        candidate = offered[number]
        fresh = [clause for clause in candidate.clauses if clause not in used]
        if candidate.clauses[-1] in used or candidate.cost > left:
            continue
        if most is not None and len(chosen) + len(fresh) > most:
            continue
        value = _value(candidate, covered)
        if value <= 0.0:
            continue
        if queue and -value > queue[0][0]:
            heapq.heappush(queue, (-value, number))
            continue
        chosen.extend(fresh)
        used.update(fresh)
        covered.update(candidate.units)
        left -= candidate.cost
    return chosen


def _value(candidate: ClauseCandidate, covered: set[str]) -> float:
    gain = math.fsum(weight for term, weight in candidate.units.items() if term not in covered)
    if gain < _LEAST_SHARE:
        return 0.0
    return round(candidate.factor * gain / math.pow(candidate.cost, _POWER), 9)


MICRO_TOKENS, MESO_TOKENS, MACRO_TOKENS = 100, 500, 1000
MICRO_SENTENCES: Final = 3
_TINY: Final = 60  # tokens; so little, in few sentences, is told whole at once
_SHORT: Final = 120  # tokens; up to here a paragraph may be all that was said
_MICRO_SHARE: Final = 0.25  # of the source, at most
_MESO_SHARE: Final = 0.5
_LEAST: Final = 16  # tokens of a micro, even of a short thread
_SUBJECTS: Final = 40  # tokens a macro may have where the paragraph tells all
_DETAIL: Final = 0.4  # what a word weighs in a micro that one message alone has
_HEADS: Final = 3.0  # tokens a sentence costs besides: who said it, and when
_REPEATED: Final = 3  # times a request is made before it is a pattern
_MOST_PATTERNS: Final = 5
_MOST_DECISIONS: Final = 12
_ROOM: Final = 150  # tokens a macro needs before subjects are listed: below, facts have the room
_SAMPLE: Final = 200
_TELLS: Final = 2.0  # weight of the words of a clause that tells something


@dataclass(frozen=True, slots=True)
class Resolutions:
    """Three texts and the tokens of what they stand for; of a tiny part micro and meso are the same."""

    micro: str
    meso: str
    macro: str
    source_tokens: int


def resolutions(
    observations: Sequence[Observation], *, skills: Sequence[str] = (), language: str | None = None
) -> Resolutions:
    """Return a part at three resolutions from its observations, in seq order.

    `skills` are the names of skills found in it. A part of at most three sentences and 60 tokens is told word
    for word, as micro and as meso, so that whoever reads one of them reads all; there is nothing to distil.
    """
    size = source_tokens(observations)
    book = _Book.of(observations, language)
    if len(book.clauses) <= MICRO_SENTENCES and size <= _TINY:
        statement = " ".join(text for o in observations if (text := " ".join(plain_text(o).split())))
        full = book.all_clauses(size) or cut_to(statement, size)
        micro = cut_to(_sentences_of(full), min(MICRO_TOKENS, size))
        return Resolutions(micro, full, "", size)
    micro = _micro(book, min(MICRO_TOKENS, max(_LEAST, int(size * _MICRO_SHARE)), size))
    chosen, meso = _paragraph(book, min(MESO_TOKENS, max(_SHORT, int(size * _MESO_SHARE)), size))
    left = max(size - estimate(meso), min(size, _SUBJECTS))
    return Resolutions(micro, meso, _macro(book, chosen, skills, min(MACRO_TOKENS, left)), size)


def source_tokens(observations: Iterable[Observation]) -> int:
    """Count the tokens of what a summary stands for: the texts of the observations."""
    return sum(estimate(observation.text) for observation in observations)


@dataclass(frozen=True)
class _Book:
    """What a part says, read once: its clauses, what may be taken of them, and how they are written."""

    observations: Sequence[Observation]
    clauses: Sequence[Clause]
    offered: Sequence[ClauseCandidate]
    language: str

    @classmethod
    def of(cls, observations: Sequence[Observation], language: str | None) -> "_Book":
        sample = " ".join([o.text[:_SAMPLE] for o in observations[:12]])
        tongue = guess_language(sample) if language is None else language
        matching_clauses = clauses(observations, tongue, together=False)
        weights = plain_weights({term for clause in matching_clauses for term in clause.terms})
        return cls(
            observations, matching_clauses, candidates(matching_clauses, observations, weights), tongue
        )

    def written(self, chosen: Iterable[int], *, dating: bool = True) -> str:
        """Return clauses as they were said, in order, with who said them and the day where it changes."""
        order = sorted(chosen, key=lambda n: (self.clauses[n].place, self.clauses[n].order))
        dated: set[str] = set()
        parts: list[str] = []
        day = ""
        for place, group in groupby(order, key=self._head):
            head_day, who = place
            texts = [self.sentence(n, dated if dating else None) for n in group]
            if dating and head_day and head_day != day:
                day = head_day
                parts.append(f"[{day}]")
            joined = ("" if self.unspaced else " ").join(texts)
            parts.append(f"{who}{'：' if self.unspaced else ': '}{joined}" if who else joined)
        return " ".join(parts)

    def all_clauses(self, budget: int) -> str:
        """Return all clauses if they fit a budget: with speakers and dates, else with less, else ""."""
        everything = range(len(self.clauses))
        joint = "" if self.unspaced else " "
        forms = (
            self.written(everything),
            self.written(everything, dating=False),
            joint.join(self.sentence(n, None) for n in everything),
        )
        return next((text for text in forms if estimate(text) <= budget), "")

    @property
    def unspaced(self) -> bool:
        """Tell whether sentences follow each other without a space."""
        return self.language in ("zh", "ja")

    def sentence(self, number: int, dated: set[str] | None) -> str:
        """Return one clause as it is quoted, its relative times dated unless `dated` is None."""
        clause = self.clauses[number]
        text = shortened(clause.text)
        if dated is not None:
            text = grounded(text, self.observations[clause.place], self.language, dated)
        return text if text[-1] in _ENDS else text + ("。" if script(text) in ("han", "kana") else ".")

    def _head(self, number: int) -> tuple[str, str]:
        observation = self.observations[self.clauses[number].place]
        known = observation.at_source is not TimeSource.ASSUMED
        local = observation.at + timedelta(seconds=observation.utc_offset or 0)
        return (local.date().isoformat() if known else ""), self.name(observation.actor)

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """What a word weighs for what all is about: what comes up once is the paragraph's affair."""
        weights = term_weights(self.clauses)
        often = Counter(term for terms in _by_message(self).values() for term in terms)
        return {term: weight * (_DETAIL if often[term] == 1 else 1.0) for term, weight in weights.items()}

    @cached_property
    def central(self) -> Sequence[int]:
        """The clauses nearest to what all of it is about, in the order they were said."""
        actors = [role_of(o) for o in self.observations]
        nearest = choose(self.clauses, self.weights, [None] * len(actors), actors)
        central = {id(clause) for clause in nearest}
        return [number for number, clause in enumerate(self.clauses) if id(clause) in central]

    def name(self, actor: str) -> str:
        """Return how a speaker is called: roles in the language of the talk."""
        folded, book = actor.casefold(), phrasebook(self.language)
        role = book.user if folded in USERS else book.assistant if folded in ASSISTANTS else actor
        bare = role.removeprefix("the ")
        return bare[:1].upper() + bare[1:]


_ENDS: Final = ".!?…。！？؟)）]:：”\"'"


def _micro(book: _Book, budget: int) -> str:
    """Return the few sentences nearest to what all of it is about, and how it ended."""
    offered = [
        ClauseCandidate(
            (number,),
            {term: book.weights[term] for term in clause.terms},
            clause.weight,
            estimate(clause.text) + _HEADS,
        )
        for number in book.central
        for clause in (book.clauses[number],)
    ]
    # what a user asks first is what it is all about
    speakers = [o.actor.casefold() for o in book.observations]
    first = [c.clauses[0] for c in offered if speakers[book.clauses[c.clauses[0]].place] in USERS][:1]
    covered: set[str] = set()
    chosen: list[int] = []
    for number in dict.fromkeys([*first, *_last_answer(book)]):
        if not _fits(book, [*chosen, number], budget):
            break  # an ending without its beginning tells nothing
        chosen.append(number)
        covered |= book.clauses[number].terms
    cost = sum(estimate(book.clauses[n].text) + _HEADS for n in chosen)
    chosen += select(offered, budget - cost, covered, taken=chosen, most=MICRO_SENTENCES - len(chosen))
    while chosen:
        if _fits(book, chosen, budget):
            return book.written(chosen)
        chosen.pop()
    best = max(offered, key=lambda c: c.factor * sum(sorted(c.units.values())), default=None)
    text = book.sentence(best.clauses[0], set()) if best else " ".join(o.text for o in book.observations)
    return cut_to(_sentences_of(" ".join(text.split())), budget)


def _fits(book: _Book, chosen: Sequence[int], budget: int) -> bool:
    text = book.written(chosen)
    return estimate(text) <= budget and len(sentences(text)) <= MICRO_SENTENCES


def _by_message(book: _Book) -> dict[int, set[str]]:
    terms: dict[int, set[str]] = {}
    for clause in book.clauses:
        terms.setdefault(clause.place, set()).update(clause.terms)
    return terms


def _sentences_of(text: str) -> str:
    return " ".join(sentences(text)[:MICRO_SENTENCES])


def _paragraph(book: _Book, budget: int) -> tuple[list[int], str]:
    """Return the clauses of the paragraph and its text, filled to the budget."""
    if full := book.all_clauses(budget):
        return list(range(len(book.clauses))), full
    chosen = [number for number in _last_answer(book) if estimate(book.written([number])) <= budget]
    text = book.written(chosen)
    for _ in range(_FILLINGS):  # names and dates cost less than was reckoned, or more
        more = select(book.offered, budget - estimate(text), _covered(book, chosen), taken=chosen)
        while more and estimate(book.written([*chosen, *more])) > budget:
            more.pop()
        if not more:
            break
        chosen += more
        text = book.written(chosen)
    return chosen, text


def _covered(book: _Book, chosen: Sequence[int]) -> set[str]:
    """Return the terms that are told already: those of what was chosen, and the speakers' names."""
    names = {term for actor in {o.actor for o in book.observations} for term in tokens(actor)}
    return names.union(*(book.clauses[number].terms for number in chosen))


_FILLINGS: Final = 3


def _macro(book: _Book, chosen: Sequence[int], skills: Sequence[str], budget: int) -> str:
    """Return the distilled part: subjects, patterns, skills, decisions, then what found no room before."""
    lines: list[str] = []
    used = 0  # tenths of a token, which add up
    all_told = len(chosen) == len(book.clauses)
    subjects = MICRO_SENTENCES if budget >= _ROOM else int(all_told)
    for line in _distilled(book, skills, subjects=subjects):
        if used + tenths(line) <= 10 * budget:
            lines.append(line)
            used += tenths(line)
    answers = set(chosen)
    settled = [
        n
        for n, clause in enumerate(book.clauses)
        if n not in answers and not clause.asks and decides(clause.text)
    ]
    settled = settled[:_MOST_DECISIONS]
    rest = select(book.offered, budget, _covered(book, [*chosen, *settled]), taken=[*chosen, *settled])
    dated: set[str] = set()
    for label, numbers in (("Decisions and plans:", settled), ("Also said:", sorted(rest))):
        headed = False
        for number in numbers:
            speaker = book.name(book.observations[book.clauses[number].place].actor)
            more = [*([] if headed else [label]), f"- {speaker}: {book.sentence(number, dated)}"]
            size = sum(map(tenths, more))
            if used + size <= 10 * budget:
                lines += more
                used += size
                headed = True
    return "\n".join(lines)


def _distilled(book: _Book, skills: Sequence[str], *, subjects: int) -> Iterable[str]:
    about = book.central[:subjects]
    if about:
        yield f"About: {'; '.join(_plain(book.clauses[n].text) for n in about)}"
    if skills:
        yield f"Skills: {', '.join(skills)}"
    for group in recurring(_requests(book), _REPEATED)[:_MOST_PATTERNS]:
        form = request_form([exchange.request for exchange in group.exchanges])
        yield f"Asked {len(group.exchanges)} times: {_plain(form)}"


def _requests(book: _Book) -> list[Exchange]:
    """Return what was asked for: a user's messages, and anybody's that ask."""
    asking = {clause.place for clause in book.clauses if clause.asks}
    return [
        Exchange(o.text, "", TurnRef(o.thread_id, o.seq), o.thread_id, o.at)
        for place, o in enumerate(book.observations)
        if o.text.strip() and (place in asking or o.actor.casefold() in USERS)
    ]


def _plain(text: str) -> str:
    return shortened(" ".join(text.split())).rstrip(".;。；")


def _last_answer(book: _Book) -> list[int]:
    """Return the clause that says most of the last message that tells something, no question or courtesy."""
    telling = {
        c.clauses[0]: worth
        for c in book.offered
        if len(c.clauses) == 1
        and not book.clauses[c.clauses[0]].asks
        and (worth := c.factor * sum(sorted(c.units.values()))) >= _TELLS
    }
    best = max(telling, key=lambda n: (book.clauses[n].place, telling[n], -n), default=None)
    return [] if best is None else [best]
