"""The OpenAI-compatible embedder against a real server on this machine, one that also misbehaves on request."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from benchmarks.served import Endpoint, served
from episodic_agent.errors import BadReply, InvalidInput, ProviderError, ProviderUnavailable
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.providers.embedders.openai import (
    MAX_CHARACTERS,
    EmbedderLimits,
    OpenAIEmbedder,
    read_name,
)
from episodic_agent.providers.openai_http import LONGEST_WAIT
from episodic_agent.schemas import Vector

KEY = "sk-secret"
INNER = HashingEmbedder(32)


class Waits(list[float]):
    """Takes the place of sleeping and remembers for how long."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def longer(texts: Sequence[str]) -> Vector:
    return 7 * INNER.embed(texts)  # a server need not normalise


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with served(longer) as running:
        yield running


def remote(endpoint: Endpoint, waits: Waits | None = None, **parts: Any) -> OpenAIEmbedder:
    arguments = {
        "base_url": endpoint.url,
        "api_key": KEY,
        "sleep": waits if waits is not None else Waits(),
        **parts,
    }
    return OpenAIEmbedder("small", **arguments)


def reply(status: int, body: object = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
    value = {"error": {"message": "as told"}} if body is None else body
    return status, {k.replace("_", "-"): v for k, v in headers.items()}, json.dumps(value).encode()


def data(*rows: object, indices: Sequence[object] | None = None) -> dict[str, object]:
    places = range(len(rows)) if indices is None else indices
    return {"data": [{"index": n, "embedding": row} for n, row in zip(places, rows, strict=True)]}


# --- what is asked and what comes back -------------------------------------------------------------------


def test_texts_come_back_in_their_order_as_unit_vectors(endpoint: Endpoint) -> None:
    texts = ["the red kettle", "a blue sky", "three bicycles"]
    results = remote(endpoint).embed(texts)
    assert results.dtype == np.float32
    np.testing.assert_allclose(results, INNER.embed(texts), atol=1e-6)
    assert endpoint.asked == [{"model": "small", "input": texts, "encoding_format": "float"}]
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"


def test_blank_texts_are_not_sent_and_get_zero_rows(endpoint: Endpoint) -> None:
    results = remote(endpoint).embed(["", "tea", " \n"])
    assert [bool(row.any()) for row in results] == [False, True, False]
    assert endpoint.asked[0]["input"] == ["tea"]
    assert remote(endpoint).embed([]).shape == (0, 0)
    assert len(endpoint.asked) == 1


def test_many_texts_go_in_requests_of_bounded_size(endpoint: Endpoint) -> None:
    texts = [f"text number {n:03}" for n in range(25)]
    by_count = remote(endpoint, limits=EmbedderLimits(texts=10)).embed(texts)
    by_size = remote(endpoint, limits=EmbedderLimits(characters=50)).embed(texts)
    assert [len(asked["input"]) for asked in endpoint.asked] == [10, 10, 5, *[3] * 8, 1]
    np.testing.assert_array_equal(by_count, by_size)


def test_a_long_text_is_cut_and_half_a_character_is_replaced(endpoint: Endpoint) -> None:
    remote(endpoint).embed(["x" * (MAX_CHARACTERS + 1), "half \ud800"])
    assert [len(text) for text in endpoint.asked[0]["input"]] == [MAX_CHARACTERS, 6]
    assert endpoint.asked[0]["input"][1] == "half ?"


def test_the_name_tells_model_and_chosen_dimensions(endpoint: Endpoint) -> None:
    plain, short = remote(endpoint), remote(endpoint, dimensions=8)
    assert (plain.name, short.name) == ("openai:small", "openai:small?dimensions=8")
    assert short.embed(["tea"]).shape == (1, 8)
    assert endpoint.asked[-1]["dimensions"] == 8
    assert (plain.dimensions, short.dimensions) == (32, 8)
    assert plain.dimensions == 32
    assert len(endpoint.asked) == 2  # the probe is not repeated


def test_a_server_without_a_key_is_sent_none(endpoint: Endpoint) -> None:
    remote(endpoint, api_key="").embed(["tea"])
    assert "authorization" not in endpoint.headers[0]


def test_answers_without_indices_are_taken_in_order(endpoint: Endpoint) -> None:
    endpoint.scripted.append(reply(200, {"data": [{"embedding": [1, 0]}, {"embedding": [0, 2]}]}))
    assert remote(endpoint).embed(["a", "b"]).tolist() == [[1, 0], [0, 1]]


def test_threads_share_one_embedder(endpoint: Endpoint) -> None:
    embedder, results = remote(endpoint), dict[int, Vector]()

    def ask(n: int) -> None:
        results[n] = embedder.embed([f"text {n}"])

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n, vectors in results.items():
        np.testing.assert_allclose(vectors, INNER.embed([f"text {n}"]), atol=1e-6)
    assert len(results) == 8


# --- trying again ----------------------------------------------------------------------------------------


def test_a_busy_server_is_asked_again_after_the_time_it_named(endpoint: Endpoint) -> None:
    waits = Waits()
    endpoint.scripted.extend([reply(429, Retry_After="3"), reply(503)])
    assert remote(endpoint, waits).embed(["tea"]).shape == (1, 32)
    assert waits[0] == 3.0
    assert 0.7 < waits[1] < 1.3
    assert len(endpoint.asked) == 3


def test_a_server_that_stays_busy_is_given_up_with_the_reason(endpoint: Endpoint) -> None:
    waits = Waits()
    endpoint.scripted.extend([reply(500)] * 4)
    with pytest.raises(ProviderUnavailable, match=r"openai:small cannot be reached at .*500 as told"):
        remote(endpoint, waits).embed(["tea"])
    assert len(waits) == 3
    assert waits == sorted(waits)


def test_nobody_waits_for_a_server_that_wants_to_be_left_alone_for_long(endpoint: Endpoint) -> None:
    waits = Waits()
    endpoint.scripted.append(reply(429, Retry_After=f"{LONGEST_WAIT + 1}"))
    with pytest.raises(ProviderUnavailable, match="again in 21 s"):
        remote(endpoint, waits).embed(["tea"])
    assert (waits, len(endpoint.asked)) == ([], 1)


def test_a_server_just_given_up_is_not_asked_again_at_once(endpoint: Endpoint) -> None:
    patient, hasty = (remote(endpoint, limits=EmbedderLimits(tries=1, away=away)) for away in (60.0, 0.0))
    for embedder in (patient, hasty):
        endpoint.scripted.append(reply(503))
        with pytest.raises(ProviderUnavailable):
            embedder.embed(["tea"])
    with pytest.raises(ProviderUnavailable, match="503"):
        patient.embed(["tea"])
    assert hasty.embed(["tea"]).any()
    assert len(endpoint.asked) == 3


def test_a_closed_connection_is_tried_again(endpoint: Endpoint) -> None:
    class Mending(Waits):
        def __call__(self, seconds: float) -> None:
            super().__call__(seconds)
            endpoint.down = False

    waits = Mending()
    endpoint.down = True
    assert remote(endpoint, waits).embed(["tea"]).any()
    assert len(waits) == 1


def test_no_server_at_all_is_unavailable() -> None:
    with served(longer) as endpoint:
        gone = remote(endpoint)
    with pytest.raises(ProviderUnavailable, match="is the server up"):
        gone.embed(["tea"])


def test_a_server_that_never_answers_is_given_up() -> None:
    release = threading.Event()

    def hang(texts: Sequence[str]) -> Vector:
        release.wait(30)
        return longer(texts)

    with served(hang) as endpoint:
        waits = Waits()
        slow = remote(endpoint, waits, limits=EmbedderLimits(timeout=0.05))
        with pytest.raises(ProviderUnavailable, match=r"no answer in 0.05 s"):
            slow.embed(["tea"])
        release.set()
    assert waits == []


def test_a_server_that_takes_fewer_texts_gets_fewer(endpoint: Endpoint) -> None:
    endpoint.scripted.extend([reply(413), reply(422)])
    texts = [f"text {n}" for n in range(8)]
    np.testing.assert_allclose(remote(endpoint).embed(texts), INNER.embed(texts), atol=1e-6)
    assert [len(asked["input"]) for asked in endpoint.asked] == [8, 4, 2, 2, 4]


# --- refusals and wrong answers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answered", "remedy"),
    [
        (reply(401), "set EPISODIC_OPENAI_API_KEY"),
        (reply(403, {"detail": "no"}), "set EPISODIC_OPENAI_API_KEY"),
        (reply(404), "check the model's name and EPISODIC_OPENAI_BASE_URL"),
        (reply(400, {"error": "dimensions\nare not known"}), "400 dimensions are not known"),
        (reply(301, Location="https://elsewhere"), "set EPISODIC_OPENAI_BASE_URL to where it leads"),
        (reply(429, {"error": {"code": "insufficient_quota", "message": "spent"}}), "quota is spent"),
        (reply(400, {"error": {"message": "long " * 500}}), "…"),
    ],
)
def test_a_refusal_is_one_line_with_the_remedy_and_is_not_repeated(
    endpoint: Endpoint, answered: tuple[int, dict[str, str], bytes], remedy: str
) -> None:
    endpoint.scripted.append(answered)
    with pytest.raises(ProviderError) as caught:
        remote(endpoint).embed(["tea"])
    text = str(caught.value)
    assert remedy in text
    assert "\n" not in text
    assert KEY not in text
    assert len(text) < 400
    assert not caught.value.retryable
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"<html>hello</html>", "no list of vectors"),
        (b"[]", "no list of vectors"),
        (b'{"data": 3}', "no vectors for 2 texts"),
        (b'{"data": ["a", "b"]}', "no list of vectors"),
        (json.dumps(data([1, 0])).encode(), "1 vector for 2 texts"),
        (json.dumps(data([1], [1], [1])).encode(), "3 vectors for 2 texts"),
        (json.dumps(data([1], [1], indices=(0, 0))).encode(), "indices"),
        (json.dumps(data([1], [1], indices=(0, None))).encode(), "indices"),
        (json.dumps(data([1], [1], indices=(False, True))).encode(), "indices"),
        (json.dumps(data([1, 0], [1])).encode(), "no list of vectors"),
        (json.dumps(data([], [])).encode(), "different dimensions, or none"),
        (json.dumps(data([[1]], [[1]])).encode(), "different dimensions, or none"),
        (json.dumps(data("AACAPw==", "AACAPw==")).encode(), "no list of vectors"),
        (json.dumps(data([1, None], [1, 1])).encode(), "not finite"),
        (b'{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}', "not finite"),
        (b'{"data": [{"index": 0, "embedding": [1e999]}, {"index": 1, "embedding": [1]}]}', "not finite"),
    ],
)
def test_an_answer_that_cannot_be_used_is_told_apart(endpoint: Endpoint, body: bytes, problem: str) -> None:
    endpoint.scripted.append((200, {}, body))
    with pytest.raises(BadReply, match=f"openai:small answered what cannot be used: .*{problem}"):
        remote(endpoint).embed(["a", "b"])


def test_a_model_that_changes_its_dimensions_is_refused(endpoint: Endpoint) -> None:
    embedder = remote(endpoint)
    embedder.embed(["tea"])
    endpoint.scripted.append(reply(200, data([1.0, 2.0])))
    with pytest.raises(ProviderError, match="vectors of 2 dimensions, not 32"):
        embedder.embed(["tea"])
    endpoint.scripted.append(reply(200, data([1.0] * 32)))
    with pytest.raises(ProviderError, match="vectors of 32 dimensions, not 8"):
        remote(endpoint, dimensions=8).embed(["tea"])


@pytest.mark.parametrize(
    "name",
    ["openai:", "openai: small", "openai:a\nb", "openai:m?dim=8", "openai:m?dimensions=", "openai:m?dimensions=0",
     "openai:m?dimensions=-8", "openai:m?dimensions=8.5", "openai:m?dimensions=99999999"],
)  # fmt: skip
def test_a_name_that_names_no_model_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"names no model|dimensions=N"):
        read_name(name)


@pytest.mark.parametrize("key", ["sk-secret\nX: y", "sk-sécret", "sk-\x00"])
def test_a_key_that_is_none_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(InvalidInput, match="EPISODIC_OPENAI_API_KEY holds characters no key has") as caught:
        OpenAIEmbedder("m", api_key=key)
    assert key not in str(caught.value)
    OpenAIEmbedder("m", api_key="sk-secret\n")  # the line end of a file is none of it


def test_a_password_in_the_address_is_not_shown() -> None:
    gone = OpenAIEmbedder("m", base_url="http://ana:secret@127.0.0.1:1/v1", limits=EmbedderLimits(tries=1))
    with pytest.raises(ProviderUnavailable) as caught:
        gone.embed(["tea"])
    assert "***@127.0.0.1" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="EPISODIC_OPENAI_BASE_URL must be"):
        OpenAIEmbedder("m", base_url="localhost:8080/v1")


def test_opening_a_memory_with_another_embedder_loads_no_http_client() -> None:
    code = "import sys, episodic_agent.wiring; sys.exit('httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
