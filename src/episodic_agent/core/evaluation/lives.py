"""How well a memory served a week of somebody's life: what was made of it, beside what its labels say.

A played life is plain records: messages with the thread and the episode they came to lie in, links as they
were decided, facts with the messages that prove them, contexts as they were asked for, answers in order, and
the titles. The scores are shares from 0 to 1; None where the labels ask for nothing.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Final

from episodic_agent.core.evaluation.retrieval import rounded
from episodic_agent.core.evaluation.segmentation import boundary_f1, score_stream, score_streams
from episodic_agent.core.language import tokens
from episodic_agent.schemas import Json

COVERED: Final = 0.6  # of a message's content words: so many in a context, and the message stands there
BRIEF: Final = 3  # content words of an opening that says too little to be understood alone
BUDGETS: Final = (800, 2000)  # tokens
# Tokens in which what changed is asked for: where little fits, one of the two may go.
SCARCE: Final = (300, 800, 1500)
_NEGATED: Final = re.compile(
    r"\b(?:not|no|never|nobody|nothing|none|neither|nor|without|\w+n['’]t|nicht|nie|niemals|niemand|nichts|ohne|"
    r"kein\w*|weder)\b|不|没|未|别|无",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class LifeMessage:
    """A message of a life: its sitting (a label), its text, whether another subject begins with it."""

    id: str
    sitting: str
    text: str
    begins: bool = False


@dataclass(frozen=True, slots=True)
class LabelledFact:
    """A fact a good memory would hold: the messages that tell it, and whether another replaced it.

    `text` are the label's words, `replaced_by` the messages that tell what took its place.
    """

    id: str
    evidence: frozenset[str]
    replaced: bool = False
    text: str = ""
    replaced_by: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LifeQuestion:
    """A question: what it is answered with; of one that changed, what told the state before."""

    kind: str
    evidence: frozenset[str]
    newest: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LifeLabels:
    """What the labels of one life say; `earlier` maps a sitting to all that lie behind it in its matter."""

    messages: Sequence[LifeMessage]
    topics: Mapping[str, str]
    earlier: Mapping[str, frozenset[str]]
    facts: Sequence[LabelledFact] = ()
    tempting: frozenset[str] = frozenset()
    needs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    questions: Sequence[LifeQuestion] = ()

    @property
    def changes(self) -> list[LabelledFact]:
        """What was so and is no more, where messages tell the one and others what took its place."""
        return [f for f in self.facts if f.text and f.replaced_by and not f.replaced_by & f.evidence]


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact the memory holds: its words, the (message, quoted words) that prove it, whether it holds."""

    text: str
    evidence: Sequence[tuple[str, str]]
    holds: bool = True


@dataclass(frozen=True, slots=True)
class ToldContext:
    """A context as it was asked for: its text, and for each recalled line the messages it is from."""

    text: str
    lines: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The ids found for a question, best first, and whether nothing was said to be known."""

    ranked: Sequence[str]
    abstained: bool = False


@dataclass(frozen=True, slots=True)
class TitledEpisode:
    """An episode's words and the messages it holds."""

    title: str
    summary: str
    messages: Sequence[str]


@dataclass(slots=True)
class PlayedLife:
    """What a memory made of a life.

    `thread_of` and `episode_of` are by message; `links` are (newer, older) sittings as decided when the newer
    one ended, `sure` those of them that were HIGH; `largest` counts the threads of the largest cross-thread
    episode; `contexts` are by message and budget in tokens, `looked_up` by fact that changed and budget, as
    they were told at the end for the fact's words; `answers` in the order of the questions; `calls`
    is how often a language model was asked, `tokens` what it read and wrote, `refused` how many of its
    answers could not be used; `seconds` is what adding took.
    """

    thread_of: Mapping[str, str] = field(default_factory=dict)
    episode_of: Mapping[str, str] = field(default_factory=dict)
    links: Sequence[tuple[str, str]] = ()
    sure: Collection[tuple[str, str]] = ()
    largest: int = 0
    facts: Sequence[FoundFact] = ()
    contexts: Mapping[tuple[str, int], ToldContext] = field(default_factory=dict)
    looked_up: Mapping[tuple[str, int], ToldContext] = field(default_factory=dict)
    answers: Sequence[Answer] = ()
    episodes: Sequence[TitledEpisode] = ()
    calls: int = 0
    tokens: int = 0
    refused: int = 0
    seconds: float = 0.0


def score_life(labels: LifeLabels, played: PlayedLife) -> dict[str, Json]:
    """Return the figures of one life as plain JSON, six decimals."""
    count = max(len(labels.messages), 1)
    return {
        "sittings": {"f1": rounded(_pair_f1(labels, played))},
        "links": _links(labels, played),
        "episodes": _episodes(labels, played),
        "facts": _facts(labels, played),
        "needs": _needs(labels, played),
        "changes": _changes(labels, played),
        "questions": _questions(labels, played),
        "titles": _titles(labels, played),
        "wrong_high_links": len({x for x in played.sure if x[1] not in labels.earlier.get(x[0], ())}),
        "calls_per_100": rounded(100 * played.calls / count),
        "tokens_per_100": rounded(100 * played.tokens / count),
        "answers_refused": played.refused,
        "ms_per_message": rounded(1000 * played.seconds / count),
    }


@lru_cache(maxsize=8192)
def content_words(text: str) -> frozenset[str]:
    """Return what a text is about: its search terms, of Han script the pairs of characters.

    >>> sorted(content_words("Where is the stop tap?"))
    ['stop', 'tap']
    """
    predicted = set(tokens(text))
    return frozenset(t for t in predicted if len(t) > 1 or t.isdigit() or t.isascii()) or frozenset(predicted)


def stands_in(text: str, context: str) -> bool:
    """Say whether enough of a text's content words stand in a context.

    >>> stands_in("The tap is behind the washing machine", "…the tap: behind the washing machine")
    True
    """
    words = content_words(text)
    return bool(words) and len(words & content_words(context)) >= COVERED * len(words)


def _pair_f1(labels: LifeLabels, played: PlayedLife) -> float:
    """F1 over pairs of messages that share a sitting (labelled) and a thread (found)."""
    pairs = Counter((m.sitting, played.thread_of.get(m.id)) for m in labels.messages)
    both = _pairs(pairs.values())
    labelled = _pairs(Counter(m.sitting for m in labels.messages).values())
    predicted = _pairs(Counter(played.thread_of.get(m.id) for m in labels.messages).values())
    return _f1(both, predicted, labelled)


def _links(labels: LifeLabels, played: PlayedLife) -> dict[str, Json]:
    brief = set()
    for sitting, first in _openings(labels).items():
        if labels.earlier.get(sitting) and len(content_words(first.text)) <= BRIEF:
            brief.add(sitting)
    precision, recall, f1 = _link_scores(labels, played.links, set(labels.topics))
    elliptical = _link_scores(labels, played.links, brief)[2] if brief else None
    return {
        "precision": rounded(precision),
        "recall": rounded(recall),
        "f1": rounded(f1),
        "elliptical_f1": None if elliptical is None else rounded(elliptical),
        "largest": played.largest,
    }


def _link_scores(
    labels: LifeLabels, links: Sequence[tuple[str, str]], among: set[str]
) -> tuple[float, float, float]:
    """Return P over links, R over linked sittings, and F1, of the sittings `among` all."""
    mine = {link for link in links if link[0] in among}
    right = {link for link in mine if link[1] in labels.earlier.get(link[0], ())}
    linked = [s for s in among if labels.earlier.get(s)]
    precision = len(right) / len(mine) if mine else float(not linked)
    recall = len({newer for newer, _ in right}) / len(linked) if linked else 1.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _episodes(labels: LifeLabels, played: PlayedLife) -> dict[str, Json]:
    """Score where episodes begin inside sittings; sittings of one message have no inside."""
    truth: list[list[int]] = []
    predicted: list[list[int]] = []
    for messages in _by_sitting(labels).values():
        if len(messages) > 1:
            owners = [played.episode_of.get(m.id) for m in messages]
            truth.append([1, *(int(m.begins) for m in messages[1:])])
            predicted.append([1, *(int(a != b) for a, b in pairwise(owners))])
    if not truth:
        return dict.fromkeys(("f1", "f1_tol1", "score", "density"), None)
    pooled, report = _pooled(truth, predicted), score_streams(truth, predicted)
    density = None if report.density == float("inf") else rounded(report.density)
    return {"f1": pooled[0], "f1_tol1": pooled[1], "score": rounded(report.score), "density": density}


def _pooled(truth: Sequence[Sequence[int]], predicted: Sequence[Sequence[int]]) -> list[float | None]:
    """Return F1, and F1 with one place of tolerance, over the boundaries of all sittings together.

    Sittings without a boundary would count as much as all others if F1 were averaged over sittings.
    """
    rows = [score_stream(t, f) for t, f in zip(truth, predicted, strict=True)]
    labelled, guessed = sum(row.boundaries for row in rows), sum(row.predicted for row in rows)
    return [
        rounded(boundary_f1(sum(row.matched[tolerance] for row in rows), labelled, guessed))
        for tolerance in (0, 1)
    ]


def _facts(labels: LifeLabels, played: PlayedLife) -> dict[str, Json]:
    telling = frozenset[str]().union(*(entry.evidence for entry in labels.facts))
    sources = [frozenset(identity for identity, _ in entry.evidence) for entry in played.facts]
    right = [
        bool(s & telling) and not contradicts(entry) for entry, s in zip(played.facts, sources, strict=True)
    ]
    held = [s for s, good in zip(sources, right, strict=True) if good]
    predicted = [label for label in labels.facts if any(s & label.evidence for s in held)]
    tempted = sorted({m for s in sources for m in s & labels.tempting if not s & telling})
    standing = frozenset[str]().union(
        *(s for entry, s in zip(played.facts, sources, strict=True) if entry.holds and s & telling)
    )
    replaced = [label for label in predicted if label.replaced]
    stale = [label for label in replaced if label.evidence & standing]
    precision = sum(right) / len(right) if right else None
    recall = len(predicted) / len(labels.facts) if labels.facts else None
    f1 = 2 * precision * recall / (precision + recall) if precision and recall else 0.0
    return {
        "precision": None if precision is None else rounded(precision),
        "recall": None if recall is None else rounded(recall),
        "f1": rounded(f1),
        "tempted": rounded(len(tempted) / len(labels.tempting)) if labels.tempting else None,
        "tempted_by": list[Json](tempted),
        "stale": rounded(len(stale) / len(replaced)) if replaced else None,
    }


def contradicts(fact: FoundFact) -> bool:
    """Say whether a fact lost the negation of all the words that prove it.

    >>> contradicts(FoundFact("been to Japan", [("m1", "I've never been to Japan")]))
    True
    >>> contradicts(FoundFact("I've never been to Japan", [("m1", "I've never been to Japan")]))
    False
    """
    quoted = [words for _, words in fact.evidence if words]
    return bool(quoted) and all(_NEGATED.search(q) for q in quoted) and not _NEGATED.search(fact.text)


def _needs(labels: LifeLabels, played: PlayedLife) -> dict[str, Json]:
    texts = {m.id: m for m in labels.messages}
    shares: dict[str, Json] = {}
    for budget in BUDGETS:
        hits = [
            stands_in(texts[needed].text, context.text)
            for asked, needed_ids in labels.needs.items()
            if (context := played.contexts.get((asked, budget))) is not None
            for needed in needed_ids
        ]
        shares[f"covered@{budget}"] = rounded(sum(hits) / len(hits)) if hits else None
    noisy = lines = 0
    for asked, needed_ids in labels.needs.items():
        context = played.contexts.get((asked, BUDGETS[0]))
        if context is None:
            continue
        fits = _matter(labels, texts[asked].sitting) | {texts[needed].sitting for needed in needed_ids}
        for sources in context.lines:
            if sources:
                lines += 1
                noisy += not any(texts[s].sitting in fits for s in sources if s in texts)
    shares["noise"] = rounded(noisy / lines) if lines else None
    return shares


def _changes(labels: LifeLabels, played: PlayedLife) -> dict[str, Json]:
    """Of what changed, asked for in the words of what was so: the share told as it was and not as it is."""
    shares: dict[str, Json] = {}
    for budget in SCARCE:
        outdated = []
        for fact in labels.changes:
            if (context := played.looked_up.get((fact.id, budget))) is not None:
                sources = {message for line in context.lines for message in line}
                outdated.append(bool(fact.evidence & sources) and not fact.replaced_by & sources)
        shares[f"outdated@{budget}"] = _mean(outdated)
    return shares


def _matter(labels: LifeLabels, sitting: str) -> set[str]:
    """Return the sittings that the labels connect with one: what lies behind, and what that leads to."""
    roots = labels.earlier.get(sitting, frozenset()) | {sitting}
    return {s for s in labels.topics if s in roots or labels.earlier.get(s, frozenset()) & roots}


def _questions(labels: LifeLabels, played: PlayedLife) -> dict[str, Json]:
    recall: dict[int, list[float]] = {5: [], 10: []}
    predicted, abstained, changed = [], [], []
    for question, answer in zip(labels.questions, played.answers, strict=True):
        if not question.evidence:
            abstained.append(answer.abstained)
            continue
        for depth, shares in recall.items():
            shares.append(len(question.evidence & set(answer.ranked[:depth])) / len(question.evidence))
        predicted.append(bool(question.evidence & set(answer.ranked[:5])))
        if question.kind == "changed":
            place = {identity: n for n, identity in reversed(list(enumerate(answer.ranked)))}
            newest = min((place[i] for i in question.newest if i in place), default=None)
            before = min((place[i] for i in question.replaced if i in place), default=len(place))
            changed.append(newest is not None and newest < before)
    return {
        "recall@5": _mean(recall[5]),
        "recall@10": _mean(recall[10]),
        "any@5": _mean(predicted),
        "abstained": _mean(abstained),
        "changed": _mean(changed),
    }


def _titles(labels: LifeLabels, played: PlayedLife) -> dict[str, Json]:
    by_id = {m.id: m for m in labels.messages}
    words: dict[str, set[str]] = {}
    phrases = []
    for episode in played.episodes:
        words_told = set(content_words(f"{episode.title}. {episode.summary}"))
        for sitting in {by_id[m].sitting for m in episode.messages if m in by_id}:
            words.setdefault(sitting, set()).update(words_told)
        phrases.append(any(is_phrase(episode.title, by_id[m].text) for m in episode.messages if m in by_id))
    topics = {s: content_words(topic) for s, topic in labels.topics.items()}
    shares = [len(t & words.get(s, set())) / len(t) for s, t in topics.items() if t]
    return {"topic_words": _mean(shares), "phrase": _mean(phrases)}


def is_phrase(title: str, text: str) -> bool:
    """Say whether a title is a contiguous piece of a text, but for case, punctuation and an ellipsis.

    >>> is_phrase("Nothing is lost", "Well, nothing is lost yet"), is_phrase("lost it", "nothing is lost")
    (True, False)
    """
    piece, sentence = _plain(title), _plain(text)
    spaced = piece.isascii() or " " in piece
    return bool(piece) and (f" {piece} " in f" {sentence} " if spaced else piece in sentence)


def _plain(text: str) -> str:
    return _PLAIN.sub(" ", text.casefold()).strip()


def _by_sitting(labels: LifeLabels) -> dict[str, list[LifeMessage]]:
    groups: dict[str, list[LifeMessage]] = {}
    for message in labels.messages:
        groups.setdefault(message.sitting, []).append(message)
    return groups


def _openings(labels: LifeLabels) -> dict[str, LifeMessage]:
    return {sitting: messages[0] for sitting, messages in _by_sitting(labels).items()}


def _pairs(sizes: Iterable[int]) -> int:
    return sum(n * (n - 1) // 2 for n in sizes)


def _f1(matched: int, predicted: int, labelled: int) -> float:
    return 2 * matched / (predicted + labelled) if predicted + labelled else 1.0


def _mean(values: Sequence[float]) -> float | None:
    return rounded(sum(values) / len(values)) if values else None
