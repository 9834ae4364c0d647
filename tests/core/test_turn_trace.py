"""Spans: nesting, failures, other threads, and the form they are kept in."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.trace import FAILED, Recorder, current, packed, recording, span, unpacked
from episodic_agent.errors import StoreError
from episodic_agent.schemas.jobs import Span


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    ticks = count()
    with recording(Recorder(lambda: float(next(ticks)))) as made:
        yield made


def test_where_nobody_records_a_span_is_nothing() -> None:
    assert current() is None
    with span("alone", pages=3) as answers:
        answers["more"] = 1
        assert current() is None


def test_spans_lie_in_each_other(recorder: Recorder) -> None:
    with span("outer", pages=3) as answers:
        with span("one"):
            pass
        with span("two"):
            answers["found"] = 7
    (outer,) = recorder.spans
    assert (outer.name, outer.start, outer.seconds) == ("outer", 1.0, 5.0)
    assert outer.attributes == {"pages": 3, "found": 7}
    assert [(one.name, one.start, one.seconds) for one in outer.children] == [
        ("one", 2.0, 1.0),
        ("two", 4.0, 1.0),
    ]
    assert recorder.ended("root", {}).children == (outer,)


def test_what_fails_is_recorded_with_the_kind_of_error(recorder: Recorder) -> None:
    with pytest.raises(ZeroDivisionError), span("outer"), span("inner"):
        raise ZeroDivisionError("a secret")
    (outer,) = recorder.spans
    assert [one.attributes for one in (outer, *outer.children)] == [{FAILED: "ZeroDivisionError"}] * 2
    assert current() is recorder


def test_a_pool_records_only_where_it_is_told_for_whom(recorder: Recorder) -> None:
    def work(within: Recorder | None) -> None:
        with span("away", within=within):
            pass

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work, None).result()
        assert recorder.spans == []
        pool.submit(work, recorder).result()
    assert [one.name for one in recorder.spans] == ["away"]


NAMES = st.sampled_from(["add", '水 "7"', ""])
TIMES = st.integers(0, 10**9).map(lambda n: n / 1e6)
LEAVES = st.builds(Span, NAMES, TIMES, TIMES, st.sampled_from([{}, {"messages": 1}, {"of": "x"}]))
SPANS = st.builds(Span, NAMES, TIMES, TIMES, st.just({}), st.lists(LEAVES, max_size=2).map(tuple))


@given(SPANS)
def test_what_is_packed_comes_back_counted_from_its_beginning(root: Span) -> None:
    matching_span = unpacked(packed(root))

    def same(this_span: Span, other: Span) -> None:
        assert (this_span.name, this_span.attributes, len(this_span.children)) == (
            other.name,
            other.attributes,
            len(other.children),
        )
        assert other.start == pytest.approx(this_span.start - root.start, abs=2e-6)
        assert other.seconds == pytest.approx(this_span.seconds, abs=1e-6)
        for pair in zip(this_span.children, other.children, strict=True):
            same(*pair)

    same(root, matching_span)
    assert unpacked(packed(matching_span)) == matching_span


@pytest.mark.parametrize("body", ["", "7", "[]", '["add"]', '["add","x",1]', '["add",0,1,{},7]'])
def test_what_cannot_be_read_names_the_remedy(body: str) -> None:
    with pytest.raises(StoreError, match="doctor"):
        unpacked(body)
