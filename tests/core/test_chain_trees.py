"""Chains as trees: order, loops, branches, deletion, and the picture's layout."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.chains.trees import (
    allowed,
    ancestors,
    arc,
    check_parent,
    descendants,
    heads,
    laid_out,
    reparented,
    roots,
)
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas.chains import TreeNode

A, B, C, D, E = (UUID(int=n) for n in range(1, 6))
AT = datetime(2026, 3, 4, 9, tzinfo=UTC)
CHAIN = {A: None, B: A, C: B, D: B}
NODES = [TreeNode(one, parent, AT + timedelta(days=one.int)) for one, parent in CHAIN.items()]


def test_a_chain_is_told_from_its_root_and_an_arc_has_its_branches_too() -> None:
    assert ancestors(C, CHAIN).ids == (A, B, C)
    assert ancestors(A, CHAIN).ids == (A,)
    for identifier in (A, B, C, D):
        assert arc(identifier, NODES).ids == (A, B, C, D)
    assert heads(NODES) == (D, C)


def test_a_loop_in_the_store_ends_with_each_episode_once_and_is_told() -> None:
    looped = {A: C, B: A, C: B, D: C}
    for start in looped:
        walk = ancestors(start, looped)
        assert walk.looped
        assert len(set(walk.ids)) == len(walk.ids)
    nodes = [TreeNode(one, parent, AT) for one, parent in looped.items()]
    story = arc(D, nodes)
    assert story.looped
    assert sorted(story.ids) == [A, B, C, D]
    assert set(roots(looped).values()) == {A}
    assert descendants(A, looped) == {B, C, D}


def test_a_parent_that_is_gone_ends_the_chain() -> None:
    assert ancestors(C, {C: B}).ids == (C,)
    assert roots({C: B, D: C}) == {C: C, D: C}


def test_unknown_own_and_later_parents_are_refused() -> None:
    check_parent(E, C, CHAIN)
    with pytest.raises(NotFound):
        check_parent(A, E, CHAIN)
    with pytest.raises(InvalidInput, match="itself"):
        check_parent(A, A, CHAIN)
    with pytest.raises(InvalidInput, match="already"):
        check_parent(A, C, CHAIN)
    assert allowed(B, [A, B, C, D, E], CHAIN) == (A, E)


def test_deleting_an_episode_puts_its_children_under_the_nearest_ancestor_that_stays() -> None:
    assert reparented([B], CHAIN) == {C: A, D: A}
    assert reparented([A], CHAIN) == {B: None}
    assert reparented([A, B], CHAIN) == {C: None, D: None}
    assert reparented([C], CHAIN) == {}
    assert reparented([A, B], {A: B, B: A, C: B}) == {C: None}


def test_a_branch_has_a_lane_of_its_own_and_the_first_child_goes_straight_on() -> None:
    placed = {one.id: (one.row, one.lane) for one in laid_out(NODES)}
    assert placed == {A: (0, 0), B: (1, 0), C: (2, 0), D: (3, 1)}
    assert [one.parent for one in laid_out(NODES[1:])] == [None, B, B]


ids = st.integers(1, 8).map(lambda n: UUID(int=n))
forests = st.dictionaries(ids, st.none() | ids, max_size=8)


@given(forests)
def test_walks_end_visit_each_once_and_agree_on_the_root_whatever_the_parents(
    parents: dict[UUID, UUID | None],
) -> None:
    root = roots(parents)
    nodes = [TreeNode(one, parent, AT) for one, parent in parents.items()]
    for identifier in parents:
        walk = ancestors(identifier, parents)
        assert walk.ids[-1] == identifier
        assert len(set(walk.ids)) == len(walk.ids)
        assert len({root[member] for member in walk.ids}) == 1
        assert set(arc(identifier, nodes).ids) == {
            other for other in parents if root[other] == root[identifier]
        }


@given(st.lists(st.tuples(ids, ids), max_size=30))
def test_checked_parents_never_make_a_loop_and_each_arc_is_a_tree(wanted: list[tuple[UUID, UUID]]) -> None:
    parents: dict[UUID, UUID | None] = {UUID(int=n): None for n in range(1, 9)}
    for child, parent in wanted:
        try:
            check_parent(child, parent, parents)
        except InvalidInput:
            continue
        parents[child] = parent
    nodes = [TreeNode(one, parent, AT + timedelta(days=one.int)) for one, parent in parents.items()]
    for identifier in parents:
        assert not ancestors(identifier, parents).looped
        members = arc(identifier, nodes).ids
        edges = [m for m in members if parents[m] is not None]
        assert len(edges) == len(members) - 1


@given(forests, st.sets(ids, max_size=4))
def test_after_a_deletion_no_parent_is_missing_that_was_there(
    parents: dict[UUID, UUID | None], deleted: set[UUID]
) -> None:
    left = {one: parent for one, parent in parents.items() if one not in deleted}
    left |= reparented(deleted, parents)
    assert not [one for one, parent in left.items() if parent in deleted]
    assert not [one for one, parent in left.items() if parent == one and parents[one] != one]
