"""Spans as an OpenTelemetry collector gets them, by the SDK's own exporter in memory."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from builders.chats import mine

pytest.importorskip("opentelemetry.sdk")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from episodic_agent import Memory
from episodic_agent.providers.otel import OtelSink
from episodic_agent.schemas import Scope
from episodic_agent.schemas.jobs import Span

ANA = Scope("ana", "home")
TURN, OTHER = UUID(int=(5 << 64) + 9), UUID(int=(6 << 64) + 9)
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
ADD = Span("add", 7.0, 0.5, {"messages": 1}, (Span("embed", 7.1, 0.2, {"embedder": "small"}),))
CALL = Span(
    "link", 3.1, 0.25, {"call": "link", "model": "openai:small", "prompt_tokens": 70, "completion_tokens": 9}
)
LINK = Span("link", 3.0, 0.5, {"job": "x"}, (CALL,))


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def sink(exporter: InMemorySpanExporter) -> Iterator[OtelSink]:
    made = OtelSink("http://localhost:4318", processor=SimpleSpanProcessor(exporter))
    yield made
    made.close()


def named(exporter: InMemorySpanExporter) -> Mapping[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


def test_work_of_a_turn_is_one_trace_however_much_later_it_is_done(
    sink: OtelSink, exporter: InMemorySpanExporter
) -> None:
    sink.export(ANA, TURN, AT, ADD)
    sink.export(ANA, TURN, AT + timedelta(hours=3), LINK)
    sink.export(ANA, OTHER, AT, ADD)
    first, second, third, fourth, fifth, sixth = exporter.get_finished_spans()
    assert [s.name for s in (first, second, third, fourth)] == ["embed", "add", "chat openai:small", "link"]
    assert {s.context.trace_id for s in (first, second, third, fourth)} == {TURN.int}
    assert {s.context.trace_id for s in (fifth, sixth)} == {OTHER.int}
    assert second.parent is None
    assert fourth.parent is not None
    assert fourth.parent.span_id == second.context.span_id
    assert third.parent is not None
    assert third.parent.span_id == fourth.context.span_id
    assert len({s.context.span_id for s in exporter.get_finished_spans()}) == 5  # both turns end alike


def test_times_are_those_of_the_work(sink: OtelSink, exporter: InMemorySpanExporter) -> None:
    sink.export(ANA, TURN, AT, ADD)
    add, embed = named(exporter)["add"], named(exporter)["embed"]
    began = int(AT.timestamp()) * 10**9
    assert (add.start_time, add.end_time) == (began, began + 500_000_000)
    assert embed.start_time == pytest.approx(began + 100_000_000, abs=1000)
    assert embed.end_time == pytest.approx(began + 300_000_000, abs=1000)


def test_calls_carry_the_attributes_collectors_know(sink: OtelSink, exporter: InMemorySpanExporter) -> None:
    sink.export(ANA, TURN, AT, LINK)
    call = named(exporter)["chat openai:small"]
    assert call.kind is SpanKind.CLIENT
    assert dict(call.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "small",
        "gen_ai.usage.input_tokens": 70,
        "gen_ai.usage.output_tokens": 9,
        "episodic.stage": "link",
    }
    link = named(exporter)["link"]
    assert dict(link.attributes or {}) == {
        "episodic.space": "home",
        "user.id": "ana",
        "episodic.turn": str(TURN),
        "episodic.job": "x",
    }
    assert link.resource.attributes["service.name"] == "episodic-agent"


def test_what_failed_says_so(sink: OtelSink, exporter: InMemorySpanExporter) -> None:
    sink.export(ANA, TURN, AT, Span("link", 0.0, 1.0, {"failed": "BadReply"}))
    (span,) = exporter.get_finished_spans()
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "BadReply")
    assert (span.attributes or {})["error.type"] == "BadReply"


def test_a_memory_sends_where_the_settings_name_a_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(
        "episodic_agent.providers.otel.BatchSpanProcessor", lambda _exporter: SimpleSpanProcessor(exporter)
    )
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318")
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        (receipt,) = mine(memory).add("the saffron is out", channel="sms")
        mine(memory).flush()
    spans = named(exporter)
    assert {"add", "words", "embed", "resolution", "store", "boundary", "encode"} <= set(spans)
    assert {span.context.trace_id for span in exporter.get_finished_spans()} == {receipt.id.int}
    assert "saffron" not in repr([dict(span.attributes or {}) for span in spans.values()])
