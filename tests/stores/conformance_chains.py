"""What every store must do with chains: parents, refusals, and the inverted table of metadata."""

from dataclasses import replace
from random import Random
from uuid import UUID

import pytest
from stores.builders import ANA, BO, NOW, begin_thread, identity, make_episode, minute, rewrite_terms
from stores.conformance import StoreFixture

from episodic_agent.core.chains.metadata import matches, metadata_terms, parse_filter
from episodic_agent.errors import NotFound
from episodic_agent.protocols import Store, split_ref
from episodic_agent.schemas import Encoding, EpisodeKind, EpisodeState, Json, Scope
from episodic_agent.schemas.chains import Condition, Refusal, TreeNode
from episodic_agent.stores.rows import to_time

FIRST, SECOND, THIRD = (make_episode(name, 0, 2, generation=0).id for name in ("one", "two", "three"))
EVERY = (FIRST, SECOND, THIRD)
NOWHERE = identity("nowhere")


def furnish(store: Store, scope: Scope = ANA) -> None:
    """Write three closed sessions, a minute apart, and one that is open."""
    with store.begin(scope) as tx:
        for number, name in enumerate(("one", "two", "three", "open")):
            begin_thread(tx, name, ["a", "b", "c"])
            state = EpisodeState.OPEN if name == "open" else EpisodeState.COMPACTED
            primary = replace(make_episode(name, 0, 2), kind=EpisodeKind.PRIMARY, state=state)
            tx.episodes.put(replace(primary, start_at=minute(number), end_at=minute(number + 0.5)))


def words(episode: object, version: int = 1, **metadata: Json) -> Encoding:
    return Encoding(episode, version, "t", "s", metadata, "test", NOW)  # type: ignore[arg-type]


def key(identity: UUID) -> bytes:
    return identity.bytes


def tagged(*values: str, contains: bool = False) -> list[Condition]:
    return [Condition("tag", values, contains)]


class ChainsConformance(StoreFixture):
    def test_an_episode_goes_on_from_one_and_several_from_it(self, store: Store) -> None:
        furnish(store)
        with store.begin(ANA) as tx:
            tx.episodes.lead(SECOND, FIRST)
            tx.episodes.lead(THIRD, FIRST)
            expected = {TreeNode(SECOND, FIRST, minute(1)), TreeNode(THIRD, FIRST, minute(2))}
            assert set(tx.episodes.nodes([FIRST, FIRST, NOWHERE], "children")) == expected
            assert len(tx.episodes.nodes([FIRST, FIRST], "children")) == 2
            tx.episodes.lead(THIRD, None)
            assert list(tx.episodes.nodes([FIRST], "children")) == [TreeNode(SECOND, FIRST, minute(1))]
            assert list(tx.episodes.nodes([THIRD, NOWHERE])) == [TreeNode(THIRD, None, minute(2))]
            episode = tx.episodes.get(SECOND)
            assert episode is not None
            assert episode.parent_episode_id == FIRST

    def test_a_walk_goes_up_or_down_a_chain_and_ends_in_a_circle(self, store: Store) -> None:
        furnish(store)
        furnish(store, BO)
        with store.begin(ANA) as tx:
            tx.episodes.lead(SECOND, FIRST)
            tx.episodes.lead(THIRD, SECOND)
            assert [node.id for node in tx.episodes.nodes([THIRD, THIRD, NOWHERE], "above")] == sorted(
                EVERY, key=key
            )
            assert [node.id for node in tx.episodes.nodes([FIRST], "above")] == [FIRST]
            assert set(tx.episodes.nodes([SECOND], "below")) == {
                TreeNode(SECOND, FIRST, minute(1)),
                TreeNode(THIRD, SECOND, minute(2)),
            }
            assert list(tx.episodes.nodes([], "above")) == list(tx.episodes.nodes([NOWHERE], "below")) == []
            tx.episodes.lead(FIRST, THIRD)
            for identifier in EVERY:
                assert [n.id for n in tx.episodes.nodes([identifier], "above")] == [
                    n.id for n in tx.episodes.nodes([identifier], "below")
                ]
                assert len(tx.episodes.nodes([identifier], "above")) == len(EVERY)

    def test_neither_side_of_a_link_may_be_unknown_or_another_user_s(self, store: Store) -> None:
        furnish(store)
        with store.begin(BO) as tx:
            begin_thread(tx, "kitchen", ["a"])
            for child, parent in ((NOWHERE, None), (FIRST, None), (NOWHERE, FIRST)):
                with pytest.raises(NotFound):
                    tx.episodes.lead(child, parent)
        with store.begin(ANA) as tx, pytest.raises(NotFound):
            tx.episodes.lead(FIRST, NOWHERE)

    def test_the_latest_are_closed_parts_that_ended_before(self, store: Store) -> None:
        furnish(store)
        with store.begin(ANA) as tx:
            assert list(tx.episodes.latest(limit=9, before=minute(99))) == [THIRD, SECOND, FIRST]
            assert list(tx.episodes.latest(limit=1, before=minute(1.5))) == [SECOND]
            assert list(tx.episodes.latest(limit=9, before=minute(0))) == []

    def test_a_refusal_is_remembered_until_it_is_lifted(self, store: Store) -> None:
        furnish(store)
        refusal, other = Refusal(SECOND, FIRST, minute(2), "Ana"), Refusal(THIRD, FIRST, minute(1), "")
        with store.begin(ANA) as tx:
            tx.episodes.put(replace(refusal, by="?"))
            tx.episodes.put(refusal)
            tx.episodes.put(other)
            assert list(tx.episodes.refusals()) == [other, refusal]
            assert list(tx.episodes.refusals(SECOND)) == [refusal]
            tx.episodes.drop(Refusal(SECOND, FIRST, NOW))
            tx.episodes.drop(Refusal(SECOND, NOWHERE, NOW))
            assert list(tx.episodes.refusals()) == [other]

    def test_the_newest_words_say_what_an_episode_is_found_by(self, store: Store) -> None:
        furnish(store)
        with store.begin(ANA) as tx:
            tx.episodes.put(words(FIRST, tags=["Memory", "Café"], outcome="success"))
            tx.episodes.put(words(FIRST, 2, tags=["leak"]))
            tx.episodes.put(words(FIRST, 1, tags=["stale"]))
            expected = [(FIRST, term) for term in metadata_terms({"tags": ["leak"]})]
            assert list(tx.index.described([FIRST, SECOND])) == expected

    def test_every_field_must_hold_by_any_of_its_values(self, store: Store) -> None:
        furnish(store)
        with store.begin(ANA) as tx:
            tx.episodes.put(words(FIRST, tags=["leak", "100%"], outcome="success"))
            tx.episodes.put(words(SECOND, tags=["leaks", "memory"], outcome="failure"))
            tx.episodes.put(words(THIRD, tags=["bread"], entities=["leak"]))

            def result(*fields: list[Condition]) -> set[object]:
                return {one.id for one in tx.episodes.list(about=fields)}

            assert result(tagged("leak")) == {FIRST}
            assert result(tagged("leak", contains=True)) == {FIRST, SECOND}
            assert result(tagged("leak", "bread")) == {FIRST, THIRD}
            assert result(tagged("%", "_", contains=True)) == {FIRST}  # no wildcards
            assert result(tagged("leak", contains=True), [Condition("outcome", ("failure",))]) == {SECOND}
            assert result([*tagged("bread"), *tagged("mem", contains=True)]) == {SECOND, THIRD}
            assert result(tagged("none")) == set()
            everything = sorted(EVERY, key=lambda one: one.bytes)
            assert [one.id for one in tx.episodes.list(about=[tagged("a", contains=True)])] == everything

    def test_spans_are_of_exactly_the_current_events_that_pass(self, store: Store) -> None:
        random_, about = Random(7), {}
        with store.begin(ANA) as tx:
            begin_thread(tx, "kitchen", ["a"] * 30)
            for seq in range(0, 30, 2):
                episode = make_episode("kitchen", seq, seq + 1)
                tx.episodes.put(episode)
                tags = random_.sample(["leak", "Memory leak", "bread", "100%"], random_.randint(0, 3))
                tx.episodes.put(words(episode.id, tags=tags, outcome=random_.choice(["success", "failure"])))
                about[episode.id] = (tx.episodes.get(episode.id), seq)
            full_episode = replace(make_episode("kitchen", 0, 29, generation=9), kind=EpisodeKind.PRIMARY)
            tx.episodes.put(full_episode)
            tx.episodes.put(words(full_episode.id, tags=["leak"]))
            gone = next(iter(about))
            tx.episodes.retire([gone], 1)
            del about[gone]
            for text in ("", "tag=leak", "tag~leak", "tag=bread,100% outcome=failure", "tag=none"):
                for since, until in (
                    (None, None),
                    (minute(6), None),
                    (None, minute(20)),
                    (minute(4), minute(6)),
                ):
                    conditions = replace(parse_filter(text), since=since, until=until)
                    spans = tx.index.spans(conditions.fields, since=since, until=until)
                    of_every_kind = tx.episodes.list(about=conditions.fields)
                    expected = {
                        one.id.hex: seq
                        for one, seq in about.values()
                        if matches(one.metadata, conditions, one.start_at)
                    }
                    assert [split_ref(span.first_ref)[1] for span in spans] == sorted(expected.values())
                    assert {span.name for span in spans} <= {one.id.hex for one in of_every_kind} or not text
                    assert gone not in {one.id for one in of_every_kind}
                    for span in spans:
                        seq = expected[span.name]
                        assert split_ref(span.last_ref)[1] == seq + 1
                        assert (to_time(span.start_at), to_time(span.end_at)) == (
                            minute(seq),
                            minute(seq + 1),
                        )
        with store.begin(BO, write=False) as tx:
            assert list(tx.index.spans([])) == []

    def test_rows_that_were_lost_can_be_written_again(self, store: Store) -> None:
        furnish(store)
        with store.begin(ANA) as tx:
            tx.episodes.put(words(FIRST, tags=["leak"]))
            tx.episodes.put(words(FIRST, 2, tags=["a"]))
            rewrite_terms(tx, FIRST)
            assert list(tx.index.described([FIRST])) == []
            tx.episodes.put(words(FIRST, 1, tags=["leak"]))  # not the newest
            assert list(tx.index.described([FIRST])) == []
            tx.episodes.put(words(FIRST, 2, tags=["another"]))  # what is there stays as it is
            again = [(FIRST, term) for term in metadata_terms({"tags": ["a"]})]
            assert list(tx.index.described([FIRST])) == again

    def test_what_is_erased_takes_its_rows_along(self, store: Store) -> None:
        furnish(store)
        with store.begin(ANA) as tx:
            for identifier in EVERY:
                tx.episodes.put(words(identifier, tags=["leak"]))
            tx.episodes.put(Refusal(SECOND, FIRST, NOW))
            tx.episodes.put(Refusal(THIRD, SECOND, NOW))
            tx.episodes.drop(FIRST, words_only=True)
            assert {one.id for one in tx.episodes.list(about=[tagged("leak")])} == {SECOND, THIRD}
            tx.episodes.drop(FIRST)
            assert [refusal.child for refusal in tx.episodes.refusals()] == [THIRD]
            tx.threads.drop(identity("two"))
            assert list(tx.episodes.refusals()) == []
            assert [one.id for one in tx.episodes.list(about=[tagged("leak")])] == [THIRD]
