"""Train the judges of what a context tells (`core/context/relevance.py`) on labelled lives, and ship them.

    python tools/train_context.py LIFE.jsonl…          # measure with each life left out, then ship
    python tools/train_context.py --only-measure LIFE.jsonl…

A life is weeks of one person's talk: messages, sittings with those they go on from, `needs` (what a message
can only be answered with) and questions with evidence. Each life is played through the engine, which gathers
the candidates of each message as it does for anybody; so links, sittings and what is at hand are as they are.
The first judge learns which candidates are needed, also from messages that need nothing ("thanks"), the
second which are of sittings that the labels connect. What states something that lasts is judged for each life
by a judge of facts that never saw it (`tools/train_facts.py`), so that its weight is that of one on new talk.
Printed for each life left out: the share of needed messages told within 800 and 2,000 tokens, the share of
told lines from sittings the labels do not connect, lines a context at 800, and lines where nothing is needed.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from judges import HERE, Row, Weights
from numpy.typing import NDArray
from shipping import Origin, ship_numbers
from train_facts import fit as fit_facts
from train_facts import plain_rows, read_life, read_talk

from episodic_agent.core.context.relevance import (
    BIAS,
    MATTER,
    MATTER_SHARE,
    MOST_MATTER,
    NEED,
    READ_AGAIN,
    STATES,
    EarlierWords,
    bearing,
    rival_features,
)
from episodic_agent.core.context.telling import Block, QuotedText, tell
from episodic_agent.core.evaluation.lives import BUDGETS, stands_in
from episodic_agent.core.facts.stating import STATEMENTS, is_person, parts_of
from episodic_agent.engine.context import gathering, prompting
from episodic_agent.engine.evaluate import lives as playing
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import load_settings, make_embedder, temporary_memory

Floats = NDArray[np.float64]
OF_VECTORS = ("cosine", "around", "matter", "best", "mean", "before", "after", "rank", "rank_sitting")
OF_WORDS = ("words", "held")  # in a feature's name
RIDGE = {NEED: 300.0, MATTER: 50.0}
QUESTIONS = 0.5  # what a question of the labels weighs beside a message of the talk
NOTHING = 0.25  # what a message that needs nothing weighs
LOOKED_AT = 6  # of those, one in so many is told, to count its lines
LASTS = 1.0  # what being a fact adds, as in `engine/context/prompting.py`


@dataclass(frozen=True)
class Case:
    """One message that needs something, with what was gathered for it and how it would be told."""

    seen: EarlierWords
    rows: dict[str, Floats]
    ids: Sequence[str | None]
    needed: Floats
    connected: Floats
    wanted: frozenset[str]
    fits: frozenset[str]
    quotes: Sequence[QuotedText]
    asked: tuple[str, Sequence[QuotedText], Mapping[str, Any]] | None  # None for a question


class Player:
    """Plays one life and keeps what the engine gathered for its needs and questions."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        """Play a life, watching the engine's own calls (this is the only place that needs them)."""
        self.path = path
        (self.life,) = playing.read_lives(path)
        self.name = self.life.id
        self.labels = self.life.labels
        self.messages = {m.id: m for m in self.labels.messages}
        self.places: dict[tuple[Any, int], str] = {}
        self._kept: dict[str, Any] = {}
        self._raw: list[tuple[str | None, frozenset[str], dict[str, Any]]] = []
        self._handle: Any = None
        self._idle: list[tuple[str | None, frozenset[str], dict[str, Any]]] = []
        whole = (gathering.relevances, prompting.gathered, prompting.tell, playing._context, playing._asked)
        message = playing._message
        merged = (gathering._newest_rounds, gathering._newest_outputs, gathering._conclusions)
        # judged is what there is before lines merge
        gathering._newest_rounds = lambda quotes, *_, **__: list(quotes)
        gathering._newest_outputs = lambda quotes, _: list(quotes)
        gathering._conclusions = lambda *_: []
        gathering.relevances = self._watch("seen", whole[0], 0)
        prompting.gathered = self._watch("gathered", whole[1], None)
        prompting.tell = self._watch("told", whole[2], -1)
        playing._context = self._context(whole[3])
        playing._asked = self._asked(whole[4])
        playing._message = self._message(message)
        try:
            clock = playing.PlayedClock(self.life.lines[0].at)
            with temporary_memory(embedder, now=clock, language=self.life.language) as memory:
                self._handle = memory.user(self.life.user)
                playing.play(self.life, self._handle, clock, look_up=False)
        finally:
            gathering._newest_rounds, gathering._newest_outputs, gathering._conclusions = merged
            gathering.relevances, prompting.gathered, prompting.tell = whole[:3]
            playing._context, playing._asked, playing._message = *whole[3:], message
        self.cases = [self._case(*row) for row in self._raw]
        self.idle = [self._case(*row) for row in self._idle]

    def _watch(self, name: str, call: Any, part: int | None) -> Any:
        def watched(*given: Any, **named: Any) -> Any:
            answer = call(*given, **named)
            self._kept[name] = answer if part is None else given[0] if part == 0 else (*given, named)
            return answer

        return watched

    def _context(self, call: Any) -> Any:
        def context(memory: Any, stage: Any, line: Any, budget: int) -> Any:
            self._kept = {}
            answer = call(memory, stage, line, budget)
            self.places.update({place: identity for identity, place in stage.places.items()})
            if budget == BUDGETS[0] and "seen" in self._kept:
                self._raw.append((line.id, frozenset(self.labels.needs[line.id]), self._kept))
            return answer

        return context

    def _message(self, call: Any) -> Any:
        """Ask for the context of each message that needs nothing, before it is added."""

        def message(line: Any, user: str) -> Any:
            if line.role == "user" and line.id not in self.labels.needs:
                self._kept = {}
                self._handle.context(line.text, channel=line.channel, at=line.at, max_tokens=BUDGETS[0])
                if {"seen", "told"} <= set(self._kept):
                    self._idle.append((line.id, frozenset(), self._kept))
            return call(line, user)

        return message

    def _asked(self, call: Any) -> Any:
        def asked(memory: Any, clock: Any, at: datetime, question: str) -> Any:
            clock.now = max(clock.now, at)
            self._kept = {}
            memory.context(question, at=clock.now, max_tokens=BUDGETS[0])
            number = next(n for n, (_, text) in enumerate(self.life.questions) if text == question)
            evidence = self.labels.questions[number].evidence
            if evidence and "seen" in self._kept:
                self._raw.append((None, evidence, self._kept))
            return call(memory, clock, at, question)

        return asked

    def _case(self, asked: str | None, wanted: frozenset[str], kept: Mapping[str, Any]) -> Case:
        quotes = kept["gathered"][0]
        ids = [self.places.get((quote.thread_id, quote.first_seq)) for quote in quotes]
        fits = {self.messages[one].sitting for one in wanted}
        if asked is not None:
            roots = self.labels.earlier.get(self.messages[asked].sitting, frozenset()) | {
                self.messages[asked].sitting
            }
            fits |= {s for s in self.labels.topics if s in roots or self.labels.earlier.get(s, roots) & roots}
        connected = [one is not None and self.messages[one].sitting in fits for one in ids]
        message, lines, named = kept["told"]
        return Case(
            kept["seen"],
            dict(rival_features(kept["seen"])),
            ids,
            np.array([float(one in wanted) for one in ids]),
            np.array(connected, np.float64),
            wanted,
            frozenset(fits),
            quotes,
            None if asked is None else (message, lines, named),
        )


def note_statements(players: Sequence[Player], embedder: Embedder) -> None:
    """Note of each candidate how likely it states what lasts, by a judge taught without its life."""
    talks = [read_talk(path, embedder) for path in sorted((HERE / "facts").glob("talk_*.tsv"))]
    lives = {player.path: read_life(player.path, embedder) for player in players}
    plain = plain_rows(embedder)
    for player in players:
        taught = [*talks, *(life for path, life in lives.items() if path != player.path)]
        judge = fit_facts(plain, [row for talk in taught for row in talk.rows], meaning=False)
        known: dict[str, float] = {}
        for case in (*player.cases, *player.idle):
            said = [quote.text for quote in case.quotes]
            known |= {text: _likely(judge, text) for text in said if text not in known}
            case.rows[STATES] = np.array(
                [
                    0.0 if quote.reply or not is_person(quote.speaker) else known[quote.text]
                    for quote in case.quotes
                ]
            )


def _likely(judge: Weights, text: str) -> float:
    rows = [Row(text[a:b], "", False, None, np.zeros(0)) for a, b in parts_of(text)[:STATEMENTS]]
    return float(1 / (1 + np.exp(-judge.scores(rows)[:, 0].max()))) if rows else 0.0


def columns(case: Case, judge: str, *, vectors: bool) -> list[str]:
    """Return the features a judge reads."""
    return [
        name
        for name in case.rows
        if (vectors or any(w in name for w in OF_WORDS) or not any(v in name for v in OF_VECTORS))
        and (judge == NEED or name != STATES)
    ]


def fit(cases: Sequence[Case], idle: Sequence[Case], judge: str, *, vectors: bool) -> dict[str, float]:
    """Return the weights of a judge: ridge logistic regression, of features as they are."""
    names = columns(cases[0], judge, vectors=vectors)
    matrices, answers, weights = [], [], []
    for case in cases:
        if judge == MATTER and case.asked is None:
            continue
        matrices.append(np.stack([case.rows[name] for name in names], 1))
        answers.append(case.needed if judge == NEED else case.connected)
        if judge == NEED:
            weights.append(np.full(len(case.ids), 1.0 if case.asked is not None else QUESTIONS))
        else:  # a sitting counts once however long it is
            counts = np.bincount(case.seen.sitting)
            weights.append(5.0 / counts[case.seen.sitting])
    for case in idle if judge == NEED else ():
        matrices.append(np.stack([case.rows[name] for name in names], 1))
        answers.append(case.needed)
        weights.append(np.full(len(case.ids), NOTHING))
    x, y, w = np.vstack(matrices), np.concatenate(answers), np.concatenate(weights)
    middle, spread = x.mean(0), x.std(0) + 1e-9
    z = np.hstack([(x - middle) / spread, np.ones((len(x), 1))])
    beta = np.zeros(z.shape[1])
    penalty = np.diag([RIDGE[judge]] * len(names) + [0.0])
    for _ in range(25):
        p = 1 / (1 + np.exp(-np.clip(z @ beta, -30, 30)))
        slope = z.T @ (w * (y - p)) - penalty @ beta
        step = np.linalg.solve(
            (z * (w * p * (1 - p))[:, None]).T @ z + penalty + 1e-6 * np.eye(len(beta)), slope
        )
        beta += step
        if np.abs(step).max() < 1e-6:
            break
    plain = beta[:-1] / spread
    bias = beta[-1] - float(plain @ middle)
    return {name: round(float(b), 5) for name, b in zip(names, plain, strict=True)} | {
        BIAS: round(float(bias), 5)
    }


def score(case: Case, need: Mapping[str, float], matter: Mapping[str, float]) -> Floats:
    """Return what the two judges say together, the first candidates by what they state as well."""
    one, other = (
        sum((v * case.rows[n] for n, v in judge.items() if n not in (BIAS, STATES)), np.zeros(len(case.ids)))
        + judge[BIAS]
        for judge in (need, matter)
    )
    total: Floats = one + MATTER_SHARE * np.minimum(other, MOST_MATTER)
    first = np.argsort(-total, kind="stable")[:READ_AGAIN]
    bears = bearing(case.seen, vectors="cosine" in need)
    total[first] += need[STATES] * (bears * case.rows[STATES])[first]
    return total


def told(player: Player, case: Case, scores: Floats, budget: int) -> tuple[int, int, int, int]:
    """Return needed messages told and all, lines of unconnected sittings and all, of the text itself."""
    if case.asked is None:
        raise ValueError("a question has no context of its own")
    message, lines, named = case.asked
    worths = {
        (quote.thread_id, quote.first_seq): float(worth)
        for quote, worth in zip(case.quotes, scores, strict=True)
    }
    judged = []
    for quote in lines:
        worth = worths.get((quote.thread_id, quote.first_seq), -99.0)
        of_fact = quote.block is Block.KNOWN and quote.text.endswith('"')
        if of_fact or quote.block is Block.BEFORE:
            quote = replace(quote, worth=worth + LASTS * of_fact)  # noqa: PLW2901 (the same line, judged anew)
        judged.append(quote)
    # the life is over: the names of its threads are no longer to be asked for
    context = tell(message, judged, **{**named, "max_tokens": budget, "place_of": lambda _: ""})
    noise = count = 0
    for item in context.items:
        sources = [
            one
            for seq in range(item.first_seq, item.last_seq + 1)
            if (one := player.places.get((item.thread_id, seq)))
        ]
        if sources:
            count += 1
            noise += not any(player.messages[one].sitting in case.fits for one in sources)
    covered = sum(stands_in(player.messages[one].text, context.text) for one in case.wanted)
    return covered, len(case.wanted), noise, count


def main() -> None:
    """Measure with each life left out; ship what all teach."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lives", nargs="+", type=Path)
    parser.add_argument("--only-measure", action="store_true")
    given = parser.parse_args()
    settings = load_settings()
    embedder = make_embedder(settings.embedder, settings, lambda *_, **__: None)
    train(given.lives, embedder, ship=not given.only_measure)


def train(paths: Sequence[Path], embedder: Embedder, *, ship: bool) -> None:
    """Measure each way of reading with each life left out, then ship the judges of all lives."""
    players = [Player(path, embedder) for path in paths]
    note_statements(players, embedder)
    tables: dict[str, object] = {}
    for kind in ("vectors", "words"):
        vectors = kind == "vectors"
        for player in players:
            others = [case for one in players if one is not player for case in one.cases]
            idle = [case for one in players if one is not player for case in one.idle]
            if not others:
                continue
            judges = [fit(others, idle, judge, vectors=vectors) for judge in (NEED, MATTER)]
            mine = [case for case in player.cases if case.asked is not None]
            scores = [score(case, *judges) for case in mine]
            sums = {
                budget: np.sum([told(player, c, s, budget) for c, s in zip(mine, scores, strict=True)], 0)
                for budget in BUDGETS
            }
            shares = [rows[0] / rows[1] for rows in sums.values()]
            least = sums[BUDGETS[0]]
            needless = [told(player, c, score(c, *judges), BUDGETS[0])[3] for c in player.idle[::LOOKED_AT]]
            print(
                f"{kind:8s}{player.name:10s} covered@800 {shares[0]:.3f}  covered@2000 {shares[1]:.3f}  "
                f"noise@800 {least[2] / max(least[3], 1):.3f}  lines {least[3] / len(mine):.1f}  "
                f"where nothing is needed {np.mean(needless):.1f}",
                flush=True,
            )
        everything = [case for player in players for case in player.cases]
        idle = [case for player in players for case in player.idle]
        tables[kind] = {judge: fit(everything, idle, judge, vectors=vectors) for judge in (NEED, MATTER)}
    if ship:
        origin = Origin(
            "tools/train_context.py",
            "five labelled lives (a nurse, a backend team, Leipzig, Shanghai, a flatshare)",
            "weights of the judges of a context (context-2027-02), with vectors and by words alone",
        )
        ship_numbers("context/relevance-2027-02.json", tables, origin)


if __name__ == "__main__":
    main()
