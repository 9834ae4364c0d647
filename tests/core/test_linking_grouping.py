"""Linked threads become one matter where most of them are linked, and nothing swallows everything."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.links.grouping import Tie, groups_of, is_taken, taken_by, ties_of

THREADS = "abcdefgh"
LINKS = st.sets(st.tuples(st.sampled_from(list(combinations(THREADS, 2))), st.booleans()), max_size=20).map(
    lambda some: [(one, other, by_hand) for (one, other), by_hand in dict(some).items()]
)


def linked(text: str, by_hand: bool = False) -> list[tuple[str, str, bool]]:
    return [(pair[0], pair[1], by_hand) for pair in text.split()]


def parted(text: str, by_hand: str = "", threads: str = THREADS) -> list[str]:
    groups = groups_of(threads, ties_of([*linked(text), *linked(by_hand, True)]))
    return ["".join(group) for group in groups if len(group) > 1]


def test_a_third_thread_goes_on_with_either_of_two_and_a_fourth_needs_two_of_three() -> None:
    assert parted("ab bc") == ["abc"]
    assert parted("ab bc cd") == ["abc"]
    assert parted("ab bc cd bd") == ["abcd"]
    assert parted("ab bc cd de ef") == ["abc", "def"]


def test_one_thread_that_everything_is_linked_to_does_not_make_it_one_matter() -> None:
    assert parted("ab ac ad ae af") == ["abc"]


def test_two_groups_meet_only_where_most_of_them_are_linked() -> None:
    assert parted("ac bc") == ["abc"]
    assert parted("ab cd bc") == ["abc"]  # d goes on with c alone, which has become one of three
    assert parted("ab cd be ae ce de") == ["abe", "cd"]
    assert parted("ab cd ac ad bc bd") == ["abcd"]


def test_what_a_person_links_is_one_matter_whatever_else_is_linked() -> None:
    assert parted("", by_hand="ab bc cd de") == ["abcde"]
    assert parted("ab", by_hand="cd bc") == ["abcd"]


def test_a_matter_grows_by_what_was_judged_to_go_on_with_all_of_it_and_by_nothing_weaker() -> None:
    judged = [(a, b, Tie.JUDGED) for a, b in ("ab", "bc", "cd", "de")]
    assert groups_of("abcde", ties_of(judged)) == [list("abcde")]
    weak = [*judged[:3], ("d", "e", Tie.LINKED)]
    assert groups_of("abcde", ties_of(weak)) == [list("abcd"), ["e"]]


def test_a_judged_thread_joins_one_matter_and_makes_no_two_of_them_one() -> None:
    pairs = [("a", "b", Tie.JUDGED), ("c", "d", Tie.JUDGED), ("b", "e", Tie.JUDGED), ("d", "e", Tie.JUDGED)]
    assert groups_of("abcde", ties_of(pairs)) == [list("abe"), list("cd")]


@given(LINKS)
def test_groups_part_the_threads_and_follow_from_the_links_in_any_order(
    links: list[tuple[str, str, bool]],
) -> None:
    groups = groups_of(THREADS, ties_of(links))
    assert sorted(one for group in groups for one in group) == list(THREADS)
    assert groups == groups_of(THREADS, ties_of([(b, a, by_hand) for a, b, by_hand in reversed(links)]))


@given(LINKS)
def test_whoever_began_later_moves_nothing_that_stood_before(links: list[tuple[str, str, bool]]) -> None:
    earlier = [group for group in groups_of(THREADS[:-1], ties_of(links)) if len(group) > 1]
    groups = groups_of(THREADS, ties_of(links))
    assert all(any(set(group) <= set(whole) for whole in groups) for group in earlier)


@given(LINKS)
def test_a_thread_is_taken_by_no_group_that_it_is_hardly_linked_to(
    links: list[tuple[str, str, bool]],
) -> None:
    automatic = [(one, other, False) for one, other, _ in links]
    ties = ties_of(automatic)
    groups = groups_of(THREADS[:-1], ties)
    for place in taken_by("h", groups, ties)[:1]:
        assert is_taken(sum(other in ties.get("h", {}) for other in groups[place]), len(groups[place]))
