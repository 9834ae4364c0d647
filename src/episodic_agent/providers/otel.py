"""Send spans to an OpenTelemetry collector: OTLP over HTTP, in the background, with the names its users know.

Every turn is one trace: its id is the id of the user's message, so that work done hours later, by another
process, lands in the same trace. A language model's calls carry the `gen_ai.*` attributes of OpenTelemetry's
semantic conventions; what is of this project alone is called `episodic.*`. No text is ever sent.
"""

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.util.types import AttributeValue

from episodic_agent.core.trace import CALL, FAILED
from episodic_agent.schemas import Json, Scope
from episodic_agent.schemas.jobs import Span

SERVICE: Final = "episodic-agent"
ROOT: Final = "add"  # the span that others of the turn hang on
PATH: Final = "/v1/traces"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_HALF: Final = (1 << 64) - 1
_TOKENS: Final = {
    "prompt_tokens": "gen_ai.usage.input_tokens",
    "completion_tokens": "gen_ai.usage.output_tokens",
}


class OtelSink:
    """A `SpanSink` that hands spans to OpenTelemetry's exporter, which sends them in batches."""

    def __init__(self, endpoint: str, *, processor: SpanProcessor | None = None) -> None:
        """Take a collector's address, `http://HOST:4318`; another `processor` takes its place, in tests."""
        self._ids = TurnIds()
        self._provider = TracerProvider(
            resource=Resource.create({SERVICE_NAME: SERVICE}), id_generator=self._ids, shutdown_on_exit=False
        )
        self._provider.add_span_processor(
            processor or BatchSpanProcessor(OTLPSpanExporter(endpoint=address_of(endpoint)))
        )
        self._tracer = self._provider.get_tracer(SERVICE)

    def export(self, scope: Scope, turn: UUID, at: datetime, root: Span) -> None:
        """Hand on a piece of work for a turn that began at `at`; it is sent later."""
        origin = nanoseconds(at) - round(root.start * 1e9)
        about: dict[str, Json] = {
            "episodic.space": scope.space,
            "user.id": scope.user_id,
            "episodic.turn": str(turn),
        }
        if root.name == ROOT:
            self._ids.next_is(turn)
            self._send(root, origin, Context(), about)
        else:
            self._send(root, origin, trace.set_span_in_context(trace.NonRecordingSpan(place_of(turn))), about)

    def _send(self, span: Span, origin: int, within: Context, about: Mapping[str, Json]) -> None:
        calls = CALL in span.attributes
        start = origin + round(span.start * 1e9)
        sent = self._tracer.start_span(
            f"chat {span.attributes.get('model', '')}" if calls else span.name,
            context=within,
            kind=SpanKind.CLIENT if calls else SpanKind.INTERNAL,
            attributes={**_plain(about), **attributes_of(span)},
            start_time=start,
        )
        for child in span.children:
            self._send(child, origin, trace.set_span_in_context(sent), {})
        if FAILED in span.attributes:
            sent.set_status(Status(StatusCode.ERROR, str(span.attributes[FAILED])))
        sent.end(end_time=start + round(span.seconds * 1e9))

    def close(self) -> None:
        """Send what is still held, and end."""
        self._provider.shutdown()


class TurnIds(IdGenerator):
    """Random ids, but for the next span of this thread where a turn gives it its own."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()
        self._next = threading.local()

    def next_is(self, turn: UUID) -> None:
        """Let the next root span of this thread be the turn's."""
        place = place_of(turn)
        self._next.ids = [place.span_id, place.trace_id]

    def generate_trace_id(self) -> int:
        """Return the turn's trace id, else a random one."""
        waiting = getattr(self._next, "ids", [])
        return int(waiting[-1]) if len(waiting) == 2 else self._random.generate_trace_id()

    def generate_span_id(self) -> int:
        """Return the turn's span id once, else a random one."""
        waiting = getattr(self._next, "ids", [])
        self._next.ids = []
        return int(waiting[0]) if waiting else self._random.generate_span_id()


def place_of(turn: UUID) -> SpanContext:
    """Return where a turn's work hangs: its trace is its id, its first span the id's second half.

    >>> hex(place_of(UUID(int=0xA7)).span_id)
    '0xa7'
    """
    return SpanContext(
        turn.int, turn.int & _HALF or 1, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED)
    )


def attributes_of(span: Span) -> Mapping[str, AttributeValue]:
    """Return a span's attributes under the names a collector knows.

    >>> attributes_of(Span("link", 0, 1, {"call": "link", "model": "openai:small", "prompt_tokens": 7}))[
    ...     "gen_ai.usage.input_tokens"]
    7
    """
    if CALL not in span.attributes:
        results = {f"episodic.{name}": value for name, value in span.attributes.items() if name != FAILED}
        return _plain(results | _error(span))
    provider, colon, model = str(span.attributes.get("model", "")).partition(":")
    answers: dict[str, Json] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider if colon else "_OTHER",
        "gen_ai.request.model": model if colon else provider,
        "episodic.stage": span.attributes[CALL],
    }
    answers |= {name: span.attributes[own] for own, name in _TOKENS.items() if own in span.attributes}
    return _plain(answers | _error(span))


def _error(span: Span) -> dict[str, Json]:
    return {"error.type": span.attributes[FAILED]} if FAILED in span.attributes else {}


def _plain(attributes: Mapping[str, Json]) -> dict[str, AttributeValue]:
    return {name: value for name, value in attributes.items() if isinstance(value, str | bool | int | float)}


def nanoseconds(at: datetime) -> int:
    """Return a time as OpenTelemetry counts it.

    >>> nanoseconds(datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC))
    1000005000
    """
    since = at - _EPOCH
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1000


def address_of(endpoint: str) -> str:
    """Return where traces go at a collector, as the standard variable is read.

    >>> address_of("http://localhost:4318/"), address_of("http://localhost:4318/v1/traces")
    ('http://localhost:4318/v1/traces', 'http://localhost:4318/v1/traces')
    """
    base = endpoint.rstrip("/")
    return base if base.endswith(PATH) else base + PATH
