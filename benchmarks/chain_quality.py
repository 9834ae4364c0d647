"""How well sessions are chained without a language model: `python -m benchmarks.chain_quality --data DIR`.

Judged on pairs of sessions that stand in one chain, and on the parents themselves. One half of the stories
is for development; the frozen half is run to judge, never to tune, and only when it is named.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from benchmarks.chain_cases import ARCS, BEAM, Session, World, dealt, figures, lives, pairs, stories
from episodic_agent.core.calibration import Calibration
from episodic_agent.core.chains.deciding import decide
from episodic_agent.core.chains.policies import ChainPolicy, chain_policy
from episodic_agent.core.chains.records import EpisodeStanding, EpisodeView, SessionTurn, view_of
from episodic_agent.core.episodes.extractive import encode_extractive
from episodic_agent.core.language.windows import windows
from episodic_agent.engine.evaluate.calibrating import calibrate
from episodic_agent.protocols import Embedder
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.schemas import Observation, Vector
from episodic_agent.wiring import demo_conversations, load_settings, make_embedder

HALVES = ("dev", "frozen")
SPACE = UUID("9d0f6a7c-5f0e-5b43-8d5c-2a7f1f2f5c10")
POLICIES = ("seed-004", "chain-fixed", "chain-2026-12", "chain-2027-01", "default")
PREVIOUS = "the previous session"
Parents = dict[str, str | None]
Rule = Callable[[World], Parents]


@dataclass(frozen=True, slots=True)
class Read:
    """A session as chaining sees it when it opens and when it is closed."""

    session: Session
    opened: EpisodeView
    closed: EpisodeView


class Reader:
    """Reads sessions with an embedder, or by words alone; each text is embedded once."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._kept: dict[str, Vector] = {}
        self._read: dict[tuple[str, str], Read] = {}

    def __call__(self, world: World, session: Session) -> Read:
        """Return a session's two views; their ids are of world and session."""
        key = (world.name, session.id)
        if key not in self._read:
            self._read[key] = self._views(world, session)
        return self._read[key]

    def _views(self, world: World, session: Session) -> Read:
        texts = [(windows(one.text) or [""])[0] for one in session.messages]
        vectors = self.vectors(texts)
        turns = [
            SessionTurn(one.at, one.text, one.speaker == session.user, vector)
            for one, vector in zip(session.messages, vectors, strict=True)
        ]
        identity = uuid5(SPACE, f"{world.name}/{session.id}")
        standing = EpisodeStanding(identity, identity, session.start, session.end)
        spoken_turn = next((turn for turn in turns if turn.own), turns[0])
        opened = view_of(replace(standing, closed=False), [spoken_turn], vector=spoken_turn.vector)
        summary = encode_extractive(_observations(identity, session), vectors).summary
        vector = self.vectors([(windows(summary) or [""])[0]])[0]
        return Read(session, opened, view_of(standing, turns, vector=vector))

    def vectors(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return an embedding of each text, None without an embedder."""
        if self._embedder is None:
            return [None] * len(texts)
        missing = list(dict.fromkeys(text for text in texts if text not in self._kept))
        if missing:
            self._kept.update(zip(missing, self._embedder.embed(missing), strict=True))
        return [self._kept[text] for text in texts]


def _observations(thread: UUID, session: Session) -> list[Observation]:
    return [
        Observation(uuid5(thread, str(n)), thread, n, one.at, one.at, one.speaker, one.text)
        for n, one in enumerate(session.messages)
    ]


def previous(world: World) -> Parents:
    """Chain each session to the one before it."""
    texts: Parents = {}
    last: str | None = None
    for session in world.sessions:
        texts[session.id] = last
        last = session.id
    return texts


def chained(
    world: World,
    read: Reader,
    policy: ChainPolicy,
    calibration: Calibration | None = None,
    *,
    closing: bool = True,
) -> Parents:
    """Chain a world's sessions as they come; `closing` judges each again when it is over."""
    views: dict[UUID, EpisodeView] = {}
    names: dict[UUID, str] = {}
    texts: Parents = {}
    for session in world.sessions:
        this_read = read(world, session)
        before = list(views.values())
        choice = decide(this_read.opened, before, policy, stage="open", calibration=calibration)
        if closing:
            held = None if choice.parent is None else choice.parent.parent
            choice = decide(
                this_read.closed, before, policy, stage="close", provisional=held, calibration=calibration
            )
        parent = None if choice.parent is None else choice.parent.parent
        texts[session.id] = None if parent is None else names[parent]
        views[this_read.closed.id] = replace(this_read.closed, parent=parent)
        names[this_read.closed.id] = session.id
    return texts


def judged(worlds: Sequence[World], rule: Rule) -> dict[str, Any]:
    """Return the figures of a rule over all worlds, and the F1 of each."""
    texts = [rule(world) for world in worlds]
    true: list[Parents] = [{s.id: s.parent for s in world.sessions} for world in worlds]
    together, apart = [pairs(one) for one in texts], [pairs(one) for one in true]
    edges, labelled = [], []
    for world, items in zip(worlds, texts, strict=True):
        good = {s.id: items[s.id] if items[s.id] in s.also else s.parent for s in world.sessions}
        edges.append({(child, parent) for child, parent in items.items() if parent})
        labelled.append({(child, parent) for child, parent in good.items() if parent})
    return {
        **figures(together, apart),
        "parents": figures(edges, labelled),
        "worlds": {
            world.name: figures([a], [b])["f1"] for world, a, b in zip(worlds, together, apart, strict=True)
        },
    }


def systems(embedder: Embedder | None, calibration: Calibration | None) -> Iterator[tuple[str, Rule]]:
    """Yield the policies by name, each also as it stands when sessions open."""
    read = Reader(embedder)
    for name in POLICIES:
        policy = chain_policy(name)
        yield name, lambda world, p=policy: chained(world, read, p, calibration)  # type: ignore[misc]
        yield (
            f"{name}, at open",
            lambda world, p=policy: chained(world, read, p, calibration, closing=False),  # type: ignore[misc]
        )


def measure(data: Path, folder: Path, half: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures of every system on the stories and, where the data are, dealt chats and lives."""
    sets: dict[str, Sequence[World]] = {f"stories ({half})": list(stories(folder, half))}
    if (data / BEAM).is_file():
        sets["dealt chats"] = list(dealt(data / BEAM))
    if (data / "lives").is_dir():
        sets["lives"] = list(lives(data / "lives"))
    for title, worlds in sets.items():
        yield f"{title} | {PREVIOUS} | -", judged(worlds, previous)
    for label, embedder, calibration in readers():
        for name, rule in systems(embedder, calibration):
            for title, worlds in sets.items():
                yield f"{title} | {name} | {label}", judged(worlds, rule)


def readers() -> Iterator[tuple[str, Embedder | None, Calibration | None]]:
    """Yield the embedders: the default, hashing on the default's scale, and none."""
    default = make_embedder("minilm", load_settings())
    if default is None:
        raise LookupError("the default embedder is missing; run `episodic models pull`")
    hashing = HashingEmbedder()
    yield "minilm", default, None
    yield "hashing", hashing, calibrate(hashing, default, demo_conversations()).calibration
    yield "words alone", None, None


def table(values: Mapping[str, dict[str, Any]]) -> str:
    """Return the figures as a Markdown table."""
    lines = [
        "| sessions | chained by | embedder | pair F1 | precision | recall | parent F1 |",
        "| :-- | :-- | :-- | --: | --: | --: | --: |",
    ]
    for key, row in values.items():
        numbers = (row["f1"], row["precision"], row["recall"], row["parents"]["f1"])
        lines.append(f"| {key} |" + "".join(f" {one:.3f} |" for one in numbers))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chain_quality", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of labelled files")
    parser.add_argument("--arcs", type=Path, default=ARCS, help="folder of labelled stories")
    parser.add_argument("--half", choices=HALVES, default="dev")
    options = parser.parse_args(arguments)
    results: dict[str, dict[str, Any]] = {}
    for key, row in measure(options.data, options.arcs, options.half):
        print(key, json.dumps(row), file=sys.stderr, flush=True)
        results[key] = row
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
